"""workspace automations: ops' tool. Every act takes --json."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords, show

if TYPE_CHECKING:
    from automations.control import Loaded, Records, Runner, RunReport
    from automations.listing import Listing


T = TypeVar("T")


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("automations", help="validate, list, run and look at automations")
    acts = command.add_subparsers(metavar="ACT", required=True)

    def act(name: str, words: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = acts.add_parser(name, help=words, description=words)
        made.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        made.set_defaults(run=run)
        return made

    act("validate", "check files, or all of the folder", validate).add_argument("files", nargs="*", type=Path)
    act("list", "what there is, and when it is next due", list_all)
    coming = act("next", "the next ticks", next_ticks)
    coming.add_argument("name", nargs="?")
    coming.add_argument("-n", type=int, default=10)
    act("run", "run one here and now, and wait", run_one).add_argument("name")
    past = act("history", "the newest runs", history)
    past.add_argument("name", nargs="?")
    past.add_argument("-n", type=int, default=20)
    act("show", "a run with its steps", show_run).add_argument("run_id", metavar="RUN")
    again = act("resume", "go on with a run that stopped", resume)
    again.add_argument("run_id", metavar="RUN")
    again.add_argument("--again", action="store_true", help="do the step again that may have happened")
    planned = act("plan", "what a file would do: reads are made, all else is only shown", plan)
    planned.add_argument("file", type=Path, metavar="FILE")
    planned.add_argument("-n", type=int, default=10, help="how many ticks to show")
    act("backfill", "not implemented yet", _not_yet("backfill")).add_argument("words", nargs="*")


def _not_yet(name: str) -> Callable[[argparse.Namespace], int]:
    def refuse(_options: argparse.Namespace) -> int:
        print(f"workspace: automations {name} is not implemented yet", file=sys.stderr)
        return 1

    return refuse


def validate(options: argparse.Namespace) -> int:
    """Prints each finding; exit code 1 where there is one."""
    from automations.control import LIBRARY, load_folder, validate_files

    chosen = settings.load()
    if options.files:
        missing = [path for path in options.files if not path.exists()]
        if missing:
            raise WrongWords(f"There is no file {missing[0]}")
        findings = validate_files(options.files)
        count = len(options.files)
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
    return 1 if findings else 0


def _with_runner(work: "Callable[[Runner], Awaitable[T]]", files: "Loaded | None" = None) -> T:
    """Opens client and runner for one piece of work, on the folder's automations or on these."""
    chosen = settings.load()

    async def main() -> T:
        loaded = files or parts.load_automations(chosen)
        for finding in loaded.findings:
            print(finding, file=sys.stderr)
        async with parts.client(chosen) as service, parts.open_runner(chosen, service, loaded.definitions) as runner:
            return await work(runner)

    return asyncio.run(main())


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
        print(f"{tick.tick}\t{tick.local}\t{tick.zone}\t{tick.automation}")
    return 0


def run_one(options: argparse.Namespace) -> int:
    """Runs in the foreground; exit code 1 where the run fails."""
    report = _with_runner(lambda runner: runner.run_once(options.name))
    return _told(report, options.as_json)


def plan(options: argparse.Namespace) -> int:
    """Exit code 1 where a step cannot be told yet."""
    from automations.control import load_files

    if not options.file.exists():
        raise WrongWords(f"There is no file {options.file}")
    loaded = load_files([options.file])
    if loaded.findings:
        for finding in loaded.findings:
            print(finding, file=sys.stderr)
        return 1
    name = loaded.definitions[0].name
    found = _with_runner(lambda runner: runner.plan(name, options.n), loaded)
    if options.as_json:
        show(found.to_json())
    else:
        for step in found.steps:
            print(f"{step.name}\t{step.state}\t{_short(step.message or step.value)}")
        for tick in found.ticks:
            print(f"next\t{tick.tick}\t{tick.local}")
    return 0 if found.ok else 1


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:159] + "…"


def resume(options: argparse.Namespace) -> int:
    """Goes on with a run; exit code 1 where it fails again."""
    report = _with_runner(lambda runner: runner.resume(options.run_id, again=options.again))
    return _told(report, options.as_json)


def _told(report: "RunReport", as_json: bool) -> int:
    if as_json:
        show(report.to_json())
    else:
        print(_line(report))
    return 0 if report.ok else 1


def _line(report: "RunReport") -> str:
    where = f" at {report.step}" if report.step else ""
    return f"{report.run_id}\t{report.state}{where}" + (f"\t{report.message}" if report.message else "")


def _with_records(work: "Callable[[Records], T]") -> T:
    from automations.control import Records

    chosen = settings.load()
    with Records(parts.folder_of(chosen), chosen.database_url) as records:
        return work(records)


def history(options: argparse.Namespace) -> int:
    """The newest runs and skipped ticks, newest first."""
    reports = _with_records(lambda records: records.history(options.name, options.n))
    if options.as_json:
        show([report.to_json() for report in reports])
    for report in [] if options.as_json else reports:
        print(_line(report))
    return 0


def show_run(options: argparse.Namespace) -> int:
    """A run with what each step gave."""
    detail = _with_records(lambda records: records.show(options.run_id))
    if options.as_json:
        show(detail.to_json())
        return 0
    print(_line(detail.run))
    for step in detail.steps:
        print(f"  {step.name}\t{step.state}" + (f"\t{step.message}" if step.message else ""))
    return 0
