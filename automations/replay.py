"""Replay: an edited file against the recorded answers of a run, as a test. Nothing is called, written or said.

```
step that reads      ─► the recorded value of the same question          another question ─► open
step that writes     ─► compared with what the run did: same, changed, new; its recorded value goes on
step that calculates ─► done for real                                    condition, for_each ─► done for real
```
What the run did and the file no longer does is `gone`. Secrets are placeholders, as they are in the records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from automations.attempts import attempted
from automations.definition import Automation
from automations.desk import NothingKept
from automations.engine import Ticket
from automations.errors import StepFailed
from automations.expressions import BadTemplate, ExpressionFailed
from automations.interpret import BEGUN, Ended, Outcome, Parked, Run, step_name
from automations.plan import Paper, unknown
from automations.shapes import is_map
from automations.steps import Given, Step, Tools, recipients
from automations.steps.ask import AskStep
from automations.steps.telegram import TelegramStep
from automations.values import decode, encode, json_text, redacted
from workspace_api.contract import Call, NotSent

Record = tuple[str, Mapping[str, Any]]


class Placeholders(Mapping[str, str]):
    """Secrets as they stand in records."""

    def __getitem__(self, name: str) -> str:
        return f"(secret {name})"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """A step of a replay.

    `same`: as the run did it · `changed`: writes or says something else, `was` and `now` tell · `new`: writes or says
    what the run did not · `read`: asks what the run asked · `done`: calculated anew · `skipped` · `open`: its answer
    was not recorded · `failed` · `gone`: the run did it, the file does not.
    """

    name: str
    state: str
    message: str = ""
    was: Any = None
    now: Any = None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "state": self.state, "message": self.message, "was": self.was, "now": self.now}


@dataclass(frozen=True, slots=True)
class Replay:
    """What a file does with the answers of a run. `ok`: every step could be told; `same`: and nothing differs."""

    automation: str
    against: str
    steps: tuple[ReplayedStep, ...]

    @property
    def ok(self) -> bool:
        return not any(step.state in {"open", "failed"} for step in self.steps)

    @property
    def same(self) -> bool:
        return self.ok and not any(step.state in {"changed", "new", "gone"} for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        return {
            "automation": self.automation,
            "against": self.against,
            "ok": self.ok,
            "same": self.same,
            "steps": [step.to_json() for step in self.steps],
        }


def flattened(records: Sequence[Record]) -> dict[str, Mapping[str, Any]]:
    """The records of steps by name: beginnings left out, items that ran together one by one."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, output in records:
        if "items" in output:
            first = int(name.rpartition("[")[2].partition("-")[0])
            stem = name.rpartition("[")[0]
            found |= {f"{stem}[{first + place}]": item for place, item in enumerate(output["items"])}
        elif not name.endswith(BEGUN):
            found[name] = output
    return found


@dataclass
class _Replayed(Run):
    """A run that gets its answers from records."""

    records: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    met: set[str] = field(default_factory=set[str])

    async def _once(self, name: str, step: Step, extra: Mapping[str, Any]) -> Outcome:
        given = self.given(name, extra)

        async def work() -> dict[str, Any]:
            return await self._outcome(name, step, given)

        return self.told(name, step, await self.journal.record(name, work))

    async def perform(self, step: Step, given: Given) -> dict[str, Any]:
        name = given.key.removeprefix(f"{self.ticket.run_id}/")
        if step.computes:
            self.met.add(name)
            value = await attempted(step, given, step.retry or self.definition.retry, None)
            return {"state": "calculated", "value": encode(value)}
        wanted = await _wanted(_without_looking_up(step, self.records.get(name)), given)
        found = self._recorded_as(name, wanted)
        if found is None and step.only_reads:
            raise StepFailed(f"asks what the run did not ask: {_short(wanted)}")
        if found is None:
            return {"state": "new", "now": wanted}
        was = found.get("input")
        self.met.add(name)
        if found["state"] != "done":
            return {"state": "new", "now": wanted, "message": f"the run had {found['state']} it"}
        changed = wanted is not None and was is not None and "sha256" not in was and was != wanted
        state = "read" if step.only_reads else "changed" if changed else "same"
        return {
            "state": state,
            "value": found["value"],
            "was": was if changed else None,
            "now": wanted if changed else None,
        }

    def _recorded_as(self, name: str, wanted: Any) -> Mapping[str, Any] | None:
        """What the run has of a step: the one of that name, where it asked or did the same; else any that asked it."""
        own = self.records.get(name)
        if own is not None and (wanted is None or own.get("input") in (None, wanted)):
            return own
        same = next((one for one in self.records.values() if wanted is not None and one.get("input") == wanted), None)
        if same is not None:
            return same
        # A write that changed is still that write; a read that changed has no answer.
        return own if own is not None and not _reads(own, wanted) else None

    def told(self, name: str, step: Step, record: Mapping[str, Any]) -> Outcome:
        if record["state"] == "new":
            return Outcome(unknown(f"steps.{name} has no recorded value"))
        if record["state"] in {"read", "same", "changed", "calculated"}:
            return Outcome(decode(record["value"]))
        return super().told(name, step, record)


def _reads(record: Mapping[str, Any], wanted: Any) -> bool:
    from workspace_api.contract import Effect, find

    inputs: Any = record.get("input") or wanted
    if is_map(inputs) and "call" in inputs:
        return find(str(inputs["call"])).effect is Effect.READ
    return is_map(inputs) and inputs.get("method") == "GET"


class Silent:
    """A caller for a replay: nothing is called."""

    async def attempt_raw(self, call: Call[Any], /) -> NotSent:
        return NotSent(f"a replay does not call {call.name}")


def _without_looking_up(step: Step, record: Mapping[str, Any] | None) -> Step:
    """A message to `manager_of(…)` goes to whom it went: who that is now is no matter of the file."""
    inputs: Any = record.get("input") if record is not None else None
    if not isinstance(step, (TelegramStep, AskStep)) or not is_map(inputs) or step.kind not in inputs:
        return step
    message = step.telegram if isinstance(step, TelegramStep) else step.ask
    if not any(f"{name}(" in message.to for name in recipients.FUNCTIONS):
        return step
    return step.model_copy(update={step.kind: message.model_copy(update={"to": str(inputs[step.kind])})})


async def _wanted(step: Step, given: Given) -> Any:
    """What a step is about to do, in the form of records; None where it does not say."""
    try:
        return encode(await step.intent(given))
    except StepFailed as error:
        if "cannot say" in str(error):
            return None
        raise


def _short(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


async def replay(automation: Automation, ticket: Ticket, records: Sequence[Record], tools: Tools) -> Replay:
    """What the file does with the answers of that run. `ticket` is the run's own."""
    paper = Paper()
    known = flattened(records)
    quiet = replace(tools, caller=Silent(), desk=NothingKept(), secrets=Placeholders())
    edited = replace(ticket, data=automation.data)
    run = _Replayed(edited, paper, quiet, automation.definition, records=known)
    try:
        run.begin()
        for index, step in enumerate(automation.definition.steps):
            name = step_name(index, step)
            try:
                outcome = await run.step(name, step)
            except Ended:
                outcome = Outcome(unknown(f"steps.{name} is open"))
            run.know(name, outcome)
    except (ExpressionFailed, BadTemplate, Parked) as error:
        paper.lines.append(("vars", {"state": "failed", "message": str(error)}))
    steps = [_step(name, line) for name, line in flattened(paper.lines).items()]
    seen = {step.name for step in steps} | run.met
    done = [name for name, record in known.items() if record["state"] == "done" and name not in seen]
    gone = [ReplayedStep(name, "gone", was=redacted(known[name].get("input"))) for name in done]
    return Replay(automation.name, ticket.run_id, (*steps, *gone))


def _step(name: str, line: Mapping[str, Any]) -> ReplayedStep:
    state = "done" if line["state"] == "calculated" else str(line["state"])
    message = str(line.get("message") or "")
    if state == "failed" and "asks what the run did not ask" in message:
        state = "open"
    return ReplayedStep(name, state, message, redacted(decode(line.get("was"))), redacted(decode(line.get("now"))))
