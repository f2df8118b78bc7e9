"""Income, moves, names that are typed, what is learned, sites, and people without a key of their own."""

from pathlib import Path

import pytest
from sqlalchemy import text

from bot import preferences
from tests.bot.house import OpenHouse, hosted, open_house
from tests.bot.money_house import CREATE, DELETE, count, entries, newest, note, saved, shows


@pytest.mark.parametrize("said", ["+5000 supplier refunds @office", "income 5000 supplier refunds @office"])
async def test_income_from_free_text(house: OpenHouse, said: str) -> None:
    """A plus or a word makes it income, with the categories of income."""
    anna = await house.linked("anna")
    await anna.says(said)
    card = await anna.card(containing="Income, not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    transaction = await newest(house, "in")
    assert (transaction.sum, transaction.cashbox_id, transaction.category_id) == (5000, 2, 306)


async def test_income_guided(house: OpenHouse) -> None:
    """/income asks for one thing after the other in the words of income."""
    anna = await house.linked("anna")
    await anna.says("/income")
    card = await anna.card(containing="How much came in?")
    await anna.says("300")
    await shows(anna, card, "Which cashbox did it come to?")
    await anna.presses("Office petty cash")
    await shows(anna, card, "Which category is it?")
    await anna.presses("Furniture sales")
    await shows(anna, card, "What was it paid for?")
    await anna.presses("Without a description")
    await shows(anna, card, "Income, not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert ((await newest(house, "in")).sum, (await newest(house, "in")).category_id) == (300, 305)


async def test_a_command_with_words(house: OpenHouse) -> None:
    """`/expense 450 taxi` is a draft at once; without a sum the words count, and the sum is asked for."""
    anna = await house.linked("anna")
    await anna.says("/income 300 supplier refunds @office")
    await anna.card(containing="Income, not saved yet")
    await anna.says("/move 500 office to site")
    await anna.card(containing="Move, not saved yet")
    await anna.says("/expense taxi @office yesterday")
    card = await anna.card(containing="How much did you spend?")
    await anna.says("45")
    draft = await shows(anna, card, "not saved yet")
    assert "Transport › Taxi" in draft.text
    assert "today" not in draft.text


async def test_a_move_within_a_currency(house: OpenHouse) -> None:
    """From where, to where: both sums are the same, the category is the only one; Undo takes it back."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("transfer 500 office to site yesterday")
    card = await anna.card(containing="Move, not saved yet")
    assert "Office petty cash → Site card" in card.text
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    moved = await newest(house, "move")
    assert (moved.sum_charge, moved.sum_topup, moved.cashbox_id_charge, moved.cashbox_id_topup) == (500, 500, 2, 3)
    assert moved.category_id == 400
    await anna.presses("Undo")
    await shows(anna, card, "Undone")
    assert await count(house) == total


async def test_a_move_between_currencies(house: OpenHouse) -> None:
    """What arrives is asked for in its own currency."""
    anna = await house.linked("anna")
    await anna.says("/move")
    card = await anna.card(containing="How much is moved?")
    await anna.says("100")
    await shows(anna, card, "Which cashbox does it leave?")
    await anna.presses("Office petty cash")
    await shows(anna, card, "Which cashbox does it go to?")
    assert not [row for row in anna.message(card.id).buttons if "Office petty cash" in row[0]]
    await anna.says("rouble account")
    await shows(anna, card, "How much arrives, in RUB?")
    await anna.says("nothing")
    await shows(anna, card, "I see no sum above zero there")
    await anna.says("9400")
    await shows(anna, card, "Why is it moved?")
    await anna.presses("Without a description")
    await shows(anna, card, "Move, not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    moved = await newest(house, "move")
    assert (moved.sum_charge, moved.sum_topup, moved.cashbox_id_topup) == (100, 9400, 5)


async def test_a_lost_move_is_found_again(house: OpenHouse) -> None:
    """The answer is lost: the move is found by its operation id, or by both of its sides; it is made once."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("transfer 501 office to site")
    card = await anna.card(containing="Move, not saved yet")
    house.lossy.lose(CREATE)
    await anna.presses("Save")
    await anna.waits(lambda chat: "Saved, no." in chat.message(card.id).text)
    assert house.lossy.seen[CREATE] == 1
    assert await count(house) == total + 1


async def test_an_expense_turns_out_to_be_income(house: OpenHouse) -> None:
    """The kind is changed on the draft, and the category asked for anew."""
    anna = await house.linked("anna")
    await anna.says("80 taxi @office")
    card = await anna.card(containing="Expense, not saved yet")
    await anna.presses("It is income")
    await shows(anna, card, "Which category is it?")
    await anna.presses("Supplier refunds")
    await shows(anna, card, "Income, not saved yet")


async def test_a_typed_word_searches(house: OpenHouse) -> None:
    """A part of a name chooses, several hits are offered, nothing alike is said; a sum begins the next entry."""
    anna = await house.linked("anna")
    await anna.says("450 something odd @office")
    card = await anna.card(containing="Which category is it?")
    await anna.says("qqqq")
    await shows(anna, card, "Nothing is like “qqqq”")
    await anna.says("ing")
    found = await shows(anna, card, "Found for “ing”")
    assert ("Advertising",) in found.buttons
    await anna.presses("Show all")
    await anna.waits(lambda chat: ("Travel ›",) in chat.message(card.id).buttons)
    await anna.says("12 taxi @office")
    await anna.waits(lambda chat: "€12" in chat.last.text)
    await anna.presses("Travel", on=anna.message(card.id))
    await anna.waits(lambda chat: any("Tickets" in row[0] for row in chat.message(card.id).buttons))
    await anna.presses("Tickets", on=anna.message(card.id))
    await shows(anna, card, "Travel › Tickets")


async def test_what_was_chosen_is_learned(house: OpenHouse) -> None:
    """The words of an entry, its #hint and its @hint mean the next time what was chosen for them."""
    anna = await house.linked("anna")
    await anna.says("450 zebra crossing #beast @bank")
    card = await anna.card(containing="I know no cashbox called “bank”")
    await anna.presses("Site card")
    asked = await shows(anna, card, "I know no category called “beast”")
    assert "#beast" in asked.text
    await anna.says("parking")
    await shows(anna, card, "not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    await anna.says("30 lion #beast @bank")
    await anna.waits(lambda chat: "Parking and tolls" in chat.last.text and "Site card" in chat.last.text)
    await anna.says("31 zebra @office")
    await anna.waits(lambda chat: "€31" in chat.last.text)
    assert "Parking and tolls" in anna.last.text


async def test_a_correction_is_learned(house: OpenHouse) -> None:
    """What was corrected once is not guessed wrongly again, however the name sounds."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    await anna.replies(to=card, text="#tickets")
    await shows(anna, card, "Changed, no.")
    await anna.says("12 taxi @office")
    await anna.waits(lambda chat: "€12" in chat.last.text)
    assert "Travel › Tickets" in anna.last.text


async def test_cancel_closes_a_draft_and_another_command_leaves_it(house: OpenHouse) -> None:
    """/cancel ends the draft that asks; another command takes only its question."""
    anna = await house.linked("anna")
    await anna.says("450 taxi")
    first = await anna.card(containing="Which cashbox")
    await anna.says("/cancel")
    await shows(anna, first, "nothing was saved")
    await anna.says("451 taxi")
    second = await anna.card(containing="€451" if "€451" in anna.last.text else "451")
    await anna.says("/help")
    await shows(anna, second, "not saved yet")
    await anna.says("good morning")
    await anna.card(containing="I did not find a sum in this")


async def test_a_cashbox_that_was_archived_meanwhile(house: OpenHouse) -> None:
    """The workspace refuses: said in words, the draft is kept, and the cashbox is asked for again without it."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @site")
    card = await anna.card(containing="not saved yet")
    archived = text("UPDATE cashboxes SET is_archived = 1 WHERE id = 3")
    house.server.write_now(lambda connection: connection.execute(archived).rowcount)
    await anna.presses("Save")
    asked = await shows(anna, card, "Which cashbox was it paid from?")
    assert "The workspace refused" in asked.text
    assert not [row for row in asked.buttons if "Site card" in row[0]]
    await anna.presses("Office petty cash")
    await shows(anna, card, "not saved yet")


async def test_a_category_that_was_archived_meanwhile(house: OpenHouse) -> None:
    """As a cashbox: the category is asked for again."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @site")
    card = await anna.card(containing="not saved yet")
    archived = text("UPDATE categories SET is_archived = 1 WHERE id = 101")
    house.server.write_now(lambda connection: connection.execute(archived).rowcount)
    await anna.presses("Save")
    asked = await shows(anna, card, "Which category is it?")
    assert "The workspace refused: This category has been archived. Choose another one." in asked.text
    assert "Transport › Taxi" not in asked.text


@pytest.mark.parametrize("profile", ["standard", "hosted"])
async def test_sites(tmp_path: Path, profile: str) -> None:
    """#site goes into project_id, stands on the card, and is the next entry's until another one is chosen."""
    given = hosted() if profile == "hosted" else None
    async with open_house(tmp_path, profile=given, sites={12: "Halden", 14: "Bergen harbour"}) as house:
        anna = await house.linked("anna")
        await saved(anna, "450 taxi @office #halden")
        assert (await newest(house)).project_id == 12
        await anna.says("30 taxi @office")
        await anna.waits(lambda chat: "€30" in chat.last.text)
        card = anna.last
        assert "Halden" in card.text
        await anna.presses("Site")
        await shows(anna, card, "Which site is it for?")
        await anna.says("harbour")
        await shows(anna, card, "Bergen harbour")
        await anna.presses("Site")
        await shows(anna, card, "Which site is it for?")
        await anna.presses("No site")
        await shows(anna, card, "not saved yet")
        await anna.presses("Save")
        await shows(anna, card, "Saved, no.")
        assert (await newest(house)).project_id is None
        with house.desk.db.read() as connection:
            assert preferences.get(connection, "anna", "site") is None


@pytest.mark.parametrize("profile", ["standard", "hosted"])
async def test_without_a_key_of_ones_own(tmp_path: Path, profile: str) -> None:
    """Where the policy lets people log, the service's key does it in their name; what is others' stays theirs."""
    given = hosted() if profile == "hosted" else None
    async with open_house(tmp_path, profile=given, act_as="log") as house:
        anna = await house.linked("anna", key=False)
        card = await saved(anna, "450 taxi @office")
        mine = await newest(house)
        assert mine.user_id == "anna"
        theirs = text("UPDATE transactions SET user_id = 'boris' WHERE id = :id").bindparams(id=mine.id)
        house.server.write_now(lambda connection: connection.execute(theirs).rowcount)
        answer = await anna.presses("Undo")
        assert "somebody else's" in answer.text
        await anna.replies(to=card, text="500")
        await anna.card(containing="somebody else's")
        assert house.lossy.seen[DELETE] == 0
        assert (await newest(house)).sum == 450


async def test_the_policy_decides_about_the_services_key(tmp_path: Path) -> None:
    """Without a key and without the policy nothing is logged."""
    async with open_house(tmp_path, act_as="see") as house:
        anna = await house.linked("anna", key=False)
        await anna.says("450 taxi")
        await anna.card(containing="I have no key of yours")
        assert house.lossy.seen[CREATE] == 0
        await anna.says("/last")
        await anna.card(containing="Your last entries")


async def test_a_name_of_several_is_not_called_unknown(house: OpenHouse) -> None:
    """Two cashboxes are called petty cash: which one, is asked."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @petty")
    await anna.card(containing="“petty” may be several. Which cashbox was it paid from?")


async def test_a_wrong_answer_is_heard_each_time(house: OpenHouse) -> None:
    """The card would not change at the second one, so it is said below."""
    anna = await house.linked("anna")
    await anna.says("/expense")
    card = await anna.card(containing="How much did you spend?")
    await anna.says("much")
    await shows(anna, card, "I see no sum above zero there.")
    await anna.says("much")
    await anna.waits(lambda chat: chat.last.from_bot and "I see no sum above zero there." in chat.last.text)
    assert anna.last.id > card.id


async def test_an_entry_without_a_cashbox_in_its_currency_waits(house: OpenHouse) -> None:
    """The next entry is one of its own and does not take its place."""
    anna = await house.linked("anna")
    await anna.says("20 usd coffee")
    card = await anna.card(containing="You have no cashbox in USD")
    await anna.says("450 taxi @office")
    await anna.card(containing="not saved yet")
    assert "$20" in anna.message(card.id).text
    await anna.says("18 eur")
    await anna.waits(lambda chat: "€18" in chat.message(card.id).text or "€18" in chat.last.text)


async def test_who_has_no_cashbox_is_told(house: OpenHouse) -> None:
    """No cashbox to move to: said in words, with a way back."""
    anna = await house.linked("anna")
    others = text("UPDATE cashboxes SET is_archived = 1 WHERE id <> 2")
    house.server.write_now(lambda connection: connection.execute(others).rowcount)
    await anna.says("transfer 500")
    card = await anna.card(containing="There is no cashbox that you may use for this")
    assert card.buttons == (("Cancel",),)


async def test_a_disabled_person_saves_nothing(house: OpenHouse) -> None:
    """Disabled between the draft and the tap: refused, also when it would be saved at once."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @office")
    await anna.card(containing="not saved yet")
    gone = text("UPDATE users SET is_disabled = 1 WHERE user_id = 'anna'")
    house.server.write_now(lambda connection: connection.execute(gone).rowcount)
    answer = await anna.presses("Save")
    assert answer.text
    note(house, lambda connection: preferences.put(connection, "anna", "autosave", True))
    await anna.says("451 taxi @office")
    await anna.waits(lambda chat: chat.last.from_bot)
    assert house.lossy.seen[CREATE] == 0


async def test_in_russian_several_and_moves(tmp_path: Path) -> None:
    """The Russian words of kinds, days and hints, and the Russian screens."""
    async with open_house(tmp_path, language="ru") as house:
        chat = house.chat("anna")
        await chat.starts(house.invite("anna"))
        await chat.waits(lambda chat: bool(chat.buttons))
        await chat.presses(chat.buttons[0][0])
        await chat.waits(lambda chat: "✅" in chat.last.text)
        await chat.says("перевод 700 из кассы офиса на карту вчера")
        card = await chat.card(containing="Перевод, ещё не сохранён")
        assert "Касса офиса → Карта для объектов" in card.text
        await chat.says("в пятницу\n450 такси @офиса\n20 кофе @карта #кухня")
        card = await chat.card(containing="2 записи, ещё не сохранены")
        await chat.presses("Сохранить все")
        await shows(chat, card, "Сохранено: 2 из 2")
        assert [t.category_id for t in (await entries(house))[:2]] in ([112, 101], [101, 112])
