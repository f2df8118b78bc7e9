"""Undoes a finished run: the `undo` steps of its steps, the last one first.

The run is told again from its own records, without doing anything, so that each `undo` step sees the names as the step
saw them, and `value`, what the step gave. A step that was skipped, failed or never came has nothing to undo.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from automations.definition import definition_of
from automations.engine import Journal, RunState, Ticket
from automations.expressions import BadTemplate, ExpressionFailed
from automations.interpret import Cancelled, Ended, Outcome, Parked, Run, parked_result, step_name
from automations.steps import Step, Tools

UNDO = "undo "
"""What stands before a step's name for the record of its undoing."""


class NotRecorded(Exception):
    """The run never came this far."""


class Past:
    """A journal that only tells what was recorded, by name. Raises NotRecorded for what was not."""

    incarnation = "past"

    def __init__(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self._records = dict(records)

    async def record(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:  # noqa: ARG002 - a journal's shape
        if name not in self._records:
            raise NotRecorded(name)
        return dict(self._records[name])


@dataclass
class Retold(Run):
    """A run told from its records: which steps were done, and with which names in scope."""

    done: list[tuple[str, Step, dict[str, Any]]] = field(default_factory=list[tuple[str, Step, dict[str, Any]]])

    async def _once(self, name: str, step: Step, extra: Mapping[str, Any]) -> Outcome:
        record = await self.journal.record(name, self._begun)
        outcome = self.told(name, step, record)
        self._remember(name, step, extra, outcome)
        return outcome

    async def _together(self, name: str, step: Step, extras: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        outcomes = await super()._together(name, step, extras)
        for extra, outcome in zip(extras, outcomes, strict=True):
            self._remember(f"{name.rpartition('[')[0]}[{extra['loop']['index0']}]", step, extra, outcome)
        return outcomes

    def _remember(self, name: str, step: Step, extra: Mapping[str, Any], outcome: Outcome) -> None:
        if step.undo and outcome.state == "done":
            kept = {key: dict(value) for key, value in self.scope.items() if key in {"steps", "_skipped", "_failed"}}
            self.done.append((name, step, {**self.scope, **kept, **extra, "value": outcome.value}))


async def retold(ticket: Ticket, records: Sequence[tuple[str, Mapping[str, Any]]], tools: Tools) -> Retold:
    """The run of a ticket, as far as it came."""
    run = Retold(ticket, Past(records), tools, definition_of(ticket.data))
    run.begin()
    # As far as it came.
    with suppress(NotRecorded, Ended):
        await run.steps(run.definition.steps)
    return run


async def undo(ticket: Ticket, journal: Journal, tools: Tools) -> dict[str, Any]:
    """Runs the `undo` steps of the run that `ticket.details["undoes"]` names; else the ticket is that run's own."""
    undone = ticket.details["undoes"]
    records = await tools.desk.recorded(undone)
    run = Run(ticket, journal, tools, definition_of(ticket.data))
    try:
        run.begin()
        past = await retold(ticket, records, tools)
    except (ExpressionFailed, BadTemplate) as error:
        return {"state": RunState.FAILED, "step": "vars", "message": run.hidden(str(error))}
    try:
        for name, step, scope in reversed(past.done):
            run.scope = {**run.scope, **scope, "run": run.scope["run"], "secrets": run.scope["secrets"]}
            for index, act in enumerate(step.undo):
                outcome = await run.step(step_name(index, act, f"{UNDO}{name} "), act)
                run.know(step_name(index, act), outcome)
    except Ended as ended:
        state = RunState.STOPPED if ended.outcome.get("doubtful") else RunState.FAILED
        return {"state": state, "step": ended.name, "message": ended.outcome["message"]}
    except Parked as parked:
        return parked_result(parked)
    except Cancelled:
        return {"state": RunState.CANCELLED}
    return {"state": RunState.DONE, "undone": len(past.done)}
