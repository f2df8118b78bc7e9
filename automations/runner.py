"""Runs automations: at their ticks until told to stop, or one of them by hand.

run_forever   claim a name ─► engine ─► hand on runs of the dead ─► ledger: what was missed ─► ticks ─► runs
run_once      claim a name of its own ─► engine ─► one run, waited for
resume        the same, for a run that failed, stopped, or lost its process
"""

import asyncio
import logging
import random
import secrets
import socket
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from automations.catch_up import caught_up
from automations.definition import Automation
from automations.engine import Engine, Journal, RecordedRun, RunState, Ticket
from automations.engine_dbos import DbosEngine
from automations.errors import NotResumable, UnknownRun
from automations.executors import Executors
from automations.interpret import BEGUN, interpret
from automations.ledger import Ledger, LedgerLine
from automations.listing import Listing
from automations.plan import Plan, plan
from automations.ports import Caller, Clock, Messenger, Sleep
from automations.records import Records, engine_url, open_ledger
from automations.reports import AutomationInfo, NextTick, RunDetail, RunReport, run_report
from automations.steps import Tools
from automations.steps.published import HOSTS
from automations.triggers import Tick, utc_text

log = logging.getLogger(__name__)

REAP_SECONDS = 5.0
GRACE_SECONDS = 15.0
"""How long a stopping runner lets runs finish; what is not finished goes on with the next start."""


def _now() -> datetime:
    return datetime.now(UTC)


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
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
        host: str | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._automations = {automation.name: automation for automation in definitions}
        self._listing = Listing(definitions, zone=zone, clock=clock)
        self._tools = Tools(caller, messenger, data / "files", hosts, sleep, jitter)
        self._data = data
        self._database_url = database_url
        self._zone = zone
        self._clock = clock
        self._new_id = new_id
        self._grace_seconds = grace_seconds
        self._executors = Executors(data / "runners", host or socket.gethostname())
        self._engine: Engine | None = None

    # What there is

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
        ticket = self._ticket(automation, f"{name}:plan", utc_text(now), self._zone_of(automation))
        return Plan(name, await plan(ticket, self._tools), tuple(self.next_ticks(name, n)))

    def _zone_of(self, automation: Automation) -> str:
        """The zone of its first trigger that names one."""
        return next((one.timezone for one in automation.definition.trigger if one.timezone), None) or self._zone

    # Runs by hand

    async def run_once(self, name: str) -> RunReport:
        """Runs one automation here and now, and waits for its end. Raises UnknownAutomation."""
        automation = self._listing.automation(name)
        now = self._clock().astimezone(UTC)
        run_id = f"{name}:manual-{now:%Y-%m-%dT%H:%M:%S.%f}Z"
        async with self._own_engine() as engine:
            await engine.begin(self._ticket(automation, run_id, utc_text(now), self._zone_of(automation)))
            return run_report(await engine.finished(run_id))

    async def resume(self, run_id: str, *, again: bool = False) -> RunReport:
        """Goes on with a run where it failed or lost its process, and waits for its end.

        A run that stopped at a step which may have happened needs `again`: that step is done again.
        Raises UnknownRun, or NotResumable with what to do.
        """
        async with self._own_engine() as engine:
            run = engine.history.run(run_id)
            if run is None:
                raise UnknownRun(run_id)
            await self._go_on(engine, run, again=again)
            return run_report(await engine.finished(run_id))

    async def _go_on(self, engine: Engine, run: RecordedRun, *, again: bool) -> None:
        run_id = run.ticket.run_id
        if run.state is RunState.DONE:
            raise NotResumable(f"{run_id} is done: there is nothing to go on with")
        if run.state is RunState.STOPPED and not again:
            told = run.result.get("message", "")
            raise NotResumable(
                f"{run_id} stopped at {run.result.get('step')}: {told}. To do that step again: resume with --again"
            )
        if run.state is RunState.WAITING:
            raise NotResumable(f"{run_id} waits for a runner: start one with `workspace run`")
        if run.state is RunState.RUNNING:
            with self._executors.dead(run.executor or "") as dead:
                if not dead:
                    raise NotResumable(f"{run_id} is under way")
                await engine.go_on(run_id, None)
            return
        await engine.go_on(run_id, _failed_record(engine, run_id))

    @asynccontextmanager
    async def _own_engine(self) -> AsyncGenerator[Engine]:
        """The engine of the runner in this process, or one for as long as the block lasts."""
        if self._engine is not None:
            yield self._engine
            return
        with self._executors.by_hand(self._new_id()) as executor:
            engine = self._dbos(executor, takes_queue=False)
            await engine.start(self._interpret)
            grace = self._grace_seconds
            try:
                yield engine
                # What this process took up besides is not left half done.
                grace = 600.0
            finally:
                await engine.stop(grace)

    # Ticks

    async def run_forever(self, stop: asyncio.Event, ready: Callable[[], None] | None = None) -> None:
        """Runs ticks until `stop` is set; `ready` is called once ticks are being watched."""
        database = await asyncio.to_thread(open_ledger, self._data, self._database_url)
        try:
            with self._executors.runner() as executor:
                engine = self._dbos(executor, takes_queue=True)
                await engine.start(self._interpret)
                self._engine = engine
                try:
                    await self._watch(engine, Ledger(database), executor, stop, ready)
                finally:
                    self._engine = None
                    await engine.stop(self._grace_seconds)
        finally:
            database.close()

    async def _watch(
        self, engine: Engine, ledger: Ledger, executor: str, stop: asyncio.Event, ready: Callable[[], None] | None
    ) -> None:
        from automations.schedule import Schedule

        arrivals: asyncio.Queue[tuple[str, Tick]] = asyncio.Queue()
        schedule = Schedule(lambda name, tick: arrivals.put_nowait((name, tick)))
        await self._hand_on(engine, executor)
        now = self._clock()
        for automation in self._automations.values():
            await self._catch_up(ledger, automation, now)
            schedule.add(automation.name, automation.definition.trigger, self._zone, now)
        await self._ask_for_due(engine, ledger)
        schedule.start()
        taking = asyncio.create_task(self._take(arrivals, engine, ledger))
        stopping = asyncio.create_task(stop.wait())
        try:
            if ready is not None:
                ready()
            while not stop.is_set():
                await asyncio.wait({taking, stopping}, timeout=REAP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if taking.done():
                    taking.result()
                await self._hand_on(engine, executor)
        finally:
            schedule.stop()
            taking.cancel()
            stopping.cancel()
            await asyncio.wait({taking, stopping})

    async def _catch_up(self, ledger: Ledger, automation: Automation, now: datetime) -> None:
        trigger = automation.data.get("trigger")
        if not automation.definition.trigger:
            return
        considered = await ledger.considered(automation.name, trigger, now)
        await ledger.record(caught_up(automation.name, automation.definition.trigger, self._zone, considered, now), now)

    async def _take(self, arrivals: "asyncio.Queue[tuple[str, Tick]]", engine: Engine, ledger: Ledger) -> None:
        """Enters ticks as they come, those that came meanwhile together, then asks for their runs."""
        while True:
            batch = [await arrivals.get()]
            while not arrivals.empty():
                batch.append(arrivals.get_nowait())
            lines = [LedgerLine(name, tick.name, tick.zone, "due") for name, tick in batch]
            await ledger.record(lines, self._clock())
            await self._ask_for_due(engine, ledger)

    async def _ask_for_due(self, engine: Engine, ledger: Ledger) -> None:
        for line in await asyncio.to_thread(ledger.due):
            automation = self._automations.get(line.automation)
            if automation is None:
                await ledger.settle([line], "skipped", "its automation is gone")
                continue
            await engine.submit(self._ticket(automation, f"{line.automation}:{line.tick}", line.tick, line.zone))
            await ledger.settle([line], "started", line.reason)

    async def _hand_on(self, engine: Engine, executor: str) -> None:
        """Queues the runs of processes that are dead."""
        for other in {run.executor for run in await asyncio.to_thread(engine.history.under_way)} - {executor, None}:
            with self._executors.dead(other or "") as dead:
                if not dead:
                    continue
                runs = await asyncio.to_thread(engine.history.under_way)
                lost = [run.ticket.run_id for run in runs if run.executor == other]
                if lost:
                    log.warning("%s has died; its runs go on here: %s", other, ", ".join(lost))
                    await engine.take_over(lost)

    # What both need

    def _ticket(self, automation: Automation, run_id: str, tick: str, zone: str) -> Ticket:
        folder = str(automation.file.parent.resolve())
        return Ticket(run_id, automation.name, automation.data, folder, tick, zone)

    def _dbos(self, executor: str, *, takes_queue: bool) -> Engine:
        url = engine_url(self._data, self._database_url)
        self._data.mkdir(parents=True, exist_ok=True)
        return DbosEngine(url, executor=executor, new_id=self._new_id, takes_queue=takes_queue)

    async def _interpret(self, ticket: Ticket, journal: Journal) -> dict[str, object]:
        log.info("run %s begins or goes on", ticket.run_id)
        result = await interpret(ticket, journal, self._tools)
        log.info("run %s: %s", ticket.run_id, result["state"])
        return result


def _failed_record(engine: Engine, run_id: str) -> int:
    """The record to go on from: that of the failed step, or of its beginning; the next one where none failed."""
    steps = engine.history.steps(run_id)
    for index, step in enumerate(steps):
        if step.output["state"] == "failed":
            before = steps[index - 1] if index else None
            return before.number if before and before.name == f"{step.name}{BEGUN}" else step.number
    return max((step.number for step in steps), default=0) + 1
