"""getUpdates: the long poll. One poller per bot; a second one ends the first with 409, as Telegram does."""

from __future__ import annotations

import asyncio

from bot.sandbox.methods.call import Call
from bot.sandbox.methods.updates import batch, begin_polling, next_due
from bot.sandbox.refusals import conflict
from bot.sandbox.wire import Json
from bot.sandbox.world import World

# Out-of-order delivery waits this long (seconds) for company: one update alone has no order.
GATHER = 0.2


class Polls:
    """Who polls for which bot right now."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._newest: dict[int, object] = {}
        self._wake: dict[int, asyncio.Event] = {}
        self._closing = False

    def close(self) -> None:
        """Ends every poll with what there is."""
        self._closing = True
        for event in self._wake.values():
            event.set()

    async def get_updates(self, call: Call) -> list[Json]:
        """The updates from the offset on; waits up to the call's timeout for the first one."""
        bot, world = call.bot, self._world
        _, limit, timeout = begin_polling(call)
        mine = object()
        self._newest[bot.id] = mine
        wake = self._wake.get(bot.id)
        if wake is not None:
            wake.set()
        wake = self._wake[bot.id] = asyncio.Event()
        silence = world.listen(lambda event: wake.set() if event.bot == bot.id else None)
        deadline = asyncio.get_running_loop().time() + timeout
        try:
            while True:
                self._check(call, mine)
                ready = batch(world, bot, limit)
                left = deadline - asyncio.get_running_loop().time()
                if ready and world.delivery.out_of_order and left > 0:
                    await asyncio.sleep(min(GATHER, left))
                    self._check(call, mine)
                    return batch(world, bot, limit)
                if ready or left <= 0 or self._closing:
                    return ready
                wake.clear()
                due = next_due(world, bot)
                try:
                    async with asyncio.timeout(left if due is None else min(left, due)):
                        await wake.wait()
                except TimeoutError:
                    continue
        finally:
            silence()
            if self._newest.get(bot.id) is mine:
                del self._newest[bot.id], self._wake[bot.id]

    def _check(self, call: Call, mine: object) -> None:
        if call.bot.webhook is not None:
            raise conflict("terminated by setWebhook request")
        if self._newest.get(call.bot.id) is not mine:
            raise conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
