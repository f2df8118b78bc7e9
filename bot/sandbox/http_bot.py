"""The Bot API over HTTP: `/bot<token>/<method>` and `/file/bot<token>/<path>`.

request -> token -> parameters and uploads (JSON, form, multipart, query) -> ordered fault? -> method -> answer.
"""

from __future__ import annotations

import json
import re
from typing import cast

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.sandbox.connections import Connections
from bot.sandbox.faults import Fault, Faults
from bot.sandbox.methods import perform
from bot.sandbox.methods.call import Call, Upload
from bot.sandbox.model import Bot
from bot.sandbox.polling import Polls
from bot.sandbox.refusals import Refused, bad, too_many, unauthorized
from bot.sandbox.wire import Json
from bot.sandbox.world import World

TOKEN = re.compile(r"[0-9]{1,18}:[A-Za-z0-9_-]{5,}")
BODY_LIMIT = 60 * 2**20


class BotDoor:
    """The two endpoints of a bot."""

    def __init__(self, world: World, polls: Polls, faults: Faults, connections: Connections) -> None:
        self._world = world
        self._polls = polls
        self._faults = faults
        self._connections = connections

    async def method(self, request: Request) -> Response:
        method = request.path_params["method"]
        try:
            bot = self._bot(request)
            params, uploads = await _parameters(request)
            call = Call(world=self._world, bot=bot, method=method, params=params, uploads=uploads)
            fault = self._faults.take(method)
            if fault is not None and fault.when == "before":
                return self._broken(request, fault)
            answer = await self._answer(call)
        except Refused as refused:
            return JSONResponse(refused.body(), refused.status)
        if fault is not None:
            return self._broken(request, fault)
        return answer

    async def _answer(self, call: Call) -> Response:
        try:
            if call.method.lower() == "getupdates":
                return JSONResponse({"ok": True, "result": await self._polls.get_updates(call)})
            return JSONResponse({"ok": True, "result": perform(call)})
        except Refused as refused:
            return JSONResponse(refused.body(), refused.status)

    async def file(self, request: Request) -> Response:
        try:
            self._bot(request)
        except Refused as refused:
            return JSONResponse(refused.body(), refused.status)
        path = request.path_params["path"]
        file = next((one for one in self._world.state.files.values() if one.path == path), None)
        if file is None:
            return JSONResponse(Refused(404, "Not Found").body(), 404)
        return Response(self._world.blobs.get(file.path), media_type="application/octet-stream")

    def _bot(self, request: Request) -> Bot:
        token = request.path_params["token"]
        bot = self._world.bot_of(token) if TOKEN.fullmatch(token) else None
        if bot is None:
            raise unauthorized()
        return bot

    def _broken(self, request: Request, fault: Fault) -> Response:
        """The answer that a fault gives."""
        if fault.kind == "429":
            refused = too_many(fault.retry_after)
            return JSONResponse(refused.body(), refused.status)
        if fault.kind == "html":
            page = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
            return HTMLResponse(page, 502)
        if fault.kind == "close":
            self._connections.drop(request.client)
            return Response(status_code=500)
        status = int(fault.kind)
        words = {500: "Internal Server Error", 502: "Bad Gateway"}[status]
        return JSONResponse(Refused(status, words).body(), status)


async def _parameters(request: Request) -> tuple[Json, dict[str, Upload]]:
    """The parameters and uploads of a call, from the query and from whatever kind of body there is."""
    params: Json = dict(request.query_params)
    uploads: dict[str, Upload] = {}
    if int(request.headers.get("content-length") or 0) > BODY_LIMIT:
        raise Refused(413, "Request Entity Too Large")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            body = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError):
            raise bad("can't parse JSON object") from None
        if not isinstance(body, dict):
            raise bad("can't parse JSON object")
        # A JSON body is an open object whose values the methods read by their types.
        params.update(cast("Json", body))
    elif kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        try:
            async with request.form(max_part_size=BODY_LIMIT) as form:
                for name, value in form.multi_items():
                    if isinstance(value, UploadFile):
                        mime = value.content_type or ""
                        uploads[name] = Upload(name=value.filename or name, mime=mime, content=await value.read())
                    else:
                        params[name] = value
        except HTTPException:
            raise bad("can't parse the form") from None
    return params, uploads
