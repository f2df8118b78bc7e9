"""A whole house for bot tests: the real embedded workspace over HTTP, Local Telegram, and the real assistant.

async with open_house(tmp_path) as house:
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="Raised floor")
"""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, select, text, update
from telegram import Bot

from bot import people
from bot.assistant import Assistant, Timing
from bot.desk import Desk, House
from bot.periods import requests_of
from bot.sandbox import LocalTelegram, PersonChat, PersonSpec
from bot.vault import Vault
from storage import Database, migrate, open_database
from tests.bot.lossy import Lossy, open_lossy
from tests.bot.waiting import until
from workspace_api import AsyncWorkspace
from workspace_api.contract.finplan import Request
from workspace_api.server.changes import bump
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import HostedProfile, Profile
from workspace_api.server.sample import load_sample
from workspace_api.server.schema import users
from workspace_api.server.serve import serve_async

TOKEN = "1000000:test-token-for-loopback"
TODAY = date(2026, 11, 21)

CAST = (
    ("anna", 1001, "Anna Bennett"),
    ("marina", 1002, "Marina Holt"),
    ("boris", 1003, "Boris Clarke"),
    ("pauline", 1004, "Pauline Archer"),
    ("victor", 1006, "Victor Langley"),
    ("helen", 1007, "Helen"),
)


@dataclass
class OpenHouse:
    """What a test looks at and acts on."""

    url: str
    telegram: LocalTelegram
    assistant: Assistant
    desk: Desk
    server: Database
    owner: AsyncWorkspace
    lossy: Lossy
    keeps_data: bool = True
    """Whether the workspace keeps what is sent as `data`."""

    def chat(self, user_id: str) -> PersonChat:
        """The private chat of a person of the cast."""
        return self.telegram.chat(telegram_id(user_id))

    def as_user(self, user_id: str) -> AsyncWorkspace:
        """The workspace as this person sees it."""
        return self.owner.with_options(api_key=issue_key(self.server, user_id))

    async def requests(self) -> list[Request]:
        """All requests as the owner sees them, also where the periods have to be named."""
        return await requests_of(self.owner, datetime.now(UTC))

    async def settled(self) -> None:
        """Waits until no intent is open."""

        def none_open() -> bool:
            with self.desk.db.read() as connection:
                found = connection.execute(
                    text("SELECT count(*) FROM intents WHERE state IN ('open','sending','unknown')")
                )
                return int(found.scalar_one()) == 0

        await until(none_open)

    def disable(self, user_id: str) -> None:
        """The person's profile says that they are disabled, from the next call on."""

        def write(connection: Connection) -> None:
            connection.execute(update(users).where(users.c.user_id == user_id).values(is_disabled=True))
            bump(connection)

        self.server.write_now(write)

    def invite(self, user_id: str, *, key: bool = True) -> str:
        """A one-time code."""
        sealed = self.desk.vault.seal(issue_key(self.server, user_id)) if key else None
        return self.desk.db.write_now(lambda c: people.invite(c, user_id, sealed, self.desk.now()))

    async def linked(self, user_id: str, *, key: bool = True) -> PersonChat:
        """A person who has opened the link and said who they are."""
        chat = self.chat(user_id)
        await chat.starts(self.invite(user_id, key=key))
        await chat.card(containing="Is this you?")
        await chat.presses("Yes")
        await chat.card(containing="Linked")
        return chat


def telegram_id(user_id: str) -> int:
    """The Telegram id of a person of the cast."""
    return next(number for name, number, _ in CAST if name == user_id)


def fill(folder: Path, database_url: str) -> None:
    """Puts the English sample and the bot's tables into an empty database, from which others begin as copies."""
    with open_workspace(folder, database_url) as server:
        load_sample(server, "en", today=datetime.now(UTC).date())
        migrate(server, "bot:migrations", version_table="bot_version")


def _is_empty(server: Database) -> bool:
    with server.read() as connection:
        return connection.execute(select(users.c.user_id).limit(1)).first() is None


@cache
def _loaded(language: Literal["en", "ru"], today: date) -> Path:
    """A folder with the file of a workspace that has the sample in it, and of a bot that knows nobody.

    Made once for all tests of a process.
    """
    folder = Path(tempfile.mkdtemp(prefix="sample-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with open_workspace(folder, None) as server:
        load_sample(server, language, today=today)
    with open_database(f"sqlite:///{folder}/bot.db") as db:
        migrate(db, "bot:migrations", version_table="bot_version")
    return folder


@asynccontextmanager
async def open_house(
    folder: Path,
    *,
    profile: Profile | None = None,
    poll_seconds: float = 0.2,
    language: str = "en",
    scale: int = 0,
    database_url: str | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    **more: Any,
) -> AsyncGenerator[OpenHouse]:
    """Everything started on free ports, and stopped at the end. `more`: further members of House, such as `limit`.

    `database_url`: where the workspace and the bot keep what they know, both in the same; files where there is none.
    """
    data = folder / "data"
    data.mkdir(exist_ok=True)
    if database_url is None:
        made = _loaded("ru" if language == "ru" else "en", datetime.now(UTC).date())
        shutil.copy(made / "workspace.db", data)
        shutil.copy(made / "bot.db", folder)
    with open_workspace(data, database_url) as server:
        if database_url is not None and _is_empty(server):
            load_sample(server, "ru" if language == "ru" else "en", today=datetime.now(UTC).date())
        key = issue_key(server, owner=True)
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_async(
                data=data,
                database_url=database_url,
                host="127.0.0.1",
                port=0,
                profile=profile or Profile(),
                ready=ready,
            )
        )
        url = await ready
        try:
            async with (
                open_lossy(url) as lossy,
                _assistant(
                    folder, lossy, key, poll_seconds, language, scale, server, database_url, clock, more
                ) as house,
            ):
                yield house
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


@asynccontextmanager
async def _assistant(
    folder: Path,
    lossy: Lossy,
    key: str,
    poll_seconds: float,
    language: str,
    scale: int,
    server: Database,
    database_url: str | None,
    clock: Callable[[], datetime],
    more: dict[str, Any],
) -> AsyncGenerator[OpenHouse]:
    specs: Sequence[PersonSpec] = [
        PersonSpec(id=number, first_name=name, language_code=language) for _, number, name in CAST
    ]
    async with (
        LocalTelegram.start(people=specs, token=TOKEN, limits=None) as telegram,
        AsyncWorkspace(lossy.url, key) as service,
    ):
        with open_database(database_url or f"sqlite:///{folder}/bot.db") as db:
            migrate(db, "bot:migrations", version_table="bot_version")
            settings: dict[str, Any] = {"folder": folder, "workspace_url": lossy.url, **more}
            house = House(UTC, language, scale, clock, **settings)
            desk = Desk(db, service, Vault(folder / "bot.key"), house)
            bot = Bot(TOKEN, base_url=f"{telegram.url}/bot", base_file_url=f"{telegram.url}/file/bot")
            assistant = Assistant(bot, desk, Timing(poll_seconds))
            stop = asyncio.Event()
            running = asyncio.create_task(assistant.run(stop))
            try:
                yield OpenHouse(lossy.url, telegram, assistant, desk, server, service, lossy)
            finally:
                stop.set()
                await _ended(assistant, running)


async def _ended(assistant: Assistant, running: "asyncio.Task[None]") -> None:
    """Until the assistant has stopped: its loops look at `stop` when they are woken, and each half second else."""
    while not running.done():
        for loop in (assistant.handling, assistant.operations, assistant.delivery):
            loop.wake()
        await asyncio.wait({running}, timeout=0.01)
    await running


def hosted(fault_rate: float = 0.0) -> HostedProfile:
    """A workspace that behaves as hosted ones may."""
    return HostedProfile(fault_rate=fault_rate)
