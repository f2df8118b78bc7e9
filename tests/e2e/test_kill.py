"""kill -9 of the real bot process at random points, fifty times: every update is handled exactly once."""

import asyncio
import random
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.sandbox import ChatMessage, LocalTelegram, PersonChat, PersonSpec
from bot.vault import Vault
from storage import Database, migrate, open_database
from tests.e2e.processes import started
from tests.sizes import size
from workspace_api import AsyncWorkspace
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import Profile
from workspace_api.server.sample import load_sample
from workspace_api.server.serve import serve_async

TOKEN = "1000000:test-token-for-loopback"
KILLS = size(10, 50)
SEED = 20261121


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_fifty_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    """Texts and taps go on while the bot is killed: each text is one card, each tap on Create one task."""
    dice = random.Random(SEED)
    data = tmp_path / "data"
    with open_workspace(data) as server, open_database(f"sqlite:///{data}/bot.db") as bot_db:
        from datetime import UTC, datetime

        load_sample(server, "en", today=datetime.now(UTC).date())
        migrate(bot_db, "bot:migrations", version_table="bot_version")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
        )
        url = await ready
        people = [PersonSpec(id=1001, first_name="Anna"), PersonSpec(id=1002, first_name="Boris")]
        async with LocalTelegram.start(people=people, token=TOKEN, limits=None) as telegram:
            settings = {
                "WORKSPACE_URL": url,
                "WORKSPACE_API_KEY": issue_key(server, owner=True),
                "WORKSPACE_DATA": str(data),
                "WORKSPACE_POLL_SECONDS": "1",
                "TELEGRAM_TOKEN": TOKEN,
                "TELEGRAM_API_URL": telegram.url,
            }
            chats = [
                await _invited(telegram, bot_db, server, data, user, number)
                for user, number in (("anna", 1001), ("boris", 1002))
            ]
            async with asyncio.timeout(900):
                said = await _under_fire(tmp_path, settings, chats, dice)
            async with AsyncWorkspace(url, settings["WORKSPACE_API_KEY"]) as api:
                tasks = Counter(task.name for task in await api.tasks.task.list())
            with bot_db.read() as connection:
                states = set(connection.execute(text("SELECT DISTINCT state FROM inbox")).scalars())
                cards = connection.execute(text("SELECT count(*) FROM cards WHERE dialogue = 'tasks'")).scalar_one()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    # A kill between the note "sending" and the sending itself: nobody can know, so the card says that it is looked for.
    doubtful = [name for name in said if any(_doubtful(message, name) for chat in chats for message in chat.messages)]
    assert len(doubtful) <= 1 + KILLS / 10
    assert {name: tasks[name] for name in said if name not in doubtful} == dict.fromkeys(set(said) - set(doubtful), 1)
    assert all(tasks[name] <= 1 for name in doubtful)
    assert states == {"done"}
    assert cards == len(said)


async def _invited(
    telegram: LocalTelegram, bot_db: Database, server: Database, data: Path, user: str, number: int
) -> PersonChat:
    from bot import people

    sealed = Vault(data / "bot.key").seal(issue_key(server, user))
    code = bot_db.write_now(lambda c: people.invite(c, user, sealed, time.time()))
    chat = telegram.chat(number)
    await chat.starts(code)
    return chat


async def _under_fire(
    folder: Path, settings: dict[str, str], chats: list[PersonChat], dice: random.Random
) -> list[str]:
    """Says and taps while the bot is killed again and again; then lets it finish. Returns the tasks' names."""
    said: list[str] = []
    stop = asyncio.Event()
    talking = [asyncio.create_task(_talk(chat, place, said, stop)) for place, chat in enumerate(chats)]
    log = folder / "bot.log"
    for number in range(KILLS):
        lives = _lives(log)
        with started("bot", folder=folder, log="bot.log", **settings) as process:
            # Now and then before its first breath, else at any point of its work, however slow the machine is.
            if number % 5:
                while _lives(log) == lives and process.poll() is None:
                    await asyncio.sleep(0.02)
            await asyncio.sleep(dice.uniform(0.0, 1.2))
            process.kill()
    stop.set()
    with started("bot", folder=folder, log="bot.log", **settings):
        await asyncio.gather(*talking)
        await asyncio.gather(*(chat.waits(_all_created, timeout=300) for chat in chats))
    return said


def _lives(log: Path) -> int:
    """How often the bot has begun to listen."""
    return log.read_text().count("the bot listens") if log.exists() else 0


def _all_created(chat: PersonChat) -> bool:
    """No card of a task is left in the middle. A kill right after sending may leave a card's first copy behind."""
    return not any("Creating" in message.text for message in chat.messages)


async def _talk(chat: PersonChat, place: int, said: list[str], stop: asyncio.Event) -> None:
    """One person: links, then makes one task after the other."""
    await chat.card(containing="Is this you?", timeout=300)
    await _tap(chat, "Yes")
    await chat.card(containing="Linked", timeout=300)
    number = 0
    while not stop.is_set():
        number += 1
        name = f"Item {place} {number} of the list"
        await chat.says(f"/task {name}")
        said.append(name)
        await chat.waits(partial(_draft, name=name), timeout=300)
        card = _draft(chat, name)
        assert card is not None
        chat.taps("Create", on=card)
        await chat.waits(partial(_created, card=card.id), timeout=300)


def _doubtful(message: ChatMessage, name: str) -> bool:
    """Whether the card of that task says that its outcome is being looked for."""
    return "has not confirmed it yet" in message.text and name in message.text


def _draft(chat: PersonChat, name: str) -> ChatMessage | None:
    """The newest draft of that name: a kill right after sending may have brought it twice."""
    return next((m for m in reversed(chat.messages) if name in m.text and "not created" in m.text), None)


def _created(chat: PersonChat, card: int) -> bool:
    """Created, or said to be looked for."""
    return any(words in chat.message(card).text for words in ("Created", "has not confirmed it yet"))


async def _tap(chat: PersonChat, label: str) -> None:
    """A tap whose answer may be lost with the process."""
    chat.taps(label)
