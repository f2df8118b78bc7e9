"""workspace automations run, history, show, resume, cancel, undo, answer, questions, backfill, move."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

from workspace import parts, settings
from workspace.commands.words import WrongWords, show

if TYPE_CHECKING:
    from automations.control import Control, Records, Runner, RunReport
    from automations.definition import Automation

T = TypeVar("T")

BY = "shell"
"""Who acted, as the records say."""

Act = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add(act: Act) -> None:
    """The acts on runs."""
    once = act("run", "run one here and now, and wait", run_one)
    once.add_argument("name")
    once.add_argument("values", nargs="*", metavar="VAR=VALUE", help="in place of the file's vars")
    past = act("history", "the newest runs", history)
    past.add_argument("name", nargs="?")
    past.add_argument("-n", type=int, default=20)
    past.add_argument("--state", action="append", help="only these: done, failed, stopped, parked, skipped, lost, ...")
    act("show", "a run with its steps", show_run).add_argument("run_id", metavar="RUN")
    again = act("resume", "go on with a run that failed or stopped", resume)
    again.add_argument("run_id", metavar="RUN")
    again.add_argument("--again", action="store_true", help="do the step again that may have happened")
    again.add_argument("--from", dest="from_step", metavar="STEP", help="do this step and all after it again")
    act("cancel", "end a run before its next step", cancel).add_argument("run_id", metavar="RUN")
    undone = act("undo", "do the undo steps of a finished run, the last one first", undo)
    undone.add_argument("run_id", metavar="RUN")
    act("questions", "what runs ask of people, and wait for", questions)
    answered = act("answer", "answer a question of a run", answer)
    answered.add_argument("key", metavar="QUESTION")
    answered.add_argument("option", metavar="OPTION")
    filled = act("backfill", "run the ticks of a past time that were never run", backfill)
    filled.add_argument("name")
    filled.add_argument("start", metavar="FROM", help="2026-11-01, or 2026-11-01T06:00")
    filled.add_argument("end", metavar="TO", help="the same; a day counts to its end")
    filled.add_argument("--dry-run", action="store_true", help="only say which ticks")
    filled.add_argument("--current", action="store_true", help="by the file as it is now, not as it was on that day")
    act("move", "bring history and runs in flight from SQLite to WORKSPACE_DATABASE_URL", move)


def with_runner(work: "Callable[[Runner], Awaitable[T]]", only: "Sequence[Automation] | None" = None) -> T:
    """Opens client and runner for one piece of work, on the folder's automations or on these."""
    chosen = settings.load()

    async def main() -> T:
        definitions = only
        if definitions is None:
            loaded = parts.load_automations(chosen)
            for finding in loaded.findings:
                print(finding, file=sys.stderr)
            definitions = loaded.definitions
        async with parts.client(chosen) as service, parts.open_runner(chosen, service, definitions) as runner:
            return await work(runner)

    return asyncio.run(main())


def short(value: object) -> str:
    """A value on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:159] + "…"


def run_one(options: argparse.Namespace) -> int:
    """Runs in the foreground; exit code 1 where the run fails."""
    values = _values(options.values)
    report = with_runner(lambda runner: runner.run_once(options.name, by=BY, values=values))
    return _told(report, options.as_json)


def _values(words: Sequence[str]) -> Mapping[str, Any]:
    """`VAR=VALUE` words; a value is JSON where it can be read as such, else a text."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise WrongWords(f'{word} is no VAR=VALUE, such as codes=["USD"]')
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def resume(options: argparse.Namespace) -> int:
    """Goes on with a run; exit code 1 where it fails again."""
    report = with_runner(lambda runner: runner.resume(options.run_id, again=options.again, from_step=options.from_step))
    return _told(report, options.as_json)


def undo(options: argparse.Namespace) -> int:
    """Undoes a run; exit code 1 where that fails."""
    return _told(with_runner(lambda runner: runner.undo(options.run_id, by=BY)), options.as_json)


def _told(report: "RunReport", as_json: bool) -> int:
    if as_json:
        show(report.to_json())
    else:
        print(_line(report))
    return 0 if report.ok else 1


def _line(report: "RunReport") -> str:
    where = f" at {report.step}" if report.step else ""
    waits = f"\twaits for {report.wake_on or report.wake_at}" if report.wake_on or report.wake_at else ""
    return f"{report.run_id}\t{report.state}{where}{waits}" + (f"\t{report.message}" if report.message else "")


def _with_records(work: "Callable[[Records], T]") -> T:
    from automations.control import Records

    chosen = settings.load()
    with Records(parts.folder_of(chosen), chosen.database_url) as records:
        return work(records)


def _with_control(work: "Callable[[Control], Awaitable[T]]") -> T:
    from automations.control import Control

    chosen = settings.load()

    async def main() -> T:
        with Control(parts.folder_of(chosen), chosen.database_url, parts.now) as control:
            return await work(control)

    return asyncio.run(main())


def history(options: argparse.Namespace) -> int:
    """The newest runs, and skipped or lost ticks, newest first."""
    reports = _with_records(lambda records: records.history(options.name, options.n, options.state))
    if options.as_json:
        show([report.to_json() for report in reports])
    for report in [] if options.as_json else reports:
        print(_line(report))
    return 0


def show_run(options: argparse.Namespace) -> int:
    """A run with what each step was given and gave."""
    detail = _with_records(lambda records: records.show(options.run_id))
    if options.as_json:
        show(detail.to_json())
        return 0
    print(_line(detail.run))
    for step in detail.steps:
        took = step.finished_at - step.started_at if step.finished_at and step.started_at else None
        seconds = f"\t{took.total_seconds():.2f} s" if took is not None else ""
        print(f"  {step.name}\t{step.state}{seconds}" + (f"\t{step.message}" if step.message else ""))
        if step.input is not None:
            print(f"    did\t{short(step.input)}")
        if step.value is not None and step.state == "done":
            print(f"    gave\t{short(step.value)}")
    return 0


def cancel(options: argparse.Namespace) -> int:
    """Ends a run; one under way ends before its next step."""

    async def work(control: "Control") -> str:
        await control.cancel(options.run_id, BY)
        line = control.ledger.run(options.run_id)
        return line.state if line else ""

    state = _with_control(work)
    if options.as_json:
        show({"run_id": options.run_id, "state": state})
    else:
        print(f"{options.run_id}\t{'ends before its next step' if state == 'running' else state}")
    return 0


def questions(options: argparse.Namespace) -> int:
    """The open questions, the oldest first."""

    async def work(control: "Control") -> list[dict[str, Any]]:
        return [question.to_json() for question in control.open_questions()]

    found = _with_control(work)
    if options.as_json:
        show(found)
    for one in [] if options.as_json else found:
        until = f"\tuntil {one['deadline']}" if one["deadline"] else ""
        print(f"{one['key']}\t{one['asked_of']}\t{short(one['text'])}\t{' | '.join(one['options'])}{until}")
    return 0


ANSWERS = {
    "before": "{by} has answered already: {option}",
    "late": "the time for an answer is over",
    "gone": "there is no such question; `workspace automations questions` lists those that are open",
    "no option": "that is none of its options ({options})",
}


def answer(options: argparse.Namespace) -> int:
    """Exit code 1 where the answer does not count."""

    async def work(control: "Control") -> Any:
        asked = control.question(options.key)
        choices.extend(asked.options if asked is not None else ())
        return await control.answer(options.key, options.option, BY)

    choices: list[str] = []
    given = _with_control(work)
    if options.as_json:
        show({"state": given.state, "option": given.option, "by": given.by, "at": given.at})
    elif given.state == "taken":
        print(f"{options.key}\t{given.option}")
    else:
        print(
            f"workspace: {ANSWERS[given.state].format(by=given.by, option=given.option, options=', '.join(choices))}",
            file=sys.stderr,
        )
    return 0 if given.state == "taken" else 1


def _moment(text: str, zone: ZoneInfo, *, end: bool) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WrongWords(f"{text} is no date: write 2026-11-01 or 2026-11-01T06:00") from None
    if end and len(text) == len("2026-11-01"):
        moment = datetime.combine(moment.date() + timedelta(days=1), time()) - timedelta(seconds=1)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def backfill(options: argparse.Namespace) -> int:
    """Runs them one after another with the definition of their day; exit code 1 at the first that fails."""
    chosen = settings.load()
    zone = ZoneInfo(chosen.timezone)
    start, end = _moment(options.start, zone, end=False), _moment(options.end, zone, end=True)
    if end < start:
        raise WrongWords("TO is before FROM")
    if end > parts.now():
        raise WrongWords("TO is in the future: only what is past can be filled")

    async def listed(runner: "Runner") -> list[Any]:
        return runner.due_in(options.name, start, end, current=options.current)

    if options.dry_run:
        found = with_runner(listed)
        if options.as_json:
            show([one.to_json() for one in found])
        for one in [] if options.as_json else found:
            print(f"{one.line.run_id}\t{'would run' if one.to_run else one.known}")
        return 0

    def told(number: int, of: int, report: "RunReport") -> None:
        print(f"{number} of {of}\t{_line(report)}", file=sys.stderr)

    reports = with_runner(
        lambda runner: runner.backfill(options.name, start, end, current=options.current, by=BY, told=told)
    )
    if options.as_json:
        show([report.to_json() for report in reports])
    elif not reports:
        print("Nothing to run: every tick of that time has been run, or there is none")
    return 0 if all(report.ok for report in reports) else 1


def move(options: argparse.Namespace) -> int:
    """Copies all; the files stay as they are, and are marked as moved."""
    from automations.move import move as moved

    chosen = settings.load()
    if chosen.database_url is None:
        raise WrongWords("Set WORKSPACE_DATABASE_URL to the PostgreSQL database that is to hold automations")

    def progress(table: str, rows: int, of: int) -> None:
        print(f"{table}\t{rows} of {of}", file=sys.stderr)

    found = moved(chosen.data, chosen.database_url, progress)
    if options.as_json:
        show({"rows": dict(found.rows), "again": found.again})
    else:
        print(
            f"{'They were there already' if found.again else 'Moved'}: {sum(found.rows.values())} rows. "
            "Start the runner with this WORKSPACE_DATABASE_URL from now on"
        )
    return 0
