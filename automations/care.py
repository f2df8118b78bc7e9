"""Looks after a runner: tells of failures and gaps, beats, watches the workspace for events and the folder for changes.

attach: the folder is read ─► run: alarms and notices, events, the heartbeat, changes of the folder, each on its own
                              on_ended ─► the alarms look at once            on_missed ─► they take note of the gap
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote
from zoneinfo import ZoneInfo

from automations import outgoing
from automations.alarms import Alarms
from automations.definition import Automation
from automations.errors import Finding
from automations.events import Watcher as Events
from automations.events import Wish
from automations.execution import Watcher
from automations.heartbeat import Heartbeat
from automations.incidents import Incidents
from automations.ledger import LedgerLine
from automations.mail import Mail, Server
from automations.notices import Chat, Notices, Way, Webhook
from automations.ports import Caller, Clock, Messenger
from automations.reload import Changed, Findings, Folder, follow, look_at
from automations.triggers import Event
from automations.versions import Versions
from automations.words import Words
from storage import Database

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
AT_MOST_EVERY = 1.0
"""Seconds between two looks at runs that have ended, however many end."""

Replace = Callable[[Sequence[Automation], Sequence[Finding]], Awaitable[None]]
"""Takes other definitions into force; and what is wrong with the other files."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Whom to tell, and how; what the installation's settings say."""

    language: str = "en"
    zone: str = "UTC"
    alert_url: str | None = field(default=None, repr=False)
    mail_server: Server | None = None
    mail_to: tuple[str, ...] = ()
    heartbeat_url: str | None = field(default=None, repr=False)
    page_url: str | None = None
    web_url: str | None = None
    poll_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class _Attached:
    database: Database
    automations: Callable[[], Mapping[str, Automation]]
    alarms: Alarms
    events: Events
    findings: Findings
    folder: Folder | None


class Care(Watcher):
    """The watcher of a runner as a service. `folder`: followed for changes, which `replace` takes into force."""

    def __init__(
        self, ways: Ways, messenger: Messenger, caller: Caller, clock: Clock, folder: Path | None = None
    ) -> None:
        self._ways = ways
        self._messenger = messenger
        self._caller = caller
        self._clock = clock
        self._folder = folder
        self._turned = clock()
        self._attached: _Attached | None = None
        self._ended = asyncio.Event()
        self.replace: Replace | None = None

    async def attach(self, database: Database, automations: Callable[[], Mapping[str, Automation]]) -> None:
        ways = self._ways
        words = Words(ways.language, ZoneInfo(ways.zone))
        out: list[Way] = [Chat(self._messenger)]
        if ways.alert_url is not None:
            out.append(Webhook(ways.alert_url, outgoing.post))
        if ways.mail_server is not None and ways.mail_to:
            out.append(Mail(ways.mail_server, ways.mail_to, self._clock))
        notices = Notices(database, out, self._clock)
        incidents = Incidents(notices, words, self._link) if ways.page_url else Incidents(notices, words)
        events = Events(
            database, self._caller, self._clock,
            notices=notices, words=words, zone=ways.zone, seconds=ways.poll_seconds, web_url=ways.web_url,
        )  # fmt: skip
        folder = None
        if self._folder is not None:
            folder = Folder(self._folder, await asyncio.to_thread(Versions(database).newest))
        alarms, findings = Alarms(database, incidents), Findings(database, notices, words, self._clock)
        self._attached = _Attached(database, automations, alarms, events, findings, folder)
        if folder is not None:
            # Before anything is due: of a file that is wrong since the last start, its last good version is in force.
            await look_at(folder, self._taken_up)

    def _link(self, run_id: str) -> str:
        return f"{self._ways.page_url}/runs/{quote(run_id, safe='')}"

    def turned(self) -> None:
        self._turned = self._clock()

    @property
    def _parts(self) -> _Attached:
        assert self._attached is not None
        return self._attached

    async def on_ended(self, run_id: str) -> None:  # noqa: ARG002 - the ledger has it
        self._ended.set()

    async def on_missed(self, lines: Sequence[LedgerLine]) -> None:
        await self._parts.alarms.on_gap(lines, self._clock())

    async def run(self) -> None:
        parts = self._parts
        stop = asyncio.Event()
        loops: list[Awaitable[None]] = [self._tell(parts), self._watch(parts)]
        if self._ways.heartbeat_url is not None:
            beat = Heartbeat(self._ways.heartbeat_url, outgoing.get, parts.database, lambda: self._turned, self._clock)
            loops.append(beat.run(stop))
        if parts.folder is not None:
            loops.append(follow(parts.folder, self._taken_up, stop))
        await asyncio.gather(*loops)

    async def _tell(self, parts: _Attached) -> None:
        """Every few seconds, and at once after a run has ended; a webhook that hangs holds up nothing else."""
        while True:
            self._ended.clear()
            try:
                await parts.alarms.look(parts.automations(), self._clock())
            except Exception:  # what is told to people must not end what runs; it is tried again
                log.exception("people could not be told; trying again")
            await asyncio.sleep(AT_MOST_EVERY)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), LOOK_SECONDS)

    async def _watch(self, parts: _Attached) -> None:
        while True:
            try:
                await parts.events.look(wishes_of(parts.automations(), self._ways.zone))
            except Exception:  # the same
                log.exception("the workspace could not be watched; trying again")
            await asyncio.sleep(min(LOOK_SECONDS, self._ways.poll_seconds))

    async def _taken_up(self, changed: Changed) -> None:
        if self.replace is not None:
            await self.replace(changed.loaded.definitions, changed.findings)
        log.info("%d automations are in force", len(changed.loaded.definitions))
        if self._attached is not None:
            await self._attached.findings.tell(changed)


def wishes_of(automations: Mapping[str, Automation], zone: str) -> list[Wish]:
    """Which automations run on which events."""
    return [
        Wish(name, trigger.event, trigger.if_, zone)
        for name, one in automations.items()
        for trigger in one.definition.trigger
        if isinstance(trigger, Event)
    ]
