"""From the ledger to the engine: begins what is due, wakes what is parked, ends what is to end.

tick, event ─► record ─► dispatch (overlap) ─► begin          each second: wake ─► orders ─► carried out
                                                              now and then: runs that the engine gave up, or forgot
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from automations.definition import Automation
from automations.engine import AFTER_ALL, ENDED, Engine, RunState, Ticket
from automations.errors import AutomationError, EngineUnavailable, NeedsLeave, NotResumable
from automations.interpret import BEGUN
from automations.ledger import Ledger, LedgerLine, Order, Rule, RunLine
from automations.ports import Clock
from automations.versions import Versions

log = logging.getLogger(__name__)

TOGETHER = 100
"""How many orders are carried out at once."""

Begin = Callable[[Ticket], Awaitable[None]]
"""Tells the engine of a run: for any runner, or for this process."""


class Dispatcher:
    """Carries out what the ledger says. `automations` gives those in force; `begin` is the engine's `submit` for a
    runner and its `begin` for a run by hand."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Engine,
        automations: Callable[[], Mapping[str, Automation]],
        clock: Clock,
        begin: Begin,
    ) -> None:
        self.ledger = ledger
        self._engine = engine
        self._automations = automations
        self._clock = clock
        self._begin = begin
        self._versions = Versions(ledger.database)

    async def arrive(self, lines: Sequence[LedgerLine]) -> None:
        """Enters ticks and begins what is due."""
        await self.ledger.record(lines, self._clock())
        await self.dispatch()

    async def dispatch(self) -> None:
        """Begins what is due, as the automations' overlap allows."""
        rules = {
            name: Rule(one.digest, one.definition.overlap, one.definition.limits.at_once)
            for name, one in self._automations().items()
        }
        found = await self.ledger.dispatch(rules, self._clock())
        for run_id in found.cancel:
            log.info("run %s is ended: a newer one takes its place", run_id)
        await self.carry_out([Order(run, "begin") for run in found.begin])

    async def look(self, mine: Callable[[RunLine], bool] | None = None) -> None:
        """Wakes the parked runs whose time has come, and does what is wanted of runs."""
        now = self._clock()
        await self.ledger.wake_due(now)
        await self.carry_out(await self.ledger.orders(now, mine))

    async def carry_out(self, orders: Sequence[Order]) -> None:
        """Does what this process has claimed, several at once, so that they share commits; what cannot be done yet is
        put back."""
        for start in range(0, len(orders), TOGETHER):
            some = orders[start : start + TOGETHER]
            done = await asyncio.gather(*(self._is_done(order) for order in some))
            await self.ledger.carried_out([order for order, is_done in zip(some, done, strict=True) if is_done])
            await self.ledger.put_back([order for order, is_done in zip(some, done, strict=True) if not is_done])

    async def _is_done(self, order: Order) -> bool:
        try:
            return await self._do(order)
        except EngineUnavailable as error:
            log.warning("run %s: %s", order.run.run_id, error)
            return False
        except AutomationError as error:
            log.warning("run %s: %s", order.run.run_id, error)
            state = RunState.STOPPED if isinstance(error, NeedsLeave) else RunState.FAILED
            result = {"state": state, "step": order.run.step, "message": str(error)}
            await self.ledger.ended(order.run.run_id, result, self._clock())
            return True

    async def _do(self, order: Order) -> bool:
        run_id = order.run.run_id
        kind, _, step = order.wanted.partition(":")
        if kind == "begin":
            await self._begin(self.ticket(order.run))
            return True
        line = self.ledger.run(run_id)
        if line is None or line.wanted != order.wanted:
            return True  # its claim was too old: another process has carried it out
        return await self.go_on(run_id, again=kind == "again", from_step=step or None)

    async def go_on(self, run_id: str, *, again: bool = False, from_step: str | None = None) -> bool:
        """Takes a run up again that has ended or is parked; false where its last go is not over in the engine: it
        has yet to say so, or its process has died. Raises NotResumable."""
        known = self._engine.history.run(run_id)
        if known is None:
            line = self.ledger.run(run_id)
            if line is not None:
                await self._begin(self.ticket(line))
            return True
        if known.state is RunState.WAITING:
            return True  # somebody was quicker
        if known.state is RunState.RUNNING:
            return False
        if known.state is RunState.PARKED and not again and from_step is None:
            # Also where it waits in `on_failure`: what failed before that is not done again for an answer.
            await self._engine.go_on(run_id, AFTER_ALL)
            return True
        await self._engine.go_on(run_id, record_to_go_on_from(self._engine, run_id, from_step, again=again))
        return True

    def ticket(self, line: RunLine) -> Ticket:
        """All that a run takes along. Raises AutomationError where its definition is gone."""
        now = self._automations().get(line.automation)
        if now is not None and now.digest == line.digest:
            data, file = now.data, now.file
        else:
            version = self._versions.of(line.automation, line.digest)
            if version is None:
                raise AutomationError(f"the definition of {line.automation} that was to run is gone")
            data, file = version.data, Path(version.file)
        folder = str(file.parent.resolve())
        return Ticket(line.run_id, line.automation, data, folder, line.tick, line.zone, line.cause, line.details)

    async def reconcile(self, older_than: datetime) -> None:
        """Ends in the ledger the runs that the engine has ended without telling: given up after too many starts."""
        for line in self.ledger.runs(None, 1000, ["running", "waiting"]):
            if (line.begun_at or line.asked_at) >= older_than.isoformat():
                continue
            known = self._engine.history.run(line.run_id)
            if known is None:
                await self.carry_out([Order(line, "begin")])
            elif known.state in ENDED:
                await self.ledger.ended(line.run_id, {**known.result, "state": known.state}, self._clock())


def record_to_go_on_from(engine: Engine, run_id: str, from_step: str | None, *, again: bool) -> int:
    """The record to go on from: that of the failed step or of the one named, or of its beginning; the next one where
    none failed. Raises NotResumable for a step that the run has not recorded, and NeedsLeave for a failed one that may
    have happened and is not to be done `again`, however the run ended after it."""
    steps = engine.history.steps(run_id)
    for index, step in enumerate(steps):
        named = from_step is not None and step.name.partition("[")[0] == from_step
        failed = from_step is None and step.output["state"] == "failed" and not step.output.get("gone_on")
        if failed and step.output.get("doubtful") and not again:
            raise NeedsLeave(f"{run_id} stopped at {step.name}: {step.output.get('message', '')}")
        if named or failed:
            before = steps[index - 1] if index else None
            return before.number if before and before.name == f"{step.name}{BEGUN}" else step.number
    if from_step is not None:
        names = dict.fromkeys(step.name.removesuffix(BEGUN).partition("[")[0] for step in steps)
        raise NotResumable(f"{from_step} is no step that {run_id} has come to; there are {', '.join(names) or 'none'}")
    return AFTER_ALL
