"""Questions that automations ask, as the chat shows them: kept once, a card in each chat, closed on all cards at once.

ask (the runner) ─► keep ─► a card with a button for each option in every chat ─► a tap: dialogues/questions.py
the answer, the end of the time, the end of the run ─► close: every card says how it ended, the audit who answered

Whether an answer counts is decided by automations.control alone; what stands here is what people see.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from bot import audit, cards, people
from bot.cards import Button, Card, View
from bot.desk import House
from bot.tables import cards as card_rows
from bot.tables import questions
from bot.texts import Texts

DIALOGUE = "questions"

SIDE_BY_SIDE = 14
"""Characters of the longest option up to which two stand in a row."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the bot keeps it. `names`: whom it was asked of; times are seconds since 1970."""

    key: str
    automation: str
    text: str
    options: tuple[str, ...]
    default: str | None
    deadline: float | None
    names: tuple[str, ...]
    id: int = 0
    settled_at: float | None = None

    @property
    def subject(self) -> str:
        """What its cards and the audit call it: `question:17`."""
        return f"question:{self.id}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question ended. `option`: what counts; `by`: the user id of who answered; `words`: told by the runner.

    `answered` by a person · `expired`: the time ran out · `withdrawn`: the run ended without it · `told`: see `words`
    """

    state: Literal["answered", "expired", "withdrawn", "told"]
    option: str | None = None
    by: str = ""
    at: float | None = None
    words: str = ""


def keep(connection: Connection, asked: Asked, now: float) -> Asked | None:
    """Keeps a question and gives it its number; None where it is kept already.

    One whose cards were closed is kept anew under its number: its run was gone on with, and asks again.
    """
    row = {
        "key": asked.key,
        "automation": asked.automation,
        "text": asked.text,
        "options": json.dumps(asked.options, ensure_ascii=False),
        "default_option": asked.default,
        "deadline": asked.deadline,
        "asked_of": json.dumps(asked.names, ensure_ascii=False),
        "asked_at": now,
        "settled_at": None,
    }
    closed = (questions.c.key == asked.key, questions.c.settled_at.is_not(None))
    try:
        with connection.begin_nested():
            if connection.execute(update(questions).where(*closed).values(**row)).rowcount != 1:
                connection.execute(questions.insert().values(**row))
    except IntegrityError:
        return None
    return find(connection, asked.key)


def load(connection: Connection, number: int) -> Asked | None:
    """The question of that number."""
    row = connection.execute(select(questions).where(questions.c.id == number)).first()
    return None if row is None else _asked(row)


def find(connection: Connection, key: str) -> Asked | None:
    """The question that a run knows by this key."""
    row = connection.execute(select(questions).where(questions.c.key == key)).first()
    return None if row is None else _asked(row)


def unsettled(connection: Connection) -> list[Asked]:
    """The questions whose cards have buttons."""
    query = select(questions).where(questions.c.settled_at.is_(None)).order_by(questions.c.id)
    return [_asked(row) for row in connection.execute(query)]


def _asked(row: Row[Any]) -> Asked:
    return Asked(
        row.key,
        row.automation,
        row.text,
        tuple(json.loads(row.options)),
        row.default_option,
        row.deadline,
        tuple(json.loads(row.asked_of)),
        row.id,
        row.settled_at,
    )


def show(connection: Connection, asked: Asked, chats: Sequence[int], house: House, now: float) -> None:
    """Puts a card with the options into each chat."""
    for chat_id in chats:
        # The card of a group is nobody's own: it has the chat's number where others have their person's.
        card = Card(chat_id, chat_id, DIALOGUE, {"question": asked.id}, asked.subject)
        cards.show(connection, card, view(connection, asked, None, chat_id, house), now)


def close(connection: Connection, asked: Asked, outcome: Outcome, house: House, now: float) -> bool:
    """Says on every card how the question ended, and in the audit who answered; false where that was done before."""
    unsettled = (questions.c.id == asked.id, questions.c.settled_at.is_(None))
    if connection.execute(update(questions).where(*unsettled).values(settled_at=now)).rowcount != 1:
        return False
    here = (card_rows.c.dialogue == DIALOGUE, card_rows.c.live.is_(True), card_rows.c.subject == asked.subject)
    for number in list(connection.execute(select(card_rows.c.id).where(*here)).scalars()):
        card = cards.load(connection, number)
        assert card is not None, "it was found in this transaction"
        shown = cards.show(connection, card, view(connection, asked, outcome, card.chat_id, house), now)
        cards.retire(connection, shown.id)
    if outcome.state == "answered":
        _note(connection, asked, outcome, now)
    return True


def _note(connection: Connection, asked: Asked, outcome: Outcome, now: float) -> None:
    person = people.find_user(connection, outcome.by)
    entry = audit.Entry(
        outcome.at or now,
        outcome.by,
        "answered",
        asked.subject,
        None if person is None else person.telegram_id,
        after={"answer": outcome.option},
        note=f"{asked.automation}: {asked.text}"[:500] + f" ({asked.key})",
    )
    audit.note(connection, entry)


def view(connection: Connection, asked: Asked, outcome: Outcome | None, chat_id: int, house: House) -> View:
    """The card in one chat: open with its options, or closed with how it ended."""
    texts = texts_in(connection, chat_id, house)
    html = texts.render(
        "question.html",
        id=asked.id,
        automation=asked.automation,
        text=asked.text,
        default=asked.default,
        until=_moment(texts, asked.deadline),
        outcome=outcome,
        at=_moment(texts, None if outcome is None else outcome.at),
        who="" if outcome is None else name_of(connection, outcome.by),
    )
    if outcome is not None:
        return View(html)
    each = [Button(option, "answer", {"option": place}) for place, option in enumerate(asked.options)]
    width = 2 if max(len(option) for option in asked.options) <= SIDE_BY_SIDE else 1
    return View(html, tuple(tuple(each[start : start + width]) for start in range(0, len(each), width)))


def texts_in(connection: Connection, chat_id: int, house: House) -> Texts:
    """The language and zone of a chat: its person's, or the house's in a group."""
    person = people.find(connection, chat_id)
    if person is None:
        return Texts(house.language, house.zone, house.scale)
    return Texts(person.language, ZoneInfo(person.zone) if person.zone else house.zone, house.scale)


def name_of(connection: Connection, user_id: str) -> str:
    """A linked person's name; of others what is known of them."""
    person = people.find_user(connection, user_id)
    return user_id if person is None else person.name


def _moment(texts: Texts, at: float | None) -> str:
    return "" if at is None else texts.moment(datetime.fromtimestamp(at, UTC))
