"""The steps, one file each; STEPS lists them.

To add one: its file here, a line in STEPS and in AnyStep, a test, a line in the documentation.
"""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from automations.shapes import is_map
from automations.steps.ask import AskStep
from automations.steps.assert_ import AssertStep
from automations.steps.backup import BackupStep
from automations.steps.base import Given, Retry, Step, Tools, Wait
from automations.steps.call import CallStep
from automations.steps.diff import DiffStep
from automations.steps.http import HttpStep
from automations.steps.rates import RatesStep
from automations.steps.read import ReadStep
from automations.steps.report import ReportStep
from automations.steps.run_ import RunStep
from automations.steps.set import SetStep
from automations.steps.telegram import TelegramStep
from automations.steps.wait import WaitStep
from automations.steps.write import WriteStep

STEPS: tuple[type[Step], ...] = (
    CallStep, HttpStep, RatesStep, ReadStep, WriteStep, ReportStep, DiffStep, TelegramStep, RunStep, SetStep,
    AssertStep, WaitStep, AskStep, BackupStep,
)  # fmt: skip

KINDS = tuple(step.kind for step in STEPS)


def _kind(value: Any) -> str | None:
    """The first key that names a step; its tag starts with `=`, so that it can be told from a key of the file."""
    if isinstance(value, Step):
        return f"={value.kind}"
    return next((f"={key}" for key in value if key in KINDS), None) if is_map(value) else None


AnyStep = Annotated[
    Annotated[CallStep, Tag("=call")]
    | Annotated[RatesStep, Tag("=rates")]
    | Annotated[WriteStep, Tag("=write")]
    | Annotated[TelegramStep, Tag("=telegram")]
    | Annotated[RunStep, Tag("=run")]
    | Annotated[HttpStep, Tag("=http")]
    | Annotated[ReadStep, Tag("=read")]
    | Annotated[ReportStep, Tag("=report")]
    | Annotated[DiffStep, Tag("=diff")]
    | Annotated[SetStep, Tag("=set")]
    | Annotated[AssertStep, Tag("=assert")]
    | Annotated[WaitStep, Tag("=wait")]
    | Annotated[AskStep, Tag("=ask")]
    | Annotated[BackupStep, Tag("=backup")],
    Discriminator(_kind),
]
"""A step of any kind; which one is told by its key."""

for _step in STEPS:
    # `undo` of a step is steps again, which are known only here.
    _step.model_rebuild(_types_namespace={"AnyStep": AnyStep})

__all__ = [
    "KINDS",
    "STEPS",
    "AnyStep",
    "CallStep",
    "Given",
    "RatesStep",
    "Retry",
    "Step",
    "TelegramStep",
    "Tools",
    "Wait",
    "WriteStep",
]
