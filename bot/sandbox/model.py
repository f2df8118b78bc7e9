"""The records of the local world: people, bots, chats, messages, files, updates, queries. No behaviour, no I/O.

`State` holds all of it and is what is kept on disk; pydantic reads and writes it by these types.
A private chat is one bot with one person; a group has any number of both. Message ids count up per chat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bot.sandbox.wire import Json

ChatType = Literal["private", "group", "supergroup"]
Style = Literal["primary", "success", "danger"]


@dataclass(kw_only=True, slots=True)
class Person:
    """Somebody who chats. `language_code` is an IETF tag such as `en` or `ru`."""

    id: int
    first_name: str
    last_name: str | None = None
    username: str | None = None
    language_code: str = "en"

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}" if self.last_name else self.first_name


@dataclass(kw_only=True, slots=True, frozen=True)
class Entity:
    """A formatted stretch of text; `offset` and `length` count UTF-16 code units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None
    user_id: int | None = None
    custom_emoji_id: str | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class CopyText:
    text: str


@dataclass(kw_only=True, slots=True, frozen=True)
class WebApp:
    url: str


@dataclass(kw_only=True, slots=True, frozen=True)
class Button:
    """A button below a message; exactly one of its actions is set."""

    text: str
    url: str | None = None
    callback_data: str | None = None
    switch_inline_query: str | None = None
    switch_inline_query_current_chat: str | None = None
    copy_text: CopyText | None = None
    web_app: WebApp | None = None
    style: str | None = None
    icon_custom_emoji_id: str | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class InlineKeyboard:
    inline_keyboard: list[list[Button]]


@dataclass(kw_only=True, slots=True, frozen=True)
class Key:
    """A key of a reply keyboard: pressing it says its text."""

    text: str
    style: str | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class ReplyKeyboard:
    keyboard: list[list[Key]]
    resize_keyboard: bool | None = None
    one_time_keyboard: bool | None = None
    is_persistent: bool | None = None
    input_field_placeholder: str | None = None
    selective: bool | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class RemoveKeyboard:
    remove_keyboard: Literal[True]
    selective: bool | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class ForceReply:
    force_reply: Literal[True]
    input_field_placeholder: str | None = None
    selective: bool | None = None


Markup = InlineKeyboard | ReplyKeyboard | RemoveKeyboard | ForceReply


@dataclass(kw_only=True, slots=True, frozen=True)
class Service:
    """A line written by the chat itself, such as "Anna created the group"."""

    kind: Literal["group_created", "members_added", "member_left", "pinned"]
    members: list[int] = field(default_factory=list[int])
    message: int | None = None
    title: str | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class Origin:
    """Where a forwarded message came from."""

    sender: int
    date: int


@dataclass(kw_only=True, slots=True)
class Message:
    """One message as it stands now. `text` is the caption where there is a photo or a document."""

    id: int
    sender: int
    date: int
    revision: int = 0
    text: str = ""
    entities: list[Entity] = field(default_factory=list[Entity])
    photo: list[str] = field(default_factory=list[str])
    document: str | None = None
    inline: InlineKeyboard | None = None
    reply_markup: ReplyKeyboard | RemoveKeyboard | ForceReply | None = None
    reply_to: int | None = None
    thread: int | None = None
    edited: int | None = None
    via_bot: int | None = None
    inline_id: str | None = None
    album: str | None = None
    protected: bool = False
    silent: bool = False
    anonymous: bool = False
    origin: Origin | None = None
    service: Service | None = None
    reactions: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    @property
    def has_media(self) -> bool:
        return bool(self.photo or self.document)


@dataclass(kw_only=True, slots=True)
class Chat:
    """A chat and its messages. `members` are people, `bots` bots; in a private chat `person` and `bots[0]` talk."""

    key: str
    id: int
    type: ChatType
    title: str | None = None
    person: int | None = None
    members: list[int] = field(default_factory=list[int])
    admins: list[int] = field(default_factory=list[int])
    bots: list[int] = field(default_factory=list[int])
    bots_out: list[int] = field(default_factory=list[int])
    started: bool = False
    blocked: bool = False
    next_message: int = 1
    messages: dict[int, Message] = field(default_factory=dict[int, Message])
    pinned: list[int] = field(default_factory=list[int])
    read: dict[int, int] = field(default_factory=dict[int, int])
    menu_button: Json | None = None

    @property
    def is_group(self) -> bool:
        return self.type != "private"


@dataclass(kw_only=True, slots=True, frozen=True)
class Command:
    command: str
    description: str


@dataclass(kw_only=True, slots=True)
class CommandList:
    """The commands of one scope (as Telegram's JSON) and one language (`""`: every other language)."""

    scope: Json
    language: str
    commands: list[Command]


@dataclass(kw_only=True, slots=True)
class Webhook:
    url: str
    secret: str | None = None
    max_connections: int = 40
    last_error: str | None = None
    last_error_date: int | None = None


@dataclass(kw_only=True, slots=True)
class Update:
    """An update that waits for its bot; `due` is the moment (seconds) before which it is held back."""

    id: int
    kind: str
    body: Json
    due: float


@dataclass(kw_only=True, slots=True)
class Bot:
    """A bot: its profile, its queue and how it fetches it. The texts are keyed by language, `""` is the default."""

    id: int
    token: str
    username: str
    name: dict[str, str]
    description: dict[str, str] = field(default_factory=dict[str, str])
    short_description: dict[str, str] = field(default_factory=dict[str, str])
    commands: list[CommandList] = field(default_factory=list[CommandList])
    menu_button: Json = field(default_factory=lambda: {"type": "commands"})
    reads_all: bool = False
    next_update: int = 1
    updates: list[Update] = field(default_factory=list[Update])
    allowed: list[str] | None = None
    webhook: Webhook | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class Answer:
    """What `answerCallbackQuery` told the person; an empty text only ends the wait."""

    text: str = ""
    show_alert: bool = False
    url: str | None = None


@dataclass(kw_only=True, slots=True)
class Press:
    """A press on an inline button: the callback query of `bot`, asked at `asked` (seconds)."""

    id: str
    bot: int
    person: int
    chat: str
    message: int
    data: str
    asked: float
    answer: Answer | None = None


@dataclass(kw_only=True, slots=True)
class Asked:
    """An inline query and, once answered, its results as the bot sent them."""

    id: str
    bot: int
    person: int
    chat: str
    query: str
    offset: str
    asked: float
    results: list[Json] | None = None
    next_offset: str = ""


@dataclass(kw_only=True, slots=True, frozen=True)
class File:
    """A stored file; `path` is its `file_path` on the wire and its name among the blobs. Sizes in bytes and pixels."""

    id: str
    unique_id: str
    kind: Literal["photo", "document"]
    path: str
    name: str
    mime: str
    size: int
    width: int = 0
    height: int = 0


@dataclass(kw_only=True, slots=True)
class State:
    """Everything that a restart keeps."""

    people: dict[int, Person] = field(default_factory=dict[int, Person])
    bots: dict[int, Bot] = field(default_factory=dict[int, Bot])
    chats: dict[str, Chat] = field(default_factory=dict[str, Chat])
    files: dict[str, File] = field(default_factory=dict[str, File])
    presses: dict[str, Press] = field(default_factory=dict[str, Press])
    asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    inline_messages: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    next_group: int = 1
    next_file: int = 1
    revision: int = 0
