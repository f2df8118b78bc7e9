"""What is wrong with the words of a call, found before anything is sent.

WorkspaceError                 every error of the API layer; the client's half of the tree is in client/errors.py
├── UnknownOperation           no operation of that name (carries the nearest right name)
└── InvalidArguments           a field is unknown, missing or of the wrong type (carries one Problem a field)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class WorkspaceError(Exception):
    """Base of all errors that the API layer raises on purpose; its text is one sentence without secrets.

    Every one can be pickled: an error crosses processes and is kept by durable runs.
    """


class UnknownOperation(WorkspaceError):
    """There is no operation of that name."""

    def __init__(self, name: str, nearest: str | None) -> None:
        self.name = name
        self.nearest = nearest
        super().__init__(f"{name} is no operation" + (f"; did you mean {nearest}?" if nearest else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.nearest)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one field: `path` is where (`("request_ids", 0)`), `text` is what."""

    path: tuple[str | int, ...]
    text: str

    @property
    def place(self) -> str:
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")


class InvalidArguments(WorkspaceError):
    """The arguments of a call do not fit its operation; nothing was sent."""

    def __init__(self, operation: str, problems: Sequence[Problem]) -> None:
        self.operation = operation
        self.problems = tuple(problems)
        super().__init__(f"{operation}: " + "; ".join(f"{p.place}: {p.text}" if p.path else p.text for p in problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operation, self.problems)
