"""A running Local Telegram, its two people and the wire of its bot."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import aiohttp
import pytest

from bot.sandbox import LocalTelegram
from tests.sandbox.bots import ANNA, BORIS, Wire


@pytest.fixture
async def tg() -> AsyncGenerator[LocalTelegram, None]:
    """Local Telegram with Anna and Boris, without limits."""
    async with LocalTelegram.start(people=[ANNA, BORIS]) as running:
        yield running


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession, None]:
    """An HTTP client."""
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
async def wire(tg: LocalTelegram, session: aiohttp.ClientSession) -> Wire:
    """The bot's side, after Anna has written to it once."""
    await tg.chat(ANNA.id).says("/start")
    return Wire(session, tg.url)
