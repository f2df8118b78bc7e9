"""Serves the page until told to stop, beside a runner in one process."""

import asyncio
import logging
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import uvicorn

from automations.page.app import Page, application
from automations.page.guard import is_loopback
from automations.page.sessions import SHORTEST_TOKEN

AGAIN = 10.0
"""Seconds between two attempts to listen at a port that is taken."""

log = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """uvicorn that says when it listens, and leaves signals alone."""

    def __init__(self, config: uvicorn.Config, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._listens = listens

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Somebody else's."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listens()


def refuse_open_doors(host: str, url: str | None, token: str | None) -> None:
    """Raises ValueError, in words, for a page that others could reach without a token."""
    named = urlsplit(url or "").hostname
    if token is None and not (is_loopback(host) and (named is None or is_loopback(named))):
        where = host if not is_loopback(host) else url
        raise ValueError(
            f"The ops page at {where} could be used by anybody: set WORKSPACE_PAGE_TOKEN to at least "
            f"{SHORTEST_TOKEN} characters, such as `openssl rand -hex 32` prints"
        )


async def serve_page(
    page: Page, host: str, port: int, stop: asyncio.Event, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serves until `stop`; `ready` is told the address. Raises ValueError or OSError in words before it listens."""
    refuse_open_doors(host, page.url, page.token)
    with _bind(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            application(page, host),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
        )
        server = _Server(config, lambda: ready(address))
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            server.should_exit = True
            await serving


async def serve_page_when_free(
    page: Page, host: str, port: int, stop: asyncio.Event, ready: Callable[[str], None] = lambda _: None
) -> None:
    """The same for a runner beside it, which runs on without a page: where the port is taken it is told once, and
    tried again until it is free, as when the runner that served the page has died."""
    told = False
    while not stop.is_set():
        try:
            await serve_page(page, host, port, stop, ready)
        except OSError as error:
            if not told:
                log.warning("%s. Runs go on without the page until it is free", error)
            told = True
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN):
                    await stop.wait()


def _bind(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        words = f"Cannot listen at {host}:{port}: {error.strerror}. Set another WORKSPACE_PAGE, or WORKSPACE_PAGE=off"
        raise OSError(error.errno, words) from None
    return listener
