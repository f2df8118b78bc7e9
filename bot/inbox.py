"""Updates, stored before they are acknowledged and handled in order per person.

store(raw updates) ─► committed ─► acknowledged by the caller ─► pending() ─► handled, and done() in the same commit

An update is handled exactly once: what it changes is committed together with its `done`. `update_id` is the primary
key, so a duplicate is nothing new.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.postgresql import insert as upsert_postgresql
from sqlalchemy.dialects.sqlite import insert as upsert_sqlite

from bot.incoming import queue_of
from bot.tables import inbox


def store(connection: Connection, updates: Sequence[dict[str, Any]], now: float) -> int:
    """Stores raw updates; those already there stay as they are. Returns the highest update id, or 0."""
    insert = upsert_sqlite if connection.dialect.name == "sqlite" else upsert_postgresql
    highest = 0
    for raw in updates:
        update_id = int(raw["update_id"])
        row = {"queue": queue_of(raw), "payload": json.dumps(raw), "received_at": now, "state": "new"}
        connection.execute(insert(inbox).values(update_id=update_id, **row).on_conflict_do_nothing())
        highest = max(highest, update_id)
    return highest


def pending(connection: Connection) -> dict[int, list[int]]:
    """Ids of the updates to handle, in order, by person."""
    found: dict[int, list[int]] = {}
    rows = connection.execute(
        select(inbox.c.queue, inbox.c.update_id).where(inbox.c.state == "new").order_by(inbox.c.update_id)
    )
    for queue, update_id in rows:
        found.setdefault(queue, []).append(update_id)
    return found


def load(connection: Connection, update_id: int) -> dict[str, Any] | None:
    """The raw update, if it is still to be handled."""
    payload = connection.execute(
        select(inbox.c.payload).where(inbox.c.update_id == update_id, inbox.c.state == "new")
    ).scalar()
    return None if payload is None else json.loads(payload)


def done(connection: Connection, update_id: int) -> None:
    """Marks an update as handled. What it said is forgotten with that: it may hold a code or a pasted secret."""
    connection.execute(update(inbox).where(inbox.c.update_id == update_id).values(state="done", payload="{}"))


def park(connection: Connection, update_id: int, note: str) -> None:
    """Sets an update aside that cannot be handled; the next ones go on."""
    connection.execute(update(inbox).where(inbox.c.update_id == update_id).values(state="parked", note=note))


def offset(connection: Connection) -> int | None:
    """The update id after the newest stored one: what to ask Telegram for next."""
    newest = connection.execute(select(inbox.c.update_id).order_by(inbox.c.update_id.desc()).limit(1)).scalar()
    return None if newest is None else newest + 1
