"""One call of a bot: its parameters, read strictly whatever the encoding, and the files that came with it.

A JSON body gives values of their type; a form gives text, in which whatever is not plain text is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.sandbox.model import Bot, Chat
from bot.sandbox.refusals import bad
from bot.sandbox.world import World

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file in a multipart body."""

    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`method` as the bot wrote it, by `bot`, with its parameters and uploads (by field name)."""

    world: World
    bot: Bot
    method: str
    params: Mapping[str, object]
    uploads: Mapping[str, Upload] = field(default_factory=dict[str, Upload])

    def text(self, name: str, default: str = "") -> str:
        value = self.params.get(name, default)
        if value is None:
            return default
        if isinstance(value, dict | list):
            raise bad(f'parameter "{name}" must be a string')
        text = value if isinstance(value, str) else json.dumps(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise bad("strings must be encoded in UTF-8") from None
        return text.replace("\x00", "")

    def integer(self, name: str, default: int | None = None) -> int | None:
        text = self.text(name).strip()
        if not text:
            return default
        try:
            return int(text) if len(text) < 20 else _no_integer(name)
        except ValueError:
            return _no_integer(name)

    def flag(self, name: str) -> bool:
        return self.text(name).strip().lower() in {"true", "1", "yes"}

    def parsed(self, name: str, shape: TypeAdapter[T], refusal: str) -> T | None:
        """The JSON value of a parameter in the given shape; None where it is left out, else refused with `refusal`."""
        value = self.params.get(name)
        if value is None or value == "":
            return None
        try:
            if isinstance(value, str):
                value = json.loads(value)
            # Lone surrogates pass as JSON escapes, but no answer could carry them.
            json.dumps(value, ensure_ascii=False).encode()
            return shape.validate_python(value)
        except UnicodeEncodeError:
            raise bad("strings must be encoded in UTF-8") from None
        except (ValueError, RecursionError, ValidationError):
            raise bad(refusal) from None

    def chat(self, name: str = "chat_id") -> Chat:
        """The chat that a parameter names."""
        text = self.text(name).strip()
        if not text:
            raise bad(f"{name} is empty")
        try:
            return self.world.chat_for(self.bot, int(text[:20]))
        except ValueError:
            raise bad("chat not found") from None

    def writable_chat(self) -> Chat:
        chat = self.chat()
        self.world.writable(self.bot, chat)
        return chat

    def message_id(self, refusal: str) -> int:
        found = self.integer("message_id")
        if not found:
            raise bad(refusal)
        return found


def _no_integer(name: str) -> int:
    raise bad(f'parameter "{name}" must be an integer')
