"""What is told about automations and runs: plain values with `to_json`, without secrets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from automations.engine import RecordedRun, RecordedStep, RunState
from automations.interpret import BEGUN
from automations.ledger import LedgerLine
from automations.values import decode, redacted


@dataclass(frozen=True, slots=True)
class AutomationInfo:
    """An automation: when it is due in words of its file, and its next tick (UTC), None where it has none."""

    name: str
    description: str
    file: str
    triggers: tuple[str, ...]
    next_tick: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "file": self.file,
            "triggers": list(self.triggers),
            "next_tick": self.next_tick,
        }


@dataclass(frozen=True, slots=True)
class NextTick:
    """A coming tick: `tick` in UTC, `local` in its zone with its offset."""

    automation: str
    tick: str
    local: str
    zone: str

    def to_json(self) -> dict[str, Any]:
        return {"automation": self.automation, "tick": self.tick, "local": self.local, "zone": self.zone}


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run, or a tick that was skipped (`state` is `skipped`, and `run_id` is what its run would have had)."""

    run_id: str
    automation: str
    tick: str
    state: str
    step: str | None
    message: str | None
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def ok(self) -> bool:
        return self.state == RunState.DONE

    def to_json(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "automation": self.automation,
            "tick": self.tick,
            "state": self.state,
            "step": self.step,
            "message": self.message,
            "started_at": _text(self.started_at),
            "finished_at": _text(self.finished_at),
        }


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step of a run: `done`, `skipped`, `failed`, or `begun` while it is under way. Values are shortened."""

    name: str
    state: str
    value: Any
    message: str | None
    started_at: datetime | None
    finished_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "state": self.state,
            "value": self.value,
            "message": self.message,
            "started_at": _text(self.started_at),
            "finished_at": _text(self.finished_at),
        }


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run with its steps so far."""

    run: RunReport
    steps: tuple[StepReport, ...]

    def to_json(self) -> dict[str, Any]:
        return {**self.run.to_json(), "steps": [step.to_json() for step in self.steps]}


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_report(run: RecordedRun) -> RunReport:
    """A run in short."""
    return RunReport(
        run_id=run.ticket.run_id,
        automation=run.ticket.automation,
        tick=run.ticket.tick,
        state=str(run.state),
        step=run.result.get("step"),
        message=run.result.get("message"),
        started_at=run.created_at,
        finished_at=run.finished_at,
    )


def skipped_report(line: LedgerLine) -> RunReport:
    """A tick that was not run."""
    run_id = f"{line.automation}:{line.tick}"
    return RunReport(run_id, line.automation, line.tick, "skipped", None, line.reason, None, None)


def run_detail(run: RecordedRun, steps: Sequence[RecordedStep]) -> RunDetail:
    """A run with its steps; the record of a beginning is shown only while there is no end."""
    ended = {step.name for step in steps}
    shown: list[StepReport] = []
    for step in steps:
        name = step.name.removesuffix(BEGUN)
        if name != step.name and name in ended:
            continue
        value = redacted(decode(step.output["value"])) if "value" in step.output else None
        state, message = step.output["state"], step.output.get("message")
        shown.append(StepReport(name, state, value, message, step.started_at, step.finished_at))
    return RunDetail(run_report(run), tuple(shown))
