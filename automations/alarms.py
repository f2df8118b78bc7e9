"""What did not happen, and nobody would have noticed: gaps, runs that do not begin, deadlines, unanswered questions.

```
on_gap(lines)  ticks missed while no runner ran ─► gathered a moment ─► one notice: from, to, how many, what came of it
look(…)        now and then, in any process ─┬─► a run has ended badly, or well again (incidents.py)
                                             ├─► a run waits and does not begin
                                             ├─► `deadline: "07:00"` has passed, and no run of that day is done
                                             ├─► a question is half way to its deadline
                                             ├─► an incident lasts for another day (incidents.py)
                                             └─► what is to be told is delivered (notices.py)
```
Each is told once, however many processes look, and whichever of them dies.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, and_, exists, or_, select

from automations.definition import Automation
from automations.incidents import (
    Incident,
    Incidents,
    close_incident,
    enter_incident,
    keep_details,
    open_incident,
)
from automations.ledger import ACTIVE, LATE, LedgerLine
from automations.notices import CHAT, Notice
from automations.tables import incidents, questions, runs, ticks
from automations.triggers import utc_text
from storage import Database

GAP, WAITING, DEADLINE = "gap", "waiting", "deadline"

GATHERED = timedelta(seconds=20)
"""How long a gap waits for further lines before it is told: automations are caught up with one after another."""
PATIENCE = timedelta(minutes=5)
"""How long a run may wait for its beginning."""
LOOKED_BACK = timedelta(days=2)
"""How old a deadline is told of at the most, by a runner that was away."""
UNANSWERED = timedelta(days=1)
"""When people are reminded of a question that has no deadline."""
MOST_NAMES = 100
FEW = 500
"""Automations that a query names one by one."""


@dataclass(frozen=True, slots=True)
class _Promise:
    """A day of an automation with a deadline: due by `by`, with ticks between `since` and then."""

    automation: str
    day: str
    by: datetime
    since: datetime
    until: datetime

    @property
    def cause(self) -> str:
        return f"{DEADLINE}:{self.automation}:{self.day}"


class Alarms:
    """All that is told to ops. The face for whoever runs automations: `on_ended`, `on_gap`, `look`."""

    def __init__(self, database: Database, incidents: Incidents) -> None:
        self._database = database
        self._incidents = incidents
        self._notices = incidents.notices
        self._words = incidents.words

    async def on_ended(self, now: datetime) -> None:
        """A run has ended in this process: tells of it at once where it ended badly."""
        if await self._incidents.catch_up(now):
            await self._notices.deliver()

    async def on_gap(self, lines: Sequence[LedgerLine], now: datetime, since: datetime | None = None) -> None:
        """The same as `gap`, in a transaction of its own."""
        await self._database.write(lambda connection: self.gap(connection, lines, now, since))

    async def look(self, automations: Mapping[str, Automation], now: datetime) -> None:
        """Looks at everything that nothing tells of by itself, then delivers. Call it after what is due was begun,
        every half minute or so; `automations`: all in force."""
        await self._incidents.catch_up(now)
        promises = self._promises(automations, now)

        def job(connection: Connection) -> None:
            self._tell_gap(connection, now)
            self._look_at_waiting(connection, now)
            self._look_at_deadlines(connection, promises, now)
            self._look_at_questions(connection, now)
            self._incidents.remind(connection, automations, now)

        await self._database.write(job)
        await self._notices.deliver()
        await self._notices.forget()

    # Gaps

    def gap(
        self, connection: Connection, lines: Sequence[LedgerLine], now: datetime, since: datetime | None = None
    ) -> None:
        """Takes note of ticks that came while no runner ran, with what became of each: `skipped`, `lost`, or run
        late. Call it in the transaction that settles them. `since`: when the last runner was last alive."""
        # What is due only just now runs as it would have.
        lines = [line for line in lines if line.state != "due" or now - _moment(line.tick) > LATE]
        if not lines:
            return
        first = min(line.tick for line in lines)
        told = [first, *([utc_text(since)] if since else [])]
        counts = Counter(line.state if line.state in {"skipped", "lost"} else "late" for line in lines)
        names = list(dict.fromkeys(line.automation for line in lines))
        incident, _ = enter_incident(connection, GAP, now)
        known = incident.details
        earlier: Counter[str] = Counter(known.get("counts"))
        keep_details(
            connection,
            incident,
            {
                "since": min([*told, *([known["since"]] if known else [])]),
                "until": known.get("until", utc_text(now)),
                "counts": dict(counts + earlier),
                "automations": list(dict.fromkeys([*known.get("automations", []), *names]))[:MOST_NAMES],
            },
        )

    def _tell_gap(self, connection: Connection, now: datetime) -> None:
        incident = open_incident(connection, GAP)
        if incident is None or now - datetime.fromisoformat(incident.last_at) < GATHERED:
            return
        close_incident(connection, incident, now)
        say, known = self._words.say, incident.details
        since, until = (datetime.fromisoformat(known[name]) for name in ("since", "until"))
        counts: dict[str, int] = known["counts"]
        parts = [say(f"gap_{state}", count=counts[state]) for state in ("late", "skipped", "lost") if counts.get(state)]
        lines = [
            say("gap_text", missed=sum(counts.values()), parts=", ".join(parts)),
            say("gap_names", names=self._words.listed(known["automations"])),
        ]
        if counts.get("skipped") or counts.get("lost"):
            lines.append(say("gap_backfill"))
        first, last = self._words.span(since, until)
        self._tell(connection, incident, "gap", say("gap", since=first, until=last), lines, now, known)

    # Runs that do not begin

    def _look_at_waiting(self, connection: Connection, now: datetime) -> None:
        old = utc_text(now - PATIENCE)
        # A tick that waits for the run before it is where it belongs.
        busy = exists().where(runs.c.automation == ticks.c.automation, runs.c.state.in_(ACTIVE))
        due = select(ticks.c.automation, ticks.c.recorded_at).where(
            ticks.c.state == "due", ticks.c.recorded_at < old, ~busy
        )
        asked = select(runs.c.automation, runs.c.asked_at).where(
            runs.c.state.in_(("asked", "waiting")), runs.c.begun_at.is_(None), runs.c.asked_at < old
        )
        waiting: dict[str, str] = {}
        for query in (due, asked):
            for automation, moment in connection.execute(query):
                waiting[automation] = min(moment, waiting.get(automation, moment))
        incident = open_incident(connection, WAITING)
        say = self._words.say
        if waiting and incident is None:
            incident, _ = enter_incident(
                connection, WAITING, now, details={"automations": sorted(waiting)[:MOST_NAMES]}
            )
            names = [f"{name} ({self._words.moment(_moment(moment))})" for name, moment in sorted(waiting.items())]
            text = say("stuck_text", length=self._words.length(PATIENCE), names=self._words.listed(names))
            self._tell(connection, incident, "waiting", say("stuck"), [text], now, incident.details)
        elif incident is not None and not waiting and close_incident(connection, incident, now):
            text = say("lasted", length=self._words.length(now - incident.opened + PATIENCE))
            self._tell(connection, incident, "recovered", say("unstuck"), [text], now, incident.details)

    # Deadlines

    def _promises(self, automations: Mapping[str, Automation], now: datetime) -> list[_Promise]:
        """The days on which an automation with a deadline was due before it, and the deadline has passed."""
        deadlines = {name: one.definition.deadline for name, one in automations.items() if one.definition.deadline}
        if not deadlines:
            return []
        lately = (ticks.c.tick >= utc_text(now - LOOKED_BACK), ticks.c.tick <= utc_text(now), ticks.c.cause == "tick")
        query = select(ticks.c.automation, ticks.c.tick, ticks.c.zone).where(*lately)
        if len(deadlines) <= FEW:
            query = query.where(ticks.c.automation.in_(list(deadlines)))
        found: dict[str, _Promise] = {}
        with self._database.read() as connection:
            for row in connection.execute(query):
                deadline = deadlines.get(row.automation)
                if deadline is None:
                    continue
                tick = _moment(row.tick)
                zone = ZoneInfo(row.zone)
                day = tick.astimezone(zone).date()
                by = datetime.combine(day, time.fromisoformat(deadline), zone)
                # Of two ticks of a day the first decides; tomorrow's begin after the day.
                midnight, next_midnight = (datetime.combine(day + timedelta(days=n), time(), zone) for n in (0, 1))
                promise = _Promise(row.automation, day.isoformat(), by, midnight, next_midnight)
                if tick <= by <= now:
                    found.setdefault(promise.cause, promise)
        return list(found.values())

    def _look_at_deadlines(self, connection: Connection, promises: Sequence[_Promise], now: datetime) -> None:
        raised = select(incidents.c.cause).where(incidents.c.cause.like(f"{DEADLINE}:%"))
        lately = incidents.c.opened_at >= utc_text(now - 2 * LOOKED_BACK)
        known = {row.cause for row in connection.execute(raised.where(or_(lately, incidents.c.closed_at.is_(None))))}
        for promise in promises:
            if promise.cause not in known and not self._kept(connection, promise):
                self._raise(connection, promise, now)
        still = and_(incidents.c.cause.like(f"{DEADLINE}:%"), incidents.c.closed_at.is_(None))
        for row in connection.execute(select(incidents.c.cause).where(still)).all():
            incident = open_incident(connection, row.cause)
            if incident is not None:
                self._look_again(connection, incident, now)

    def _kept(self, connection: Connection, promise: _Promise) -> bool:
        return self._run_of_day(connection, promise.automation, promise.since, promise.until, "done") is not None

    def _run_of_day(
        self, connection: Connection, automation: str, since: datetime, until: datetime, state: str | None = None
    ) -> Any:
        """The newest run whose tick lies in a day."""
        day = (runs.c.tick >= utc_text(since), runs.c.tick < utc_text(until))
        query = select(runs).where(runs.c.automation == automation, *day, runs.c.cause != "undo")
        if state is not None:
            query = query.where(runs.c.state == state)
        return connection.execute(query.order_by(runs.c.asked_at.desc()).limit(1)).first()

    def _raise(self, connection: Connection, promise: _Promise, now: datetime) -> None:
        say = self._words.say
        run = self._run_of_day(connection, promise.automation, promise.since, promise.until)
        time_of_day = f"{promise.by:%H:%M}"
        if run is None:
            left_out = (ticks.c.automation == promise.automation, ticks.c.state.in_(("skipped", "lost")))
            day = (ticks.c.tick >= utc_text(promise.since), ticks.c.tick <= utc_text(promise.by))
            row = connection.execute(select(ticks.c.reason).where(*left_out, *day).limit(1)).first()
            why = say("deadline_skipped", reason=row.reason) if row else say("deadline_none")
        elif run.state == "parked":
            why = say("deadline_parked")
        elif run.state in ACTIVE:
            why = say("deadline_under_way")
        else:
            why = say("deadline_failed", message=run.message or run.state)
        details = {
            "time": time_of_day,
            "by": utc_text(promise.by),
            "since": utc_text(promise.since),
            "until": utc_text(promise.until),
        }
        run_id = run.run_id if run is not None else None
        values = {"automation": promise.automation, "run_id": run_id, "message": why, "details": details}
        incident, _ = enter_incident(connection, promise.cause, now, **values)
        subject = say("deadline", automation=promise.automation, time=time_of_day)
        lines = [why, *([say("run", run=run_id)] if run_id else [])]
        self._tell(connection, incident, "deadline", subject, lines, now, details)

    def _look_again(self, connection: Connection, incident: Incident, now: datetime) -> None:
        """Closes an alarm whose run has come; silently where its day is long gone."""
        known, say = incident.details, self._words.say
        since, until, by = (_moment(known[name]) for name in ("since", "until", "by"))
        run = self._run_of_day(connection, incident.automation, since, until, "done")
        if run is not None and close_incident(connection, incident, now):
            late = _moment(run.ended_at) - by if run.ended_at else now - by
            subject = say("deadline_met", automation=incident.automation, time=known["time"])
            text = say("late_by", length=self._words.length(late))
            self._tell(connection, incident, "recovered", subject, [text, say("run", run=run.run_id)], now, known)
        elif run is None and now - until > LOOKED_BACK:
            close_incident(connection, incident, now)

    # Questions

    def _look_at_questions(self, connection: Connection, now: datetime) -> None:
        for row in connection.execute(select(questions).where(questions.c.state == "open")).all():
            asked = _moment(row.asked_at)
            deadline = _moment(row.deadline) if row.deadline else None
            remind_at = asked + ((deadline - asked) / 2 if deadline else UNANSWERED)
            if now < remind_at or (deadline is not None and now >= deadline):
                continue
            say = self._words.say
            lines = [say("reminder_options", options=", ".join(json.loads(row.options)))]
            if deadline is not None:
                name = "reminder_until" if row.default is None else "reminder_default"
                lines.append(say(name, moment=self._words.moment(deadline), default=row.default))
            notice = Notice(
                f"question:{row.key}"[:300],
                "reminder",
                say("reminder", text=row.text),
                "\n".join(lines),
                {"automation": row.automation, "run": row.run_id},
                recipient=row.asked_of,
                ways={CHAT},
            )
            self._notices.enter(connection, notice, now)

    def _tell(
        self,
        connection: Connection,
        incident: Incident,
        what: str,
        subject: str,
        lines: Sequence[str],
        now: datetime,
        details: Mapping[str, Any],
    ) -> None:
        data = {"cause": incident.cause, "automation": incident.automation, "run": incident.run_id, "details": details}
        self._notices.enter(connection, Notice(incident.key(what), what, subject, "\n".join(lines), data), now)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
