"""What the tests of notices share: people of ops who hear things, a ledger in which runs end, and a clock."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, select, update

from automations.alarms import Alarms
from automations.definition import Automation
from automations.incidents import Incidents
from automations.ledger import LedgerLine, enter, enter_runs, exact_text, new_run
from automations.notices import Chat as ChatWay
from automations.notices import NotDelivered, Notices, Webhook
from automations.records import open_ledger
from automations.tables import incidents, notices, runs
from automations.triggers import utc_text
from automations.words import Words
from storage import Database
from tests.automations.world import Chat, automation

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOOK = "https://alerts.example.com/hook"


@dataclass
class Hook:
    """A webhook that remembers what it was sent; `dead` is why it takes nothing."""

    dead: str | None = None
    posted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    async def __call__(self, url: str, body: Mapping[str, Any], headers: Mapping[str, str], /) -> None:
        if self.dead is not None:
            raise NotDelivered(self.dead)
        assert url == HOOK
        self.posted.append(json.loads(json.dumps(body)))
        self.headers.append(headers)


@dataclass
class Ops:
    """One runner's view: several of them on one database are several replicas."""

    database: Database
    chat: Chat = field(default_factory=Chat)
    hook: Hook = field(default_factory=Hook)
    language: str = "en"
    now: datetime = NOW
    known: dict[str, Automation] = field(default_factory=dict[str, Automation])

    def __post_init__(self) -> None:
        words = Words(self.language, ZoneInfo("Europe/Moscow"))
        ways = (ChatWay(self.chat), Webhook(HOOK, self.hook))
        self.notices = Notices(self.database, ways, lambda: self.now)
        self.words = words
        self.incidents = Incidents(self.notices, words, lambda run: f"https://ops.example.com/runs/{run}")
        self.alarms = Alarms(self.database, self.incidents)

    def later(self, **length: float) -> None:
        self.now += timedelta(**length)

    def has(self, *texts: str) -> None:
        """The automations in force."""
        self.known = {one.name: one for one in (automation(text.strip()) for text in texts)}

    async def look(self) -> None:
        await self.alarms.look(self.known, self.now)

    @property
    def said(self) -> list[str]:
        """What ops heard in chat, in order."""
        return [text for to, text, _ in self.chat.said.values() if to == "@ops"]

    @property
    def heads(self) -> list[str]:
        """The first line of each."""
        return [text.partition("\n")[0] for text in self.said]

    # What the ledger says

    async def tick(self, name: str, at: datetime, state: str = "started", reason: str = "") -> None:
        line = LedgerLine(name, utc_text(at), "Europe/Moscow", state, reason)
        await self.database.write(lambda connection: enter(connection, [line], self.now))

    async def asked(self, name: str, tick: datetime | None = None, **details: Any) -> str:
        """A run that was asked for; its id."""
        at = tick or self.now
        line = LedgerLine(name, utc_text(at), "Europe/Moscow", "started", details=details)
        run = new_run(line, "digest", self.now)
        await self.database.write(lambda connection: enter_runs(connection, [run], None))
        return run.run_id

    async def set(self, run_id: str, **values: Any) -> None:
        def job(connection: Connection) -> None:
            connection.execute(update(runs).where(runs.c.run_id == run_id).values(values))

        await self.database.write(job)

    async def ends(self, name: str, state: str = "done", tick: datetime | None = None, **values: Any) -> str:
        """A run of an automation that ends now; its id."""
        run_id = await self.asked(name, tick)
        await self.set(run_id, state=state, ended_at=exact_text(self.now), **values)
        return run_id

    async def fails(
        self, name: str, message: str = "no such block", tick: datetime | None = None, **values: Any
    ) -> str:
        return await self.ends(name, "failed", tick, step="org", message=message, **values)

    def open(self) -> list[str]:
        """The causes of what lasts."""
        return [incident.cause for incident in self.incidents.open()]

    def rows(self, way: str) -> list[str]:
        """The states of all notices of a way."""
        with self.database.read() as connection:
            query = select(notices.c.state).where(notices.c.way == way).order_by(notices.c.created_at)
            return [row.state for row in connection.execute(query)]

    def count(self, cause: str) -> int:
        """How often an incident of that cause was met, over all of them."""
        with self.database.read() as connection:
            query = select(incidents.c.times).where(incidents.c.cause == cause)
            return sum(row.times for row in connection.execute(query))


@contextmanager
def ledger_of(folder: Path, url: str | None = None) -> Generator[Database]:
    """An empty ledger."""
    with open_ledger(folder, url) as database:
        yield database
