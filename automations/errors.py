"""What can go wrong with automations, in one tree.

AutomationError                  base; its text is one sentence without secrets
├── InvalidAutomation            a file is wrong: holds every Finding of it, sorted
├── UnknownAutomation            no automation of that name
├── UnknownRun                   no run of that id
├── NotResumable                 the run cannot go on, and why
├── EngineUnavailable            the engine's database cannot be used
├── NotMovable                   what is kept cannot be moved to another database, and why
└── StepFailed                   a step could not do its work; `doubtful` where it may have happened all the same
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workspace_api.contract.problems import nearest

Path = tuple[str | int, ...]
"""Where in a file: `("steps", 1, "with", "block_id")`."""


def place_of(path: Path) -> str:
    """`steps[1].with.block_id`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`; did you mean steps.org?`, or nothing where no name is near."""
    near = nearest(name, names)
    return f"; did you mean {near}?" if near else ""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing wrong with one file; line and column count from 1. Its text is `file:line:column: place: message`."""

    file: str
    line: int
    column: int
    place: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: "
        return where + (f"{self.place}: {self.message}" if self.place else self.message)

    def to_json(self) -> dict[str, str | int]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "place": self.place,
            "message": self.message,
        }


class AutomationError(Exception):
    """Base of all errors that automations raise on purpose."""


class InvalidAutomation(AutomationError):
    """A file is no valid automation; `findings` says all that is wrong, in the order of the lines."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(sorted(findings))
        super().__init__("\n".join(str(finding) for finding in self.findings))


class UnknownAutomation(AutomationError):
    """There is no automation of that name."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        names = sorted(names)
        hint = did_you_mean(name, names) or f"; there are {', '.join(names) or 'none'}"
        super().__init__(f"{name} is no automation{hint}")


class UnknownRun(AutomationError):
    """There is no run of that id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} is no run; `workspace automations history` lists them")


class NotResumable(AutomationError):
    """The run cannot go on, or not without a decision."""


class NeedsLeave(NotResumable):
    """The run can go on only by doing again what may have happened, for which a person has to ask."""


class EngineUnavailable(AutomationError):
    """The engine's database cannot be opened or used."""


class NotMovable(AutomationError):
    """What automations keep cannot be moved, or has been moved already."""


class StepFailed(AutomationError):
    """A step could not do its work.

    `doubtful`: what it was to do may have happened all the same, so it is never tried again by itself.
    `transient`: trying again may help, not sooner than `retry_after` seconds.
    `unreachable`: the workspace did not answer, which is nothing of this automation's own.
    """

    def __init__(
        self,
        message: str,
        *,
        doubtful: bool = False,
        transient: bool = False,
        retry_after: float | None = None,
        unreachable: bool = False,
    ) -> None:
        self.unreachable = unreachable
        self.doubtful = doubtful
        self.transient = transient
        self.retry_after = retry_after
        super().__init__(message)
