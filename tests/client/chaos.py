"""A server that misbehaves on purpose, on loopback, with real sockets.

connection ─► thread ─► request read whole ─► the next behaviour of the script (the last one repeats) ─► request …

A behaviour is a function of a Peer: it writes what it likes and says whether the connection goes on. What was
received is kept in `Chaos.received`; `Chaos.over` is set when the test ends, so that nobody hangs longer than it.
"""

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came: header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int


@dataclass(slots=True)
class Peer:
    """One connection, as a behaviour sees it."""

    socket: socket.socket
    request: Received
    over: threading.Event

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reset(self) -> None:
        """Makes the coming close a reset in place of an orderly end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Behaviour = Callable[[Peer], bool]


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(body: bytes | Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Behaviour:
    """A whole answer; anything but bytes is written as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}

    def behave(peer: Peer) -> bool:
        peer.write(head(status, told) + content)
        return True

    return behave


def success(data: Any) -> Behaviour:
    """The envelope of a success."""
    return answer({"status": "success", "data": data})


def refusal(status: int, code: str, text: str, headers: Mapping[str, str] | None = None) -> Behaviour:
    """The envelope of a failure."""
    return answer({"status": "error", "error": code, "error_message": text}, status, headers)


def close_after_body(_: Peer) -> bool:
    """The request was read, and perhaps carried out; its answer is lost."""
    return False


def reset_after_body(peer: Peer) -> bool:
    """The same, with a reset."""
    peer.reset()
    return False


def hang(peer: Peer) -> bool:
    """Never answers."""
    peer.over.wait()
    return False


def raw(data: bytes, *, stay: bool = False) -> Behaviour:
    """Writes just that and closes, or stays open."""

    def behave(peer: Peer) -> bool:
        peer.write(data)
        return stay

    return behave


def drip(start: bytes, every: float = 0.02, times: int = 100_000) -> Behaviour:
    """Writes a start, then one byte after the other for as long as somebody listens, then nothing more."""

    def behave(peer: Peer) -> bool:
        peer.write(start)
        with contextlib.suppress(OSError):
            for _ in range(times):
                if peer.over.wait(every):
                    return False
                peer.write(b"a")
            peer.over.wait()
        return False

    return behave


drip_headers = drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")
drip_body = drip(head(200, {"Content-Type": "application/json", "Content-Length": "100000"}))
drip_and_hang = drip(head(200, {"Content-Type": "application/json", "Content-Length": "100000"}), times=30)


def last_words(answered: Behaviour) -> Behaviour:
    """Answers, then closes the connection that promised to stay."""

    def behave(peer: Peer) -> bool:
        answered(peer)
        return False

    return behave


@dataclass
class Chaos:
    """The server: `script` holds what to do with each request, whichever connection it comes on."""

    script: list[Behaviour] = field(default_factory=list[Behaviour])
    received: list[Received] = field(default_factory=list[Received])
    over: threading.Event = field(default_factory=threading.Event)
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> Self:
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._spawn(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        # A shutdown wakes the thread that waits in accept; a mere close would not.
        self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    @property
    def url(self) -> str:
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"

    def _spawn(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        number = 0
        with contextlib.suppress(OSError):
            while not self.over.is_set():
                connection, _ = self._listener.accept()
                number += 1
                with self._lock:
                    self._open.add(connection)
                self._spawn(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), connection, self._wrapped(connection) as spoken:
            for request in _requests(spoken, number):
                with self._lock:
                    self.received.append(request)
                    behave = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                if not behave(Peer(spoken, request, self.over)):
                    break
        with self._lock:
            self._open.discard(connection)

    def _wrapped(self, connection: socket.socket) -> socket.socket:
        return connection if self.tls is None else self.tls.wrap_socket(connection, server_side=True)


def _requests(connection: socket.socket, number: int) -> Iterator[Received]:
    """The requests of a connection, each read whole before it is handed on."""
    stream = connection.makefile("rb")
    with stream:
        while first := stream.readline():
            method, target, _ = first.decode().split(" ", 2)
            headers: dict[str, str] = {}
            while (line := stream.readline().decode().strip()) != "":
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            body = stream.read(int(headers.get("content-length", 0)))
            yield Received(method, target, headers, body, number)


@contextlib.contextmanager
def nobody_listens() -> Generator[str]:
    """The URL of a port that refuses; it stays bound, so that nobody else can take it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextlib.contextmanager
def nobody_accepts() -> Generator[str]:
    """The URL of a port whose queue is full: a connection is neither made nor refused."""
    with socket.socket() as listener, contextlib.ExitStack() as held:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
