"""workspace automations: ops' tool. Every act takes --json."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workspace import parts, settings
from workspace.commands import automation_runs
from workspace.commands.automation_runs import short, with_runner
from workspace.commands.words import Subcommands, WrongWords, show

if TYPE_CHECKING:
    from automations.control import NextTick
    from automations.definition import Automation
    from automations.listing import Listing


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("automations", help="validate, list, run and look at automations")
    acts = command.add_subparsers(metavar="ACT", required=True)

    def act(name: str, words: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = acts.add_parser(name, help=words, description=words)
        made.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        made.set_defaults(run=run)
        return made

    act("validate", "check files, or all of the folder", validate).add_argument("files", nargs="*", type=Path)
    act("schema", "the JSON Schema of automations, for editors", schema)
    act("list", "what there is, and when it is next due", list_all)
    coming = act("next", "the next ticks, odd days marked", next_ticks)
    coming.add_argument("name", nargs="?")
    coming.add_argument("-n", type=int, default=10)
    ahead = act("preview", "the ticks of a long time, with clock changes and days off", preview)
    ahead.add_argument("name", metavar="NAME|FILE")
    ahead.add_argument("--days", type=int, default=400)
    planned = act("plan", "what a file would do: reads are made, all else is only shown", plan)
    planned.add_argument("file", type=Path, metavar="FILE")
    planned.add_argument("-n", type=int, default=10, help="how many ticks to show")
    tested = act("test", "run an edited file against the recorded answers of a run; nothing is done", test)
    tested.add_argument("file", type=Path, metavar="FILE")
    tested.add_argument("--against", required=True, metavar="RUN")
    tested.add_argument("--strict", action="store_true", help="exit code 1 also where the file would do something else")
    automation_runs.add(act)


def validate(options: argparse.Namespace) -> int:
    """Prints each finding; exit code 1 where there is one."""
    from automations.control import LIBRARY, load_folder, validate_files

    chosen = settings.load()
    if options.files:
        missing = [path for path in options.files if not path.exists()]
        if missing:
            raise WrongWords(f"There is no file {missing[0]}")
        findings = validate_files(options.files)
        count = sum(len(load_folder(path).definitions) if path.is_dir() else 1 for path in options.files)
    else:
        loaded = load_folder(chosen.automations or LIBRARY)
        findings, count = list(loaded.findings), len(loaded.definitions)
    if options.as_json:
        show([finding.to_json() for finding in findings])
    else:
        for finding in findings:
            print(finding)
        if not findings:
            print(f"{count} valid")
    for sentence in _unknown_days(options.files or [chosen.automations or LIBRARY]):
        print(sentence, file=sys.stderr)
    return 1 if findings else 0


def _unknown_days(paths: Sequence[Path]) -> Iterator[str]:
    """What the calendars of valid automations do not know of the coming year."""
    from automations.control import load_files, load_folder
    from automations.preview import notices

    for path in paths:
        loaded = load_folder(path) if path.is_dir() else load_files([path])
        for one in loaded.definitions:
            yield from (f"{one.name}: {sentence}" for sentence in notices(one.definition.trigger, parts.now()))


def _listing() -> "Listing":
    """The definitions alone: needs no workspace. Files that are wrong are told on stderr."""
    from automations.listing import Listing

    chosen = settings.load()
    loaded = parts.load_automations(chosen)
    for finding in loaded.findings:
        print(finding, file=sys.stderr)
    return Listing(loaded.definitions, zone=chosen.timezone, clock=parts.now)


def list_all(options: argparse.Namespace) -> int:
    """Name, triggers and next tick of each."""
    found = _listing().list_automations()
    if options.as_json:
        show([info.to_json() for info in found])
    for info in [] if options.as_json else found:
        print(f"{info.name}\t{'; '.join(info.triggers) or 'by hand'}\t{info.next_tick or '-'}\t{info.description}")
    return 0


def next_ticks(options: argparse.Namespace) -> int:
    """The next ticks of one or all, in order."""
    found = _listing().next_ticks(options.name, options.n)
    if options.as_json:
        show([tick.to_json() for tick in found])
    for tick in [] if options.as_json else found:
        print(f"{tick.tick}\t{tick.local}\t{tick.zone}\t{tick.automation}{_odd(tick)}")
    return 0


def _odd(tick: "NextTick") -> str:
    """What is odd about a tick's day, where anything is."""
    return f"\t{tick.note}" if tick.note else ""


def preview(options: argparse.Namespace) -> int:
    """Every tick of so many days, odd ones with the reason."""
    from automations.listing import Listing

    chosen = settings.load()
    path = Path(options.name)
    if path.suffix in {".yaml", ".yml"}:
        automation = loaded_file(path)
        if automation is None:
            return 1
        listing = Listing([automation], zone=chosen.timezone, clock=parts.now)
        found = listing.preview(automation.name, options.days)
    else:
        found = _listing().preview(options.name, options.days)
    if options.as_json:
        show(found.to_json())
    else:
        print(found.text())
    return 0


def schema(_options: argparse.Namespace) -> int:
    """JSON Schema 2020-12 on stdout."""
    from automations.schema import schema as written

    show(written())
    return 0


def loaded_file(path: Path) -> "Automation | None":
    """One file; what is wrong with it is told on stderr."""
    from automations.control import load_files

    if not path.exists():
        raise WrongWords(f"There is no file {path}")
    loaded = load_files([path])
    for finding in loaded.findings:
        print(finding, file=sys.stderr)
    return loaded.definitions[0] if not loaded.findings else None


def plan(options: argparse.Namespace) -> int:
    """Exit code 1 where a step cannot be told yet."""
    automation = loaded_file(options.file)
    if automation is None:
        return 1
    found = with_runner(lambda runner: runner.plan(automation.name, options.n), [automation])
    if options.as_json:
        show(found.to_json())
        return 0 if found.ok else 1
    for step in found.steps:
        print(f"{step.name}\t{step.state}\t{short(step.message or step.value)}")
    if found.changes:
        print(f"\n{found.summary}")
        for change in found.changes:
            print(f"  {change}")
    if found.ticks:
        print()
    for tick in found.ticks:
        print(f"next\t{tick.tick}\t{tick.local}{_odd(tick)}")
    return 0 if found.ok else 1


def test(options: argparse.Namespace) -> int:
    """Exit code 1 where a step fails, or has no recorded answer; with --strict, also where anything differs."""
    automation = loaded_file(options.file)
    if automation is None:
        return 1
    found = with_runner(lambda runner: runner.replay(automation, options.against), [automation])
    good = found.same if options.strict else found.ok
    if options.as_json:
        show(found.to_json())
        return 0 if good else 1
    for step in found.steps:
        print(f"{step.name}\t{step.state}" + (f"\t{step.message}" if step.message else ""))
        if step.was is not None:
            print(f"  - {short(step.was)}")
        if step.now is not None:
            print(f"  + {short(step.now)}")
    print("as the run did" if found.same else "differs from the run" if found.ok else "cannot be told to the end")
    return 0 if good else 1
