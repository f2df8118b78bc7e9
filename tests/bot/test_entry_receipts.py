"""Photos of receipts: a draft with sum and day, the picture kept as evidence, the same receipt noticed."""

import hashlib
from io import BytesIO

from PIL import Image, ImageOps
from sqlalchemy import text

from bot.qr import MARGIN, squares
from tests.bot.house import OpenHouse
from tests.bot.money_house import count, newest, saved, shows

FISCAL = "t=20261119T1230&s=450.00&fn=9999078900004312&i=12345&fp=1234567890&n=1"
EPC = "BCD\n002\n1\nSCT\n\nTischlerei Köhler\nDE89370400440532013000\nEUR123.00\n\nRF18539007547034\n\nthanks"
RETURNED = "t=20261119T1230&s=80.00&fn=9999078900004312&i=777&fp=1234567890&n=2"


def photo(code: str | None) -> bytes:
    """A picture as a phone sends it: a code on paper, or no code at all."""
    picture = Image.new("L", (300, 300), 200)
    if code is not None:
        rows = squares(code)
        drawn = Image.new("L", (len(rows), len(rows)))
        drawn.putdata([0 if dark else 255 for row in rows for dark in row])
        side = (len(rows) + 2 * MARGIN) * 6
        picture = ImageOps.expand(drawn, MARGIN, 255).resize((side, side), Image.Resampling.NEAREST)
    content = BytesIO()
    picture.save(content, "JPEG", quality=95)
    return content.getvalue()


def kept(house: OpenHouse) -> list[tuple[str, int | None]]:
    """The rows of evidence: whose, and as which transaction."""
    with house.desk.db.read() as connection:
        rows = connection.execute(text("SELECT user_id, transaction_id FROM receipts ORDER BY id"))
        return [(row.user_id, row.transaction_id) for row in rows]


async def test_a_receipt_becomes_a_draft(house: OpenHouse) -> None:
    """Sum, currency and day are those of the receipt, the rest is the caption's; the picture is evidence."""
    anna = await house.linked("anna")
    content = photo(FISCAL)
    await anna.sends_photo(content, caption="taxi @petty")
    draft = await anna.card(containing="not saved yet")
    assert "450\u00a0₽" in draft.text or "₽450" in draft.text
    assert "19 Nov 2026" in draft.text
    assert "Taxi" in draft.text
    await anna.presses("Save")
    await shows(anna, draft, "Saved, no.")
    transaction = await newest(house)
    assert (transaction.sum, transaction.cashbox_id, transaction.description) == (450, 6, "taxi")
    if house.keeps_data:
        assert (transaction.data or {})["date"] == "2026-11-19"
    stored = list((house.desk.house.folder / "evidence").iterdir())
    assert [path.name for path in stored] == [f"{hashlib.sha256(stored[0].read_bytes()).hexdigest()}.jpg"]
    assert stored[0].stat().st_mode & 0o077 == 0
    with house.desk.db.read() as connection:
        path = connection.execute(text("SELECT path FROM receipts")).scalar_one()
    assert (house.desk.house.folder / path).samefile(stored[0])
    assert kept(house) == [("anna", transaction.id)]


async def test_the_same_receipt_is_noticed(house: OpenHouse) -> None:
    """A second photo of it is told with who and when, and logged only on demand."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.sends_photo(photo(EPC), caption="taxi @office")
    first = await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await shows(anna, first, "Saved, no.")
    await anna.sends_photo(photo(EPC), caption="taxi @office")
    twin = await anna.card(containing="You logged this receipt on")
    assert twin.buttons == (("Log it anyway",), ("Cancel",))
    await anna.presses("Cancel")
    await shows(anna, twin, "nothing was saved")
    assert await count(house) == total + 1
    await anna.sends_photo(photo(EPC), caption="taxi @office")
    await anna.waits(lambda chat: "You logged this receipt on" in chat.last.text)
    await anna.presses("Log it anyway")
    await anna.waits(lambda chat: "not saved yet" in chat.last.text)
    await anna.presses("Save")
    await anna.waits(lambda chat: "Saved, no." in chat.last.text)
    assert await count(house) == total + 2
    with house.desk.db.read() as connection:
        acts = connection.execute(text("SELECT note FROM audit WHERE act = 'logged again'")).scalars().all()
    assert len(acts) == 1


async def test_an_undone_receipt_is_free_again(house: OpenHouse) -> None:
    """After Undo the receipt is logged nowhere: nothing is said of it."""
    anna = await house.linked("anna")
    await anna.sends_photo(photo(EPC), caption="taxi @office")
    card = await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    await anna.presses("Undo")
    await shows(anna, card, "Undone")
    await anna.sends_photo(photo(EPC), caption="taxi @office")
    await anna.waits(lambda chat: chat.last.id > card.id + 1 and "not saved yet" in chat.last.text)


async def test_who_may_not_see_an_entry_is_not_told_whose_it_is(house: OpenHouse) -> None:
    """Victor logged it from the main account, which Boris may not see; Marina may, and is told who and when."""
    victor, boris, marina = [await house.linked(name) for name in ("victor", "boris", "marina")]
    await victor.sends_photo(photo(EPC), caption="taxi @main")
    await victor.card(containing="not saved yet")
    await victor.presses("Save")
    await victor.card(containing="Saved, no.")
    await boris.sends_photo(photo(EPC))
    told = await boris.card(containing="This receipt has been logged already.")
    assert "Victor" not in told.text
    await marina.sends_photo(photo(EPC))
    assert "Victor Langley logged this receipt on" in (await marina.card(containing="logged this receipt")).text


async def test_two_drafts_of_one_receipt(house: OpenHouse) -> None:
    """Both were sent before one was saved: the second Save notices."""
    anna, boris = await house.linked("anna"), await house.linked("boris")
    for chat in (anna, boris):
        await chat.sends_photo(photo(EPC), caption="taxi @office")
        await chat.card(containing="not saved yet")
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    await boris.presses("Save")
    told = await boris.card(containing="logged this receipt on")
    assert "Anna" in told.text
    assert len(kept(house)) == 2


async def test_a_picture_without_a_code_asks_for_the_sum(house: OpenHouse) -> None:
    """Nothing to read: the sum is asked for, and the picture is evidence all the same."""
    anna = await house.linked("anna")
    await anna.sends_photo(photo(None), caption="taxi @office")
    card = await anna.card(containing="I see no receipt's code in the picture. How much did you spend?")
    assert "the picture is kept with it" in card.text
    await anna.says("70")
    await shows(anna, card, "not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert kept(house) == [("anna", (await newest(house)).id)]


async def test_money_that_came_back_is_income(house: OpenHouse) -> None:
    """The receipt of a return is a draft of income."""
    anna = await house.linked("anna")
    await anna.sends_photo(photo(RETURNED), caption="supplier refunds @petty")
    card = await anna.card(containing="Income, not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert (await newest(house, "in")).sum == 80


async def test_a_picture_in_reply_is_evidence(house: OpenHouse) -> None:
    """The receipt comes after the entry: a picture in reply belongs to it, and changes no sum."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    await anna.sends_photo(photo(None), reply_to=card)
    await shows(anna, card, "the picture is kept with it")
    assert kept(house) == [("anna", (await newest(house)).id)]
    assert (await newest(house)).sum == 450


async def test_a_picture_sent_as_a_file(house: OpenHouse) -> None:
    """A document that is a picture is read too."""
    anna = await house.linked("anna")
    await anna.sends_document(photo(EPC), name="receipt.jpg", caption="taxi @office")
    assert "€123" in (await anna.card(containing="not saved yet")).text
