"""workspace close, limit, pin: what ops set about money. Each change stands in the audit."""

import argparse
import asyncio
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords
from workspace.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

OPS = "@ops"
"""Who the audit says it was, for what is done at the command line."""


def add_close(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "close",
        help="close the books up to a date",
        description="Nothing is entered, changed or undone in chat on or before that day. With no date: how it stands.",
    )
    command.add_argument("date", nargs="?", metavar="DATE", help="the last closed day, such as 2026-10-31")
    command.add_argument("--open", action="store_true", help="open all days again")
    command.set_defaults(run=close)


def add_limit(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "limit",
        help="a person's limit, above which approving and paying ask again",
        description="Without a sum: how it stands. The limit of all others is WORKSPACE_LIMIT.",
    )
    command.add_argument("user_id", metavar="USER_ID")
    command.add_argument("sum", nargs="?", metavar="SUM", help="such as 10000 or 10000.50; 0 asks always")
    command.add_argument("--none", action="store_true", help="no limit of their own: WORKSPACE_LIMIT counts again")
    command.set_defaults(run=limit)


def add_pin(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("pin", help="the PIN of a person")
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    resetting = actions.add_parser("reset", help="remove a PIN that is forgotten or locked")
    resetting.add_argument("user_id", metavar="USER_ID")
    resetting.set_defaults(run=reset_pin)


def close(options: argparse.Namespace) -> int:
    """Prints up to when the books are closed, after the change where one is asked for."""
    from bot import facts

    chosen = settings.load()
    if options.open and options.date is not None:
        raise WrongWords("Say one of them: workspace close DATE, or workspace close --open")
    day = None if options.date is None else _day(chosen, options.date)

    def change(connection: "Connection") -> str | None:
        before: str | None = facts.get(connection, "closed_until")
        after = before
        if options.open:
            facts.drop(connection, "closed_until")
            after = None
        elif day is not None:
            facts.put(connection, "closed_until", day.isoformat(), parts.now().timestamp())
            after = day.isoformat()
        if after != before:
            _note(connection, "books closed" if after else "books opened", "books", before, after)
        return after

    with parts.open_bot_database(chosen) as database:
        until = database.write_now(change)
    print(f"The books are closed up to {until}, that day included" if until else "The books are open")
    return 0


def _day(chosen: Settings, words: str) -> date:
    try:
        day = date.fromisoformat(words)
    except ValueError:
        raise WrongWords(f"{words} is no date: write it like 2026-10-31") from None
    if day >= parts.now().astimezone(chosen.zone).date():
        raise WrongWords(f"{words} is not over yet: close a day that is")
    return day


def limit(options: argparse.Namespace) -> int:
    """Prints a person's limit, after the change where one is asked for."""
    from bot import preferences

    chosen = settings.load()
    if options.none and options.sum is not None:
        raise WrongWords("Say one of them: workspace limit USER_ID SUM, or workspace limit USER_ID --none")
    wire = None if options.sum is None else _wire(chosen, options.sum)
    user_id = str(options.user_id)
    asyncio.run(_must_exist(chosen, user_id))

    def change(connection: "Connection") -> int | None:
        before = preferences.get(connection, user_id, "limit")
        if options.none:
            preferences.drop(connection, user_id, "limit")
        elif wire is not None:
            preferences.put(connection, user_id, "limit", wire)
        after: int | None = preferences.get(connection, user_id, "limit")
        if after != before:
            _note(connection, "limit set", f"person:{user_id}", before, after)
        return after

    with parts.open_bot_database(chosen) as database:
        kept = database.write_now(change)
    if kept is not None:
        print(f"{user_id}: approving and paying ask again above {Decimal(kept).scaleb(-chosen.money_scale):,f}")
    elif chosen.limit is not None:
        print(f"{user_id} has no limit of their own; WORKSPACE_LIMIT is {chosen.limit:,f}")
    else:
        print(f"{user_id} has no limit, and WORKSPACE_LIMIT is not set")
    return 0


def _wire(chosen: Settings, words: str) -> int:
    """The sum as the workspace keeps sums."""
    try:
        typed = Decimal(words.replace(" ", "").replace("\u00a0", "").replace(",", "."))
    except InvalidOperation:
        typed = Decimal("NaN")
    if not typed.is_finite() or not 0 <= typed < Decimal(10) ** 15:
        raise WrongWords(f"{words} is no sum: write it like 10000 or 10000.50")
    scaled = typed.scaleb(chosen.money_scale)
    if scaled != scaled.to_integral_value():
        raise WrongWords(f"{words} cannot be kept exactly with WORKSPACE_MONEY_SCALE={chosen.money_scale}")
    return int(scaled)


async def _must_exist(chosen: Settings, user_id: str) -> None:
    from workspace.commands.invitations import known

    async with parts.client(chosen) as api:
        await known(api, user_id)


def reset_pin(options: argparse.Namespace) -> int:
    """Removes the PIN; the person sets a new one in /settings."""
    from bot import preferences

    chosen = settings.load()
    user_id = str(options.user_id)

    def change(connection: "Connection") -> bool:
        if preferences.get(connection, user_id, "pin") is None:
            return False
        preferences.drop(connection, user_id, "pin")
        _note(connection, "pin reset", f"person:{user_id}", None, None)
        return True

    with parts.open_bot_database(chosen) as database:
        was_set = database.write_now(change)
    print(f"The PIN of {user_id} is removed: a new one is set in /settings" if was_set else f"{user_id} has no PIN")
    return 0


def _note(connection: "Connection", act: str, subject: str, before: Any, after: Any) -> None:
    from bot import audit

    entry = audit.Entry(parts.now().timestamp(), OPS, act, subject, before=before, after=after)
    audit.note(connection, entry)
