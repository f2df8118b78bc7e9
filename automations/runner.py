"""Runs automations: at their ticks until told to stop, or one of them by hand.

run_forever   claim a name ─► engine ─► hand on runs of the dead ─► ledger: what was missed ─► ticks ─► dispatch ─► runs
run_once      claim a name of its own ─► engine ─► one run, waited for
resume, undo  the same, for a run that failed, stopped or lost its process; for one that is finished
"""

import asyncio
import logging
import random
import secrets as randomness
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from automations.backfill import Missing, due, enter_backfill
from automations.callers import WithKey, caller_of
from automations.definition import Automation
from automations.desk import LedgerDesk, Looking, NothingKept
from automations.dispatch import Dispatcher
from automations.engine import ENDED, Cause, Engine, RunHistory, RunState, Ticket
from automations.engine_dbos import DbosEngine
from automations.errors import Finding, NotResumable, UnknownRun
from automations.execution import Execution, Watcher
from automations.executors import Executors, Held
from automations.ledger import Ledger, LedgerLine, RunLine
from automations.listing import Listing
from automations.plan import Plan, plan
from automations.ports import Caller, Clock, Desk, Messenger, Sleep
from automations.records import Records, engine_url, open_ledger
from automations.replay import Replay, replay
from automations.reports import AutomationInfo, NextTick, RunDetail, RunReport, run_report
from automations.resuming import refuse_to_resume, undo_line, waits_for
from automations.service import Service
from automations.steps import Tools
from automations.steps.published import HOSTS
from automations.triggers import utc_text
from automations.versions import Versions
from storage import Database

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
"""Between two looks at a run that is waited for."""
KEEP_DAYS = 90
"""How long runs are kept that have ended."""
GRACE_SECONDS = 15.0
"""How long a stopping runner lets runs finish; what is not finished goes on with the next start."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is open while an engine runs in this process."""

    engine: Engine
    ledger: Ledger
    dispatcher: Dispatcher
    execution: Execution


class Runner:
    """The automations of one installation, and all that runs them.

    `data` is the folder of everything kept (files are written below `data/files`), `zone` the zone of triggers that
    name none. One process executes automations with one Runner at a time; any number of processes may do so together.
    """

    def __init__(
        self,
        definitions: Sequence[Automation],
        *,
        caller: Caller,
        messenger: Messenger,
        data: Path,
        database_url: str | None = None,
        zone: str = "UTC",
        clock: Clock = _now,
        hosts: Collection[str] = HOSTS,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        new_id: Callable[[], str] = lambda: randomness.token_hex(8),
        host: str | None = None,
        grace_seconds: float = GRACE_SECONDS,
        with_key: WithKey | None = None,
        secrets: Mapping[str, str] | None = None,
        watcher: Watcher | None = None,
        keep_days: int = KEEP_DAYS,
    ) -> None:
        self._automations = {automation.name: automation for automation in definitions}
        self._listing = Listing(definitions, zone=zone, clock=clock)
        self._caller = caller
        self._messenger = messenger
        self._hosts = hosts
        self._sleep = sleep
        self._jitter = jitter
        self._with_key = with_key
        self._secrets = secrets or {}
        self._watcher = watcher or Watcher()
        self._keep_days = keep_days
        self._data = data
        self._database_url = database_url
        self._zone = zone
        self._clock = clock
        self._new_id = new_id
        self._grace_seconds = grace_seconds
        self._host = host or socket.gethostname()
        self._opened: _Opened | None = None
        self._nudge = asyncio.Event()
        self._service: Service | None = None
        self.findings: Sequence[Finding] = ()
        """What is wrong with other files, for whoever shows it."""

    # What there is

    @property
    def automations(self) -> Mapping[str, Automation]:
        """Those in force, by name."""
        return self._automations

    def list_automations(self) -> list[AutomationInfo]:
        """All automations by name."""
        return self._listing.list_automations()

    def next_ticks(self, name: str | None = None, n: int = 10) -> list[NextTick]:
        """The next ticks of one automation or of all, in order. Raises UnknownAutomation."""
        return self._listing.next_ticks(name, n)

    def history(self, name: str | None = None, limit: int = 20) -> list[RunReport]:
        """The newest runs and skipped ticks, newest first."""
        with Records(self._data, self._database_url) as records:
            return records.history(name, limit)

    def show(self, run_id: str) -> RunDetail:
        """A run with its steps. Raises UnknownRun."""
        with Records(self._data, self._database_url) as records:
            return records.show(run_id)

    async def plan(self, name: str, n: int = 10) -> Plan:
        """What a run would do now: reads are made, the rest is shown. Raises UnknownAutomation."""
        automation = self._listing.automation(name)
        now = self._clock().astimezone(UTC)
        run_id, moment = f"{name}:plan", utc_text(now)
        ticket = Ticket(
            run_id, name, automation.data, self._folder(automation), moment, self._zone_of(automation), Cause.MANUAL
        )
        with self._past() as desk:
            tools = self._tools(desk)
            bound = caller_of(automation.definition, self._caller, self._with_key, self._secrets)
            tools = replace(tools, caller=bound)
            steps, changes = await plan(ticket, tools)
        return Plan(name, steps, tuple(self.next_ticks(name, n)), changes)

    async def replay(self, automation: Automation, run_id: str) -> Replay:
        """What a file does with the recorded answers of a run; nothing is done. Raises UnknownRun."""
        with Records(self._data, self._database_url) as records:
            line = records.ledger.run(run_id)
            if line is None:
                raise UnknownRun(run_id)
            folder = self._folder(automation)
            ticket = Ticket(
                run_id, line.automation, automation.data, folder, line.tick, line.zone, line.cause, line.details
            )
            recorded = [(record.name, record.output) for record in records.engine.steps(run_id)]
        return await replay(automation, ticket, recorded, self._tools(NothingKept()))

    @contextmanager
    def _past(self) -> Generator[Desk]:
        """What earlier runs have kept, for a plan; nothing is made where there is nothing."""
        if self._database_url is None and not (self._data / "automations.db").exists():
            yield NothingKept()
            return
        with Records(self._data, self._database_url) as records:
            yield Looking(self._desk(records.ledger, records.engine))

    def _desk(self, ledger: Ledger, history: RunHistory) -> LedgerDesk:
        return LedgerDesk(ledger, history, self._messenger, self._clock, lambda: self._automations, self._zone)

    def _ledger_open(self) -> Database:
        return open_ledger(self._data, self._database_url)

    def _folder(self, automation: Automation) -> str:
        return str(automation.file.parent.resolve())

    def _zone_of(self, automation: Automation) -> str:
        """The zone of its first trigger that names one."""
        zones = (getattr(one, "timezone", None) for one in automation.definition.trigger)
        return next((zone for zone in zones if zone), None) or self._zone

    # Runs by hand

    async def run_once(
        self, name: str, *, by: str = "", cause: Cause = Cause.MANUAL, values: Mapping[str, Any] | None = None
    ) -> RunReport:
        """Runs one automation here and now, and waits for its end, also while it waits for people.

        Raises UnknownAutomation.
        """
        automation = self._listing.automation(name)
        now = self._clock().astimezone(UTC)
        occasion = f"manual-{now:%Y-%m-%dT%H:%M:%S.%f}Z"
        details = {key: value for key, value in (("by", by), ("vars", dict(values or {}))) if value}
        line = LedgerLine(name, utc_text(now), self._zone_of(automation), "due", "", occasion, cause, details)
        async with self._own_engine() as opened:
            await Versions(opened.ledger.database).enter([automation], now)
            run = await opened.ledger.enter(line, automation.digest, now, claimed=True)
            await opened.engine.begin(opened.dispatcher.ticket(run))
            return await self._finished(opened, line.run_id)

    async def resume(self, run_id: str, *, again: bool = False, from_step: str | None = None) -> RunReport:
        """Goes on with a run where it failed or lost its process, or from a step on, and waits for its end.

        A run that stopped at a step which may have happened needs `again`: that step is done again.
        Raises UnknownRun, or NotResumable with what to do.
        """
        async with self._own_engine() as opened:
            line = opened.ledger.run(run_id)
            if line is None:
                raise UnknownRun(run_id)
            refuse_to_resume(line, again=again, from_step=from_step)
            if line.state in {"running", "waiting", "asked"}:
                await self._take_over_dead(opened, line)
            else:
                await opened.dispatcher.go_on(run_id, again=again, from_step=from_step)
                await opened.ledger.want(run_id, "resume", [line.state])
                await opened.ledger.orders(self._clock(), lambda one: one.run_id == run_id)
            return await self._finished(opened, run_id)

    async def _take_over_dead(self, opened: _Opened, line: RunLine) -> None:
        known = opened.engine.history.run(line.run_id)
        if known is None or known.state is RunState.WAITING:
            raise NotResumable(f"{line.run_id} waits for a runner: start one with `workspace run`")
        async with self._executors(opened.ledger.database).dead(known.executor or "") as dead:
            if not dead:
                raise NotResumable(f"{line.run_id} is under way")
            await opened.engine.go_on(line.run_id, None)

    async def undo(self, run_id: str, *, by: str = "") -> RunReport:
        """Does the `undo` steps of a finished run, the last one first, and waits. Raises UnknownRun or NotResumable."""
        async with self._own_engine() as opened:
            original = opened.ledger.run(run_id)
            if original is None:
                raise UnknownRun(run_id)
            line = undo_line(original, by)
            run = await opened.ledger.enter(line, original.digest, self._clock(), claimed=True)
            await opened.engine.begin(opened.dispatcher.ticket(run))
            return await self._finished(opened, line.run_id)

    async def backfill(
        self,
        name: str,
        start: datetime,
        end: datetime,
        *,
        current: bool = False,
        by: str = "",
        told: Callable[[int, int, RunReport], None] | None = None,
    ) -> list[RunReport]:
        """Runs the ticks of a past time that were never run, one after another, each with the definition of its day.

        Ends at the first that does not end well. `told` is told how many of how many are done, and the last one.
        Raises UnknownAutomation, or ValueError where they are too many.
        """
        automation = self._listing.automation(name)
        reports: list[RunReport] = []
        async with self._own_engine() as opened:
            database = opened.ledger.database
            missing = [one for one in self._due(database, automation, start, end, current=current) if one.to_run]
            for number, one in enumerate(missing, 1):
                if current:
                    await Versions(database).enter([automation], self._clock())
                run = await enter_backfill(database, one, by, self._clock())
                await opened.engine.begin(opened.dispatcher.ticket(run))
                reports.append(await self._finished(opened, run.run_id))
                if told is not None:
                    told(number, len(missing), reports[-1])
                if not reports[-1].ok:
                    break
        return reports

    def due_in(self, name: str, start: datetime, end: datetime, *, current: bool = False) -> list[Missing]:
        """The ticks of a past time, and what is known of each; nothing is run. Raises as `backfill`."""
        automation = self._listing.automation(name)
        with self._ledger_open() as database:
            return self._due(database, automation, start, end, current=current)

    def _due(
        self, database: Database, automation: Automation, start: datetime, end: datetime, *, current: bool
    ) -> list[Missing]:
        return due(database, automation, start, end, self._zone_of(automation), current=current)

    async def _finished(self, opened: _Opened, run_id: str) -> RunReport:
        """Waits for the end of a run, and meanwhile does for it, and for the runs that it waits for, what a runner
        would do."""
        mine = {run_id}

        def belongs(line: RunLine) -> bool:
            if line.details.get("parent") in mine:
                mine.add(line.run_id)
            return line.run_id in mine

        waits = None
        while True:
            line = await asyncio.to_thread(opened.ledger.run, run_id)
            if line is None:
                raise UnknownRun(run_id)
            if line.state in ENDED:
                return run_report(line)
            if line.state == RunState.PARKED and waits != (waits := line.wake_on or line.wake_at):
                log.info("run %s %s", run_id, waits_for(line))
            self._nudge.clear()
            await opened.dispatcher.look(belongs)
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudge.wait()
            except TimeoutError:
                continue

    @asynccontextmanager
    async def _own_engine(self) -> AsyncGenerator[_Opened]:
        """What the runner in this process has open, or an engine for as long as the block lasts."""
        if self._opened is not None:
            yield self._opened
            return
        with self._ledger_open() as database:
            async with self._executors(database).by_hand(self._new_id()) as held:
                engine = self._dbos(held.executor, takes_queue=False)
                opened = self._open(engine, database, engine.begin)
                await engine.start(opened.execution.interpret)
                keeping = asyncio.create_task(held.keep())
                # Where another process has taken its runs over, it ends them here.
                keeping.add_done_callback(lambda done: None if done.cancelled() else engine.leave())
                grace = self._grace_seconds
                try:
                    yield opened
                    # What this process took up besides is not left half done.
                    grace = 600.0
                finally:
                    keeping.cancel()
                    await engine.stop(grace)
                    self._opened = None

    def _open(self, engine: Engine, database: Database, begin: Callable[[Ticket], Awaitable[None]]) -> _Opened:
        ledger = Ledger(database)
        dispatcher = Dispatcher(ledger, engine, lambda: self._automations, self._clock, begin)
        execution = self._execution(ledger, self._desk(ledger, engine.history))
        self._opened = _Opened(engine, ledger, dispatcher, execution)
        return self._opened

    # Ticks

    async def run_forever(self, stop: asyncio.Event, ready: Callable[[], None] | None = None) -> None:
        """Runs ticks until `stop` is set; `ready` is called once ticks are being watched."""
        database = await asyncio.to_thread(self._ledger_open)
        try:
            while not stop.is_set():
                async with self._executors(database).runner() as held:
                    await self._serve(database, held, stop, ready)
        finally:
            database.close()

    async def _serve(
        self, database: Database, held: Held, stop: asyncio.Event, ready: Callable[[], None] | None
    ) -> None:
        """Until `stop`, or until the name is lost: then what runs here is left to others at once."""
        engine = self._dbos(held.executor, takes_queue=True)
        await self._watcher.attach(database, lambda: self._automations)
        opened = self._open(engine, database, engine.submit)
        await engine.start(opened.execution.interpret)
        self._service = Service(
            engine, opened.dispatcher, opened.execution, self._executors(database), held,
            watcher=self._watcher, clock=self._clock, zone=self._zone, nudge=self._nudge,
            keep_days=self._keep_days,
        )  # fmt: skip
        grace = self._grace_seconds
        try:
            if not await self._service.run(self._automations, stop, ready):
                grace = 0.0
        finally:
            self._service = None
            await engine.stop(grace)
            self._opened = None

    async def replace(self, definitions: Sequence[Automation], findings: Sequence[Finding] = ()) -> None:
        """Takes other definitions into force, all at once; runs under way go on with theirs."""
        self.findings = findings
        before, listing = self._automations, self._listing
        self._automations = {automation.name: automation for automation in definitions}
        self._listing = Listing(definitions, zone=self._zone, clock=self._clock)
        try:
            if self._service is not None:
                await self._service.replace(before, self._automations)
        except BaseException:
            # What the ledger does not know of is not in force; whoever replaces tries again.
            self._automations, self._listing = before, listing
            raise

    # What both need

    def _executors(self, database: Database) -> Executors:
        return Executors(self._data / "runners", self._host, database, self._new_id, self._clock)

    def _dbos(self, executor: str, *, takes_queue: bool) -> Engine:
        url = engine_url(self._data, self._database_url)
        self._data.mkdir(parents=True, exist_ok=True)
        return DbosEngine(url, executor=executor, new_id=self._new_id, takes_queue=takes_queue)

    def _tools(self, desk: Desk) -> Tools:
        return Tools(
            self._caller, self._messenger, self._data / "files", self._hosts, self._sleep, self._jitter,
            desk, self._clock, self._secrets,
        )  # fmt: skip

    def _execution(self, ledger: Ledger, desk: Desk) -> Execution:
        tools = self._tools(desk)
        return Execution(ledger, desk, tools, self._clock, self._watcher, self._with_key, self._nudge.set)
