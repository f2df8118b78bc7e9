"""Unmodified python-telegram-bot against Local Telegram: polling, buttons, files, groups."""

from __future__ import annotations

from bot.sandbox import LocalTelegram
from tests.sandbox.bots import ANNA, PNG, polling


async def test_a_message_a_card_and_a_press() -> None:
    """A person writes, gets a card, presses its button and sees the card edited."""
    async with LocalTelegram.start(people=[ANNA]) as tg, polling(tg):
        chat = tg.chat(ANNA.id)
        await chat.says("/requests")
        card = await chat.card()
        assert (card.text, card.html, card.buttons) == ("/requests", "<b>/requests</b>", (("Approve ✓",),))
        answer = await chat.presses("Approve")
        assert (answer.text, answer.show_alert) == ("Approved", True)
        await chat.waits(lambda chat: chat.last.text == "done")
        assert chat.last.edited
        assert chat.buttons == ()


async def test_a_photo_goes_there_and_back() -> None:
    """A photo can be downloaded by the bot and comes back, byte by byte, as a document."""
    async with LocalTelegram.start(people=[ANNA]) as tg, polling(tg):
        chat = tg.chat(ANNA.id)
        await chat.sends_photo(PNG, caption="receipt")
        back = await chat.card()
        assert (back.document, back.file_name) == (PNG, "back.png")


async def test_an_edited_message_reaches_the_bot() -> None:
    """Editing one's own message is an update of its own."""
    async with LocalTelegram.start(people=[ANNA]) as tg, polling(tg):
        chat = tg.chat(ANNA.id)
        said = await chat.says("450 taxi")
        await chat.card(containing="450")
        await chat.edits(said, "500 taxi")
        assert (await chat.card(containing="corrected")).text == "corrected: 500 taxi"
