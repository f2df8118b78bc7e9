"""A call of the client against the same call by hand: httpx.Client and a pydantic model, one after the other."""

from time import perf_counter
from typing import Literal

import httpx
from pydantic import BaseModel

from benchmarks.loopback import loopback
from benchmarks.measure import Benchmark, Size, interleaved
from workspace_api import Workspace
from workspace_api.contract.finplan import Request

PATH = "/finplan/api/request/list"


class _Envelope(BaseModel):
    status: Literal["success"]
    data: list[Request]


def _run(size: Size) -> float:
    with loopback() as url, Workspace(url, "bench") as api, httpx.Client() as bare:

        def ours() -> float:
            started = perf_counter()
            for _ in range(size.calls):
                api.finplan.request.list(finplans=["2026-11-01"])
            return perf_counter() - started

        def by_hand() -> float:
            started = perf_counter()
            for _ in range(size.calls):
                response = bare.post(url + PATH, json={"finplans": ["2026-11-01"]}, headers={"Api-key": "bench"})
                _Envelope.model_validate_json(response.raise_for_status().content)
            return perf_counter() - started

        by_hand()
        ours()
        return interleaved(size.rounds, ours, by_hand)


CALL_OVERHEAD = Benchmark(
    "client call",
    _run,
    "at most",
    1.10,
    "x",
    "time of finplan.request.list (5 requests) / the same by httpx.Client and pydantic",
)
