"""What a person did, freed from Telegram's shapes: Said, Tapped, Edited or Left. updates.py makes them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote: Telegram's numeric id, which is what a person is bound by; the names are hints only.

    `language` is `en`, `ru`, or None where Telegram tells neither.
    """

    telegram_id: int
    name: str
    username: str | None
    language: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """A text in a chat; `reply_to` and `message_id` are message ids of that chat.

    `photo` is the file id of a picture, also of one sent as a file; `forwarded`: somebody else wrote it; `sent_at`:
    seconds since 1970, by Telegram's clock, None where it is not told.
    """

    sender: Sender
    chat_id: int
    private: bool
    message_id: int
    text: str
    reply_to: int | None = None
    photo: str | None = None
    forwarded: bool = False
    sent_at: float | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A person's own message, changed. `photo` as in Said; `sent_at`: when it was first written."""

    sender: Sender
    chat_id: int
    private: bool
    message_id: int
    text: str
    photo: str | None = None
    sent_at: float | None = None


@dataclass(frozen=True, slots=True)
class Tapped:
    """A button; `query_id` is answered once, `handle` is ours."""

    sender: Sender
    chat_id: int
    private: bool
    query_id: str
    handle: str
    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A person stopped the bot (`blocked`) or let it in again."""

    sender: Sender
    chat_id: int
    private: bool
    blocked: bool


Incoming = Said | Edited | Tapped | Left

KINDS = ("message", "edited_message", "callback_query", "my_chat_member")
"""The kinds of update that are asked for."""


def queue_of(raw: Any) -> int:
    """Whose order an update keeps, read from the raw update, since one that cannot be parsed is stored too."""
    for kind in KINDS:
        try:
            return int(raw[kind]["from"]["id"])
        except (KeyError, TypeError, ValueError):
            continue
    return 0
