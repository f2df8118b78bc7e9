"""What may be asked of a run that is parked or has ended, in words for people: go on, undo, or wait."""

from automations.engine import ENDED, Cause, RunState
from automations.errors import NotResumable
from automations.ledger import LedgerLine, RunLine


def waits_for(line: RunLine) -> str:
    """What a parked run waits for, and what may be done about it."""
    kind, _, name = (line.wake_on or "").partition(":")
    if kind == "question":
        return f"waits for an answer in chat, or by: workspace automations answer '{name}' OPTION"
    return f"waits for {name}" if name else f"waits until {line.wake_at}"


def refuse_to_resume(line: RunLine, *, again: bool, from_step: str | None) -> None:
    """Raises NotResumable, with what to do, for a run that cannot go on so."""
    if line.state == RunState.DONE and from_step is None:
        raise NotResumable(f"{line.run_id} is done: there is nothing to go on with")
    if line.state == RunState.PARKED:
        raise NotResumable(f"{line.run_id} waits ({line.wake_on or line.wake_at}); it goes on by itself")
    if line.state == RunState.STOPPED and not again and from_step is None:
        raise NotResumable(
            f"{line.run_id} stopped at {line.step}: {line.message}. To do that step again: resume with --again"
        )


def undo_line(original: RunLine, by: str) -> LedgerLine:
    """The run that undoes another one: once, however often it is asked for. Raises NotResumable."""
    if original.state not in ENDED or original.cause == Cause.UNDO:
        raise NotResumable(f"{original.run_id} is {original.state}: only a finished run can be undone")
    details = {**original.details, "undoes": original.run_id, "by": by}
    occasion = f"undo-{original.run_id.partition(':')[2]}"
    return LedgerLine(original.automation, original.tick, original.zone, "due", "", occasion, Cause.UNDO, details)
