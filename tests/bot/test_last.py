"""/last: the ten newest entries, repeated and corrected."""

from pathlib import Path

from tests.bot.house import OpenHouse, open_house
from tests.bot.money_house import count, newest, saved, shows


async def test_repeat(house: OpenHouse) -> None:
    """Repeat makes a draft like it, of today; the first entry stays."""
    anna = await house.linked("anna")
    await saved(anna, "450 taxi @office yesterday")
    total = await count(house)
    await anna.says("/last")
    listed = await anna.card(containing="Your last entries")
    labels = [label for row in listed.buttons for label in row]
    assert len(labels) <= 10
    assert labels[0].startswith("1. €450 taxi")
    await anna.presses("1. €450")
    await shows(anna, listed, "Saved, no.")
    await anna.presses("Repeat")
    draft = await anna.card(containing="not saved yet")
    assert "today" in draft.text
    await anna.presses("Save")
    await shows(anna, draft, "Saved, no.")
    assert await count(house) == total + 1
    assert ((await newest(house)).sum, (await newest(house)).description) == (450, "taxi")


async def test_correct(house: OpenHouse) -> None:
    """Correct opens the saved card, which takes a reply; also an entry that was made elsewhere."""
    anna = await house.linked("anna")
    await house.as_user("anna").fintransaction.transaction.create(
        type="out", sum=77, cashbox_id=2, category_id=101, description="made elsewhere"
    )
    await anna.says("/last")
    listed = await anna.card(containing="made elsewhere")
    await anna.presses("1. €77")
    await shows(anna, listed, "Saved, no.")
    await anna.presses("Correct")
    await anna.waits(lambda chat: chat.buttons == (("Undo",),))
    card = anna.last
    await anna.replies(to=card, text="78")
    await shows(anna, card, "Changed, no.")
    assert ((await newest(house)).sum, (await newest(house)).description) == (78, "made elsewhere")
    await anna.presses("‹ Back", on=anna.message(listed.id))
    assert "€78" in (await shows(anna, listed, "Your last entries")).text


async def test_an_entry_that_is_gone(house: OpenHouse) -> None:
    """It was deleted meanwhile: said in words, and the list is shown afresh."""
    anna = await house.linked("anna")
    await saved(anna, "450 taxi @office")
    await anna.says("/last")
    listed = await anna.card(containing="Your last entries")
    gone = (await newest(house)).id
    assert gone is not None
    await house.owner.fintransaction.transaction.delete(ids=[gone], type="out")
    answer = await anna.presses("1. €450")
    assert "This entry is gone" in answer.text
    await anna.waits(lambda chat: "€450" not in chat.message(listed.id).buttons[0][0])


async def test_nothing_yet(tmp_path: Path) -> None:
    """Who has no entries gets an example."""
    async with open_house(tmp_path) as house:
        pauline = await house.linked("pauline")
        mine = [t for t in await house.owner.finance.transaction.list(type="out") if t.user_id == "pauline"]
        if mine:
            await house.owner.fintransaction.transaction.delete(ids=[t.id for t in mine if t.id], type="out")
        await pauline.says("/last")
        await pauline.card(containing="You have no entries yet")
