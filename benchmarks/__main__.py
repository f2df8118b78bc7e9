"""`python -m benchmarks [--json] [--check] [NAME...]`: runs the benchmarks and prints one table."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from benchmarks.async_calls import ASYNC_CALLS
from benchmarks.automations_runs import (
    AUTOMATION_CROWD,
    AUTOMATION_LATENESS,
    AUTOMATION_RUNS,
    AUTOMATION_SCHEDULER,
)
from benchmarks.bot_reply import BOT_CROWD, BOT_MEMORY, BOT_REPLY
from benchmarks.call_overhead import CALL_OVERHEAD
from benchmarks.import_time import IMPORT_TIME
from benchmarks.load_automations import LOAD_MEMORY, LOAD_TIME
from benchmarks.measure import FULL, Benchmark, Size
from benchmarks.parsing import PARSING

BENCHMARKS = (
    CALL_OVERHEAD, PARSING, IMPORT_TIME, ASYNC_CALLS, BOT_REPLY, BOT_CROWD, BOT_MEMORY, AUTOMATION_RUNS,
    AUTOMATION_SCHEDULER, AUTOMATION_LATENESS, AUTOMATION_CROWD, LOAD_TIME, LOAD_MEMORY,
)  # fmt: skip


def table(measured: Sequence[tuple[Benchmark, float]]) -> Iterator[str]:
    """The lines of the table."""
    yield f"{'benchmark':<26}{'measured':>10}  {'goal':<16}{'met':<5}how"
    for benchmark, value in measured:
        goal = f"{benchmark.bound} {benchmark.goal:g} {benchmark.unit}"
        met = "yes" if benchmark.is_met(value) else "NO"
        yield f"{benchmark.name:<26}{_shown(value, benchmark.unit):>10}  {goal:<16}{met:<5}{benchmark.how}"


def _shown(value: float, unit: str) -> str:
    return f"{value:.2f} x" if unit == "x" else f"{value:.0f} {unit}"


def rows(measured: Sequence[tuple[Benchmark, float]]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "name": benchmark.name,
            "value": value,
            "unit": benchmark.unit,
            "bound": benchmark.bound,
            "goal": benchmark.goal,
            "met": benchmark.is_met(value),
            "how": benchmark.how,
        }
        for benchmark, value in measured
    ]


def main(arguments: Sequence[str] | None = None, size: Size = FULL) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures the client, the bot and automations, side by side."
    )
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a goal is missed")
    parser.add_argument("names", nargs="*", help="run those alone whose name holds one of these words")
    words = parser.parse_args(arguments)
    wanted = [b for b in BENCHMARKS if not words.names or any(word in b.name for word in words.names)]
    if not wanted:
        parser.error(f"no benchmark of that name; there are: {', '.join(b.name for b in BENCHMARKS)}")
    measured = [(benchmark, benchmark.run(size)) for benchmark in wanted]
    if words.json:
        print(json.dumps(rows(measured), indent=2))
    else:
        print(*table(measured), sep="\n")
    missed = [benchmark for benchmark, value in measured if not benchmark.is_met(value)]
    return 1 if words.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
