"""What the page reads from the tables: runs, missed ticks, gaps, questions, incidents. Each read has a limit."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy import and_, func, or_, select

from automations.definition import Definition, definition_of
from automations.engine import Cause, RecordedStep
from automations.ledger import ACTIVE, LATE, RunLine
from automations.questions import QuestionLine
from automations.records import Records
from automations.tables import incidents, runs, ticks
from automations.triggers import utc_text
from automations.versions import Versions

STRIP = 20
"""Runs of an automation that are shown as squares."""
LOOKED_BACK = timedelta(days=14)
"""How far back gaps are told."""
MOST_LINES = 3000
"""Lines of the ledger that are looked at for gaps."""
TOGETHER = timedelta(minutes=2)
"""Missed ticks that were entered within so much time belong to one gap: a runner that came back entered them."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An outage that people were told of and that is not over; moments are texts in UTC."""

    automation: str
    message: str
    run_id: str | None
    opened_at: str
    times: int


@dataclass(frozen=True, slots=True)
class Missed:
    """A tick that did not run at its time; `state` is `late`, `skipped` or `lost`."""

    automation: str
    tick: datetime
    state: str
    reason: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which no runner was alive: at the tick `since` none was, at `until` one had come (back)."""

    since: datetime
    until: datetime
    late: int
    skipped: int
    lost: int
    automations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How much there is of something, for the head of the page."""

    under_way: int
    parked: int
    failed: int
    """In the last day."""
    done: int
    """In the last day."""


def gaps_of(lines: Sequence[Missed]) -> list[Gap]:
    """The gaps that missed ticks tell of, the newest first. A tick that was entered in time belongs to none: it was
    skipped for another reason, or waited for a run before it."""
    missed = sorted((line for line in lines if line.recorded_at - line.tick > LATE), key=lambda line: line.recorded_at)
    groups: list[list[Missed]] = []
    for line in missed:
        if groups and line.recorded_at - groups[-1][0].recorded_at <= TOGETHER:
            groups[-1].append(line)
        else:
            groups.append([line])
    found: list[Gap] = []
    for group in groups:
        states = [line.state for line in group]
        names = tuple(dict.fromkeys(line.automation for line in sorted(group, key=lambda line: line.automation)))
        counts = (states.count("late"), states.count("skipped"), states.count("lost"))
        found.append(Gap(min(line.tick for line in group), group[0].recorded_at, *counts, names))
    return found[::-1]


class Past:
    """Reads; from any thread, at any time."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._database = records.database
        self._versions = Versions(records.database)

    # Runs

    def runs(
        self,
        automation: str | None,
        states: Collection[str] | None,
        limit: int,
        before: tuple[str, str] | None = None,
    ) -> list[RunLine]:
        """The newest runs first; `before`: older than the run of that moment and id."""
        query = select(runs).order_by(runs.c.asked_at.desc(), runs.c.run_id.desc()).limit(limit)
        if automation is not None:
            query = query.where(runs.c.automation == automation)
        if states is not None:
            query = query.where(runs.c.state.in_(list(states)))
        if before is not None:
            moment, run_id = before
            older = and_(runs.c.asked_at == moment, runs.c.run_id < run_id)
            query = query.where(or_(runs.c.asked_at < moment, older))
        return self._runs(query)

    def _runs(self, query: Any) -> list[RunLine]:
        with self._database.read() as connection:
            return [_run(row) for row in connection.execute(query)]

    def run(self, run_id: str) -> RunLine | None:
        return self._records.ledger.run(run_id)

    def steps(self, run_id: str) -> Sequence[RecordedStep]:
        """What the engine has recorded of a run."""
        return self._records.engine.steps(run_id)

    def definition(self, run: RunLine) -> Definition | None:
        """What the run does; None where that version is not kept, or cannot be read any more."""
        version = self._versions.of(run.automation, run.digest)
        try:
            return None if version is None else definition_of(version.data)
        except ValidationError:
            return None

    def undoing(self, run: RunLine) -> RunLine | None:
        """The run that undoes this one, where there is one."""
        own = (runs.c.automation == run.automation, runs.c.cause == Cause.UNDO, runs.c.tick == run.tick)
        found = self._runs(select(runs).where(*own).order_by(runs.c.asked_at.desc()).limit(20))
        return next((line for line in found if line.details.get("undoes") == run.run_id), None)

    def strips(self, automations: Sequence[str]) -> Mapping[str, list[RunLine]]:
        """The last runs of automations, the oldest first."""
        return {name: self._strip(name)[::-1] for name in automations}

    def _strip(self, name: str) -> list[RunLine]:
        own = select(runs).where(runs.c.automation == name)
        return self._runs(own.order_by(runs.c.tick.desc(), runs.c.asked_at.desc()).limit(STRIP))

    def count(self, now: datetime) -> Count:
        """The numbers at the head of the page."""
        day = utc_text(now - timedelta(days=1))
        with self._database.read() as connection:
            query = select(runs.c.state, func.count()).where(runs.c.state.in_(ACTIVE)).group_by(runs.c.state)
            active = {row[0]: row[1] for row in connection.execute(query)}
            lately = (runs.c.tick >= day, runs.c.ended_at >= day)
            query = select(runs.c.state, func.count()).where(*lately).group_by(runs.c.state)
            ended = {row[0]: row[1] for row in connection.execute(query)}
        parked = active.pop("parked", 0)
        failed = ended.get("failed", 0) + ended.get("stopped", 0)
        return Count(sum(active.values()), parked, failed, ended.get("done", 0))

    # What did not run

    def missed(self, automation: str | None, states: Collection[str], limit: int, before: str | None) -> list[Missed]:
        """Ticks that were skipped, lost or late, the newest first; `before`: of an earlier tick."""
        query = select(ticks).where(ticks.c.state.in_(list(states))).order_by(ticks.c.tick.desc()).limit(limit)
        if automation is not None:
            query = query.where(ticks.c.automation == automation)
        if before is not None:
            query = query.where(ticks.c.tick < before)
        with self._database.read() as connection:
            return [_missed(row) for row in connection.execute(query)]

    def gaps(self, now: datetime) -> list[Gap]:
        """When no runner was alive, in the last two weeks, the newest first."""
        lately = (ticks.c.tick >= utc_text(now - LOOKED_BACK), ticks.c.cause == Cause.TICK)
        query = select(ticks).where(*lately, ticks.c.state.in_(["late", "skipped", "lost", "due"]))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(ticks.c.tick.desc()).limit(MOST_LINES))
            return gaps_of([_missed(row) for row in rows])

    # What waits for people

    def questions(self) -> list[QuestionLine]:
        """The open ones, the oldest first."""
        return self._records.questions.open()

    def questions_of(self, run_id: str) -> list[QuestionLine]:
        return self._records.questions.of_run(run_id)

    def question(self, key: str) -> QuestionLine | None:
        return self._records.questions.one(key)

    def incidents(self, limit: int) -> list[Incident]:
        """The outages that are not over, the newest first."""
        query = select(incidents).where(incidents.c.closed_at.is_(None)).order_by(incidents.c.opened_at.desc())
        with self._database.read() as connection:
            rows = connection.execute(query.limit(limit))
            return [Incident(row.automation, row.message, row.run_id, row.opened_at, row.times) for row in rows]


def _run(row: Any) -> RunLine:
    names = RunLine.__slots__
    return RunLine(**{name: json.loads(row.details) if name == "details" else getattr(row, name) for name in names})


def _missed(row: Any) -> Missed:
    tick, recorded = datetime.fromisoformat(row.tick), datetime.fromisoformat(row.recorded_at)
    return Missed(row.automation, tick, row.state, row.reason, recorded)
