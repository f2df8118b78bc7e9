"""Interprets a run: its steps one after another, each recorded, with the values of those before it in scope.

if / unless ─► for_each ─► (begun) ─► ready? ─► attempts ─► recorded: {"state": "done" | "skipped" | "failed", …}
                                       └─ no: Parked, nothing is recorded; the run is woken and comes here again

A step that leaves traces, or waits, records its beginning first. When the run is taken up again and finds a beginning
of an earlier execution without an end, the step is told so and decides; the others are simply done again.
A failed step ends the run, unless it says `continue_on_error`; then come the steps of `on_failure`. What a failed step
recorded is forgotten when the run is resumed.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from automations.attempts import attempted
from automations.budget import LARGEST_RANGE
from automations.definition import Definition, definition_of, text_of
from automations.engine import Cause, Journal, RunState, Ticket
from automations.errors import StepFailed
from automations.expressions import BadTemplate, ExpressionFailed, is_template, references, resolve
from automations.scope import Hiding, names_of
from automations.shapes import is_list
from automations.steps import Given, Step, Tools, Wait
from automations.telemetry import of_step
from automations.triggers import duration
from automations.values import decode, encode

log = logging.getLogger(__name__)

BEGUN = " begun"
"""What is added to a step's name for the record of its beginning."""
ON_FAILURE = "on_failure."
SECRET = re.compile(r"\bsecrets\s*(?:\.\s*|\[\s*\\?['\"])([a-z][a-z0-9_]*)")
"""A secret that a definition names, in any of its templates."""


def step_name(index: int, step: Step, prefix: str = "") -> str:
    """Its id, or what it is and where: `write_2`."""
    return prefix + (step.id or f"{step.kind}_{index + 1}")


class Ended(Exception):
    """A step failed, and so the run."""

    def __init__(self, name: str, outcome: Mapping[str, Any]) -> None:
        self.name = name
        self.outcome = outcome
        super().__init__(name)


class Cancelled(Exception):
    """A person, or a newer run, has asked the run to end."""


class Parked(Exception):
    """A step waits, and so the run."""

    def __init__(self, name: str, wait: Wait) -> None:
        self.name = name
        self.wait = wait
        super().__init__(name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a step; of a skipped one `{"skipped": True}`, of a failed one that was gone on after `{"failed":
    True, "message": …}`."""

    value: Any
    state: str = "done"

    @property
    def skipped(self) -> bool:
        return self.state == "skipped"


@dataclass
class Run:
    """One execution of a run: what it knows so far."""

    ticket: Ticket
    journal: Journal
    tools: Tools
    definition: Definition
    scope: dict[str, Any] = field(default_factory=dict[str, Any])
    deadline: float | None = None
    """When this go of the run has taken too long, on the loop's clock."""
    failed_at: str = ""
    """Tells the failure that on_failure is about from earlier ones."""

    def __post_init__(self) -> None:
        self._hiding = Hiding(self.tools.secrets)

    def begin(self) -> None:
        """Puts the names into scope. Raises ExpressionFailed or BadTemplate for a variable that has no value."""
        names = names_of(self.ticket, self._hiding)
        # Those of an earlier go count too: their values may come back in an answer or an error of this one.
        self._hiding.expect({*SECRET.findall(text_of(self.ticket.data)), self.definition.key})
        variables = {name: resolve(value, names) for name, value in self.definition.vars.items()}
        # What others gave is a value, and no template: it may come from anybody's text, and could name secrets.
        variables |= decode(self.ticket.details.get("vars", {}))
        self.scope = {**names, "vars": variables, "steps": {}, "_skipped": {}, "_failed": {}}
        if self.definition.timeout is not None:
            self.deadline = asyncio.get_running_loop().time() + duration(self.definition.timeout).total_seconds()

    def hidden(self, value: Any) -> Any:
        """A value of JSON, or a text, with secrets that were used under their names."""
        return self._hiding.hide(value)

    def given(self, name: str, extra: Mapping[str, Any], begun: Mapping[str, Any] | None = None) -> Given:
        return Given(
            tools=self.tools,
            scope={**self.scope, **extra},
            key=f"{self.ticket.run_id}/{name}{self.failed_at if name.startswith(ON_FAILURE) else ''}",
            folder=Path(self.ticket.folder),
            today=datetime.fromisoformat(self.scope["tick"]["local"]).date(),
            taken_up=begun is not None and begun["by"] != self.journal.incarnation,
            begun_at=datetime.fromisoformat(begun["at"]) if begun is not None and "at" in begun else None,
        )

    async def steps(self, steps: Sequence[Step], prefix: str = "") -> None:
        """Runs steps in order. Raises Ended, Parked or Cancelled."""
        for index, step in enumerate(steps):
            name = step_name(index, step, prefix)
            self.know(step_name(index, step), await self.step(name, step))

    def know(self, name: str, outcome: Outcome) -> None:
        """Puts what a step gave into scope."""
        self.scope["steps"][name] = outcome.value
        self.scope["_skipped"][name] = outcome.skipped
        self.scope["_failed"][name] = outcome.state == "failed"

    async def step(self, name: str, step: Step) -> Outcome:
        """What a step gave, `for_each` included. Raises Ended or Parked."""
        if step.for_each is None:
            return await self._once(name, step, {})
        if not _of_items(step):
            outcome = await self._head(name, step)
            if outcome is not None:
                return outcome
        items = self._items(step)
        if isinstance(items, StepFailed):
            return await self._recorded(name, step, self.failure(items, step))
        outcomes: list[Outcome] = []
        for start in range(0, len(items), step.concurrency):
            some = range(start, min(start + step.concurrency, len(items)))
            extras = [_item(items, index) for index in some]
            if step.concurrency == 1:
                outcomes.append(await self._once(f"{name}[{start}]", step, extras[0]))
            else:
                outcomes.extend(await self._together(f"{name}[{some[0]}-{some[-1]}]", step, extras))
        state = "failed" if any(outcome.state == "failed" for outcome in outcomes) else "done"
        return Outcome([outcome.value for outcome in outcomes if not outcome.skipped], state)

    async def _head(self, name: str, step: Step) -> Outcome | None:
        """Judges a condition that is the same for all items: None where the step is to run."""
        try:
            wanted = self._condition(step, self.scope)
        except (ExpressionFailed, BadTemplate) as error:
            return await self._recorded(name, step, self.failure(error, step))
        return None if wanted else await self._recorded(name, step, {"state": "skipped"})

    def _condition(self, step: Step, scope: Mapping[str, Any]) -> bool:
        return bool(resolve(step.if_, scope)) and not bool(resolve(step.unless, scope))

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

    async def _recorded(self, name: str, step: Step, outcome: dict[str, Any]) -> Outcome:
        async def known() -> dict[str, Any]:
            return outcome

        return self.told(name, step, await self.journal.record(name, known))

    async def _once(self, name: str, step: Step, extra: Mapping[str, Any]) -> Outcome:
        """One execution of a step, recorded. Raises Ended, Parked or Cancelled."""
        if self.tools.is_cancelled(self.ticket.run_id):
            raise Cancelled
        begun: Mapping[str, Any] | None = None
        if (step.leaves_traces or step.waits) and self._wanted(step, extra):
            begun = await self.journal.record(f"{name}{BEGUN}", self._begun)
        given = self.given(name, extra, begun)
        if step.waits and begun is not None:
            try:
                wait = await step.ready(given)
            except (StepFailed, ExpressionFailed, BadTemplate) as error:
                return await self._recorded(name, step, self.failure(error, step))
            if wait is not None:
                raise Parked(name, wait)

        async def work() -> dict[str, Any]:
            return await self._outcome(name, step, given)

        return self.told(name, step, await self.journal.record(name, work))

    async def _together(self, name: str, step: Step, extras: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        """Several items at once, in one record: only steps that may be repeated come here (see check.py)."""
        if self.tools.is_cancelled(self.ticket.run_id):
            raise Cancelled
        number = int(name.rpartition("[")[2].partition("-")[0])

        async def one(offset: int, extra: Mapping[str, Any]) -> dict[str, Any]:
            inner = f"{name.rpartition('[')[0]}[{number + offset}]"
            return await self._outcome(inner, step, self.given(inner, extra))

        async def work() -> dict[str, Any]:
            outcomes = await asyncio.gather(*(one(offset, extra) for offset, extra in enumerate(extras)))
            failed = next((outcome for outcome in outcomes if _ends(outcome)), None)
            return failed or {"state": "done", "items": list(outcomes)}

        record = await self.journal.record(name, work)
        if "items" not in record:
            self.told(name, step, record)
        return [self.told(name, step, outcome) for outcome in record["items"]]

    def told(self, name: str, step: Step, record: Mapping[str, Any]) -> Outcome:  # noqa: ARG002 - a draft asks the step
        """What a record says. Raises Ended for a failure that ends the run."""
        if _ends(record):
            raise Ended(name, record)
        if record["state"] == "failed":
            return Outcome({"failed": True, "message": record["message"]}, "failed")
        if record["state"] == "skipped":
            return Outcome({"skipped": True}, "skipped")
        return Outcome(decode(record["value"]))

    def _wanted(self, step: Step, extra: Mapping[str, Any]) -> bool:
        try:
            return self._condition(step, {**self.scope, **extra})
        except (ExpressionFailed, BadTemplate):
            return False  # told by the step's own record, which nothing has begun before

    async def _begun(self) -> dict[str, Any]:
        return {"state": "begun", "by": self.journal.incarnation, "at": self.tools.clock().isoformat()}

    async def perform(self, step: Step, given: Given) -> dict[str, Any]:
        """Does what a step says."""
        value = await attempted(step, given, step.retry or self.definition.retry, self.deadline)
        return {"state": "done", "value": self.hidden(encode(value))}

    async def _outcome(self, name: str, step: Step, given: Given) -> dict[str, Any]:
        """Runs the step; every failure becomes a record, and this is the one place where it does."""
        try:
            if not self._condition(step, given.scope):
                return {"state": "skipped"}
            with of_step(name):
                outcome = await self.perform(step, given)
        except (StepFailed, ExpressionFailed, BadTemplate) as error:
            outcome = self.failure(error, step)
        except Exception as error:  # a step that breaks ends its own run and no other
            log.exception("run %s: step %s broke off", self.ticket.run_id, name)
            told = StepFailed(
                f"broke off with {type(error).__name__}; the log has the place", doubtful=step.leaves_traces
            )
            outcome = self.failure(told, step)
        if given.told:
            outcome["input"] = self._hiding.told(given.told)
        return outcome

    def failure(self, error: Exception, step: Step) -> dict[str, Any]:
        """The record of a failure; one that is doubtful ends a run whatever the step says."""
        doubtful = isinstance(error, StepFailed) and error.doubtful
        told = self._hiding.text(str(error))
        at = self.tools.clock().isoformat()
        record: dict[str, Any] = {"state": "failed", "message": told, "doubtful": doubtful, "at": at}
        if step.continue_on_error and not doubtful:
            record["gone_on"] = True
        elif isinstance(error, StepFailed) and error.unreachable:
            record["unreachable"] = True
        return record


def _ends(record: Mapping[str, Any]) -> bool:
    return record["state"] == "failed" and not record.get("gone_on")


def _item(items: Sequence[Any], index: int) -> dict[str, Any]:
    return {"item": items[index], "loop": {"index": index + 1, "index0": index, "length": len(items)}}


def _of_items(step: Step) -> bool:
    conditions = [condition for condition in (step.if_, step.unless) if is_template(condition)]
    return any(name.path[0] in {"item", "loop"} for text in conditions for name in references(str(text)))


async def interpret(ticket: Ticket, journal: Journal, tools: Tools) -> dict[str, Any]:
    """Runs all steps of a run. The result is `{"state": …}`, with `step` and `message` where it did not end well, and
    with `until` or `on` where it is parked."""
    if ticket.cause == Cause.UNDO:
        from automations.undo import undo

        return await undo(ticket, journal, tools)
    run = Run(ticket, journal, tools, definition_of(ticket.data))
    try:
        run.begin()
    except (ExpressionFailed, BadTemplate) as error:
        return {"state": RunState.FAILED, "step": "vars", "message": run.hidden(str(error))}
    try:
        return await _to_the_end(run)
    except Parked as parked:
        return parked_result(parked)
    except Cancelled:
        return {"state": RunState.CANCELLED}


def parked_result(parked: Parked) -> dict[str, Any]:
    """The result of a run that waits."""
    until = parked.wait.until.isoformat() if parked.wait.until is not None else None
    return {"state": RunState.PARKED, "step": parked.name, "until": until, "on": parked.wait.on}


async def _to_the_end(run: Run) -> dict[str, Any]:
    try:
        await run.steps(run.definition.steps)
    except Ended as ended:
        state = RunState.STOPPED if ended.outcome.get("doubtful") else RunState.FAILED
        result: dict[str, Any] = {"state": state, "step": ended.name, "message": ended.outcome["message"]}
        # Another failure, after the run was resumed, is told anew: its steps of on_failure have keys of their own.
        run.failed_at = f"@{ended.outcome.get('at', '')}"
        run.scope["failure"] = {key: str(value) for key, value in result.items()}
        remarks = ["unreachable"] if ended.outcome.get("unreachable") else []
        try:
            await run.steps(run.definition.on_failure, ON_FAILURE)
            remarks += ["said"] if run.definition.on_failure else []
        except Ended as worse:
            result["message"] += f" (and then {worse.name} failed: {worse.outcome['message']})"
        return {**result, "remark": " ".join(remarks)} if remarks else result
    return {"state": RunState.DONE}
