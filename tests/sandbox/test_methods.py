"""What each Bot API method does when it is used as it should be."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from telegram import InputMediaDocument, InputMediaPhoto

from bot.sandbox import LocalTelegram
from bot.sandbox.methods.commands import commands_for
from tests.sandbox.bots import ANNA, BORIS, PNG, TOKEN, Wire, app

CHAT = ANNA.id
ROWS = {"inline_keyboard": [[{"text": "Go", "callback_data": "x"}]]}


WRONG: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("sendPhoto", {"photo": "no-such-id"}, "wrong file identifier"),
    ("sendPhoto", {"photo": "https://e.org/x.png"}, "failed to get HTTP URL content"),
    ("sendPhoto", {"photo": "attach://file"}, "can't find file"),
    ("sendPhoto", {}, "there is no photo in the request"),
    ("sendMediaGroup", {"media": []}, "no messages to send"),
    ("sendMediaGroup", {"media": [{"type": "photo"}]}, "must include 2-10 items"),
    ("sendMediaGroup", {"media": [{"type": "video"}] * 2}, "media of type video is not implemented"),
    ("sendChatAction", {"action": "dancing"}, "wrong parameter action"),
    ("editMessageMedia", {"message_id": 1}, "input media is empty"),
    ("getFile", {"file_id": "x"}, "invalid file_id"),
    ("setMyCommands", {}, "can't parse commands"),
    ("setMyCommands", {"commands": [{"command": "Two Words", "description": "x"}]}, "BOT_COMMAND_INVALID"),
    ("setMyCommands", {"commands": [{"command": "a", "description": ""}]}, "BOT_COMMAND_DESCRIPTION_INVALID"),
    ("setMyCommands", {"commands": [{"command": f"c{n}", "description": "x"} for n in range(101)]}, "TOO_MUCH"),
    ("setMyCommands", {"commands": [], "scope": {"type": "moon"}}, "unsupported type"),
    ("setMyCommands", {"commands": [], "scope": {"type": "chat", "chat_id": "x"}}, "chat not found"),
    ("setMyCommands", {"commands": [], "language_code": "eng"}, "LANG_CODE_INVALID"),
    ("setChatMenuButton", {"menu_button": {"type": "moon"}}, "unsupported type"),
    ("setMyName", {"name": ""}, "BOT_TITLE_INVALID"),
    ("setMyDescription", {"description": "x" * 513}, "BOT_DESCRIPTION_INVALID"),
    ("deleteMessages", {"message_ids": []}, "not specified"),
    ("deleteMessages", {"message_ids": list(range(101))}, "too many"),
    ("pinChatMessage", {"message_id": 99}, "message to pin not found"),
    ("unpinChatMessage", {}, "message to unpin not found"),
    ("setMessageReaction", {"message_id": 1, "reaction": [{"type": "emoji"}]}, "REACTION_INVALID"),
    ("setMessageReaction", {"message_id": 1, "reaction": [{"emoji": "a"}] * 2}, "REACTIONS_TOO_MANY"),
    ("answerInlineQuery", {"inline_query_id": "1"}, "results are empty"),
    ("answerInlineQuery", {"inline_query_id": "1", "results": []}, "query is too old"),
    ("answerInlineQuery", {"inline_query_id": "1", "results": [{}] * 51}, "RESULTS_TOO_MUCH"),
    ("answerInlineQuery", {"inline_query_id": "1", "results": [{}]}, "RESULT_ID_INVALID"),
    ("answerInlineQuery", {"inline_query_id": "1", "results": [{"id": "1", "type": "game"}]}, "type game"),
    ("answerInlineQuery", {"inline_query_id": "1", "results": [{"id": "1", "type": "article"}]}, "title is empty"),
    ("answerCallbackQuery", {"callback_query_id": "1", "text": "x" * 201}, "MESSAGE_TOO_LONG"),
    ("editMessageText", {"text": "b", "inline_message_id": "x"}, "MESSAGE_ID_INVALID"),
    ("editMessageText", {"text": "b", "message_id": 1, "reply_markup": {"force_reply": True}},
     "inline keyboard expected"),
    ("forwardMessage", {"from_chat_id": CHAT, "message_id": 99}, "message to forward not found"),
)  # fmt: skip


async def sent(wire: Wire, text: str = "a", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = await wire.ok("sendMessage", chat_id=CHAT, text=text, **more)
    return found


async def test_ptb_reads_what_the_bot_is(tg: LocalTelegram) -> None:
    """PTB parses the bot, its chats and their members."""
    group = tg.group("Finance", members=[CHAT, BORIS.id], bot_is_admin=True)
    bot = app(tg).bot
    async with bot:
        assert (await bot.get_me()).username == "workspace_local_bot"
        assert (await bot.get_chat(CHAT)).full_name == "Anna Reed"
        assert (await bot.get_chat(group.id)).title == "Finance"
        statuses = [(await bot.get_chat_member(group.id, who)).status for who in (CHAT, BORIS.id, 100)]
        assert statuses == ["creator", "member", "administrator"]
        assert await bot.get_chat_member_count(group.id) == 3
        assert [admin.user.id for admin in await bot.get_chat_administrators(group.id)] == [CHAT]
        await bot.leave_chat(group.id)


async def test_members_that_are_not_there(wire: Wire, tg: LocalTelegram) -> None:
    """Strangers, those who left, private chats: each has its answer."""
    group = tg.group("Finance", members=[CHAT])
    assert (await wire.ok("getChatMember", chat_id=group.id, user_id=BORIS.id))["status"] == "left"
    assert (await wire.ok("getChatMember", chat_id=group.id, user_id=100))["status"] == "member"
    assert (await wire.refused("getChatMember", chat_id=group.id, user_id=5))[1] == "Bad Request: user not found"
    assert "private chat" in (await wire.refused("getChatAdministrators", chat_id=CHAT))[1]
    assert (await wire.refused("leaveChat", chat_id=CHAT))[0] == 400
    await wire.ok("leaveChat", chat_id=group.id)
    assert (await wire.refused("leaveChat", chat_id=group.id))[0] == 403
    assert (await wire.ok("getChatMember", chat_id=group.id, user_id=100))["status"] == "left"


async def test_log_out_and_close(wire: Wire) -> None:
    """Both say yes; the local bot stays."""
    assert await wire.ok("logOut") is True
    assert await wire.ok("close") is True


async def test_an_album_and_files_by_id(tg: LocalTelegram) -> None:
    """Photos and documents go as albums, and again by their ids; captions can be edited, media exchanged."""
    await tg.chat(CHAT).says("hi")
    bot = app(tg).bot
    async with bot:
        album = await bot.send_media_group(
            CHAT, [InputMediaPhoto(PNG, caption="<b>one</b>", parse_mode="HTML"), InputMediaPhoto(PNG)]
        )
        assert len({message.media_group_id for message in album}) == 1
        again = await bot.send_photo(CHAT, album[0].photo[-1].file_id, caption="again")
        assert again.photo[-1].file_unique_id == album[0].photo[-1].file_unique_id
        edited = await bot.edit_message_caption(CHAT, again.message_id, caption="other")
        assert not isinstance(edited, bool)
        assert edited.caption == "other"
        await bot.edit_message_media(InputMediaDocument(b"a,b", filename="t.csv"), CHAT, again.message_id)
    assert (tg.chat(CHAT).last.file_name, tg.chat(CHAT).last.document) == ("t.csv", b"a,b")


async def test_a_large_picture_has_two_sizes(tg: LocalTelegram) -> None:
    """A picture larger than a thumbnail comes in sizes, the largest last."""
    wide = PNG[:16] + (400).to_bytes(4, "big") + (200).to_bytes(4, "big") + PNG[24:]
    await tg.chat(CHAT).says("hi")
    bot = app(tg).bot
    async with bot:
        sizes = (await bot.send_photo(CHAT, wide)).photo
    assert [(size.width, size.height) for size in sizes] == [(90, 45), (400, 200)]


@pytest.mark.parametrize(("method", "params", "words"), WRONG)
async def test_wrong_uses(wire: Wire, method: str, params: dict[str, Any], words: str) -> None:
    """Each wrong use is refused with words that say what is wrong."""
    status, found = await wire.refused(method, chat_id=CHAT, **params)
    assert status == 400
    assert words in found


async def test_files_that_are_wrong(tg: LocalTelegram, session: aiohttp.ClientSession, wire: Wire) -> None:
    """Empty files, pictures that are none, and a document sent as a photo are refused."""

    async def send(method: str, field: str, content: bytes) -> dict[str, Any]:
        form = aiohttp.FormData({"chat_id": str(CHAT)})
        form.add_field(field, content, filename="x.bin", content_type="application/octet-stream")
        async with session.post(f"{tg.url}/bot{TOKEN}/{method}", data=form) as answer:
            found: dict[str, Any] = await answer.json()
            return found

    assert "non-empty" in (await send("sendDocument", "document", b""))["description"]
    assert "non-empty" in (await send("sendPhoto", "photo", b""))["description"]
    assert "IMAGE_PROCESS_FAILED" in (await send("sendPhoto", "photo", b"text"))["description"]
    thin = PNG[:16] + (9000).to_bytes(4, "big") + (10).to_bytes(4, "big") + PNG[24:]
    assert "PHOTO_INVALID_DIMENSIONS" in (await send("sendPhoto", "photo", thin))["description"]
    document = (await send("sendDocument", "document", b"x"))["result"]["document"]["file_id"]
    assert (
        "can't use file of type Document as Photo" in (await wire.refused("sendPhoto", chat_id=CHAT, photo=document))[1]
    )
    async with session.get(f"{tg.url}/file/bot{TOKEN}/documents/none") as answer:
        assert answer.status == 404


async def test_texts_and_captions_do_not_mix(wire: Wire, tg: LocalTelegram) -> None:
    """A text has no caption, a document no text."""
    text = await sent(wire)
    theirs = {"chat_id": CHAT, "message_id": text["message_id"]}
    assert "no caption" in (await wire.refused("editMessageCaption", **theirs, caption="b"))[1]
    await tg.chat(CHAT).sends_document(b"x", name="x.txt")
    file = (await wire.ok("getUpdates"))[-1]["message"]["document"]
    again = await wire.ok("sendDocument", chat_id=CHAT, document=file["file_id"])
    refused = await wire.refused("editMessageText", chat_id=CHAT, message_id=again["message_id"], text="b")
    assert "no text in the message" in refused[1]


async def test_forwarded_and_copied(wire: Wire, tg: LocalTelegram) -> None:
    """A forwarded message says whose it was; a copy does not; protected content stays."""
    theirs = await tg.chat(CHAT).says("mine")
    forwarded = await wire.ok("forwardMessage", chat_id=CHAT, from_chat_id=CHAT, message_id=theirs.id)
    assert forwarded["forward_origin"]["sender_user"]["id"] == CHAT
    await wire.ok("copyMessage", chat_id=CHAT, from_chat_id=CHAT, message_id=theirs.id, reply_markup=ROWS)
    assert (tg.chat(CHAT).last.text, tg.chat(CHAT).buttons) == ("mine", (("Go",),))
    await tg.chat(CHAT).sends_document(b"x", caption="old")
    last = tg.chat(CHAT).last.id
    await wire.ok("copyMessage", chat_id=CHAT, from_chat_id=CHAT, message_id=last, caption="new")
    assert tg.chat(CHAT).last.text == "new"
    secret = await sent(wire, protect_content=True)
    assert secret["has_protected_content"]
    refused = await wire.refused("forwardMessage", chat_id=CHAT, from_chat_id=CHAT, message_id=secret["message_id"])
    assert "protected content" in refused[1]


async def test_deletion(wire: Wire, tg: LocalTelegram) -> None:
    """One or many are deleted; in a group only its own, unless the bot is an administrator."""
    ids = [(await sent(wire))["message_id"] for _ in range(3)]
    await wire.ok("deleteMessages", chat_id=CHAT, message_ids=[*ids[:2], 999])
    await wire.ok("deleteMessage", chat_id=CHAT, message_id=ids[2])
    assert [message.text for message in tg.chat(CHAT).messages] == ["/start"]
    for admin in (False, True):
        group = tg.group("Finance", members=[CHAT], bot_is_admin=admin)
        said = await group.chat(CHAT).says("/help")
        answer = await wire("deleteMessage", chat_id=group.id, message_id=said.id)
        assert answer["ok"] is admin


async def test_old_messages_stay(session: aiohttp.ClientSession) -> None:
    """After 48 hours a bot cannot delete any more."""
    now = [1000.0]
    async with LocalTelegram.start(people=[ANNA], clock=lambda: now[0]) as tg:
        wire = Wire(session, tg.url)
        await tg.chat(CHAT).says("hi")
        said = await sent(wire)
        now[0] += 49 * 3600
        refused = await wire.refused("deleteMessage", chat_id=CHAT, message_id=said["message_id"])
        assert refused == (400, "Bad Request: message can't be deleted for everyone")


async def test_pins_and_reactions(wire: Wire, tg: LocalTelegram) -> None:
    """A message is pinned, unpinned and liked; in a group pinning needs rights."""
    said = (await sent(wire))["message_id"]
    for _ in range(2):
        await wire.ok("pinChatMessage", chat_id=CHAT, message_id=said)
    assert (await wire.ok("getChat", chat_id=CHAT))["pinned_message"]["message_id"] == said
    await wire.ok("unpinChatMessage", chat_id=CHAT)
    await wire.ok("pinChatMessage", chat_id=CHAT, message_id=said)
    await wire.ok("unpinAllChatMessages", chat_id=CHAT)
    await wire.ok("pinChatMessage", chat_id=CHAT, message_id=said)
    await wire.ok("deleteMessage", chat_id=CHAT, message_id=said)
    assert "pinned_message" not in await wire.ok("getChat", chat_id=CHAT)
    for reaction in ([{"type": "emoji", "emoji": "👍"}], []):
        await wire.ok("setMessageReaction", chat_id=CHAT, message_id=1, reaction=reaction)
    group = tg.group("Finance", members=[CHAT])
    assert "rights" in (await wire.refused("pinChatMessage", chat_id=group.id, message_id=1))[1]


async def test_commands_by_scope_and_language(wire: Wire, tg: LocalTelegram) -> None:
    """The narrowest scope counts, in the person's language first."""

    async def define(name: str, **where: Any) -> None:
        await wire.ok("setMyCommands", commands=[{"command": f"/{name}", "description": "x"}], **where)

    group = tg.group("Finance", members=[CHAT, BORIS.id])
    await define("default")
    await define("russian", language_code="ru")
    await define("groups", scope={"type": "all_group_chats"})
    await define("admins", scope={"type": "all_chat_administrators"})
    await define("chat", scope={"type": "chat", "chat_id": CHAT})
    await define("member", scope={"type": "chat_member", "chat_id": group.id, "user_id": BORIS.id})
    (bot,) = tg.world.state.bots.values()

    def seen(chat: str, person: int, language: str) -> list[str]:
        return [command.command for command in commands_for(bot, tg.world.chat(chat), person, language)]

    tg.chat(BORIS.id)
    assert seen(f"100-{CHAT}", CHAT, "en") == ["chat"]
    assert seen(f"100-{BORIS.id}", BORIS.id, "ru-RU") == ["russian"]
    assert seen(f"100-{BORIS.id}", BORIS.id, "de") == ["default"]
    assert seen(str(group.id), CHAT, "en") == ["admins"]
    assert seen(str(group.id), BORIS.id, "en") == ["member"]
    assert await wire.ok("getMyCommands", language_code="ru") == [{"command": "russian", "description": "x"}]
    await wire.ok("deleteMyCommands", language_code="ru")
    assert await wire.ok("getMyCommands", language_code="ru") == []
    await wire.ok("deleteMyCommands")
    assert seen(f"100-{BORIS.id}", BORIS.id, "de") == []


async def test_names_and_menus(wire: Wire) -> None:
    """Name, descriptions and menu button, per language and per chat."""
    for what in ("Name", "Description", "ShortDescription"):
        field = {"Name": "name", "Description": "description", "ShortDescription": "short_description"}[what]
        await wire.ok(f"setMy{what}", **{field: "Plain"})
        await wire.ok(f"setMy{what}", **{field: "Русское"}, language_code="ru")
        assert await wire.ok(f"getMy{what}", language_code="ru") == {field: "Русское"}
        await wire.ok(f"setMy{what}", **{field: ""}, language_code="ru")
        assert await wire.ok(f"getMy{what}", language_code="ru") == {field: "Plain"}
    await wire.ok("setChatMenuButton", chat_id=CHAT, menu_button={"type": "default"})
    assert await wire.ok("getChatMenuButton", chat_id=CHAT) == {"type": "default"}
    await wire.ok("setChatMenuButton", menu_button={"type": "commands"})
    assert await wire.ok("getChatMenuButton") == {"type": "commands"}


def article(identity: str = "1", **more: Any) -> dict[str, Any]:
    content = {"message_text": "<b>Taxi</b>", "parse_mode": "HTML"}
    return {"id": identity, "type": "article", "title": "Taxi", "input_message_content": content, **more}


async def asked(tg: LocalTelegram, wire: Wire, **answer: Any) -> list[dict[str, Any]]:
    """What a person gets who types an inline query, answered so by the bot."""
    question = asyncio.create_task(tg.chat(CHAT).asks_inline("taxi"))
    (update,) = await wire.ok("getUpdates", offset=-1, timeout=5, allowed_updates=[])
    while "inline_query" not in update:
        (update,) = await wire.ok("getUpdates", offset=update["update_id"] + 1, timeout=5)
    assert (update["inline_query"]["query"], update["inline_query"]["chat_type"]) == ("taxi", "sender")
    await wire.ok("answerInlineQuery", inline_query_id=update["inline_query"]["id"], **answer)
    return await question


async def test_an_inline_query(wire: Wire, tg: LocalTelegram) -> None:
    """A result is chosen, stands in the chat as the person's, and its buttons and edits go by inline ids."""
    (result,) = await asked(tg, wire, results=[article(reply_markup=ROWS)])
    chat = tg.chat(CHAT)
    said = await chat.chooses(result["id"])
    assert (said.html, said.buttons, said.from_bot) == ("<b>Taxi</b>", (("Go",),), False)
    message, chosen = await wire.ok("getUpdates", offset=-2)
    assert message["message"]["via_bot"]["id"] == 100
    inline_id = chosen["chosen_inline_result"]["inline_message_id"]
    chat.taps("Go")
    (press,) = await wire.ok("getUpdates", offset=-1)
    assert press["callback_query"]["inline_message_id"] == inline_id
    assert await wire.ok("editMessageText", inline_message_id=inline_id, text="Saved") is True
    assert chat.last.text == "Saved"
    with pytest.raises(Exception, match="RESULT_ID_INVALID"):
        await chat.chooses("2")


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([article(), article()], "RESULT_ID_DUPLICATE"),
        ([article(input_message_content={"latitude": 1})], "not specified or not implemented"),
        ([article(input_message_content={"message_text": " "})], "message text is empty"),
        ([article(input_message_content={"message_text": "x" * 4097})], "message is too long"),
    ],
)
async def test_inline_results_that_are_wrong(wire: Wire, results: list[dict[str, Any]], words: str) -> None:
    """What could not be sent is refused before anybody can choose it."""
    assert words in (await wire.refused("answerInlineQuery", inline_query_id="1", results=results))[1]


async def test_reply_keyboards(wire: Wire, tg: LocalTelegram) -> None:
    """A reply keyboard stays until it is removed; a forced reply until somebody has answered."""
    chat = tg.chat(CHAT)
    assert not chat.keyboard
    await sent(wire, reply_markup={"keyboard": [["Main safe", {"text": "Card", "style": "primary"}]]})
    assert (chat.keyboard or {})["keyboard"] == [[{"text": "Main safe"}, {"text": "Card", "style": "primary"}]]
    await chat.says("Card")
    assert chat.keyboard
    await sent(wire, reply_markup={"remove_keyboard": True})
    assert "keyboard" not in (chat.keyboard or {})
    await sent(wire, reply_markup={"force_reply": True, "input_field_placeholder": "Why?"})
    assert (chat.keyboard or {})["input_field_placeholder"] == "Why?"
    await chat.says("because")
    assert not chat.keyboard
    refused = await wire.refused("sendMessage", chat_id=CHAT, text="a", reply_markup={"keyboard": [["x"] * 301]})
    assert "too long" in refused[1]


async def test_every_encoding(tg: LocalTelegram, session: aiohttp.ClientSession, wire: Wire) -> None:
    """Query, form and JSON bodies are read alike; entities can be given instead of HTML."""
    url = f"{tg.url}/bot{TOKEN}/sendMessage"
    async with session.get(url, params={"chat_id": CHAT, "text": "query"}) as answer:
        assert answer.status == 200
    form = {"chat_id": CHAT, "text": "form", "reply_markup": json.dumps(ROWS), "disable_notification": "true"}
    async with session.post(url, data=form) as answer:
        assert (await answer.json())["result"]["reply_markup"] == ROWS
    await sent(
        wire, "json", entities=[{"type": "bold", "offset": 0, "length": 2}, {"type": "bold", "offset": 3, "length": 9}]
    )
    assert [message.html for message in tg.chat(CHAT).messages][1:] == ["query", "form", "<b>js</b>on"]


async def test_typing_is_shown(wire: Wire, tg: LocalTelegram) -> None:
    """The chat action is told to who listens."""
    told: list[str] = []
    tg.world.listen(lambda event: told.append(event.kind))
    await wire.ok("sendChatAction", chat_id=CHAT, action="typing")
    assert told == ["typing"]
