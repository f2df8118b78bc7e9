"""What automations say goes into the outbox: the Messenger of the runner. No telegram import.

To whom: a user id of a linked person, a chat's number, or `@ops` (WORKSPACE_OPS: user ids or chat numbers, by comma).
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

from sqlalchemy import Connection

from bot import outbox, people
from storage import Database


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
        """Plain text, escaped here. Raises ValueError where `to` is nobody."""
        chats = [self._chat(name.strip()) for name in self._names(to)]

        def store(connection: Connection) -> None:
            for chat in chats:
                outbox.say(connection, chat, escape(text, quote=False), self._clock(), once=f"{key}:{chat}", file=file)

        await self._db.write(store)
        self._wake()

    def _names(self, to: str) -> list[str]:
        if to != "@ops":
            return [to]
        if not self._ops:
            raise ValueError("@ops is nobody: set WORKSPACE_OPS to a linked person's user id or a chat's number")
        return self._ops.split(",")

    def _chat(self, name: str) -> int:
        if name.lstrip("-").isdigit():
            return int(name)
        with self._db.read() as connection:
            person = people.find_user(connection, name)
        if person is None:
            raise ValueError(f"{name} is not linked in chat: invite them with `workspace invite {name}`")
        return person.telegram_id
