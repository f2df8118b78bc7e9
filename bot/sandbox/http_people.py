"""People's side over HTTP: what the chat page uses, and end-to-end tests of other processes.

`as` is always the id of the person who acts; answers are JSON; a refusal is `{"error": sentence}` with its status.

Paths below `/sandbox`; `?` marks what may be left out.

    GET /people                  -> everybody
    POST /people                 first_name, id?, last_name?, username?, language_code? -> the person
    GET /chats?as=               -> the chats of a person, newest first
    GET /chats/{chat}?as=        -> the chat: messages, commands, keyboard, bots, people, revision
    GET /chats/{chat}/wait?as=   containing?, after? (a revision), timeout? (seconds)
                                 -> the newest fitting message of a bot, or 408
    POST /chats/{chat}/text      as, text, reply_to?, thread?, anonymous? -> the message
    POST /chats/{chat}/start     as, payload? -> the message
    POST /chats/{chat}/file      multipart: as, kind (photo, document), file, caption?, reply_to? -> the message
    POST /chats/{chat}/edit      as, message, text -> the message
    POST /chats/{chat}/delete    as, message -> {}
    POST /chats/{chat}/press     as, message?, data or label, wait? (seconds)
                                 -> press, and the answer (null where none came)
    POST /chats/{chat}/inline    as, bot, query, offset?, wait? -> query, and results (null where none came)
    POST /chats/{chat}/choose    as, query, result -> the message
    POST /chats/{chat}/react     as, message, emoji? -> {}
    POST /chats/{chat}/block     as, blocked -> {}
    POST /chats/{chat}/read      as -> {}
    POST /chats/{chat}/members   as, person -> {}
    POST /chats/{chat}/remove-bot as, bot -> {}
    POST /groups                 title, members, bot_is_admin? -> the chat
    GET, POST, DELETE /faults    kind, when?, method?, times?, retry_after? or delivery -> what is ordered
    GET /files/{id}              download? -> the file's bytes
    GET /stream?as=              -> server-sent events, see stream

`{chat}` is a group's id, or `<bot id>-<person id>`. The page itself is at `/`, with `/?as=<person>&start=<payload>`.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.sandbox import acts, view
from bot.sandbox.bodies import (
    Act,
    Ask,
    Block,
    BotOut,
    Choose,
    Edit,
    Endpoint,
    Member,
    NewGroup,
    NewPerson,
    OfMessage,
    PressIt,
    React,
    Say,
    Start,
    answered,
    number,
    read_body,
    viewer,
)
from bot.sandbox.methods.call import Upload
from bot.sandbox.model import Chat, Message, Person
from bot.sandbox.refusals import Refused, bad
from bot.sandbox.stream import events
from bot.sandbox.waiting import until
from bot.sandbox.wire import as_json
from bot.sandbox.world import World

PAGE = Path(__file__).parent / "page"
PAGE_TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}  # fmt: skip
_INLINE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_LONGEST_WAIT = 60.0


class PeopleDoor:
    """The endpoints below `/sandbox/`, and the page."""

    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        chat = "/sandbox/chats/{chat}"
        posts: dict[str, Endpoint] = {
            "/sandbox/people": self.add_person,
            "/sandbox/groups": self.add_group,
            f"{chat}/text": self.text,
            f"{chat}/start": self.start,
            f"{chat}/file": self.file_act,
            f"{chat}/edit": self.edit,
            f"{chat}/delete": self.delete,
            f"{chat}/press": self.press,
            f"{chat}/inline": self.inline,
            f"{chat}/choose": self.choose,
            f"{chat}/react": self.react,
            f"{chat}/block": self.block,
            f"{chat}/read": self.read,
            f"{chat}/members": self.members,
            f"{chat}/remove-bot": self.remove_bot,
        }
        gets: dict[str, Endpoint] = {
            "/sandbox/people": self.people,
            "/sandbox/chats": self.chats,
            chat: self.chat,
            f"{chat}/wait": self.wait,
            "/sandbox/files/{file}": self.file,
            "/sandbox/stream": self.stream,
            "/": self.page,
            "/page/{name}": self.page,
        }
        return [
            *(Route(path, answered(endpoint), methods=["POST"]) for path, endpoint in posts.items()),
            *(Route(path, answered(endpoint), methods=["GET"]) for path, endpoint in gets.items()),
        ]

    # Reading

    async def people(self, _: Request) -> Response:
        return JSONResponse([view.person(person) for person in self._world.state.people.values()])

    async def chats(self, request: Request) -> Response:
        who = viewer(request)
        rows = [view.chat_row(self._world, chat, who) for chat in self._world.chats_of(who)]
        rows.sort(key=lambda row: row["last"]["date"] if row["last"] else 0, reverse=True)
        return JSONResponse(rows)

    async def chat(self, request: Request) -> Response:
        who = viewer(request)
        return JSONResponse(view.chat_page(self._world, self._chat(request, who), who))

    async def wait(self, request: Request) -> Response:
        who = viewer(request)
        chat = self._chat(request, who)
        query = request.query_params
        containing, after = query.get("containing", ""), number(query.get("after", "0"))

        def fitting() -> Message | None:
            for said in reversed(chat.messages.values()):
                if said.sender in self._world.state.bots and said.revision > after and containing in said.text:
                    return said
            return None

        found = await until(self._world, fitting, min(number(query.get("timeout", "5")), _LONGEST_WAIT))
        if found is None:
            raise Refused(408, f"no message of a bot containing {containing!r} came in time")
        return self._said(chat, found, who)

    async def file(self, request: Request) -> Response:
        file = self._world.file(request.path_params["file"])
        if file is None:
            raise Refused(404, "there is no such file")
        headers: dict[str, str] = {}
        shown = file.mime in _INLINE_TYPES and "download" not in request.query_params
        if not shown:
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file.name)}"
        mime = file.mime if shown else "application/octet-stream"
        return Response(self._world.blobs.get(file.path), media_type=mime, headers=headers)

    async def stream(self, request: Request) -> Response:
        who = viewer(request)
        self._world.person(who)
        return StreamingResponse(events(self._world, who), media_type="text/event-stream")

    async def page(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        path = PAGE / name
        if path.parent != PAGE or path.suffix not in PAGE_TYPES or not path.is_file():
            raise Refused(404, "there is no such page")
        return Response(path.read_bytes(), media_type=PAGE_TYPES[path.suffix])

    # Acting

    async def add_person(self, request: Request) -> Response:
        given = await read_body(request, NewPerson)
        people = self._world.state.people
        identity = given.id or max([1000, *people]) + 1
        if identity in people or identity in self._world.state.bots:
            raise Refused(409, f"there is somebody with the id {identity} already")
        fields = given.model_dump(exclude={"id"})
        return JSONResponse(view.person(self._world.add_person(Person(id=identity, **fields))))

    async def add_group(self, request: Request) -> Response:
        given = await read_body(request, NewGroup)
        chat = acts.create_group(self._world, given.title, given.members, bot_is_admin=given.bot_is_admin)
        return JSONResponse(view.chat_row(self._world, chat, given.members[0]))

    async def text(self, request: Request) -> Response:
        given = await read_body(request, Say)
        chat = self._chat(request, given.who)
        said = acts.say(
            self._world, chat, given.who, given.text,
            reply_to=given.reply_to, thread=given.thread, anonymous=given.anonymous,
        )  # fmt: skip
        return self._said(chat, said, given.who)

    async def start(self, request: Request) -> Response:
        given = await read_body(request, Start)
        chat = self._chat(request, given.who)
        return self._said(chat, acts.start(self._world, chat, given.who, given.payload), given.who)

    async def file_act(self, request: Request) -> Response:
        async with request.form() as form:
            file, who = form.get("file"), number(str(form.get("as", "")))
            if not isinstance(file, UploadFile):
                raise bad("there is no file in the form")
            mime = file.content_type or ""
            upload = Upload(name=file.filename or "file", mime=mime, content=await file.read())
            kind, caption = str(form.get("kind", "document")), str(form.get("caption", ""))
            replied = form.get("reply_to")
        chat = self._chat(request, who)
        send = acts.send_photo if kind == "photo" else acts.send_document
        reply_to = number(str(replied)) if replied else None
        return self._said(chat, send(self._world, chat, who, upload, caption, reply_to=reply_to), who)

    async def edit(self, request: Request) -> Response:
        given = await read_body(request, Edit)
        chat = self._chat(request, given.who)
        return self._said(chat, acts.edit(self._world, chat, given.who, given.message, given.text), given.who)

    async def delete(self, request: Request) -> Response:
        given = await read_body(request, OfMessage)
        acts.delete(self._world, self._chat(request, given.who), given.who, given.message)
        return JSONResponse({})

    async def press(self, request: Request) -> Response:
        given = await read_body(request, PressIt)
        chat = self._chat(request, given.who)
        message, data = given.message, given.data
        if data is None:
            found = acts.find_button(chat, given.label or "", message)
            if found is None or found[1].callback_data is None:
                raise bad(f"there is no button {given.label!r} to press")
            message, data = found[0].id, found[1].callback_data
        if message is None:
            raise bad("message: say on which message the button is")
        press = acts.press(self._world, chat, given.who, message, data)
        answer = await until(self._world, lambda: press.answer, min(given.wait, _LONGEST_WAIT))
        return JSONResponse({"press": press.id, "answer": None if answer is None else as_json(answer)})

    async def inline(self, request: Request) -> Response:
        given = await read_body(request, Ask)
        chat = self._chat(request, given.who)
        asked = acts.ask_inline(self._world, chat, given.who, given.bot, given.query, given.offset)
        results = await until(self._world, lambda: asked.results, min(given.wait, _LONGEST_WAIT))
        return JSONResponse({"query": asked.id, "results": results, "next_offset": asked.next_offset})

    async def choose(self, request: Request) -> Response:
        given = await read_body(request, Choose)
        chat = self._chat(request, given.who)
        asked = self._world.state.asked.get(given.query)
        if asked is None or asked.person != given.who or asked.chat != chat.key:
            raise bad("this inline query is not known any more")
        return self._said(chat, acts.choose_inline(self._world, asked, given.result), given.who)

    async def react(self, request: Request) -> Response:
        given = await read_body(request, React)
        acts.react(self._world, self._chat(request, given.who), given.who, given.message, given.emoji)
        return JSONResponse({})

    async def block(self, request: Request) -> Response:
        given = await read_body(request, Block)
        acts.block(self._world, self._chat(request, given.who), blocked=given.blocked)
        return JSONResponse({})

    async def read(self, request: Request) -> Response:
        given = await read_body(request, Act)
        acts.read(self._world, self._chat(request, given.who), given.who)
        return JSONResponse({})

    async def members(self, request: Request) -> Response:
        given = await read_body(request, Member)
        acts.add_member(self._world, self._chat(request, given.who), given.who, given.person)
        return JSONResponse({})

    async def remove_bot(self, request: Request) -> Response:
        given = await read_body(request, BotOut)
        acts.remove_bot(self._world, self._chat(request, given.who), given.who, given.bot)
        return JSONResponse({})

    def _chat(self, request: Request, who: int) -> Chat:
        """The chat of the path, as one of its members sees it."""
        self._world.person(who)
        key = request.path_params["chat"]
        if key not in self._world.state.chats:
            self._world.chats_of(who)
        chat = self._world.chat(key)
        if who not in chat.members:
            raise Refused(403, f"person {who} is not in the chat {key}")
        return chat

    def _said(self, chat: Chat, said: Message, who: int) -> Response:
        return JSONResponse(view.message(self._world, chat, said, who))
