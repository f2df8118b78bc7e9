"""The tests' own driver: its waits say what they waited for, and its snapshots are stale when they should be."""

from __future__ import annotations

import asyncio

import pytest

from bot.sandbox import LocalTelegram, NothingCame
from bot.sandbox.refusals import Refused
from tests.sandbox.bots import ANNA, BORIS, PNG, Wire, polling

ROWS = {"inline_keyboard": [[{"text": "Approve", "callback_data": "x"}, {"text": "Web", "url": "https://e.org"}]]}


async def test_waits_fail_with_what_the_chat_looks_like(wire: Wire, tg: LocalTelegram) -> None:
    """Each wait that ends without its event shows the chat."""
    chat = tg.chat(ANNA.id)
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    with pytest.raises(NothingCame, match=r"containing 'x' within 0 s\nthe chat ends with:\n.*Anna Reed: '/start'"):
        await chat.card(containing="x", timeout=0)
    await chat.says("again")
    with pytest.raises(NothingCame, match="after the last act"):
        await chat.card(timeout=0.01)
    with pytest.raises(NothingCame, match="condition did not come true"):
        await chat.waits(lambda chat: chat.last.text == "x", timeout=0.01)
    with pytest.raises(NothingCame, match="did not answer the press on 'Approve'"):
        await chat.presses("Approve", timeout=0.01)
    with pytest.raises(NothingCame, match="there is no button 'Pay'"):
        await chat.presses("Pay")
    with pytest.raises(NothingCame, match="no button 'Pay' below 'card'"):
        await chat.presses("Pay", on=await chat.card("card"))
    with pytest.raises(NothingCame, match="has no callback_data"):
        await chat.presses("Web")
    with pytest.raises(NothingCame, match="did not answer the inline query"):
        await chat.asks_inline("x", timeout=0.01)
    with pytest.raises(NothingCame, match="nobody has said"):
        str(tg.chat(BORIS.id).last)


async def test_a_stale_card_can_be_pressed(wire: Wire, tg: LocalTelegram) -> None:
    """A snapshot keeps its buttons, whatever became of the message."""
    chat = tg.chat(ANNA.id)
    said = await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    card = await chat.card("card")
    await wire.ok("editMessageText", chat_id=ANNA.id, message_id=said["message_id"], text="decided")
    assert chat.message(card.id).text == "decided"
    assert card in chat
    press = asyncio.create_task(chat.presses("Approve", on=card))
    (update,) = await wire.ok("getUpdates", offset=-1, timeout=5)
    while "callback_query" not in update:
        (update,) = await wire.ok("getUpdates", offset=update["update_id"] + 1, timeout=5)
    assert update["callback_query"]["message"]["text"] == "decided"
    await wire.ok("answerCallbackQuery", callback_query_id=update["callback_query"]["id"])
    assert (await press).text == ""


async def test_photos_and_documents_in_reply(tg: LocalTelegram) -> None:
    """Files answer a message, and bring their bytes along."""
    chat = tg.chat(ANNA.id)
    said = await chat.says("here")
    photo = await chat.sends_photo(PNG, reply_to=said)
    document = await chat.sends_document(b"x", name="a/b.txt", caption="c", reply_to=photo)
    assert (photo.photo, photo.reply_to) == (PNG, said.id)
    assert (document.document, document.file_name, document.text, document.reply_to) == (b"x", "b.txt", "c", photo.id)
    assert (await chat.edits(document, "other")).text == "other"
    assert (await chat.edits(document, "other")).text == "other"
    await chat.deletes(document)
    assert document not in chat


async def test_a_group_where_each_has_a_voice(tg: LocalTelegram) -> None:
    """Two people write in one group; nobody else can, and nobody deletes another's words."""
    async with polling(tg):
        group = tg.group("Finance", members=[ANNA.id], bot_is_admin=True)
        group.adds(BORIS.id)
        said = await group.chat(ANNA.id).says("from Anna")
        boris = group.chat(BORIS.id)
        assert (await boris.card(containing="from Anna")).from_bot
        with pytest.raises(Refused, match="can't be deleted"):
            await boris.deletes(said)
    with pytest.raises(Refused, match="only a private chat"):
        boris.blocks_bot()
    small = tg.group("Two", members=[ANNA.id])
    with pytest.raises(Refused, match="is not in the chat"):
        await small.chat(BORIS.id).says("let me in")
    with pytest.raises(Refused, match="no person 7"):
        tg.chat(7)
