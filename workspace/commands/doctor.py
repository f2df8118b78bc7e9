"""workspace doctor: checks settings, keys, reachability, clocks, folders, and says what to do."""

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
from workspace.commands.words import Subcommands
from workspace.settings import Settings, SettingsError
from workspace_api import CallFailed, WorkspaceError

SKEW = 30.0
"""Seconds by which the workspace's clock may differ."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `remedy` where it is not well."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("doctor", help="check the set-up and say what to do")
    command.set_defaults(run=doctor)


def doctor(_options: argparse.Namespace) -> int:
    """Prints a line a check; exit code 1 where one is not well."""
    chosen = settings.load()
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
    if chosen.telegram_token is None:
        remedy = "For the bot: get one from @BotFather and set TELEGRAM_TOKEN; `workspace demo` needs none."
        yield Check("Telegram token", True, "none", remedy)
    yield from _automations(chosen)


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
            if "date" in raw.headers:
                skew = abs(parsedate_to_datetime(raw.headers["date"]).timestamp() - started)
                remedy = "" if skew < SKEW else "Set the clock of this machine (for example with NTP)."
                checks.append(Check("clock", skew < SKEW, f"differs by {skew:.0f} s from the workspace's", remedy))
            requests = await api.finplan.request.list()
            note = "" if requests else "No requests without naming periods: the months around today will be asked for."
            checks.append(Check("requests", True, f"{len(requests)} to be seen", note))
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
