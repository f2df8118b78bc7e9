"""Faults to order: the next calls of a bot that go wrong, and how.

`before` the effect the call does nothing; `after` it the effect stays and only the answer is lost or wrong.
How updates are delivered (twice, out of order, late, old) is `world.Delivery`, set through the same switches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal["429", "500", "502", "html", "close"]
When = Literal["before", "after"]


@dataclass(kw_only=True, slots=True)
class Fault:
    """The next `times` calls (of `method`, or of any but getUpdates) are answered this way. `retry_after`: seconds."""

    kind: FaultKind
    when: When = "before"
    method: str | None = None
    times: int = 1
    retry_after: int = 1


@dataclass(slots=True)
class Faults:
    """The ordered faults, first ordered first served."""

    ordered: list[Fault] = field(default_factory=list[Fault])

    def add(self, fault: Fault) -> None:
        self.ordered.append(fault)

    def clear(self) -> None:
        self.ordered.clear()

    def take(self, method: str) -> Fault | None:
        """The fault for this call, used up by one; without a name a fault leaves getUpdates alone."""
        for fault in self.ordered:
            named = fault.method.lower() if fault.method else None
            if named == method.lower() or (named is None and method.lower() != "getupdates"):
                fault.times -= 1
                if fault.times <= 0:
                    self.ordered.remove(fault)
                return fault
        return None
