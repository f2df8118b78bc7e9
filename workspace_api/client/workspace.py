"""The two clients: Workspace (sync) and AsyncWorkspace. Both read like the API's own names.

api.finplan.request.review(request_ids=[7], review_type="accept", block_id=3)

api.raw.…        the same operations, answering Raw (status, headers, body, seconds, tries, data)
api.outcome.…    the same operations, answering Done, Refused, NotSent or Unknown; nothing is raised for a failed call
perform(call)    sends a Call made elsewhere (`workspace_api.calls`), attempt(call) the same as an outcome
"""

import asyncio
import random
import re
import threading
import time
from datetime import tzinfo
from functools import cached_property
from types import TracebackType
from typing import NoReturn, Self, TypedDict, TypeVar, Unpack

from workspace_api.client.errors import error_of
from workspace_api.client.events import Observer
from workspace_api.client.exchange import Exchange, Options, Pause, Reply, changed, exchange, fits_header
from workspace_api.client.transport import AnswerLost, AsyncTransport, NothingSent, Transport
from workspace_api.contract import Api
from workspace_api.contract.endpoint import Async, AsyncOutcomes, AsyncRaw, Call, Sync, SyncOutcomes, SyncRaw
from workspace_api.contract.errors import InvalidArguments, Problem
from workspace_api.contract.outcome import Done, NotSent, Outcome, Raw, Refused, Unknown

T = TypeVar("T")


class OptionChanges(TypedDict, total=False):
    """What `with_options` and the constructors take; see Options."""

    timeout: float
    retries: int
    max_bytes: int
    zone: tzinfo
    read_only: bool
    pace: float
    idempotency_key: str | None
    observer: Observer | None


class _Key:
    """The API key, which no repr shows."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        # A key is often read from a file, with the line's end.
        self.value = value.strip()
        if self.value and not fits_header(self.value):
            problem = Problem(("api_key",), "holds characters that no key has: copy it again")
            raise InvalidArguments("workspace", [problem])

    def __repr__(self) -> str:
        return "<key>"


class _Pace:
    """The least time between the starts of two calls, shared by all views of a client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0

    def slot(self, pace: float) -> float:
        """Takes the next free start and says how many seconds it is until then."""
        with self._lock:
            now = time.monotonic()
            slot = max(now, self._next)
            self._next = slot + pace
            return slot - now


class _Closed:
    """What both clients show of themselves: no key, no password of the address, nothing that could be stored."""

    url: str

    def __repr__(self) -> str:
        address = re.sub("//[^/@]*@", "//", self.url)
        return f"<{type(self).__name__} {address}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds connections and a key: open one where it is needed")


def _payload(outcome: Done[Raw[T]] | Refused | NotSent | Unknown) -> Outcome[T]:
    return Done(outcome.data.data) if isinstance(outcome, Done) else outcome


class Workspace(_Closed, Api[Sync]):
    """A workspace, for programs without an event loop; safe to share between threads.

    Raises InvalidArguments before anything is sent, CallNotSent, CallRefused or CallUnknown after (client/errors.py).
    """

    def __init__(
        self, url: str, api_key: str, *, transport: Transport | None = None, **options: Unpack[OptionChanges]
    ) -> None:
        super().__init__(self.perform)
        if transport is None:
            from workspace_api.client.httpx_transport import HttpxTransport

            transport = HttpxTransport(url)
        self.url = url
        self._transport = transport
        self._key = _Key(api_key)
        self._pace = _Pace()
        self.options = changed(Options(), options)

    def with_options(self, *, api_key: str | None = None, **changes: Unpack[OptionChanges]) -> Self:
        """The same workspace with other options or another key; connections are shared."""
        other = type(self)(self.url, self._key.value if api_key is None else api_key, transport=self._transport)
        other._pace = self._pace
        other.options = changed(self.options, changes)
        return other

    @cached_property
    def raw(self) -> Api[SyncRaw]:
        """The operations, answering Raw."""
        return Api(self.perform_raw)

    @cached_property
    def outcome(self) -> Api[SyncOutcomes]:
        """The operations, answering outcomes."""
        return Api(self.attempt)

    def perform(self, call: Call[T]) -> T:
        """Sends a call and returns its payload; raises where it is not Done."""
        return self.perform_raw(call).data

    def perform_raw(self, call: Call[T]) -> Raw[T]:
        """Sends a call and returns the whole answer; raises where it is not Done."""
        outcome = self.attempt_raw(call)
        if isinstance(outcome, Done):
            return outcome.data
        raise error_of(call.name, outcome)

    def attempt(self, call: Call[T]) -> Outcome[T]:
        """Sends a call and says what became of it; raises for no failed call."""
        return _payload(self.attempt_raw(call))

    def attempt_raw(self, call: Call[T]) -> Done[Raw[T]] | Refused | NotSent | Unknown:
        """The same with the whole answer in Done."""
        steps: Exchange[T] = exchange(
            call,
            self.options,
            self._key.value,
            clock=time.monotonic,
            random=random.random,
            slot=self._pace.slot,
        )
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    reply = None
                    continue
                try:
                    reply = self._transport.send(step.message, deadline=step.deadline, max_bytes=self.options.max_bytes)
                except (NothingSent, AnswerLost) as fault:
                    reply = fault
        except StopIteration as end:
            outcome: Done[Raw[T]] | Refused | NotSent | Unknown = end.value
            return outcome
        finally:
            steps.close()

    def close(self) -> None:
        """Closes the connections, of all views of this client."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncWorkspace(_Closed, Api[Async]):
    """A workspace, for an event loop. See Workspace; a call that is cancelled may have taken effect."""

    def __init__(
        self, url: str, api_key: str, *, transport: AsyncTransport | None = None, **options: Unpack[OptionChanges]
    ) -> None:
        super().__init__(self.perform)
        if transport is None:
            from workspace_api.client.httpx_transport import AiohttpTransport

            transport = AiohttpTransport(url)
        self.url = url
        self._transport = transport
        self._key = _Key(api_key)
        self._pace = _Pace()
        self.options = changed(Options(), options)

    def with_options(self, *, api_key: str | None = None, **changes: Unpack[OptionChanges]) -> Self:
        """The same workspace with other options or another key; connections are shared."""
        other = type(self)(self.url, self._key.value if api_key is None else api_key, transport=self._transport)
        other._pace = self._pace
        other.options = changed(self.options, changes)
        return other

    @cached_property
    def raw(self) -> Api[AsyncRaw]:
        """The operations, answering Raw."""
        return Api(self.perform_raw)

    @cached_property
    def outcome(self) -> Api[AsyncOutcomes]:
        """The operations, answering outcomes."""
        return Api(self.attempt)

    async def perform(self, call: Call[T]) -> T:
        """Sends a call and returns its payload; raises where it is not Done."""
        return (await self.perform_raw(call)).data

    async def perform_raw(self, call: Call[T]) -> Raw[T]:
        """Sends a call and returns the whole answer; raises where it is not Done."""
        outcome = await self.attempt_raw(call)
        if isinstance(outcome, Done):
            return outcome.data
        raise error_of(call.name, outcome)

    async def attempt(self, call: Call[T]) -> Outcome[T]:
        """Sends a call and says what became of it; raises for no failed call."""
        return _payload(await self.attempt_raw(call))

    async def attempt_raw(self, call: Call[T]) -> Done[Raw[T]] | Refused | NotSent | Unknown:
        """The same with the whole answer in Done."""
        steps: Exchange[T] = exchange(
            call,
            self.options,
            self._key.value,
            clock=time.monotonic,
            random=random.random,
            slot=self._pace.slot,
        )
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    reply = None
                    continue
                try:
                    reply = await self._transport.send(
                        step.message, deadline=step.deadline, max_bytes=self.options.max_bytes
                    )
                except (NothingSent, AnswerLost) as fault:
                    reply = fault
        except StopIteration as end:
            outcome: Done[Raw[T]] | Refused | NotSent | Unknown = end.value
            return outcome
        finally:
            steps.close()

    async def aclose(self) -> None:
        """Closes the connections, of all views of this client."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
