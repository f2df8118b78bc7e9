"""What the page needs from others, as small protocols: someone who acts; automations.control.Control is one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from automations.engine import Cause
from automations.questions import Answered


class Seen(Protocol):
    """A process that runs automations, and how many seconds ago it was last heard of."""

    @property
    def executor(self) -> str: ...

    @property
    def seconds(self) -> float: ...


class Acts(Protocol):
    """What people may ask for on the page; a runner, in whatever process, does it. All raise AutomationError."""

    async def answer(self, key: str, option: str, by: str) -> Answered:
        """Answers a question of a run."""
        ...

    async def ask_for_run(
        self, name: str, by: str, cause: Cause = Cause.MANUAL, values: Mapping[str, Any] | None = None
    ) -> str:
        """The id of a new run."""
        ...

    async def cancel(self, run_id: str, by: str) -> None: ...

    async def resume(self, run_id: str, by: str, *, again: bool = False, from_step: str | None = None) -> None: ...

    async def undo(self, run_id: str, by: str) -> str:
        """The id of the run that undoes it."""
        ...

    def alive(self) -> Sequence[Seen]: ...
