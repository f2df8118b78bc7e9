"""What a client tells its observer: each call's end, and where the workspace differs from its documents.

An observer is a plain function; it must not raise. No event holds a key, a body or a value of a record.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from workspace_api.contract.endpoint import Effect


@dataclass(frozen=True, slots=True)
class CallEnded:
    """One call, all tries included. `outcome` is Done, Refused, NotSent or Unknown."""

    operation: str
    effect: Effect
    outcome: str
    http_status: int | None
    seconds: float
    tries: int


@dataclass(frozen=True, slots=True)
class Drift:
    """An answer that differs from the documents, and was read all the same."""

    operation: str
    record: str
    field: str
    kind: Literal["unknown field", "unknown value", "wrong type", "map for array", "one for many", "many for one"]


Event = CallEnded | Drift
Observer = Callable[[Event], None]
