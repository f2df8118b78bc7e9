"""The pictures of the README can be made again: a desk and a phone, from the real demo."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.docs.pictures import DESK, PHONE, take
from tests.sandbox.test_page import CHROMIUM


def size(picture: Path) -> tuple[int, int]:
    """Width and height as a PNG tells them."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Chromium is not installed (apt-get install chromium)")
async def test_the_pictures_can_be_taken(tmp_path: Path) -> None:
    """Anna approves and logs a taxi in the demo, and both pictures are there."""
    await take(tmp_path)
    assert (size(tmp_path / "chat.png"), size(tmp_path / "phone.png")) == (DESK, PHONE)


def test_the_pictures_of_the_readme_are_small() -> None:
    """A reader on a phone loads them too."""
    for name, expected in (("chat.png", DESK), ("phone.png", PHONE)):
        picture = ROOT / "docs" / name
        assert size(picture) == expected
        assert picture.stat().st_size < 200_000
