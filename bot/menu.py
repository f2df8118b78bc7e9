"""The command menus, from the one list of commands that the dialogues declare.

scope            commands                 languages
private chats    all                      one menu each; English for every other language
groups           those safe in a group    the same
a person's chat  all                      the language that they chose in /settings

What Telegram has already is read first: a menu is sent only where it differs. Of people's own menus it is kept which
one they have (the preference `menu`), so that thousands of them cost nothing at a start.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, select
from telegram import (
    Bot,
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
)
from telegram.error import BadRequest, Forbidden, TelegramError

from bot import people, preferences
from bot.dialogue import Command
from bot.dialogues.settings import MENU
from bot.tables import preferences as table
from bot.texts import LANGUAGES, translations
from storage import Database

log = logging.getLogger("bot.menu")

AGAIN = 60.0

LOOK = 10.0
"""Seconds between two looks for people who have chosen a language."""

DEFAULT = "en"
"""The language of the menu that people of any other language see."""


@dataclass(frozen=True, slots=True)
class Menu:
    """The commands of one scope, for people whose Telegram speaks `language`; None: for all others."""

    scope: BotCommandScope
    language: str | None
    commands: tuple[BotCommand, ...]


def menus(commands: Sequence[Command]) -> list[Menu]:
    """The menus that everybody sees."""
    scopes: tuple[tuple[BotCommandScope, Sequence[Command]], ...] = (
        (BotCommandScopeAllPrivateChats(), commands),
        (BotCommandScopeAllGroupChats(), [command for command in commands if command.group]),
    )
    return [
        Menu(scope, None if language == DEFAULT else language, _said(shown, language))
        for scope, shown in scopes
        for language in LANGUAGES
    ]


def menu_of(chat_id: int, language: str, commands: Sequence[Command]) -> Menu:
    """The menu of one person's private chat, in the language that they chose."""
    return Menu(BotCommandScopeChat(chat_id), None, _said(commands, language))


def _said(commands: Iterable[Command], language: str) -> tuple[BotCommand, ...]:
    gettext = translations(language).gettext
    return tuple(BotCommand(command.name, gettext(command.words)) for command in commands)


async def publish(bot: Bot, commands: Sequence[Command], stop: asyncio.Event, db: Database | None = None) -> None:
    """Tells Telegram the menus; tried again until it works, since the bot can do without.

    With a database it goes on, until `stop`, for the people who choose a language.
    """
    pause = 0.0
    published = False
    while not stop.is_set() and not (published and db is None):
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await stop.wait()
                return
        try:
            if not published:
                for menu in menus(commands):
                    await put(bot, menu)
                published = True
            if db is not None:
                await _personal(bot, commands, db)
            pause = LOOK
        except TelegramError as fault:
            log.warning("the command menu could not be set: %s", type(fault).__name__)
            pause = AGAIN


async def _personal(bot: Bot, commands: Sequence[Command], db: Database) -> None:
    """The menus of the people who have chosen a language and do not have theirs yet."""
    query = select(table.c.user_id, table.c.value).where(table.c.name == MENU)
    with db.read() as connection:
        rows = [(str(row.user_id), json.loads(row.value)) for row in connection.execute(query)]
        linked = {person.user_id: person.telegram_id for person in people.everyone(connection)} if rows else {}
    for user_id, kept in rows:
        chat_id = linked.get(user_id)
        if chat_id is None:
            continue
        menu = menu_of(chat_id, kept["language"], commands)
        shown = _mark(menu)
        if kept["shown"] != shown:
            await put(bot, menu)
            await db.write(partial(_shown, user_id=user_id, was=kept, shown=shown))


def _shown(connection: Connection, user_id: str, was: dict[str, str], shown: str) -> None:
    # Another choice that was made meanwhile stands.
    if preferences.get(connection, user_id, MENU) == was:
        preferences.put(connection, user_id, MENU, was | {"shown": shown})


def _mark(menu: Menu) -> str:
    """Changes with the chat and with what the menu says."""
    said = [menu.scope.to_json(), *(command.to_json() for command in menu.commands)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


async def put(bot: Bot, menu: Menu) -> bool:
    """Sets one menu; false where Telegram has it already, or where the chat is closed to the bot."""
    try:
        if await bot.get_my_commands(menu.scope, menu.language) == menu.commands:
            return False
        if menu.commands:
            await bot.set_my_commands(menu.commands, menu.scope, menu.language)
        else:
            await bot.delete_my_commands(menu.scope, menu.language)
    except (BadRequest, Forbidden):
        if not isinstance(menu.scope, BotCommandScopeChat):
            raise
        return False
    return True
