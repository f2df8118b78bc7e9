"""Outages: one incident each, told once when it opens, reminded of while it lasts, told once when it is over.

```
a run ends badly ─► its cause ─► no open incident of that cause? ─yes─► opened, told
                                                                 └no─► counted
a run ends well ──► open incidents that it ends? ─► closed, "works again after 3 failures, 2 h"
```
Causes: `failed:<automation>` until it runs well again · `stopped:<automation>`, a step that may or may not have
happened, told apart because somebody has to decide · `workspace`, which does not answer: one for all automations.
Others open their own: `gap`, `waiting`, `deadline:…` (alarms.py), `events:…` (events.py), `file:…` (reload.py).

Ends are read from the ledger: one that nobody has taken note of yet is looked at, in one transaction with its incident
and the notice, so that none is missed where a process dies, and none is counted twice. The database keeps two processes
from opening two incidents of one cause, or from closing one twice.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from automations.engine import Cause, RunState
from automations.notices import CHAT, MAIL, WEBHOOK, Notice, Notices
from automations.tables import incidents, runs
from automations.triggers import utc_text
from automations.words import Words

WORKSPACE = "workspace"
REMINDER = timedelta(days=1)
LOOKED_BACK = timedelta(days=7)
"""How old the end of a run may be that is taken note of: by a runner that was away."""
AT_ONCE = 2000
LONGEST_MESSAGE = 1500
MOST_NAMES = 100
"""Automations that an incident of many remembers by name."""

Link = Callable[[str], str | None]
"""The address of a run's page, where there is one."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended. `unreachable`: because the workspace did not answer. `said`: the automation's own `on_failure`
    has done its steps, so that chat has heard of it from there."""

    run_id: str
    automation: str
    cause: str
    state: str
    ended_at: str
    step: str | None = None
    message: str | None = None
    unreachable: bool = False
    said: bool = False


@dataclass(frozen=True, slots=True)
class Incident:
    """An outage; moments are texts in UTC, `closed_at` is None while it lasts."""

    id: int
    cause: str
    automation: str
    step: str | None
    message: str
    run_id: str | None
    opened_at: str
    last_at: str
    reminded_at: str | None
    times: int
    closed_at: str | None
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def opened(self) -> datetime:
        return datetime.fromisoformat(self.opened_at)

    def key(self, what: str) -> str:
        """The key of one of its notices; never that of another database's incident with the same number."""
        return f"incident:{self.cause}:{self.opened_at}:{self.id}:{what}"


def incident_of(row: Any) -> Incident:
    """An incident as it is kept."""
    names = Incident.__slots__
    return Incident(**{name: json.loads(row.details) if name == "details" else getattr(row, name) for name in names})


def end_of(row: Any) -> RunEnd:
    """How a run of the ledger ended."""
    remarks = (row.remark or "").split()
    return RunEnd(
        row.run_id,
        row.automation,
        row.cause,
        row.state,
        row.ended_at,
        row.step,
        row.message,
        unreachable="unreachable" in remarks,
        said="said" in remarks,
    )


def open_incident(connection: Connection, cause: str) -> Incident | None:
    """The open incident of a cause, held until the transaction ends."""
    query = select(incidents).where(incidents.c.cause == cause, incidents.c.closed_at.is_(None)).with_for_update()
    row = connection.execute(query).first()
    return None if row is None else incident_of(row)


def is_open(connection: Connection, cause: str) -> bool:
    """Whether there is an open incident of a cause; holds nothing."""
    query = select(incidents.c.id).where(incidents.c.cause == cause, incidents.c.closed_at.is_(None))
    return connection.execute(query).first() is not None


def _open_causes(connection: Connection) -> set[str]:
    query = select(incidents.c.cause).where(incidents.c.closed_at.is_(None))
    return {row.cause for row in connection.execute(query)}


def enter_incident(connection: Connection, cause: str, now: datetime, **values: Any) -> tuple[Incident, bool]:
    """Opens an incident, or counts one more failure in the open one; whether it was opened."""
    moment = utc_text(now)
    details: Mapping[str, Any] = values.pop("details", {})
    row: dict[str, Any] = {
        "cause": cause,
        "automation": "",
        "message": "",
        "opened_at": moment,
        "last_at": moment,
        "times": 1,
        **values,
        "details": json.dumps(dict(details), ensure_ascii=False),
    }
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    entry = dialect.insert(incidents).values(row).on_conflict_do_nothing().returning(incidents.c.id)
    new = connection.execute(entry).first() is not None
    if not new:
        changed: dict[str, Any] = {name: row[name] for name in ("step", "message", "run_id") if name in row}
        still = (incidents.c.cause == cause, incidents.c.closed_at.is_(None))
        more = {**changed, "last_at": moment, "times": incidents.c.times + 1}
        connection.execute(update(incidents).where(*still).values(more))
    found = open_incident(connection, cause)
    assert found is not None, "opened just now, or there was one in the way"
    return found, new


def keep_details(connection: Connection, incident: Incident, details: Mapping[str, Any]) -> None:
    """Writes an incident's details anew."""
    text = json.dumps(dict(details), ensure_ascii=False)
    connection.execute(update(incidents).where(incidents.c.id == incident.id).values(details=text))


def close_incident(connection: Connection, incident: Incident, now: datetime) -> bool:
    """Closes an incident; false where somebody else has."""
    still = (incidents.c.id == incident.id, incidents.c.closed_at.is_(None))
    return connection.execute(update(incidents).where(*still).values(closed_at=utc_text(now))).rowcount == 1


class Incidents:
    """Opens, counts and closes the incidents of runs, and tells of them."""

    def __init__(self, notices: Notices, words: Words, link: Link = lambda run_id: None) -> None:  # noqa: ARG005
        self.notices = notices
        self.words = words
        self._link = link

    async def catch_up(self, now: datetime) -> int:
        """Takes note of the runs that have ended since the last time, in any process; returns how many were bad."""
        unnoticed = (
            runs.c.ended_at >= utc_text(now - LOOKED_BACK),
            runs.c.noticed_at.is_(None),
        )
        with self.notices.database.read() as connection:
            some = connection.execute(select(runs.c.run_id).where(*unnoticed).limit(1)).first()
        return (
            await self.notices.database.write(lambda connection: self._note(connection, unnoticed, now)) if some else 0
        )

    def _note(self, connection: Connection, unnoticed: Sequence[Any], now: datetime) -> int:
        bad = (RunState.FAILED, RunState.STOPPED)
        query = select(runs).where(*unnoticed).order_by(runs.c.ended_at, runs.c.run_id).limit(AT_ONCE)
        rows = connection.execute(query.with_for_update(skip_locked=True)).all()
        noticed = {"noticed_at": runs.c.ended_at}
        connection.execute(update(runs).where(runs.c.run_id.in_([row.run_id for row in rows])).values(noticed))
        causes = _open_causes(connection)
        for row in rows:
            # Nearly all ends are good ones that end no outage.
            if row.state in bad or causes & {f"failed:{row.automation}", f"stopped:{row.automation}", WORKSPACE}:
                self.ended(connection, end_of(row), now)
                causes = _open_causes(connection)
        return sum(row.state in bad for row in rows)

    def ended(self, connection: Connection, end: RunEnd, now: datetime) -> None:
        """Takes note of one end. A run that another one asked for fails in that one's name."""
        if end.state == RunState.DONE:
            if end.cause != Cause.UNDO:
                self._works(connection, end, now)
        elif end.state == RunState.STOPPED:
            self._fails(connection, f"stopped:{end.automation}", end, now)
        elif end.state == RunState.FAILED and end.cause != Cause.RUN:
            if end.unreachable:
                self._unreachable(connection, end, now)
            else:
                self._fails(connection, f"failed:{end.automation}", end, now)

    def open(self) -> list[Incident]:
        """What lasts, the oldest first."""
        query = select(incidents).where(incidents.c.closed_at.is_(None)).order_by(incidents.c.opened_at)
        with self.notices.database.read() as connection:
            return [incident_of(row) for row in connection.execute(query)]

    # Failures

    def _fails(self, connection: Connection, cause: str, end: RunEnd, now: datetime) -> None:
        message = (end.message or "")[:LONGEST_MESSAGE]
        step = end.step[:120] if end.step else None
        values = {"automation": end.automation, "step": step, "message": message, "run_id": end.run_id}
        incident, new = enter_incident(connection, cause, now, **values, details={"chat": not end.said})
        if new:
            self._tell_failure(connection, incident, end, now, ways=_but_chat(end.said))
        elif not end.said and not incident.details.get("chat", True):
            # Its own words came through until now, and this time they did not.
            keep_details(connection, incident, {**incident.details, "chat": True})
            self._tell_failure(connection, incident, end, now, ways={CHAT})

    def _tell_failure(
        self, connection: Connection, incident: Incident, end: RunEnd, now: datetime, ways: Collection[str] | None
    ) -> None:
        say = self.words.say
        kind = "stopped" if end.state == RunState.STOPPED else "failed"
        name = f"{kind}_at" if end.step else kind
        subject = say(name, automation=end.automation, step=end.step)
        again = "resume_again" if kind == "stopped" else "resume"
        lines = [incident.message, say("run", run=end.run_id), say(again, run=end.run_id), *self._page(end.run_id)]
        self._enter(connection, incident, kind, subject, lines, now, ways=ways)

    def _unreachable(self, connection: Connection, end: RunEnd, now: datetime) -> None:
        message = (end.message or "")[:LONGEST_MESSAGE]
        values = {"automation": end.automation, "step": end.step and end.step[:120], "run_id": end.run_id}
        details = {"affected": [end.automation], "chat": True}
        incident, new = enter_incident(connection, WORKSPACE, now, **values, message=message, details=details)
        if new:
            text = self.words.say("unreachable_text", automation=end.automation, message=message)
            lines = [text, self.words.say("run", run=end.run_id), *self._page(end.run_id)]
            self._enter(connection, incident, "unreachable", self.words.say("unreachable"), lines, now)
            return
        affected: list[str] = incident.details.get("affected", [])
        if end.automation not in affected and len(affected) < MOST_NAMES:
            keep_details(connection, incident, {**incident.details, "affected": [*affected, end.automation]})

    # Recoveries

    def _works(self, connection: Connection, end: RunEnd, now: datetime) -> None:
        causes = (f"failed:{end.automation}", f"stopped:{end.automation}", WORKSPACE)
        still = (incidents.c.cause.in_(causes), incidents.c.closed_at.is_(None))
        for row in connection.execute(select(incidents).where(*still).with_for_update()).all():
            incident = incident_of(row)
            if incident.cause == WORKSPACE and end.automation not in incident.details.get("affected", []):
                continue  # it may have had no need of the workspace
            if close_incident(connection, incident, now):
                self._tell_recovery(connection, incident, end, now)

    def _tell_recovery(self, connection: Connection, incident: Incident, end: RunEnd, now: datetime) -> None:
        say = self.words.say
        lines = [say("after", times=incident.times, length=self.words.length(now - incident.opened))]
        if incident.cause == WORKSPACE:
            subject = say("reachable")
            lines.append(say("affected", names=self.words.listed(incident.details["affected"])))
        else:
            subject = say("works_again", automation=end.automation)
            stopped = (runs.c.automation == end.automation, runs.c.state == RunState.STOPPED)
            since = runs.c.ended_at >= incident.opened_at[:19]
            undecided = connection.execute(select(runs.c.run_id).where(*stopped, since).order_by(runs.c.asked_at)).all()
            if undecided:
                lines.append(say("still_stopped", runs=self.words.listed([row.run_id for row in undecided])))
        ways = _but_chat(not incident.details.get("chat", True))
        self._enter(connection, incident, "recovered", subject, lines, now, ways=ways)

    # While it lasts

    def remind(self, connection: Connection, names: Collection[str], now: datetime) -> None:
        """Says again, once a day, what still does not work, and closes what was about automations that are gone.

        `names`: all automations in force.
        """
        still = incidents.c.closed_at.is_(None)
        for row in connection.execute(select(incidents).where(still)).all():
            incident = incident_of(row)
            kind = incident.cause.partition(":")[0]
            if kind in {"failed", "stopped"} and incident.automation not in names:
                close_incident(connection, incident, now)
            elif kind in {"failed", "stopped", WORKSPACE}:
                self._remind(connection, incident, now)

    def _remind(self, connection: Connection, incident: Incident, now: datetime) -> None:
        last = incident.reminded_at or incident.opened_at
        moment = utc_text(now)
        if now - datetime.fromisoformat(last) < REMINDER:
            return
        same = (
            incidents.c.reminded_at == incident.reminded_at
            if incident.reminded_at
            else incidents.c.reminded_at.is_(None)
        )
        mine = (incidents.c.id == incident.id, same, incidents.c.closed_at.is_(None))
        if connection.execute(update(incidents).where(*mine).values(reminded_at=moment)).rowcount != 1:
            return
        say = self.words.say
        heads = {"failed": "still", "stopped": "still_stopped_head", WORKSPACE: "still_unreachable"}
        subject = say(heads[incident.cause.partition(":")[0]], automation=incident.automation)
        opened = self.words.moment(incident.opened)
        lines = [say("since", moment=opened, times=incident.times, message=incident.message)]
        if incident.run_id is not None:
            lines += [say("run", run=incident.run_id), *self._page(incident.run_id)]
        ways = _but_chat(not incident.details.get("chat", True))
        self._enter(connection, incident, f"reminder:{moment}", subject, lines, now, ways=ways)

    # What all say

    def _page(self, run_id: str) -> list[str]:
        url = self._link(run_id)
        return [self.words.say("page", url=url)] if url else []

    def _enter(
        self,
        connection: Connection,
        incident: Incident,
        what: str,
        subject: str,
        lines: list[str],
        now: datetime,
        *,
        ways: Collection[str] | None = None,
    ) -> None:
        data = {
            "cause": incident.cause,
            "automation": incident.automation,
            "run": incident.run_id,
            "step": incident.step,
            "message": incident.message,
            "since": incident.opened_at,
            "times": incident.times,
        }
        text = "\n".join(line for line in lines if line)
        notice = Notice(incident.key(what), what.partition(":")[0], subject, text, data, ways=ways)
        self.notices.enter(connection, notice, now)


def _but_chat(without: bool) -> Collection[str] | None:
    return {WEBHOOK, MAIL} if without else None
