"""Waiting for what shows in no chat, such as a row in the database: nothing there can wake a test."""

import asyncio
from collections.abc import Callable


async def until(true: Callable[[], object], timeout: float = 60.0) -> None:
    """Looks every hundredth of a second; raises TimeoutError."""
    async with asyncio.timeout(timeout):
        while not true():
            await asyncio.sleep(0.01)
