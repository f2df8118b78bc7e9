"""The lines of the ledger as values, and how they are entered: ticks and events, runs, orders."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, update
from sqlalchemy.dialects import postgresql, sqlite

from automations.engine import Cause
from automations.tables import runs


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A tick (UTC, `2026-11-21T02:00:00Z`) or an event, and what became of it: `due`, `started`, `late`, `skipped`,
    `lost`. `occasion` tells it from the automation's others; that of a tick is the tick."""

    automation: str
    tick: str
    zone: str
    state: str
    reason: str = ""
    occasion: str = ""
    cause: str = Cause.TICK
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def run_id(self) -> str:
        return f"{self.automation}:{self.occasion or self.tick}"

    def to_json(self) -> dict[str, Any]:
        return {"automation": self.automation, "tick": self.tick, "state": self.state, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Rule:
    """What dispatching needs to know of an automation: the version that is to run, and what may run at once."""

    digest: str
    overlap: str
    at_once: int


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as the ledger knows it; moments are texts in UTC."""

    run_id: str
    automation: str
    digest: str
    tick: str
    zone: str
    cause: str
    details: dict[str, Any]
    state: str
    step: str | None = None
    message: str | None = None
    wake_at: str | None = None
    wake_on: str | None = None
    wanted: str | None = None
    asked_at: str = ""
    begun_at: str | None = None
    ended_at: str | None = None


Asked = RunLine
"""A run that the engine is to be told of."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of a run, claimed by this process."""

    run: RunLine
    wanted: str


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What dispatching decided: runs to begin, runs to end (overlap `restart`), and ticks that wait for a run."""

    begin: tuple[RunLine, ...]
    cancel: tuple[str, ...]
    waiting: int


def exact_text(moment: datetime) -> str:
    """`2026-11-21T02:00:00.123Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def insert_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Adds rows, leaving those that are there: another runner may have been quicker."""
    if rows:
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), list(rows))


def line_of(row: Any) -> LedgerLine:
    details = json.loads(row.details)
    return LedgerLine(row.automation, row.tick, row.zone, row.state, row.reason, row.occasion, row.cause, details)


def run_of(row: Any) -> RunLine:
    values: dict[str, Any] = {name: getattr(row, name) for name in RunLine.__slots__}
    values["details"] = json.loads(row.details)
    return RunLine(**values)


def new_run(line: LedgerLine, digest: str, now: datetime) -> RunLine:
    """The run of a line, not asked for yet."""
    moment = exact_text(now)
    details = dict(line.details)
    return RunLine(
        line.run_id,
        line.automation,
        digest,
        line.tick,
        line.zone,
        line.cause,
        details,
        "asked",
        wanted="begin",
        asked_at=moment,
    )


def enter_runs(connection: Connection, lines: Sequence[RunLine], claimed_at: str | None) -> None:
    """Enters runs; one that is there stays as it is."""
    rows = [
        {
            **{name: getattr(line, name) for name in RunLine.__slots__},
            "details": json.dumps(line.details),
            "claimed_at": claimed_at,
        }
        for line in lines
    ]
    insert_new(connection, runs, rows)


def wake(connection: Connection, *conditions: Any) -> None:
    """Asks for parked runs to be gone on with."""
    parked = (runs.c.state == "parked", *conditions)
    values = {"state": "asked", "wanted": "wake", "wake_at": None, "wake_on": None, "claimed_at": None}
    connection.execute(update(runs).where(*parked).values(values))
