"""What a line of the log is about: the run, its tick and automation, and the step, for as long as a block lasts.

`of_run` and `of_step` are set where runs are executed; `about` is read by whoever writes the log (workspace/logs.py).
Each task has its own, so that runs beside each other do not mix.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from automations.engine import Ticket

_about: ContextVar[Mapping[str, str]] = ContextVar("automations_log_about")
NOTHING: Mapping[str, str] = {}


def about() -> Mapping[str, str]:
    """`run`, `tick`, `automation` and `step`, as far as this task is in one."""
    return _about.get(NOTHING)


@contextmanager
def of_run(ticket: Ticket) -> Generator[None]:
    """Lines within are about a run."""
    token = _about.set({"run": ticket.run_id, "tick": ticket.tick, "automation": ticket.automation})
    try:
        yield
    finally:
        _about.reset(token)


@contextmanager
def of_step(name: str) -> Generator[None]:
    """Lines within are about a step of the run."""
    token = _about.set({**about(), "step": name})
    try:
        yield
    finally:
        _about.reset(token)
