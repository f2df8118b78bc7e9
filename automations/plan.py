"""A plan: what a run would do now. Reads are made for real, everything else is shown and not done.

A step that only reads gives its value to those after it; of one that would change something the value is not known,
and what depends on that stays open. Nothing is recorded.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import StrictUndefined

from automations.changes import Change, Changes, summary
from automations.definition import definition_of
from automations.engine import Ticket
from automations.errors import StepFailed
from automations.expressions import BadTemplate, ExpressionFailed
from automations.interpret import BEGUN, Ended, Outcome, Run, step_name
from automations.reports import NextTick
from automations.steps import Given, Step, Tools
from automations.values import decode, encode, redacted
from workspace_api.contract import Done, InvalidArguments, find


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a plan.

    `read`: was made, `value` is what it gave · `would`: `value` is what it would do · `skipped` ·
    `open`: depends on what is not done, or cannot be told; `message` says on what.
    """

    name: str
    state: str
    value: Any
    message: str | None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "state": self.state, "value": self.value, "message": self.message}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do, what that would change, and the next ticks. `ok` where no step is open or fails."""

    automation: str
    steps: tuple[PlannedStep, ...]
    ticks: tuple[NextTick, ...]
    changes: tuple[Change, ...] = ()

    @property
    def ok(self) -> bool:
        return all(step.state != "open" for step in self.steps)

    @property
    def summary(self) -> str:
        """What would change in the workspace, in one sentence."""
        return summary(self.changes)

    def to_json(self) -> dict[str, Any]:
        return {
            "automation": self.automation,
            "steps": [step.to_json() for step in self.steps],
            "changes": [change.to_json() for change in self.changes],
            "summary": self.summary,
            "ticks": [tick.to_json() for tick in self.ticks],
        }


class Paper:
    """A journal that only collects."""

    incarnation = "plan"

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    async def record(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        self.lines.append((name, await work()))
        return self.lines[-1][1]


class _Draft(Run):
    """A run that performs what only reads, and writes down the rest."""

    async def _once(self, name: str, step: Step, extra: Mapping[str, Any]) -> Outcome:
        given = self.given(name, extra)

        async def work() -> dict[str, Any]:
            return await self._outcome(name, step, given)

        return self.told(name, step, await self.journal.record(name, work))

    async def perform(self, step: Step, given: Given) -> dict[str, Any]:
        if step.only_reads:
            return await super().perform(step, given)
        return {"state": "would", "value": self.hidden(encode(await step.intent(given)))}

    def told(self, name: str, step: Step, record: Mapping[str, Any]) -> Outcome:
        if record["state"] == "would":
            return Outcome(unknown(f"steps.{name} is known only when it is done"))
        return super().told(name, step, record)


def unknown(why: str) -> StrictUndefined:
    """A value that whatever uses it fails with the reason."""
    return StrictUndefined(hint=why)


def _planned(name: str, line: Mapping[str, Any]) -> PlannedStep:
    state: str = line["state"]
    value = redacted(decode(line["value"])) if "value" in line else None
    return PlannedStep(name, {"done": "read", "failed": "open"}.get(state, state), value, line.get("message"))


async def plan(ticket: Ticket, tools: Tools) -> tuple[tuple[PlannedStep, ...], tuple[Change, ...]]:
    """The steps of a run that is only thought through, and what its calls would change; a step that is open does not
    end it."""
    definition = definition_of(ticket.data)
    paper = Paper()
    draft = _Draft(ticket, paper, tools, definition)
    try:
        draft.begin()
    except (ExpressionFailed, BadTemplate) as error:
        return (PlannedStep("vars", "open", None, draft.hidden(str(error))),), ()
    for index, step in enumerate(definition.steps):
        name = step_name(index, step)
        try:
            outcome = await draft.step(name, step)
        except Ended:
            outcome = Outcome(unknown(f"steps.{name} is open"))
        draft.know(name, outcome)
    lines = list(_lines(paper.lines))
    return tuple(_planned(name, line) for name, line in lines), await _changes(lines, tools)


def _lines(lines: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The steps of a draft, items that would run together one by one."""
    for name, line in lines:
        if "items" in line:
            first = int(name.rpartition("[")[2].partition("-")[0])
            yield from (
                (f"{name.rpartition('[')[0]}[{first + place}]", item) for place, item in enumerate(line["items"])
            )
        elif not name.endswith(BEGUN):
            yield name, line


async def _changes(lines: Sequence[tuple[str, Mapping[str, Any]]], tools: Tools) -> tuple[Change, ...]:
    """What the calls of a draft would change, each against what is there now."""

    async def read(name: str, fields: Mapping[str, Any]) -> Any:
        try:
            answer = await tools.caller.attempt_raw(find(name).call(fields))
        except (InvalidArguments, StepFailed):
            return None
        return answer.data.json()["data"] if isinstance(answer, Done) else None

    changes = Changes(read)
    writes = [decode(line["value"]) for _, line in lines if line["state"] == "would"]
    return tuple([await changes.of(write["call"], write["with"]) for write in writes if "call" in write])
