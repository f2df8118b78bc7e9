"""Backfill: the ticks of a past time that were never run, one after another, each with the definition of its day.

`due` lists them; a tick that was run is left alone, whatever came of it. Ticks are those of the trigger that was in
force then; before the first version that is known, the first one counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from sqlalchemy import Connection, select, update

from automations.definition import Automation, definition_of
from automations.engine import Cause
from automations.ledger import LedgerLine, RunLine, enter, enter_runs, new_run
from automations.tables import runs, ticks
from automations.triggers import ticks as ticks_of
from automations.triggers import utc_text
from automations.versions import Versions
from storage import Database

MOST = 10_000
"""Ticks of one backfill."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A tick of a backfill, the version that is to run, and what is known of it: `never run`, or its run's state."""

    line: LedgerLine
    digest: str
    known: str

    @property
    def to_run(self) -> bool:
        return self.known == NEVER

    def to_json(self) -> dict[str, Any]:
        return {"tick": self.line.tick, "run_id": self.line.run_id, "known": self.known, "to_run": self.to_run}


NEVER = "never run"


def due(
    database: Database, automation: Automation, start: datetime, end: datetime, zone: str, *, current: bool
) -> list[Missing]:
    """The ticks from `start` up to and including `end`, in order. `current`: by the definition as it is now."""
    versions = [] if current else Versions(database).all_of(automation.name)
    spans: list[tuple[datetime, datetime, str, Mapping[str, Any]]] = []
    if not versions:
        spans.append((start, end, automation.digest, automation.data))
    for index, version in enumerate(versions):
        begin = start if index == 0 else max(start, datetime.fromisoformat(version.since))
        until = datetime.fromisoformat(versions[index + 1].since) if index + 1 < len(versions) else end
        if begin <= min(until, end):
            # A version is in force up to the second before the next one.
            last = index + 1 == len(versions)
            spans.append((begin, end if last else min(end, until - timedelta(seconds=1)), version.digest, version.data))
    lines: list[tuple[LedgerLine, str]] = []
    for begin, until, digest, data in spans:
        triggers = definition_of(dict(data)).trigger
        found = takewhile(lambda tick: tick.at <= until, ticks_of(triggers, begin - timedelta(seconds=1), zone))  # noqa: B023 - consumed at once
        for tick in found:
            lines.append((LedgerLine(automation.name, tick.name, tick.zone, "due", "backfilled"), digest))
            if len(lines) > MOST:
                raise ValueError(f"those are more than {MOST:,} ticks: choose a shorter time")
    known = _states(database, automation.name, start, end)
    return [Missing(line, digest, known.get(line.run_id, NEVER)) for line, digest in lines]


def _states(database: Database, name: str, start: datetime, end: datetime) -> dict[str, str]:
    query = select(runs.c.run_id, runs.c.state).where(
        runs.c.automation == name, runs.c.tick >= utc_text(start), runs.c.tick <= utc_text(end)
    )
    with database.read() as connection:
        return {row.run_id: row.state for row in connection.execute(query)}


async def enter_backfill(database: Database, missing: Missing, by: str, now: datetime) -> RunLine:
    """Enters the tick, whatever the ledger said of it, and its run, claimed by this process."""
    line = missing.line
    filled = LedgerLine(line.automation, line.tick, line.zone, "due", "", line.tick, Cause.BACKFILL, {"by": by})
    run = new_run(filled, missing.digest, now)

    def job(connection: Connection) -> None:
        enter(connection, [LedgerLine(line.automation, line.tick, line.zone, "late", line.reason)], now)
        own = (ticks.c.automation == line.automation, ticks.c.occasion == line.tick)
        connection.execute(update(ticks).where(*own).values(state="late", reason=line.reason))
        enter_runs(connection, [run], utc_text(now))

    await database.write(job)
    return run
