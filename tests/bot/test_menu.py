"""The command menus: per language and scope from one list, sent only where they differ from what Telegram has."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from telegram import Bot, BotCommandScopeAllGroupChats, BotCommandScopeAllPrivateChats, BotCommandScopeChat

from bot import menu, preferences
from bot.dialogue import Command
from bot.dialogues import COMMANDS
from bot.dialogues.settings import MENU
from bot.sandbox import LocalTelegram, PersonSpec
from tests.bot.house import TOKEN, OpenHouse, open_house, telegram_id

TWO = (Command("save", "Save"), Command("cancel", "Cancel", group=True))


@pytest.fixture
async def bot() -> AsyncGenerator[Bot]:
    """A bot on a Telegram of its own."""
    specs = [PersonSpec(id=1, first_name="Anna"), PersonSpec(id=2, first_name="Анна", language_code="ru")]
    async with (
        LocalTelegram.start(people=specs, token=TOKEN) as telegram,
        Bot(TOKEN, base_url=f"{telegram.url}/bot") as opened,
    ):
        yield opened


def test_each_scope_has_its_commands_in_each_language() -> None:
    """Groups have the safe ones alone; English is for all other languages."""
    made = {
        (each.scope.type, each.language): [(c.command, c.description) for c in each.commands]
        for each in menu.menus(TWO)
    }
    assert made == {
        ("all_private_chats", None): [("save", "Save"), ("cancel", "Cancel")],
        ("all_private_chats", "ru"): [("save", "Сохранить"), ("cancel", "Отмена")],
        ("all_group_chats", None): [("cancel", "Cancel")],
        ("all_group_chats", "ru"): [("cancel", "Отмена")],
    }


def test_the_real_menus_fit() -> None:
    """Every command of the dialogues, at most a hundred, described in a line of each language."""
    for each in menu.menus(COMMANDS):
        assert len(each.commands) <= 100
        assert all(1 <= len(command.description) <= 60 for command in each.commands)


async def test_a_menu_is_sent_once(bot: Bot) -> None:
    """A second start changes nothing; a command that is gone goes from the menu."""
    private = BotCommandScopeAllPrivateChats()
    assert [await menu.put(bot, each) for each in menu.menus(TWO)] == [True] * 4
    assert [await menu.put(bot, each) for each in menu.menus(TWO)] == [False] * 4
    assert [c.description for c in await bot.get_my_commands(private, "ru")] == ["Сохранить", "Отмена"]
    assert [await menu.put(bot, each) for each in menu.menus(TWO[:1])] == [True] * 4
    assert list(await bot.get_my_commands(BotCommandScopeAllGroupChats())) == []


async def test_publishing_ends_where_nobody_can_choose(bot: Bot) -> None:
    """Without a database the menus are set, and that is all."""
    await menu.publish(bot, TWO, asyncio.Event())
    assert [c.command for c in await bot.get_my_commands(BotCommandScopeAllPrivateChats())] == ["save", "cancel"]


async def test_who_chose_a_language_has_the_menu_in_it(tmp_path: Path) -> None:
    """In their own chat; a stop ends the looking; the next start sends nothing again."""
    async with open_house(tmp_path) as house:
        anna = await house.linked("anna")
        await anna.says("/settings")
        await anna.card(containing="Settings")
        await anna.presses("🌐")
        await anna.waits(lambda chat: any("Русский" in label for row in chat.buttons for label in row))
        await anna.presses("Русский")
        await anna.card(containing="Настройки")
        async with Bot(TOKEN, base_url=f"{house.telegram.url}/bot") as bot:
            await published(bot, house)
            scope = BotCommandScopeChat(telegram_id("anna"))
            words = {c.command: c.description for c in await bot.get_my_commands(scope)}
            assert words["settings"] == "Язык, часовой пояс, тихие часы, ПИН-код"
            await bot.delete_my_commands(scope)
            await published(bot, house)
            assert list(await bot.get_my_commands(scope)) == []


async def published(bot: Bot, house: OpenHouse) -> None:
    """One round of publishing: for all, then for the people."""
    everybody = BotCommandScopeAllPrivateChats()
    await bot.delete_my_commands(everybody)
    stop = asyncio.Event()
    running = asyncio.create_task(menu.publish(bot, COMMANDS, stop, house.desk.db))
    while not await bot.get_my_commands(everybody) or kept_menu(house)["shown"] is None:
        await asyncio.sleep(0)
    # A round that has begun goes to its end.
    stop.set()
    await running


def kept_menu(house: OpenHouse) -> dict[str, str | None]:
    """What is kept of the menu that Anna chose."""
    with house.desk.db.read() as connection:
        kept: dict[str, str | None] = preferences.get(connection, "anna", MENU)
    return kept
