"""Answers that are lost after the workspace has committed: found again, told in words, never done twice."""

from pathlib import Path

from sqlalchemy import text

from bot import intents
from tests.bot.house import OpenHouse, hosted, open_house

REVIEW = "/finplan/api/request/review"
CREATE = "/fintransaction/api/transaction/create"


async def accepted_by(house: OpenHouse, number: int) -> list[str | None]:
    found = await house.owner.finplan.request.list(finplans=["2026-11-01", "2026-12-01", "2026-10-01"])
    request = next(request for request in found if request.id == number)
    return [entry.author_id for entry in request.history or [] if entry.type == "accept"]


async def test_a_lost_review_is_found_again(house: OpenHouse) -> None:
    """The card says that it is being checked, then who approved and when; there is one review."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    house.lossy.lose(REVIEW)
    await anna.presses("Approve")
    await anna.waits(lambda chat: "has not confirmed it yet" in chat.message(card.id).text)
    await anna.waits(lambda chat: "Approved by you" in chat.message(card.id).text)
    assert house.lossy.seen[REVIEW] == 1
    assert await accepted_by(house, 1) == ["anna"]


async def test_a_lost_create_is_found_again(house: OpenHouse) -> None:
    """One entry, found by its operation id; the card shows its number and offers Undo."""
    anna = await house.linked("anna")
    count = await house.owner.fintransaction.transaction.get.total.count()
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="not saved yet")
    house.lossy.lose(CREATE)
    await anna.presses("Save")
    saved = await anna.card(containing="Saved, no.")
    assert saved.buttons == (("Undo",),)
    assert house.lossy.seen[CREATE] == 1
    assert await house.owner.fintransaction.transaction.get.total.count() == count + 1


async def test_a_lost_create_is_found_where_data_is_dropped(tmp_path: Path) -> None:
    """A hosted workspace drops `data`: the entry is found by all that it says."""
    async with open_house(tmp_path, profile=hosted()) as house:
        anna = await house.linked("anna")
        await anna.says("451 taxi")
        await anna.card(containing="Which cashbox")
        await anna.presses("Office petty cash")
        await anna.card(containing="not saved yet")
        house.lossy.lose(CREATE)
        await anna.presses("Save")
        await anna.card(containing="Saved, no.")
        found = [
            t for t in await house.owner.finance.transaction.list(type="out") if t.sum == 451 and t.user_id == "anna"
        ]
        assert len(found) == 1


async def test_decisions_on_a_hosted_workspace(tmp_path: Path) -> None:
    """Periods needed, no order in need_accept, profiles as a map: the same dialogue."""
    async with open_house(tmp_path, profile=hosted()) as house:
        anna = await house.linked("anna")
        await anna.says("/requests")
        assert "👉 you" in (await anna.card(containing="1 of 5")).text
        await anna.presses("Approve")
        await anna.card(containing="Approved by you")
        await anna.says("/tasks")
        await anna.card(containing="open task")


async def test_what_was_sent_when_the_process_died_is_unknown(house: OpenHouse) -> None:
    """An intent found `sending` at start-up is read back, not sent again."""
    anna = await house.linked("anna")
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="not saved yet")
    await anna.presses("Save")
    await anna.card(containing="Saved, no.")
    rewind = text("UPDATE intents SET state = 'sending'")
    house.desk.db.write_now(lambda connection: connection.execute(rewind).rowcount)
    found = house.desk.db.write_now(lambda connection: intents.interrupted(connection, house.desk.now()))
    assert found == 1
    house.assistant.operations.wake()
    await house.settled()
    assert house.lossy.seen[CREATE] == 1


async def test_a_workspace_that_is_away_is_told_in_words(house: OpenHouse) -> None:
    """Every answer lost: a sentence, and nothing changed."""
    anna = await house.linked("anna")
    house.lossy.lose("/finplan/api/request/list", 1000)
    await anna.says("/requests")
    await anna.card(containing="does not answer right now", timeout=40)


async def test_two_equal_expenses_are_not_taken_for_one(tmp_path: Path) -> None:
    """Where `data` is dropped, an entry that another card has saved is not claimed for a lost one."""
    async with open_house(tmp_path, profile=hosted()) as house:
        anna = await house.linked("anna")
        for _ in range(2):
            await anna.says("452 taxi")
            await anna.waits(lambda chat: "Which cashbox" in chat.last.text)
            await anna.presses("Office petty cash")
            await anna.waits(lambda chat: "not saved yet" in chat.last.text)
            house.lossy.lose(CREATE)
            await anna.presses("Save")
            await anna.waits(lambda chat: "Saved, no." in chat.last.text)
        saved = [message.text.split("\n")[0] for message in anna.messages if "Saved, no." in message.text]
        assert len(set(saved)) == 2
