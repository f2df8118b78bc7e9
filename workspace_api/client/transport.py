"""The small protocol between the client and whatever speaks HTTP for it.

A transport sends one message once and tells three things apart: an Answer; NothingSent, where no byte can have left;
AnswerLost, where the message may have arrived. It keeps a total deadline and a cap on the answer, follows no redirects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: the path (with its query) below the base URL, headers, body. Its repr shows no header."""

    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        return f"<Message {self.target} of {len(self.body)} bytes>"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case, the body already inflated."""

    http_status: int
    headers: Mapping[str, str]
    body: bytes


class Fault(Exception):
    """No answer. `final`: another try cannot help."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(reason)


class NothingSent(Fault):
    """Refused connection, no such host, connect or pool timeout: nothing can have arrived."""


class AnswerLost(Fault):
    """Everything else: the message may have arrived and taken effect."""


class Transport(Protocol):
    """Sends one message and waits for its answer."""

    def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        """`deadline` in seconds from now, for everything. Raises NothingSent or AnswerLost."""
        ...

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """The same for an event loop."""

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer: ...

    async def close(self) -> None: ...


def too_large(max_bytes: int) -> AnswerLost:
    """The fault of an answer over the cap."""
    return AnswerLost(f"the answer is larger than {max_bytes:,} bytes; raise max_bytes for this call", final=True)
