"""What may be done with a run, by what it is; nothing is offered that would be refused."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from automations.definition import Definition
from automations.engine import ENDED, Cause
from automations.interpret import ON_FAILURE, step_name
from automations.ledger import RunLine
from automations.page.timeline import Timeline

Act = Literal["cancel", "resume", "again", "from", "undo"]
OPS = "@ops"


@dataclass(frozen=True, slots=True)
class Choices:
    """The acts on offer, in the order of their buttons, and the steps that a retry may begin at."""

    acts: tuple[Act, ...]
    steps: tuple[str, ...]


def may_run(people: Collection[str] | None) -> bool:
    """Whether whoever is let in here may begin runs of an automation held to these people: who is let in is of @ops,
    and cannot show to be anybody else."""
    return people is None or OPS in people


def choices(run: RunLine, line: Timeline, definition: Definition | None, undoing: RunLine | None) -> Choices:
    """`undoing`: the run that undoes this one, where there is one."""
    if run.wanted not in {None, "begin"}:
        return Choices((), ())
    if run.state not in ENDED:
        return Choices(("cancel",), ())
    acts: list[Act] = []
    if run.state in {"failed", "cancelled"}:
        acts.append("resume")
    if run.state == "stopped":
        acts.append("again")
    come_to = [row for row in line.rows if row.part == "steps" and row.state not in {"coming", "never"}]
    steps = tuple(row.name for row in come_to if not row.name.startswith(ON_FAILURE)) if run.cause != Cause.UNDO else ()
    if steps:
        acts.append("from")
    if run.cause != Cause.UNDO and undoing is None and definition is not None:
        undone = {step_name(index, step) for index, step in enumerate(definition.steps) if step.undo}
        if any(row.name in undone and row.state in {"done", "failed"} for row in come_to):
            acts.append("undo")
    return Choices(tuple(acts), steps)
