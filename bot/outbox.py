"""Everything the bot says: stored, then delivered by the bot's process (delivery.py). No telegram import.

Rows of one chat go out in order. A newer showing of a card replaces one that has not gone out yet, so a card that
changes five times in a second is edited once. `once` makes a thing that is said twice go out once. Nothing is stored
for a person who has stopped the bot, and a chat that is nobody's gets two replies in 20 s at the most.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from bot.tables import outbox, people

AT_ONCE = 20
"""Messages of one chat that are looked at in one round."""

ANSWER_LIFETIME = 30.0
"""Seconds after which answering a tap is of no use any more."""


STRANGERS_WAIT, STRANGERS_FEW = 20.0, 2
"""So many replies in so many seconds get a chat that is no linked person's, however much is written there: one that
was just unlinked is told so, and then why the next thing does not work."""

STRANGER = "stranger"

Kind = Literal["card", "say", "photo", "delete", "answer"]


@dataclass(frozen=True, slots=True)
class Due:
    """One thing to deliver."""

    id: int
    chat_id: int
    kind: str
    card_id: int | None
    payload: dict[str, Any]
    tries: int
    created_at: float


def _put(connection: Connection, chat_id: int, kind: Kind, payload: dict[str, Any], now: float, **more: Any) -> bool:
    """Queues a row; false where its person has stopped the bot."""
    if _blocked(connection, chat_id):
        return False
    row = {"chat_id": chat_id, "kind": kind, "payload": json.dumps(payload), "state": "due", "due_at": now, "tries": 0}
    connection.execute(insert(outbox).values(**{**row, "created_at": now, **more}))
    return True


def _blocked(connection: Connection, chat_id: int) -> bool | None:
    """Whether a chat's person has stopped the bot; None where the chat is no linked person's."""
    return connection.execute(select(people.c.blocked).where(people.c.telegram_id == chat_id)).scalar()


def _answered_lately(connection: Connection, chat_id: int, now: float) -> bool:
    lately = (
        outbox.c.chat_id == chat_id,
        outbox.c.note == STRANGER,
        outbox.c.created_at > now - STRANGERS_WAIT,
    )
    return connection.execute(select(func.count()).select_from(outbox).where(*lately)).scalar_one() >= STRANGERS_FEW


def card(connection: Connection, chat_id: int, card_id: int, text: str, keyboard: list[Any], now: float) -> None:
    """Queues the present look of a card, in place of an older one that is still queued."""
    older = (outbox.c.card_id == card_id, outbox.c.state == "due")
    # A chat that Telegram has told to wait waits with the newer look too.
    waits = connection.execute(select(func.max(outbox.c.due_at)).where(*older)).scalar() or now
    connection.execute(delete(outbox).where(*older))
    payload = {"text": text, "keyboard": keyboard}
    _put(connection, chat_id, "card", payload, now, card_id=card_id, due_at=max(now, waits))


def say(
    connection: Connection,
    chat_id: int,
    text: str,
    now: float,
    *,
    once: str | None = None,
    file: Path | None = None,
    kind: Literal["say", "photo"] = "say",
) -> bool:
    """Queues a message of HTML text, or a file (a picture, by its kind) with it as the caption.

    False where `once` was said before, and where it is not to be said: see above.
    """
    if once is not None and connection.execute(select(outbox.c.id).where(outbox.c.once == once)).first() is not None:
        return False
    note = None
    if once is None and _blocked(connection, chat_id) is None:
        # What is said under a key is no reply: it is told to ops, say, whose chat may be a group.
        if _answered_lately(connection, chat_id, now):
            return False
        note = STRANGER
    payload = {"text": text, "file": None if file is None else str(file)}
    return _put(connection, chat_id, kind, payload, now, once=once, note=note)


def delete_message(connection: Connection, chat_id: int, message_id: int, now: float) -> None:
    """Queues that a message goes from the chat."""
    _put(connection, chat_id, "delete", {"message_id": message_id}, now)


def answer(connection: Connection, chat_id: int, query_id: str, text: str, alert: bool, now: float) -> None:
    """Queues the answer to a tap, which ends the button's waiting state."""
    _put(connection, chat_id, "answer", {"query_id": query_id, "text": text, "alert": alert}, now)


def due(connection: Connection, now: float, but: Collection[tuple[int, bool]] = ()) -> list[Due]:
    """What is to go out now, oldest first. `but`: chats, each with whether it is its answers, that are left out."""
    place = func.row_number().over(partition_by=(outbox.c.chat_id, outbox.c.kind == "answer"), order_by=outbox.c.id)
    ranked = select(outbox, place.label("place")).where(outbox.c.state == "due").subquery()
    earlier = outbox.alias("earlier")
    # Nothing overtakes an earlier message of its chat that waits; one chat's flood leaves room for the others.
    held = (
        select(earlier.c.id)
        .where(
            earlier.c.chat_id == ranked.c.chat_id,
            earlier.c.state == "due",
            earlier.c.kind != "answer",
            earlier.c.id < ranked.c.id,
            earlier.c.due_at > now,
        )
        .exists()
    )
    rows = connection.execute(
        select(ranked)
        .where(ranked.c.due_at <= now, ranked.c.place <= AT_ONCE, or_(ranked.c.kind == "answer", ~held))
        .order_by(ranked.c.id)
    )
    return [
        Due(row.id, row.chat_id, row.kind, row.card_id, json.loads(row.payload), row.tries, row.created_at)
        for row in rows
        if (row.chat_id, row.kind == "answer") not in but
    ]


def begin(connection: Connection, row_id: int, tries: int) -> bool:
    """Notes a try, by compare-and-set on the tries before: false where the row was replaced, or is somebody else's."""
    here = (outbox.c.id == row_id, outbox.c.state == "due", outbox.c.tries == tries)
    return connection.execute(update(outbox).where(*here).values(tries=tries + 1)).rowcount == 1


def finish(connection: Connection, row_id: int, state: str, note: str | None = None) -> None:
    """`sent` or `dropped` (with why)."""
    values = {"state": state} if note is None else {"state": state, "note": note}
    connection.execute(update(outbox).where(outbox.c.id == row_id).values(**values))


def drop_chat(connection: Connection, chat_id: int, note: str) -> None:
    """Nothing of what waits for this chat goes out any more."""
    here = update(outbox).where(outbox.c.chat_id == chat_id, outbox.c.state == "due")
    connection.execute(here.values(state="dropped", note=note))


def postpone_chat(connection: Connection, chat_id: int, row_id: int, until: float, note: str) -> None:
    """The row is tried again then, and nothing of the same chat overtakes it."""
    here = update(outbox).where(outbox.c.chat_id == chat_id, outbox.c.state == "due", outbox.c.kind != "answer")
    connection.execute(here.values(due_at=until))
    connection.execute(update(outbox).where(outbox.c.id == row_id).values(due_at=until, note=note))
