"""The local world: who is there, which chats exist, what was said. Pure state; clock, ids and blobs are passed in.

Every change goes through `World.tell`, which counts a revision up and calls the listeners with an `Event`:
the long poll, the webhook sender, the page's live stream, the tests' waits and the store on disk all live from that.
What people do is in `acts`; what bots do is in `methods`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.sandbox.limits import Limits, Pace
from bot.sandbox.model import Asked, Bot, Chat, File, Message, Person, Press, State, Update
from bot.sandbox.refusals import Refused, bad, forbidden
from bot.sandbox.wire import Json

EventKind = Literal[
    "message", "edited", "deleted", "typing", "pressed", "answered", "asked", "inline", "chat", "bot", "person",
    "update", "faults", "closing",
]  # fmt: skip
# Updates that a bot gets only when it asks for them by name.
ON_REQUEST = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
# The account Telegram shows for an administrator who writes as the group.
ANONYMOUS_ADMIN = 1087968824


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something changed: in `chat` (its key), about `message`, told by `person` or bot `sender`; `detail` is JSON."""

    kind: EventKind
    chat: str | None = None
    message: int | None = None
    person: int | None = None
    bot: int | None = None
    detail: Json = field(default_factory=dict[str, object])


class Blobs(Protocol):
    """Where the bytes of files are: in memory or in a folder."""

    def put(self, path: str, content: bytes) -> None: ...
    def get(self, path: str) -> bytes: ...


class MemoryBlobs:
    """Blobs of a world that is not kept."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    def put(self, path: str, content: bytes) -> None:
        self._content[path] = content

    def get(self, path: str) -> bytes:
        return self._content[path]


@dataclass(kw_only=True, slots=True)
class Delivery:
    """How updates reach bots. `delay` in seconds; `age` in seconds makes new messages look that old."""

    twice: bool = False
    out_of_order: bool = False
    delay: float = 0.0
    age: float = 0.0
    inaccessible: bool = False


class World:
    """State plus the few rules that everybody shares. `clock` answers seconds since 1970, `new_id` a fresh secret."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        blobs: Blobs | None = None,
        state: State | None = None,
        limits: Limits | None = None,
        bot_username: str = "workspace_local_bot",
        answer_within: float = 60.0,
    ) -> None:
        self.clock = clock
        self.new_id = new_id
        self.blobs: Blobs = blobs if blobs is not None else MemoryBlobs()
        self.state = state or State()
        self.pace = Pace(limits)
        self.delivery = Delivery()
        self.bot_username = bot_username
        self.answer_within = answer_within
        self._listeners: list[Callable[[Event], None]] = []

    # Telling

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Calls `listener` at every change; answers what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, event: Event) -> None:
        self.state.revision += 1
        for listener in list(self._listeners):
            listener(event)

    # Finding

    def person(self, person_id: int) -> Person:
        try:
            return self.state.people[person_id]
        except KeyError:
            raise bad(f"there is no person {person_id} in Local Telegram") from None

    def bot_of(self, token: str) -> Bot | None:
        """The bot of a well-formed token; a new one on first use, None where the id belongs to another token."""
        bot_id = int(token.partition(":")[0])
        bot = self.state.bots.get(bot_id)
        if bot is None:
            taken = any(other.username == self.bot_username for other in self.state.bots.values())
            username = f"local_{bot_id}_bot" if taken else self.bot_username
            name = username.removesuffix("_bot").replace("_", " ").title()
            # Update ids begin at the time of day, so that a bot with a memory meets no id twice after a fresh start.
            bot = Bot(id=bot_id, token=token, username=username, name={"": name}, next_update=int(self.clock()))
            self.state.bots[bot_id] = bot
            self.tell(Event(kind="bot", bot=bot_id))
        return bot if bot.token == token else None

    def private_chat(self, bot: Bot, person: Person) -> Chat:
        """The chat of the two, made when it is first looked at."""
        key = f"{bot.id}-{person.id}"
        chat = self.state.chats.get(key)
        if chat is None:
            chat = Chat(key=key, id=person.id, type="private", person=person.id, members=[person.id], bots=[bot.id])
            self.state.chats[key] = chat
            self.tell(Event(kind="chat", chat=key))
        return chat

    def chat(self, key: str) -> Chat:
        try:
            return self.state.chats[key]
        except KeyError:
            raise bad(f"there is no chat {key} in Local Telegram") from None

    def chat_for(self, bot: Bot, chat_id: int) -> Chat:
        """The chat a bot names by `chat_id`, whether or not it may write there."""
        if chat_id in self.state.people:
            return self.private_chat(bot, self.state.people[chat_id])
        chat = self.state.chats.get(str(chat_id))
        if chat is None or bot.id not in chat.bots + chat.bots_out:
            raise bad("chat not found")
        return chat

    def writable(self, bot: Bot, chat: Chat) -> None:
        """Refuses (403) where the bot may not write."""
        if chat.is_group and bot.id in chat.bots_out:
            raise forbidden(f"bot is not a member of the {chat.type} chat")
        if chat.blocked:
            raise forbidden("bot was blocked by the user")
        if chat.type == "private" and not chat.started:
            raise forbidden("bot can't initiate conversation with a user")

    def chats_of(self, person: int) -> list[Chat]:
        """The chats a person sees: one with each bot, and their groups."""
        who = self.person(person)
        for bot in list(self.state.bots.values()):
            self.private_chat(bot, who)
        return [chat for chat in self.state.chats.values() if person in chat.members]

    def sender_name(self, sender: int) -> str:
        if sender in self.state.bots:
            return self.state.bots[sender].name[""]
        if sender in self.state.people:
            return self.state.people[sender].name
        return "Group"

    def file(self, file_id: str) -> File | None:
        return self.state.files.get(file_id)

    # Changing

    def add_person(self, person: Person) -> Person:
        self.state.people[person.id] = person
        self.tell(Event(kind="person", person=person.id))
        return person

    def post(self, chat: Chat, message: Message) -> Message:
        """Gives the message its id, puts it into the chat and tells everybody."""
        message.id = chat.next_message
        chat.next_message += 1
        message.revision = self.state.revision + 1
        chat.messages[message.id] = message
        if message.sender in chat.members:
            chat.read[message.sender] = message.id
        self.tell(Event(kind="message", chat=chat.key, message=message.id))
        return message

    def changed(self, chat: Chat, message: Message, *, edited: bool = True) -> None:
        """Tells that a message looks different now; an edit is shown with its time."""
        if edited:
            message.edited = int(self.clock())
        message.revision = self.state.revision + 1
        self.tell(Event(kind="edited", chat=chat.key, message=message.id))

    def delete(self, chat: Chat, message_id: int) -> None:
        del chat.messages[message_id]
        if message_id in chat.pinned:
            chat.pinned.remove(message_id)
        self.tell(Event(kind="deleted", chat=chat.key, message=message_id))

    def queue(self, bot: Bot, kind: str, body: Json) -> Update | None:
        """Puts an update into the bot's queue, unless the bot asked for other kinds only."""
        wanted = kind in bot.allowed if bot.allowed else kind not in ON_REQUEST
        if not wanted:
            return None
        update = Update(id=bot.next_update, kind=kind, body=body, due=self.clock() + self.delivery.delay)
        bot.next_update += 1
        bot.updates.append(update)
        self.tell(Event(kind="update", bot=bot.id))
        return update

    def message_date(self) -> int:
        """Now, or as long ago as the delivery fault says."""
        return int(self.clock() - self.delivery.age)

    def store_file(
        self,
        kind: Literal["photo", "document"],
        name: str,
        mime: str,
        content: bytes,
        size: tuple[int, int] = (0, 0),
    ) -> File:
        """Keeps the bytes and answers their record; `size` is width and height in pixels."""
        number = self.state.next_file
        self.state.next_file += 1
        suffix = "".join(c for c in name.rpartition(".")[2] if c.isalnum())[:8] if "." in name else ""
        path = f"{kind}s/file_{number}" + (f".{suffix}" if suffix else "")
        self.blobs.put(path, content)
        file = File(
            id=self.new_id(), unique_id=f"u{number}", kind=kind, path=path, name=name, mime=mime,
            size=len(content), width=size[0], height=size[1],
        )  # fmt: skip
        self.state.files[file.id] = file
        return file

    def press(self, press_id: str, bot: Bot) -> Press | None:
        """A press that still waits for its answer from this bot, else None."""
        press = self.state.presses.get(press_id)
        if press is None or press.bot != bot.id or press.answer is not None or self._late(press.asked):
            return None
        return press

    def inline_query(self, query_id: str, bot: Bot) -> Asked | None:
        """An inline query that still waits for its answer from this bot, else None."""
        asked = self.state.asked.get(query_id)
        if asked is None or asked.bot != bot.id or asked.results is not None or self._late(asked.asked):
            return None
        return asked

    def _late(self, asked: float) -> bool:
        return self.clock() - asked > self.answer_within


def message_in(chat: Chat, message_id: int, otherwise: Refused) -> Message:
    """The message, or the refusal that fits the place."""
    message = chat.messages.get(message_id)
    if message is None:
        raise otherwise
    return message
