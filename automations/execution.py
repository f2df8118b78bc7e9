"""One go of a run in this process: what it is given, and what the ledger is told of it."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from automations.callers import WithKey, caller_of
from automations.definition import Automation, Definition, definition_of
from automations.engine import ENDED, Journal, RunState, Ticket
from automations.errors import StepFailed
from automations.interpret import interpret
from automations.ledger import Ledger, LedgerLine
from automations.ports import Clock, Desk
from automations.steps import Tools
from automations.telemetry import of_run
from storage import Database

log = logging.getLogger(__name__)


class Watcher:
    """What is done beside the runs, for those who look after them; this one does nothing. care.py has the other."""

    async def attach(self, database: Database, automations: Callable[[], Mapping[str, Automation]]) -> None:
        """Called before all else: the ledger's database, and what gives the automations in force."""

    def turned(self) -> None:
        """The runner's loop has come round: it is alive."""

    async def on_ended(self, run_id: str) -> None:
        """A run has ended, well or badly."""

    async def on_missed(self, lines: Sequence[LedgerLine]) -> None:
        """Ticks were missed while no runner ran."""

    async def run(self) -> None:
        """Runs as long as the runner does, and is cancelled with it."""
        await asyncio.Event().wait()


class Execution:
    """Interprets runs and tells the ledger. `tools` gives what steps work with on a desk; `ended` is called after each
    go, so that what waited for it is looked at at once."""

    def __init__(
        self,
        ledger: Ledger,
        desk: Desk,
        tools: Tools,
        clock: Clock,
        watcher: Watcher,
        with_key: WithKey | None,
        ended: Callable[[], None],
    ) -> None:
        self._ledger = ledger
        self._cancelled: set[str] = set()
        self._executing: set[str] = set()
        self._tools = replace(tools, desk=desk, is_cancelled=self._cancelled.__contains__)
        self._clock = clock
        self._watcher = watcher
        self._with_key = with_key
        self._after = ended

    async def interpret(self, ticket: Ticket, journal: Journal) -> dict[str, object]:
        """One go of a run: the ledger knows of its begin and of its end."""
        with of_run(ticket):
            return await self._told(ticket, journal)

    async def _told(self, ticket: Ticket, journal: Journal) -> dict[str, object]:
        run_id = ticket.run_id
        if not await self._ledger.began(run_id, self._clock()):
            await self._ledger.ended(run_id, {"state": RunState.CANCELLED}, self._clock())
            return {"state": RunState.CANCELLED}
        log.info("run %s begins or goes on", run_id)
        self._executing.add(run_id)
        try:
            result = await self._one_go(ticket, journal)
        finally:
            self._executing.discard(run_id)
            self._cancelled.discard(run_id)
        await self._ledger.ended(run_id, result, self._clock())
        log.info("run %s: %s", run_id, result["state"])
        self._after()
        if result["state"] in ENDED:
            await self._watcher.on_ended(run_id)
        return result

    async def _one_go(self, ticket: Ticket, journal: Journal) -> dict[str, object]:
        try:
            return await interpret(ticket, journal, self.tools_of(definition_of(ticket.data)))
        except StepFailed as error:
            return {"state": RunState.FAILED, "step": "key", "message": str(error)}

    def tools_of(self, definition: Definition) -> Tools:
        """What the steps of one automation work with: its own key, and no operation that it may not call.

        Raises StepFailed where its key is not there.
        """
        tools = self._tools
        return replace(tools, caller=caller_of(definition, tools.caller, self._with_key, tools.secrets))

    async def look_for_cancelled(self) -> None:
        """Notes which of the runs under way here are to end before their next step."""
        if self._executing:
            self._cancelled |= await asyncio.to_thread(self._ledger.to_cancel, list(self._executing))
