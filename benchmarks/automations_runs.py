"""Automations: runs of three trivial steps a second beside DBOS and APScheduler alone, and how late a crowd is."""

import json
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Benchmark, Size, interleaved

RUNS_PER_CALL = 0.5
"""Of the size's calls: how many runs are in one round."""
MOST_ROUNDS = 5
CROWD_PER_ROW = 0.1
"""Of the size's rows: how many automations are due in the same second."""


def measured(mode: str, count: int) -> dict[str, Any]:
    """What a fresh process says, on a fresh SQLite database."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.automations_process", mode, folder, "", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def _rate(mode: str, count: int) -> float:
    return float(measured(mode, count)["per_second"])


def _beside(other: str, size: Size) -> float:
    count = max(1, int(size.calls * RUNS_PER_CALL))
    rounds = min(size.rounds, MOST_ROUNDS)
    return interleaved(rounds, partial(_rate, "runner", count), partial(_rate, other, count))


def run_dbos(size: Size) -> float:
    """Runs of ours a second, in runs of bare DBOS a second; both on SQLite in WAL mode."""
    return _beside("dbos", size)


def run_scheduler(size: Size) -> float:
    """Runs of ours a second, in jobs of bare APScheduler a second, which keeps nothing."""
    return _beside("scheduler", size)


def run_lateness(size: Size) -> float:
    """Milliseconds from a tick to the begin of the run that is later than 99 of 100; fails where one is lost."""
    count = max(2, int(size.rows * CROWD_PER_ROW))
    begun: list[float] = measured("runner", count)["begun"]
    assert len(begun) == count
    return 1000 * statistics.quantiles(begun, n=100, method="inclusive")[98]


def run_last(size: Size) -> float:
    """The same to the end of the run."""
    count = max(2, int(size.rows * CROWD_PER_ROW))
    ended: list[float] = measured("runner", count)["ended"]
    return 1000 * statistics.quantiles(ended, n=100, method="inclusive")[98]


AUTOMATION_RUNS = Benchmark(
    "automation runs", run_dbos, "at least", 0.7, "x", "runs of three steps a second / bare DBOS, SQLite"
)
AUTOMATION_SCHEDULER = Benchmark(
    "automation runs, kept", run_scheduler, "at least", 0, "x", "the same / bare APScheduler, which keeps nothing"
)
AUTOMATION_LATENESS = Benchmark(
    "automation lateness", run_lateness, "at most", 10_000, "ms", "p99, tick to begin, 1,000 due at once, none lost"
)
AUTOMATION_CROWD = Benchmark(
    "automation crowd", run_last, "at most", 20_000, "ms", "p99, tick to end, 1,000 due at once, none lost"
)
