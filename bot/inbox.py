"""Updates, stored before they are acknowledged and handled in order per person.

store(raw updates) ─► committed ─► acknowledged by the caller ─► pending() ─► handled, and done() in the same commit

An update is handled exactly once: what it changes is committed together with its `done`, by compare-and-set, so a
second handler's changes are rolled back. `update_id` is the primary key, so a duplicate is nothing new. Webhooks may
bring updates out of order: where one is missing before a fresh one, the fresh one waits a moment for it.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert_postgresql
from sqlalchemy.dialects.sqlite import insert as upsert_sqlite

from bot.incoming import queue_of
from bot.tables import inbox

GATHER = 1.0
"""Seconds that a fresh update waits for a missing one before it."""

QUIET = 5 * 86400.0
"""Seconds without an update after which the next one's id is not expected to follow: Telegram says a week."""

NEAR = 100
"""Ids count up by one while updates come; after a quiet week they begin elsewhere, and nothing is missing."""


class AlreadyHandled(Exception):
    """Somebody else has handled this update: the changes of this handler are not committed."""


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
    return _by_person(_new(connection))


class InOrder:
    """The same with a moment's patience: nothing goes on while an update before it is missing, for GATHER at most."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: int | None = None
        self._since = 0.0

    def pending(self, connection: Connection) -> dict[int, list[int]]:
        """Ids of the updates to handle now; whatever came after a missing one waits, since that may be anybody's."""
        rows = _new(connection)
        for place, (_, update_id) in enumerate(rows):
            follows = place > 0 and rows[place - 1][1] == update_id - 1
            if not follows and _misses_one(connection, update_id) and self._waits(update_id):
                return _by_person(rows[:place])
        return _by_person(rows)

    def _waits(self, update_id: int) -> bool:
        now = self._clock()
        if self._held is None or update_id > self._held:
            self._held, self._since = update_id, now
        return update_id == self._held and now - self._since < GATHER


def _new(connection: Connection) -> list[tuple[int, int]]:
    query = select(inbox.c.queue, inbox.c.update_id).where(inbox.c.state == "new").order_by(inbox.c.update_id)
    return [(row.queue, row.update_id) for row in connection.execute(query)]


def _by_person(rows: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for queue, update_id in rows:
        found.setdefault(queue, []).append(update_id)
    return found


def _misses_one(connection: Connection, update_id: int) -> bool:
    """Whether the update before this one has not come, while others shortly before it have."""
    near = (inbox.c.update_id < update_id, inbox.c.update_id >= update_id - NEAR)
    before = connection.execute(select(func.max(inbox.c.update_id)).where(*near)).scalar()
    return before is not None and before != update_id - 1


def load(connection: Connection, update_id: int) -> dict[str, Any] | None:
    """The raw update, if it is still to be handled."""
    payload = connection.execute(
        select(inbox.c.payload).where(inbox.c.update_id == update_id, inbox.c.state == "new")
    ).scalar()
    return None if payload is None else json.loads(payload)


def done(connection: Connection, update_id: int) -> None:
    """Marks an update as handled. What it said is forgotten with that: it may hold a code or a pasted secret.

    Raises AlreadyHandled where it is handled or set aside, which undoes what the same transaction has changed.
    """
    here = (inbox.c.update_id == update_id, inbox.c.state == "new")
    if connection.execute(update(inbox).where(*here).values(state="done", payload="{}")).rowcount != 1:
        raise AlreadyHandled(update_id)


def park(connection: Connection, update_id: int, note: str) -> None:
    """Sets an update aside that cannot be handled; the next ones go on."""
    here = (inbox.c.update_id == update_id, inbox.c.state == "new")
    connection.execute(update(inbox).where(*here).values(state="parked", note=note))


def offset(connection: Connection, now: float | None = None) -> int | None:
    """The update id after the newest stored one: what to ask Telegram for next.

    With `now`, None after a quiet week: then ids begin anew at random, and an offset above them would acknowledge them
    unread. What comes twice by that is nothing new.
    """
    query = select(func.max(inbox.c.update_id))
    if now is not None:
        query = query.where(inbox.c.received_at > now - QUIET)
    newest: int | None = connection.execute(query).scalar()
    return None if newest is None else newest + 1
