"""A proxy on loopback that forwards a request to the workspace, and may then lose the answer.

The loss comes after the workspace has answered, so after it has committed.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

PAGE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n<html>Bad gateway</html>\r\n"


class Lossy:
    """`lose(path, times)` loses the next answers of that path, `swallow` its next requests, `hold` keeps them waiting.

    `seen` counts the requests by path.
    """

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._losing: Counter[str] = Counter()
        self._swallowing: Counter[str] = Counter()
        self._garbling: Counter[str] = Counter()
        self._holding: dict[str, asyncio.Event] = {}
        self.seen: Counter[str] = Counter()
        self.url = ""

    def lose(self, path: str, times: int = 1) -> None:
        self._losing[path] += times

    def swallow(self, path: str, times: int = 1) -> None:
        """The next requests of that path are read and never reach the workspace."""
        self._swallowing[path] += times

    def garble(self, path: str, times: int = 1) -> None:
        """The next answers of that path come as a proxy's page; the workspace has done what it was asked."""
        self._garbling[path] += times

    def heals(self) -> None:
        """Nothing is lost any more."""
        for ordered in (self._losing, self._swallowing, self._garbling):
            ordered.clear()

    def hold(self, path: str) -> asyncio.Event:
        """Requests of that path wait until the event is set."""
        self._holding[path] = asyncio.Event()
        return self._holding[path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request after the other."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                body = await reader.readexactly(_length(head))
                self.seen[path] += 1
                if path in self._holding:
                    await self._holding[path].wait()
                if self._swallowing[path] > 0:
                    self._swallowing[path] -= 1
                    break
                answer = await self._forward(head, body)
                if self._losing[path] > 0:
                    self._losing[path] -= 1
                    break
                if self._garbling[path] > 0:
                    self._garbling[path] -= 1
                    answer = PAGE
                writer.write(answer)
                await writer.drain()
        writer.close()

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        writer.write(head + body)
        await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n")
        answer += await reader.readexactly(_length(answer))
        writer.close()
        return answer


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


@asynccontextmanager
async def open_lossy(upstream: str) -> AsyncGenerator[Lossy]:
    """The proxy, listening."""
    lossy = Lossy(upstream)
    server = await asyncio.start_server(lossy.serve, "127.0.0.1", 0)
    lossy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield lossy
    finally:
        server.close()
