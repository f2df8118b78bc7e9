"""Local Telegram as a server: puts the parts together, runs uvicorn inside the running loop, keeps the state on disk.

`open_server` is the context both the tests' driver and `serve` live in.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from bot.sandbox.connections import Connections
from bot.sandbox.faults import Faults
from bot.sandbox.guard import Guard, is_loopback
from bot.sandbox.http_bot import BotDoor
from bot.sandbox.http_faults import FaultDoor
from bot.sandbox.http_people import PeopleDoor
from bot.sandbox.limits import Limits
from bot.sandbox.model import Person
from bot.sandbox.polling import Polls
from bot.sandbox.store import FolderBlobs, Keeper, load_state
from bot.sandbox.webhook import Webhooks
from bot.sandbox.world import Blobs, Event, MemoryBlobs, World

DEFAULT_TOKEN: Final = "100:local-token"  # noqa: S105 -- opens nothing but this machine's play world
DEFAULT_USERNAME: Final = "workspace_local_bot"


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonSpec:
    """A person to begin with. `id` is their Telegram user id, `language_code` that of their app."""

    id: int
    first_name: str
    last_name: str | None = None
    username: str | None = None
    language_code: str = "en"

    def person(self) -> Person:
        return Person(
            id=self.id, first_name=self.first_name, last_name=self.last_name, username=self.username,
            language_code=self.language_code,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A server that listens: its parts, and its root address without a slash at the end."""

    world: World
    faults: Faults
    url: str


class _Uvicorn(uvicorn.Server):
    """uvicorn in somebody else's loop: it leaves signals alone and ends at once when asked to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self.stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    async def main_loop(self) -> None:
        counter = 0
        while not self.stop.is_set():
            await self.on_tick(counter)
            counter += 10
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self.stop.wait()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket on a loopback address; any other address is refused in words."""
    if not is_loopback(host):
        raise ValueError(f"Local Telegram listens on loopback only, not on {host}: use --host 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(
            error.errno, f"cannot listen on {host}:{port} ({error.strerror}): choose another --port"
        ) from None
    return listener


@contextlib.asynccontextmanager
async def open_server(
    *,
    people: Sequence[PersonSpec],
    token: str | None = DEFAULT_TOKEN,
    bot_username: str = DEFAULT_USERNAME,
    limits: Limits | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    data_dir: Path | None = None,
    clock: Callable[[], float] = time.time,
    new_id: Callable[[], str] = lambda: secrets.token_urlsafe(24),
    answer_within: float = 60.0,
    webhook_retry: Sequence[float] = (0.5, 1, 2, 5, 10, 30),
) -> AsyncGenerator[Running, None]:
    """Serves until the context ends. People of an earlier run stay; a person given again takes the new names."""
    listener = listening_socket(host, port)
    blobs: Blobs = MemoryBlobs() if data_dir is None else FolderBlobs(data_dir / "files")
    world = World(
        clock=clock, new_id=new_id, blobs=blobs, limits=limits, bot_username=bot_username,
        answer_within=answer_within, state=None if data_dir is None else load_state(data_dir),
    )  # fmt: skip
    for spec in people:
        world.add_person(spec.person())
    if token is not None:
        world.bot_of(token)
    faults, connections = Faults(), Connections()
    polls, webhooks = Polls(world), Webhooks(world, webhook_retry)
    keeper = None if data_dir is None else Keeper(world, data_dir)
    bots, page = BotDoor(world, polls, faults, connections), PeopleDoor(world)
    routes = [
        Route("/bot{token}/{method}", bots.method, methods=["GET", "POST"]),
        Route("/file/bot{token}/{path:path}", bots.file, methods=["GET"]),
        *page.routes(),
        *FaultDoor(world, faults).routes(),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard)])
    config = uvicorn.Config(
        app, http=connections.protocol(), ws="none", lifespan="off", log_config=None, log_level="warning",
        access_log=False, server_header=False, timeout_graceful_shutdown=3,
    )  # fmt: skip
    server = _Uvicorn(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="local telegram")
    try:
        await server.up.wait()
        address = listener.getsockname()
        shown = f"[{host}]" if ":" in host else host
        yield Running(world=world, faults=faults, url=f"http://{shown}:{address[1]}")
    finally:
        polls.close()
        world.tell(Event(kind="closing"))
        await webhooks.close()
        server.stop.set()
        await task
        if keeper is not None:
            await keeper.close()


async def serve(
    *,
    host: str,
    port: int,
    people: Sequence[PersonSpec],
    token: str | None,
    bot_username: str,
    data_dir: Path | None,
    announce: Callable[[str], None],
) -> None:
    """Serves until cancelled, with Telegram's limits; `announce` gets the address once it listens.

    With `data_dir` people, chats, files and update ids survive a restart.
    """
    async with open_server(
        people=people, token=token, bot_username=bot_username, limits=Limits(), host=host, port=port, data_dir=data_dir
    ) as running:
        announce(running.url)
        await asyncio.Event().wait()
