"""Reading a large answer into records against json.loads, which only makes dictionaries of it."""

import json
from datetime import UTC
from time import perf_counter

from benchmarks.measure import Benchmark, Size, interleaved
from benchmarks.sample import answer_body
from workspace_api import find
from workspace_api.client import Answer
from workspace_api.client.reading import read_answer


def _run(size: Size) -> float:
    operation = find("finplan.request.list")
    answer = Answer(200, {"content-type": "application/json"}, answer_body(size.rows))

    def ours() -> float:
        started = perf_counter()
        outcome = read_answer(operation, answer, UTC, None)
        taken = perf_counter() - started
        # What was read is given back outside of the time, on both sides.
        del outcome
        return taken

    def plain() -> float:
        started = perf_counter()
        value = json.loads(answer.body)
        taken = perf_counter() - started
        del value
        return taken

    plain()
    ours()
    return interleaved(size.rounds, ours, plain)


PARSING = Benchmark(
    "parsing 10,000 requests",
    _run,
    "at most",
    1.4,
    "x",
    "time from the answer's bytes to records with aware dates / json.loads alone",
)
