"""What automations need from above, as small protocols: someone who calls, someone who says, a clock."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Addressee:
    """Whom a message is for, as the workspace and the chat know them.

    `name` is what the file said, templates evaluated: `@ops`, `@finance` (a role of WORKSPACE_ROLES), a user id, a
    chat's number, or a part that `recipients.py` has resolved to user ids, such as `manager_of(anna)`.
    """

    name: str
    user_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a run, asked in chat. `key` is `<run id>/<step>`, unique; an option is its own label."""

    key: str
    automation: str
    text: str
    options: tuple[str, ...]
    deadline: datetime | None
    default: str | None


class Messenger(Protocol):
    """Says something in chat; the bot's outbox is one."""

    async def say(self, to: str, text: str, *, file: Path | None = None, photo: bool = False, key: str) -> None:
        """Takes a message for delivery. A second one with the same `key` is not delivered again.

        `to` is a name as in Addressee; several are parted by commas. `photo`: the file is shown as a picture.
        Raises ValueError where `to` is nobody.
        """
        ...

    async def ask(self, to: str, question: Question) -> None:
        """Takes a question for delivery, with a button for each option, to those who may answer it.

        A second one with the same key is not delivered again. Raises ValueError where `to` is nobody.
        """
        ...

    async def settle(self, key: str, words: str) -> None:
        """Takes the buttons of a question away, where they stand, and says how it ended."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question: `option` is the answer, or the default where time ran out (`by` is empty then)."""

    option: str | None
    by: str
    at: str
    timed_out: bool


class Desk(Protocol):
    """What a run keeps beside its journal, and what it asks of others while it is parked; desk.py has the real one."""

    async def ask(self, run_id: str, to: str, question: Question) -> Answer | None:
        """Keeps the question, unless it is there, and gives its answer; None while there is none.

        Past its deadline a question is closed with its default. One that was closed without an answer is asked anew.
        """
        ...

    async def asked_of(self, key: str) -> str | None:
        """Whom a question was asked of that waits for its answer, or has it; None where there is none such."""
        ...

    async def last_value(self, automation: str, name: str, run_id: str) -> tuple[bool, Any]:
        """The value that the last run which ended well has kept under that name; False where there is none."""
        ...

    async def keep_value(self, automation: str, name: str, run_id: str, value: Any) -> None: ...

    async def run_child(
        self, automation: str, parent: str, step: str, values: Mapping[str, Any]
    ) -> tuple[str, str, str | None]:
        """Asks for the run of another automation, unless that is done: its id, state and message.

        Raises StepFailed where there is no such automation.
        """
        ...

    async def recorded(self, run_id: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The records of another run, in order: name and output."""
        ...
