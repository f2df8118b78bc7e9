"""What became of a call, as values: Done, Refused, NotSent, Unknown; and Raw, the answer as it came.

```
call ──► NotSent   nothing left this machine: may be tried again
     ├─► Done      200, whole JSON, status "success", data of the right type
     ├─► Refused   an error envelope: the workspace said no
     └─► Unknown   everything else: it may or may not have happened
```
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """The workspace confirmed the call; `data` is its payload."""

    data: T_co


@dataclass(frozen=True, slots=True)
class Refused:
    """The workspace said no: `code` (such as `permission_denied`), `message` (a sentence), `http_status`."""

    code: str
    message: str
    http_status: int
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class NotSent:
    """The call never left: connect error, connect timeout, pool timeout, or the client refused to send it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The call may have taken effect: lost answer, timeout, 3xx, 5xx, HTML, bad JSON, cancelled."""

    reason: str
    http_status: int | None = None


Outcome = Done[T] | Refused | NotSent | Unknown


@dataclass(frozen=True, slots=True)
class Raw(Generic[T_co]):
    """One answer as it came: status, headers (names in lower case), body, seconds, tries, and the checked `data`."""

    http_status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    tries: int
    data: T_co

    def __repr__(self) -> str:
        return f"<Raw {self.http_status}, {len(self.body)} bytes, {self.seconds:.3f} s, {self.tries} tries>"

    def json(self) -> Any:
        """The whole envelope, undocumented members included."""
        from pydantic_core import from_json

        return from_json(self.body)
