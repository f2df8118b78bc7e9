"""Intents: calls that change something, committed before they are made. Storage and words; operations.py makes them.

open ─► sending (committed) ─► the call, once ─► done | refused | unknown ─► read back ─► done | not_seen | held
held (payments): nobody can say what became of it; it stays the open intent of its subject until a person has judged.
An intent found `sending` at start-up is unknown: the process died while the call was under way.
"""

import json
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from bot.tables import intents

State = Literal["open", "sending", "unknown", "done", "refused", "not_seen", "held"]

HELD = {"finplan.request.pay"}
"""Operations whose unknown outcome is never given up: it is held until a person has judged it."""

KeyKind = Literal["own", "service"]
"""Whose key makes a call: the person's own, or the service's in their name."""

OPERATION_ID_FIELD = {"fintransaction.transaction.create": "data", "tasks.task.create": "integration_data"}
"""Where a created thing carries the operation id by which it is found again."""

CHECKS = (1.0, 2.0, 5.0, 15.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0)
"""Seconds between the readings back of an unknown outcome: about ten minutes in all."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One call that a person asked for; `id` is the operation id that goes with it."""

    id: str
    telegram_id: int
    user_id: str
    card_id: int
    dialogue: str
    subject: str
    operation: str
    body: dict[str, Any]
    before: dict[str, Any]
    state: State
    checks: int
    created_at: float
    key_kind: KeyKind = "own"


@dataclass(frozen=True, slots=True)
class Settled:
    """What is told to the dialogue. `done`: confirmed, `data` as JSON; `refused`: why; `checking`: not known yet.

    `not_seen`: looked for long enough. `decide`: what was found has to be judged by a person (`message`).
    """

    kind: Literal["done", "refused", "checking", "not_seen", "decide"]
    message: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What reading back found: the effect is there (`data`), it is not, or it cannot be said yet.

    `decide`: something is there that a person has to judge, such as a payment by somebody else; the words say what.
    """

    seen: bool | None
    data: Any = None
    decide: str | None = None


class AlreadyUnderWay(Exception):
    """The subject has an open intent: this is the second of two taps."""


def new_id() -> str:
    """128 random bits, as text."""
    return secrets.token_hex(16)


def _intent(row: Row[Any]) -> Intent:
    return Intent(
        row.id,
        row.telegram_id,
        row.user_id,
        row.card_id,
        row.dialogue,
        row.subject,
        row.operation,
        json.loads(row.body),
        json.loads(row.before),
        row.state,
        row.checks,
        row.created_at,
        row.key_kind,
    )


def create(connection: Connection, intent: Intent) -> None:
    """Commits to the call. Raises AlreadyUnderWay where the subject has an open intent."""
    row = {
        "id": intent.id,
        "telegram_id": intent.telegram_id,
        "user_id": intent.user_id,
        "card_id": intent.card_id,
        "dialogue": intent.dialogue,
        "subject": intent.subject,
        "operation": intent.operation,
        "key_kind": intent.key_kind,
        "body": json.dumps(intent.body),
        "before": json.dumps(intent.before),
        "state": intent.state,
        "checks": 0,
        "due_at": intent.created_at,
        "created_at": intent.created_at,
        "updated_at": intent.created_at,
    }
    try:
        with connection.begin_nested():
            connection.execute(insert(intents).values(**row))
    except IntegrityError:
        raise AlreadyUnderWay(intent.subject) from None


def move(
    connection: Connection,
    intent_id: str,
    to: State,
    now: float,
    *,
    unless: tuple[State, ...] = ("done", "refused", "not_seen", "held"),
    note: str | None = None,
    due_at: float | None = None,
    checks: int | None = None,
) -> bool:
    """Moves an intent on by compare-and-set; false where somebody else has settled it."""
    values: dict[str, Any] = {"state": to, "updated_at": now, "note": note}
    if due_at is not None:
        values["due_at"] = due_at
    if checks is not None:
        values["checks"] = checks
    where = (intents.c.id == intent_id, intents.c.state.not_in(unless))
    return connection.execute(update(intents).where(*where).values(**values)).rowcount == 1


def put_off(connection: Connection, intent_id: str, now: float, until: float) -> None:
    """After a fault of ours: what was being sent is unknown, all else is tried again then."""
    here = intents.c.id == intent_id
    sending = update(intents).where(here, intents.c.state == "sending")
    connection.execute(sending.values(state="unknown", updated_at=now))
    waiting = intents.c.state.in_(("open", "unknown"))
    connection.execute(update(intents).where(here, waiting).values(due_at=until, checks=intents.c.checks + 1))
    ended = update(intents).where(here, waiting, intents.c.checks >= len(CHECKS))
    held = ended.where(intents.c.operation.in_(HELD), intents.c.state == "unknown")
    connection.execute(held.values(state="held", note="held after faults of ours"))
    connection.execute(ended.values(state="not_seen", note="given up after faults of ours"))


def due(connection: Connection, now: float) -> list[Intent]:
    """Intents to make, and unknown ones to read back, by now."""
    rows = connection.execute(
        select(intents)
        .where(intents.c.state.in_(("open", "unknown")), intents.c.due_at <= now)
        .order_by(intents.c.created_at)
    )
    return [_intent(row) for row in rows]


def interrupted(connection: Connection, now: float) -> int:
    """At start-up: what was being sent when the process died is unknown."""
    where = intents.c.state == "sending"
    return connection.execute(update(intents).where(where).values(state="unknown", due_at=now, updated_at=now)).rowcount


def held(connection: Connection, subject: str) -> Intent | None:
    """The intent of a subject that a person has to judge."""
    row = connection.execute(select(intents).where(intents.c.subject == subject, intents.c.state == "held")).first()
    return None if row is None else _intent(row)


def of_card(connection: Connection, card_id: int) -> list[Intent]:
    """All intents of a card, oldest first."""
    query = select(intents).where(intents.c.card_id == card_id).order_by(intents.c.created_at, intents.c.id)
    return [_intent(row) for row in connection.execute(query)]


def latest(connection: Connection, card_id: int) -> Intent | None:
    """The newest intent of a card."""
    query = select(intents).where(intents.c.card_id == card_id).order_by(intents.c.created_at.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else _intent(row)
