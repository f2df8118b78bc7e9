"""httpx behind the Transport protocol: the sync one with its own deadline, the async one over aiohttp.

httpx's timeouts are per read, so a dripping answer outlives them: the sync transport puts the time left under each
socket operation, the async one a timeout around all. Plain httpx is slow with many calls at once, therefore aiohttp
carries the async ones; its exceptions are told apart by their cause, since a lost answer looks like a connect timeout.

Message ─► request_of ─► httpx or httpx-aiohttp ─► Body (inflated, capped) ─► Answer, or a Fault in words
"""

import asyncio
import ssl
import threading
import time
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, cast

import httpcore
import httpx

from workspace_api.client.body import Body
from workspace_api.client.transport import Answer, AnswerLost, Message, NothingSent

KEEPALIVE = 4.0
"""Seconds an idle connection is kept: less than the 5 s after which common servers close theirs."""

CONNECTIONS = 100


class _Deadline(threading.local):
    """When the call of this thread must be over (monotonic clock)."""

    at: float = float("inf")

    def left(self, limit: float | None, late: type[httpcore.TimeoutException]) -> float:
        """Seconds for the next socket operation; raises `late` where there are none."""
        remaining = self.at - time.monotonic()
        if remaining <= 0:
            raise late("the deadline has passed")
        return remaining if limit is None else min(limit, remaining)


class _Stream(httpcore.NetworkStream):
    """A socket on which each operation gets no more time than the call has left."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        limit = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, limit), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, deadline: _Deadline) -> None:
        self._inner = httpcore.SyncBackend()
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        limit = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, limit, local_address, socket_options), self._deadline)


def _trust(base_url: str) -> ssl.SSLContext | None:
    """Whom to trust, the same for sync and async; reading the certificates takes 20 ms, so only where it is needed."""
    return httpx.create_ssl_context() if base_url.lower().startswith("https:") else None


class _SyncHttp(httpx.HTTPTransport):
    """httpx's own transport over a pool whose sockets know the deadline."""

    def __init__(self, base_url: str, deadline: _Deadline, connections: int) -> None:
        # The inherited constructor would make a pool with sockets of its own.
        self._pool = httpcore.ConnectionPool(
            ssl_context=_trust(base_url),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEPALIVE,
            network_backend=_Backend(deadline),
        )


@lru_cache(maxsize=256)
def _url(address: str) -> httpx.URL:
    """Parsing an address costs as much as the rest of a request; there are about 90 of them."""
    return httpx.URL(address)


def request_of(base: str, message: Message, deadline: float) -> httpx.Request:
    """The message as httpx sends it, `deadline` on each of its steps."""
    """A message as httpx takes it, for any of its transports."""
    timeout = {"connect": deadline, "pool": deadline, "read": deadline, "write": deadline}
    url = _url(base + message.target)
    extensions = {"timeout": timeout}
    return httpx.Request("POST", url, headers=message.headers, content=message.body, extensions=extensions)


class _Ready(httpx.Request):
    """A request for httpx-aiohttp, whose parts aiohttp takes as they are.

    httpx's own constructor encodes headers that aiohttp decodes again: a fifth of a whole call.
    """

    def __init__(self, url: httpx.URL, message: Message, headers: object) -> None:
        self.method = "POST"
        self.url = url
        # httpx-aiohttp hands the headers on to aiohttp, which knows its own kind best.
        self.headers = cast("httpx.Headers", headers)
        self.stream = httpx.ByteStream(message.body)
        self.extensions = {}
        self._content = message.body


def _headers(response: httpx.Response) -> dict[str, str]:
    """By lower-case names; repeated ones are joined by a comma."""
    found: dict[str, str] = {}
    for name, value in response.headers.raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _body(headers: dict[str, str], max_bytes: int) -> Body:
    return Body(headers.get("content-encoding"), headers.get("content-length"), max_bytes)


class HttpxTransport:
    """Sync, pooled, for any number of threads. Looking up a host's name is the one thing the deadline cannot end."""

    def __init__(self, base_url: str, connections: int = CONNECTIONS) -> None:
        self._base = base_url.rstrip("/")
        self._deadline = _Deadline()
        self._http = _SyncHttp(self._base, self._deadline, connections)

    def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        self._deadline.at = time.monotonic() + deadline
        try:
            response = self._http.handle_request(request_of(self._base, message, deadline))
            try:
                headers = _headers(response)
                body = _body(headers, max_bytes)
                for chunk in cast("httpx.SyncByteStream", response.stream):
                    body.take(chunk)
            finally:
                response.close()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NothingSent(_reason(error)) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise NothingSent(_reason(error), final=True) from None
        except (httpx.HTTPError, OSError, ValueError) as error:
            raise AnswerLost(_reason(error)) from None
        return Answer(response.status_code, headers, body.whole())

    def close(self) -> None:
        self._http.close()


class _Way:
    """Whether a call was given a connection: before that, nothing of it can have left."""

    __slots__ = ("is_open",)

    def __init__(self) -> None:
        self.is_open = False


_way: ContextVar[_Way] = ContextVar("way")
"""Of the call that runs in this task."""


class AiohttpTransport:
    """Async, pooled, for one event loop; aiohttp is imported with the first call."""

    def __init__(self, base_url: str, connections: int = CONNECTIONS) -> None:
        self._base = base_url.rstrip("/")
        self._connections = connections
        self._http: httpx.AsyncBaseTransport | None = None

    def _open(self) -> httpx.AsyncBaseTransport:
        import aiohttp
        from aiohttp.connector import Connection
        from aiohttp.tracing import Trace
        from httpx_aiohttp import AiohttpTransport as Inner
        from multidict import CIMultiDict

        class Connector(aiohttp.TCPConnector):
            async def connect(
                self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
            ) -> Connection:
                connection = await super().connect(req, traces, timeout)
                _way.get().is_open = True
                return connection

        def session() -> aiohttp.ClientSession:
            trust = _trust(self._base)
            connector = Connector(
                limit=self._connections, keepalive_timeout=KEEPALIVE, ssl=True if trust is None else trust
            )
            return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)

        self._header_map = CIMultiDict[str]
        # `verify` is for a connector that it would make itself: ours has its own trust, above.
        return Inner(verify=False, client=session)

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        if self._http is None:
            self._http = self._open()
        way = _Way()
        _way.set(way)
        try:
            async with asyncio.timeout(deadline):
                request = _Ready(_url(self._base + message.target), message, self._header_map(message.headers))
                return await exchange_over(self._http, request, max_bytes)
        except AnswerLost:
            raise
        except TimeoutError:
            if not way.is_open:
                raise NothingSent(_REASONS["ConnectTimeout"]) from None
            raise AnswerLost(f"no whole answer within {deadline:.3g} s") from None
        except Exception as error:  # noqa: BLE001 - aiohttp's errors are many: all but the known ones are a lost answer
            raise _classified(error) from None

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None


async def exchange_over(http: httpx.AsyncBaseTransport, request: httpx.Request, max_bytes: int) -> Answer:
    """One request over any of httpx's async transports, its body capped."""
    response = await http.handle_async_request(request)
    stream = cast("httpx.AsyncByteStream", response.stream)
    try:
        headers = _headers(response)
        body = _body(headers, max_bytes)
        async for chunk in stream:
            body.take(chunk)
    finally:
        await stream.aclose()
    return Answer(response.status_code, headers, body.whole())


def _classified(error: Exception) -> NothingSent | AnswerLost:
    """By the cause: httpx-aiohttp 0.2 calls a lost answer a connect timeout too."""
    import aiohttp

    cause = error.__cause__ if isinstance(error, httpx.HTTPError) else error
    if isinstance(cause, aiohttp.ClientConnectorError):
        return NothingSent(_REASONS["ConnectError"])
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return NothingSent(_reason(error), final=True)
    if isinstance(cause, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return AnswerLost(_REASONS["ReadError"])
    return AnswerLost(_reason(error))


_REASONS = {
    "ConnectError": "cannot connect to the workspace",
    "ConnectTimeout": "no connection to the workspace in time",
    "PoolTimeout": "all connections were busy for too long",
    "ReadTimeout": "no whole answer in time",
    "WriteTimeout": "the request could not be sent in time",
    "ReadError": "the connection broke before the whole answer was there",
    "WriteError": "the connection broke while sending",
    "RemoteProtocolError": "the workspace closed the connection without a whole answer",
    "UnsupportedProtocol": "the workspace's address is no http:// or https:// URL",
    "InvalidURL": "the workspace's address is no http:// or https:// URL",
}


def _reason(error: Exception) -> str:
    """A short reason: the kind of error in words. Its own text may hold the address with its query, so it stays out."""
    kind = type(error).__name__
    return _REASONS.get(kind, f"the exchange failed ({kind})")
