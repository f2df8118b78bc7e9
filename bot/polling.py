"""Long polling: updates are committed to the inbox, and only then acknowledged.

getUpdates(offset) ─► inbox.store ─► commit ─► getUpdates(newest + 1), which is the acknowledgement

The raw updates are asked for, so one that the library cannot parse is stored like any other.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from telegram import Bot
from telegram.error import Conflict, InvalidToken, NetworkError, RetryAfter, TelegramError

from bot import inbox
from bot.incoming import KINDS
from storage import Database

log = logging.getLogger("bot.polling")

WAIT = 25
"""Seconds that Telegram holds the question open."""

LONGEST = 30.0


async def poll(
    bot: Bot, db: Database, clock: Callable[[], float], stored: Callable[[], None], stop: asyncio.Event
) -> None:
    """Until `stop`: asks for updates and stores them; `stored` is called after each commit. Raises InvalidToken."""
    pause = 0.5
    with db.read() as connection:
        offset = inbox.offset(connection)
    stopping = asyncio.create_task(stop.wait())
    try:
        while not stop.is_set():
            asking = asyncio.create_task(_ask(bot, offset))
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
                return
            try:
                updates = asking.result()
            except InvalidToken:
                raise
            except TelegramError as fault:
                pause = await _wait_out(fault, pause, stopping)
                continue
            pause = 0.5
            if updates:
                newest = await db.write(partial(inbox.store, updates=updates, now=clock()))
                offset = newest + 1
                stored()
    finally:
        stopping.cancel()


async def _ask(bot: Bot, offset: int | None) -> list[dict[str, Any]]:
    question: dict[str, Any] = {"timeout": WAIT, "allowed_updates": list(KINDS), "limit": 100}
    if offset is not None:
        question["offset"] = offset
    # Goes out as getUpdates; under its own name the library would warn that it has a method which parses.
    updates: list[dict[str, Any]] = await bot.do_api_request("get_Updates", api_kwargs=question, read_timeout=WAIT + 10)
    return updates


async def _wait_out(fault: TelegramError, pause: float, stopping: "asyncio.Task[bool]") -> float:
    """Waits as the fault asks for; returns the next pause."""
    seconds = pause
    if isinstance(fault, RetryAfter):
        wait = fault.retry_after
        seconds = float(wait) if isinstance(wait, int | float) else wait.total_seconds()
    if isinstance(fault, Conflict):
        log.error("Another program reads this bot's updates: stop it, or remove its webhook")
        seconds = LONGEST
    elif not isinstance(fault, NetworkError):
        log.warning("Telegram refused getUpdates: %s", type(fault).__name__)
    await asyncio.wait({stopping}, timeout=seconds)
    return min(LONGEST, pause * 2)
