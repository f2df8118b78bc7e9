"""What one evaluation may cost: a count of work and a clock, so that no expression runs or grows without end.

Every loop turn, every piece of output and every list that is put together is charged here. Work that is not charged is
linear in what is there already, and a text has a largest length, so the whole is bounded.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import Any, TypeVar

from jinja2 import Undefined

from automations.shapes import is_map, is_sequence

T = TypeVar("T")

LARGEST_TEXT = 1_000_000
"""Characters of a text that an expression puts together."""
LARGEST_RANGE = 10_000
LARGEST_POWER = 1_000
MOST_WORK = 2_000_000
TRIAL_WORK = 50_000
"""What may be spent on trying a template when its file is read."""
TRIALS_WORK = 150_000
"""What may be spent on trying all templates of a file."""
COMPILE_WORK = 1_000
"""What compiling a template counts for."""
SECONDS = 2.0
LOOK = 500
"""Pieces of work between two looks at the clock."""


class TooMuch(Exception):
    """The expression costs more than it may."""


class Budget:
    """What is left of the work, and of the time where that counts."""

    def __init__(self, work: int = MOST_WORK, seconds: float | None = SECONDS) -> None:
        self.work = work
        self.left = work
        self._seconds = seconds
        self._deadline = monotonic() + seconds if seconds is not None else inf
        self._look = work

    def charge(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise TooMuch(f"takes more than {self.work:,} steps of work or pieces of output")
        if self.left < self._look:
            # The clock is asked now and then only: asking takes longer than most work.
            self._look = self.left - LOOK
            if monotonic() > self._deadline:
                raise TooMuch(f"takes longer than {self._seconds:g} seconds")


_budget: ContextVar[Budget] = ContextVar("budget")


@contextmanager
def budget(work: int = MOST_WORK, seconds: float | None = SECONDS) -> Generator[Budget]:
    """The budget of one evaluation; `seconds` is None where a busy machine must not change what comes of it."""
    fresh = Budget(work, seconds)
    token = _budget.set(fresh)
    try:
        yield fresh
    finally:
        _budget.reset(token)


def charge(work: int) -> None:
    """Takes from the budget of the evaluation under way. Raises TooMuch."""
    _budget.get().charge(work)


def counted(items: Iterable[T]) -> Iterable[T]:
    """The same items, each charged."""
    for item in items:
        charge(1)
        yield item


def built(value: T) -> T:
    """A list or map that was put together, charged with all that is in it: shared parts count each time."""
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        charge(1)
        if is_sequence(part):
            pending.extend(part)
        elif is_map(part):
            pending.extend(part.values())
        elif isinstance(part, str):
            charge(len(part) // 64)
        elif isinstance(part, Undefined):
            str(part)  # raises: strict names hold within lists too
    return value


def text_of(length: int) -> None:
    """Refuses a text of that length before it is made."""
    if length > LARGEST_TEXT:
        raise TooMuch(f"makes a text of more than {LARGEST_TEXT:,} characters")
    charge(length // 64)
