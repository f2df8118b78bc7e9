"""Both clients behind one face, so that every test on real sockets runs for sync and async alike."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeVar

import pytest

from tests.client.chaos import Chaos
from workspace_api import AsyncWorkspace, Call, Done, NotSent, Raw, Refused, Unknown, Workspace
from workspace_api.client.httpx_transport import AiohttpTransport, HttpxTransport

T = TypeVar("T")
KEY = "sk-canary-4711"


class Caller(Protocol):
    """What the tests on sockets need of a client."""

    async def attempt(self, call: Call[T], **options: Any) -> Done[Raw[T]] | Refused | NotSent | Unknown: ...

    async def perform(self, call: Call[T], **options: Any) -> T: ...


class SyncCaller:
    """Workspace, each call in a thread of its own."""

    def __init__(self, api: Workspace) -> None:
        self.api = api

    async def attempt(self, call: Call[T], **options: Any) -> Done[Raw[T]] | Refused | NotSent | Unknown:
        return await asyncio.to_thread(self.api.with_options(**options).attempt_raw, call)

    async def perform(self, call: Call[T], **options: Any) -> T:
        return await asyncio.to_thread(self.api.with_options(**options).perform, call)


class AsyncCaller:
    """AsyncWorkspace."""

    def __init__(self, api: AsyncWorkspace) -> None:
        self.api = api

    async def attempt(self, call: Call[T], **options: Any) -> Done[Raw[T]] | Refused | NotSent | Unknown:
        return await self.api.with_options(**options).attempt_raw(call)

    async def perform(self, call: Call[T], **options: Any) -> T:
        return await self.api.with_options(**options).perform(call)


Opener = Callable[..., Caller]


@pytest.fixture
def chaos() -> Iterator[Chaos]:
    with Chaos() as server:
        yield server


@pytest.fixture(params=["sync", "async"])
async def open_caller(request: pytest.FixtureRequest) -> AsyncIterator[Opener]:
    """Opens a client on a URL: `open_caller(url, timeout=1)`."""
    async with AsyncExitStack() as stack:

        def opened(url: str, *, connections: int = 100, **options: Any) -> Caller:
            options = {"timeout": 5.0, "retries": 0, **options}
            if request.param == "sync":
                transport = HttpxTransport(url, connections)
                return SyncCaller(stack.enter_context(Workspace(url, KEY, transport=transport, **options)))
            api = AsyncWorkspace(url, KEY, transport=AiohttpTransport(url, connections), **options)
            stack.push_async_callback(api.aclose)
            return AsyncCaller(api)

        yield opened


@pytest.fixture
def caller(open_caller: Opener, chaos: Chaos) -> Caller:
    """A client on the chaos server that tries once, within five seconds."""
    return open_caller(chaos.url)
