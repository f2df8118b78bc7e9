"""Correcting what was written: a reply, a changed message, Undo; drafts follow, saved entries are changed once."""

from datetime import timedelta
from functools import partial

from bot import facts
from bot.sandbox import PersonChat
from tests.bot.house import OpenHouse
from tests.bot.money_house import CREATE, DELETE, UPDATE, count, entries, newest, note, saved, shows


async def test_a_reply_changes_one_field(house: OpenHouse) -> None:
    """`500`, `yesterday`, `#fuel`, `@site` and other words each change the saved entry, and nothing else."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    number = (await newest(house)).id
    for made, (said, name, value) in enumerate(
        (
            ("500", "sum", 500),
            ("#fuel", "category_id", 102),
            ("@site", "cashbox_id", 3),
            ("to the airport", "description", "to the airport"),
        ),
        1,
    ):
        before = await newest(house)
        await anna.replies(to=card, text=said)
        await anna.waits(partial(_updated, house, made))
        await house.settled()
        await shows(anna, card, "Changed, no.")
        after = await newest(house)
        assert after.id == number
        assert getattr(after, name) == value
        for other in {"sum", "category_id", "cashbox_id", "description"} - {name}:
            assert getattr(after, other) == getattr(before, other)
    assert anna.message(card.id).buttons == (("Undo",),)


async def test_a_reply_changes_the_day(house: OpenHouse) -> None:
    """`yesterday`: the day goes into `data`; where a workspace keeps none, the card says on which day it stands."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    await anna.replies(to=card, text="yesterday")
    changed = await shows(anna, card, "Changed, no.")
    transaction = await newest(house)
    if house.keeps_data:
        assert (transaction.data or {})["date"] < house.desk.house.clock().date().isoformat()
        assert (transaction.data or {})["operation_id"]
        assert "The workspace booked it" not in changed.text
    else:
        assert "The workspace booked it on this day, not on" in changed.text


async def test_a_reply_that_is_unclear_is_asked(house: OpenHouse) -> None:
    """An unknown #category is asked with buttons; the entry stays as it was until one is chosen, or for good."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    await anna.replies(to=card, text="#nonsense")
    asked = await shows(anna, card, "I know no category called “nonsense”")
    assert asked.buttons[-1] == ("‹ Leave it as it was",)
    await anna.presses("‹ Leave it as it was")
    await shows(anna, card, "Saved, no.")
    await anna.replies(to=card, text="#nonsense")
    await shows(anna, card, "I know no category")
    await anna.says("fuel")
    await shows(anna, card, "Changed, no.")
    assert (await newest(house)).category_id == 102
    assert house.lossy.seen[UPDATE] == 1


async def test_an_unknown_category_leaves_the_words(house: OpenHouse) -> None:
    """A #word alone is no new description: what was bought stays known while the category is asked."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    await anna.replies(to=card, text="#nonsense")
    asked = await shows(anna, card, "I know no category")
    assert "✏️ taxi\n" in asked.text
    await anna.says("fuel")
    await shows(anna, card, "Changed, no.")
    assert (await newest(house)).description == "taxi"
    await anna.replies(to=card, text="#other")
    asked = await shows(anna, card, "I know no category called “other”")
    assert "Changed, no." not in asked.text


async def test_a_change_that_comes_during_the_call_is_told(house: OpenHouse) -> None:
    """The message is changed while its entry is being saved: that this changed nothing is said."""
    anna = await house.linked("anna")
    said = await anna.says("450 taxi @office")
    card = await anna.card(containing="not saved yet")
    answering = house.lossy.hold(CREATE)
    anna.taps("Save")
    await shows(anna, card, "Saving")
    await anna.edits(said, "470 taxi @office")
    await anna.card(containing="this change was not made")
    answering.set()
    await shows(anna, card, "Saved, no.")
    await anna.replies(to=card, text="470")
    await shows(anna, card, "Changed, no.")
    assert (await newest(house)).sum == 470


async def test_a_reply_changes_a_draft(house: OpenHouse) -> None:
    """Before it is saved, a reply changes the draft alone."""
    anna = await house.linked("anna")
    await anna.says("450 taxi @office")
    card = await anna.card(containing="not saved yet")
    await anna.replies(to=card, text="500 usd")
    await shows(anna, card, "You have no cashbox in USD. Write the sum in another currency: EUR, RUB.")
    await anna.replies(to=card, text="500 rub @petty yesterday")
    draft = await shows(anna, card, "not saved yet")
    assert "Rouble petty cash" in draft.text
    assert "today" not in draft.text
    assert house.lossy.seen[UPDATE] == 0


async def test_changing_the_message_changes_the_draft(house: OpenHouse) -> None:
    """The draft follows its message; what was chosen for it stays."""
    anna = await house.linked("anna")
    said = await anna.says("450 taxi")
    card = await anna.card(containing="Which cashbox")
    await anna.presses("Site card")
    await shows(anna, card, "not saved yet")
    await anna.edits(said, "470 taxi yesterday")
    draft = await shows(anna, card, "€470")
    assert "Site card" in draft.text
    assert "today" not in draft.text
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert ((await newest(house)).sum, (await newest(house)).cashbox_id) == (470, 3)


async def test_changing_the_message_changes_the_saved_entry(house: OpenHouse) -> None:
    """One update by id, no second entry; an unchanged text changes nothing."""
    anna = await house.linked("anna")
    said = await anna.says("450 taxi @office")
    card = await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    total = await count(house)
    await anna.edits(said, "480 taxi to the station @office")
    await shows(anna, card, "Changed, no.")
    changed = await newest(house)
    assert (changed.sum, changed.description) == (480, "taxi to the station")
    assert await count(house) == total
    await anna.edits(said, "nothing of money")
    await anna.card(containing="I see no sum in the changed message")
    assert house.lossy.seen[UPDATE] == 1


async def test_a_lost_update_is_found_again(house: OpenHouse) -> None:
    """The answer is lost after the change: it is read back, and made once."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    house.lossy.lose(UPDATE)
    await anna.replies(to=card, text="500")
    await anna.waits(lambda chat: "Changed, no." in chat.message(card.id).text)
    assert house.lossy.seen[UPDATE] == 1
    assert (await newest(house)).sum == 500


async def test_undo_leaves_a_draft_that_can_be_saved_again(house: OpenHouse) -> None:
    """Undo, a correction of the draft, Save: one entry in the end, the corrected one."""
    anna = await house.linked("anna")
    total = await count(house)
    card = await saved(anna, "450 taxi @office")
    await anna.presses("Undo")
    await shows(anna, card, "Undone")
    assert await count(house) == total
    await anna.replies(to=card, text="300")
    await shows(anna, card, "€300")
    await anna.presses("Save")
    await shows(anna, card, "Saved, no.")
    assert await count(house) == total + 1
    assert (await newest(house)).sum == 300


async def test_what_was_deleted_elsewhere_is_told(house: OpenHouse) -> None:
    """Undo of an entry that is gone says so, deletes nothing, and leaves the draft."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    number = (await newest(house)).id
    assert number is not None
    await house.owner.fintransaction.transaction.delete(ids=[number], type="out")
    deleted = house.lossy.seen[DELETE]
    await anna.presses("Undo")
    draft = await shows(anna, card, "It was deleted in the workspace meanwhile")
    assert draft.buttons[0] == ("Save",)
    assert house.lossy.seen[DELETE] == deleted


async def test_a_closed_day_is_refused_in_words(house: OpenHouse) -> None:
    """Entries, changes and Undo up to the closed day are refused; a draft asks for another day."""
    anna = await house.linked("anna")
    card = await saved(anna, "450 taxi @office")
    today = house.desk.house.clock().date().isoformat()
    note(house, lambda connection: facts.put(connection, "closed_until", today, 0.0))
    answer = await anna.presses("Undo")
    assert "The books are closed up to" in answer.text
    await anna.replies(to=card, text="500")
    await anna.card(containing="This entry stays as it is")
    assert (house.lossy.seen[UPDATE], house.lossy.seen[DELETE]) == (0, 0)
    await anna.says("20 taxi @office yesterday")
    asked = await anna.card(containing="Which day does it count on?")
    assert "The books are closed up to" in asked.text
    assert asked.buttons == (("Cancel",),)
    assert len([t for t in await entries(house) if t.sum == 20]) == 0


async def test_one_closed_day_leaves_the_next_open(house: OpenHouse) -> None:
    """The books are closed up to yesterday: today can be chosen, yesterday is not offered."""
    anna = await house.linked("anna")
    note(house, lambda connection: facts.put(connection, "closed_until", _yesterday(house), 0.0))
    await anna.says("20 taxi @office yesterday")
    asked = await anna.card(containing="Which day does it count on?")
    assert asked.buttons == (("Today",), ("Cancel",))
    await anna.presses("Today")
    await shows(anna, asked, "not saved yet")


def _updated(house: OpenHouse, times: int, _chat: PersonChat) -> bool:
    return house.lossy.seen[UPDATE] == times


def _yesterday(house: OpenHouse) -> str:
    return (house.desk.house.clock().date() - timedelta(days=1)).isoformat()
