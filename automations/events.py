"""Triggers on changes in the workspace: polls it, and enters what has happened into the ledger.

```
look() ─► each list that some automation watches ─► claimed by one process ─► read ─► compared (sources.py)
                                                    └─► in one transaction: what is seen now, and a due line for each
                                                        automation and event whose `if` is true
```
A crash before that transaction reads the same change again, one after it finds the line in the ledger: nothing is lost
and nothing comes twice. An automation's first look, and the first look at a list, know everything and fire nothing.
What happened while no runner ran is seen by the next one.

`event` in templates (all kinds: `kind`, `id`, `title`, `at` as the workspace wrote it, `url` of the workspace's pages):

request.created          author_id, sum, sum_paid, currency (`` where the workspace says none), period, status, by
request.status_changed   the same, and previous_status; `by` is the author of the newest line of its history
task.created             author_id, responsible_ids, status, finish_date, is_important, block_id
task.overdue             the same; once for each finish date whose day is over, in WORKSPACE_TIMEZONE
article.changed          author_id, by, change (`created`, `published`, `changed`), space_ids; no event for drafts
org.changed              added, removed, changed (names of blocks, 50 of each), added_count, …, settings (true or false)
transaction.created      type (`in`, `out`, `move`), author_id, sum, cashbox_id, category_id, project_id; of a move also
                         sum_to and cashbox_id_to
"""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import JsonValue
from sqlalchemy import Connection, delete, select, update

from automations.engine import Cause
from automations.errors import AutomationError
from automations.expressions import evaluate
from automations.incidents import close_incident, enter_incident, is_open, open_incident
from automations.ledger import LedgerLine, enter, insert_new
from automations.notices import Notice, Notices
from automations.ports import Caller, Clock
from automations.sources import SOURCES, Event, Reading, Source
from automations.tables import watches
from automations.triggers import utc_text
from automations.words import Words
from storage import Database
from workspace_api.contract import Call, Done, find

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
"""How long one reading may take; after that another process may read."""
BLIND = timedelta(minutes=10)
"""How long the workspace may be unreadable before people are told."""
BURST = 200
"""More events than this at once are told to people; all of them are run."""
NEVER = "1970-01-01T00:00:00Z"


class NotRead(AutomationError):
    """A list could not be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Wish:
    """That an automation runs on a kind of event, where `condition` (true, false or a template) holds."""

    automation: str
    kind: str
    condition: JsonValue = True
    zone: str = "UTC"


class Watcher:
    """Looks for changes. `web_url`: where people see the workspace."""

    def __init__(
        self,
        database: Database,
        caller: Caller,
        clock: Clock,
        *,
        notices: Notices,
        words: Words,
        zone: str = "UTC",
        seconds: float = 30.0,
        web_url: str | None = None,
        sources: Sequence[Source] = SOURCES,
    ) -> None:
        self._database = database
        self._caller = caller
        self._clock = clock
        self._notices = notices
        self._words = words
        self._zone = ZoneInfo(zone)
        self._every = timedelta(seconds=seconds)
        self._web_url = web_url or ""
        self._sources = sources
        self._failing: dict[str, datetime] = {}

    async def look(self, wishes: Sequence[Wish]) -> int:
        """One look at every list that is wanted and not looked at lately; returns how many lines were entered."""
        entered = 0
        for source in self._sources:
            wanted = [wish for wish in wishes if wish.kind in source.kinds]
            if not wanted:
                await self._leave(source)
                continue
            claim = await self._claim(source)
            if claim is not None:
                entered += await self._look_at(source, wanted, *claim)
        return entered

    async def _leave(self, source: Source) -> None:
        """Forgets a list that nobody watches: whoever watches it again begins anew."""
        own = watches.c.event == source.name
        with self._database.read() as connection:
            there = connection.execute(select(watches.c.event).where(own)).first()
        if there:
            await self._database.write(lambda connection: connection.execute(delete(watches).where(own)))

    async def _claim(self, source: Source) -> tuple[str, dict[str, Any] | None] | None:
        """Takes the next look at a list, unless it is not time or another process has it: the claim, and what was
        seen."""
        now = self._clock()
        due = (watches.c.event == source.name, watches.c.looked_at <= utc_text(now - self._every))
        with self._database.read() as connection:
            row = connection.execute(select(watches.c.looked_at).where(watches.c.event == source.name)).first()
        if row is not None and row.looked_at > utc_text(now - self._every):
            return None
        claim = utc_text(now + LEASE)

        def job(connection: Connection) -> tuple[str, dict[str, Any] | None] | None:
            insert_new(connection, watches, [{"event": source.name, "seen": "null", "looked_at": NEVER}])
            if connection.execute(update(watches).where(*due).values(looked_at=claim)).rowcount != 1:
                return None
            seen = connection.execute(select(watches.c.seen).where(watches.c.event == source.name)).scalar_one()
            return claim, json.loads(seen)

        return await self._database.write(job)

    async def _look_at(self, source: Source, wishes: Sequence[Wish], claim: str, seen: dict[str, Any] | None) -> int:
        """Reads and compares; a list that cannot be read is read again the next time."""
        try:
            async with asyncio.timeout(LEASE.total_seconds() - 10):
                answers = [await self._read(find(name).call(fields)) for name, fields in source.calls]
        except (NotRead, TimeoutError) as error:
            await self._note_failure(source, wishes, str(error) or "reading took too long")
            await self._release(source, claim)
            return 0
        now = self._clock()
        known: list[str] = seen["for"] if seen else []
        after, events = source.compare(seen["state"] if seen else None, Reading(answers, now, self._zone))
        # Who was not here at the last look has no part in what has happened since.
        lines = self._lines(events, [wish for wish in wishes if f"{wish.kind} {wish.automation}" in known], now)
        state = {"state": after, "for": sorted({f"{wish.kind} {wish.automation}" for wish in wishes})}
        entered = await self._store(source, claim, seen, state, lines, now)
        await self._note_success(source)
        return len(lines) if entered else 0

    async def _read(self, call: Call[Any]) -> Any:
        """The `data` of an answer. Raises NotRead."""
        answer = await self._caller.attempt_raw(call)
        if isinstance(answer, Done):
            return answer.data.json()["data"]
        raise NotRead(f"{call.name}: {getattr(answer, 'message', None) or getattr(answer, 'reason', '')}")

    def _lines(self, events: Sequence[Event], wishes: Sequence[Wish], now: datetime) -> list[LedgerLine]:
        """The lines of the ledger that events come to."""
        lines: list[LedgerLine] = []
        for event in events:
            values = {**event.values, "url": self._web_url}
            for wish in wishes:
                if wish.kind != event.kind:
                    continue
                state, reason = _judged(wish, values)
                if state is not None:
                    occasion, details = event.occasion[:160], {"event": values}
                    line = LedgerLine(
                        wish.automation, utc_text(now), wish.zone, state, reason, occasion, Cause.EVENT, details
                    )
                    lines.append(line)
        return lines

    async def _store(
        self,
        source: Source,
        claim: str,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any],
        lines: Sequence[LedgerLine],
        now: datetime,
    ) -> bool:
        """In one transaction: what is seen now, and what is due because of it; false where the claim was lost."""
        values: dict[str, Any] = {"looked_at": utc_text(now)}
        if after != before:
            values["seen"] = json.dumps(after, ensure_ascii=False)
        mine = (watches.c.event == source.name, watches.c.looked_at == claim)

        def job(connection: Connection) -> bool:
            if connection.execute(update(watches).where(*mine).values(values)).rowcount != 1:
                return False
            enter(connection, lines, now)
            if len(lines) > BURST:
                self._notices.enter(connection, self._burst(source, claim, lines), now)
            return True

        stored = await self._database.write(job)
        if not stored:
            log.warning("reading %s took longer than %s: another process reads it now", source.name, LEASE)
        elif len(lines) > BURST:
            log.warning("%d runs are due at once because of changes in %s", len(lines), source.name)
        return stored

    def _burst(self, source: Source, claim: str, lines: Sequence[LedgerLine]) -> Notice:
        names = list(dict.fromkeys(line.automation for line in lines))
        subject = self._words.say("burst", count=len(lines), kind=", ".join(source.kinds))
        text = self._words.say("burst_text", names=self._words.listed(names))
        data = {"automations": names, "count": len(lines)}
        return Notice(f"burst:{source.name}:{claim}", "burst", subject, text, data)

    async def _release(self, source: Source, claim: str) -> None:
        mine = (watches.c.event == source.name, watches.c.looked_at == claim)
        values = {"looked_at": utc_text(self._clock())}
        await self._database.write(lambda connection: connection.execute(update(watches).where(*mine).values(values)))

    # A workspace that cannot be read

    async def _note_failure(self, source: Source, wishes: Sequence[Wish], why: str) -> None:
        now = self._clock()
        if source.name not in self._failing:
            log.warning("changes of %s in the workspace cannot be seen: %s", source.name, why)
        if now - self._failing.setdefault(source.name, now) < BLIND:
            return
        say = self._words.say
        names = sorted({wish.automation for wish in wishes})

        def job(connection: Connection) -> None:
            incident, new = enter_incident(connection, f"events:{source.name}", now, message=why)
            if new:
                text = say("blind_text", message=why, names=self._words.listed(names))
                notice = Notice(incident.key("blind"), "blind", say("blind"), text, {"message": why})
                self._notices.enter(connection, notice, now)

        await self._database.write(job)

    async def _note_success(self, source: Source) -> None:
        if self._failing.pop(source.name, None) is not None:
            log.warning("changes of %s in the workspace are seen again", source.name)
        cause, now = f"events:{source.name}", self._clock()
        with self._database.read() as connection:
            if not is_open(connection, cause):
                return

        def job(connection: Connection) -> None:
            incident = open_incident(connection, cause)
            if incident is not None and close_incident(connection, incident, now):
                text = self._words.say("lasted", length=self._words.length(now - incident.opened))
                notice = Notice(incident.key("recovered"), "recovered", self._words.say("seeing"), text)
                self._notices.enter(connection, notice, now)

        await self._database.write(job)


def _judged(wish: Wish, values: Mapping[str, Any]) -> tuple[str | None, str]:
    """Whether an event is due for an automation: the state of its line and the reason, or none where `if` is false."""
    if not isinstance(wish.condition, str):
        return ("due" if wish.condition else None), ""
    try:
        scope = {"event": dict(values), "automation": {"name": wish.automation}}
        return ("due" if evaluate(wish.condition, scope) else None), ""
    except AutomationError as error:
        # An event that nobody could judge is left in the ledger, where it is seen.
        log.warning("%s: the condition of its trigger: %s", wish.automation, error)
        return "skipped", f"the trigger's if: {error}"[:500]
