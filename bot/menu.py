"""The command menu, per language, from the one list of commands that the dialogues declare."""

import asyncio
import logging
from collections.abc import Sequence

from telegram import Bot, BotCommand, BotCommandScopeAllPrivateChats
from telegram.error import TelegramError

from bot.dialogue import Command
from bot.texts import LANGUAGES, translations

log = logging.getLogger("bot.menu")

AGAIN = 60.0


async def publish(bot: Bot, commands: Sequence[Command], stop: asyncio.Event) -> None:
    """Tells Telegram the commands; tried again until it works, since the bot can do without."""
    while not stop.is_set():
        try:
            for language in LANGUAGES:
                gettext = translations(language).gettext
                menu = [BotCommand(command, gettext(words)) for command, words, _ in commands]
                code = None if language == "en" else language
                await bot.set_my_commands(menu, BotCommandScopeAllPrivateChats(), code)
        except TelegramError as fault:
            log.warning("the command menu could not be set: %s", type(fault).__name__)
            try:
                async with asyncio.timeout(AGAIN):
                    await stop.wait()
            except TimeoutError:
                continue
        return
