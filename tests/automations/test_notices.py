"""Notices reach people by every way, each for itself, once, and in spite of crashes and dead ways."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from automations.mail import Mail, Server, server_of
from automations.notices import Letter, NotDelivered, Notice
from automations.outgoing import get, post
from automations.steps.fetch import NotFetched, Request, send
from automations.words import SENTENCES, Words
from tests.automations.ops import NOW, Hook, Ops, ledger_of
from tests.automations.world import Chat

NOTICE = Notice("incident:1:failed", "failed", "export failed at org", "no such block", {"automation": "export"})


async def test_a_notice_goes_by_every_way(each_ops: Ops) -> None:
    """Chat gets the text, a webhook JSON with an id of its own that it can tell doubles by."""
    ops = each_ops
    await ops.notices.tell(NOTICE)
    assert await ops.notices.deliver() == 2
    assert ops.said == ["export failed at org\nno such block"]
    assert ops.hook.posted == [
        {
            "id": "incident:1:failed",
            "kind": "failed",
            "at": "2026-11-21T09:00:00Z",
            "subject": "export failed at org",
            "text": "export failed at org\nno such block",
            "automation": "export",
        }
    ]
    assert ops.hook.headers == [{"Idempotency-Key": "incident:1:failed"}]


async def test_a_notice_is_told_once(ops: Ops) -> None:
    """A second one of its key is none, before it is delivered and after."""
    await ops.notices.tell(NOTICE)
    await ops.notices.tell(NOTICE)
    await ops.notices.deliver()
    await ops.notices.tell(NOTICE)
    assert await ops.notices.deliver() == 0
    assert len(ops.hook.posted) == 1


async def test_a_dead_chat_does_not_hide_it_from_the_webhook(tmp_path: Path) -> None:
    """Nor the other way round, whatever the chat breaks with."""

    class Broken(Chat):
        async def say(self, to: str, text: str, *, file: Path | None = None, photo: bool = False, key: str) -> None:
            raise OSError("the disk is full")

    with ledger_of(tmp_path) as database:
        ops = Ops(database, Broken())
        await ops.notices.tell(NOTICE)
        assert await ops.notices.deliver() == 1
        assert len(ops.hook.posted) == 1
        assert (ops.rows("chat"), ops.rows("webhook")) == (["due"], ["sent"])


async def test_a_dead_webhook_is_tried_again(ops: Ops) -> None:
    """Later each time, until it takes it; chat has heard long ago."""
    ops.hook.dead = "alerts.example.com answered 503"
    await ops.notices.tell(NOTICE)
    await ops.notices.deliver()
    assert ops.heads == ["export failed at org"]
    ops.hook.dead = None
    await ops.notices.deliver()
    assert ops.hook.posted == []
    ops.later(seconds=30)
    await ops.notices.deliver()
    assert len(ops.hook.posted) == 1


async def test_what_cannot_be_delivered_in_a_day_is_lost(ops: Ops, caplog: pytest.LogCaptureFixture) -> None:
    """It is told in the log, at the first time and at the last."""
    ops.hook.dead = "alerts.example.com answered 503"
    await ops.notices.tell(NOTICE)
    for _ in range(30):
        await ops.notices.deliver()
        ops.later(hours=1)
    assert ops.rows("webhook") == ["lost"]
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]


async def test_a_process_that_dies_while_sending_leaves_it_to_others(ops: Ops) -> None:
    """After a while; chat knows the key, and a webhook the id."""

    class Dying(Hook):
        async def __call__(self, *_: Any) -> None:
            raise asyncio.CancelledError

    dying = Ops(ops.database, ops.chat, Dying())
    await ops.notices.tell(NOTICE)
    with pytest.raises(asyncio.CancelledError):
        await dying.notices.deliver()
    assert await ops.notices.deliver() == 0
    ops.later(seconds=91)
    await ops.notices.deliver()
    assert len(ops.hook.posted) == 1
    assert len(ops.said) == 1


async def test_a_recipient_that_is_nobody_holds_up_nobody(ops: Ops) -> None:
    """The next message in chat goes out at once."""
    await ops.notices.tell(Notice("a", "reminder", "to nobody", recipient="@nobody"))
    ops.later(seconds=1)
    await ops.notices.tell(NOTICE)
    await ops.notices.deliver()
    assert ops.heads == ["export failed at org"]


async def test_people_hear_in_chat_alone(ops: Ops) -> None:
    """What is for somebody else than ops is for no webhook."""
    await ops.notices.tell(Notice("a", "reminder", "please answer", recipient="anna"))
    await ops.notices.deliver()
    assert [to for to, _, _ in ops.chat.said.values()] == ["anna"]
    assert ops.hook.posted == []


async def test_old_notices_are_forgotten(ops: Ops) -> None:
    """After a quarter of a year, and not those that still wait."""
    await ops.notices.tell(NOTICE)
    await ops.notices.deliver()
    ops.later(days=89)
    await ops.notices.forget()
    assert ops.rows("chat") == ["sent"]
    ops.later(days=2)
    await ops.notices.forget()
    assert ops.rows("chat") == []


# Addresses that the operator has set


@dataclass
class Listener:
    """A server on loopback that answers every connection with one text and remembers what it was told."""

    answer: bytes
    heard: list[bytes] = field(default_factory=list[bytes])
    port: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        self.heard.append(head + await reader.readexactly(length))
        writer.write(self.answer)
        await writer.drain()
        writer.close()

    async def __aenter__(self) -> "Listener":
        self._server = await asyncio.start_server(self.handle, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()


def answered(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


async def test_a_webhook_is_posted() -> None:
    """JSON, with its headers, to the address alone."""
    async with Listener(answered("204 No Content")) as listener:
        await post(f"http://127.0.0.1:{listener.port}/hook?key=1", {"text": "упал"}, {"Idempotency-Key": "a:1"})
        head, _, body = listener.heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?key=1 ")
    assert b"idempotency-key: a:1" in head.lower()
    assert b"application/json" in head
    assert body.decode() == '{"text": "упал"}'


async def test_an_address_is_asked() -> None:
    """For the heartbeat."""
    async with Listener(answered("200 OK")) as listener:
        await get(f"http://127.0.0.1:{listener.port}/ping/abc")
        assert listener.heard[0].startswith(b"GET /ping/abc ")


async def test_an_address_in_the_house() -> None:
    """A name that leads to a private address is asked where the operator has written it, and only there."""

    async def resolver(host: str, port: int) -> str:
        assert host == "alerts.internal"
        return "127.0.0.1"

    async with Listener(answered("204 No Content")) as listener:
        request, hosts = Request(f"http://alerts.internal:{listener.port}/"), {f"alerts.internal:{listener.port}"}
        assert (await send(request, hosts, resolver=resolver, inside=True)).status == 204
        with pytest.raises(NotFetched, match="no public address"):
            await send(request, hosts, resolver=resolver)


@pytest.mark.parametrize("status", ["500 Oops", "404 Not Found", "302 Found\r\nLocation: http://127.0.0.1:1/"])
async def test_an_answer_that_is_none(status: str) -> None:
    """Says which server and what, without the path, which is often the secret of such an address."""
    async with Listener(answered(status)) as listener:
        with pytest.raises(NotDelivered) as raised:
            await post(f"http://127.0.0.1:{listener.port}/secret", {}, {})
    assert "127.0.0.1" in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_a_server_that_is_not_there() -> None:
    """Says so, and raises nothing else."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NotDelivered):
        await get(f"http://127.0.0.1:{port}/ping")


# Mail


@contextmanager
def mail_server(*, features: bytes = b"") -> Generator[tuple[int, list[str]]]:
    """A mail server on loopback for one mail; its port and the lines that it heard."""
    heard: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb") as stream:

            def say(text: bytes) -> None:
                stream.write(text + b"\r\n")
                stream.flush()

            say(b"220 here")
            data = False
            for raw in stream:
                line = raw.decode().rstrip("\r\n")
                heard.append(line)
                word = line.partition(" ")[0].upper()
                if data:
                    data = line != "."
                    if not data:
                        say(b"250 taken")
                elif word == "EHLO":
                    say(b"250-here" + (b"\r\n250-" + features if features else b"") + b"\r\n250 8BITMIME")
                elif word == "DATA":
                    data = True
                    say(b"354 go on")
                elif word == "QUIT":
                    say(b"221 bye")
                    return
                else:
                    say(b"250 well")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listening:
        yield listening.getsockname()[1], heard
    thread.join(10)


LETTER = Letter("incident:1", "@ops", "export: сбой", "нет блока\nЗапуск: export:1", {})


async def test_a_mail_is_handed_in() -> None:
    """Without TLS on this machine alone, with no password over it."""
    with mail_server() as (port, heard):
        await Mail(Server("127.0.0.1", port, tls=False), ("ops@example.com", "b@example.com"), lambda: NOW).send(LETTER)
    assert [line for line in heard if line.startswith("rcpt")] == [
        "rcpt TO:<ops@example.com>",
        "rcpt TO:<b@example.com>",
    ]
    assert "Auto-Submitted: auto-generated" in heard
    assert "From: workspace@example.com" in heard
    assert any(line.startswith("Subject: ") and "=?utf-8?" in line for line in heard)


async def test_no_password_without_tls() -> None:
    """A server that asks for one but offers no TLS is told nothing."""
    with mail_server(features=b"AUTH PLAIN") as (port, heard):
        server = Server("127.0.0.1", port, tls=False, user="a@b.c", password="very-secret")
        mail = Mail(server, ("o@b.c",), lambda: NOW)
        with pytest.raises(NotDelivered, match="SMTPNotSupportedError"):
            await mail.send(LETTER)
    assert not any("AUTH" in line or "MAIL" in line.upper() for line in heard)
    assert "very-secret" not in repr(mail)


async def test_a_certificate_is_checked() -> None:
    """A server without a good one gets no mail."""
    plain = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = plain.accept()
        connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    server = Server("127.0.0.1", plain.getsockname()[1], tls=True)
    mail = Mail(server, ("o@b.c",), lambda: NOW, ssl.create_default_context())
    with plain, pytest.raises(NotDelivered):
        await mail.send(LETTER)
    thread.join(10)


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.com", Server("mail.example.com", 587, False)),
        ("smtps://a%40b.c:p%3Aw@mail.example.com", Server("mail.example.com", 465, True, "a@b.c", "p:w")),
        ("smtp://a@mail.example.com:2525", Server("mail.example.com", 2525, False, "a", "other")),
    ],
)
def test_the_address_of_a_mail_server(url: str, server: Server) -> None:
    """The password may come from elsewhere."""
    assert server_of(url, "other" if server.password == "other" else None) == server


@pytest.mark.parametrize(
    "url", ["mail.example.com", "http://mail.example.com", "smtp://", "smtp://a:99999", "smtp://a/b"]
)
def test_no_address_of_a_mail_server(url: str) -> None:
    """Says what to write."""
    with pytest.raises(ValueError, match="write smtp://"):
        server_of(url)


# Words


@pytest.mark.parametrize("name", SENTENCES)
def test_both_languages_say_the_same(name: str) -> None:
    """Each sentence takes the same values in both."""
    import string

    names = [{field for _, field, _, _ in string.Formatter().parse(text) if field} for text in SENTENCES[name]]
    assert names[0] == names[1]
    assert all("а" <= letter.lower() <= "я" or letter.lower() not in "абвгд" for letter in SENTENCES[name][0])


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=40), "40 s"),
        (timedelta(minutes=50, seconds=3), "50 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(hours=2, minutes=5, seconds=9), "2 h 5 min"),
        (timedelta(days=1, hours=3, minutes=9), "1 d 3 h"),
        (timedelta(days=2, minutes=9), "2 d"),
        (timedelta(), "1 s"),
    ],
)
def test_lengths(length: timedelta, words: str) -> None:
    """The two largest units that say something."""
    assert Words("en", ZoneInfo("UTC")).length(length) == words


def test_moments() -> None:
    """On the clocks of the installation."""
    words = Words("ru", ZoneInfo("Europe/Moscow"))
    assert words.moment(NOW) == "21 ноя., 12:00"
    assert words.span(NOW, NOW + timedelta(hours=1)) == ("21 ноя., 12:00", "13:00")
    assert words.span(NOW, NOW + timedelta(days=1)) == ("21 ноя., 12:00", "22 ноя., 12:00")
    assert words.listed(["a"] * 12, 10) == ", ".join(["a"] * 10) + " … +2"
