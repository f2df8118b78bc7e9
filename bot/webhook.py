"""Webhook mode: Telegram posts updates here; they are committed to the inbox, and only then answered with 200.

```
POST ─► path ─► secret, compared in constant time ─► at most 1 MB of JSON ─► inbox, committed ─► 200
          404      401 missing, 403 wrong              413, 415, 400           503: Telegram sends it again
```
Every replica listens (`Listener`), behind whatever proxy ends TLS; the one that leads tells Telegram where (`announce`)
and handles what all of them store. `withdraw` is for a bot that polls: it removes a webhook that an earlier life of
this bot has set, and no other. `/healthz` answers 200 while the database does.
"""

import asyncio
import hmac
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast
from urllib.parse import urlsplit

import uvicorn
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot import facts, inbox
from bot.incoming import KINDS, queue_of
from storage import Database

log = logging.getLogger("bot.webhook")

HEADER: Final = "x-telegram-bot-api-secret-token"
BODY_LIMIT = 1_000_000
COMMIT_SECONDS = 10.0
"""How long a commit may take before Telegram is asked to send the update again."""

BODY_SECONDS = 20.0
CONNECTIONS = 20
"""How many posts at once Telegram is asked to make at the most."""

AGAIN = 5.0
OURS = "webhook"
"""The fact under which the address of a webhook that we have set is kept."""


@dataclass(frozen=True, slots=True)
class Hook:
    """`url` is what Telegram calls, from outside; `port` is where this process listens."""

    url: str
    secret: str = field(repr=False)  # it must stand in no log
    port: int
    host: str = "0.0.0.0"  # noqa: S104 - a proxy on another machine or in another container comes in here

    @property
    def path(self) -> str:
        """The path of the address."""
        return urlsplit(self.url).path or "/"


class Door:
    """What answers the posts."""

    def __init__(self, db: Database, clock: Callable[[], float], hook: Hook, stored: Callable[[], None]) -> None:
        self._db = db
        self._clock = clock
        self._secret = hook.secret.encode()
        self._stored = stored

    async def update(self, request: Request) -> Response:
        """One update of Telegram's."""
        if (refused := self._stranger(request)) is not None:
            return refused
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return Response("Send JSON.", 415)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(request)
        except (TimeoutError, ClientDisconnect):
            return Response("The body did not come.", 408)
        if body is None:
            return Response("The body is too large.", 413)
        raw = _update(body)
        if raw is None:
            return Response("This is no update.", 400)
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await self._db.write(partial(inbox.store, updates=[raw], now=self._clock()))
        except (SQLAlchemyError, TimeoutError) as error:
            log.error("an update is not stored (%s): Telegram sends it again", type(error).__name__)
            return Response("Not stored: send it again.", 503, {"retry-after": "1"})
        self._stored()
        return Response(status_code=200)

    async def health(self, _: Request) -> Response:
        """Whether the database answers."""
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await asyncio.to_thread(self._ask)
        except (SQLAlchemyError, TimeoutError):
            return Response("The database does not answer.", 503)
        return Response("ok")

    def _ask(self) -> None:
        with self._db.read() as connection:
            connection.execute(text("SELECT 1"))

    def _stranger(self, request: Request) -> Response | None:
        given = request.headers.get(HEADER)
        if given is None:
            return Response("Who is there?", 401)
        # Bytes: of texts only ASCII can be compared.
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._secret):
            log.warning("a post with a wrong secret was refused")
            return Response("Not Telegram.", 403)
        return None


async def _body(request: Request) -> bytes | None:
    """The body, or None where it is too large, whatever its length was said to be."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > BODY_LIMIT:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > BODY_LIMIT:
            return None
        parts.append(part)
    return b"".join(parts)


def _update(body: bytes) -> dict[str, Any] | None:
    """The raw update, an open object; None where it is none, or none that can be kept."""
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict):
        return None
    # What Telegram sends is an open object: whoever handles it reads it by the library's types.
    raw = cast("dict[str, Any]", whole)
    number = raw.get("update_id")
    if type(number) is not int or not 0 <= number < 2**63 or abs(queue_of(raw)) >= 2**63:
        return None
    return raw


def application(db: Database, clock: Callable[[], float], hook: Hook, stored: Callable[[], None]) -> Starlette:
    """What a replica serves. `stored` is called after each commit."""
    door = Door(db, clock, hook, stored)
    health = Route("/healthz", door.health, methods=["GET"])
    return Starlette(routes=[health, Route(hook.path, door.update, methods=["POST"])])


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


async def listen(
    application: Starlette, hook: Hook, stop: asyncio.Event, ready: Callable[[int], None] = lambda _: None
) -> None:
    """Serves until `stop`, then finishes the posts under way. `ready` is told the port. Raises OSError in words."""
    with _bind(hook.host, hook.port) as listener:
        config = uvicorn.Config(
            application,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=5,
        )
        server = _Server(config, lambda: ready(listener.getsockname()[1]))
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            server.should_exit = True
            await serving


def _bind(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        words = f"Cannot listen at {host}:{port}: {error.strerror}. Set another WORKSPACE_WEBHOOK_PORT."
        raise OSError(error.errno, words) from None
    return listener


async def announce(bot: Bot, db: Database, hook: Hook, now: float, stop: asyncio.Event) -> None:
    """Tells Telegram where to post, again and again until it knows; nothing that waits there is dropped."""
    # Before: a webhook whose setting we did not see succeed is ours too.
    await db.write(partial(facts.put, name=OURS, value=hook.url, now=now))

    async def tell() -> None:
        await bot.set_webhook(
            hook.url,
            max_connections=CONNECTIONS,
            allowed_updates=list(KINDS),
            drop_pending_updates=False,
            secret_token=hook.secret,
        )

    await _until_done(tell, "setWebhook", stop)


async def withdraw(bot: Bot, db: Database, stop: asyncio.Event) -> None:
    """Before polling: removes the webhook that we have set, if it is still set; what waits there is kept."""
    with db.read() as connection:
        ours = facts.get(connection, OURS)
    if ours is None:
        return

    async def remove() -> None:
        if (await bot.get_webhook_info()).url == ours:
            await bot.delete_webhook(drop_pending_updates=False)

    if await _until_done(remove, "deleteWebhook", stop):
        await db.write(partial(facts.drop, name=OURS))


async def _until_done(what: Callable[[], Awaitable[None]], name: str, stop: asyncio.Event) -> bool:
    while not stop.is_set():
        try:
            await what()
        except InvalidToken:
            raise
        except TelegramError as fault:
            # Its text may be Telegram's own; the address with the token stands in none of these.
            log.warning("%s: %s; trying again", name, type(fault).__name__)
        else:
            return True
        try:
            async with asyncio.timeout(AGAIN):
                await stop.wait()
        except TimeoutError:
            continue
    return False
