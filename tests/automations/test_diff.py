"""`diff`: what differs from the last run, found by key, told in words."""

from decimal import Decimal
from typing import Any

import pytest

from automations.errors import InvalidAutomation
from automations.steps.differences import Difference, NotComparable, compared, items_of
from tests.automations.world import Bench, TableCaller, automation


def between(old: Any, new: Any, by: str | None = None, *ignore: str) -> Difference:
    return compared(items_of(old, by, ignore), items_of(new, by, ignore))


EXPORT: dict[str, Any] = {
    "org": [{"id": 1, "name": "Alder", "level": 4}],
    "block": [
        {"id": 1, "parent_id": None, "name": "Alder", "order": 1},
        {"id": 2, "parent_id": 1, "name": "Sales", "order": 1},
        {"id": 3, "parent_id": 1, "name": "Shop", "order": 2},
    ],
}


def changed_export() -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [dict(block) for block in EXPORT["block"]]
    blocks[2] |= {"parent_id": 2, "order": 1}
    blocks[1] = {"id": 4, "parent_id": 1, "name": "Web", "order": 1}
    return {"org": EXPORT["org"], "block": blocks}


def test_an_export_of_the_structure() -> None:
    """Blocks by id, whatever their order; the settings beside them do not get into their way."""
    found = between(EXPORT, changed_export(), "id")
    assert found.summary == "1 changed, 1 added, 1 removed"
    assert found.lines() == [
        "+ Web (block 4)",
        "− Sales (block 2)",
        "Shop (block 3): parent_id 1 → 2; order 2 → 1",
    ]
    assert not between(EXPORT, {"org": EXPORT["org"], "block": EXPORT["block"][::-1]}, "id")
    assert between(EXPORT, changed_export(), "id", "order", "parent_id").summary == "1 added, 1 removed"
    assert between(EXPORT, changed_export(), "id", "block").summary == "nothing changed"


def test_children_are_items_of_their_own() -> None:
    """A block that moves from one parent to the other has changed its parent, and nothing else has."""
    old = [{"id": 1, "children": [{"id": 2, "children": [{"id": 3, "name": "x"}]}]}]
    new: Any = [{"id": 1, "children": [{"id": 2, "children": []}, {"id": 3, "name": "x"}]}]
    found = between(old, new, "id")
    assert [(item.key, fields) for item, fields in found.changed] == [("3", {"parent": ["2", "1"]})]
    assert found.lines() == ["x (3): parent 2 → 1"]
    assert not between(old, new, "id", "parent")


def test_lists_of_another_kind_have_names_of_their_own() -> None:
    """A request and a line of its history may have the same number."""
    old: Any = [{"id": 25, "name": "Boxes", "history": [{"id": 25, "type": "create"}, {"id": 7, "type": "accept"}]}]
    new: Any = [{"id": 25, "name": "Boxes", "history": [{"id": 25, "type": "create"}, {"id": 7, "type": "reject"}]}]
    found = between(old, new, "id")
    assert [(item.key, fields) for item, fields in found.changed] == [("25 history 7", {"type": ["accept", "reject"]})]


@pytest.mark.parametrize(
    ("old", "new", "by", "lines"),
    [
        ([{"id": 1, "a": 1}], [{"id": 1, "a": 2}], None, ["1: a 1 → 2"]),
        ([{"code": "USD", "v": 1}], [{"code": "USD", "v": 2}], "code", ["USD: v 1 → 2"]),
        ([{"id": 1, "a": 1}], [{"id": 1}], None, ["1: a 1 → nothing"]),
        ({"a": 1, "b": {"x": 1, "y": 2}}, {"a": 2, "b": {"x": 1, "y": 3}}, None, ["a: 1 → 2", "b: y 2 → 3"]),
        ({"a": 1}, {"b": 1}, None, ["+ b", "− a"]),
        (["x", "y", "y"], ["y", "z"], None, ["+ z", "− x", "− y (2)"]),
        ([{"a": 1}], [{"a": 2}], None, ['+ {"a": 2}', '− {"a": 1}']),
        (5, 6, None, ["value: 5 → 6"]),
        ("a\n b", None, None, ["value: a b → nothing"]),
        ([], [], "id", []),
        ({"block": []}, {"block": [{"id": 1}]}, "id", ["+ 1"]),
        ({"id": 1, "name": "x", "n": 1}, {"id": 1, "name": "x", "n": 2}, "id", ["x (1): n 1 → 2"]),
    ],
)
def test_shapes(old: Any, new: Any, by: str | None, lines: list[str]) -> None:
    """Lists of maps by a key, maps by their keys, others by what they hold."""
    assert between(old, new, by).lines() == lines
    assert not between(old, old, by)
    assert not between(new, new, by)


def test_equal_as_json() -> None:
    """A decimal is the number that it is; true is not 1."""
    assert not between([{"id": 1, "v": Decimal("1.50")}], [{"id": 1, "v": 1.5}])
    assert not between({"a": 1}, {"a": 1.0})
    assert between({"a": 1}, {"a": True})
    assert between({"a": [1]}, {"a": [True]})


@pytest.mark.parametrize(
    ("value", "by", "told"),
    [
        ([{"id": 1}, {"id": 1}], None, "has two items with the key 1"),
        ([{"id": 1}, {"name": "x"}], "id", "has an item without id"),
        ([{"id": None}], "id", "has an item without id"),
        ([{"id": [1]}], "id", "has an item without id"),
        (["x"], "id", "has an item without id"),
        ([{"id": 1, "children": [{"id": 1}]}], "id", "has two items with the key 1"),
    ],
)
def test_what_has_no_key(value: Any, by: str | None, told: str) -> None:
    """Told, and not guessed."""
    with pytest.raises(NotComparable, match=told):
        items_of(value, by)


def test_depth_and_number_are_bounded() -> None:
    """Neither a chain of children nor a crowd of items goes on for ever."""
    deep: list[Any] = []
    for number in range(60):
        deep = [{"id": number, "c": deep}]
    with pytest.raises(NotComparable, match="nested deeper than 50 levels"):
        items_of(deep, "id")
    with pytest.raises(NotComparable, match="has more than 50,000 items"):
        items_of(list(range(50_001)), None)


def test_many_lines_are_cut() -> None:
    """A hundred lines, and how many more; long ones are cut too."""
    found = between([], [{"id": number, "name": "n" * 400} for number in range(150)])
    lines = found.lines()
    assert len(lines) == 101
    assert lines[-1] == "… and 50 more"
    assert len(lines[0]) == 301
    assert found.summary == "150 added"


async def test_the_step_compares_with_the_last_run(bench: Bench[TableCaller]) -> None:
    """The first time there is nothing to compare with; then what differs, and the new value is kept."""
    text = """
steps:
  - {id: rows, call: finplan.request.list}
  - {id: d, diff: {value: "{{ steps.rows }}", by: id, ignore: [seen]}}
  - {id: told, set: "{{ steps.d.summary }}: {{ steps.d.lines | join(', ') }}"}
"""
    bench.caller.answers = {"finplan.request.list": [{"id": 1, "sum": 5, "seen": 1}]}
    assert await bench.run(text) == {"state": "done"}
    first = bench.value("d")
    assert (first["first"], first["changed"], first["added"]) == (True, False, [])
    assert first["summary"] == "nothing to compare with yet: 1 kept for the next time"
    assert bench.desk.kept == {"d": [{"id": 1, "sum": 5, "seen": 1}]}
    bench.desk.last = dict(bench.desk.kept)
    bench.caller.answers = {"finplan.request.list": [{"id": 1, "sum": 7, "seen": 2}, {"id": 2, "sum": 1}]}
    assert await bench.run(text) == {"state": "done"}
    assert bench.value("d") == {
        "first": False,
        "changed": True,
        "added": [{"id": 2, "sum": 1}],
        "removed": [],
        "changed_items": [{"key": "1", "title": "1", "fields": {"sum": [5, 7]}}],
        "summary": "1 changed, 1 added",
        "lines": ["+ 2", "1: sum 5 → 7"],
    }
    assert bench.value("told") == "1 changed, 1 added: + 2, 1: sum 5 → 7"


async def test_a_value_without_its_key(bench: Bench[TableCaller]) -> None:
    """The step fails, and keeps what was kept."""
    result = await bench.run("steps: [{diff: {value: [{a: 1}], by: id}}]")
    assert result["message"] == "diff: value has an item without id"
    assert bench.desk.kept == {}
    bench.desk.last = {"diff_1": ["x"]}
    result = await bench.run("steps: [{diff: {value: [{id: 1}], by: id}}]")
    assert result["message"] == "diff: the last run's value has an item without id"


async def test_a_name_of_its_own(bench: Bench[TableCaller]) -> None:
    """With `for_each`, each item is compared with its own last value."""
    text = 'steps: [{id: d, for_each: [a, b], diff: {value: "{{ item }}", name: "of-{{ item }}"}}]'
    assert await bench.run(text) == {"state": "done"}
    assert bench.desk.kept == {"of-a": "a", "of-b": "b"}


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("{by: id}", "steps[0].diff.value: is required"),
        ("{value: x, by: 5}", "steps[0].diff.by: should be a text"),
        ("{value: x, ignore: a}", "steps[0].diff.ignore: should be a list"),
        ("{value: x, bye: id}", "steps[0].diff.bye: no such key; did you mean by?"),
    ],
)
def test_bad_files(keys: str, told: str) -> None:
    """Told when the file is loaded."""
    with pytest.raises(InvalidAutomation) as caught:
        automation(f"steps: [{{diff: {keys}}}]")
    assert told in str(caught.value)
