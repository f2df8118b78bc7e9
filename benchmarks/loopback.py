"""A server that answers every request with the same five requests, in a process of its own: it costs us nothing.

`python -m benchmarks.loopback` prints its port and serves until its standard input ends.
"""

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import cast

from benchmarks.sample import answer_body

ROWS = 5
ROOT = Path(__file__).parent.parent


class _Answering(asyncio.Protocol):
    """As little HTTP as will do: each whole request gets the one answer."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._read = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's, though they do the same.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            _, found, rest = head.partition(b"content-length:")
            whole = end + 4 + (int(rest.split(b"\r\n", 1)[0]) if found else 0)
            if len(self._read) < whole:
                return
            self._read = self._read[whole:]
            self._transport.write(self._answer)


async def _serve() -> None:
    body = answer_body(ROWS)
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answering(answer), "127.0.0.1", 0)
    over = asyncio.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    print(server.sockets[0].getsockname()[1], flush=True)
    await over.wait()
    server.close()


@contextlib.contextmanager
def loopback() -> Generator[str]:
    """Starts the server, gives its URL, and ends it."""
    command = [sys.executable, "-m", "benchmarks.loopback"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.wait(timeout=10)


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        asyncio.run(_serve())
    else:
        uvloop.run(_serve())
