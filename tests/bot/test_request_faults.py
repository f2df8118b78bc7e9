"""Requests of one's own under faults: lost answers, late arrivals, double taps, a process that died in the middle."""

import asyncio
from pathlib import Path

from sqlalchemy import text

from bot import intents
from bot.periods import months
from bot.sandbox import PersonChat
from tests.bot.authoring import COPY, LIST, SAVE, last, month_before, newest, sees, written
from tests.bot.house import OpenHouse, open_house


def change(house: OpenHouse, statement: str, *, server: bool = False) -> int:
    """Changes rows of the bot's database, or of the workspace's."""
    database = house.server if server else house.desk.db
    return database.write_now(lambda connection: connection.execute(text(statement)).rowcount)


async def test_a_double_tap_submits_once(house: OpenHouse) -> None:
    """Two taps on Submit before the first is handled make one request."""
    boris = await house.linked("boris")
    count = len(await house.requests())
    await written(boris)
    await asyncio.gather(boris.presses("Submit"), boris.presses("Submit"))
    await sees(boris, "Submitted, no.")
    assert house.lossy.seen[SAVE] == 1
    assert len(await house.requests()) == count + 1


async def given_up(house: OpenHouse) -> PersonChat:
    """Boris's request was not seen for as long as it was looked for; by now it is there."""
    boris = await house.linked("boris")
    await written(boris)
    house.lossy.lose(SAVE)
    await boris.presses("Submit")
    await sees(boris, "has not confirmed it yet")
    # The workspace shows it to nobody yet, and this is the last look.
    hide = "UPDATE requests SET removal_date = '2026-11-21 00:00:00' WHERE name = 'Two laser levels'"
    change(house, hide, server=True)
    change(house, f"UPDATE intents SET checks = {len(intents.CHECKS)}, due_at = 0 WHERE state = 'unknown'")
    house.assistant.operations.wake()
    await sees(boris, "It was not seen in the workspace.", "Submit")
    change(house, "UPDATE requests SET removal_date = NULL WHERE name = 'Two laser levels'", server=True)
    return boris


async def test_what_arrives_late_is_not_submitted_twice(house: OpenHouse) -> None:
    """Given up as not seen, then it is there: Submit finds it in place of making another."""
    count = len(await house.requests())
    boris = await given_up(house)
    await boris.presses("Submit")
    await sees(boris, "had arrived after all", "‹ My requests")
    assert house.lossy.seen[SAVE] == 1
    assert len(await house.requests()) == count + 1


async def test_what_arrives_late_is_changed_as_the_draft_was(house: OpenHouse) -> None:
    """The sum was changed after the first try was given up: Submit leads to a change of that one."""
    count = len(await house.requests())
    boris = await given_up(house)
    await boris.presses("Amount")
    await sees(boris, "How much is needed?")
    await boris.says("1400")
    await sees(boris, "€1,400", "Submit")
    await boris.presses("Submit")
    await sees(boris, "had arrived after all", "Save")
    await boris.presses("Save")
    await sees(boris, "Saved.", "‹ My requests")
    assert (await newest(house)).sum == 1400
    assert len(await house.requests()) == count + 1


async def test_a_draft_of_a_month_that_is_over_asks_for_another(house: OpenHouse) -> None:
    """Put aside in one month and taken up in the next."""
    boris = await house.linked("boris")
    await written(boris)
    await boris.presses("Later")
    await sees(boris, "Put aside", "Go on")
    this, before = months(house.desk.house.clock(), 1, 0)[::-1]
    assert change(house, f"UPDATE cards SET state = replace(state, '{this}', '{before}') WHERE subject = 'draft'") == 1
    await boris.presses("Go on")
    await sees(boris, "For which month?")


async def test_a_submission_that_was_being_sent_when_the_process_died(house: OpenHouse) -> None:
    """Found `sending` at start-up: read back, not sent again; another card's request is not claimed."""
    boris = await house.linked("boris")
    await written(boris)
    await boris.presses("Submit")
    done = await sees(boris, "Submitted, no.")
    assert change(house, "UPDATE intents SET state = 'sending'") == 1
    assert house.desk.db.write_now(lambda connection: intents.interrupted(connection, house.desk.now())) == 1
    house.assistant.operations.wake()
    await house.settled()
    assert house.lossy.seen[SAVE] == 1
    assert "Submitted, no." in boris.message(done.id).text


async def last_month(house: OpenHouse) -> PersonChat:
    """Boris's two requests are moved to the month before; he stands before the check marks."""
    change(house, f"UPDATE requests SET finplan = '{month_before(house)}' WHERE id IN (1, 9)", server=True)
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    await sees(boris, "open requests")
    await boris.presses("Copy last month's")
    await sees(boris, "The checked ones", "Copy 2 requests")
    return boris


async def test_copies_whose_answers_are_all_lost(house: OpenHouse) -> None:
    """Both answers lost: both copies found by their history, each made once."""
    boris = await last_month(house)
    house.lossy.lose(COPY, 2)
    await boris.presses("Copy 2 requests")
    done = await sees(boris, "Copying into", "‹ My requests")
    assert done.text.count("copied, no.") == 2
    assert house.lossy.seen[COPY] == 2


async def test_copies_go_on_after_a_crash(house: OpenHouse) -> None:
    """The process died while both were being sent: they are read back, the lines are complete, nothing twice."""
    boris = await last_month(house)
    await boris.presses("Copy 2 requests")
    await sees(boris, "Copying into", "‹ My requests")
    made = len(await house.requests())
    assert change(house, "UPDATE intents SET state = 'sending'") == 2
    assert house.desk.db.write_now(lambda connection: intents.interrupted(connection, house.desk.now())) == 2
    house.assistant.operations.wake()
    await house.settled()
    assert last(boris).text.count("copied, no.") == 2
    assert house.lossy.seen[COPY] == 2
    assert len(await house.requests()) == made


async def test_a_request_that_cannot_be_shown_yet_does_not_free_its_draft(house: OpenHouse) -> None:
    """It is made, but the workspace cannot be read now: the card says so, and the draft is no draft any more."""
    boris = await house.linked("boris")
    await written(boris)
    house.assistant.polls.pause()
    answer = house.lossy.hold(SAVE)
    await boris.presses("Submit")
    await sees(boris, "Submitting …")
    house.lossy.garble(LIST, 1000)
    answer.set()
    await sees(boris, "Submitted, no.", "Open", timeout=40)
    house.lossy.heals()
    await boris.presses("Open")
    await sees(boris, "👉 Anna Bennett", "‹ My requests")
    await boris.says("/request")
    await sees(boris, "What is it for?")
    assert house.lossy.seen[SAVE] == 1


async def test_several_positions_are_asked_for(house: OpenHouse) -> None:
    """Who holds two positions says in whose name; the categories are those of the chosen one."""
    await house.owner.orgschema.worker.save(user_id="boris", block_id=210, is_primary=False)
    boris = await house.linked("boris")
    await boris.says("/request 700 posters")
    await sees(boris, "In the name of which position do you ask?")
    await boris.presses("Marketing Specialist")
    await sees(boris, "Which category is it?", "Marketing ›")
    await boris.says("advertising")
    await sees(boris, "Which category is it?", "All categories")
    await boris.presses("Marketing › Advertising")
    await sees(boris, "For which month?")
    await boris.presses(last(boris).buttons[0][0])
    for question in ("What is the problem?", "What is the solution?", "Why is it worth the money?"):
        await sees(boris, question)
        await boris.says("Because")
    review = await sees(boris, "not submitted yet", "Submit")
    assert "Marketing Specialist" in review.text
    await boris.presses("Submit")
    await sees(boris, "Submitted, no.")
    made = await newest(house)
    assert (made.author_block_id, made.type) == (210, 151)


async def test_files_are_counted_with_a_link(tmp_path: Path) -> None:
    """Files have no documented shape: their count, and where to open them."""
    async with open_house(tmp_path, web_url="https://workspace.example/finplan") as house:
        change(house, """UPDATE requests SET files = '[{"a": 1}, "b"]' WHERE id = 1""", server=True)
        boris = await house.linked("boris")
        await boris.says("/myrequests")
        await sees(boris, "open requests", "Raised floor")
        await boris.presses("Raised floor")
        card = await sees(boris, "2 files", "‹ My requests")
        assert 'href="https://workspace.example/finplan"' in card.html
