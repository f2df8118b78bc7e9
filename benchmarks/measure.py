"""How things are measured: a benchmark's shape, and the median of interleaved ratios."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done: `rounds` pairs of runs, `calls` calls or `rows` records in each run."""

    rounds: int
    calls: int
    rows: int


FULL = Size(rounds=11, calls=640, rows=10_000)
SMALL = Size(rounds=1, calls=32, rows=20)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One line of the table. `run` answers the measured value in `unit`."""

    name: str
    run: Callable[[Size], float]
    bound: Literal["at most", "at least"]
    goal: float
    unit: Literal["x", "ms", "MB"]
    how: str

    def is_met(self, value: float) -> bool:
        return value <= self.goal if self.bound == "at most" else value >= self.goal


def interleaved(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> float:
    """The median of ours / theirs, both in seconds, run in turn: a busy moment of the machine hits both."""
    ratios: list[float] = []
    for number in range(rounds):
        # Whoever goes second finds warmer caches, so they take turns at that too.
        if number % 2:
            first = ours()
            ratios.append(first / theirs())
        else:
            first = theirs()
            ratios.append(ours() / first)
    return statistics.median(ratios)
