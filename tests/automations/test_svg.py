"""The picture of a company's structure: what is drawn, where, and from what it is refused."""

import re
from itertools import combinations
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from automations.steps.svg import NoStructure, drawn

SVG = "{http://www.w3.org/2000/svg}"


def boxes(text: str) -> dict[str, tuple[float, float, float, float]]:
    """Each box with its place: left, top, right, bottom; by its first line."""
    found: dict[str, tuple[float, float, float, float]] = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        rect, name = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        assert rect is not None
        assert name is not None
        x, y, width, height = (float(rect.attrib[part]) for part in ("x", "y", "width", "height"))
        found[str(name.text)] = (x, y, x + width, y + height)
    return found


def block(one: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    return {"id": one, "parent_id": parent, "name": f"b{one}", **more}


def test_a_tree() -> None:
    """Children stand to the right of their parent, in their order, the parent beside their middle."""
    places = boxes(drawn({"block": [block(1), block(2, 1, order=2), block(3, 1, order=1), block(4, 3)]}))
    assert places["b1"][2] < places["b2"][0] == places["b3"][0] < places["b4"][0]
    assert places["b3"][3] < places["b2"][1]
    assert places["b1"][1] == (places["b2"][1] + places["b3"][1]) / 2


def test_names_positions_and_holders() -> None:
    """People by the name of their profile; those who left the position are not there; many are counted."""
    value = {
        "org": [{"name": "Alder & Stone"}],
        "block": [block(1, position="Director", color="#2F4858", number="0"), block(2, 1, color="red", is_hidden=True)],
        "worker": [
            {"block_id": 1, "user_id": "u1"},
            {"block_id": 1, "user_id": "u2", "is_deleted": True},
            *({"block_id": 2, "user_id": f"w{number}"} for number in range(9)),
        ],
        "profile": [{"user_id": "u1", "name": "Анна <Петрова>"}, {"user_id": "u2", "name": "Gone"}],
    }
    text = drawn(value)
    assert ">Анна &lt;Петрова&gt;<" in text
    assert "<title>0 · b1 · Director · Анна &lt;Петрова&gt;</title>" in text
    assert "Gone" not in text
    assert ">w4</text>" in text
    assert ">w5</text>" not in text
    assert ">+ 4</text>" in text
    assert 'fill="#2F4858"' in text
    assert "red" not in text
    assert 'class="block hidden"' in text
    assert ">Alder &amp; Stone</text>" in text


def test_nothing_overlaps() -> None:
    """Whatever the tree and however tall its boxes."""
    chance = Random(7)  # the same trees each time
    for _ in range(20):
        blocks = [
            block(number, chance.randrange(number), position="long words " * chance.randrange(6))
            for number in range(1, 40)
        ]
        workers = [{"block_id": chance.randrange(1, 40), "user_id": f"u{number}"} for number in range(80)]
        places = list(boxes(drawn({"block": blocks, "worker": workers})).values())
        assert len(places) == 39
        for one, other in combinations(places, 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one, other)


def test_equal_data_gives_equal_bytes() -> None:
    """The order in which blocks and people come does not count."""
    blocks = [block(1), block(2, 1), block(3, 1, order=1)]
    workers = [{"block_id": 1, "user_id": name} for name in ("b", "a", "a")]
    text = drawn({"block": blocks, "worker": workers})
    assert drawn({"block": blocks[::-1], "worker": workers[::-1]}) == text
    assert text.count(">a</text>") == 1


def test_circles_and_lost_parents() -> None:
    """Every block is drawn once: a circle is cut open, a block whose parent is not there is a root."""
    text = drawn({"block": [block(1, 2), block(2, 1), block(3, 3), block(4, 99), block(5, 2)]})
    assert sorted(boxes(text)) == ["b1", "b2", "b3", "b4", "b5"]


@pytest.mark.parametrize("hostile", ["<script>", '"><x onload="', "a\0b\x1b\ud800", "]]>", "&amp;"])
def test_everything_is_escaped(hostile: str) -> None:
    """In names, titles, colours and ids; characters that XML cannot hold are dropped."""
    text = drawn({
        "org": [{"name": hostile}],
        "block": [{"id": hostile, "name": hostile, "position": hostile, "number": hostile, "color": hostile}],
        "worker": [{"block_id": hostile, "user_id": hostile}],
    })  # fmt: skip
    tags = {part.tag.removeprefix(SVG) for part in ET.fromstring(text.encode()).iter()}
    assert tags == {"svg", "style", "rect", "text", "g", "title"}
    assert "onload=" not in re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "", text)


def test_five_thousand_blocks() -> None:
    """A broad tree and a chain are drawn; one more is refused."""
    blocks = [block(number, number // 7 or None) for number in range(1, 5001)]
    assert drawn({"block": blocks}).count("<title>") == 5000
    assert drawn({"block": [block(number, number - 1) for number in range(1, 5001)]}).count("<title>") == 5000
    with pytest.raises(NoStructure, match="has more than 5,000 blocks"):
        drawn({"block": [*blocks, block(5001)]})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "should be what orgschema.orgschema.export gives"),
        ({"block": {}}, "should be what orgschema.orgschema.export gives"),
        ({"block": ["x"]}, "should have a list of maps as block"),
        ({"block": [block(1)], "worker": 5}, "should have a list of maps as worker"),
        ({"block": [block(1), block(1)]}, r"should have an id for each block, and none twice \(1\)"),
        ({"block": [{"name": "x"}]}, r"should have an id for each block, and none twice \(none\)"),
    ],
)
def test_what_is_no_structure(value: Any, told: str) -> None:
    """Said as such."""
    with pytest.raises(NoStructure, match=told):
        drawn(value)


def test_an_empty_structure() -> None:
    """A picture without boxes."""
    assert boxes(drawn({"block": [], "org": [{"name": "x"}]})) == {}
