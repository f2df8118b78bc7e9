"""Who did what, with which key, by which call, before and after: one line for each step, written with the step itself.

intended call: asked ─► done | refused | unknown ─► done | not_seen        everything else: a word of the dialogue's
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, insert, or_, select
from sqlalchemy.engine import Row

from bot.tables import audit

LONGEST = 4000
"""Characters of JSON that are kept of one state."""

MONEY = ("finplan.", "fintransaction.", "finance.")
"""Operations whose lines are evidence of money, and are kept as long as that."""

MADE = {
    "fintransaction.transaction.create": "transaction",
    "finplan.request.save": "request",
    "tasks.task.create": "task",
}
"""Operations that make a thing, and what it is called: the line is found under the thing's number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `subject` is `request:7`, `transaction:42`, `task:3`, `person:anna`; `key_kind` own, service, none."""

    at: float
    user_id: str
    act: str
    subject: str
    telegram_id: int | None = None
    key_kind: str = "none"
    operation: str | None = None
    intent_id: str | None = None
    body: Any = None
    before: Any = None
    after: Any = None
    note: str = ""
    id: int = 0


def note(connection: Connection, entry: Entry) -> None:
    """Writes the line."""
    connection.execute(
        insert(audit).values(
            at=entry.at,
            user_id=entry.user_id,
            telegram_id=entry.telegram_id,
            key_kind=entry.key_kind,
            act=entry.act,
            subject=entry.subject,
            operation=entry.operation,
            intent_id=entry.intent_id,
            body=_json(entry.body),
            before=_json(entry.before),
            after=_json(entry.after),
            note=entry.note,
            money=(entry.operation or "").startswith(MONEY) or entry.subject.startswith(("request:", "transaction:")),
        )
    )


def entries(connection: Connection, subjects: Iterable[str]) -> list[Entry]:
    """The lines of some things, oldest first, with those of the calls that made or changed them."""
    wanted = list(subjects)
    calls = select(audit.c.intent_id).where(audit.c.subject.in_(wanted), audit.c.intent_id.is_not(None))
    query = select(audit).where(or_(audit.c.subject.in_(wanted), audit.c.intent_id.in_(calls))).order_by(audit.c.id)
    return [_entry(row) for row in connection.execute(query)]


def since(connection: Connection, at: float, *, after_id: int = 0, limit: int = 1000) -> list[Entry]:
    """A page of the lines from a moment on, in order; the next page begins after the last one's id."""
    query = select(audit).where(audit.c.at >= at, audit.c.id > after_id).order_by(audit.c.id).limit(limit)
    return [_entry(row) for row in connection.execute(query)]


def subject_of(subject: str, operation: str, data: Any) -> str:
    """What a call was about: the thing that it made, else the thing that its intent names (`request:7:anna`)."""
    made = MADE.get(operation)
    number = cast("dict[str, Any]", data).get("id") if isinstance(data, dict) else None
    if made is not None and number is not None:
        return f"{made}:{number}"
    return ":".join(subject.split(":")[:2])


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        row.at,
        row.user_id,
        row.act,
        row.subject,
        row.telegram_id,
        row.key_kind,
        row.operation,
        row.intent_id,
        _value(row.body),
        _value(row.before),
        _value(row.after),
        row.note,
        row.id,
    )


def _json(value: Any) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else json.dumps({"cut": text[:LONGEST]}, ensure_ascii=False)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)
