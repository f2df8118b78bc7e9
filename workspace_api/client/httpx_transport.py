"""httpx behind the Transport protocol: the sync one with its own deadline, the async one over aiohttp.

httpx's timeouts are per read, so a dripping answer outlives them: the sync transport puts the time left under each
socket operation, the async one a timeout around all. Plain httpx is slow with many calls at once, therefore aiohttp
carries the async ones; its exceptions are told apart by their cause, since a lost answer looks like a connect timeout.
"""

import asyncio
import ssl
import threading
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import httpcore
import httpx

from workspace_api.client.transport import Answer, AnswerLost, Message, NothingSent, too_large

KEEPALIVE = 4.0
"""Seconds an idle connection is kept: less than the 5 s after which common servers close theirs."""

CONNECTIONS = 100


class _Deadline(threading.local):
    """When the call of this thread must be over (monotonic clock)."""

    at: float = float("inf")

    def left(self, limit: float | None) -> float:
        remaining = self.at - time.monotonic()
        if remaining <= 0:
            raise httpcore.ReadTimeout("the deadline has passed")
        return remaining if limit is None else min(limit, remaining)


class _Stream(httpcore.NetworkStream):
    """A socket on which each operation gets no more time than the call has left."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(
            self._inner.start_tls(ssl_context, server_hostname, self._deadline.left(timeout)), self._deadline
        )

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
        try:
            limit = self._deadline.left(timeout)
        except httpcore.ReadTimeout as error:
            raise httpcore.ConnectTimeout(str(error)) from None
        return _Stream(self._inner.connect_tcp(host, port, limit, local_address, socket_options), self._deadline)


class _SyncHttp(httpx.HTTPTransport):
    """httpx's own transport over a pool whose sockets know the deadline."""

    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=KEEPALIVE,
            network_backend=_Backend(deadline),
        )


@lru_cache(maxsize=256)
def _url(address: str) -> httpx.URL:
    """Parsing an address costs as much as the rest of a request; there are about 90 of them."""
    return httpx.URL(address)


def _request(base: str, message: Message, deadline: float) -> httpx.Request:
    timeout = {"connect": deadline, "pool": deadline, "read": deadline, "write": deadline}
    url = _url(base + message.target)
    extensions = {"timeout": timeout}
    return httpx.Request("POST", url, headers=message.headers, content=message.body, extensions=extensions)


def _answer(response: httpx.Response, body: bytes) -> Answer:
    return Answer(response.status_code, dict(response.headers.items()), body)


class HttpxTransport:
    """Sync, pooled, for any number of threads."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")
        self._deadline = _Deadline()
        self._http = _SyncHttp(self._deadline)

    def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        self._deadline.at = time.monotonic() + deadline
        try:
            response = self._http.handle_request(_request(self._base, message, deadline))
            try:
                size = 0
                chunks: list[bytes] = []
                for chunk in response.iter_bytes():
                    size += len(chunk)
                    if size > max_bytes:
                        raise too_large(max_bytes)
                    chunks.append(chunk)
            finally:
                response.close()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NothingSent(_reason(error)) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise NothingSent(_reason(error), final=True) from None
        except httpx.HTTPError as error:
            raise AnswerLost(_reason(error)) from None
        return _answer(response, b"".join(chunks))

    def close(self) -> None:
        self._http.close()


class AiohttpTransport:
    """Async, pooled; aiohttp is imported with the first call."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")
        self._http: httpx.AsyncBaseTransport | None = None

    def _open(self) -> httpx.AsyncBaseTransport:
        import aiohttp
        from httpx_aiohttp import AiohttpTransport as Inner

        def session() -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=KEEPALIVE)
            return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)

        return Inner(client=session)

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        if self._http is None:
            self._http = self._open()
        try:
            # The connect timeout ends a little before the whole, so that a call that never left is told as such.
            async with asyncio.timeout(deadline):
                return await exchange_over(self._http, _request(self._base, message, deadline * 0.95), max_bytes)
        except TimeoutError:
            raise AnswerLost(f"no whole answer within {deadline:.3g} s") from None
        except httpx.HTTPError as error:
            raise _classified(error) from None

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None


async def exchange_over(http: httpx.AsyncBaseTransport, request: httpx.Request, max_bytes: int) -> Answer:
    """One request over any of httpx's async transports, its body capped."""
    response = await http.handle_async_request(request)
    try:
        size = 0
        chunks: list[bytes] = []
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > max_bytes:
                raise too_large(max_bytes)
            chunks.append(chunk)
    finally:
        await response.aclose()
    return _answer(response, b"".join(chunks))


def _classified(error: httpx.HTTPError) -> NothingSent | AnswerLost:
    """By the cause: httpx-aiohttp 0.2 calls a lost answer a connect timeout too."""
    import aiohttp

    cause = error.__cause__
    if isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return NothingSent(_reason(error))
    if isinstance(error, httpx.UnsupportedProtocol):
        return NothingSent(_reason(error), final=True)
    return AnswerLost(_reason(error))


def _reason(error: Exception) -> str:
    """A short reason: the kind of error in words. Its own text may hold the address with its query, so it stays out."""
    words = {
        "ConnectError": "cannot connect to the workspace",
        "ConnectTimeout": "the connection broke off or could not be made in time",
        "PoolTimeout": "all connections were busy for too long",
        "ReadTimeout": "no whole answer in time",
        "WriteTimeout": "the request could not be sent in time",
        "ReadError": "the connection broke while the answer was awaited",
        "WriteError": "the connection broke while sending",
        "RemoteProtocolError": "the workspace closed the connection without a whole answer",
        "DecodingError": "the answer's compression is broken",
        "UnsupportedProtocol": "the workspace's address is no http:// or https:// URL",
        "InvalidURL": "the workspace's address is no http:// or https:// URL",
    }
    return words.get(type(error).__name__, f"the exchange failed ({type(error).__name__})")
