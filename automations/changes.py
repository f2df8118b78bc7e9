"""What the writes of a plan would change: each against what is there now, and all of them in one sentence.

write ─► the operation that reads what it writes ─► the record of that id ─► fields that differ
`14 rates change, 1 rate stays as it is, 2 blocks move` · `fintransaction.exchange.rate.custom.set USD→RUB: 81.1 → 82.4`
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automations.shapes import is_list, is_map
from automations.values import json_text, plain
from workspace_api.contract import Effect, find, operations

Read = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Makes one reading call and gives its data; None where it cannot be read."""

NOUNS: Mapping[str, tuple[str, str]] = {
    "fintransaction.exchange.rate.custom": ("rate", "rates"),
    "fintransaction.transaction": ("transaction", "transactions"),
    "fintransaction.category": ("category", "categories"),
    "fintransaction.counterparty": ("counterparty", "counterparties"),
    "finplan.request": ("request", "requests"),
    "finance.cashbox": ("cashbox", "cashboxes"),
    "orgschema.block": ("block", "blocks"),
    "orgschema.worker": ("worker", "workers"),
    "orgschema.kpi.data": ("KPI value", "KPI values"),
    "orgschema.kpi": ("KPI", "KPIs"),
    "tasks.task": ("task", "tasks"),
    "wiki.article": ("article", "articles"),
    "wiki.course": ("course", "courses"),
    "wiki.space": ("space", "spaces"),
    "store.item.category": ("item category", "item categories"),
    "store.item": ("item", "items"),
    "store.arrival": ("arrival", "arrivals"),
    "user.schedule": ("schedule", "schedules"),
    "company.staff": ("employee", "employees"),
}
VERBS: Mapping[str, tuple[str, str]] = {
    "same": ("stays as it is", "stay as they are"),
    "change": ("changes", "change"),
    "move": ("moves", "move"),
    "new": ("is new", "are new"),
    "go": ("goes", "go"),
    "review": ("is reviewed", "are reviewed"),
    "pay": ("is paid", "are paid"),
    "copy": ("is copied", "are copied"),
    "write": ("is written", "are written"),
}
PLACES = frozenset({"parent_id", "parentId", "head_block_id", "board_panel_id", "category_id", "space_id"})
"""Fields that say where something is: a change of these alone is a move."""
GOING = frozenset({"delete", "remove", "archive"})


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what it is about, and which fields would differ (`{name: (before, after)}`)."""

    operation: str
    about: str
    verb: str
    fields: Mapping[str, tuple[Any, Any]]

    def __str__(self) -> str:
        head = " ".join(part for part in (self.operation, self.about) if part)
        if self.verb in {"change", "move"}:
            told = ", ".join(f"{name}: {_short(old)} → {_short(new)}" for name, (old, new) in self.fields.items())
            return f"{head}: {told}"
        if self.verb in {"new", "write", "pay", "review", "copy"}:
            told = ", ".join(f"{name} = {_short(new)}" for name, (_, new) in self.fields.items())
            return f"{head}: {VERBS[self.verb][0]}{f' ({told})' if told else ''}"
        return f"{head}: {VERBS[self.verb][0]}"

    def to_json(self) -> dict[str, Any]:
        fields = {name: {"before": plain(old), "after": plain(new)} for name, (old, new) in self.fields.items()}
        return {"operation": self.operation, "about": self.about, "verb": self.verb, "fields": fields}


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def summary(changes: Sequence[Change]) -> str:
    """All changes in one sentence; nothing where there are none."""
    counted: Counter[tuple[str, str]] = Counter()
    for change in changes:
        prefix = next((prefix for prefix in NOUNS if change.operation.startswith(f"{prefix}.")), change.operation)
        counted[prefix, change.verb] += 1
    parts: list[str] = []
    for (prefix, verb), number in counted.items():
        one, many = NOUNS.get(prefix, (f"call of {prefix}", f"calls of {prefix}"))
        parts.append(f"{number} {one if number == 1 else many} {VERBS[verb][0 if number == 1 else 1]}")
    return ", ".join(parts)


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every map with an id in an answer, however deep."""
    if is_map(value):
        if "id" in value:
            yield value
        for item in value.values():
            yield from _records(item)
    elif is_list(value):
        for item in value:
            yield from _records(item)


class Changes:
    """Compares writes with what is there; each list is read once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._lists: dict[str, dict[Any, Mapping[str, Any]]] = {}

    async def of(self, operation: str, fields: Mapping[str, Any]) -> Change:
        """What one write would change."""
        name = find(operation).name
        inner: Any = fields.get("fields")
        if is_map(inner):
            # Tasks take what is to change in a map of its own.
            fields = {**{key: value for key, value in fields.items() if key != "fields"}, **inner}
        last = name.rpartition(".")[2]
        if name == "fintransaction.exchange.rate.custom.set":
            return await self._rate(name, fields)
        if last in {"review", "pay", "copy"}:
            return Change(name, _about(fields, {}), last, _given(fields))
        identity = fields.get("id")
        known = await self._known(name)
        before = known.get(identity) if isinstance(identity, (int, str)) else None
        about = _about(fields, before or {})
        if last in GOING:
            return Change(name, about, "go", {})
        if identity is None:
            verb = "new" if find(name).effect in {Effect.CREATE, Effect.SAVE} else "write"
            return Change(name, about, verb, _given(fields))
        if before is None:
            return Change(name, about, "write", _given(fields))
        differing = {
            field: (before.get(field), value)
            for field, value in fields.items()
            if field != "id" and before.get(field) != value
        }
        verb = "same" if not differing else "move" if differing.keys() <= PLACES else "change"
        return Change(name, about, verb, differing)

    async def _known(self, name: str) -> Mapping[Any, Mapping[str, Any]]:
        """What the list beside a write holds, by id; nothing where there is no such list."""
        reader = f"{name.rpartition('.')[0]}.list"
        known = operations().get(reader)
        if known is None or known.effect is not Effect.READ:
            return {}
        if reader not in self._lists:
            data = await self._read(reader, {})
            self._lists[reader] = {record["id"]: record for record in _records(data)}
        return self._lists[reader]

    async def _rate(self, name: str, fields: Mapping[str, Any]) -> Change:
        pair = {key: fields[key] for key in ("currency_code_from", "currency_code_to") if key in fields}
        data = await self._read("fintransaction.exchange.rate.custom.list", pair)
        rates = sorted((one for one in _rates(data) if str(one["date"]) <= str(fields.get("date"))), key=_day)
        about = "→".join(str(code) for code in pair.values())
        after = fields.get("value")
        if not rates:
            return Change(name, about, "new", {"value": (None, after)})
        before = rates[-1]["value"]
        same = before == after or str(before) == str(after)
        return Change(name, about, "same" if same else "change", {} if same else {"value": (before, after)})


def _rates(data: Any) -> Iterator[Mapping[str, Any]]:
    if is_map(data):
        if "date" in data and "value" in data:
            yield data
        for item in data.values():
            yield from _rates(item)
    elif is_list(data):
        for item in data:
            yield from _rates(item)


def _day(rate: Mapping[str, Any]) -> str:
    return str(rate["date"])


def _given(fields: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (None, value) for name, value in fields.items() if name != "id" and value is not None}


def _about(fields: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """The id of what is written, and its name as it is now."""
    identity = fields.get("id") or fields.get("requestIds") or fields.get("request_id") or fields.get("requestId")
    called = next((before[key] for key in ("name", "title", "login") if isinstance(before.get(key), str)), "")
    shown = "" if identity is None else f"#{identity}" if isinstance(identity, (int, str)) else str(identity)
    return " ".join(part for part in (shown, f'"{called}"' if called else "") if part)
