"""The port of the durable engine: what runs ask of it, and what they look like in it.

submit(ticket) ─► the engine runs interpret(ticket, journal), here or in another process, once per run id
journal.record(name, work) ─► work's value, recorded; where it is recorded already, that value, and work is not run
go_on(run_id, record) ─► the run is interpreted anew with the records before that one: after a failure, or when what a
                         parked run waited for has come

A run that was under way when its process died is interpreted anew, by this process's next start or by another one.
A run that waits for a person or a time is parked: it returns, holds nothing, and is gone on with later.
engine_dbos.py is the engine in use; a test may hand in its own.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Ticket:
    """All that a run needs, as it stood when it was due: an edited file does not touch a run in flight."""

    run_id: str
    automation: str
    data: dict[str, Any]
    """The definition as data."""
    folder: str
    tick: str
    """UTC, `2026-11-21T02:00:00Z`; of a run by hand, the time of its start."""
    zone: str
    cause: str = "tick"
    """One of Cause."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the cause brings: `event` (a map), `vars` (values in place of the file's), `by` (who asked for it),
    `parent` (the run that waits for it), `undoes` (the run whose steps are undone)."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Journal(Protocol):
    """The record of one run."""

    incarnation: str
    """Tells this execution of the run from earlier ones."""

    async def record(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """Runs `work` unless it has been recorded, in the order of the calls. Its value is JSON."""
        ...


Interpret = Callable[[Ticket, Journal], Awaitable[dict[str, Any]]]
"""Interprets a run from its start; its value is the run's result."""


class Cause(StrEnum):
    """Why a run was asked for."""

    TICK = "tick"
    EVENT = "event"
    MANUAL = "manual"
    CHAT = "chat"
    BACKFILL = "backfill"
    RUN = "run"
    """Another automation's `run` step."""
    UNDO = "undo"


class RunState(StrEnum):
    WAITING = "waiting"
    """Not begun yet."""
    RUNNING = "running"
    PARKED = "parked"
    """Waits for an answer, a time or another run, and holds nothing meanwhile."""
    DONE = "done"
    FAILED = "failed"
    """A step failed, or the engine gave up; `resume` goes on with that step."""
    STOPPED = "stopped"
    """A step may or may not have happened: a person looks and decides."""
    CANCELLED = "cancelled"
    """Ended by a person, or by a newer run of an automation whose overlap is `restart`."""


ENDED = frozenset({RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.CANCELLED})


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One record of a run, in the order of `number`."""

    number: int
    name: str
    output: dict[str, Any]
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as the engine knows it. `result` is what its interpretation gave."""

    ticket: Ticket
    state: RunState
    result: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
    executor: str | None


class RunHistory(Protocol):
    """Reads runs, from any process, without running any."""

    def runs(self, automation: str | None, limit: int) -> Sequence[RecordedRun]:
        """The newest runs, newest first."""
        ...

    def run(self, run_id: str) -> RecordedRun | None: ...

    def steps(self, run_id: str) -> Sequence[RecordedStep]: ...

    def under_way(self) -> Sequence[RecordedRun]:
        """The runs that some process has begun and not finished."""
        ...

    def close(self) -> None: ...


AFTER_ALL = 2**31 - 1
"""The record after all records of a run."""


class Engine(Protocol):
    """Runs durably. Raises EngineUnavailable where its database cannot be used."""

    @property
    def history(self) -> RunHistory: ...

    async def start(self, interpret: Interpret) -> None: ...

    async def submit(self, ticket: Ticket) -> None:
        """Queues a run for any runner; a second one of the same id is none."""
        ...

    async def begin(self, ticket: Ticket) -> None:
        """Starts a run in this process."""
        ...

    async def finished(self, run_id: str) -> RecordedRun:
        """Waits until a run is finished, wherever it runs."""
        ...

    async def go_on(self, run_id: str, from_step: int | None) -> None:
        """Takes a run up again: from a record on, which is forgotten with those after it; from AFTER_ALL, which forgets
        none; or, without one, where its process left it. Does nothing where another process was quicker."""
        ...

    async def take_over(self, run_ids: Collection[str], executor: str) -> None:
        """Queues the runs of a process that is dead for any runner; those alone that are still its own."""
        ...

    def leave(self) -> None:
        """Ends at once what runs here, and records nothing: another process may have begun it."""
        ...

    async def forget(self, run_ids: Collection[str]) -> None:
        """Removes runs that have ended, with their records."""
        ...

    async def stop(self, grace_seconds: float) -> None:
        """Lets runs finish for a while, then leaves them to the next start."""
        ...
