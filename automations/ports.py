"""What automations need from above, as small protocols: someone who calls, someone who says, a clock."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from workspace_api.contract import Call, Done, NotSent, Raw, Refused, Unknown

Clock = Callable[[], datetime]
"""The time, aware."""

Sleep = Callable[[float], Awaitable[None]]
"""Waits for seconds."""


class Caller(Protocol):
    """Sends a call to the workspace and says what became of it; the client's AsyncWorkspace is one."""

    async def attempt_raw(self, call: Call[Any], /) -> Done[Raw[Any]] | Refused | NotSent | Unknown:
        """Sends one call. The answer's `json()["data"]` is what was received."""
        ...


class Messenger(Protocol):
    """Says something in chat; the bot's outbox is one."""

    async def say(self, to: str, text: str, *, file: Path | None = None, key: str) -> None:
        """Takes a message for delivery. A second one with the same `key` is not delivered again.

        Raises ValueError where `to` is nobody.
        """
        ...
