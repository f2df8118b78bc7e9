"""The runner as a service: ticks as they come, and all that the ledger wants, until told to stop.

runs of the dead ─► what was missed ─► ticks ─► dispatch          beside: look each second, tend every few seconds,
                                                                         the watcher, and definitions that change
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta

from automations.catch_up import caught_up
from automations.definition import Automation
from automations.dispatch import Dispatcher
from automations.engine import Engine
from automations.execution import Execution, Watcher
from automations.executors import Executors, Held
from automations.keeping import forget_old
from automations.ledger import LedgerLine
from automations.ports import Clock
from automations.schedule import Schedule
from automations.triggers import Tick
from automations.versions import Versions

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Between two looks at what is wanted of runs, by whatever process."""
NUDGE_SECONDS = 0.2
"""Between two looks at the least."""
REAP_SECONDS = 5.0
RECONCILE_SECONDS = 60.0


class Service:
    """Runs ticks with what the runner has opened. `nudge` is set when there may be something to do at once."""

    def __init__(
        self,
        engine: Engine,
        dispatcher: Dispatcher,
        execution: Execution,
        executors: Executors,
        held: Held,
        *,
        watcher: Watcher,
        clock: Clock,
        zone: str,
        nudge: asyncio.Event,
        keep_days: int,
    ) -> None:
        self._engine = engine
        self._dispatcher = dispatcher
        self._execution = execution
        self._executors = executors
        self._held = held
        self._watcher = watcher
        self._clock = clock
        self._zone = zone
        self._nudge = nudge
        self._keep_days = keep_days
        self._arrivals: asyncio.Queue[tuple[str, Tick]] = asyncio.Queue()
        self._schedule = Schedule(lambda name, tick: self._arrivals.put_nowait((name, tick)), clock)

    async def run(
        self, automations: Mapping[str, Automation], stop: asyncio.Event, ready: Callable[[], None] | None
    ) -> bool:
        """Until `stop` is set, or false: another process has taken the name over, or it could not be kept. `ready` is
        called once ticks are being watched."""
        await self._hand_on()
        now = self._clock()
        await self._enter(automations)
        for automation in automations.values():
            self._schedule.add(automation.name, automation.definition.trigger, self._zone, now)
        await self._dispatcher.dispatch()
        self._schedule.start()
        keeping = asyncio.ensure_future(self._held.keep())
        coroutines = (self._take(), self._look(), self._tend(), self._watcher.run(), stop.wait())
        tasks = [keeping, *(asyncio.ensure_future(coroutine) for coroutine in coroutines)]
        try:
            if ready is not None:
                ready()
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            return keeping not in done
        finally:
            self._schedule.stop()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def replace(self, before: Mapping[str, Automation], after: Mapping[str, Automation]) -> None:
        """Takes other definitions into force. Runs under way go on with theirs; a new or changed trigger has missed
        nothing."""
        changed = {name: one for name, one in after.items() if name not in before or before[name].digest != one.digest}
        now = self._clock()
        await self._enter(changed)
        for name in before.keys() - after.keys():
            self._schedule.remove(name)
        for name, one in changed.items():
            self._schedule.remove(name)
            self._schedule.add(name, one.definition.trigger, self._zone, now)

    async def _enter(self, automations: Mapping[str, Automation]) -> None:
        """Enters the versions in force, and what was missed while no runner ran."""
        now = self._clock()
        ledger = self._dispatcher.ledger
        await Versions(ledger.database).enter(list(automations.values()), now)
        timed = {name: one for name, one in automations.items() if one.definition.trigger}
        considered = await ledger.considered({name: one.data.get("trigger") for name, one in timed.items()}, now)
        missed: list[LedgerLine] = []
        for name, one in timed.items():
            definition = one.definition
            missed += caught_up(name, definition.trigger, self._zone, considered[name], now, definition.catch_up)
        await ledger.record(missed, now)
        if missed:
            await self._watcher.on_missed(missed)

    async def _take(self) -> None:
        """Enters ticks as they come, those that came meanwhile together, then asks for their runs."""
        while True:
            batch = [await self._arrivals.get()]
            while not self._arrivals.empty():
                batch.append(self._arrivals.get_nowait())
            lines = [LedgerLine(name, tick.name, tick.zone, "due") for name, tick in batch]
            while True:
                try:
                    await self._dispatcher.arrive(lines)
                    break
                except Exception:  # a database that is away for a while must not end the runner, nor lose a tick
                    log.exception("the ledger or the engine cannot be reached; trying again")
                    await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        """Does what is wanted of runs: each second, and at once after a run has ended here."""
        while True:
            self._nudge.clear()
            self._watcher.turned()
            # Timers do not notice a machine that slept, or a clock that was set.
            self._schedule.look()
            try:
                await self._dispatcher.look()
                await self._execution.look_for_cancelled()
                if await asyncio.to_thread(self._dispatcher.ledger.has_due):
                    await self._dispatcher.dispatch()
            except Exception:  # the same
                log.exception("the ledger or the engine cannot be reached; trying again")
                await asyncio.sleep(REAP_SECONDS)
            # Where many runs end, one look serves them all.
            await asyncio.sleep(NUDGE_SECONDS)
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudge.wait()
            except TimeoutError:
                continue

    async def _tend(self) -> None:
        """Hands on the runs of dead processes, and looks after runs that were forgotten."""
        last = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(REAP_SECONDS)
            try:
                await self._hand_on()
                if asyncio.get_running_loop().time() - last > RECONCILE_SECONDS:
                    last = asyncio.get_running_loop().time()
                    await self._dispatcher.reconcile(self._clock() - timedelta(seconds=RECONCILE_SECONDS))
                    before = self._clock() - timedelta(days=self._keep_days)
                    await forget_old(self._dispatcher.ledger.database, before, self._engine.forget)
            except Exception:  # the same
                log.exception("the ledger or the engine cannot be reached; trying again")

    async def _hand_on(self) -> None:
        """Queues the runs of processes that are dead."""
        history = self._engine.history
        others = {run.executor for run in await asyncio.to_thread(history.under_way)} - {self._held.executor, None}
        for other in others:
            async with self._executors.dead(other or "") as dead:
                if not dead:
                    continue
                runs = await asyncio.to_thread(history.under_way)
                lost = [run.ticket.run_id for run in runs if run.executor == other]
                if lost:
                    log.warning("%s has died; its runs go on here: %s", other, ", ".join(lost))
                    await self._engine.take_over(lost, other or "")
