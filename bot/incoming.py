"""What a person did, freed from Telegram's shapes: Said, Tapped, Edited or Left.

raw update ─► parse(update) ─► Incoming, or None where it concerns nobody here. The only reader of telegram.Update.
"""

from dataclasses import dataclass
from typing import Any

from telegram import Message, Update, User


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
    """A text in a chat; `reply_to` and `message_id` are message ids of that chat."""

    sender: Sender
    chat_id: int
    private: bool
    message_id: int
    text: str
    reply_to: int | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A person's own message, changed."""

    sender: Sender
    chat_id: int
    private: bool
    message_id: int
    text: str


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


def _sender(user: User) -> Sender:
    language = (user.language_code or "")[:2].lower()
    return Sender(user.id, user.full_name, user.username, language if language in {"en", "ru"} else None)


def _message(message: Message, kind: type[Said] | type[Edited]) -> Incoming | None:
    """Channels, anonymous admins and other bots write with no person behind them: they are not heard."""
    user = message.from_user
    if user is None or user.is_bot or message.sender_chat is not None:
        return None
    text = message.text or message.caption or ""
    private = message.chat.type == "private"
    if kind is Edited:
        return Edited(_sender(user), message.chat.id, private, message.message_id, text)
    reply = message.reply_to_message.message_id if message.reply_to_message else None
    return Said(_sender(user), message.chat.id, private, message.message_id, text, reply)


def parse(update: Update) -> Incoming | None:
    """What this update means for a dialogue."""
    if update.message is not None:
        return _message(update.message, Said)
    if update.edited_message is not None:
        return _message(update.edited_message, Edited)
    query = update.callback_query
    if query is not None and query.message is not None:
        chat = query.message.chat
        sender = _sender(query.from_user)
        return Tapped(sender, chat.id, chat.type == "private", query.id, query.data or "", query.message.message_id)
    member = update.my_chat_member
    if member is not None and member.chat.type == "private":
        blocked = member.new_chat_member.status in {"kicked", "left"}
        return Left(_sender(member.from_user), member.chat.id, True, blocked)
    return None
