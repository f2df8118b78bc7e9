"""workspace invite: a one-time link for a person."""

import argparse
import asyncio
import sys

from workspace import parts, settings
from workspace.commands.words import Subcommands
from workspace.settings import Settings
from workspace_api import AsyncWorkspace


def add_invite(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "invite",
        help="a one-time link for a person, good for an hour",
        description="Prints the link, or the bare code for /start where the bot's name is unknown.",
    )
    command.add_argument("user_id", metavar="USER_ID")
    command.add_argument("--api-key", metavar="KEY", help="the person's own key, on a hosted workspace")
    command.set_defaults(run=invite)


def invite(options: argparse.Namespace) -> int:
    """Checks the person, makes the code, prints it."""
    chosen = settings.load()
    key = options.api_key or _key_for(chosen, options.user_id)
    if key is None:
        print(
            "workspace: give the person's own key with --api-key; without one the bot can only greet them",
            file=sys.stderr,
        )
    with parts.open_bot_database(chosen) as database:
        from bot import people
        from bot.vault import Vault

        sealed = None if key is None else Vault(chosen.data / "bot.key").seal(key)
        code = database.write_now(
            lambda connection: people.invite(connection, options.user_id, sealed, parts.now().timestamp())
        )
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
