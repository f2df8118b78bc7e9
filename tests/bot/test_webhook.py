"""Updates by webhook: who is let in, what is stored before 200, and two replicas of which one dies."""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, text
from telegram import Bot

from bot import facts, inbox
from bot.leader import lead
from bot.sandbox import LocalTelegram, PersonSpec
from bot.webhook import BODY_LIMIT, Hook, announce, application, listen, withdraw
from storage import Database, migrate, open_database
from tests.bot.waiting import until

SECRET = "s3cret_token-of-41"
TOKEN = "1000000:test-token-for-loopback"
JSON = {"content-type": "application/json", "X-Telegram-Bot-Api-Secret-Token": SECRET}


def update(number: int, person: int = 1001) -> dict[str, Any]:
    return {"update_id": number, "message": {"message_id": number, "from": {"id": person}, "text": "ж\u0000"}}


@dataclass
class Post:
    """A replica's address, and what it was told."""

    url: str
    db: Database
    stored: list[int] = field(default_factory=list[int])

    async def __call__(self, content: bytes | str, headers: dict[str, str] | None = None, path: str = "/hook/a") -> int:
        async with httpx.AsyncClient() as client:
            sent = JSON if headers is None else headers
            return (await client.post(self.url + path, content=content, headers=sent)).status_code

    def kept(self) -> list[int]:
        with self.db.read() as connection:
            return list(connection.execute(text("SELECT update_id FROM inbox ORDER BY update_id")).scalars())


@asynccontextmanager
async def listening(url: str, host: str = "127.0.0.1") -> AsyncGenerator[Post]:
    """One replica's ears."""
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    hook = Hook("https://bot.example.com/hook/a", SECRET, 0, host)
    with open_database(url) as db:
        migrate(db, "bot:migrations", version_table="bot_version")
        post = Post("", db)
        app = application(db, time.time, hook, lambda: post.stored.append(1))
        serving = asyncio.create_task(listen(app, hook, stop, ready.set_result))
        post.url = f"http://127.0.0.1:{await ready}"
        try:
            yield post
        finally:
            stop.set()
            await serving


@pytest.fixture(params=["sqlite", "postgresql"])
async def post(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Post]:
    """A replica on either database."""
    file = f"sqlite:///{tmp_path}/bot.db"
    async with listening(file if request.param == "sqlite" else request.getfixturevalue("postgres_url")) as opened:
        yield opened


async def test_an_update_is_stored_when_it_is_answered(post: Post) -> None:
    """Once, however often it comes; the bot is told."""
    for _ in range(2):
        assert await post(json.dumps(update(7))) == 200
    assert post.kept() == [7]
    assert post.stored == [1, 1]


@pytest.mark.parametrize(
    ("secret", "status"),
    [(None, 401), ("", 403), (SECRET[:-1], 403), (SECRET + "x", 403), (SECRET.upper(), 403), ("\xe9", 403)],
)
async def test_without_the_secret_nothing_is_stored(post: Post, secret: str | None, status: int) -> None:
    """Missing, empty, nearly right, not even ASCII."""
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient() as client:
        sent = httpx.Headers(headers, encoding="latin-1")
        if secret is not None:
            sent["X-Telegram-Bot-Api-Secret-Token"] = secret
        answer = await client.post(post.url + "/hook/a", content=json.dumps(update(1)), headers=sent)
    assert answer.status_code == status
    assert post.kept() == []


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"update_id": "7"}', 400),
        (b'{"update_id": true}', 400),
        (b'{"update_id": 9223372036854775808}', 400),
        (b'{"update_id": -1}', 400),
        (b'{"update_id": 1, "message": {"from": {"id": 9223372036854775808}}}', 400),
        (b"[" * 100_000, 400),
        (b" " * (BODY_LIMIT + 1), 413),
    ],
)
async def test_what_is_no_update_is_refused(post: Post, content: bytes, status: int) -> None:
    """Each is a clean 4xx, and the next update is taken."""
    assert await post(content) == status
    assert await post(json.dumps(update(8))) == 200
    assert post.kept() == [8]


async def test_other_kinds_paths_and_methods_are_refused(post: Post) -> None:
    """No form, no other path, no GET; a body without a length is counted as it comes."""
    form = JSON | {"content-type": "application/x-www-form-urlencoded"}
    assert await post("{}", form) == 415
    assert await post(json.dumps(update(1)), path="/") == 404

    async def endless() -> AsyncGenerator[bytes]:
        for _ in range(BODY_LIMIT // 1000 + 2):
            yield b" " * 1000

    async with httpx.AsyncClient() as client:
        assert (await client.get(post.url + "/hook/a")).status_code == 405
        # The answer may come before all is sent, and then the connection is closed.
        try:
            large = await client.post(post.url + "/hook/a", content=endless(), headers=JSON)
            assert large.status_code == 413
        except httpx.WriteError:
            pass
        assert (await client.get(post.url + "/healthz")).text == "ok"
    assert post.kept() == []


async def test_a_failing_database_asks_for_the_update_again(post: Post) -> None:
    """503, then 200 once it can be stored."""
    await post.db.write(lambda c: c.execute(text("ALTER TABLE inbox RENAME TO away")).rowcount)
    assert await post(json.dumps(update(3))) == 503
    assert post.stored == []
    await post.db.write(lambda c: c.execute(text("ALTER TABLE away RENAME TO inbox")).rowcount)
    assert await post(json.dumps(update(3))) == 200
    assert post.kept() == [3]


def test_the_secret_stands_in_no_repr() -> None:
    """Nor does the port matter to the path."""
    hook = Hook("https://bot.example.com/hook/a?x=1", SECRET, 8443)
    assert SECRET not in repr(hook)
    assert hook.path == "/hook/a"
    assert Hook("https://bot.example.com", SECRET, 8443).path == "/"


async def test_a_taken_port_is_said_in_words(post: Post) -> None:
    """What to set is named."""
    port = int(post.url.rpartition(":")[2])
    hook = Hook("https://bot.example.com/", SECRET, port, "127.0.0.1")
    with pytest.raises(OSError, match="WORKSPACE_WEBHOOK_PORT"):
        await listen(application(post.db, time.time, hook, lambda: None), hook, asyncio.Event())


@asynccontextmanager
async def telegram() -> AsyncGenerator[tuple[LocalTelegram, Bot]]:
    """Local Telegram with Anna, and the library's bot on it."""
    async with LocalTelegram.start(people=[PersonSpec(id=1001, first_name="Anna")], token=TOKEN) as local:
        bot = Bot(TOKEN, base_url=f"{local.url}/bot", base_file_url=f"{local.url}/file/bot")
        async with bot:
            yield local, bot


async def test_telegram_posts_here_once_it_was_told(post: Post) -> None:
    """With the secret, each update at least once, also twice and out of order; a failing database loses nothing."""
    async with telegram() as (local, bot):
        hook = Hook(f"{post.url}/hook/a", SECRET, 0)
        chat = local.chat(1001)
        await chat.starts()
        await announce(bot, post.db, hook, 0.0, asyncio.Event())
        assert (await bot.get_webhook_info()).allowed_updates == (
            "message", "edited_message", "callback_query", "my_chat_member",
        )  # fmt: skip
        local.delivery.twice = True
        await chat.says("one")
        await until(lambda: len(post.kept()) == 2)
        await post.db.write(lambda c: c.execute(text("ALTER TABLE inbox RENAME TO away")).rowcount)
        await chat.says("two")
        await until(lambda: local.world.bot_of(TOKEN).webhook.last_error is not None)  # type: ignore[union-attr]  # it is there, as it was set
        await post.db.write(lambda c: c.execute(text("ALTER TABLE away RENAME TO inbox")).rowcount)
        local.delivery.out_of_order = True
        await chat.says("three")
        await chat.says("four")
        await until(lambda: len(post.kept()) == 5)
        assert post.kept() == list(range(post.kept()[0], post.kept()[0] + 5))


async def test_a_polling_bot_removes_its_own_webhook_only(post: Post) -> None:
    """One that somebody else has set stays; what waits at Telegram is kept."""
    async with telegram() as (local, bot):
        stop = asyncio.Event()
        await bot.set_webhook("http://127.0.0.1:9/other")
        await withdraw(bot, post.db, stop)
        assert (await bot.get_webhook_info()).url == "http://127.0.0.1:9/other"
        await announce(bot, post.db, Hook("http://127.0.0.1:9/ours", SECRET, 0), 0.0, stop)
        await bot.set_webhook("http://127.0.0.1:9/other")
        await withdraw(bot, post.db, stop)
        assert (await bot.get_webhook_info()).url == "http://127.0.0.1:9/other"
        await announce(bot, post.db, Hook("http://127.0.0.1:9/ours", SECRET, 0), 0.0, stop)
        await local.chat(1001).starts()
        await withdraw(bot, post.db, stop)
        info = await bot.get_webhook_info()
        assert (info.url, info.pending_update_count) == ("", 1)
        with post.db.read() as connection:
            assert facts.get(connection, "webhook") is None


def test_a_missing_update_is_waited_for_a_moment(post: Post) -> None:
    """Whatever came after it waits with it; after a second they go on, and after a quiet week nothing is missing."""
    now = [100.0]
    order = inbox.InOrder(lambda: now[0])

    def ready() -> dict[int, list[int]]:
        with post.db.read() as connection:
            return order.pending(connection)

    def come(*numbers: int) -> None:
        updates = [update(number, 1001 + number % 2) for number in numbers]
        post.db.write_now(partial(inbox.store, updates=updates, now=now[0]))

    come(10, 12)
    assert ready() == {1001: [10]}
    come(13)
    assert ready() == {1001: [10]}
    come(11)
    assert ready() == {1001: [10, 12], 1002: [11, 13]}
    come(16)
    assert 16 not in ready()[1001]
    now[0] += inbox.GATHER
    assert ready()[1001] == [10, 12, 16]
    come(18, 1_000_000)
    assert ready()[1001] == [10, 12, 16]
    now[0] += inbox.GATHER
    assert ready()[1001] == [10, 12, 16, 18, 1_000_000]


def test_what_another_has_handled_is_not_handled_again(post: Post) -> None:
    """The second handler's changes are rolled back with its mark."""
    post.db.write_now(partial(inbox.store, updates=[update(5)], now=0.0))

    def handle(connection: Connection) -> None:
        facts.put(connection, "handled", facts.get(connection, "handled", 0) + 1, 0.0)
        inbox.done(connection, 5)

    post.db.write_now(handle)
    with pytest.raises(inbox.AlreadyHandled):
        post.db.write_now(handle)
    post.db.write_now(partial(inbox.park, update_id=5, note="late"))
    with post.db.read() as connection:
        assert facts.get(connection, "handled") == 1
        assert connection.execute(text("SELECT state FROM inbox")).scalar_one() == "done"


class Replica:
    """Ears and, while it leads, hands: what it handles is noted in the commit that marks it as done."""

    def __init__(self, post: Post, name: str, clock: Callable[[], float]) -> None:
        self.post = post
        self.name = name
        self._clock = clock
        self._order = inbox.InOrder(clock)
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(lead(post.db, clock, "bot", name, self.work, self.stop, gone=lambda _: False))

    async def work(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            with self.post.db.read() as connection:
                waiting = self._order.pending(connection)
            await asyncio.gather(*(self._queue(queue, numbers) for queue, numbers in waiting.items()))
            await asyncio.sleep(0.01)

    async def _queue(self, queue: int, numbers: list[int]) -> None:
        for number in numbers:
            # What the dead one had begun is committed after the look of the one that follows it.
            with suppress(inbox.AlreadyHandled):
                await self.post.db.write(partial(self._handle, queue=queue, number=number))

    def _handle(self, connection: Connection, queue: int, number: int) -> None:
        row = {"queue": queue, "number": number, "name": self.name}
        connection.execute(text("INSERT INTO handled (queue, number, name) VALUES (:queue, :number, :name)"), row)
        inbox.done(connection, number)


async def test_two_replicas_of_which_one_dies_handle_each_update_once(postgres_url: str) -> None:
    """200 updates of five people, posted round-robin, some twice, some out of order; the leader is killed."""
    shift = [0.0]

    def clock() -> float:
        return time.time() + shift[0]

    async with AsyncExitStack() as stack:
        posts = [await stack.enter_async_context(listening(postgres_url)) for _ in range(2)]
        table = "CREATE TABLE handled (id SERIAL PRIMARY KEY, queue BIGINT, number BIGINT, name TEXT)"
        await posts[0].db.write(lambda c: c.execute(text(table)).rowcount)
        first = Replica(posts[0], "first", clock)
        await until(lambda: count(posts[0].db, "SELECT count(*) FROM leases") == 1)
        second = Replica(posts[1], "second", clock)
        chance = random.Random(7)
        numbers = list(range(5000, 5200))
        # Neighbours change places, as posts over several connections do.
        for place in range(0, 200, 10):
            numbers[place], numbers[place + 1] = numbers[place + 1], numbers[place]
        alive = list(posts)
        for place, number in enumerate(numbers):
            if place == 100:
                first.task.cancel()
                await asyncio.gather(first.task, return_exceptions=True)
                alive = posts[1:]
                # The lease of the dead one expires.
                shift[0] += 25
            body = json.dumps(update(number, 1001 + number % 5))
            for _ in range(2 if chance.random() < 0.25 else 1):
                assert await alive[place % len(alive)](body) == 200
        await until(lambda: second.task.done() or count(posts[1].db, "SELECT count(*) FROM handled") >= 200)
        assert not second.task.done()
        with posts[1].db.read() as connection:
            rows = connection.execute(text("SELECT queue, number, name FROM handled ORDER BY id")).all()
        assert sorted(row.number for row in rows) == list(range(5000, 5200))
        for person in range(1001, 1006):
            mine = [row.number for row in rows if row.queue == person]
            assert mine == sorted(mine)
        assert {row.name for row in rows} == {"first", "second"}
        second.stop.set()
        await second.task


def count(db: Database, query: str) -> int:
    with db.read() as connection:
        return int(connection.execute(text(query)).scalar_one())
