"""What Telegram refuses is refused here: each refusal with its words, status and parameters, on the wire."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from bot.sandbox import Limits, LocalTelegram, PersonSpec
from tests.sandbox.bots import ANNA, BORIS, TOKEN, Wire

CHAT = ANNA.id


def keyboard(*rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"inline_keyboard": list(rows)}


def button(text: str = "Go", **action: Any) -> dict[str, Any]:
    return {"text": text, **(action or {"callback_data": "x"})}


async def test_an_edit_to_the_same(wire: Wire) -> None:
    """An edit that changes nothing is refused; the same words in other markup count as the same."""
    said = await wire.ok(
        "sendMessage", chat_id=CHAT, text="<b>a</b>", parse_mode="HTML", reply_markup=keyboard([button()])
    )
    same = {"chat_id": CHAT, "message_id": said["message_id"]}
    for how in (
        ("editMessageText", {"text": "<strong>a</strong>", "parse_mode": "HTML", "reply_markup": keyboard([button()])}),
        ("editMessageReplyMarkup", {"reply_markup": keyboard([button()])}),
    ):
        status, words = await wire.refused(how[0], **same, **how[1])
        assert status == 400
        assert words == (
            "Bad Request: message is not modified: specified new message content and reply markup are exactly "
            "the same as a current content and reply markup of the message"
        )


async def test_an_edit_without_markup_removes_the_keyboard(wire: Wire, tg: LocalTelegram) -> None:
    """The keyboard is part of what an edit sets."""
    said = await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button()]))
    assert tg.chat(CHAT).buttons == (("Go",),)
    edited = await wire.ok("editMessageText", chat_id=CHAT, message_id=said["message_id"], text="b")
    assert "reply_markup" not in edited
    assert tg.chat(CHAT).buttons == ()


async def test_a_callback_answered_twice(wire: Wire, tg: LocalTelegram) -> None:
    """A callback query takes one answer; an unknown one takes none."""
    await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button()]))
    query = tg.chat(CHAT).taps("Go")
    await wire.ok("answerCallbackQuery", callback_query_id=query)
    too_old = (400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
    assert await wire.refused("answerCallbackQuery", callback_query_id=query) == too_old
    assert await wire.refused("answerCallbackQuery", callback_query_id="7") == too_old


async def test_a_callback_answered_too_late(session: aiohttp.ClientSession) -> None:
    """After its time a callback query takes no answer any more."""
    now = [1000.0]
    async with LocalTelegram.start(people=[ANNA], clock=lambda: now[0], answer_within=30) as tg:
        wire, chat = Wire(session, tg.url), tg.chat(CHAT)
        await chat.says("hi")
        await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button()]))
        query = chat.taps("Go")
        now[0] += 31
        assert "query is too old" in (await wire.refused("answerCallbackQuery", callback_query_id=query))[1]


async def test_a_callback_of_another_bot(wire: Wire, tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Only the bot that was asked may answer."""
    await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button()]))
    query = tg.chat(CHAT).taps("Go")
    other = Wire(session, tg.url, "200:other-token")
    assert (await other.refused("answerCallbackQuery", callback_query_id=query))[0] == 400


@pytest.mark.parametrize("data", ["x" * 65, "я" * 33, ""])
async def test_callback_data_has_64_bytes(wire: Wire, data: str) -> None:
    """One to 64 bytes, not characters."""
    await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button(callback_data="я" * 32)]))
    refused = await wire.refused(
        "sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([button(callback_data=data)])
    )
    assert refused == (400, "Bad Request: BUTTON_DATA_INVALID")


async def test_long_texts(wire: Wire) -> None:
    """4096 after parsing, 1024 for a caption, and the tags do not count."""
    await wire.ok("sendMessage", chat_id=CHAT, text="<b>" + "x" * 4096 + "</b>", parse_mode="HTML")
    assert await wire.refused("sendMessage", chat_id=CHAT, text="x" * 4097) == (400, "Bad Request: message is too long")
    assert (await wire.refused("sendMessage", chat_id=CHAT, text="😀" * 2049))[0] == 400
    refused = await wire.refused("sendDocument", chat_id=CHAT, document="x", caption="x" * 1025)
    assert refused == (400, "Bad Request: message caption is too long")


@pytest.mark.parametrize("text", ["", "  \n ", "<b> </b>"])
async def test_an_empty_text(wire: Wire, text: str) -> None:
    """A message says something, after parsing and trimming."""
    refused = await wire.refused("sendMessage", chat_id=CHAT, text=text, parse_mode="HTML")
    assert refused == (400, "Bad Request: message text is empty")


async def test_html_that_does_not_parse(wire: Wire) -> None:
    """The bot learns which tag is wrong."""
    status, words = await wire.refused("sendMessage", chat_id=CHAT, text="<b>a", parse_mode="HTML")
    assert (status, words) == (
        400, "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"",
    )  # fmt: skip


@pytest.mark.parametrize(("mode", "words"), [("Wiki", "unsupported parse_mode"), ("MarkdownV2", "use HTML")])
async def test_other_parse_modes(wire: Wire, mode: str, words: str) -> None:
    """HTML is the only mode here; Markdown is said to be missing."""
    assert words in (await wire.refused("sendMessage", chat_id=CHAT, text="a", parse_mode=mode))[1]


async def test_a_hundred_buttons(wire: Wire) -> None:
    """100 buttons stand, 101 do not."""
    await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard(*[[button()] * 5] * 20))
    refused = await wire.refused(
        "sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard(*[[button()] * 5] * 20, [button()])
    )
    assert refused == (400, "Bad Request: reply markup is too long")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"text": "a"}, "Text buttons are unallowed in the inline keyboard"),
        ({"text": "a", "callback_data": "x", "url": "https://e.org"}, "exactly one action"),
        ({"text": " ", "callback_data": "x"}, "must be non-empty"),
        ({"text": "a", "url": "javascript:alert(1)"}, "Wrong HTTP URL"),
        ({"text": "a", "copy_text": {"text": ""}}, "BUTTON_COPY_TEXT_INVALID"),
        ({"text": "a", "callback_data": "x", "style": "loud"}, "invalid button style"),
        ({"callback_data": "x"}, "can't parse reply keyboard markup JSON object"),
    ],
)
async def test_buttons_that_are_wrong(wire: Wire, bad: dict[str, Any], words: str) -> None:
    """A button has a text, one action and a known style."""
    status, found = await wire.refused("sendMessage", chat_id=CHAT, text="a", reply_markup=keyboard([bad]))
    assert status == 400
    assert words in found


@pytest.mark.parametrize("chat", [999, -100999, "@nobody", "words"])
async def test_an_unknown_chat(wire: Wire, chat: int | str) -> None:
    """Nobody of that id is known here."""
    assert await wire.refused("sendMessage", chat_id=chat, text="a") == (400, "Bad Request: chat not found")


async def test_no_chat_at_all(wire: Wire) -> None:
    """The chat must be named."""
    assert await wire.refused("sendMessage", text="a") == (400, "Bad Request: chat_id is empty")


async def test_messages_that_are_gone(wire: Wire) -> None:
    """What is not there can neither be edited nor deleted nor answered."""
    where = {"chat_id": CHAT, "message_id": 99}
    assert await wire.refused("editMessageText", **where, text="b") == (400, "Bad Request: message to edit not found")
    assert await wire.refused("deleteMessage", **where) == (400, "Bad Request: message to delete not found")
    refused = await wire.refused("sendMessage", chat_id=CHAT, text="a", reply_parameters={"message_id": 99})
    assert refused == (400, "Bad Request: message to be replied not found")
    reply = {"message_id": 99, "allow_sending_without_reply": True}
    assert "reply_to_message" not in await wire.ok("sendMessage", chat_id=CHAT, text="a", reply_parameters=reply)


async def test_somebody_elses_message(wire: Wire, tg: LocalTelegram) -> None:
    """A bot edits its own messages only."""
    theirs = await tg.chat(CHAT).says("mine")
    refused = await wire.refused("editMessageText", chat_id=CHAT, message_id=theirs.id, text="b")
    assert refused == (400, "Bad Request: message can't be edited")


async def test_blocked_by_the_user(wire: Wire, tg: LocalTelegram) -> None:
    """Who blocked the bot gets nothing until they let it in again, and the bot is told of both."""
    chat = tg.chat(CHAT)
    chat.blocks_bot()
    assert await wire.refused("sendMessage", chat_id=CHAT, text="a") == (403, "Forbidden: bot was blocked by the user")
    chat.unblocks_bot()
    await wire.ok("sendMessage", chat_id=CHAT, text="a")
    told = [
        u["my_chat_member"]["new_chat_member"]["status"] for u in await wire.ok("getUpdates") if "my_chat_member" in u
    ]
    assert told == ["kicked", "member"]


async def test_no_first_word_from_the_bot(wire: Wire) -> None:
    """A person who never wrote to the bot cannot be written to."""
    refused = await wire.refused("sendMessage", chat_id=BORIS.id, text="a")
    assert refused == (403, "Forbidden: bot can't initiate conversation with a user")


async def test_limits_of_a_private_chat(session: aiohttp.ClientSession) -> None:
    """A burst goes, then about one a second; another chat is not held up."""
    now = [1000.0]
    async with LocalTelegram.start(people=[ANNA, BORIS], limits=Limits(), clock=lambda: now[0]) as tg:
        wire = Wire(session, tg.url)
        for person in (ANNA, BORIS):
            await tg.chat(person.id).says("hi")
        for _ in range(3):
            await wire.ok("sendMessage", chat_id=CHAT, text="a")
        body = await wire("sendMessage", chat_id=CHAT, text="a")
        assert (body["error_code"], body["description"]) == (429, "Too Many Requests: retry after 1")
        assert body["parameters"] == {"retry_after": 1}
        await wire.ok("sendMessage", chat_id=BORIS.id, text="a")
        now[0] += 1
        await wire.ok("sendMessage", chat_id=CHAT, text="a")


async def test_limits_of_a_group(session: aiohttp.ClientSession) -> None:
    """Twenty a minute in one group."""
    now = [1000.0]
    async with LocalTelegram.start(people=[ANNA], limits=Limits(), clock=lambda: now[0]) as tg:
        wire, group = Wire(session, tg.url), tg.group("Finance", members=[CHAT])
        for _ in range(20):
            now[0] += 1
            await wire.ok("sendMessage", chat_id=group.id, text="a")
        body = await wire("sendMessage", chat_id=group.id, text="a")
        assert body["parameters"] == {"retry_after": 41}
        now[0] += 41
        await wire.ok("sendMessage", chat_id=group.id, text="a")


async def test_limits_over_all(session: aiohttp.ClientSession) -> None:
    """Thirty a second over all chats."""
    people = [PersonSpec(id=2000 + n, first_name=f"P{n}") for n in range(31)]
    async with LocalTelegram.start(people=people, limits=Limits(), clock=lambda: 1000.0) as tg:
        wire = Wire(session, tg.url)
        for person in people:
            await tg.chat(person.id).says("hi")
        for person in people[:30]:
            await wire.ok("sendMessage", chat_id=person.id, text="a")
        assert (await wire.refused("sendMessage", chat_id=people[30].id, text="a"))[0] == 429


@pytest.mark.parametrize("payload", ["two words", "x" * 65, "é", "a.b"])
async def test_start_payloads(tg: LocalTelegram, payload: str) -> None:
    """A deep link carries up to 64 of A-Z a-z 0-9 _ -."""
    chat = tg.chat(CHAT)
    await chat.starts("Az_09-" + "x" * 58)
    with pytest.raises(Exception, match="START_PARAM_INVALID"):
        await chat.starts(payload)


@pytest.mark.parametrize("token", ["local-token", "100:abc", "x:local-token", "300:local token"])
async def test_malformed_tokens(tg: LocalTelegram, session: aiohttp.ClientSession, token: str) -> None:
    """A token is digits, a colon and five characters or more."""
    assert await Wire(session, tg.url, token).refused("getMe") == (401, "Unauthorized")


async def test_a_token_that_is_not_this_bots(tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """The id of a bot that is here, with another secret, opens nothing."""
    assert await Wire(session, tg.url, TOKEN + "x").refused("getMe") == (401, "Unauthorized")
    async with session.get(f"{tg.url}/file/bot{TOKEN}x/documents/file_1.txt") as answer:
        assert answer.status == 401


async def test_a_bot_is_made_on_first_use(tg: LocalTelegram, session: aiohttp.ClientSession) -> None:
    """Any well-formed token is a bot; the first has the configured username."""
    assert (await Wire(session, tg.url).ok("getMe"))["username"] == "workspace_local_bot"
    assert (await Wire(session, tg.url, "200:other-token").ok("getMe"))["username"] == "local_200_bot"


async def test_methods_that_are_not_here(wire: Wire) -> None:
    """A method of Telegram's is said to be missing; one of nobody's is not found. Case does not count."""
    refused = await wire.refused("sendpoll", chat_id=CHAT)
    assert refused == (404, "Not Found: not implemented in Local Telegram: sendPoll")
    assert await wire.refused("sendMoney") == (404, "Not Found")
    assert (await wire.ok("GETME"))["is_bot"]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"text": "\ud800"}, "strings must be encoded in UTF-8"),
        ({"text": {"a": 1}}, 'parameter "text" must be a string'),
        ({"text": "a", "message_thread_id": "x"}, 'parameter "message_thread_id" must be an integer'),
        ({"text": "a", "message_thread_id": "9" * 30}, 'parameter "message_thread_id" must be an integer'),
        ({"text": "a", "reply_markup": "{"}, "can't parse reply keyboard markup JSON object"),
        ({"text": "a", "reply_markup": {"keyboard": 5}}, "can't parse reply keyboard markup JSON object"),
        ({"text": "a", "entities": 5}, "entities must be an array"),
    ],
)
async def test_parameters_of_the_wrong_kind(wire: Wire, params: dict[str, Any], words: str) -> None:
    """A parameter that cannot be read is named."""
    assert words in (await wire.refused("sendMessage", chat_id=CHAT, **params))[1]


@pytest.mark.parametrize(
    ("body", "kind"), [(b"{", "application/json"), (b"[]", "application/json"), (b"x", "multipart/form-data")]
)
async def test_bodies_that_are_broken(
    tg: LocalTelegram, session: aiohttp.ClientSession, body: bytes, kind: str
) -> None:
    """A body that is no JSON object or no form is a bad request."""
    async with session.post(f"{tg.url}/bot{TOKEN}/getMe", data=body, headers={"Content-Type": kind}) as answer:
        assert answer.status == 400
