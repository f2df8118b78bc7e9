"""The tests' driver: a chat with the bot, written as a person uses it, over a real server on loopback.

    async with LocalTelegram.start(people=[PersonSpec(id=1001, first_name="Anna")]) as tg:
        ...                                     # a bot that polls tg.url
        chat = tg.chat(1001)
        await chat.says("/requests")
        card = await chat.card(containing="Taxi")
        answer = await chat.presses("Approve")

Every wait is woken by a change of the world and fails with what the chat looks like.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from bot.sandbox import acts, view
from bot.sandbox.faults import Fault, Faults
from bot.sandbox.html_text import to_html
from bot.sandbox.limits import Limits
from bot.sandbox.methods.call import Upload
from bot.sandbox.model import Answer, Asked, Bot, Button, Chat, Message
from bot.sandbox.server import DEFAULT_TOKEN, DEFAULT_USERNAME, PersonSpec, open_server
from bot.sandbox.waiting import until
from bot.sandbox.wire import Json
from bot.sandbox.world import Delivery, World

WAIT = 60.0
"""Seconds: long, since a wait that succeeds ends at once, and a busy machine must fail none."""


class NothingCame(AssertionError):
    """A wait in a chat ended without what it waited for; the message shows the chat."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """A message as it stood when it was looked at. `text` is the caption of a photo or document."""

    id: int
    sender: int
    from_bot: bool
    text: str
    html: str
    buttons: tuple[tuple[str, ...], ...] = ()
    edited: bool = False
    reply_to: int | None = None
    photo: bytes | None = field(default=None, repr=False)
    document: bytes | None = field(default=None, repr=False)
    file_name: str | None = None
    revision: int = 0
    inline: tuple[tuple[Button, ...], ...] = field(default=(), repr=False)

    def button(self, label: str) -> Button:
        """The first button whose label begins with `label`."""
        for row in self.inline:
            for button in row:
                if button.text.startswith(label):
                    return button
        raise NothingCame(f"no button {label!r} below {self.text!r}: {self.buttons}")


class PersonChat:
    """One person in one chat."""

    def __init__(self, world: World, chat: Chat, person: int) -> None:
        self._world = world
        self._chat = chat
        self._person = person
        self._acted = world.state.revision

    # Looking

    @property
    def id(self) -> int:
        """The chat's id, as bots see it."""
        return self._chat.id

    @property
    def messages(self) -> list[ChatMessage]:
        """All messages, oldest first; service lines left out."""
        return [self._seen(said) for said in self._chat.messages.values() if said.service is None]

    @property
    def last(self) -> ChatMessage:
        """The newest message."""
        if not self._chat.messages:
            raise NothingCame("nobody has said anything yet")
        return self._seen(next(reversed(self._chat.messages.values())))

    @property
    def buttons(self) -> tuple[tuple[str, ...], ...]:
        """The labels below the newest message that has buttons, by rows."""
        for said in reversed(self._chat.messages.values()):
            if said.inline is not None:
                return self._seen(said).buttons
        return ()

    @property
    def keyboard(self) -> Json | None:
        """The reply keyboard (or forced reply) that counts now, as JSON."""
        return view.keyboard(self._chat)

    def message(self, message_id: int) -> ChatMessage:
        """A message as it stands now."""
        return self._seen(self._chat.messages[message_id])

    def __contains__(self, message: ChatMessage) -> bool:
        return message.id in self._chat.messages

    # Acting

    async def says(self, text: str, *, thread: int | None = None, anonymous: bool = False) -> ChatMessage:
        """Writes a message; returns once its update is queued."""
        self._act()
        return self._seen(acts.say(self._world, self._chat, self._person, text, thread=thread, anonymous=anonymous))

    async def starts(self, payload: str = "") -> ChatMessage:
        """Presses START, with the payload of a deep link; lets a blocked bot in again."""
        self._act()
        return self._seen(acts.start(self._world, self._chat, self._person, payload))

    async def replies(self, *, to: ChatMessage, text: str) -> ChatMessage:
        self._act()
        return self._seen(acts.say(self._world, self._chat, self._person, text, reply_to=to.id))

    async def edits(self, message: ChatMessage, text: str) -> ChatMessage:
        """New words for one's own message."""
        self._act()
        return self._seen(acts.edit(self._world, self._chat, self._person, message.id, text))

    async def deletes(self, message: ChatMessage) -> None:
        self._act()
        acts.delete(self._world, self._chat, self._person, message.id)

    async def sends_photo(
        self, content: bytes, *, caption: str = "", reply_to: ChatMessage | None = None
    ) -> ChatMessage:
        """Sends a PNG, JPEG, GIF or WebP as a photo."""
        self._act()
        upload = Upload(name="photo", mime="", content=content)
        replied = reply_to.id if reply_to else None
        return self._seen(acts.send_photo(self._world, self._chat, self._person, upload, caption, reply_to=replied))

    async def sends_document(
        self, content: bytes, *, name: str = "document.bin", caption: str = "", reply_to: ChatMessage | None = None
    ) -> ChatMessage:
        self._act()
        upload = Upload(name=name, mime="", content=content)
        replied = reply_to.id if reply_to else None
        return self._seen(acts.send_document(self._world, self._chat, self._person, upload, caption, reply_to=replied))

    async def presses(self, label: str, *, on: ChatMessage | None = None, timeout: float = WAIT) -> Answer:
        """Presses the button whose label begins so, and waits until the bot has answered the callback query.

        Without `on` the newest message with such a button counts; with it the button as that snapshot shows it, so
        that a stale card can be tapped.
        """
        message_id, data = self._button(label, on)
        return await self._presses(message_id, data, label, timeout)

    async def presses_data(self, on: ChatMessage, data: str, timeout: float = WAIT) -> Answer:
        """Sends callback data of one's own making, as a changed program could."""
        return await self._presses(on.id, data, data, timeout)

    async def _presses(self, message_id: int, data: str, label: str, timeout: float) -> Answer:
        self._act()
        press = acts.press(self._world, self._chat, self._person, message_id, data)
        answer = await until(self._world, lambda: press.answer, timeout)
        if answer is None:
            raise NothingCame(f"the bot did not answer the press on {label!r} within {timeout} s\n{self}")
        return answer

    def taps(self, label: str, *, on: ChatMessage | None = None) -> str:
        """Presses without waiting for the answer (for double taps); answers the id of the callback query."""
        message_id, data = self._button(label, on)
        self._act()
        return acts.press(self._world, self._chat, self._person, message_id, data).id

    async def asks_inline(self, query: str, *, timeout: float = WAIT) -> list[Json]:
        """Types `@bot query`; answers the bot's results."""
        self._act()
        self._asked: Asked = acts.ask_inline(self._world, self._chat, self._person, self._chat.bots[0], query)
        results = await until(self._world, lambda: self._asked.results, timeout)
        if results is None:
            raise NothingCame(f"the bot did not answer the inline query {query!r} within {timeout} s")
        return results

    async def chooses(self, result_id: str) -> ChatMessage:
        """Sends a result of the last inline query into this chat."""
        self._act()
        return self._seen(acts.choose_inline(self._world, self._asked, result_id))

    async def reacts(self, message: ChatMessage, emoji: str | None) -> None:
        self._act()
        acts.react(self._world, self._chat, self._person, message.id, emoji)

    def blocks_bot(self) -> None:
        acts.block(self._world, self._chat, blocked=True)

    def unblocks_bot(self) -> None:
        acts.block(self._world, self._chat, blocked=False)

    # Waiting

    async def card(self, containing: str | None = None, timeout: float = WAIT) -> ChatMessage:
        """Waits for a bot's message: the newest that contains the words.

        Without words: the newest that was sent or edited after this person's last act.
        """

        def fitting() -> Message | None:
            for said in reversed(self._chat.messages.values()):
                if said.sender not in self._world.state.bots or said.service is not None:
                    continue
                if containing in said.text if containing is not None else said.revision > self._acted:
                    return said
            return None

        found = await until(self._world, fitting, timeout)
        if found is None:
            wanted = f"containing {containing!r}" if containing is not None else "after the last act"
            raise NothingCame(f"no message of the bot {wanted} within {timeout} s\n{self}")
        return self._seen(found)

    async def waits(self, condition: Callable[[PersonChat], object], timeout: float = WAIT) -> None:
        """Waits until the condition on this chat is true; it is looked at again at each change."""
        if not await until(self._world, lambda: True if condition(self) else None, timeout):
            raise NothingCame(f"the condition did not come true within {timeout} s\n{self}")

    def __str__(self) -> str:
        lines = [
            f"  {message.id} {self._world.sender_name(message.sender)}: {message.text!r} {message.buttons or ''}"
            for message in self.messages[-8:]
        ]
        return "\n".join(["the chat ends with:", *lines])

    def _act(self) -> None:
        self._acted = self._world.state.revision

    def _button(self, label: str, on: ChatMessage | None) -> tuple[int, str]:
        if on is not None:
            message_id, button = on.id, on.button(label)
        else:
            found = acts.find_button(self._chat, label)
            if found is None:
                raise NothingCame(f"there is no button {label!r}\n{self}")
            message_id, button = found[0].id, found[1]
        if button.callback_data is None:
            raise NothingCame(f"the button {button.text!r} has no callback_data: {button}")
        return message_id, button.callback_data

    def _seen(self, said: Message) -> ChatMessage:
        world, files = self._world, self._world.state.files
        rows = said.inline.inline_keyboard if said.inline is not None else []
        return ChatMessage(
            id=said.id,
            sender=said.sender,
            from_bot=said.sender in world.state.bots,
            text=said.text,
            html=to_html(said.text, said.entities),
            buttons=tuple(tuple(button.text for button in row) for row in rows),
            edited=said.edited is not None,
            reply_to=said.reply_to,
            photo=world.blobs.get(files[said.photo[-1]].path) if said.photo else None,
            document=world.blobs.get(files[said.document].path) if said.document else None,
            file_name=files[said.document].name if said.document else None,
            revision=said.revision,
            inline=tuple(tuple(row) for row in rows),
        )


class Group:
    """A group; `chat(person)` is one member in it."""

    def __init__(self, world: World, chat: Chat) -> None:
        self._world = world
        self._chat = chat

    @property
    def id(self) -> int:
        return self._chat.id

    def chat(self, person: int) -> PersonChat:
        return PersonChat(self._world, self._chat, person)

    def adds(self, person: int) -> None:
        """The group's first member adds a person."""
        acts.add_member(self._world, self._chat, self._chat.members[0], person)

    def removes_bot(self) -> None:
        acts.remove_bot(self._world, self._chat, self._chat.members[0], self._chat.bots[0])


class LocalTelegram:
    """A running Local Telegram. `url` is the root that `TELEGRAM_API_URL` takes."""

    def __init__(self, world: World, faults: Faults, url: str, bot: Bot | None) -> None:
        self.world = world
        self.faults = faults
        self.url = url
        self._bot = bot
        self._chats: dict[int, PersonChat] = {}

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        *,
        people: Sequence[PersonSpec],
        token: str = DEFAULT_TOKEN,
        bot_username: str = DEFAULT_USERNAME,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: secrets.token_urlsafe(24),
        answer_within: float = 60.0,
        port: int = 0,
        webhook_retry: Sequence[float] = (0.05,),
    ) -> AsyncGenerator[LocalTelegram, None]:
        """Serves on a loopback port in the running loop; nothing is kept. `answer_within`: seconds for a callback."""
        async with open_server(
            people=people, token=token, bot_username=bot_username, limits=limits, clock=clock, new_id=new_id,
            answer_within=answer_within, port=port, webhook_retry=webhook_retry,
        ) as running:  # fmt: skip
            yield cls(running.world, running.faults, running.url, running.world.bot_of(token))

    def chat(self, person: int) -> PersonChat:
        """The private chat of this person with the bot; the same object each time."""
        if person not in self._chats:
            assert self._bot is not None
            chat = self.world.private_chat(self._bot, self.world.person(person))
            self._chats[person] = PersonChat(self.world, chat, person)
        return self._chats[person]

    def group(self, title: str, *, members: Sequence[int], bot_is_admin: bool = False) -> Group:
        """A new group of these people and the bot; the first one made it."""
        assert self._bot is not None
        chat = acts.create_group(self.world, title, list(members), bots=[self._bot.id], bot_is_admin=bot_is_admin)
        return Group(self.world, chat)

    def fails(self, fault: Fault) -> None:
        """Orders a fault for the bot's next calls."""
        self.faults.add(fault)

    @property
    def delivery(self) -> Delivery:
        """How updates are delivered from now on; its fields can be set."""
        return self.world.delivery
