"""What differs between two values: items by key, fields by name, and lines for people.

items_of(value, by)      a value as named items, each a map of fields
compared(old, new)       Difference: added, removed, changed, with a sentence and lines

A list of maps has an item for each, found again by the field `by`; lists of such maps within a map (children) are items
of their own, with `parent` in their place. A map that holds such lists (an export of the structure: `org`, `block`) has
the items of all of them, each under the list's name. Any other map has its members, any other list its values.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from automations.shapes import is_list, is_map
from automations.values import json_text, plain

MOST_ITEMS = 50_000
DEEPEST = 50
MOST_LINES = 100
LONGEST_LINE = 300
LONGEST_VALUE = 60
TITLES = ("name", "title", "code", "label", "user_name")
"""Fields that say what an item is called."""
VALUE = "value"
"""The field of an item that is no map."""
CHILDREN = "children"
"""The list of a row that holds rows of its own kind."""
PARENT = "parent"


class NotComparable(ValueError):
    """The value has no items, or two of one key; the text says which."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is compared: what it is called, its fields, and itself as it came."""

    key: str
    fields: Mapping[str, Any]
    whole: Any

    @property
    def title(self) -> str:
        """Its name and its key, or its key alone."""
        name = next((self.fields[name] for name in TITLES if isinstance(self.fields.get(name), str)), "")
        if not name or name == self.key:
            return self.key
        return f"{name} ({self.key})"


Items = Mapping[str, Item]


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of the items; `changed` has the old and the new value of each field that differs."""

    added: list[Item] = field(default_factory=list[Item])
    removed: list[Item] = field(default_factory=list[Item])
    changed: list[tuple[Item, dict[str, list[Any]]]] = field(default_factory=list[tuple[Item, dict[str, list[Any]]]])

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def summary(self) -> str:
        """`14 changed, 2 added`."""
        counts = ((self.changed, "changed"), (self.added, "added"), (self.removed, "removed"))
        return ", ".join(f"{len(items):,} {word}" for items, word in counts if items) or "nothing changed"

    def lines(self) -> list[str]:
        """One for each item, the first MOST_LINES of them: `+ Sales (12)`, `− Old (3)`, `Shop (7): order 1 → 2`."""
        lines = [
            *(f"+ {item.title}" for item in self.added),
            *(f"− {item.title}" for item in self.removed),
            *(f"{item.title}: {_told(fields)}" for item, fields in self.changed),
        ]
        shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:MOST_LINES]]
        return shown if len(lines) <= MOST_LINES else [*shown, f"… and {len(lines) - MOST_LINES:,} more"]


def _told(fields: Mapping[str, list[Any]]) -> str:
    told = {"" if name == VALUE else f"{name} ": pair for name, pair in fields.items()}
    return "; ".join(f"{name}{_short(old)} → {_short(new)}" for name, (old, new) in told.items())


def _short(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = " ".join((value if isinstance(value, str) else json_text(value)).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _keyed(value: Any, by: str) -> bool:
    """Whether it is a list of maps that all have the field."""
    return is_list(value) and bool(value) and all(is_map(item) and by in item for item in value)


def items_of(value: Any, by: str | None, ignore: Collection[str] = ()) -> Items:
    """The items of a value. Raises NotComparable."""
    items: dict[str, Item] = {}
    for item in _items(plain(value), by, frozenset(ignore)):
        if item.key in items:
            raise NotComparable(f"has two items with the key {item.key}")
        items[item.key] = item
        if len(items) > MOST_ITEMS:
            raise NotComparable(f"has more than {MOST_ITEMS:,} items")
    return items


def _items(value: Any, by: str | None, ignore: frozenset[str]) -> Iterator[Item]:
    if is_list(value):
        if by is not None or _keyed(value, "id"):
            yield from _rows(value, by or "id", "", ignore)
        else:
            yield from _values(value)
    elif is_map(value):
        groups = {name: part for name, part in value.items() if by is not None and _keyed(part, by)}
        if by is not None and by in value and not is_list(value.get(by)):
            yield from _rows([value], by, "", ignore)
            return
        for name, part in value.items():
            if name in ignore:
                continue
            if name in groups:
                yield from _rows(part, by or "id", f"{name} " if len(value) > 1 else "", ignore)
            elif by is None or part != []:
                members = part if is_map(part) else {VALUE: part}
                yield Item(name, {key: inner for key, inner in members.items() if key not in ignore}, part)
    else:
        yield Item(VALUE, {VALUE: value}, value)


def _rows(rows: list[Any], by: str, prefix: str, ignore: frozenset[str]) -> Iterator[Item]:
    """The items of a list of maps, and of such lists in them, the outer ones first."""
    pending: list[tuple[Any, str, str | None, int]] = [(row, prefix, None, 0) for row in reversed(rows)]
    while pending:
        row, prefix, parent, depth = pending.pop()
        if not is_map(row) or by not in row or is_map(row[by]) or is_list(row[by]) or row[by] is None:
            raise NotComparable(f"has an item without {by}")
        if depth > DEEPEST:
            raise NotComparable(f"is nested deeper than {DEEPEST} levels")
        key = f"{prefix}{row[by]}"
        children = {name: part for name, part in row.items() if _keyed(part, by) and name not in ignore}
        own = {name: part for name, part in row.items() if name not in children}
        fields = {name: part for name, part in own.items() if name not in ignore and part != []}
        if parent is not None and PARENT not in row and PARENT not in ignore:
            fields[PARENT] = parent
        yield Item(key, fields, own)
        for name, part in reversed(children.items()):
            # Children are of the kind of their parents, and may move; other lists have names of their own.
            named = prefix if name == CHILDREN else f"{key} {name} "
            pending.extend((child, named, key, depth + 1) for child in reversed(part))


def _values(values: list[Any]) -> Iterator[Item]:
    """Values without keys: each is its own, and counts as often as it is there."""
    seen: Counter[str] = Counter()
    for value in values:
        text = value if isinstance(value, str) else json_text(value)
        seen[text] += 1
        key = text if seen[text] == 1 else f"{text} ({seen[text]})"
        yield Item(key, {}, value)


def compared(old: Items, new: Items) -> Difference:
    """What became of the old items."""
    difference = Difference()
    for key, item in new.items():
        if key not in old:
            difference.added.append(item)
            continue
        before = old[key].fields
        names = [*before, *(name for name in item.fields if name not in before)]
        fields = {
            name: [before.get(name), item.fields.get(name)]
            for name in names
            if not _same(before.get(name), item.fields.get(name))
        }
        if fields:
            difference.changed.append((item, fields))
    difference.removed.extend(item for key, item in old.items() if key not in new)
    return difference


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, and 1 is 1.0."""
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if is_map(one) and is_map(other):
        return one.keys() == other.keys() and all(_same(part, other[name]) for name, part in one.items())
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
