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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from automations.callers import WithKey, caller_of
from automations.catch_up import caught_up
from automations.definition import Automation, definition_of
from automations.desk import LedgerDesk, NothingKept
from automations.dispatch import Dispatcher
from automations.engine import ENDED, Cause, Engine, Journal, RunHistory, RunState, Ticket
from automations.engine_dbos import DbosEngine
from automations.errors import NotResumable, StepFailed, UnknownRun
from automations.executors import Executors
from automations.interpret import interpret
from automations.ledger import Ledger, LedgerLine, RunLine
from automations.listing import Listing
from automations.plan import Plan, plan
from automations.ports import Caller, Clock, Desk, Messenger, Sleep
from automations.records import Records, engine_url, open_ledger
from automations.reports import AutomationInfo, NextTick, RunDetail, RunReport, run_report
from automations.steps import Tools
from automations.steps.published import HOSTS
from automations.triggers import Tick, utc_text
from automations.versions import Versions
from storage import Database

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Between two looks at what is wanted of runs, by whatever process."""
REAP_SECONDS = 5.0
RECONCILE_SECONDS = 60.0
GRACE_SECONDS = 15.0
"""How long a stopping runner lets runs finish; what is not finished goes on with the next start."""


def _now() -> datetime:
    return datetime.now(UTC)


class Watcher:
    """What is done beside the runs; the default does nothing. notices.py has the one that tells people."""

    async def on_ended(self, run: RunLine) -> None:
        """A run has ended, well or badly."""

    async def on_missed(self, lines: Sequence[LedgerLine]) -> None:
        """Ticks were missed while no runner ran."""

    async def look(self, now: datetime) -> None:
        """Called every few seconds while the runner is well."""


@dataclass
class _Opened:
    """What is open while an engine runs in this process."""

    engine: Engine
    ledger: Ledger
    dispatcher: Dispatcher


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
        self._data = data
        self._database_url = database_url
        self._zone = zone
        self._clock = clock
        self._new_id = new_id
        self._grace_seconds = grace_seconds
        self._executors = Executors(data / "runners", host or socket.gethostname())
        self._opened: _Opened | None = None
        self._nudge = asyncio.Event()
        self._executing: set[str] = set()
        self._cancelled: set[str] = set()
        self._replaced: asyncio.Queue[None] = asyncio.Queue()

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
            tools = self._tools(automation, desk)
            return Plan(name, await plan(ticket, tools), tuple(self.next_ticks(name, n)))

    @contextmanager
    def _past(self) -> Generator[Desk]:
        """What earlier runs have kept, for a plan; nothing is made where there is nothing."""
        if self._database_url is None and not (self._data / "automations.db").exists():
            yield NothingKept()
            return
        with Records(self._data, self._database_url) as records:
            yield self._desk(records.ledger, records.engine)

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
        with self._executors.dead(known.executor or "") as dead:
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

    async def _finished(self, opened: _Opened, run_id: str) -> RunReport:
        """Waits for the end of a run, and meanwhile does for it, and for the runs that it waits for, what a runner
        would do."""
        mine = {run_id}

        def belongs(line: RunLine) -> bool:
            if line.details.get("parent") in mine:
                mine.add(line.run_id)
            return line.run_id in mine

        while True:
            line = await asyncio.to_thread(opened.ledger.run, run_id)
            if line is None:
                raise UnknownRun(run_id)
            if line.state in ENDED:
                return run_report(line)
            self._nudge.clear()
            await opened.dispatcher.look(belongs)
            try:
                async with asyncio.timeout(LOOK_SECONDS / 4):
                    await self._nudge.wait()
            except TimeoutError:
                continue

    @asynccontextmanager
    async def _own_engine(self) -> AsyncGenerator[_Opened]:
        """What the runner in this process has open, or an engine for as long as the block lasts."""
        if self._opened is not None:
            yield self._opened
            return
        with self._ledger_open() as database, self._executors.by_hand(self._new_id()) as executor:
            engine = self._dbos(executor, takes_queue=False)
            opened = self._open(engine, database, engine.begin)
            await engine.start(self._interpret)
            grace = self._grace_seconds
            try:
                yield opened
                # What this process took up besides is not left half done.
                grace = 600.0
            finally:
                await engine.stop(grace)
                self._opened = None

    def _open(self, engine: Engine, database: Database, begin: Callable[[Ticket], Awaitable[None]]) -> _Opened:
        ledger = Ledger(database)
        self._opened = _Opened(
            engine, ledger, Dispatcher(ledger, engine, lambda: self._automations, self._clock, begin)
        )
        return self._opened

    # Ticks

    async def run_forever(self, stop: asyncio.Event, ready: Callable[[], None] | None = None) -> None:
        """Runs ticks until `stop` is set; `ready` is called once ticks are being watched."""
        database = await asyncio.to_thread(self._ledger_open)
        try:
            with self._executors.runner() as executor:
                engine = self._dbos(executor, takes_queue=True)
                opened = self._open(engine, database, engine.submit)
                await engine.start(self._interpret)
                try:
                    await self._watch(opened, executor, stop, ready)
                finally:
                    await engine.stop(self._grace_seconds)
                    self._opened = None
        finally:
            database.close()

    async def _watch(
        self, opened: _Opened, executor: str, stop: asyncio.Event, ready: Callable[[], None] | None
    ) -> None:
        from automations.schedule import Schedule

        arrivals: asyncio.Queue[tuple[str, Tick]] = asyncio.Queue()
        schedule = Schedule(lambda name, tick: arrivals.put_nowait((name, tick)))
        await self._hand_on(opened.engine, executor)
        now = self._clock()
        await self._catch_up(opened, now)
        for automation in self._automations.values():
            schedule.add(automation.name, automation.definition.trigger, self._zone, now)
        await opened.dispatcher.dispatch()
        schedule.start()
        tasks = [
            asyncio.create_task(self._take(arrivals, opened)),
            asyncio.create_task(self._look(opened)),
            asyncio.create_task(self._tend(opened, executor)),
            asyncio.create_task(stop.wait()),
        ]
        try:
            if ready is not None:
                ready()
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            schedule.stop()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _catch_up(self, opened: _Opened, now: datetime) -> None:
        """Enters the versions in force, and what was missed while no runner ran."""
        automations = list(self._automations.values())
        await Versions(opened.ledger.database).enter(automations, now)
        timed = {one.name: one for one in automations if one.definition.trigger}
        considered = await opened.ledger.considered({name: one.data.get("trigger") for name, one in timed.items()}, now)
        missed: list[LedgerLine] = []
        for name, one in timed.items():
            definition = one.definition
            missed += caught_up(name, definition.trigger, self._zone, considered[name], now, definition.catch_up)
        await opened.ledger.record(missed, now)
        if missed:
            await self._watcher.on_missed(missed)

    async def _take(self, arrivals: "asyncio.Queue[tuple[str, Tick]]", opened: _Opened) -> None:
        """Enters ticks as they come, those that came meanwhile together, then asks for their runs."""
        while True:
            batch = [await arrivals.get()]
            while not arrivals.empty():
                batch.append(arrivals.get_nowait())
            await opened.dispatcher.arrive([LedgerLine(name, tick.name, tick.zone, "due") for name, tick in batch])

    async def _look(self, opened: _Opened) -> None:
        """Does what is wanted of runs: each second, and at once after a run has ended here."""
        while True:
            self._nudge.clear()
            try:
                await opened.dispatcher.look()
                if self._executing:
                    self._cancelled |= await asyncio.to_thread(opened.ledger.to_cancel, list(self._executing))
                if await asyncio.to_thread(opened.ledger.due):
                    await opened.dispatcher.dispatch()
            except Exception:  # a database that is away for a while must not end the runner: the ledger keeps all
                log.exception("the ledger or the engine cannot be reached; trying again")
                await asyncio.sleep(REAP_SECONDS)
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudge.wait()
            except TimeoutError:
                continue

    async def _tend(self, opened: _Opened, executor: str) -> None:
        """Hands on the runs of dead processes, looks after forgotten runs, and lets the watcher look."""
        last = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(REAP_SECONDS)
            try:
                await self._hand_on(opened.engine, executor)
                if asyncio.get_running_loop().time() - last > RECONCILE_SECONDS:
                    last = asyncio.get_running_loop().time()
                    await opened.dispatcher.reconcile(self._clock() - timedelta(seconds=RECONCILE_SECONDS))
                await self._watcher.look(self._clock())
            except Exception:  # the same
                log.exception("the ledger or the engine cannot be reached; trying again")

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

    def _dbos(self, executor: str, *, takes_queue: bool) -> Engine:
        url = engine_url(self._data, self._database_url)
        self._data.mkdir(parents=True, exist_ok=True)
        return DbosEngine(url, executor=executor, new_id=self._new_id, takes_queue=takes_queue)

    def _tools(self, automation: Automation | None, desk: Desk) -> Tools:
        tools = Tools(
            self._caller, self._messenger, self._data / "files", self._hosts, self._sleep, self._jitter,
            desk, self._clock, self._secrets, self._cancelled.__contains__,
        )  # fmt: skip
        return tools if automation is None else self._bound(tools, automation.definition)

    def _bound(self, tools: Tools, definition: Any) -> Tools:
        return replace(tools, caller=caller_of(definition, self._caller, self._with_key, self._secrets))

    async def _interpret(self, ticket: Ticket, journal: Journal) -> dict[str, object]:
        """One go of a run: the ledger knows of its begin and of its end."""
        opened = self._opened
        assert opened is not None
        run_id = ticket.run_id
        if not await opened.ledger.began(run_id, self._clock()):
            await opened.ledger.ended(run_id, {"state": RunState.CANCELLED}, self._clock())
            return {"state": RunState.CANCELLED}
        log.info("run %s begins or goes on", run_id)
        self._executing.add(run_id)
        try:
            result = await self._one_go(opened, ticket, journal)
        finally:
            self._executing.discard(run_id)
            self._cancelled.discard(run_id)
        await opened.ledger.ended(run_id, result, self._clock())
        log.info("run %s: %s", run_id, result["state"])
        self._nudge.set()
        if result["state"] in ENDED:
            line = await asyncio.to_thread(opened.ledger.run, run_id)
            if line is not None:
                await self._watcher.on_ended(line)
        return result

    async def _one_go(self, opened: _Opened, ticket: Ticket, journal: Journal) -> dict[str, object]:
        desk = self._desk(opened.ledger, opened.engine.history)
        try:
            tools = self._bound(self._tools(None, desk), definition_of(ticket.data))
            return await interpret(ticket, journal, tools)
        except StepFailed as error:
            return {"state": RunState.FAILED, "step": "key", "message": str(error)}


def refuse_to_resume(line: RunLine, *, again: bool, from_step: str | None) -> None:
    """Raises NotResumable, with what to do, for a run that cannot go on so."""
    if line.state == RunState.DONE and from_step is None:
        raise NotResumable(f"{line.run_id} is done: there is nothing to go on with")
    if line.state == RunState.PARKED:
        raise NotResumable(f"{line.run_id} waits ({line.wake_on or line.wake_at}); it goes on by itself")
    if line.state == RunState.STOPPED and not again and from_step is None:
        raise NotResumable(
            f"{line.run_id} stopped at {line.step}: {line.message}. To do that step again: resume with --again"
        )


def undo_line(original: RunLine, by: str) -> LedgerLine:
    """The run that undoes another one: once, however often it is asked for. Raises NotResumable."""
    if original.state not in ENDED or original.cause == Cause.UNDO:
        raise NotResumable(f"{original.run_id} is {original.state}: only a finished run can be undone")
    details = {**original.details, "undoes": original.run_id, "by": by}
    occasion = f"undo-{original.run_id.partition(':')[2]}"
    return LedgerLine(original.automation, original.tick, original.zone, "due", "", occasion, Cause.UNDO, details)
