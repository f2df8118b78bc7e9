"""Interprets a run: its steps one after another, each recorded, with the values of those before it in scope.

if ─► for_each ─► (begun) ─► run ─► recorded: {"state": "done" | "skipped" | "failed", …}

A step that leaves traces records its beginning first. When the run is taken up again and finds a beginning of an
earlier execution without an end, the step is told so and decides; the others are simply done again.
A failed step ends the run; what it recorded is forgotten when the run is resumed.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from automations.budget import LARGEST_RANGE
from automations.definition import Definition
from automations.engine import Journal, RunState, Ticket
from automations.errors import StepFailed
from automations.expressions import BadTemplate, ExpressionFailed, is_template, references, resolve
from automations.shapes import is_list
from automations.steps import Given, Step, Tools
from automations.values import decode, encode

log = logging.getLogger(__name__)

BEGUN = " begun"
"""What is added to a step's name for the record of its beginning."""


def step_name(index: int, step: Step) -> str:
    """Its id, or what it is and where: `write_2`."""
    return step.id or f"{step.kind}_{index + 1}"


class Ended(Exception):
    """A step failed, and so the run."""

    def __init__(self, name: str, outcome: Mapping[str, Any]) -> None:
        self.name = name
        self.outcome = outcome
        super().__init__(name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a step; of a skipped one, `{"skipped": True}`."""

    value: Any
    skipped: bool


@dataclass
class Run:
    """One execution of a run: what it knows so far."""

    ticket: Ticket
    journal: Journal
    tools: Tools
    scope: dict[str, Any] = field(default_factory=dict[str, Any])

    def begin(self, definition: Definition) -> None:
        moment = datetime.fromisoformat(self.ticket.tick)
        local = moment.astimezone(ZoneInfo(self.ticket.zone))
        names: dict[str, Any] = {
            "tick": {"utc": self.ticket.tick, "local": local.isoformat(), "date": local.date().isoformat()},
            "run": {"id": self.ticket.run_id},
            "automation": {"name": self.ticket.automation},
        }
        variables = {name: resolve(value, names) for name, value in definition.vars.items()}
        self.scope = {**names, "vars": variables, "steps": {}, "_skipped": {}}

    def given(self, name: str, extra: Mapping[str, Any], *, taken_up: bool) -> Given:
        return Given(
            tools=self.tools,
            scope={**self.scope, **extra},
            key=f"{self.ticket.run_id}/{name}",
            folder=Path(self.ticket.folder),
            today=datetime.fromisoformat(self.scope["tick"]["local"]).date(),
            taken_up=taken_up,
        )

    async def step(self, name: str, step: Step) -> Outcome:
        """What a step gave, `for_each` included. Raises Ended."""
        if step.for_each is None:
            return await self._once(name, step, {})
        if not _of_items(step.if_):
            outcome = await self._head(name, step)
            if outcome is not None:
                return outcome
        items = self._items(step)
        if isinstance(items, StepFailed):
            return await self._recorded(name, failure(items))
        values: list[Any] = []
        for index, item in enumerate(items):
            extra = {"item": item, "loop": {"index": index + 1, "index0": index, "length": len(items)}}
            outcome = await self._once(f"{name}[{index}]", step, extra)
            if not outcome.skipped:
                values.append(outcome.value)
        return Outcome(values, skipped=False)

    async def _head(self, name: str, step: Step) -> Outcome | None:
        """Judges a condition that is the same for all items: None where the step is to run."""
        try:
            wanted = bool(resolve(step.if_, self.scope))
        except (ExpressionFailed, BadTemplate) as error:
            return await self._recorded(name, failure(error))
        return None if wanted else await self._recorded(name, {"state": "skipped"})

    def _items(self, step: Step) -> list[Any] | StepFailed:
        try:
            items = resolve(step.for_each, self.scope)
        except (ExpressionFailed, BadTemplate) as error:
            return StepFailed(str(error))
        if not is_list(items):
            return StepFailed(f"for_each should be a list, {str(step.for_each).strip()[:200]} is none")
        if len(items) > LARGEST_RANGE:
            return StepFailed(f"for_each has {len(items):,} items, more than {LARGEST_RANGE:,}")
        return items

    async def _recorded(self, name: str, outcome: dict[str, Any]) -> Outcome:
        async def known() -> dict[str, Any]:
            return outcome

        return self.told(name, await self.journal.record(name, known))

    async def _once(self, name: str, step: Step, extra: Mapping[str, Any]) -> Outcome:
        """One execution of a step, recorded."""
        taken_up = False
        if step.leaves_traces and self._wanted(step, extra):
            begun = await self.journal.record(f"{name}{BEGUN}", self._begun)
            taken_up = begun["by"] != self.journal.incarnation

        async def work() -> dict[str, Any]:
            return await self._outcome(name, step, self.given(name, extra, taken_up=taken_up))

        return self.told(name, await self.journal.record(name, work))

    def told(self, name: str, record: Mapping[str, Any]) -> Outcome:
        """What a record says. Raises Ended for a failure."""
        if record["state"] == "failed":
            raise Ended(name, record)
        if record["state"] == "skipped":
            return Outcome({"skipped": True}, skipped=True)
        return Outcome(decode(record["value"]), skipped=False)

    def _wanted(self, step: Step, extra: Mapping[str, Any]) -> bool:
        try:
            return bool(resolve(step.if_, {**self.scope, **extra}))
        except (ExpressionFailed, BadTemplate):
            return False  # told by the step's own record, which nothing has begun before

    async def _begun(self) -> dict[str, Any]:
        return {"state": "begun", "by": self.journal.incarnation}

    async def perform(self, step: Step, given: Given) -> dict[str, Any]:
        """Does what a step says."""
        return {"state": "done", "value": encode(await step.run(given))}

    async def _outcome(self, name: str, step: Step, given: Given) -> dict[str, Any]:
        """Runs the step; every failure becomes a record, and this is the one place where it does."""
        try:
            if not given.value(step.if_):
                return {"state": "skipped"}
            return await self.perform(step, given)
        except (StepFailed, ExpressionFailed, BadTemplate) as error:
            return failure(error)
        except Exception as error:  # a step that breaks ends its own run and no other
            log.exception("run %s: step %s broke off", self.ticket.run_id, name)
            return failure(StepFailed(f"broke off with {type(error).__name__}; the log has the place"))


def failure(error: Exception) -> dict[str, Any]:
    doubtful = isinstance(error, StepFailed) and error.doubtful
    return {"state": "failed", "message": str(error), "doubtful": doubtful}


def _of_items(condition: Any) -> bool:
    return is_template(condition) and any(name.path[0] in {"item", "loop"} for name in references(condition))


async def interpret(ticket: Ticket, journal: Journal, tools: Tools) -> dict[str, Any]:
    """Runs all steps of a run. The result is `{"state": …}` with `step` and `message` where it did not end well."""
    definition = Definition.model_validate(ticket.data)
    run = Run(ticket, journal, tools)
    try:
        run.begin(definition)
    except (ExpressionFailed, BadTemplate) as error:
        return {"state": RunState.FAILED, "step": "vars", "message": str(error)}
    for index, step in enumerate(definition.steps):
        name = step_name(index, step)
        try:
            outcome = await run.step(name, step)
        except Ended as ended:
            state = RunState.STOPPED if ended.outcome.get("doubtful") else RunState.FAILED
            return {"state": state, "step": ended.name, "message": ended.outcome["message"]}
        run.scope["steps"][name] = outcome.value
        run.scope["_skipped"][name] = outcome.skipped
    return {"state": RunState.DONE}
