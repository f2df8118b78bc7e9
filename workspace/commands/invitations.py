"""workspace invite: a one-time link for a person, or for everybody who is not linked yet.

USER_ID ─► a link for an hour, alone on stdout          --all ─► --csv FILE, --page FILE.html: links that live for days
A link that lives for days lies on paper and in files: whoever opens it is linked only once an admin has confirmed it.
"""

import argparse
import asyncio
import csv
import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from workspace import parts, settings
from workspace.commands.people import bot_username
from workspace.commands.words import Subcommands, WrongWords
from workspace.settings import Settings
from workspace_api import AsyncWorkspace

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from bot.invitation_page import Invited
    from bot.vault import Vault
    from storage import Database

DAYS, MOST_DAYS = 7, 90

COLUMNS = ("user_id", "name", "position", "link", "expires", "telegram_hint")


def add_invite(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "invite",
        help="a one-time link for a person, good for an hour; --all: for everybody who is not linked yet",
        description="Prints the link, or the bare code for /start where the bot's name is unknown. "
        "A link that lives for days links nobody before an admin has confirmed who opened it: one of WORKSPACE_OPS "
        "in chat, or `workspace people confirm`.",
    )
    command.add_argument("user_id", nargs="?", metavar="USER_ID")
    command.add_argument("--api-key", metavar="KEY", help="the person's own key, on a hosted workspace")
    command.add_argument("--days", type=int, metavar="N", help=f"how long it is good; with --all {DAYS} by default")
    command.add_argument("--all", action="store_true", help="every active person who is not linked yet")
    command.add_argument("--csv", type=Path, metavar="FILE", help="with --all: the links as a table")
    command.add_argument("--page", type=Path, metavar="FILE.html", help="with --all: a page with QR codes to print")
    command.add_argument("--dry-run", action="store_true", help="with --all: only say who would be invited")
    command.set_defaults(run=invite)


def invite(options: argparse.Namespace) -> int:
    """One link, or a batch of them."""
    if options.days is not None and not 1 <= options.days <= MOST_DAYS:
        raise WrongWords(f"--days {options.days}: write a number from 1 to {MOST_DAYS}")
    if options.all:
        if options.user_id is not None or options.api_key is not None:
            raise WrongWords("--all invites everybody: leave USER_ID and --api-key out")
        if not (options.csv or options.page or options.dry_run):
            raise WrongWords("Say where the links go: --csv FILE, --page FILE.html, or both; --dry-run looks first")
        return invite_all(settings.load(), options.csv, options.page, options.days or DAYS, dry_run=options.dry_run)
    if options.csv or options.page or options.dry_run:
        raise WrongWords("--csv, --page and --dry-run go with --all")
    if options.user_id is None:
        raise WrongWords("Say whom: workspace invite USER_ID, or workspace invite --all")
    return invite_one(settings.load(), options.user_id, options.api_key, options.days)


def invite_one(chosen: Settings, user_id: str, api_key: str | None, days: int | None) -> int:
    """Checks the person, makes the code, prints it."""
    key = api_key or _key_for(chosen, user_id)
    if key is None:
        print(
            "workspace: give the person's own key with --api-key; without one the bot asks them for it (/key)",
            file=sys.stderr,
        )
    with parts.open_bot_database(chosen) as database:
        from bot import people
        from bot.rotation import hold
        from bot.vault import Vault

        vault = Vault(chosen.data / "bot.key")
        lifetime = people.HOUR if days is None else days * people.DAY

        def make(connection: "Connection") -> str:
            hold(connection)
            sealed = None if key is None else vault.seal(key)
            now = parts.now().timestamp()
            confirm = days is not None
            return people.invite(connection, user_id, sealed, now, lifetime, confirm=confirm, profile=chosen.url)

        code = database.write_now(make)
    username = asyncio.run(bot_username(chosen))
    print(f"https://t.me/{username}?start={code}" if username else code)
    return 0


def _key_for(chosen: Settings, user_id: str) -> str | None:
    """A key of the person: made, on the embedded workspace; elsewhere the profile is looked up, and none is known."""
    if parts.owns_workspace(chosen):
        from workspace_api.server.keys import issue_key
        from workspace_api.server.opening import open_workspace

        with open_workspace(chosen.data, chosen.database_url) as database:
            return issue_key(database, user_id)
    asyncio.run(_must_exist(chosen, user_id))
    return None


async def _must_exist(chosen: Settings, user_id: str) -> None:
    async with parts.client(chosen) as api:
        await known(api, user_id)


async def known(api: AsyncWorkspace, user_id: str) -> None:
    """Raises SettingsError where the workspace knows no such person."""
    from workspace_api.contract.problems import nearest

    ids = [profile.user_id for profile in await api.user.profile.list() if profile.user_id]
    if user_id not in ids:
        near = nearest(user_id, ids)
        raise settings.SettingsError(f"There is no user {user_id}" + (f"; did you mean {near}?" if near else ""))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody to invite. `hint` is the profile's `telegram`: for the admin's eyes, never proof."""

    user_id: str
    name: str
    position: str
    hint: str


def invite_all(chosen: Settings, table: Path | None, page: Path | None, days: int, *, dry_run: bool) -> int:
    """Everybody who works here and is not linked: the files first, since links that cannot be written are of no use."""
    username = None if dry_run else asyncio.run(bot_username(chosen))
    if page is not None and username is None and not dry_run:
        raise settings.SettingsError(
            "The page needs the bot's name for its links: set TELEGRAM_TOKEN, and see `workspace doctor`"
        )
    candidates = asyncio.run(_active(chosen))
    with parts.open_bot_database(chosen) as database:
        chosen_ones, linked, waiting, open_before = _not_linked(database, candidates)
        if dry_run:
            _summary(len(chosen_ones), linked, waiting, open_before)
            for one in chosen_ones:
                print("\t".join(_one_line(text) for text in (one.user_id, one.name, one.position, one.hint)))
            return 0
        if not chosen_ones:
            _summary(0, linked, waiting, 0)
            return 0
        with ExitStack() as files:
            # Both are made before anything is invited: an answer of "it is there already" must come first.
            out = files.enter_context(_new_file(table)) if table is not None else None
            sheet = files.enter_context(_new_file(page)) if page is not None else None
            _summary(len(chosen_ones), linked, waiting, open_before)
            invited = _make_links(chosen, database, chosen_ones, days, username)
            if out is not None:
                write_table(out, invited)
            if sheet is not None:
                _write_page(chosen, sheet, invited)
    for path in (table, page):
        if path is not None:
            print(f"{len(invited)} links are in {path}")
    ops = "one of WORKSPACE_OPS in chat, or " if chosen.ops else ""
    print(f"Each is linked once it is confirmed: {ops}`workspace people confirm ID`", file=sys.stderr)
    return 0


def _summary(count: int, linked: int, waiting: int, open_before: int) -> None:
    said = [f"{count} to invite", f"{linked} linked already"]
    said += [f"{waiting} waiting for confirmation and left alone"] if waiting else []
    said += [f"earlier links that stop working: {open_before}"] if open_before else []
    print("workspace: " + ", ".join(said), file=sys.stderr)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


async def _active(chosen: Settings) -> list[Candidate]:
    """Everybody who works here, with their position, by name."""
    from bot.directory import Directory, is_active

    today = parts.now().astimezone(chosen.zone).date().isoformat()
    async with parts.client(chosen) as api:
        directory = Directory(api, lambda: parts.now().timestamp())
        profiles = await directory.people(fresh=True)
        blocks = await directory.blocks()
        found: list[Candidate] = []
        for user_id, profile in profiles.items():
            if not is_active(profile, today):
                continue
            mine = [blocks[block] for block in await directory.blocks_of(user_id) if block in blocks]
            position = (mine[0].position or mine[0].name or "") if mine else ""
            name = profile.user_name or profile.name or user_id
            found.append(Candidate(user_id, name, position, (profile.telegram or "").lstrip("@")))
    return sorted(found, key=lambda one: (one.name.casefold(), one.user_id))


def _not_linked(database: "Database", candidates: Sequence[Candidate]) -> tuple[list[Candidate], int, int, int]:
    """Whom to invite; how many are linked, wait for an admin, and hold an open link that ends now."""
    from bot import admission, people

    with database.read() as connection:
        linked = {person.user_id for person in people.everyone(connection)}
        waiting = {pending.user_id for pending in admission.waiting(connection)}
        invited = {invitation.user_id for invitation in people.invited(connection, parts.now().timestamp())}
    chosen = [one for one in candidates if one.user_id not in linked | waiting]
    ends = sum(1 for one in chosen if one.user_id in invited)
    return chosen, sum(1 for one in candidates if one.user_id in linked), len(waiting - linked), ends


def _make_links(
    chosen: Settings, database: "Database", candidates: Sequence[Candidate], days: int, username: str | None
) -> "list[Invited]":
    """A link for each, all committed at once."""
    from bot import people
    from bot.invitation_page import Invited
    from bot.rotation import hold
    from bot.vault import Vault

    vault = Vault(chosen.data / "bot.key")
    keys = _keys(chosen, database, vault, candidates)
    now = parts.now().timestamp()
    expires = datetime.fromtimestamp(now + days * people.DAY, chosen.zone)

    def make(connection: "Connection") -> list[str]:
        hold(connection)
        return [
            people.invite(
                connection,
                one.user_id,
                None if (key := keys.get(one.user_id)) is None else vault.seal(key),
                now,
                days * people.DAY,
                confirm=True,
                profile=chosen.url,
            )
            for one in candidates
        ]

    codes = database.write_now(make)
    return [
        Invited(one.user_id, one.name, one.position, _link(username, code), expires, one.hint)
        for one, code in zip(candidates, codes, strict=True)
    ]


def _link(username: str | None, code: str) -> str:
    return f"https://t.me/{username}?start={code}" if username else f"/start {code}"


def _keys(chosen: Settings, database: "Database", vault: "Vault", candidates: Sequence[Candidate]) -> dict[str, str]:
    """On the embedded workspace a key for each, the one of an earlier link where there is one; else none are known."""
    if not parts.owns_workspace(chosen):
        return {}
    from bot import people
    from bot.vault import VaultError
    from workspace_api.server.keys import issue_key
    from workspace_api.server.opening import open_workspace

    keys: dict[str, str] = {}
    with database.read() as connection:
        earlier = {one.user_id: one.sealed_key for one in people.invited(connection, parts.now().timestamp())}
    step = progress("keys", len(candidates))
    with open_workspace(chosen.data, chosen.database_url) as workspace:
        for one in candidates:
            sealed = earlier.get(one.user_id)
            try:
                keys[one.user_id] = issue_key(workspace, one.user_id) if sealed is None else vault.open(sealed)
            except VaultError:
                keys[one.user_id] = issue_key(workspace, one.user_id)
            step()
    return keys


@contextmanager
def _new_file(path: Path) -> Generator[IO[str]]:
    """A file for its owner alone, since it holds links; one that is there is left as it is. Half a file is removed."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise settings.SettingsError(f"{path} is there already: name another file, or move it away") from None
    except OSError as error:
        raise settings.SettingsError(f"{path} cannot be made: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_table(out: IO[str], invited: "Sequence[Invited]") -> None:
    """CSV; what a spreadsheet would take for a formula is written as text."""
    from automations.steps.cells import cell

    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for one in invited:
        row = (one.user_id, one.name, one.position, one.link, one.expires.isoformat(timespec="minutes"), one.hint)
        writer.writerow([cell(value) for value in row])


def _write_page(chosen: Settings, sheet: IO[str], invited: "Sequence[Invited]") -> None:
    from bot.invitation_page import page
    from bot.texts import Texts

    texts = Texts(chosen.language, chosen.zone)
    for piece in page(texts, invited, progress("QR codes", len(invited))):
        sheet.write(piece)


def progress(what: str, total: int, every: float = 1.0) -> Callable[[], None]:
    """Says on stderr how far long work has come, about once a second."""
    done, told = 0, time.monotonic()

    def step() -> None:
        nonlocal done, told
        done += 1
        if time.monotonic() - told >= every:
            told = time.monotonic()
            print(f"workspace: {what}: {done} of {total}", file=sys.stderr)

    return step
