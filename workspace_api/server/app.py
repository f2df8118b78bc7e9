"""The embedded workspace over HTTP: one door, behind it the registry of operations.

```
request ─► path? 404 ─► method? 405 ─► Api-key? 401/403 ─► body ≤ 8 MB? 413 ─► Dispatcher ─► {"status": "success", …}
                                                                                └ ApiError ─► {"status": "error", …}
```
Every answer is JSON in the envelope. Log lines hold operation, status and time; never a key, a body or an error's text.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy.exc import IntegrityError, OperationalError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from storage import Database
from workspace_api.contract import Operation, operations
from workspace_api.openapi import document
from workspace_api.server.body import BODY_LIMIT
from workspace_api.server.changes import is_busy
from workspace_api.server.dispatch import Asked, Dispatcher
from workspace_api.server.errors import (
    ApiError,
    Conflict,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PermissionDenied,
    TooLarge,
    TooManyRequests,
    Unavailable,
    UnsupportedMedia,
)
from workspace_api.server.idempotency import check_key
from workspace_api.server.profile import Profile

log = logging.getLogger("workspace.server")

DEADLINE_SECONDS = 30.0
IN_FLIGHT = 512
"""How many requests are served at once; one more is told to come back in a second."""

_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _json(content: bytes, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(content, status, {**_HEADERS, **(headers or {})}, media_type="application/json")


def _refusal(error: ApiError, headers: Mapping[str, str] | None = None) -> Response:
    envelope = {"status": "error", "error": error.code, "error_message": error.sentence}
    return _json(orjson.dumps(envelope), error.status, headers)


class Door:
    """The one ASGI application behind Starlette's catch-all."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        profile: Profile,
        *,
        deadline: float = DEADLINE_SECONDS,
        body_limit: int = BODY_LIMIT,
    ) -> None:
        self._dispatcher = dispatcher
        self._profile = profile
        self._deadline = deadline
        self._body_limit = body_limit
        self._operations = {operation.path: operation for operation in operations().values()}
        self._openapi: bytes | None = None
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        started = time.perf_counter()
        response = await self._respond(request)
        milliseconds = (time.perf_counter() - started) * 1000
        path = scope["path"] if scope["path"] in self._operations else "(other)"
        log.info("%s %s %d %.1f ms", scope["method"], path, response.status_code, milliseconds)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        if self._in_flight >= IN_FLIGHT:
            busy = TooManyRequests("Too many requests at once: try again in a second.")
            return _refusal(busy, {"retry-after": "1"})
        self._in_flight += 1
        try:
            async with asyncio.timeout(self._deadline):
                return await self._serve(request)
        except MethodNotAllowed as error:
            return _refusal(error, {"allow": error.sentence.rsplit(" ", 1)[-1].rstrip(".").replace("/", ", ")})
        except ApiError as error:
            return _refusal(error)
        except TimeoutError:
            return _refusal(Unavailable(f"The request took longer than {self._deadline:g} s and was given up."))
        except IntegrityError:
            # The rules look before they write; two processes on one database can still meet in between.
            return _refusal(Conflict("The change clashes with another one at the same moment: read again, then try."))
        except OperationalError as error:
            if is_busy(error):
                return _refusal(Unavailable("The database is busy: try again in a second."), {"retry-after": "1"})
            return _broken(error)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, the caller gets an envelope
            return _broken(error)
        finally:
            self._in_flight -= 1

    async def _serve(self, request: Request) -> Response:
        path = request.scope["path"]
        if path == "/openapi.json":
            if self._openapi is None:
                self._openapi = orjson.dumps(document())
            return _json(self._openapi, 200)
        operation = self._operations.get(path)
        if operation is None:
            raise NotFound("There is no operation at this path: /openapi.json lists them all.")
        methods = ("GET", "POST") if operation.label == "GET" else ("POST",)
        if request.method not in methods:
            raise MethodNotAllowed(f"{operation.name} takes {'/'.join(methods)}.")
        asked = await self._asked(request, operation)
        fault = self._profile.fault()
        if fault == "before":
            return _bad_gateway()
        answer = await self._dispatcher.answer(asked)
        return _bad_gateway() if fault == "after" else _json(answer, 200)

    async def _asked(self, request: Request, operation: Operation[Any]) -> Asked:
        headers = request.headers
        key = headers.get("api-key")
        if key is None and ("authorization" in headers or "x-token" in headers):
            raise PermissionDenied("permission_denied: the key belongs into the header Api-key.")
        self._dispatcher.holder(key)
        body = await self._body(request)
        # The body may take as long as the deadline, and the key may have been revoked meanwhile.
        holder = self._dispatcher.holder(key)
        media = headers.get("content-type", "application/json").split(";")[0].strip().lower()
        if body and media != "application/json" and not media.endswith("+json"):
            raise UnsupportedMedia("Send JSON, with Content-type: application/json.")
        return Asked(
            operation,
            body,
            tuple(request.query_params.multi_items()),
            holder,
            check_key(headers.get("idempotency-key")),
        )

    async def _body(self, request: Request) -> bytes:
        too_large = TooLarge(f"The body is larger than {self._body_limit // 1024} KB.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal():
            raise InvalidRequest("Content-Length is no number.")
        if int(length[:20]) > self._body_limit:
            raise too_large
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > self._body_limit:
                raise too_large
            parts.append(part)
        return b"".join(parts)


def _bad_gateway() -> Response:
    return HTMLResponse("<html><body><h1>502 Bad Gateway</h1></body></html>", 502)


def _broken(error: Exception) -> Response:
    # Where it broke and what kind it was; its text may repeat what was sent.
    places = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s\n%s", type(error).__name__, places)
    return _refusal(ApiError("Something broke inside the workspace; its log says where."))


def create_app(
    database: Database,
    *,
    profile: Profile | None = None,
    clock: Callable[[], datetime] = _utc_now,
    deadline: float = DEADLINE_SECONDS,
    body_limit: int = BODY_LIMIT,
) -> Starlette:
    """The embedded workspace as an ASGI application on a migrated database, which its caller closes."""
    chosen = profile or Profile()
    dispatcher = Dispatcher(database, profile=chosen, clock=clock)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            dispatcher.close()

    door = Door(dispatcher, chosen, deadline=deadline, body_limit=body_limit)
    return Starlette(routes=[Mount("/", app=door)], lifespan=lifespan)
