"""How many calls a minute the bot makes to a workspace: never more than a stated number, people's before polling's.

```
a person's call ─► the next free place, taken at once and waited for ─┐
polling's call  ─► a place that is free now, of its half; else it waits┴─► the transport below
```
A place is a moment; in any minute there are as many as the number. Who would wait longer than the call may take is told
so at once, and nothing is sent. Both clients of a bot share one Budget: `Budgeted(transport, budget, urgent=…)` each.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from typing import Any

from workspace_api import AsyncWorkspace, CallNotSent, WorkspaceError
from workspace_api.client.httpx_transport import AiohttpTransport
from workspace_api.client.transport import Answer, AsyncTransport, Message, NothingSent

MINUTE = 60.0

USED_UP = "calls a minute that this workspace may be asked are used up"

SLACK = 0.25
"""Seconds by which a place is given back late: a call leaves a little after its moment, the next one maybe not."""


class Budget:
    """The places of the last minute and those that are promised. `most`: in any minute; None: without a limit."""

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        if most is not None and most < 1:
            raise ValueError(f"{most} calls a minute are too few: at least one")
        self.most = most
        self._clock = clock
        self._taken: list[float] = []
        self._polled: list[float] = []

    def reserve(self, longest: float) -> float | None:
        """Takes the next free place for a person's call: the moment to send at. None where that is too late."""
        now = self._clock()
        if self.most is None:
            return now
        at = self._free(self._taken, self.most, now)
        if at - now > longest:
            return None
        self._taken.append(at)
        return at

    def take(self) -> float:
        """Takes a place for polling, if one is free this moment: 0.0, else the seconds until there may be one."""
        now = self._clock()
        if self.most is None:
            return 0.0
        # A promised place lies ahead of now, so whoever polls waits behind the people who wait.
        at = max(self._free(self._taken, self.most, now), self._free(self._polled, max(1, self.most // 2), now))
        if at > now:
            return at - now
        self._taken.append(now)
        self._polled.append(now)
        return 0.0

    def give_back(self, at: float) -> None:
        """A promised place that is not used: its caller has gone."""
        if at in self._taken:
            self._taken.remove(at)

    def used(self) -> int:
        """The calls of the last minute, those included that are promised."""
        return len(self._taken) - bisect_right(self._taken, self._clock() - MINUTE - SLACK)

    @staticmethod
    def _free(places: list[float], most: int, now: float) -> float:
        """The first moment from now on, not before the last promised one, at which a place is free."""
        del places[: bisect_right(places, now - MINUTE - SLACK)]
        if len(places) < most:
            return max([now, *places[-1:]])
        return max(now, places[-1], places[-most] + MINUTE + SLACK)


class Budgeted:
    """A transport that keeps to a budget (AsyncTransport). `urgent`: these calls are people's."""

    def __init__(
        self,
        transport: AsyncTransport,
        budget: Budget,
        *,
        urgent: bool,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._budget = budget
        self._urgent = urgent
        self._sleep = sleep
        self._clock = clock

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        """Waits for a place, then sends with the time that is left. Raises NothingSent where none comes in time."""
        began = self._clock()
        if self._urgent:
            await self._reserved(deadline)
        else:
            await self._polled(deadline)
        left = max(0.001, deadline - (self._clock() - began))
        return await self._transport.send(message, deadline=left, max_bytes=max_bytes)

    async def close(self) -> None:
        """Closes the transport below, which others may share."""
        await self._transport.close()

    async def _reserved(self, deadline: float) -> None:
        at = self._budget.reserve(deadline)
        if at is None:
            raise self._used_up()
        try:
            while (wait := at - self._clock()) > 0:
                await self._sleep(wait)
        except BaseException:
            # Cancelled: the place is somebody else's.
            self._budget.give_back(at)
            raise

    async def _polled(self, deadline: float) -> None:
        ends = self._clock() + deadline
        while (wait := self._budget.take()) > 0:
            if self._clock() + wait > ends:
                raise self._used_up()
            await self._sleep(wait)

    def _used_up(self) -> NothingSent:
        return NothingSent(f"The {self._budget.most} {USED_UP}; try again soon", final=True)


def is_used_up(error: WorkspaceError) -> bool:
    """Whether a call failed by the budget, and not by the workspace."""
    return isinstance(error, CallNotSent) and USED_UP in str(error)


def open_clients(url: str, api_key: str, budget: Budget, **options: Any) -> tuple[AsyncWorkspace, AsyncWorkspace]:
    """The client of people's calls and the one for polling, over the same connections; closing either closes both.

    `options` are those of AsyncWorkspace.
    """
    transport = AiohttpTransport(url)
    people, polling = (Budgeted(transport, budget, urgent=urgent) for urgent in (True, False))
    return (
        AsyncWorkspace(url, api_key, transport=people, **options),
        AsyncWorkspace(url, api_key, transport=polling, **options),
    )
