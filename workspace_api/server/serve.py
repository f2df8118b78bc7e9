"""Running the embedded workspace: open, migrate, listen, announce, serve until told to stop.

`serve` blocks and handles signals, for `workspace serve`; `serve_async` runs beside the bot in one process.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from storage import Database
from workspace_api.server.app import create_app
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import Profile
from workspace_api.server.slow_headers import HEADER_SECONDS, within


class _Server(uvicorn.Server):
    """uvicorn that says when it listens, and leaves signals alone where somebody else handles them."""

    def __init__(self, config: uvicorn.Config, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._listens = listens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listens()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(
            error.errno, f"Cannot listen at {host}:{port}: {error.strerror}. Choose another --port."
        ) from None
    return listener


def _config(database: Database, profile: Profile, header_seconds: float = HEADER_SECONDS) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(database, profile=profile),
        loop="auto",
        http=within(header_seconds),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )


def serve(
    *,
    data: Path,
    database_url: str | None,
    host: str,
    port: int,
    profile: Profile,
    announce: Callable[[str], None],
) -> None:
    """Serves until SIGINT or SIGTERM. `announce` gets the address once it listens (`port` 0 takes a free one)."""
    with open_workspace(data, database_url) as database, _bind(host, port) as listener:
        address = _address(listener)
        server = _Server(_config(database, profile), lambda: announce(address))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


async def serve_async(
    *,
    data: Path,
    database_url: str | None,
    host: str,
    port: int,
    profile: Profile,
    ready: "asyncio.Future[str] | None" = None,
    header_seconds: float = HEADER_SECONDS,
) -> None:
    """Serves until cancelled, beside other work on the loop. `ready` gets the address once it listens."""
    database = await asyncio.to_thread(open_workspace, data, database_url)
    try:
        with _bind(host, port) as listener:
            address = _address(listener)

            def listens() -> None:
                if ready is not None and not ready.done():
                    ready.set_result(address)

            server = _Server(_config(database, profile, header_seconds), listens)
            # `serve` would take over the signals of a process that is not ours.
            running = asyncio.ensure_future(server._serve([listener]))  # pyright: ignore[reportPrivateUsage] - uvicorn has no public way without signals
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                server.should_exit = True
                await running
                raise
    finally:
        database.close()


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
