"""The face that other parts use: load and validate files, list, run, answer, cancel, history.

load_folder(folder) ─► Loaded(automations, findings)        validate_files(paths) ─► findings
Runner(automations, …).run_forever(stop) | .run_once(name) | .resume(run_id) | .undo(run_id)
Listing(automations, …).list_automations() | .next_ticks()  looks at definitions
Records(…).history(name) | .show(run_id)                    reads, from any process
Control(…).answer(…) | .ask_for_run(…) | .cancel(…) | …      acts, from any process: a runner does what is asked
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from automations.acts import Control
from automations.definition import Automation, read_automation
from automations.errors import Finding, InvalidAutomation
from automations.execution import Watcher
from automations.listing import Listing
from automations.plan import Plan, PlannedStep
from automations.questions import Answered, QuestionLine
from automations.records import Records
from automations.reports import AutomationInfo, NextTick, RunDetail, RunReport, StepReport
from automations.runner import Runner

ENDINGS = (".yaml", ".yml")
LIBRARY = Path(__file__).parent / "library"
"""The ready-made automations."""

__all__ = [
    "LIBRARY",
    "Answered",
    "AutomationInfo",
    "Control",
    "Finding",
    "Listing",
    "Loaded",
    "NextTick",
    "Plan",
    "PlannedStep",
    "QuestionLine",
    "Records",
    "RunDetail",
    "RunReport",
    "Runner",
    "StepReport",
    "Watcher",
    "load_files",
    "load_folder",
    "validate_files",
]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a folder holds: the valid automations, and what is wrong with the other files."""

    definitions: tuple[Automation, ...]
    findings: tuple[Finding, ...]


def load_files(paths: Iterable[Path]) -> Loaded:
    """Reads files; two of one name are a finding in the second."""
    found: list[Finding] = []
    automations: dict[str, Automation] = {}
    for path in paths:
        try:
            automation = read_automation(path.read_bytes(), path)
        except InvalidAutomation as error:
            found.extend(error.findings)
            continue
        except OSError as error:
            found.append(Finding(str(path), 1, 1, "", f"cannot be read: {error.strerror}"))
            continue
        other = automations.setdefault(automation.name, automation)
        if other is not automation:
            message = f"{automation.name} is the name of {other.file} too: each needs its own"
            found.append(Finding(str(path), 1, 1, "name", message))
    return Loaded(tuple(sorted(automations.values(), key=lambda item: item.name)), tuple(sorted(found)))


def load_folder(folder: Path) -> Loaded:
    """Reads every YAML file of a folder, not of those within it."""
    if not folder.is_dir():
        return Loaded((), (Finding(str(folder), 1, 1, "", "is no folder: set WORKSPACE_AUTOMATIONS to one"),))
    return load_files(sorted(path for path in folder.iterdir() if path.suffix in ENDINGS))


def validate_files(paths: Sequence[Path]) -> list[Finding]:
    """All that is wrong with some files, in order; folders stand for the files in them."""
    loaded = load_files(
        file
        for path in paths
        for file in (sorted(item for item in path.iterdir() if item.suffix in ENDINGS) if path.is_dir() else [path])
    )
    return list(loaded.findings)
