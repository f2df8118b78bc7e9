"""Cards: messages that are edited in place. Their state is in the database, their buttons are handles.

A handle is a short random name that points at a row (card, version, action, arguments, person): `callback_data` has no
meaning of its own, so a forged, forwarded or foreign one does nothing. Each showing of a card raises its version, which
is how a double tap or a stale card is recognised.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.engine import Row

from bot import outbox
from bot.tables import awaits, cards, handles, sources

Style = Literal["primary", "success", "danger"]


@dataclass(frozen=True, slots=True)
class Button:
    """A button: what it says and what a tap on it means to the card's dialogue."""

    label: str
    action: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    style: Style | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What a card shows: HTML text (escaped where it was made) and rows of buttons."""

    text: str
    rows: tuple[tuple[Button, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One message of the bot. `id` 0 and `message_id` None: not stored, not sent yet."""

    telegram_id: int
    chat_id: int
    dialogue: str
    state: Mapping[str, Any]
    subject: str | None = None
    live: bool = True
    id: int = 0
    version: int = 0
    message_id: int | None = None
    shown_at: float = 0.0

    def with_state(self, **changes: Any) -> "Card":
        """The card with some members of its state changed."""
        return replace(self, state={**self.state, **changes})


@dataclass(frozen=True, slots=True)
class Handle:
    """What a button of a shown card stands for."""

    card_id: int
    telegram_id: int
    version: int
    action: str
    args: Mapping[str, Any]


def _card(row: Row[Any]) -> Card:
    return Card(
        telegram_id=row.telegram_id,
        chat_id=row.chat_id,
        dialogue=row.dialogue,
        state=json.loads(row.state),
        subject=row.subject,
        live=row.live,
        id=row.id,
        version=row.version,
        message_id=row.message_id,
        shown_at=row.updated_at,
    )


def load(connection: Connection, card_id: int) -> Card | None:
    """The card as it stands now."""
    row = connection.execute(select(cards).where(cards.c.id == card_id)).first()
    return None if row is None else _card(row)


def claimed(connection: Connection, dialogue: str, member: str, but: int) -> set[int]:
    """What the other cards of a dialogue show under `member` of their state, such as the transactions they saved."""
    rows = connection.execute(select(cards.c.state).where(cards.c.dialogue == dialogue, cards.c.id != but))
    states = [json.loads(row.state) for row in rows]
    return {int(state[member]) for state in states if state.get(member) is not None}


def find_by_message(connection: Connection, chat_id: int, message_id: int) -> Card | None:
    """The card that is shown by a message."""
    row = connection.execute(select(cards).where(cards.c.chat_id == chat_id, cards.c.message_id == message_id)).first()
    return None if row is None else _card(row)


def note_source(connection: Connection, card: Card, message_id: int) -> None:
    """The person's message that made the card."""
    connection.execute(delete(sources).where(sources.c.chat_id == card.chat_id, sources.c.message_id == message_id))
    connection.execute(insert(sources).values(chat_id=card.chat_id, message_id=message_id, card_id=card.id))


def find_by_source(connection: Connection, chat_id: int, message_id: int) -> Card | None:
    """The card that a person's message made."""
    query = select(sources.c.card_id).where(sources.c.chat_id == chat_id, sources.c.message_id == message_id)
    card_id = connection.execute(query).scalar()
    return None if card_id is None else load(connection, card_id)


def live(connection: Connection, dialogue: str, since: float) -> list[Card]:
    """Cards of a dialogue that follow their subject and were touched since."""
    rows = connection.execute(
        select(cards).where(cards.c.dialogue == dialogue, cards.c.live.is_(True), cards.c.updated_at > since)
    )
    return [_card(row) for row in rows]


def show(connection: Connection, card: Card, view: View, now: float) -> Card:
    """Stores the card with its next version and new handles, and queues its message."""
    values: dict[str, Any] = {
        "state": json.dumps(card.state),
        "subject": card.subject,
        "live": card.live,
        "version": card.version + 1,
        "updated_at": now,
    }
    if card.id:
        connection.execute(update(cards).where(cards.c.id == card.id).values(**values))
        shown = replace(card, version=card.version + 1)
    else:
        owner = {"telegram_id": card.telegram_id, "chat_id": card.chat_id, "dialogue": card.dialogue}
        inserted = connection.execute(insert(cards).values(**owner, **values)).inserted_primary_key
        assert inserted is not None
        shown = replace(card, id=int(inserted[0]), version=1)
    named = [[(secrets.token_urlsafe(12), button) for button in row] for row in view.rows if row]
    rows = [_handle(shown, handle, button, now) for row in named for handle, button in row]
    if rows:
        connection.execute(insert(handles), rows)
    keyboard = [[_button(handle, button) for handle, button in row] for row in named]
    outbox.card(connection, shown.chat_id, shown.id, view.text, keyboard, now)
    return shown


def _handle(card: Card, handle: str, button: Button, now: float) -> dict[str, Any]:
    return {
        "handle": handle,
        "card_id": card.id,
        "telegram_id": card.telegram_id,
        "version": card.version,
        "action": button.action,
        "args": json.dumps(dict(button.args)),
        "created_at": now,
    }


def _button(handle: str, button: Button) -> dict[str, str]:
    shown = {"text": button.label.strip() or "…", "callback_data": handle}
    return shown | ({"style": button.style} if button.style else {})


def resolve(connection: Connection, handle: str) -> Handle | None:
    """What a tapped button stands for."""
    row = connection.execute(select(handles).where(handles.c.handle == handle)).first()
    return None if row is None else Handle(row.card_id, row.telegram_id, row.version, row.action, json.loads(row.args))


def sent(connection: Connection, card_id: int, message_id: int) -> None:
    """Notes which message shows a card."""
    connection.execute(update(cards).where(cards.c.id == card_id).values(message_id=message_id))


def adopt(connection: Connection, card_id: int, message_id: int) -> None:
    """The card follows the message that its person has just tapped.

    A process that dies between sending and noting it sends the card once more: then two messages show it.
    """
    connection.execute(
        update(cards)
        .where(cards.c.id == card_id, cards.c.message_id.is_distinct_from(message_id))
        .values(message_id=message_id)
    )


def retire(connection: Connection, card_id: int) -> None:
    """The card follows its subject no more."""
    connection.execute(update(cards).where(cards.c.id == card_id).values(live=False))


def expect(connection: Connection, card: Card, question: str) -> None:
    """The person's next text answers this question of this card."""
    forget_question(connection, card.telegram_id)
    connection.execute(insert(awaits).values(telegram_id=card.telegram_id, card_id=card.id, question=question))


def expected(connection: Connection, telegram_id: int) -> tuple[Card, str] | None:
    """The card that waits for a text, and its question."""
    row = connection.execute(select(awaits).where(awaits.c.telegram_id == telegram_id)).first()
    if row is None:
        return None
    card = load(connection, row.card_id)
    return None if card is None else (card, row.question)


def forget_question(connection: Connection, telegram_id: int) -> None:
    """No text is awaited any more."""
    connection.execute(delete(awaits).where(awaits.c.telegram_id == telegram_id))
