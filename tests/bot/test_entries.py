"""Expenses in chat: free text and guided, saved once, undone, and said in words where they cannot be."""

from datetime import timedelta
from pathlib import Path

from tests.bot.house import OpenHouse, open_house
from workspace_api.contract.finance import Transaction


async def newest(house: OpenHouse) -> Transaction:
    """The expense with the highest number."""
    found = await house.owner.finance.transaction.list(type="out")
    return max(found, key=lambda transaction: transaction.id or 0)


async def test_free_text_becomes_a_saved_expense(house: OpenHouse) -> None:
    """`450 taxi`: the category is found, the cashbox asked on the same message, Save books it once."""
    anna = await house.linked("anna")
    count = await house.owner.fintransaction.transaction.get.total.count()
    await anna.says("450 taxi")
    asked = await anna.card(containing="Which cashbox was it paid from?")
    assert asked.buttons[-1] == ("Cancel",)
    await anna.presses("Office petty cash")
    draft = await anna.card(containing="not saved yet")
    assert draft.id == asked.id
    assert draft.buttons[0] == ("Save",)
    assert draft.buttons[-1] == ("Cancel",)
    assert "Taxi" in draft.text
    await anna.presses("Save")
    saved = await anna.card(containing="Saved, no.")
    assert saved.id == draft.id
    assert saved.buttons == (("Undo",),)
    transaction = await newest(house)
    assert (transaction.sum, transaction.cashbox_id, transaction.description, transaction.user_id) == (
        450,
        2,
        "taxi",
        "anna",
    )
    assert await house.owner.fintransaction.transaction.get.total.count() == count + 1


async def test_undo_deletes_and_leaves_a_draft(house: OpenHouse) -> None:
    """Undo takes the entry out of the count; the draft can be saved again."""
    anna = await house.linked("anna")
    count = await house.owner.fintransaction.transaction.get.total.count()
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    await anna.presses("Undo")
    draft = await anna.card(containing="Undone")
    assert draft.buttons[0] == ("Save",)
    assert await house.owner.fintransaction.transaction.get.total.count() == count


async def test_the_likeliest_cashbox_comes_first(house: OpenHouse) -> None:
    """What was chosen last is the first button the next time."""
    anna = await house.linked("anna")
    await anna.says("450 taxi")
    first = await anna.card(containing="Which cashbox")
    other = first.buttons[1][0]
    await anna.presses(other)
    await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    await anna.says("12 taxi")
    await anna.waits(lambda chat: "Which cashbox" in chat.last.text)
    assert anna.last.buttons[0][0] == other


async def test_guided_from_amount_to_description(house: OpenHouse) -> None:
    """/expense asks for one thing after the other on one message; a word that is no sum is asked again."""
    anna = await house.linked("anna")
    await anna.says("/expense")
    card = await anna.card(containing="How much did you spend?")
    await anna.says("a lot")
    await anna.card(containing="I see no sum above zero")
    await anna.says("1 200")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="Which category is it?")
    await anna.presses("Office")
    await anna.waits(
        lambda chat: "Which category" in chat.message(card.id).text and any("Just" in r[0] for r in chat.buttons)
    )
    await anna.presses("Just")
    await anna.card(containing="What was it for?")
    await anna.says("Paper & <pens>")
    draft = await anna.card(containing="not saved yet")
    assert draft.id == card.id
    assert "Paper & <pens>" in draft.text
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    assert (await newest(house)).description == "Paper & <pens>"


async def test_each_part_of_a_draft_can_be_changed(house: OpenHouse) -> None:
    """Amount opens a question with a way back; the answer changes the draft alone."""
    anna = await house.linked("anna")
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="not saved yet")
    await anna.presses("Amount")
    asked = await anna.card(containing="How much did you spend?")
    assert asked.buttons == (("‹ Back",),)
    await anna.says("500")
    changed = await anna.card(containing="not saved yet")
    assert "€500" in changed.text


async def test_cancel_saves_nothing(house: OpenHouse) -> None:
    """Cancel closes the card, and its buttons are gone."""
    anna = await house.linked("anna")
    count = await house.owner.fintransaction.transaction.get.total.count()
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Cancel")
    card = await anna.card(containing="nothing was saved")
    assert card.buttons == ()
    assert await house.owner.fintransaction.transaction.get.total.count() == count


async def test_fractions_are_rounded_by_the_person(house: OpenHouse) -> None:
    """A workspace of whole units: two buttons, and the exact sum is kept in the entry's data."""
    anna = await house.linked("anna")
    await anna.says("450,50 taxi @office")
    asked = await anna.card(containing="keeps no such fractions")
    assert asked.buttons == (("€450", "€451"), ("Cancel",))
    await anna.presses("€451")
    draft = await anna.card(containing="not saved yet")
    assert "exactly €450.50" in draft.text
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    saved = await newest(house)
    assert saved.sum == 451
    if house.keeps_data:
        assert (saved.data or {})["exact"] == "450.50"


async def test_the_next_entry_leaves_the_one_before_it(house: OpenHouse) -> None:
    """Lines or a sum with words, while a sum or a cashbox is asked for, are entries of their own."""
    anna = await house.linked("anna")
    await anna.says("450,50 taxi @office")
    first = await anna.card(containing="keeps no such fractions")
    await anna.says("30 fuel")
    second = await anna.card(containing="Which cashbox")
    await anna.says("20 coffee @office\n30 fuel @office")
    await anna.card(containing="2 entries, not saved yet")
    assert "keeps no such fractions" in anna.message(first.id).text
    await anna.presses("€451", on=anna.message(first.id))
    await anna.waits(lambda chat: "not saved yet" in chat.message(first.id).text)
    await anna.presses("Site card", on=anna.message(second.id))
    await anna.waits(lambda chat: "not saved yet" in chat.message(second.id).text)


async def test_hundredths_are_kept_where_the_scale_has_them(tmp_path: Path) -> None:
    """With WORKSPACE_MONEY_SCALE=2 the sum on the wire is in hundredths."""
    async with open_house(tmp_path, scale=2) as house:
        anna = await house.linked("anna")
        await anna.says("450,50 taxi")
        await anna.card(containing="Which cashbox")
        await anna.presses("Office petty cash")
        assert "450.50" in (await anna.card(containing="not saved yet")).text
        await anna.presses("Save")
        await anna.card(containing="Saved, no.")
        assert (await newest(house)).sum == 45050


async def test_yesterday_is_shown_and_kept(house: OpenHouse) -> None:
    """A day in the text stands on the card and goes into the entry's data."""
    anna = await house.linked("anna")
    await anna.says("20 taxi yesterday")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    assert "📅" in (await anna.card(containing="not saved yet")).text
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    data = (await newest(house)).data or {}
    if house.keeps_data:
        assert data["date"] < house.desk.house.clock().date().isoformat()


async def test_text_without_a_sum_gets_a_hint(house: OpenHouse) -> None:
    """What is neither command nor sum is answered with an example."""
    anna = await house.linked("anna")
    await anna.says("good morning")
    await anna.card(containing="450 taxi")


async def test_in_russian(tmp_path: Path) -> None:
    """`450 такси` in the Russian twin."""
    async with open_house(tmp_path, language="ru") as house:
        chat = house.chat("anna")
        await chat.starts(house.invite("anna"))
        first = await chat.card()
        await chat.presses(first.buttons[0][0])
        await chat.waits(lambda chat: "✅" in chat.last.text)
        await chat.says("450 такси")
        await chat.waits(lambda chat: "450" in chat.last.text and bool(chat.buttons))
        await chat.presses(chat.buttons[0][0])
        await chat.waits(lambda chat: "📝" in chat.last.text)
        await chat.presses(chat.buttons[0][0])
        await chat.waits(lambda chat: "✅" in chat.last.text and len(chat.buttons) == 1)
        assert ((await newest(house)).sum, (await newest(house)).description) == (450, "такси")


async def test_a_text_that_comes_a_day_late_counts_on_its_own_day(house: OpenHouse) -> None:
    """A phone without a network sends it the next day: the draft is of the day on which it was written."""
    anna = await house.linked("anna")
    house.telegram.delivery.age = 86400.0
    await anna.says("450 taxi")
    yesterday = house.desk.house.clock() - timedelta(days=1)
    card = await anna.card(containing="450")
    assert house.desk.texts("en").day(yesterday) in card.text or "yesterday" in card.text
