"""QR codes for print: what is drawn is what a phone reads."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from zxingcpp import read_barcodes

from bot.qr import svg


def painted(drawn: str, scale: int = 4) -> Image.Image:
    """The SVG's rectangles painted, as a browser paints them."""
    root = ET.fromstring(drawn)
    size = int(root.attrib["viewBox"].split()[2])
    picture = Image.new("L", (size * scale, size * scale), 255)
    drawing = ImageDraw.Draw(picture)
    path = root.findall("{http://www.w3.org/2000/svg}path")[0].attrib["d"]
    for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path):
        left, top = int(x) * scale, int(y) * scale
        drawing.rectangle((left, top, left + int(length) * scale - 1, top + scale - 1), fill=0)
    return picture


@pytest.mark.parametrize(
    "text", ["https://t.me/example_bot?start=Zk3-_0aXq9LmN2bV7cR1tw", "Привет, мир", "a", "x" * 1500]
)
def test_a_phone_reads_what_was_drawn(text: str) -> None:
    """The link of an invitation comes back letter by letter."""
    (found,) = read_barcodes(painted(svg(text)))
    assert found.text == text
    assert found.ec_level == "M"


@given(st.text(alphabet="ABCXYZabcxyz0189_-:/?=.", min_size=1, max_size=120))
def test_every_link_comes_back(text: str) -> None:
    """Whatever the link is made of."""
    assert [found.text for found in read_barcodes(painted(svg(text)))] == [text]


def test_it_stands_alone() -> None:
    """Nothing is fetched when the page is opened, and the secret stands in no attribute."""
    drawn = svg("https://t.me/example_bot?start=secret")
    assert drawn.count("http") == drawn.count('xmlns="http') == 1
    assert "secret" not in drawn


@pytest.mark.parametrize("text", ["", "x" * 3000])
def test_what_does_not_fit_is_said(text: str) -> None:
    """Nothing at all, or more than a code holds."""
    with pytest.raises(ValueError, match=r"empty|too long"):
        svg(text)
