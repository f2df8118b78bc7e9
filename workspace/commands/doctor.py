"""workspace doctor: checks settings, keys, reachability, clocks, folders, and says what to do.

workspace doctor --confirm ID: the owner looks at one known transaction (confirm.py), which unlocks writing to a hosted
workspace.
"""

import argparse
import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords
from workspace.settings import Settings, SettingsError
from workspace_api import AsyncWorkspace, CallFailed, CallRefused, WorkspaceError

SKEW = 30.0
"""Seconds by which the workspace's clock may differ."""

SHOWN = 3
"""Differences that are told in full."""

EVIDENCE = "evidence"
"""The folder of receipts' pictures, in WORKSPACE_DATA."""

ACT_AS = {
    "nobody": "may neither see nor log anything",
    "see": "see what the service's key sees, and log nothing",
    "log": "see and log with the service's key, and decide nothing",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `remedy` where it is not well."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("doctor", help="check the set-up and say what to do")
    command.add_argument(
        "--confirm",
        type=int,
        metavar="TRANSACTION_ID",
        help="show a transaction that you know, and unlock writing to a hosted workspace if it is shown right",
    )
    command.add_argument("--yes", action="store_true", help="with --confirm: it is shown right; do not ask")
    command.set_defaults(run=doctor)


def doctor(options: argparse.Namespace) -> int:
    """Prints a line a check; exit code 1 where one is not well."""
    chosen = settings.load()
    if options.confirm is not None:
        from workspace.commands.confirm import confirm

        return confirm(chosen, options.confirm, sure=options.yes)
    if options.yes:
        raise WrongWords("--yes belongs to --confirm TRANSACTION_ID")
    checks = [*_local(chosen), *asyncio.run(_remote(chosen))]
    for check in checks:
        print(f"{'ok  ' if check.well else 'FAIL'}  {check.name}: {check.found}")
        if check.remedy:
            print(f"      {check.remedy}")
    return 0 if all(check.well for check in checks) else 1


def _local(chosen: Settings) -> Iterator[Check]:
    yield Check("Python", sys.version_info >= (3, 11), sys.version.split()[0])
    try:
        folder = parts.folder_of(chosen)
        writable = os.access(folder, os.W_OK)
    except OSError as error:
        yield Check(
            "data folder", False, f"{chosen.data}: {error.strerror}", "Set WORKSPACE_DATA to a folder you may write."
        )
        return
    remedy = "" if writable else "Set WORKSPACE_DATA to a folder you may write."
    yield Check("data folder", writable, str(folder.resolve()), remedy)
    for name in ("bot.key", parts.KEY_FILE):
        path = folder / name
        if path.exists():
            private = not path.stat().st_mode & 0o077
            yield Check(
                name, private, "private" if private else "others can read it", "" if private else f"chmod 600 {path}"
            )
    version = sqlite3.sqlite_version_info
    yield Check("SQLite", version >= (3, 35), sqlite3.sqlite_version, "" if version >= (3, 35) else "Update SQLite.")
    scale = "whole units" if chosen.money_scale == 0 else "hundredths"
    yield Check("money", True, f"sums on the wire are {scale} (WORKSPACE_MONEY_SCALE={chosen.money_scale})")
    yield Check("time zone", True, f"{chosen.timezone}, language {chosen.language}")
    yield from _policies(chosen)
    yield from _bot(chosen)
    if chosen.telegram_token is None:
        remedy = "For the bot: get one from @BotFather and set TELEGRAM_TOKEN; `workspace demo` needs none."
        yield Check("Telegram token", True, "none", remedy)
    yield from _automations(chosen)


def _policies(chosen: Settings) -> Iterator[Check]:
    """What the settings of money and rights amount to, in words."""
    calls = "no bound" if chosen.calls_per_minute is None else f"at most {chosen.calls_per_minute} a minute"
    yield Check("calls", True, f"{calls} (WORKSPACE_CALLS_PER_MINUTE), people's before polling")
    yield Check("without an own key", True, f"people {ACT_AS[chosen.act_as]} (WORKSPACE_ACT_AS={chosen.act_as})")
    limit = "none" if chosen.limit is None else f"above {chosen.limit:,f} approving and paying ask again"
    yield Check("limit", True, f"{limit} (WORKSPACE_LIMIT; a person's own: workspace limit)")
    if chosen.sites:
        yield Check("sites", True, ", ".join(f"{number} {name}" for number, name in chosen.sites.items()))
    if chosen.webhook_url is None:
        yield Check("updates", True, "the bot asks Telegram for them (WORKSPACE_WEBHOOK_URL sets a webhook)")
    else:
        secure = chosen.webhook_url.startswith("https://")
        remedy = "" if secure else "Telegram sends to https:// addresses alone."
        yield Check("updates", secure, f"webhook {chosen.webhook_url}, port {chosen.webhook_port}", remedy)


def _bot(chosen: Settings) -> Iterator[Check]:
    """The bot's database, and what is kept in it that concerns ops."""
    try:
        from bot import facts, people, write_lock
        from storage import StorageError
    except ModuleNotFoundError:
        yield Check("bot", True, "not installed (the base install is the client alone)")
        return
    kind = "PostgreSQL" if (chosen.database_url or "").startswith("postgres") else "SQLite"
    try:
        with parts.open_bot_database(chosen) as database, database.read() as connection:
            linked = {person.user_id: person for person in people.everyone(connection)}
            closed = facts.get(connection, "closed_until")
            outage = facts.get(connection, "outage")
            house = parts.house_of(chosen)
            locked = write_lock.locked(connection, house)
    except (StorageError, OSError) as error:
        yield Check("database", False, f"{kind}: {error}", "Check WORKSPACE_DATABASE_URL and WORKSPACE_DATA.")
        return
    many = "one process alone" if kind == "SQLite" else "any number of processes"
    yield Check("database", True, f"{kind}, for {many}; {len(linked)} people are linked")
    yield _ops(chosen, set(linked))
    yield _evidence(chosen)
    if closed is not None:
        yield Check("books", True, f"closed up to {closed} (workspace close)")
    if outage is not None:
        yield Check("outage", False, "the bot could not read the workspace when it last tried", "See the bot's log.")
    remedy = "" if locked is None else "Run workspace doctor --confirm TRANSACTION_ID with one that you know."
    yield Check("writing", locked is None, "open" if locked is None else locked, remedy)


def _ops(chosen: Settings, linked: set[str]) -> Check:
    names = [name.strip() for name in (chosen.ops or "").split(",") if name.strip()]
    if not names:
        return Check("ops", True, "nobody", "Set WORKSPACE_OPS to who is to be told of incidents and differences.")
    unknown = [name for name in names if name not in linked and not name.lstrip("-").isdigit()]
    remedy = f"Not linked in chat: workspace invite {unknown[0]}" if unknown else ""
    return Check("ops", not unknown, ", ".join(names), remedy)


def _evidence(chosen: Settings) -> Check:
    """Where pictures of receipts are kept."""
    folder = chosen.data / EVIDENCE
    there = folder if folder.exists() else chosen.data
    well = os.access(there, os.W_OK)
    kept = f"{folder}, kept for {chosen.keep_money_days} days"
    return Check("evidence", well, kept, "" if well else f"Let the bot write to {there}.")


def _automations(chosen: Settings) -> Iterator[Check]:
    try:
        loaded = parts.load_automations(chosen)
    except SettingsError as error:
        yield Check("automations", False, str(error))
        return
    except ModuleNotFoundError:
        yield Check("automations", True, "not installed (the base install is the client alone)")
        return
    remedy = "" if not loaded.findings else "See workspace automations validate"
    yield Check(
        "automations", not loaded.findings, f"{len(loaded.definitions)} valid, {len(loaded.findings)} findings", remedy
    )


async def _remote(chosen: Settings) -> list[Check]:
    checks: list[Check] = []
    try:
        async with parts.client(chosen) as api:
            started = time.time()
            raw = await api.with_options(timeout=10, retries=0).raw.user.profile.list()
            checks.append(Check("workspace", True, f"{chosen.workspace_url} answers in {raw.seconds * 1000:.0f} ms"))
            active = sum(1 for profile in raw.data if not profile.is_disabled and not profile.is_deleted)
            checks.append(Check("service key", True, f"sees {active} active people"))
            checks.append(await _key_kind(api))
            if "date" in raw.headers:
                skew = abs(parsedate_to_datetime(raw.headers["date"]).timestamp() - started)
                remedy = "" if skew < SKEW else "Set the clock of this machine (for example with NTP)."
                checks.append(Check("clock", skew < SKEW, f"differs by {skew:.0f} s from the workspace's", remedy))
            requests = await api.finplan.request.list()
            note = "" if requests else "No requests without naming periods: the months around today will be asked for."
            checks.append(Check("requests", True, f"{len(requests)} to be seen", note))
            checks.extend(await _reconciled(chosen, api))
    except SettingsError as error:
        checks.append(Check("service key", False, "none", str(error)))
    except CallFailed as error:
        remedy = (
            "Start it with `workspace serve`, or set WORKSPACE_URL."
            if chosen.url is None
            else "Check WORKSPACE_URL and WORKSPACE_API_KEY."
        )
        checks.append(Check("workspace", False, str(error), remedy))
    except WorkspaceError as error:
        checks.append(Check("workspace", False, str(error)))
    checks.extend(await _telegram(chosen))
    return checks


async def _key_kind(api: AsyncWorkspace) -> Check:
    """Whose the key is, by what it sees: nobody is told who a key belongs to."""
    from workspace.commands.confirm import entries_of, sight

    try:
        live = [entry for _, entry in await entries_of(api) if entry.delete_date is None]
    except CallRefused as error:
        return Check("key kind", False, str(error), "The bot needs a key that sees the transactions: an owner's.")
    seen = await sight(api, len(live))
    remedy = "" if seen.is_owner else "An owner's key sees everything: the bot polls and compares for all with it."
    return Check("key kind", True, str(seen), remedy)


async def _reconciled(chosen: Settings, api: AsyncWorkspace) -> list[Check]:
    """Whether what the bot did is still as it was left."""
    try:
        from bot.reconcile import in_words, reconcile
    except ModuleNotFoundError:
        return []
    with parts.open_bot_database(chosen) as database:
        desk = parts.open_desk(chosen, database, api)
        try:
            found = await reconcile(desk)
        except CallRefused as error:
            return [Check("reconciliation", False, str(error), "The bot needs a key that sees everything.")]
        words = [await in_words(desk, desk.texts(chosen.language), difference) for difference in found[:SHOWN]]
    if not found:
        return [Check("reconciliation", True, "what the bot did is in the workspace as it was left")]
    remedy = "See workspace audit reconcile, and --accept there once it is understood."
    return [Check("reconciliation", False, f"{len(found)} differences. {' '.join(words)}", remedy)]


async def _telegram(chosen: Settings) -> list[Check]:
    if chosen.telegram_token is None:
        return []
    from workspace.commands.people import bot_username

    name = await bot_username(chosen)
    if name is None:
        return [
            Check(
                "Telegram", False, f"{chosen.telegram_url} does not know the token", "Ask @BotFather for the right one."
            )
        ]
    return [Check("Telegram", True, f"the bot is @{name}")]
