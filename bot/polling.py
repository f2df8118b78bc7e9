"""Long polling: updates are committed to the inbox, and only then acknowledged.

getUpdates(offset) ─► inbox.store ─► commit ─► getUpdates(newest + 1), which is the acknowledgement

The raw updates are asked for, so one that the library cannot parse is stored like any other.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Literal

from sqlalchemy.exc import SQLAlchemyError
from telegram import Bot
from telegram.error import Conflict, InvalidToken, NetworkError, RetryAfter, TelegramError

from bot import inbox
from bot.incoming import KINDS
from storage import Database

log = logging.getLogger("bot.polling")

WAIT = 25
"""Seconds that Telegram holds the question open."""

FIRST, LONGEST = 0.5, 30.0
"""Seconds to wait after a fault: at first, and at the most."""


async def poll(
    bot: Bot, db: Database, clock: Callable[[], float], stored: Callable[[], None], stop: asyncio.Event
) -> None:
    """Until `stop`: asks for updates and stores them; `stored` is called after each commit. Raises InvalidToken."""
    pause = FIRST
    stopping = asyncio.ensure_future(stop.wait())
    try:
        while not stop.is_set():
            try:
                # Of what is stored, not of what was asked: only what is committed is acknowledged.
                with db.read() as connection:
                    offset = inbox.offset(connection, clock())
                updates = await _unless(stopping, _ask(bot, offset))
                if updates:
                    await db.write(partial(inbox.store, updates=updates, now=clock()))
                    stored()
                pause = FIRST
            except InvalidToken:
                raise
            except TelegramError as fault:
                pause = await _wait_out(fault, pause, stopping)
            except SQLAlchemyError as fault:
                log.error("updates cannot be stored (%s): they wait at Telegram", type(fault).__name__)
                await asyncio.wait({stopping}, timeout=pause)
                pause = min(LONGEST, pause * 2)
    finally:
        stopping.cancel()


async def _unless(
    stopping: "asyncio.Future[Literal[True]]", question: Coroutine[Any, Any, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The updates, or none where the bot stops before they come."""
    asking = asyncio.ensure_future(question)
    try:
        either: set[asyncio.Future[Any]] = {asking, stopping}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else []
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _ask(bot: Bot, offset: int | None) -> list[dict[str, Any]]:
    question: dict[str, Any] = {"timeout": WAIT, "allowed_updates": list(KINDS), "limit": 100}
    if offset is not None:
        question["offset"] = offset
    # Goes out as getUpdates; under its own name the library would warn that it has a method which parses.
    updates: list[dict[str, Any]] = await bot.do_api_request("get_Updates", api_kwargs=question, read_timeout=WAIT + 10)
    return updates


async def _wait_out(fault: TelegramError, pause: float, stopping: "asyncio.Future[Literal[True]]") -> float:
    """Waits as the fault asks for; returns the next pause."""
    seconds = pause
    if isinstance(fault, RetryAfter):
        wait = fault.retry_after
        seconds = float(wait) if isinstance(wait, int | float) else wait.total_seconds()
    if isinstance(fault, Conflict):
        # Once may be the question of a bot that has just ended, which Telegram still holds open.
        words = "Another program reads this bot's updates: stop it, or remove its webhook"
        log.log(logging.INFO if pause == FIRST else logging.ERROR, words)
    elif not isinstance(fault, NetworkError):
        log.warning("Telegram refused getUpdates: %s", type(fault).__name__)
    await asyncio.wait({stopping}, timeout=seconds)
    return min(LONGEST, pause * 2)
