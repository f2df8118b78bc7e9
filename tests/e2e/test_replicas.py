"""Two real bots on one PostgreSQL database behind a proxy: kill -9 of whichever leads, again and again."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from subprocess import Popen

import pytest
from sqlalchemy import text

from bot import leader, people
from bot.sandbox import ChatMessage, LocalTelegram, PersonChat, PersonSpec
from bot.vault import Vault
from storage import Database, migrate
from tests.bot.waiting import until
from tests.e2e.processes import started
from tests.sizes import size
from workspace_api import AsyncWorkspace
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import Profile
from workspace_api.server.sample import load_sample
from workspace_api.server.serve import serve_async

TOKEN = "1000000:test-token-for-loopback"
SECRET = "a-secret-of-this-test-alone"
KILLS = size(3, 20)


@asynccontextmanager
async def proxied(ports: Sequence[int]) -> AsyncGenerator[int]:
    """A port from which each connection goes to the next of the ports where somebody listens."""
    turn = count()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            with suppress(ConnectionError):
                port = ports[next(turn) % len(ports)]
                ahead, behind = await asyncio.open_connection("127.0.0.1", port)
                with suppress(ConnectionError):
                    await asyncio.gather(_pump(reader, behind), _pump(ahead, writer))
                behind.close()
                break
            await asyncio.sleep(0.05)
        writer.close()

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def leads(db: Database) -> int | None:
    """The number of the process that leads, where one lives that does."""
    with db.read() as connection:
        lease = leader.look(connection, "bot")
    return None if lease is None or leader.is_gone(lease.holder) else int(lease.holder.split("/")[1])


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_killing_whoever_leads_loses_and_repeats_nothing(tmp_path: Path, postgres_url: str) -> None:
    """People go on making tasks by webhook: each text is one card, each tap one task, and the other bot takes over."""
    data = tmp_path / "data"
    data.mkdir()
    ports = (free_port(), free_port())
    with open_workspace(data, postgres_url) as db:
        load_sample(db, "en", today=datetime.now(UTC).date())
        migrate(db, "bot:migrations", version_table="bot_version")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_async(data=data, database_url=postgres_url, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
        )
        specs = [PersonSpec(id=1001, first_name="Anna"), PersonSpec(id=1002, first_name="Boris")]
        async with LocalTelegram.start(people=specs, token=TOKEN) as telegram, proxied(ports) as front:
            settings = {
                "WORKSPACE_URL": await ready,
                "WORKSPACE_API_KEY": issue_key(db, owner=True),
                "WORKSPACE_DATA": str(data),
                "WORKSPACE_DATABASE_URL": postgres_url,
                "WORKSPACE_WEBHOOK_URL": f"http://127.0.0.1:{front}/hook",
                "WORKSPACE_WEBHOOK_SECRET": SECRET,
                "TELEGRAM_TOKEN": TOKEN,
                "TELEGRAM_API_URL": telegram.url,
            }
            chats = [telegram.chat(1001), telegram.chat(1002)]
            for chat, user in zip(chats, ("anna", "boris"), strict=True):
                sealed = Vault(data / "bot.key").seal(issue_key(db, user))
                invite = partial(people.invite, user_id=user, sealed_key=sealed, now=time.time())
                await chat.starts(db.write_now(invite))
            async with asyncio.timeout(400):
                made = await _while_leaders_die(tmp_path, db, settings, ports, chats)
            async with AsyncWorkspace(settings["WORKSPACE_URL"], settings["WORKSPACE_API_KEY"]) as api:
                tasks = Counter(task.name for task in await api.tasks.task.list())
            with db.read() as connection:
                states = set(connection.execute(text("SELECT DISTINCT state FROM inbox")).scalars())
                cards = connection.execute(text("SELECT count(*) FROM cards WHERE dialogue = 'tasks'")).scalar_one()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    assert len(made) > KILLS
    assert {name: tasks[name] for name in made} == dict.fromkeys(made, 1)
    assert states == {"done"}
    assert cards == len(made)


async def _while_leaders_die(
    folder: Path, db: Database, settings: dict[str, str], ports: Sequence[int], chats: Sequence[PersonChat]
) -> list[str]:
    """Kills whoever leads, starts it anew, lets the other take over. Returns the names of the tasks."""
    made: list[str] = []
    stop = asyncio.Event()
    with ExitStack() as stack:
        bots = [_start(stack, folder, settings, ports, place) for place in range(2)]
        talking = [asyncio.create_task(_talk(chat, place, made, stop)) for place, chat in enumerate(chats)]
        for _ in range(KILLS):
            place = await _led_by(db, bots)
            await _goes_on(made)
            bots[place].kill()
            bots[place].wait()
            assert await _led_by(db, bots, within=25) == 1 - place
            bots[place] = _start(stack, folder, settings, ports, place)
        stop.set()
        await asyncio.gather(*talking)
    return made


def _start(stack: ExitStack, folder: Path, settings: dict[str, str], ports: Sequence[int], place: int) -> "Popen[str]":
    own = settings | {"WORKSPACE_WEBHOOK_PORT": str(ports[place])}
    return stack.enter_context(started("bot", folder=folder, log=f"bot-{place}.log", **own))


async def _led_by(db: Database, bots: "Sequence[Popen[str]]", within: float = 60) -> int:
    """Which of the bots leads, once one does."""
    numbers = [bot.pid for bot in bots]
    await until(lambda: leads(db) in numbers, timeout=within)
    found = leads(db)
    assert found is not None
    return numbers.index(found)


async def _goes_on(made: list[str]) -> None:
    """Two more tasks are made."""
    before = len(made)
    await until(lambda: len(made) >= before + 2, timeout=60)


async def _talk(chat: PersonChat, place: int, made: list[str], stop: asyncio.Event) -> None:
    """One person: links, then makes one task after the other."""
    await chat.card(containing="Is this you?", timeout=120)
    chat.taps("Yes")
    await chat.card(containing="Linked", timeout=120)
    for number in count():
        if stop.is_set():
            return
        name = f"Item {place} {number} of the list"
        await chat.says(f"/task {name}")
        made.append(name)
        await chat.waits(partial(_draft, name=name), timeout=120)
        card = _draft(chat, name)
        assert card is not None
        chat.taps("Create", on=card)
        await chat.waits(partial(_created, card=card.id), timeout=120)


def _created(chat: PersonChat, card: int) -> bool:
    return "Created" in chat.message(card).text


def _draft(chat: PersonChat, name: str) -> ChatMessage | None:
    """The newest draft of that name: a kill right after sending may have brought it twice."""
    return next((each for each in reversed(chat.messages) if name in each.text and "not created" in each.text), None)
