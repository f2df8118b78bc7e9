"""What has happened in the workspace between two readings: plain functions over records, for triggers on events.

Source.calls          what is read
Source.compare(…)     (what was seen, what was read) ─► (what is seen now, the events in between)

The first reading knows everything and makes no event. What was seen once stays known, also while it is not in the
answer (a right that is gone for an hour, say), so that nothing comes twice; what is deleted or archived makes none.
Records are read as they came, tolerantly: ids may be texts, members may be missing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from hashlib import sha256
from typing import Any, Protocol

from automations.shapes import is_list, is_map

Seen = dict[str, Any]
Json = Mapping[str, Any]
Calls = tuple[tuple[str, Mapping[str, object]], ...]

MOST_KNOWN = 200_000
"""Ids that are remembered one by one; below the smallest of them everything is old."""
MOST_NAMES = 50
"""Names of blocks that one event carries of each sort."""
LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Event:
    """Something that has happened. `occasion` tells it from all others, also from the same thing happening again;
    `values` is what templates see as `event`."""

    kind: str
    occasion: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """The `data` of each call of a source, in order; when it was read, and the zone whose days count."""

    answers: Sequence[Any]
    now: datetime
    zone: tzinfo


class Source(Protocol):
    """One list of the workspace, and the events that show in it."""

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> tuple[str, ...]: ...

    @property
    def calls(self) -> Calls:
        """The operations that are read, with their fields."""
        ...

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        """What is seen now, and what has happened since."""
        ...


# Sets of ids as text


def packed(ids: Iterable[int]) -> str:
    """`1-500,502`."""
    runs: list[list[int]] = []
    for number in sorted(ids):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def unpacked(text: str) -> set[int]:
    """The ids of such a text."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


# Members of records


def _id(record: Json) -> int | None:
    value = record.get("id")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(record: Json, *names: str) -> str:
    """The first member that says something, cut."""
    value = next((record[name] for name in names if record.get(name) not in (None, "")), "")
    return str(value)[:LONGEST_TEXT]


def _gone(record: Json) -> bool:
    return bool(record.get("delete_date") or record.get("is_deleted") or record.get("is_archived"))


def _records(answer: Any) -> list[tuple[int, Json]]:
    """The records of a list by id; some workspaces answer a map of them."""
    items = list(answer.values()) if is_map(answer) else answer if is_list(answer) else []
    found = [(_id(item), item) for item in items if is_map(item)]
    return [(number, item) for number, item in found if number is not None]


def _few(value: Any) -> list[Any]:
    return value[:MOST_NAMES] if is_list(value) else []


def _day(value: Any, zone: tzinfo) -> date | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment.astimezone(zone).date() if moment.tzinfo else moment.date()


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


class _Known:
    """Ids that were seen before, bounded."""

    def __init__(self, seen: Seen | None) -> None:
        self.first = seen is None
        self._floor: int = seen["floor"] if seen else -1
        self._ids = unpacked(seen["ids"]) if seen else set[int]()

    def __contains__(self, number: int) -> bool:
        return number <= self._floor or number in self._ids

    def add(self, number: int) -> bool:
        """Whether it is new, and worth an event."""
        new = number not in self
        self._ids.add(number)
        return new and not self.first

    def seen(self) -> Seen:
        kept = sorted(self._ids)[-MOST_KNOWN:]
        floor = kept[0] - 1 if len(kept) < len(self._ids) else self._floor
        return {"ids": packed(number for number in kept if number > floor), "floor": floor}


# The sources


class Requests:
    """`request.created`, `request.status_changed`."""

    name = "requests"
    kinds = ("request.created", "request.status_changed")
    calls: Calls = (("finplan.request.list", {}),)

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        known = _Known(seen)
        # Ids by status: a few long runs of numbers.
        packs: dict[str, str] = seen["statuses"] if seen else {}
        before = {number: status for status, ids in packs.items() for number in unpacked(ids)}
        count: int = seen["count"] if seen else 0
        events: list[Event] = []
        after = dict(before)
        for number, record in _records(reading.answers[0]):
            status = _text(record, "status")
            new, was = known.add(number), before.get(number, "")
            after[number] = status or was
            if _gone(record):
                continue
            if new:
                kind = "request.created"
                events.append(Event(kind, f"{kind}:{number}", self._values(kind, number, record, "")))
            elif was and status and status != was:
                kind = "request.status_changed"
                count += 1
                occasion = f"{kind}:{number}:{status[:40]}:{count}"
                events.append(Event(kind, occasion, self._values(kind, number, record, was)))
        statuses: dict[str, list[int]] = {}
        kept = known.seen()
        for number, status in after.items():
            if number > kept["floor"]:
                statuses.setdefault(status, []).append(number)
        return {**kept, "statuses": {name: packed(ids) for name, ids in statuses.items()}, "count": count}, events

    def _values(self, kind: str, number: int, record: Json, was: str) -> dict[str, Any]:
        history = record.get("history")
        steps = [step for step in history if is_map(step)] if is_list(history) else []
        return {
            "kind": kind,
            "id": number,
            "title": _text(record, "name"),
            "author_id": _text(record, "author_id"),
            "sum": record.get("sum"),
            "sum_paid": record.get("sum_paid"),
            "currency": _text(record, "currency_code"),
            "period": _text(record, "finplan"),
            "status": _text(record, "status"),
            "previous_status": was,
            "by": _text(steps[-1], "author_id") if steps else "",
            "at": _text(record, "modification_date", "creation_date"),
        }


class Tasks:
    """`task.created`, `task.overdue`: the day of its finish date is over, and it is not finished."""

    name = "tasks"
    kinds = ("task.created", "task.overdue")
    calls: Calls = (("tasks.task.list", {}),)

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        known = _Known(seen)
        late: dict[str, str] = seen["late"] if seen else {}
        today = reading.now.astimezone(reading.zone).date()
        overdue: dict[str, str] = {}
        events: list[Event] = []
        for number, record in _records(reading.answers[0]):
            new = known.add(number)
            if _gone(record):
                continue
            if new:
                events.append(self._event("task.created", f"{number}", number, record))
            day = _day(record.get("finish_date"), reading.zone)
            if day is None or day >= today or record.get("is_finished") or record.get("close_date"):
                continue
            overdue[str(number)] = day.isoformat()
            if not known.first and late.get(str(number)) != day.isoformat():
                events.append(self._event("task.overdue", f"{number}:{day}", number, record))
        return {**known.seen(), "late": overdue}, events

    def _event(self, kind: str, what: str, number: int, record: Json) -> Event:
        values = {
            "kind": kind,
            "id": number,
            "title": _text(record, "name"),
            "author_id": _text(record, "owner_user_id"),
            "responsible_ids": [str(user) for user in _few(record.get("responsible_user_ids"))],
            "status": _text(record, "status_key"),
            "finish_date": _text(record, "finish_date"),
            "is_important": bool(record.get("is_important")),
            "block_id": record.get("block_id"),
            "at": _text(record, "creation_date"),
        }
        return Event(kind, f"{kind}:{what}", values)


class Articles:
    """`article.changed`: an article that is new, is a draft no more, or was saved anew. Drafts make no event."""

    name = "articles"
    kinds = ("article.changed",)
    calls: Calls = (("wiki.article.list", {}),)
    DRAFT = "draft"

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        versions: dict[str, str] = dict(seen["versions"] if seen else {})
        count: int = seen["count"] if seen else 0
        events: list[Event] = []
        for number, record in _records(reading.answers[0]):
            was, version = versions.get(str(number)), self._version(record)
            versions[str(number)] = version
            if seen is None or version in {was, self.DRAFT} or _gone(record):
                continue
            count += 1
            values = {
                "kind": "article.changed",
                "id": number,
                "title": _text(record, "title"),
                "author_id": _text(record, "author_id"),
                "by": _text(record, "last_editor_id", "author_id"),
                "change": "created" if was is None else "published" if was == self.DRAFT else "changed",
                "space_ids": _few(record.get("space_ids")),
                "at": _text(record, "modification_date", "creation_date"),
            }
            events.append(Event("article.changed", f"article.changed:{number}:{count}", values))
        newest = sorted(versions.items(), key=lambda pair: int(pair[0]))[-MOST_KNOWN:]
        return {"versions": dict(newest), "count": count}, events

    def _version(self, record: Json) -> str:
        """What differs after the article was saved; being read changes nothing of it."""
        if record.get("is_draft"):
            return self.DRAFT
        modified = _text(record, "modification_date")
        return modified or _digest([record.get(name) for name in ("title", "slug", "content_blocks", "parent_ids")])


class Structure:
    """`org.changed`: blocks of the structure were added, removed or changed, or its settings; one event a reading."""

    name = "org"
    kinds = ("org.changed",)
    calls: Calls = (("orgschema.orgschema.export", {}),)

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        whole: Json = reading.answers[0] if is_map(reading.answers[0]) else {}
        blocks = {
            str(key): [_digest(record), _text(record, "name")[:80]] for key, record in _records(whole.get("block"))
        }
        settings = _digest(whole.get("org"))
        if seen is None:
            return {"blocks": blocks, "settings": settings, "count": 0}, []
        before: dict[str, list[str]] = seen["blocks"]
        lists = {
            "added": [blocks[key][1] for key in blocks.keys() - before.keys()],
            "removed": [before[key][1] for key in before.keys() - blocks.keys()],
            "changed": [blocks[key][1] for key in blocks.keys() & before.keys() if blocks[key][0] != before[key][0]],
        }
        if not any(lists.values()) and settings == seen["settings"]:
            return seen, []
        after = {"blocks": blocks, "settings": settings, "count": seen["count"] + 1}
        values = {
            "kind": "org.changed",
            "id": after["count"],
            "title": ", ".join(f"{name}: {len(names)}" for name, names in lists.items() if names) or "settings",
            **{name: sorted(names)[:MOST_NAMES] for name, names in lists.items()},
            **{f"{name}_count": len(names) for name, names in lists.items()},
            "settings": settings != seen["settings"],
            "at": reading.now.isoformat(timespec="seconds"),
        }
        return after, [Event("org.changed", f"org.changed:{after['count']}:{_digest(after)}", values)]


class Transactions:
    """`transaction.created`: income, expenses and moves."""

    name = "transactions"
    kinds = ("transaction.created",)
    calls: Calls = tuple(("finance.transaction.list", {"type": kind}) for kind in ("in", "out", "move"))

    def compare(self, seen: Seen | None, reading: Reading) -> tuple[Seen, list[Event]]:
        known = _Known(seen)
        events: list[Event] = []
        for (_, fields), answer in zip(self.calls, reading.answers, strict=True):
            move = fields["type"] == "move"
            for number, record in _records(answer):
                if not known.add(number) or _gone(record):
                    continue
                values = {
                    "kind": "transaction.created",
                    "id": number,
                    "type": fields["type"],
                    "title": _text(record, "description"),
                    "author_id": _text(record, "user_id"),
                    "sum": record.get("sum_charge" if move else "sum"),
                    "cashbox_id": record.get("cashbox_id_charge" if move else "cashbox_id"),
                    "sum_to": record.get("sum_topup"),
                    "cashbox_id_to": record.get("cashbox_id_topup"),
                    "category_id": record.get("category_id"),
                    "project_id": record.get("project_id"),
                    "at": _text(record, "report_date", "creation_date"),
                }
                events.append(Event("transaction.created", f"transaction.created:{number}", values))
        return known.seen(), events


SOURCES: tuple[Source, ...] = (Requests(), Tasks(), Articles(), Structure(), Transactions())
KINDS: tuple[str, ...] = tuple(kind for source in SOURCES for kind in source.kinds)
"""All kinds of events that a trigger may name."""
