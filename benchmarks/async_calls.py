"""Async calls, 32 at once, against aiohttp alone, which reads the bytes and looks at none of them."""

import asyncio
from time import perf_counter

import aiohttp

from benchmarks.call_overhead import PATH
from benchmarks.loopback import loopback
from benchmarks.measure import Benchmark, Size, interleaved
from workspace_api import AsyncWorkspace

AT_ONCE = 32


def _run(size: Size) -> float:
    each = max(1, 4 * size.calls // AT_ONCE)
    with loopback() as url, asyncio.Runner() as runner:
        api = AsyncWorkspace(url, "bench")

        async def opened() -> aiohttp.ClientSession:
            return aiohttp.ClientSession()

        bare = runner.run(opened())

        async def ours() -> float:
            async def work() -> None:
                for _ in range(each):
                    await api.finplan.request.list(finplans=["2026-11-01"])

            started = perf_counter()
            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
            return perf_counter() - started

        async def alone() -> float:
            async def work() -> None:
                for _ in range(each):
                    body = {"finplans": ["2026-11-01"]}
                    async with bare.post(url + PATH, json=body, headers={"Api-key": "bench"}) as response:
                        await response.read()

            started = perf_counter()
            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
            return perf_counter() - started

        try:
            runner.run(alone())
            runner.run(ours())
            # Calls a second, ours against theirs: the times the other way round.
            return interleaved(size.rounds, lambda: runner.run(alone()), lambda: runner.run(ours()))
        finally:
            runner.run(bare.close())
            runner.run(api.aclose())


ASYNC_CALLS = Benchmark(
    "async calls, 32 at once",
    _run,
    "at least",
    0.3,
    "x",
    "calls a second of finplan.request.list (5 requests) / aiohttp alone, its bytes unread",
)
