"""Waiting for the world to change, without polling it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bot.sandbox.world import Event, World

T = TypeVar("T")


async def until(world: World, found: Callable[[], T | None], timeout: float) -> T | None:
    """What `found` answers as soon as it is not None; None after `timeout` seconds. Looked at again at each change."""
    result = found()
    if result is not None or timeout <= 0:
        return result
    changed = asyncio.Event()

    def note(_: Event) -> None:
        changed.set()

    silence = world.listen(note)
    try:
        async with asyncio.timeout(timeout):
            while result is None:
                await changed.wait()
                changed.clear()
                result = found()
    except TimeoutError:
        return found()
    finally:
        silence()
    return result
