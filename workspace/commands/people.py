"""workspace people, unlink, forget: who is linked, who waits, and how that ends.

workspace people ─┬─ (nothing)      who is linked, invited, waiting for confirmation
                  ├─ confirm ID     links one who waits      refuse ID     ends their link
                  └─ rotate-key     a new key for what is sealed
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workspace import parts, settings
from workspace.commands.words import Subcommands, show
from workspace.settings import Settings, SettingsError
from workspace_api import WorkspaceError

if TYPE_CHECKING:
    from bot.admission import Pending
    from bot.desk import Change, Desk
    from bot.people import Person
    from storage import Database
    from workspace_api.contract.user import Profile


def add_people(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "people",
        help="who is linked in chat, who is invited, who waits for confirmation",
        description="Without an act: lists them. KEY: own proved (a decision stood under their name), own, none.",
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(run=people)
    acts = command.add_subparsers(metavar="ACT")
    for name, words in (("confirm", "link one who waits"), ("refuse", "end the link of one who waits")):
        act = acts.add_parser(name, help=words)
        act.add_argument("id", type=int, metavar="ID", help="as `workspace people` shows it")
        act.set_defaults(run=decide, confirm=name == "confirm")
    rotate = acts.add_parser(
        "rotate-key",
        help="seal all keys with a new key, and drop the old one",
        description="A running bot needs no restart. Where the file bot.key is copied to several machines, "
        "stop the others first, and copy it again afterwards.",
    )
    rotate.set_defaults(run=rotate_key)


def add_unlink(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("unlink", help="end a person's link to the bot, and forget their key")
    command.add_argument("user_id", metavar="USER_ID")
    command.set_defaults(run=unlink)


def add_forget(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "forget",
        help="list what the bot keeps of a person; erase it with --yes",
        description="The audit and evidence of money stay for their time.",
    )
    command.add_argument("user_id", metavar="USER_ID")
    command.add_argument("--yes", action="store_true", help="erase it")
    command.set_defaults(run=forget)


def people(options: argparse.Namespace) -> int:
    """Lists everybody the bot knows."""
    chosen = settings.load()
    with parts.open_bot_database(chosen) as database:
        found = _everybody(database, chosen)
    if options.json:
        show(found)
        return 0
    linked, invited, waiting = found["linked"], found["invited"], found["waiting"]
    columns = ("user_id", "name", "telegram_id", "key", "language", "last_seen", "state")
    print(f"{len(linked)} linked, {len(invited)} invited, {len(waiting)} waiting for confirmation")
    _table(columns, linked)
    if invited:
        print("\nInvited, and not linked yet:")
        _table(("user_id", "until", "state"), invited)
    if waiting:
        print("\nWaiting: look at them, then `workspace people confirm ID` or `workspace people refuse ID`")
        _table(("id", "user_id", "name", "telegram", "telegram_id", "hint", "since"), waiting)
    return 0


def _table(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    lines = [tuple(name.upper().replace("_", " ") for name in columns)]
    lines += [tuple(_plain(row[name]) for name in columns) for row in rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _plain(value: object) -> str:
    """A cell of a table; control characters of somebody's name do not reach the terminal."""
    text = "-" if value is None else str(value)
    return "".join(character if character.isprintable() else "?" for character in text)


def _everybody(database: "Database", chosen: Settings) -> dict[str, list[dict[str, Any]]]:
    from bot import admission
    from bot import people as linked_people

    now = parts.now().timestamp()
    with database.read() as connection:
        linked = linked_people.everyone(connection)
        invited = linked_people.invited(connection, now)
        waiting = admission.waiting(connection)
    asked = {pending.user_id for pending in waiting}
    profiles = asyncio.run(_profiles(chosen)) if waiting else None
    return {
        "linked": [_linked(person, chosen) for person in linked],
        "invited": [
            {
                "user_id": invitation.user_id,
                "until": _moment(invitation.expires_at, chosen),
                "state": "waits for confirmation" if invitation.user_id in asked else "open",
            }
            for invitation in sorted(invited, key=lambda one: one.user_id)
        ],
        "waiting": [_waiting(pending, profiles, chosen) for pending in waiting],
    }


def _linked(person: "Person", chosen: Settings) -> dict[str, Any]:
    key = "none" if person.sealed_key is None else "own proved" if person.key_proved else "own"
    return {
        "user_id": person.user_id,
        "name": person.name,
        "telegram_id": person.telegram_id,
        "key": key,
        "language": person.language,
        "last_seen": _moment(person.seen_at, chosen),
        "state": "blocked the bot" if person.blocked else "",
    }


def _waiting(pending: "Pending", profiles: "dict[str, Profile] | None", chosen: Settings) -> dict[str, Any]:
    from bot import admission

    profile = None if profiles is None else profiles.get(pending.user_id)
    claimed = (profile.user_name or profile.name) if profile else None
    hint = "unknown" if profiles is None else admission.hint(pending.username, profile)
    username = f" (@{pending.username})" if pending.username else ""
    return {
        "id": pending.id,
        "user_id": pending.user_id,
        "name": claimed,
        "telegram": f"{pending.name}{username}",
        "telegram_id": pending.telegram_id,
        "hint": hint,
        "since": _moment(pending.asked_at, chosen),
    }


async def _profiles(chosen: Settings) -> "dict[str, Profile] | None":
    """Profiles by user id; None where the workspace does not answer, since the list is of use without."""
    try:
        async with parts.client(chosen) as api:
            return {profile.user_id: profile for profile in await api.user.profile.list() if profile.user_id}
    except (WorkspaceError, SettingsError) as error:
        print(f"workspace: the profiles cannot be read, so there are no hints: {error}", file=sys.stderr)
        return None


def _moment(seconds: float, chosen: Settings) -> str:
    return datetime.fromtimestamp(seconds, chosen.zone).isoformat(sep=" ", timespec="minutes")


async def at_desk(chosen: Settings, work: "Callable[[Desk], Awaitable[None]]") -> None:
    """Works at the bot's desk, as the bot itself does."""
    with parts.open_bot_database(chosen) as database:
        async with parts.client(chosen) as api:
            await work(parts.open_desk(chosen, database, api))


def decide(options: argparse.Namespace) -> int:
    """Confirms or refuses one who waits; the chat is told by the running bot."""
    from bot import admission
    from bot.desk import Refusal

    async def work(desk: "Desk") -> None:
        with desk.db.read() as connection:
            pending = admission.find(connection, options.id)
        if pending is None:
            raise SettingsError(f"Nobody waits with the number {options.id}: `workspace people` shows who does")
        change: Change
        try:
            change = await (admission.confirming if options.confirm else admission.refusing)(desk, pending, None)
        except Refusal as refusal:
            raise SettingsError(str(refusal)) from None
        await desk.db.write(change)
        what = "linked as" if options.confirm else "refused as"
        print(f"{_plain(pending.name)} (id {pending.telegram_id}) is {what} {pending.user_id}")

    asyncio.run(at_desk(settings.load(), work))
    return 0


def rotate_key(_options: argparse.Namespace) -> int:
    """A new line on top of bot.key; the older ones go once nothing needs them."""
    from bot.rotation import rotate
    from bot.vault import Vault

    chosen = settings.load()
    with parts.open_bot_database(chosen) as database:
        done = rotate(database, Vault(chosen.data / "bot.key"))
    print(f"Keys sealed with a new key: {done.sealed}; old keys dropped: {done.dropped}. Back up bot.key now.")
    if done.lost:
        print(
            f"workspace: {done.lost} could not be opened with any key of the file: invite these people again",
            file=sys.stderr,
        )
    return 1 if done.lost else 0


def unlink(options: argparse.Namespace) -> int:
    """Tells the person, closes their cards, forgets their key."""
    from bot import leavers
    from bot import people as linked_people

    async def work(desk: "Desk") -> None:
        with desk.db.read() as connection:
            person = linked_people.find_user(connection, options.user_id)
            known = [other.user_id for other in linked_people.everyone(connection)]
        if person is None:
            raise SettingsError(f"{options.user_id} is not linked{_near(options.user_id, known)}")
        words = leavers.by_ops(desk, person)
        await desk.db.write(lambda connection: leavers.unlink(connection, desk, person, words, note="by ops"))
        await asyncio.wrap_future(desk.db.scrub())
        print(f"{person.user_id} is unlinked; to link them again: workspace invite {person.user_id}")
        if person.sealed_key is not None:
            print("The key itself works until it is revoked in the workspace.")

    asyncio.run(at_desk(settings.load(), work))
    return 0


def _near(name: str, known: list[str]) -> str:
    from workspace_api.contract.problems import nearest

    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def forget(options: argparse.Namespace) -> int:
    """Lists by table what is kept, or erases it and lists what went."""
    from bot import audit
    from bot import forget as forgetting
    from bot.audit import Entry
    from bot.retention import below

    chosen = settings.load()
    user_id: str = options.user_id
    with parts.open_bot_database(chosen) as database:
        with database.read() as connection:
            kept, stays = forgetting.kept(connection, user_id), forgetting.evidence(connection, user_id)
        if not kept and not stays:
            print(f"Nothing is kept of {user_id}")
            return 0
        if options.yes:

            def erase(connection: Any) -> Any:
                done = forgetting.erase(connection, user_id)
                note = "what was kept of them was erased"
                audit.note(
                    connection, Entry(parts.now().timestamp(), "ops", "forgotten", f"person:{user_id}", note=note)
                )
                return done

            kept, files = database.write_now(erase)
            for path in filter(None, (below(chosen.data, file) for file in files)):
                path.unlink(missing_ok=True)
            database.scrub().result()
    print(f"{'Erased' if options.yes else 'Kept'} of {user_id}:" if kept else f"Nothing to erase of {user_id}")
    _counts(kept)
    if stays:
        print(
            f"Stays for its time ({chosen.keep_audit_days} days for the audit, "
            f"{chosen.keep_money_days} days for what concerns money):"
        )
        _counts(stays)
    if kept and not options.yes:
        print(f"To erase it: workspace forget {user_id} --yes")
    return 0


def _counts(counts: dict[str, int]) -> None:
    for name, count in counts.items():
        print(f"  {count:>6}  {name}")


async def bot_username(chosen: Settings) -> str | None:
    """The bot's name, where a token is set and Telegram answers."""
    if chosen.telegram_token is None:
        return None
    from telegram import Bot
    from telegram.error import TelegramError

    bot = Bot(chosen.telegram_token, base_url=f"{chosen.telegram_url}/bot")
    try:
        async with bot:
            return bot.username
    except TelegramError:
        return None
