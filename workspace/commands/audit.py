"""workspace audit: who did what, exported or shown; and what the bot did beside what the workspace shows."""

import argparse
import asyncio
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords, show
from workspace.redaction import clean as without_tokens
from workspace.settings import Settings

if TYPE_CHECKING:
    from bot.audit import Entry
    from bot.desk import Desk
    from bot.differences import Difference
    from storage import Database

COLUMNS = (
    "id", "at", "user_id", "telegram_id", "key_kind", "act", "subject", "operation", "intent_id", "body", "before",
    "after", "note",
)  # fmt: skip

THINGS = ("request", "transaction", "task")

PAGE = 1000


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("audit", help="who did what with which key: export, show, reconcile")
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)

    exporting = actions.add_parser("export", help="all lines as CSV or JSON")
    exporting.add_argument("file", nargs="?", type=Path, metavar="FILE", help="standard output where none is named")
    exporting.add_argument("--since", metavar="DATE", help="lines from that day on, such as 2026-11-01")
    form = exporting.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an object a line; also where FILE ends in .json or .jsonl")
    form.add_argument("--csv", action="store_true", help="the default")
    exporting.set_defaults(run=export)

    showing = actions.add_parser("show", help="the lines of a request, an entry, a task or a person")
    showing.add_argument("id", metavar="ID", help="a number, or for example request:7 or person:anna")
    showing.set_defaults(run=show_lines)

    comparing = actions.add_parser(
        "reconcile",
        help="what the bot did beside what the workspace shows",
        description="The nightly comparison by hand. Tells nobody and changes nothing; exit code 1 where something "
        "differs.",
    )
    comparing.add_argument("--accept", action="store_true", help="paid sums count as they stand now from here on")
    comparing.add_argument("--json", action="store_true")
    comparing.set_defaults(run=reconcile)


def export(options: argparse.Namespace) -> int:
    """Writes all lines, a page at a time. Neither secrets nor formulas get into the file."""
    chosen = settings.load()
    since = _moment(chosen, options.since)
    as_json = options.json or (
        not options.csv and options.file is not None and options.file.suffix in {".json", ".jsonl"}
    )
    write = _json_lines if as_json else _csv_rows
    with parts.open_bot_database(chosen) as database:
        if options.file is None:
            count = write(sys.stdout, database, since)
        else:
            count = _into(options.file, database, since, write)
    if options.file is not None:
        print(f"{count} lines are in {options.file}", file=sys.stderr)
    return 0


def _into(path: Path, database: "Database", since: float, write: Callable[[TextIO, "Database", float], int]) -> int:
    """A file that its owner alone may read; what was there stays until the new one is whole."""
    beside = path.with_name(f".{path.name}.part")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            count = write(file, database, since)
        beside.replace(path)
    except OSError as error:
        raise settings.SettingsError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)
    return count


def _lines(database: "Database", since: float) -> "Iterator[Entry]":
    from bot import audit

    after = 0
    while True:
        with database.read() as connection:
            page = audit.since(connection, since, after_id=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id


def _fields(entry: "Entry") -> dict[str, Any]:
    from bot.audit_text import clean

    found = {name: getattr(entry, name) for name in COLUMNS}
    for name in ("body", "before", "after"):
        found[name] = clean(found[name])
    return found | {"at": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds")}


def _json_lines(file: TextIO, database: "Database", since: float) -> int:
    count = 0
    for entry in _lines(database, since):
        file.write(without_tokens(json.dumps(_fields(entry), ensure_ascii=False)) + "\n")
        count += 1
    return count


def _csv_rows(file: TextIO, database: "Database", since: float) -> int:
    from automations.steps.cells import cell

    count = 0
    file.write(_row(COLUMNS))
    for entry in _lines(database, since):
        fields = _fields(entry)
        cells = (without_tokens(cell(_text(fields[name]))) for name in COLUMNS)
        file.write(_row(cells))
        count += 1
    return count


def _text(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _row(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return out.getvalue()


def _moment(chosen: Settings, words: str | None) -> float:
    """The beginning of that day in the house's zone."""
    if words is None:
        return 0.0
    try:
        day = date.fromisoformat(words)
    except ValueError:
        raise WrongWords(f"--since {words} is no date: write it like 2026-11-01") from None
    return datetime(day.year, day.month, day.day, tzinfo=chosen.zone).timestamp()


def show_lines(options: argparse.Namespace) -> int:
    """The lines about one thing, oldest first; a bare number may be several things."""
    from bot import audit
    from bot.audit_text import flat, outcome

    chosen = settings.load()
    named = str(options.id)
    subjects = [f"{thing}:{named}" for thing in THINGS] if named.isdigit() else [named]
    if not named.isdigit() and ":" not in named:
        raise WrongWords(f"{named} is no number: write for example 7, request:7 or person:anna")
    with parts.open_bot_database(chosen) as database, database.read() as connection:
        found = {subject: audit.entries(connection, [subject]) for subject in subjects}
    for subject, entries in found.items():
        for entry in entries:
            at = datetime.fromtimestamp(entry.at, chosen.zone).strftime("%Y-%m-%d %H:%M:%S")
            told = [f"{at}\t{subject}\t{entry.user_id}\t{entry.act}\t{entry.operation or ''}\t{entry.key_kind}"]
            told += [f"\tcall: {flat(entry.body)}"] if entry.body else []
            told += [f"\tbefore: {flat(entry.before)}"] if entry.before else []
            told += [f"\tafter: {outcome(entry.after)}"] if entry.after else []
            told += [f"\t{entry.note}"] if entry.note else []
            print(without_tokens("\n".join(told)))
    if not any(found.values()):
        print(f"Nothing is known of {named}", file=sys.stderr)
        return 1
    return 0


def reconcile(options: argparse.Namespace) -> int:
    """Prints the differences; exit code 1 where there are some."""
    return asyncio.run(_reconcile(options.accept, options.json))


async def _reconcile(accepting: bool, as_json: bool) -> int:
    from dataclasses import asdict

    from bot.reconcile import accept, in_words
    from bot.reconcile import reconcile as compared

    chosen = settings.load()
    async with parts.client(chosen) as api:
        with parts.open_bot_database(chosen) as database:
            desk: Desk = parts.open_desk(chosen, database, api)
            found: list[Difference] = await (accept(desk) if accepting else compared(desk))
            texts = desk.texts(chosen.language)
            words = [await in_words(desk, texts, difference) for difference in found]
    if as_json:
        show([asdict(difference) | {"words": said} for difference, said in zip(found, words, strict=True)])
    else:
        print("\n".join(words) if words else "All that the bot did is in the workspace as it was left")
    return 1 if found else 0
