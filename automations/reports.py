"""What is told about automations and runs: plain values with `to_json`, without secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from automations.engine import RecordedStep, RunState
from automations.interpret import BEGUN
from automations.ledger import LedgerLine, RunLine
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
    """A coming tick: `tick` in UTC, `local` in its zone with its offset. `note` says what is odd about it, or about the
    days before it: moved by a clock change, a working Saturday, after days off; else it is empty."""

    automation: str
    tick: str
    local: str
    zone: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "automation": self.automation,
            "tick": self.tick,
            "local": self.local,
            "zone": self.zone,
            "note": self.note,
        }


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
    cause: str = "tick"
    by: str = ""
    wake_at: str | None = None
    """When a parked run goes on by itself."""
    wake_on: str | None = None
    """What a parked run waits for: `question:<key>` or `run:<run id>`."""

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
            "cause": self.cause,
            "by": self.by,
            "wake_at": self.wake_at,
            "wake_on": self.wake_on,
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
    input: Any = None
    """What it was about to do, as far as it told."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "state": self.state,
            "input": self.input,
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


def run_report(run: RunLine) -> RunReport:
    """A run in short. One that is asked for and not begun is `waiting` to people."""
    return RunReport(
        run_id=run.run_id,
        automation=run.automation,
        tick=run.tick,
        state="waiting" if run.state == "asked" else run.state,
        step=run.step,
        message=run.message,
        started_at=_moment(run.begun_at),
        finished_at=_moment(run.ended_at),
        cause=run.cause,
        by=str(run.details.get("by") or ""),
        wake_at=run.wake_at,
        wake_on=run.wake_on,
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def skipped_report(line: LedgerLine) -> RunReport:
    """A tick that was not run: skipped or lost."""
    return RunReport(line.run_id, line.automation, line.tick, line.state, None, line.reason, None, None, line.cause)


def run_detail(run: RunLine, steps: Sequence[RecordedStep]) -> RunDetail:
    """A run with its steps; the record of a beginning is shown only while there is no end."""
    ended = {step.name for step in steps}
    shown: list[StepReport] = []
    for step in steps:
        name = step.name.removesuffix(BEGUN)
        if name != step.name and name in ended:
            continue
        if "items" in step.output:
            # Items that ran together share a record.
            first = int(name.rpartition("[")[2].partition("-")[0])
            stem = name.rpartition("[")[0]
            items = enumerate(step.output["items"])
            shown += [_step_report(f"{stem}[{first + number}]", item, step) for number, item in items]
        else:
            shown.append(_step_report(name, step.output, step))
    return RunDetail(run_report(run), tuple(shown))


def _step_report(name: str, output: Mapping[str, Any], step: RecordedStep) -> StepReport:
    value = redacted(decode(output["value"])) if "value" in output else None
    inputs = redacted(decode(output["input"])) if "input" in output else None
    return StepReport(name, output["state"], value, output.get("message"), step.started_at, step.finished_at, inputs)
