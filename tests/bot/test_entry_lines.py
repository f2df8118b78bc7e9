"""Several lines in one message: one card, a call for each entry, each with its own outcome."""

from pathlib import Path

from sqlalchemy import text

from bot import intents, preferences
from tests.bot.house import OpenHouse, open_house
from tests.bot.money_house import CREATE, count, entries, newest, note, shows

LINES = "450 taxi @office\n12 coffee for the crew @office #kitchen\n+500 odd thing @office"


async def test_several_lines_are_several_entries(house: OpenHouse) -> None:
    """Save all is one call for each; each line shows its number, and Undo all takes all back."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says(LINES)
    card = await anna.card(containing="3 entries, not saved yet")
    assert "❓" in card.text
    assert "which category?" in card.text
    assert card.buttons[0] == ("Save 2 clear lines",)
    await anna.presses("3 ❓")
    await shows(anna, card, "Which category is it?")
    await anna.presses("Supplier refunds")
    await shows(anna, card, "Income, not saved yet")
    await anna.presses("‹ All lines")
    listed = await shows(anna, card, "3 entries, not saved yet")
    assert listed.buttons[0] == ("Save all",)
    await anna.presses("Save all")
    await shows(anna, card, "Saved: 3 of 3")
    assert house.lossy.seen[CREATE] == 3
    assert await count(house) == total + 3
    assert sorted(t.sum or 0 for t in (await entries(house))[:2]) == [12, 450]
    assert (await newest(house, "in")).sum == 500
    await anna.presses("Undo all")
    await shows(anna, card, "3 entries, not saved yet")
    assert await count(house) == total


async def test_one_line_is_undone_alone(house: OpenHouse) -> None:
    """A line is opened, undone and left; the others stay saved."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("450 taxi @office\n460 taxi @office")
    card = await anna.card(containing="2 entries")
    await anna.presses("Save all")
    await shows(anna, card, "Saved: 2 of 2")
    await anna.presses("2 ✅")
    await shows(anna, card, "To correct it, reply")
    await anna.presses("Undo")
    await shows(anna, card, "Undone")
    await anna.presses("‹ All lines")
    listed = await shows(anna, card, "Saved: 1 of 2")
    assert listed.buttons[-1] == ("Cancel the rest",)
    await anna.presses("Cancel the rest")
    await shows(anna, card, "Saved: 1 of 1")
    assert await count(house) == total + 1
    assert (await newest(house)).sum == 450


async def test_one_cashbox_for_all_lines(house: OpenHouse) -> None:
    """What is unclear in several lines is answered once, by a tap or by a typed word."""
    anna = await house.linked("anna")
    await anna.says("450 taxi\n30 fuel")
    card = await anna.card(containing="2 entries")
    assert card.text.count("which cashbox?") == 2
    await anna.presses("One cashbox for all")
    await shows(anna, card, "Which cashbox was it paid from?")
    await anna.says("site")
    listed = await shows(anna, card, "Site card")
    assert listed.text.count("Site card") == 2
    await anna.waits(lambda chat: chat.message(card.id).buttons[0] == ("Save all",))


async def test_a_dropped_line_is_not_saved(house: OpenHouse) -> None:
    """Drop this line takes one out; the others are saved."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("450 taxi @office\n460 taxi @office")
    card = await anna.card(containing="2 entries")
    await anna.presses("1 ✏️")
    await shows(anna, card, "Expense, not saved yet")
    await anna.presses("Drop this line")
    await shows(anna, card, "1 entry, not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved: 1 of 1")
    assert await count(house) == total + 1
    assert (await newest(house)).sum == 460


async def test_a_line_is_corrected_by_its_number(house: OpenHouse) -> None:
    """`2: 500` in reply to the list changes the second line; without a number it is asked which."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @office\n460 taxi @office")
    card = await anna.card(containing="2 entries")
    await anna.replies(to=card, text="500")
    await anna.card(containing="Which line?")
    await anna.replies(to=card, text="2: 500")
    await shows(anna, card, "€500")
    await anna.presses("‹ All lines")
    listed = await shows(anna, card, "2 entries")
    assert "€450" in listed.text


async def test_changing_the_message_changes_its_lines(house: OpenHouse) -> None:
    """Before saving the list follows; afterwards the line that differs is changed by one update."""
    anna = await house.linked("anna")
    said = await anna.says("450 taxi @office\n460 taxi @office")
    card = await anna.card(containing="2 entries")
    await anna.edits(said, "450 taxi @office\n470 taxi @office\n5 taxi @office")
    await shows(anna, card, "3 entries")
    await anna.presses("Save all")
    await shows(anna, card, "Saved: 3 of 3")
    await anna.edits(said, "450 taxi @office\n480 taxi @office\n5 taxi @office")
    await shows(anna, card, "Changed, no.")
    assert {t.sum for t in (await entries(house))[:3]} == {450, 480, 5}
    await anna.edits(said, "450 taxi @office")
    await anna.card(containing="Some of it is saved already")


async def test_a_refused_line_does_not_stop_the_others(house: OpenHouse) -> None:
    """The cashbox of one line was archived meanwhile: it says so and asks again, the other one is saved."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @office\n460 taxi @site")
    card = await anna.card(containing="2 entries")
    archived = text("UPDATE cashboxes SET is_archived = 1 WHERE id = 3")
    house.server.write_now(lambda connection: connection.execute(archived).rowcount)
    await anna.presses("Save all")
    listed = await shows(anna, card, "Saved: 1 of 2")
    await house.settled()
    listed = await shows(anna, card, "The workspace refused")
    assert (await newest(house)).sum == 450
    assert listed.text.count("Saved, no.") == 1
    await anna.presses("2 ")
    await shows(anna, card, "Which cashbox was it paid from?")
    await anna.presses("Office petty cash")
    await shows(anna, card, "not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert (await newest(house)).sum == 460


async def test_lost_answers_of_several_lines(house: OpenHouse) -> None:
    """Every answer is lost: each entry is found again by itself, and made once."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("451 taxi @office\n452 taxi @office\n453 taxi @office")
    card = await anna.card(containing="3 entries")
    house.lossy.lose(CREATE, 3)
    await anna.presses("Save all")
    await anna.waits(lambda chat: "Saved: 3 of 3" in chat.message(card.id).text)
    assert house.lossy.seen[CREATE] == 3
    assert await count(house) == total + 3


async def test_saving_all_goes_on_after_a_crash(house: OpenHouse) -> None:
    """What was sent when the process died is looked for, what was not is sent: nothing twice, nothing lost."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("451 taxi @office\n452 taxi @office")
    card = await anna.card(containing="2 entries")
    await anna.presses("Save all")
    await shows(anna, card, "Saved: 2 of 2")
    rewind = text("UPDATE intents SET state = 'sending' WHERE operation LIKE '%create'")
    house.desk.db.write_now(lambda connection: connection.execute(rewind).rowcount)
    lost = house.desk.db.write_now(lambda connection: intents.interrupted(connection, house.desk.now()))
    assert lost == 2
    house.assistant.operations.wake()
    await house.settled()
    assert await count(house) == total + 2
    assert "Saved: 2 of 2" in anna.message(card.id).text


async def test_too_many_lines(house: OpenHouse) -> None:
    """More than twenty entries are not taken at once."""
    anna = await house.linked("anna")
    await anna.says("\n".join(f"{number} taxi" for number in range(1, 23)))
    await anna.card(containing="These are more than 20 entries")


async def test_autosave_saves_what_is_not_in_doubt(tmp_path: Path) -> None:
    """One who has set it needs no tap: the clear lines are saved at once, the unclear ones wait."""
    async with open_house(tmp_path) as house:
        anna = await house.linked("anna")
        note(house, lambda connection: preferences.put(connection, "anna", "autosave", True))
        await anna.says("450 taxi @office")
        card = await anna.card(containing="Saved, no.")
        assert card.buttons == (("Undo",),)
        await anna.says("451 taxi @office\n12 something odd @office")
        await anna.card(containing="Saved: 1 of 2")
        for unclear, asked in (
            ("452 fuel", "Which cashbox"),
            ("3 taxi rides 120 @office", "€3"),
            ("453 taxi @office 25.12.2199", "25 Dec 2199"),
            ("453 taxi @office tomorrow", "taxi tomorrow"),
        ):
            await anna.says(unclear)
            assert "Saving" not in (await anna.card(containing=asked)).text
            await house.settled()
        assert house.lossy.seen[CREATE] == 2
        assert {t.sum for t in (await entries(house))[:2]} == {450, 451}
        await anna.says("45 parking @office")
        await anna.waits(lambda chat: "Saved, no." in chat.last.text)
        await anna.says("46 parking")
        await anna.waits(lambda chat: "Which cashbox" in chat.last.text)
        # The same words twice with the same cashbox: it is the usual one.
        await anna.says("454 taxi")
        await anna.waits(lambda chat: "Saved, no." in chat.last.text)
        assert (await newest(house)).cashbox_id == 2


async def test_what_is_saved_is_not_saved_again(house: OpenHouse) -> None:
    """The clear lines first, the unclear one later: one call for each line in all."""
    anna = await house.linked("anna")
    total = await count(house)
    await anna.says("450 taxi @office\n12 something odd @office")
    card = await anna.card(containing="2 entries")
    await anna.presses("Save 1 clear line")
    await shows(anna, card, "Saved: 1 of 2")
    await anna.presses("2 ❓")
    await shows(anna, card, "Which category is it?")
    await anna.says("parking")
    await shows(anna, card, "not saved yet")
    await anna.presses("‹ All lines")
    await shows(anna, card, "Saved: 1 of 2")
    await anna.presses("Save 1 clear line")
    await shows(anna, card, "Saved: 2 of 2")
    assert house.lossy.seen[CREATE] == 2
    assert await count(house) == total + 2
