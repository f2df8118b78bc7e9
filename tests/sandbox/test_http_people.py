"""People's side over HTTP, as the page and tests of other processes use it; and the wall around the server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from bot.sandbox import LocalTelegram
from tests.sandbox.bots import ANNA, BORIS, PNG, TOKEN, Wire, polling

CHAT = f"100-{ANNA.id}"
ROWS = {"inline_keyboard": [[{"text": "Go", "callback_data": "x"}, {"text": "Web", "url": "https://e.org"}]]}


class Person:
    """Somebody who acts over HTTP."""

    def __init__(self, session: aiohttp.ClientSession, url: str, person: int = ANNA.id) -> None:
        self._session = session
        self._root = f"{url}/sandbox"
        self.person = person

    async def get(self, path: str, status: int = 200, **query: str) -> Any:
        query = {"as": str(self.person), **query}
        async with self._session.get(f"{self._root}/{path}", params=query) as answer:
            assert answer.status == status, await answer.text()
            return await answer.json()

    async def post(self, path: str, status: int = 200, **body: Any) -> Any:
        body = body if path in {"people", "groups", "faults"} else {"as": self.person, **body}
        async with self._session.post(f"{self._root}/{path}", json=body) as answer:
            assert answer.status == status, await answer.text()
            return await answer.json()

    async def act(self, name: str, status: int = 200, **body: Any) -> Any:
        return await self.post(f"chats/{CHAT}/{name}", status, **body)

    async def upload(self, kind: str, content: bytes, name: str, **more: str) -> Any:
        form = aiohttp.FormData({"as": str(self.person), "kind": kind, **more}, quote_fields=False)
        if content:
            form.add_field("file", content, filename=name)
        async with self._session.post(f"{self._root}/chats/{CHAT}/file", data=form) as answer:
            return await answer.json()


@pytest.fixture
def anna(tg: LocalTelegram, session: aiohttp.ClientSession) -> Person:
    """Anna, over HTTP."""
    return Person(session, tg.url)


async def test_a_whole_conversation(tg: LocalTelegram, anna: Person) -> None:
    """Start, write, wait for the card, press it by its label, see it edited: all over HTTP."""
    async with polling(tg):
        assert [chat["key"] for chat in await anna.get("chats")] == [CHAT]
        assert (await anna.act("start", payload="abc"))["text"] == "/start abc"
        card = await anna.get(f"chats/{CHAT}/wait", containing="abc", timeout="5")
        assert card["inline"] == [[{"text": "Approve ✓", "callback_data": "approve", "style": "success"}]]
        pressed = await anna.act("press", label="Approve", wait=5)
        assert pressed["answer"] == {"text": "Approved", "show_alert": True}
        done = await anna.get(f"chats/{CHAT}/wait", after=str(card["revision"]), timeout="5")
        assert (done["text"], "edited" in done) == ("done", True)


async def test_people_and_groups(tg: LocalTelegram, anna: Person, session: aiohttp.ClientSession) -> None:
    """People are added, groups made, members and bots come and go."""
    eve = await anna.post("people", first_name="Eve", language_code="ru")
    assert eve["id"] == BORIS.id + 1
    assert [person["name"] for person in await anna.get("people")] == ["Anna Reed", "Борис", "Eve"]
    await anna.post("people", 409, first_name="Twin", id=ANNA.id)
    group = await anna.post("groups", title="Finance", members=[ANNA.id, BORIS.id], bot_is_admin=True)
    await anna.post(f"chats/{group['key']}/members", person=eve["id"])
    assert [p["id"] for p in (await anna.get(f"chats/{group['key']}"))["people"]] == [ANNA.id, BORIS.id, eve["id"]]
    await anna.post(f"chats/{group['key']}/remove-bot", bot=100)
    page = await anna.get(f"chats/{group['key']}")
    assert [message["service"]["kind"] for message in page["messages"]] == [
        "group_created",
        "members_added",
        "member_left",
    ]
    await anna.post("groups", 400, title=" ", members=[])
    await anna.get("chats")
    stranger = Person(session, tg.url, eve["id"])
    await stranger.get(f"chats/{CHAT}", 403)


async def test_messages_are_edited_deleted_liked_and_read(wire: Wire, tg: LocalTelegram, anna: Person) -> None:
    """Everything that the message menu does."""
    said = await anna.act("text", text="450 taxi")
    assert (await anna.act("edit", message=said["id"], text="500 taxi"))["text"] == "500 taxi"
    assert (await anna.act("text", text="and this", reply_to=said["id"]))["reply_to"]["text"] == "500 taxi"
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    assert (await anna.get("chats"))[0]["unread"] == 1
    await anna.act("read")
    await anna.act("read")
    assert (await anna.get("chats"))[0]["unread"] == 0
    await anna.act("react", message=said["id"], emoji="👍")
    await anna.act("delete", message=said["id"])
    await anna.act("delete", 400, message=said["id"])
    page = await anna.get(f"chats/{CHAT}")
    assert [message["text"] for message in page["messages"]] == ["/start", "and this", "card"]
    assert page["messages"][1]["reply_to"]["name"] == ""
    assert tg.chat(ANNA.id).last.text == "card"


async def test_files_go_up_and_down(anna: Person, tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Pictures are shown, documents are downloaded as such, HTML never as a page."""
    photo = (await anna.upload("photo", PNG, "x.png", caption="c"))["photo"]
    page = (await anna.upload("document", b"<script>", "я.html", reply_to="1"))["document"]
    async with session.get(f"{tg.url}/sandbox/files/{photo['id']}") as answer:
        assert (answer.content_type, await answer.read()) == ("image/png", PNG)
    async with session.get(f"{tg.url}/sandbox/files/{page['id']}") as answer:
        assert answer.content_type == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''%D1%8F.html")
    await anna.get("files/none", 404)
    assert "no file" in (await anna.upload("photo", b"", ""))["error"]


async def test_blocking(wire: Wire, anna: Person) -> None:
    """A blocked bot hears nothing, and START lets it in again."""
    await anna.act("block", blocked=True)
    await anna.act("block", blocked=True)
    assert "blocked" in (await anna.act("text", 400, text="a"))["error"]
    assert (await wire.refused("sendMessage", chat_id=ANNA.id, text="a"))[0] == 403
    await anna.act("start")
    await wire.ok("sendMessage", chat_id=ANNA.id, text="a")


async def test_an_inline_query(wire: Wire, anna: Person) -> None:
    """Results come to the person who asked, and nobody else can choose them."""
    asked = await anna.act("inline", bot=100, query="taxi")
    assert asked["results"] is None
    content = {"message_text": "Taxi"}
    results = [{"id": "1", "type": "article", "title": "T", "input_message_content": content}]
    await wire.ok("answerInlineQuery", inline_query_id=asked["query"], results=results)
    said = await anna.act("choose", query=asked["query"], result="1")
    assert (said["text"], said["via"], said["mine"]) == ("Taxi", "workspace_local_bot", True)
    await anna.act("choose", 400, query="5", result="1")
    await anna.act("inline", 400, bot=5, query="x")


async def test_faults_over_http(wire: Wire, anna: Person, tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Faults are ordered, shown and cleared."""
    ordered = await anna.post("faults", kind="429", method="sendMessage", times=2, retry_after=9)
    assert ordered["faults"] == [
        {"kind": "429", "when": "before", "method": "sendMessage", "times": 2, "retry_after": 9}
    ]
    assert (await wire("sendMessage", chat_id=ANNA.id, text="a"))["parameters"] == {"retry_after": 9}
    assert (await anna.post("faults", delivery={"twice": True, "age": 60}))["delivery"]["twice"] is True
    assert (await anna.get("faults"))["faults"][0]["times"] == 1
    async with session.delete(f"{tg.url}/sandbox/faults") as answer:
        assert (await answer.json())["faults"] == []
    await wire.ok("sendMessage", chat_id=ANNA.id, text="a")


async def lines(answer: aiohttp.ClientResponse, kind: str) -> dict[str, Any]:
    """The next event of a kind in a stream."""
    async for line in answer.content:
        if line.startswith(b"data: "):
            event: dict[str, Any] = json.loads(line[6:])
            if event["kind"] == kind:
                return event
    raise AssertionError(f"the stream ended without {kind}")


async def test_the_live_stream(wire: Wire, tg: LocalTelegram, anna: Person, session: aiohttp.ClientSession) -> None:
    """A person's stream tells what they can see, and nothing of other people's chats."""
    async with session.get(f"{tg.url}/sandbox/stream", params={"as": str(ANNA.id)}) as answer:
        assert answer.content_type == "text/event-stream"
        await answer.content.readline()
        await tg.chat(BORIS.id).says("secret")
        sent = await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
        assert (await lines(answer, "message"))["message"]["text"] == "card"
        await wire.ok("sendChatAction", chat_id=ANNA.id, action="typing")
        assert (await lines(answer, "typing"))["name"] == "Workspace Local"
        query = tg.chat(ANNA.id).taps("Go")
        await wire.ok("answerCallbackQuery", callback_query_id=query, text="ok")
        assert (await lines(answer, "answered"))["detail"]["text"] == "ok"
        await wire.ok("editMessageText", chat_id=ANNA.id, message_id=sent["message_id"], text="done")
        assert (await lines(answer, "edited"))["message"]["text"] == "done"
        await wire.ok("deleteMessage", chat_id=ANNA.id, message_id=sent["message_id"])
        assert (await lines(answer, "deleted"))["message"] == sent["message_id"]
        await wire.ok("setMyName", name="New")
        assert (await lines(answer, "bot"))["bot"] == 100


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("text", {}, "text: Field required"),
        ("text", {"text": "a", "extra": 1}, "extra: Extra inputs"),
        ("text", {"text": "x" * 4097}, "message is too long"),
        ("text", {"text": " "}, "message text is empty"),
        ("text", {"text": "a", "reply_to": 99}, "message to be replied not found"),
        ("text", {"text": "a", "anonymous": True}, "only in a group"),
        ("start", {"payload": "a b"}, "START_PARAM_INVALID"),
        ("press", {"label": "none"}, "no button"),
        ("press", {"label": "Web"}, "no button"),
        ("press", {"data": "x"}, "say on which message"),
        ("edit", {"message": 2, "text": "b"}, "message can't be edited"),
        ("edit", {"message": 1, "text": " "}, "message text is empty"),
        ("edit", {"message": 1, "text": "x" * 4097}, "message is too long"),
        ("members", {"person": BORIS.id}, "only a group"),
        ("remove-bot", {"bot": 100}, "not in the group"),
        ("react", {"message": 99}, "message to react not found"),
    ],
)
async def test_what_people_cannot_do(wire: Wire, anna: Person, path: str, body: dict[str, Any], words: str) -> None:
    """What a person cannot do is said in one sentence."""
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    assert words in (await anna.act(path, 400, **body))["error"]


async def test_questions_that_are_wrong(anna: Person, tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Who asks must be said, exist and be in the chat."""
    await anna.get("chats/none", 400)
    await anna.get("chats", 400, **{"as": ""})
    await anna.get("chats", 400, **{"as": "x"})
    await anna.get("chats", 400, **{"as": "5"})
    await anna.get(f"chats/{CHAT}/wait", 408, timeout="0")
    for path in ("/page/../server.py", "/page/none.js", "/page/.css"):
        async with session.get(tg.url + path) as answer:
            assert answer.status == 404
    async with session.post(f"{tg.url}/sandbox/people", data=b"{") as answer:
        assert (answer.status, (await answer.json())["error"].startswith("Bad Request: body")) == (400, True)


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
"""What a browser sends when somebody follows a link of another page."""


async def test_the_wall(tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Foreign Host headers and foreign origins get nothing, neither on the page nor at the Bot API."""
    own = tg.url.removeprefix("http://")
    for path in ("/", "/sandbox/people", f"/bot{TOKEN}/getMe"):
        for headers, status in (
            ({}, 200),
            ({"Host": "localhost:1"}, 200),
            ({"Host": "evil.example"}, 403),
            ({"Host": "10.0.0.1"}, 403),
            ({"Origin": tg.url}, 200),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
            (LINK, 200 if path == "/" else 403),
            ({**LINK, "Sec-Fetch-Site": "same-site"}, 200 if path == "/" else 403),
            ({**LINK, "Sec-Fetch-Dest": "iframe"}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403),
            ({**LINK, "Sec-Fetch-Site": "none"}, 200),
        ):
            async with session.get(tg.url + path, headers={"Host": own, **headers}) as answer:
                assert answer.status == status, (path, headers)
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
                assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_second_message_while_waiting(anna: Person, wire: Wire) -> None:
    """A wait that began before the message is woken by it."""
    waiting = asyncio.create_task(anna.get(f"chats/{CHAT}/wait", containing="late", timeout="5"))
    await wire.ok("sendMessage", chat_id=ANNA.id, text="too late")
    assert (await waiting)["text"] == "too late"
