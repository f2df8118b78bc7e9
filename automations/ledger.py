"""The ledger of ticks: each that was due, and what became of it.

automation_schedules   up to which moment an automation's ticks are in the ledger, and for which trigger
automation_ticks       one line a tick: due → started, or skipped with the reason

A tick is in the ledger before its run is asked for, so that a process that dies in between leaves it due, and the next
start asks for it again; the run's id makes that harmless.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, MetaData, String, Table, Text, select, update
from sqlalchemy.dialects import postgresql, sqlite

from automations.triggers import utc_text
from storage import Database

metadata = MetaData()

schedules = Table(
    "automation_schedules",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("trigger", Text, nullable=False),
    Column("considered", String(20), nullable=False),
)

ticks = Table(
    "automation_ticks",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("tick", String(20), primary_key=True),
    Column("zone", String(60), nullable=False),
    Column("state", String(10), nullable=False, index=True),
    Column("reason", Text, nullable=False),
    Column("recorded_at", String(20), nullable=False),
)


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A tick (UTC, `2026-11-21T02:00:00Z`) and what became of it: `due`, `started` or `skipped`."""

    automation: str
    tick: str
    zone: str
    state: str
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        return {"automation": self.automation, "tick": self.tick, "state": self.state, "reason": self.reason}


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Adds rows, leaving those that are there: another runner may have been quicker."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(table).on_conflict_do_nothing(), list(rows))


class Ledger:
    """Reads and writes the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def considered(self, automation: str, trigger: Any, now: datetime) -> datetime:
        """The moment up to which ticks are in the ledger. A new or changed trigger begins now: it missed nothing."""
        text = json.dumps(trigger, sort_keys=True)
        start = {"automation": automation, "trigger": text, "considered": utc_text(now)}

        def job(connection: Connection) -> str:
            _insert(connection, schedules, [start])
            row = connection.execute(select(schedules).where(schedules.c.automation == automation)).one()
            if row.trigger == text:
                return str(row.considered)
            connection.execute(update(schedules).where(schedules.c.automation == automation).values(start))
            return start["considered"]

        return datetime.fromisoformat(await self._database.write(job))

    async def record(self, lines: Sequence[LedgerLine], now: datetime) -> None:
        """Enters ticks, and that their automations' ticks up to the newest of them are entered."""
        rows = [
            {
                "automation": line.automation,
                "tick": line.tick,
                "zone": line.zone,
                "state": line.state,
                "reason": line.reason,
                "recorded_at": utc_text(now),
            }
            for line in lines
        ]
        newest = {line.automation: line.tick for line in sorted(lines, key=lambda line: line.tick)}

        def job(connection: Connection) -> None:
            _insert(connection, ticks, rows)
            for automation, tick in newest.items():
                older = (schedules.c.automation == automation) & (schedules.c.considered < tick)
                connection.execute(update(schedules).where(older).values(considered=tick))

        if rows:
            await self._database.write(job)

    async def settle(self, lines: Sequence[LedgerLine], state: str, reason: str = "") -> None:
        """Says of due ticks what became of them."""

        def job(connection: Connection) -> None:
            for line in lines:
                there = (ticks.c.automation == line.automation) & (ticks.c.tick == line.tick) & (ticks.c.state == "due")
                connection.execute(update(ticks).where(there).values(state=state, reason=reason))

        if lines:
            await self._database.write(job)

    def due(self) -> list[LedgerLine]:
        """Ticks whose runs have not been asked for."""
        return self._lines(select(ticks).where(ticks.c.state == "due").order_by(ticks.c.tick))

    def newest(self, automation: str | None, limit: int) -> list[LedgerLine]:
        """The newest lines first."""
        query = select(ticks).order_by(ticks.c.tick.desc()).limit(limit)
        return self._lines(query if automation is None else query.where(ticks.c.automation == automation))

    def _lines(self, query: Any) -> list[LedgerLine]:
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [LedgerLine(row.automation, row.tick, row.zone, row.state, row.reason) for row in rows]
