"""The author is told of each decision, once, and not of what they did or saw themselves."""

from pathlib import Path

from bot import followed, people, preferences
from bot.assistant import Locks
from bot.authors import Authors
from bot.periods import requests_of
from bot.sandbox import PersonChat
from tests.bot.authoring import last, sees, watched, written
from tests.bot.house import OpenHouse, open_house


async def told(chat: PersonChat, words: str) -> int:
    """How many of the bot's messages have these words, once all that was to be said before has been said."""
    await chat.says("/nothing")
    await sees(chat, "I do not know /nothing")
    return len([message for message in chat.messages if message.from_bot and words in message.text])


async def accept(house: OpenHouse, number: int, user_id: str, block: int) -> None:
    """This person approves the request, elsewhere than in chat."""
    await house.as_user(user_id).finplan.request.review(request_ids=[number], review_type="accept", block_id=block)


async def test_approved_by_whom_and_who_is_next(house: OpenHouse) -> None:
    """A message with both names and a way to the card."""
    boris = await watched(house)
    await accept(house, 1, "anna", 10)
    notice = await sees(boris, "Approved by Anna Bennett", "Open")
    assert "Raised floor for Halden office, fourth floor · €12,400" in notice.text
    assert "Next: Helen Ashworth" in notice.text
    await boris.presses("Open")
    assert (await sees(boris, "Approval", "‹ My requests")).id == notice.id


async def test_rejected_with_the_reason(house: OpenHouse) -> None:
    """The reason stands in the message, as it was written."""
    boris = await watched(house)
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="reject", block_id=10, reject_text="No <money> & no time"
    )
    notice = await sees(boris, "Rejected by Anna Bennett")
    assert "No <money> & no time" in notice.text


async def test_returned_with_the_note(house: OpenHouse) -> None:
    """The note, and what is to be done; the card behind it offers to submit again."""
    boris = await watched(house)
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="progress", block_id=10, reject_text="Which floor?"
    )
    notice = await sees(boris, "Returned to work by Anna Bennett")
    assert "Which floor?" in notice.text
    assert "Change it and submit it again." in notice.text
    await boris.presses("Open")
    await sees(boris, "returned to work", "Submit again")


async def test_finally_approved_paid_in_part_and_paid(house: OpenHouse) -> None:
    """Each step to the money is told, with what is left."""
    boris = await watched(house)
    await house.as_user("marina").finplan.request.review(request_ids=[9], review_type="accept_final", block_id=4)
    assert "It waits for payment now." in (await sees(boris, "Finally approved by Marina Holt")).text
    await house.as_user("marina").finplan.request.pay(id=9, request_id=9, payment_sum=8000)
    notice = await sees(boris, "Paid by Marina Holt: €8,000")
    assert "Left to pay: €10,700" in notice.text
    await house.as_user("marina").finplan.request.pay(id=9, request_id=9, full_payment=True)
    assert "It is paid in full." in (await sees(boris, "Paid by Marina Holt: €10,700")).text


async def test_each_thing_is_told_once(house: OpenHouse) -> None:
    """Polls after the message say nothing more."""
    boris = await watched(house)
    await accept(house, 1, "anna", 10)
    await sees(boris, "Approved by Anna Bennett")
    for _ in range(3):
        await house.assistant.watch.poll()
    assert await told(boris, "Approved by Anna Bennett") == 1


async def test_first_sight_is_silent(house: OpenHouse) -> None:
    """What was decided before the bot knew the request is no news: Ventilation had Anna's approval already."""
    boris = await watched(house)
    await house.assistant.watch.poll()
    assert await told(boris, "Approved by") == 0


async def test_ones_own_doing_is_no_news(house: OpenHouse) -> None:
    """Boris saves his request elsewhere: he knows."""
    boris = await watched(house)
    await house.as_user("boris").finplan.request.save(id=1, problem="Cables lie open")
    await house.assistant.watch.poll()
    await house.assistant.watch.poll()
    with house.desk.db.read() as connection:
        assert followed.known(connection)[1]["history"] == 2
    assert await told(boris, "Changed by") == 0


async def test_what_ones_card_shows_is_no_news(house: OpenHouse) -> None:
    """Boris saw the approval on his card before the poll: no message."""
    boris = await watched(house)
    await boris.says("/myrequests")
    await sees(boris, "open requests", "Raised floor")
    await boris.presses("Raised floor")
    await sees(boris, "👉 Anna Bennett", "Refresh")
    house.assistant.polls.pause()
    await accept(house, 1, "anna", 10)
    await boris.presses("Refresh")
    await sees(boris, "👉 Helen Ashworth", "Refresh")
    await house.assistant.watch.poll()
    assert await told(boris, "Approved by Anna Bennett") == 0


async def test_the_live_card_follows(house: OpenHouse) -> None:
    """A card in the chat moves on by itself, beside the message."""
    boris = await watched(house)
    await boris.says("/myrequests")
    await sees(boris, "open requests", "Raised floor")
    await boris.presses("Raised floor")
    card = await sees(boris, "👉 Anna Bennett", "Refresh")
    await accept(house, 1, "anna", 10)
    await boris.waits(lambda chat: "👉 Helen Ashworth" in chat.message(card.id).text)
    await sees(boris, "Approved by Anna Bennett")


async def test_a_request_just_submitted_is_followed(house: OpenHouse) -> None:
    """Approved before any poll has seen it: the author is told all the same."""
    boris = await watched(house)
    await written(boris)
    house.assistant.polls.pause()
    await boris.presses("Submit")
    await sees(boris, "Submitted, no.")
    number = max(r.id or 0 for r in await house.requests())
    await accept(house, number, "anna", 10)
    await house.assistant.watch.poll()
    assert "Two laser levels" in (await sees(boris, "Approved by Anna Bennett")).text


async def test_quiet_hours_keep_it_for_later(house: OpenHouse) -> None:
    """Nothing is told in quiet hours, and nothing is lost: it comes after them."""
    boris = await watched(house)
    house.desk.db.write_now(lambda c: preferences.put(c, "boris", "quiet", ["00:00", "23:59:59.999999"]))
    await accept(house, 1, "anna", 10)
    await accept(house, 1, "helen", 2)
    await house.assistant.watch.poll()
    assert await told(boris, "Approved by") == 0
    house.desk.db.write_now(lambda c: preferences.drop(c, "boris", "quiet"))
    notice = await sees(boris, "Approved by Anna Bennett")
    assert "Approved by Helen Ashworth" in notice.text


async def test_an_older_reading_tells_nothing(house: OpenHouse) -> None:
    """A reading from before a decision that is known already does not take the author's knowledge back."""
    boris = await watched(house)
    house.assistant.polls.pause()
    old = {r.id: r for r in await requests_of(house.owner, house.desk.house.clock()) if r.id is not None}
    await accept(house, 1, "anna", 10)
    await house.assistant.watch.poll()
    await sees(boris, "Approved by Anna Bennett")
    with house.desk.db.read() as connection:
        linked = people.everyone(connection)
    await Authors(house.desk, Locks(), house.assistant.delivery.wake).follow(old, linked)
    await house.assistant.watch.poll()
    assert await told(boris, "Approved by Anna Bennett") == 1


async def test_in_russian(tmp_path: Path) -> None:
    """The same in Russian."""
    async with open_house(tmp_path, language="ru") as house:
        boris = house.chat("boris")
        await boris.starts(house.invite("boris"))
        await boris.presses((await boris.card()).buttons[0][0])
        await boris.waits(lambda chat: "✅" in chat.last.text)
        await house.assistant.watch.poll()
        await accept(house, 1, "anna", 10)
        await sees(boris, "Одобрено")
        assert "Дальше: " in last(boris).text
