"""The assistant put together: who leads does the work, every replica takes what comes.

```
polling or webhook ─► inbox ─► handling ─► dialogues ─► intents ─► operations ─► the workspace
outbox ─► delivery ─► Telegram            polls ─► watch and its followers ─► cards ◄─ run_cards ◄─ automations
at night: what need not be kept goes; what was done is compared with what the workspace shows
```
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import httpx
from httpx_aiohttp import AiohttpTransport
from telegram import Bot
from telegram.error import BadRequest, InvalidToken, NetworkError
from telegram.request import HTTPXRequest

from bot import leader, reconcile, webhook
from bot.authors import Authors
from bot.delivery import Delivery
from bot.desk import Desk, Refusal
from bot.dialogues import BY_NAME, COMMANDS
from bot.escalation import Escalation
from bot.handling import Handling
from bot.leavers import Leavers
from bot.menu import publish
from bot.operations import Operations
from bot.polling import poll
from bot.polls import Polls, Pulse
from bot.retention import Keep, sweep
from bot.run_cards import RunCards
from bot.texts import sentence
from bot.watch import Watch
from bot.webhook import Hook

log = logging.getLogger("bot")

HELLO = 3.0
"""Seconds between two tries to reach Telegram at the start."""

LARGEST_FILE = 10_000_000
"""Bytes of a picture that is looked at."""

CONNECTIONS = 32
"""To Telegram, for what is sent."""

SWEPT_AT = 3
"""The hour of the night, in the house's zone, at which what need not be kept goes."""


def telegram_bot(token: str, root: str) -> Bot:
    """The library's bot with connections for many chats at once, and others for asking what is new.

    What is sent goes through aiohttp below httpx: half the cost of a message, measured with two hundred people at once.
    """
    sending = AiohttpTransport(limits=httpx.Limits(max_connections=CONNECTIONS))
    return Bot(
        token,
        base_url=f"{root}/bot",
        base_file_url=f"{root}/file/bot",
        request=HTTPXRequest(pool_timeout=10, httpx_kwargs={"transport": sending}),
        get_updates_request=HTTPXRequest(connection_pool_size=2, read_timeout=40),
    )


class Locks:
    """One lock per person: their updates and outcomes never meet."""

    def __init__(self) -> None:
        self._locks: dict[int, asyncio.Lock] = {}

    def __call__(self, telegram_id: int) -> asyncio.Lock:
        return self._locks.setdefault(telegram_id, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class Timing:
    """`poll_seconds` between two readings of the workspace; how long things are kept."""

    poll_seconds: float = 30.0
    keep: Keep = field(default_factory=Keep)


class Assistant:
    """The bot of one company. `hook`: Telegram posts the updates; without one they are polled."""

    def __init__(self, bot: Bot, desk: Desk, timing: Timing, hook: Hook | None = None) -> None:
        self._bot = bot
        self._desk = desk
        self._hook = hook
        self._timing = timing
        locks, background = Locks(), desk.background()
        self.delivery = Delivery(bot, desk.db, desk.now)
        self.operations = Operations(desk, BY_NAME, locks)
        self.handling = Handling(bot, desk, locks, self._handled)
        pulse = Pulse()
        followers = (
            Authors(background, locks, self._committed),
            Escalation(background),
            Leavers(background, locks),
            pulse,
        )
        self.watch = Watch(background, locks, self._committed, followers)
        self.run_cards = RunCards(desk, locks, self._committed)
        self.polls = Polls(background, self.watch, timing.poll_seconds, pulse, self.delivery.wake)
        desk.download = self._download

    def _committed(self) -> None:
        self.delivery.wake()
        self.operations.wake()

    def _handled(self) -> None:
        self._committed()
        self.polls.acted()

    async def _download(self, file_id: str) -> bytes:
        """A picture that a person sent. Raises Refusal where it is too large or gone."""
        try:
            file = await self._bot.get_file(file_id)
            if (file.file_size or 0) > LARGEST_FILE:
                raise Refusal(sentence("The picture is too large."))
            return bytes(await file.download_as_bytearray())
        except BadRequest:
            raise Refusal(sentence("The picture cannot be read any more: send it again.")) from None

    async def run(self, stop: asyncio.Event, ready: Callable[[], None] = lambda: None) -> None:
        """Until `stop`. Raises what ends it: InvalidToken, or a fault of ours."""
        db, now = self._desk.db, self._desk.now
        try:
            async with asyncio.TaskGroup() as group:
                if self._hook is not None:
                    door = webhook.application(db, now, self._hook, self.handling.wake)
                    group.create_task(webhook.listen(door, self._hook, stop))
                if not await self._reach_telegram(stop):
                    return
                ready()
                group.create_task(leader.lead(db, now, "bot", leader.holder_here(), self._work, stop))
        finally:
            await self._bot.shutdown()

    async def _work(self, stop: asyncio.Event) -> None:
        """What the one that leads does, until `stop`."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._updates(stop))
            group.create_task(publish(self._bot, COMMANDS, stop, self._desk.db))
            group.create_task(self.handling.run(stop))
            group.create_task(self.operations.run(stop))
            group.create_task(self.delivery.run(stop))
            group.create_task(self.polls.run(stop))
            group.create_task(self.run_cards.run(stop))
            group.create_task(self._sweep(stop))
            group.create_task(reconcile.run(self._desk.background(), stop))

    async def _updates(self, stop: asyncio.Event) -> None:
        db, now = self._desk.db, self._desk.now
        if self._hook is not None:
            await webhook.announce(self._bot, db, self._hook, now(), stop)
            return
        await webhook.withdraw(self._bot, db, stop)
        await poll(self._bot, db, now, self.handling.wake, stop)

    async def _sweep(self, stop: asyncio.Event) -> None:
        """Every night; a fault there ends no other work."""
        while not stop.is_set():
            now = datetime.fromtimestamp(self._desk.now(), self._desk.house.zone)
            due = now.replace(hour=SWEPT_AT, minute=30, second=0, microsecond=0)
            due += timedelta(days=1) if due <= now else timedelta()
            await leader.pause((due - now).total_seconds(), stop)
            if stop.is_set():
                return
            try:
                await sweep(self._desk.db, self._desk.house.folder, self._timing.keep, self._desk.now())
            except Exception:
                # What is not swept tonight is swept tomorrow.
                log.exception("the sweep failed")

    async def _reach_telegram(self, stop: asyncio.Event) -> bool:
        """Says hello to Telegram, again and again until it answers; false where the bot is stopped meanwhile."""
        while not stop.is_set():
            try:
                await self._bot.initialize()
            except InvalidToken:
                raise
            except NetworkError as fault:
                log.warning("Telegram does not answer (%s); trying again", type(fault).__name__)
                await asyncio.wait({asyncio.ensure_future(stop.wait())}, timeout=HELLO)
            else:
                return True
        return False
