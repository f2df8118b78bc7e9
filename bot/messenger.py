"""What automations say goes into the outbox: the Messenger of the runner. No telegram import.

To whom: a user id of a linked person, a chat's number, or `@ops` (WORKSPACE_OPS: user ids or chat numbers, by comma).
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

from sqlalchemy import Connection

from bot import outbox, people
from storage import Database

LIMIT, CAPTION = 3500, 900
"""Characters of one message and of one caption: below Telegram's limits by what escaping adds."""


def pieces(text: str, first: int) -> list[str]:
    """The text in parts, cut at a line's or a word's end; the first as long as `first` allows."""
    parts: list[str] = []
    rest, limit = text.strip(), first
    while len(rest) > limit:
        cut = max(rest.rfind("\n", 1, limit), rest.rfind(" ", limit // 2, limit))
        cut = cut if cut > 0 else limit
        parts.append(rest[:cut].rstrip())
        rest, limit = rest[cut:].lstrip(), LIMIT
    return [*parts, rest] if rest or not parts else parts


class OutboxMessenger:
    """Stores messages for delivery; a second one of the same key is not stored again."""

    def __init__(
        self, db: Database, clock: Callable[[], float], ops: str | None = None, wake: Callable[[], None] = lambda: None
    ) -> None:
        self._db = db
        self._clock = clock
        self._ops = ops
        self._wake = wake

    async def say(self, to: str, text: str, *, file: Path | None = None, key: str) -> None:
        """Plain text, escaped here; a long one is several messages. Raises ValueError where `to` is nobody.

        With a file the text is its caption, as far as a caption goes.
        """
        if not text.strip() and file is None:
            raise ValueError("there is no text to say")
        chats = [self._chat(name.strip()) for name in self._names(to)]
        parts = pieces(text, CAPTION if file is not None else LIMIT)

        def store(connection: Connection) -> None:
            for chat in chats:
                for place, part in enumerate(parts):
                    once = f"{key}:{chat}:{place}"
                    here = file if place == 0 else None
                    outbox.say(connection, chat, escape(part, quote=False), self._clock(), once=once, file=here)

        await self._db.write(store)
        self._wake()

    def _names(self, to: str) -> list[str]:
        if to != "@ops":
            return [to]
        if not self._ops:
            raise ValueError("@ops is nobody: set WORKSPACE_OPS to a linked person's user id or a chat's number")
        return self._ops.split(",")

    def _chat(self, name: str) -> int:
        with self._db.read() as connection:
            person = people.find_user(connection, name)
        if person is None and name.lstrip("-").isdigit():
            return int(name)
        if person is None:
            raise ValueError(f"{name} is not linked in chat: invite them with `workspace invite {name}`")
        return person.telegram_id
