"""/myrequests in chat: the list, a request's card with its live chain, and what its author may do with it."""

from pathlib import Path

from sqlalchemy import text

from bot import deputies, preferences
from tests.bot.authoring import COPY, REMOVE, SAVE, last, month_before, newest, request, sees, watched, written
from tests.bot.house import OpenHouse, hosted, open_house


async def opened(house: OpenHouse, name: str, user_id: str = "boris") -> None:
    """The card of one of the person's requests."""
    chat = await house.linked(user_id)
    await chat.says("/myrequests")
    await sees(chat, "open request", name)
    await chat.presses(name)
    await sees(chat, name, "‹ My requests")


async def test_the_list_and_a_card(house: OpenHouse) -> None:
    """My open requests with their standing; a card shows who has approved, who is next and since when."""
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    listed = await sees(boris, "You have 2 open requests")
    assert "Ventilation for Meridian law office, second stage · €18,700" in listed.text
    assert "waits for approval: Helen Ashworth" in listed.text
    await boris.presses("Ventilation")
    card = await sees(boris, "Ventilation", "‹ My requests")
    assert card.id == listed.id
    assert "✅ Anna Bennett" in card.text
    waiting = next(line for line in card.text.splitlines() if line.startswith("👉"))
    assert waiting.startswith("👉 Helen Ashworth · Chief Operating Officer · has waited")
    await boris.presses("‹ My requests")
    assert (await sees(boris, "You have 2 open requests")).id == listed.id


async def test_closed_ones_are_shown_on_demand(house: OpenHouse) -> None:
    """A rejected request is not among the open ones, and among all of them it is, with the reason."""
    boris = await watched(house)
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="reject", block_id=10, reject_text="Not this year"
    )
    await sees(boris, "Rejected by Anna Bennett")
    await boris.says("/myrequests")
    await sees(boris, "You have 1 open request")
    await boris.presses("Closed ones too")
    assert "rejected: Not this year" in (await sees(boris, "You have made 2 requests")).text


async def test_remind_once_a_day(house: OpenHouse) -> None:
    """Anna gets a message with the request's name, once; whoever is not linked cannot be reminded, and it is said."""
    anna = await house.linked("anna")
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    assert (await boris.presses("Remind")).text == "Reminded: Anna Bennett."
    told = await anna.card(containing="reminds you of")
    assert "Boris Clarke reminds you of “Raised floor for Halden office, fourth floor”, €12,400." in told.text
    assert (await boris.presses("Remind")).text == "You have reminded Anna Bennett today already."
    assert len([m for m in anna.messages if "reminds you" in m.text]) == 1


async def test_who_is_not_linked_cannot_be_reminded(house: OpenHouse) -> None:
    """The tap says so."""
    await opened(house, "Ventilation")
    tap = await house.chat("boris").presses("Remind")
    assert "Helen Ashworth: not linked to me" in (tap.text or "")


async def test_edit_says_what_a_changed_sum_means(house: OpenHouse) -> None:
    """Words keep the approvals, a changed sum starts the chain anew; the card says so before, the chain after."""
    await opened(house, "Ventilation")
    boris = house.chat("boris")
    await boris.presses("Edit")
    review = await sees(boris, "Change the request, then save it")
    assert "Approvals given so far stay" in review.text
    await boris.presses("Amount")
    await sees(boris, "How much is needed?")
    await boris.says("17000")
    assert "saving starts the approval anew" in (await sees(boris, "€17,000", "Save")).text
    await boris.presses("Save")
    card = await sees(boris, "Saved.")
    assert "👉 Anna Bennett" in card.text
    changed = await request(house, 9)
    assert (changed.sum, sorted(changed.need_accept or [])) == (17000, [1, 2, 4, 10])


async def test_an_edit_of_words_keeps_the_approvals(house: OpenHouse) -> None:
    """Only the solution changes; Anna's approval stays."""
    await opened(house, "Ventilation")
    boris = house.chat("boris")
    await boris.presses("Edit")
    await sees(boris, "Change the request, then save it")
    await boris.presses("Solution")
    await sees(boris, "What is the solution?")
    await boris.says("Two units instead of three")
    await sees(boris, "Two units instead of three", "Save")
    await boris.presses("Save")
    await sees(boris, "Saved.")
    changed = await request(house, 9)
    assert (changed.solution, sorted(changed.need_accept or [])) == ("Two units instead of three", [1, 2, 4])


async def test_a_request_that_changed_under_ones_hands(house: OpenHouse) -> None:
    """Anna approves while Boris edits: he is shown it again with his change kept, then saves."""
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    await boris.presses("Edit")
    await sees(boris, "Change the request, then save it")
    await boris.presses("Problem")
    await sees(boris, "What is the problem?")
    await boris.says("Cables lie open")
    await sees(boris, "Cables lie open", "Save")
    await house.as_user("anna").finplan.request.review(request_ids=[1], review_type="accept", block_id=10)
    form = last(boris)
    await boris.presses("Save", on=form)
    await boris.waits(lambda chat: "has changed meanwhile" in chat.message(form.id).text)
    assert "Cables lie open" in boris.message(form.id).text
    assert house.lossy.seen[SAVE] == 0
    await boris.presses("Save", on=boris.message(form.id))
    await boris.waits(lambda chat: "Saved." in chat.message(form.id).text)
    assert (await request(house, 1)).problem == "Cables lie open"


async def test_submit_again_after_a_return(house: OpenHouse) -> None:
    """Returned with a note: one tap sends it on its way again, and the chain starts anew."""
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="progress", block_id=10, reject_text="Which floor?"
    )
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    assert "returned to work: change it and submit it again" in last(boris).text
    await boris.presses("Submit again")
    assert "👉 Anna Bennett" in (await sees(boris, "Saved.")).text
    assert sorted((await request(house, 1)).need_accept or []) == [1, 2, 4, 10]


async def test_a_stale_button_says_how_it_stands(house: OpenHouse) -> None:
    """Accepted meanwhile: Edit says that it is not possible any more."""
    await opened(house, "Ventilation")
    boris = house.chat("boris")
    house.assistant.polls.pause()
    card = last(boris)
    for user, block in (("helen", 2), ("victor", 1)):
        await house.as_user(user).finplan.request.review(request_ids=[9], review_type="accept", block_id=block)
    await house.as_user("marina").finplan.request.review(request_ids=[9], review_type="accept_final", block_id=4)
    tap = await boris.presses("Edit", on=card)
    assert tap.text == "This is not possible any more. Now: ✅ approved, waits for payment."
    shown = await sees(boris, "approved, waits for payment")
    assert "Edit" not in str(shown.buttons)


async def test_remove_asks_first(house: OpenHouse) -> None:
    """Back keeps it, Yes removes it; a lost answer is read back."""
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    await boris.presses("Remove")
    await sees(boris, "Remove this request?")
    await boris.presses("‹ Back")
    await sees(boris, "Raised floor", "Remove")
    await boris.presses("Remove")
    await sees(boris, "Remove this request?")
    house.lossy.lose(REMOVE)
    await boris.presses("Yes, remove it")
    await sees(boris, "Removed: #1")
    assert house.lossy.seen[REMOVE] == 1
    assert 1 not in [r.id for r in await house.requests()]


async def test_a_lost_save_is_found_again(house: OpenHouse) -> None:
    """The answer to an edit is lost: read back, sent once."""
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    await boris.presses("Edit")
    await sees(boris, "Change the request, then save it")
    await boris.presses("Amount")
    await sees(boris, "How much is needed?")
    await boris.says("12000")
    await sees(boris, "€12,000", "Save")
    house.lossy.lose(SAVE)
    await boris.presses("Save")
    await sees(boris, "Saved.")
    assert house.lossy.seen[SAVE] == 1
    assert (await request(house, 1)).sum == 12000


async def test_a_copy_into_another_month(house: OpenHouse) -> None:
    """One request into the next month, as a request of its own."""
    await opened(house, "Raised floor")
    boris = house.chat("boris")
    await boris.presses("Copy into another month")
    await sees(boris, "Into which month is it copied?")
    await boris.presses(last(boris).buttons[1][0])
    done = await sees(boris, "copied, no.", "‹ My requests")
    copy = await newest(house)
    assert f"copied, no. {copy.id}" in done.text
    assert (copy.author_id, copy.name) == ("boris", "Raised floor for Halden office, fourth floor")
    assert copy.finplan != (await request(house, 1)).finplan


async def last_month(house: OpenHouse) -> None:
    """Boris's two requests are moved to the month before."""
    back = text(f"UPDATE requests SET finplan = '{month_before(house)}' WHERE id IN (1, 9)")
    house.server.write_now(lambda connection: connection.execute(back).rowcount)


async def test_last_months_into_this(house: OpenHouse) -> None:
    """Check marks choose; each is a call of its own with a line of its own; a lost answer is found again."""
    await last_month(house)
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    await sees(boris, "You have 2 open requests")
    await boris.presses("Copy last month's")
    await sees(boris, "The checked ones are copied", "Copy 2 requests")
    await boris.presses("☑ Raised floor")
    await sees(boris, "The checked ones", "Copy 1 request")
    await boris.presses("All")
    await sees(boris, "The checked ones", "Copy 2 requests")
    house.lossy.lose(COPY)
    await boris.presses("Copy 2 requests")
    done = await sees(boris, "Copying into", "‹ My requests")
    assert done.text.count("copied, no.") == 2
    assert house.lossy.seen[COPY] == 2
    copies = [r for r in await house.requests() if any(e.type == "copy" for e in r.history or [])]
    assert sorted(e.text or "" for r in copies for e in r.history or [] if e.type == "copy") == ["#1", "#9"]
    await boris.presses("‹ My requests")
    await sees(boris, "You have 4 open requests")
    await boris.presses("Copy last month's")
    again = await sees(boris, "The checked ones", "‹ My requests")
    assert "copied already" in str(again.buttons)
    assert "Copy 2" not in str(again.buttons)


async def test_a_refused_copy_does_not_stop_the_others(house: OpenHouse) -> None:
    """The category of one is archived: its line says why, the other is copied."""
    await last_month(house)
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    await sees(boris, "open requests")
    await boris.presses("Copy last month's")
    await sees(boris, "The checked ones", "Copy 2 requests")
    gone = text("UPDATE requests SET type = 104 WHERE id = 9")
    house.server.write_now(lambda connection: connection.execute(gone).rowcount)
    await house.owner.fintransaction.category.archive(id=104)
    await boris.presses("Copy 2 requests")
    done = await sees(boris, "Copying into", "Try 1 again")
    assert done.text.count("copied, no.") == 1
    assert "refused:" in done.text


async def test_who_stands_in_is_reminded(house: OpenHouse) -> None:
    """Anna is on leave and Helen stands in: Helen gets the message, and reads for whom."""
    anna, helen = await house.linked("anna"), await house.linked("helen")
    today = deputies.today(house.desk)
    house.desk.db.write_now(lambda c: deputies.begin(c, "anna", "helen", today, today, house.desk.now()))
    await opened(house, "Raised floor")
    assert (await house.chat("boris").presses("Remind")).text == "Reminded: Helen Ashworth."
    assert "for Anna Bennett, on leave until" in (await helen.card(containing="reminds you of")).text
    assert not [message for message in anna.messages if "reminds you of" in message.text]


async def test_quiet_hours_are_kept(house: OpenHouse) -> None:
    """Who has quiet hours is not disturbed, and the author is told to try later."""
    anna = await house.linked("anna")
    house.desk.db.write_now(lambda c: preferences.put(c, "anna", "quiet", ["00:00", "23:59:59.999999"]))
    await opened(house, "Raised floor")
    assert "quiet hours now" in ((await house.chat("boris").presses("Remind")).text or "")
    assert not [message for message in anna.messages if "reminds you of" in message.text]


async def test_without_a_key_nothing_is_asked_for(house: OpenHouse) -> None:
    """A request is its author's own act: without an own key /request is refused in words."""
    boris = await house.linked("boris", key=False)
    await boris.says("/request 100 lamps")
    await sees(boris, "no key of yours")


async def test_without_a_key_one_may_look_where_that_is_allowed(tmp_path: Path) -> None:
    """WORKSPACE_ACT_AS=see: one's own requests are shown, and nothing can be done with them but to remind."""
    async with open_house(tmp_path, profile=hosted(), act_as="see") as house:
        boris = await house.linked("boris", key=False)
        await boris.says("/myrequests")
        await sees(boris, "You have 2 open requests", "Raised floor")
        await boris.presses("Raised floor")
        card = await sees(boris, "👉 Anna Bennett", "Remind")
        assert card.buttons == (("Remind",), ("‹ My requests", "Refresh"))


async def test_in_russian(tmp_path: Path) -> None:
    """The form and the card in Russian."""
    async with open_house(tmp_path, language="ru") as house:
        boris = house.chat("boris")
        await boris.starts(house.invite("boris"))
        await boris.presses((await boris.card()).buttons[0][0])
        await boris.waits(lambda chat: "✅" in chat.last.text)
        await boris.says("/request 12000 фальшпол")
        assert "Фальшпол" in (await sees(boris, "Какая это категория?")).text
        await boris.says("/myrequests")
        await sees(boris, "У вас 2 открытые заявки")


async def test_one_card_after_the_submission(house: OpenHouse) -> None:
    """What was submitted stands in the list at once, first."""
    boris = await house.linked("boris")
    await written(boris)
    await boris.presses("Submit")
    await sees(boris, "Submitted, no.", "‹ My requests")
    await boris.presses("‹ My requests")
    listed = await sees(boris, "You have 3 open requests")
    assert listed.buttons[0] == ("Two laser levels",)
