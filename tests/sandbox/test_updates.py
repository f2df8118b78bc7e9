"""How updates reach a bot: offsets, kinds, two pollers, webhooks, privacy in groups, delivery faults."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
from aiohttp import web
from telegram import Update
from telegram.ext import MessageHandler, filters

from bot.sandbox import LocalTelegram
from tests.sandbox.bots import ANNA, BORIS, Wire, app, echo


async def test_an_update_stays_until_a_later_one_is_asked_for(wire: Wire, tg: LocalTelegram) -> None:
    """Only the offset acknowledges; a negative one keeps the last."""
    await tg.chat(ANNA.id).says("two")
    first, second = await wire.ok("getUpdates")
    assert (first["message"]["text"], second["message"]["text"]) == ("/start", "two")
    assert await wire.ok("getUpdates", limit=1) == [first]
    assert await wire.ok("getUpdates", offset=second["update_id"]) == [second]
    await tg.chat(ANNA.id).says("three")
    assert [u["message"]["text"] for u in await wire.ok("getUpdates", offset=-1)] == ["three"]
    assert len(await wire.ok("getUpdates")) == 1


async def test_a_long_poll_ends_with_the_first_update(wire: Wire, tg: LocalTelegram) -> None:
    """A poll that waits is woken by what a person does."""
    (last,) = await wire.ok("getUpdates")
    poll = asyncio.create_task(wire.ok("getUpdates", offset=last["update_id"] + 1, timeout=30))
    await asyncio.sleep(0)
    await tg.chat(ANNA.id).says("wake up")
    assert [u["message"]["text"] for u in await poll] == ["wake up"]


async def test_two_pollers(wire: Wire) -> None:
    """The second poller ends the first with 409."""
    (last,) = await wire.ok("getUpdates")
    offset = last["update_id"] + 1
    first = asyncio.create_task(wire.refused("getUpdates", offset=offset, timeout=30))
    while not first.done():
        await wire.ok("getUpdates", offset=offset, timeout=0)
    status, words = await first
    assert status == 409
    assert words.startswith("Conflict: terminated by other getUpdates request")


async def test_only_the_kinds_that_are_wanted(wire: Wire, tg: LocalTelegram) -> None:
    """`allowed_updates` counts from then on; reactions come only when they are asked for."""
    chat = tg.chat(ANNA.id)
    await wire.ok("sendMessage", chat_id=ANNA.id, text="a")
    card = chat.last
    await chat.reacts(card, "👍")
    assert len(await wire.ok("getUpdates", allowed_updates=["message_reaction"])) == 1
    await chat.says("nobody hears this")
    await chat.reacts(card, None)
    assert [list(u)[1] for u in await wire.ok("getUpdates", offset=-5, allowed_updates=[])] == [
        "message",
        "message_reaction",
    ]
    assert (await wire.refused("getUpdates", allowed_updates="x"))[0] == 400


class Hook:
    """A bot's web server: what was posted, and the answers it gives (200 when none is left)."""

    def __init__(self) -> None:
        self.posted: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.secrets: list[str | None] = []
        self.answers: list[web.Response] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.StreamResponse:
        self.secrets.append(request.headers.get("X-Telegram-Bot-Api-Secret-Token"))
        await self.posted.put(await request.json())
        return self.answers.pop(0) if self.answers else web.Response()


@contextlib.asynccontextmanager
async def hook() -> AsyncGenerator[Hook, None]:
    """A hook that listens on loopback."""
    opened = Hook()
    application = web.Application()
    application.router.add_post("/hook", opened.take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    opened.url = f"http://{host}:{port}/hook"
    yield opened
    await runner.cleanup()


async def test_a_webhook_gets_each_update_with_the_secret(wire: Wire, tg: LocalTelegram) -> None:
    """Updates are posted in order with the secret, what failed again, and polling is refused meanwhile."""
    async with hook() as opened:
        opened.answers = [web.Response(status=500)]
        await wire.ok("setWebhook", url=opened.url, secret_token="s3cret-_")
        status, words = await wire.refused("getUpdates")
        assert (status, words.partition(";")[0]) == (
            409,
            "Conflict: can't use getUpdates method while webhook is active",
        )
        await tg.chat(ANNA.id).says("two")
        texts = [(await opened.posted.get())["message"]["text"] for _ in range(3)]
        assert texts == ["/start", "/start", "two"]
        assert set(opened.secrets) == {"s3cret-_"}
        await wire.ok("deleteWebhook")
        assert (await wire.ok("getWebhookInfo"))["url"] == ""


async def test_webhook_troubles_are_told(wire: Wire, tg: LocalTelegram) -> None:
    """getWebhookInfo says what went wrong last and how many updates wait."""
    async with hook() as opened:
        opened.answers = [web.Response(status=503) for _ in range(99)]
        await wire.ok("setWebhook", url=opened.url, allowed_updates=["message"])
        for _ in range(2):
            await opened.posted.get()
        info = await wire.ok("getWebhookInfo")
        assert info["last_error_message"] == "Wrong response from the webhook: 503 Service Unavailable"
        assert (info["pending_update_count"], info["allowed_updates"]) == (1, ["message"])
        opened.answers = []
        await opened.posted.get()
        await tg.chat(ANNA.id).says("now")
        while (await opened.posted.get())["message"]["text"] != "now":
            pass
    await tg.chat(ANNA.id).says("nobody listens")
    while "last_error_message" not in (info := await wire.ok("getWebhookInfo")):
        await asyncio.sleep(0)
    assert info["last_error_message"].startswith("Connection failed")
    await wire.ok("setWebhook", url=opened.url, drop_pending_updates=True)
    assert (await wire.ok("getWebhookInfo"))["pending_update_count"] == 0
    await wire.ok("setWebhook", url="")


async def test_an_answer_to_a_webhook_can_be_a_call(wire: Wire, tg: LocalTelegram) -> None:
    """A method in the webhook's answer is carried out; nonsense there is passed over."""
    async with hook() as opened:
        opened.answers = [
            web.json_response({"method": "sendMessage", "chat_id": ANNA.id, "text": "from the answer"}),
            web.json_response({"method": "sendMessage", "chat_id": 5, "text": "refused"}),
            web.json_response([]),
            web.Response(text="{"),
        ]
        await wire.ok("setWebhook", url=opened.url)
        assert (await tg.chat(ANNA.id).card("from the answer")).from_bot
        for word in ("a", "b", "c", "d"):
            await tg.chat(ANNA.id).says(word)
        for _ in range(5):
            await opened.posted.get()


async def test_webhooks_that_are_refused(wire: Wire) -> None:
    """Only loopback addresses and plain secrets."""
    assert (await wire.refused("setWebhook", url="ftp://127.0.0.1/"))[1].startswith("Bad Request: bad webhook")
    assert "loopback" in (await wire.refused("setWebhook", url="https://example.com/hook"))[1]
    assert "unallowed" in (await wire.refused("setWebhook", url="http://localhost:1/", secret_token="a b"))[1]


async def test_a_webhook_ends_a_poll(wire: Wire) -> None:
    """A poll that waits is told when a webhook takes over."""
    (last,) = await wire.ok("getUpdates")
    poll = asyncio.create_task(wire.refused("getUpdates", offset=last["update_id"] + 1, timeout=30))
    async with hook() as opened:
        while not poll.done():
            await wire.ok("setWebhook", url=opened.url)
            await asyncio.sleep(0)
        assert (await poll)[0] == 409
        await wire.ok("deleteWebhook", drop_pending_updates=True)


async def test_ptb_over_a_webhook(tg: LocalTelegram) -> None:
    """An unmodified PTB application fed by a webhook answers as one that polls."""
    running = app(tg)
    running.add_handler(MessageHandler(filters.ALL, echo))
    async with hook() as opened, running:
        await running.start()
        await running.bot.set_webhook(opened.url, secret_token="abc")
        await tg.chat(ANNA.id).says("/hello")
        await running.update_queue.put(Update.de_json(await opened.posted.get(), running.bot))
        assert (await tg.chat(ANNA.id).card()).text == "/hello"
        await running.stop()


async def texts_of(wire: Wire, **params: Any) -> list[str]:
    return [u["message"].get("text", "") for u in await wire.ok("getUpdates", **params) if "message" in u]


async def test_privacy_in_a_group(tg: LocalTelegram, wire: Wire) -> None:
    """In a group a bot hears commands, mentions of it and replies to it, and nothing else."""
    group = tg.group("Finance", members=[ANNA.id, BORIS.id])
    anna = group.chat(ANNA.id)
    await anna.says("between us")
    await anna.says("/help@another_bot")
    await anna.says("/help")
    await anna.says("/help@workspace_local_bot")
    await anna.says("hello @workspace_local_bot")
    await wire.ok("sendMessage", chat_id=group.id, text="yes?")
    await anna.replies(to=anna.last, text="an answer")
    heard = (await texts_of(wire))[1:]
    assert heard == ["", "/help", "/help@workspace_local_bot", "hello @workspace_local_bot", "an answer"]


async def test_an_administrator_hears_everything(tg: LocalTelegram, wire: Wire) -> None:
    """A bot that is an administrator hears all, anonymous writers included, who come as the group."""
    group = tg.group("Finance", members=[ANNA.id], bot_is_admin=True)
    await group.chat(ANNA.id).says("between us", thread=7)
    await group.chat(ANNA.id).says("from above", anonymous=True)
    plain, anonymous = [u["message"] for u in await wire.ok("getUpdates", offset=-2)]
    assert (plain["text"], plain["message_thread_id"], plain["is_topic_message"]) == ("between us", 7, True)
    assert anonymous["sender_chat"]["id"] == group.id
    assert anonymous["from"]["username"] == "GroupAnonymousBot"


async def test_members_come_and_the_bot_goes(tg: LocalTelegram, wire: Wire) -> None:
    """A bot learns who joined, and that it was taken out; then it cannot write there any more."""
    group = tg.group("Finance", members=[ANNA.id])
    group.adds(BORIS.id)
    group.adds(BORIS.id)
    group.removes_bot()
    kinds = [next(k for k in u if k != "update_id") for u in await wire.ok("getUpdates", offset=-4)]
    assert kinds == ["my_chat_member", "message", "message", "my_chat_member"]
    refused = await wire.refused("sendMessage", chat_id=group.id, text="a")
    assert refused == (403, "Forbidden: bot is not a member of the supergroup chat")


async def test_updates_twice_and_out_of_order(tg: LocalTelegram, wire: Wire) -> None:
    """The delivery faults repeat updates and turn them round."""
    chat = tg.chat(ANNA.id)
    await chat.says("two")
    tg.delivery.twice = True
    assert await texts_of(wire) == ["/start", "/start", "two", "two"]
    tg.delivery.twice, tg.delivery.out_of_order = False, True
    assert await texts_of(wire, timeout=1) == ["two", "/start"]


async def test_a_webhook_posts_twice(tg: LocalTelegram, wire: Wire) -> None:
    """With the same fault a webhook is called twice for one update."""
    tg.delivery.twice = True
    async with hook() as opened:
        await wire.ok("setWebhook", url=opened.url)
        assert await opened.posted.get() == await opened.posted.get()


async def test_late_and_old_updates(tg: LocalTelegram, wire: Wire) -> None:
    """An update can be held back, and a message can look a day old."""
    tg.delivery.delay, tg.delivery.age = 0.2, 86400
    said = await tg.chat(ANNA.id).says("yesterday")
    assert await texts_of(wire) == ["/start"]
    found = (await wire.ok("getUpdates", offset=-1, timeout=5))[0]["message"]
    assert found["text"] == said.text
    assert tg.world.clock() - found["date"] > 86000


async def test_a_press_on_an_inaccessible_message(tg: LocalTelegram, wire: Wire) -> None:
    """A callback query may come without its message: deleted meanwhile, or by a fault."""
    rows = {"inline_keyboard": [[{"text": "Go", "callback_data": "x"}]]}
    said = await wire.ok("sendMessage", chat_id=ANNA.id, text="a", reply_markup=rows)
    chat = tg.chat(ANNA.id)
    card = chat.last
    tg.delivery.inaccessible = True
    chat.taps("Go")
    tg.delivery.inaccessible = False
    await wire.ok("deleteMessage", chat_id=ANNA.id, message_id=said["message_id"])
    assert card not in chat
    chat.taps("Go", on=card)
    for update in await wire.ok("getUpdates", offset=-2):
        assert update["callback_query"]["message"]["date"] == 0
        assert update["callback_query"]["data"] == "x"


async def test_polls_end_when_the_server_does(session: aiohttp.ClientSession) -> None:
    """A poll that waits gets its empty answer at the end."""
    async with LocalTelegram.start(people=[ANNA]) as tg:
        wire = Wire(session, tg.url)
        await wire.ok("getMe")
        poll = asyncio.create_task(wire.ok("getUpdates", timeout=50))
        await wire.ok("getMe")
    assert await poll == []
