"""What automations say and ask goes into the outbox: the Messenger of the runner. No telegram import.

say    ─► messages, split where they are long, a file or picture with the first
ask    ─► a card with options in each chat      settle ─► how a question ended, on all its cards

To whom: user ids of linked people, chats' numbers, `@ops`, roles of WORKSPACE_ROLES; several by commas (roles.py).
"""

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from bot import outbox, people, questions, roles
from bot.desk import House
from bot.questions import Asked, Outcome
from bot.texts import size
from storage import Database

if TYPE_CHECKING:
    from automations.ports import Question

LIMIT, CAPTION = 3500, 900
"""UTF-16 units of one message and of one caption: below Telegram's limits by what escaping adds."""

ON_CARD = 3000
"""Units of a question's own text on its card."""


def pieces(text: str, first: int, limit: int = LIMIT) -> list[str]:
    """The text in parts, cut at a line's or a word's end: the first up to `first` units long, the others to `limit`."""
    parts: list[str] = []
    rest, room = text.strip(), first
    while size(rest) > room:
        longest = _fitting(rest, room)
        cut = max(rest.rfind("\n", 1, longest), rest.rfind(" ", longest // 2, longest))
        cut = cut if cut > 0 else longest
        parts.append(rest[:cut].rstrip())
        rest, room = rest[cut:].lstrip(), limit
    return [*parts, rest] if rest or not parts else parts


def _fitting(text: str, room: int) -> int:
    """How many characters fit: one beyond the basic plane counts twice."""
    taken = 0
    for place, character in enumerate(text):
        taken += 1 + (character > "\uffff")
        if taken > room:
            return place
    return len(text)


class OutboxMessenger:
    """Stores messages and questions for delivery; a second one of the same key is not stored again."""

    def __init__(self, db: Database, house: House, wake: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._house = house
        self._wake = wake

    def _now(self) -> float:
        return self._house.clock().timestamp()

    async def say(self, to: str, text: str, *, file: Path | None = None, photo: bool = False, key: str) -> None:
        """Plain text, escaped here; a long one is several messages. Raises ValueError where `to` is nobody.

        With a file the text is its caption, as far as a caption goes; `photo`: it is shown as a picture.
        """
        if not text.strip() and file is None:
            raise ValueError("there is no text to say")
        with self._db.read() as connection:
            chats = roles.chats(connection, to, self._house)
        parts = pieces(text, CAPTION if file is not None else LIMIT)

        def store(connection: Connection) -> None:
            for chat in chats:
                _say(connection, chat, parts, f"{key}:{chat}", self._now(), file, photo=photo)

        await self._db.write(store)
        self._wake()

    async def ask(self, to: str, question: "Question") -> None:
        """A card with a button for each option in every chat that is named; of a long text the end is on the card.

        Raises ValueError where `to` is nobody, or nobody who is named lets the bot write.
        """
        names = tuple(roles.named(to))
        *before, last = pieces(question.text, ON_CARD, ON_CARD)
        deadline = None if question.deadline is None else question.deadline.timestamp()
        asked = Asked(question.key, question.automation, last, question.options, question.default, deadline, names)

        def store(connection: Connection) -> None:
            known = questions.find(connection, question.key)
            if known is not None and known.settled_at is None:
                return
            chats = [chat for chat in roles.chats(connection, to, self._house) if not _deaf(connection, chat)]
            if not chats:
                raise ValueError(f"{to} cannot be asked: they have stopped the bot")
            kept = questions.keep(connection, asked, self._now())
            if kept is None:
                return
            for chat in chats:
                _say(connection, chat, before, f"{question.key}:{chat}:{self._now():.0f}", self._now())
            questions.show(connection, kept, chats, self._house, self._now())

        await self._db.write(store)
        self._wake()

    async def settle(self, key: str, words: str) -> None:
        """Takes the buttons away wherever the question stands, and says how it ended, unless its cards say so."""

        def store(connection: Connection) -> None:
            asked = questions.find(connection, key)
            if asked is not None:
                questions.close(connection, asked, Outcome("told", words=words), self._house, self._now())

        await self._db.write(store)
        self._wake()


def _deaf(connection: Connection, chat_id: int) -> bool:
    person = people.find(connection, chat_id)
    return person is not None and person.blocked


def _say(
    connection: Connection,
    chat: int,
    parts: list[str],
    key: str,
    now: float,
    file: Path | None = None,
    *,
    photo: bool = False,
) -> None:
    for place, part in enumerate(parts):
        say = partial(outbox.say, connection, chat, escape(part, quote=False), now, once=f"{key}:{place}")
        if place == 0 and file is not None:
            say(file=file, kind="photo" if photo else "say")
        else:
            say()
