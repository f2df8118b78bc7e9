"""Ordered faults: what a bot's call is answered with, and whether it had its effect."""

from __future__ import annotations

import aiohttp
import pytest

from bot.sandbox import Fault, LocalTelegram
from bot.sandbox.faults import FaultKind
from tests.sandbox.bots import ANNA, TOKEN, Wire


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("429", 429, "Too Many Requests: retry after 7"),
        ("500", 500, "Internal Server Error"),
        ("502", 502, "Bad Gateway"),
    ],
)
async def test_an_error_before_the_effect(
    wire: Wire, tg: LocalTelegram, kind: FaultKind, status: int, words: str
) -> None:
    """The call fails and nothing was sent; the next one works."""
    tg.fails(Fault(kind=kind, retry_after=7))
    body = await wire("sendMessage", chat_id=ANNA.id, text="a")
    assert (body["error_code"], body["description"]) == (status, words)
    assert body.get("parameters") == ({"retry_after": 7} if status == 429 else None)
    assert tg.chat(ANNA.id).last.text == "/start"
    await wire.ok("sendMessage", chat_id=ANNA.id, text="a")


async def test_an_answer_that_is_lost(wire: Wire, tg: LocalTelegram) -> None:
    """The message is there, but the connection closed before the answer."""
    tg.fails(Fault(kind="close", when="after", method="sendMessage", times=2))
    await wire.ok("getMe")
    for _ in range(2):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await wire("sendMessage", chat_id=ANNA.id, text="a")
    assert [message.text for message in tg.chat(ANNA.id).messages] == ["/start", "a", "a"]


async def test_a_page_instead_of_json(wire: Wire, tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """A proxy's 502 is HTML."""
    tg.fails(Fault(kind="html"))
    async with session.post(f"{tg.url}/bot{TOKEN}/getMe") as answer:
        assert (answer.status, answer.content_type) == (502, "text/html")


async def test_a_refusal_comes_before_a_lost_answer(wire: Wire, tg: LocalTelegram) -> None:
    """Polling is left alone by a fault without a name, and can be named."""
    tg.fails(Fault(kind="500"))
    await wire.ok("getUpdates")
    assert (await wire.refused("getMe"))[0] == 500
    tg.fails(Fault(kind="502", method="getUpdates"))
    assert (await wire.refused("getUpdates"))[0] == 502
