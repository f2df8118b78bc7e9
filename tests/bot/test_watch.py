"""What is pushed, and when: quiet hours, news on one card, and what waits too long going one level up."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, text

from bot import preferences
from bot.sandbox import PersonChat
from tests.bot.house import OpenHouse, hosted, open_house
from tests.bot.test_requests_inbox import tap

LIST = "/finplan/api/request/list"


async def asked(house: OpenHouse, *names: str) -> None:
    """Boris asks for money: each waits for Anna."""
    for name in names:
        await house.as_user("boris").finplan.request.save(
            author_block_id=100, finplan="2026-11-01", name=name, problem="Needed", sum=340, type=130
        )


async def quiet_now(house: OpenHouse, user: str, hours: tuple[int, int] = (-1, 1)) -> None:
    """Quiet hours around this moment; they end when they are dropped."""
    now = datetime.now(UTC)
    window = [f"{now + timedelta(hours=hour):%H:%M}" for hour in hours]
    await house.desk.db.write(lambda connection: preferences.put(connection, user, "quiet", window))


async def polled(house: OpenHouse) -> None:
    """Two polls after each other, so that what the first one found has been followed."""
    await house.assistant.watch.poll()
    await house.assistant.watch.poll()


async def paused(house: OpenHouse, user: str = "anna") -> PersonChat:
    """A linked person; the test polls by itself."""
    chat = await house.linked(user)
    await polled(house)
    house.assistant.polls.pause()
    return chat


def pushed(chat: PersonChat) -> list[str]:
    return [message.text for message in chat.messages if "wait" in message.text and "🔔" in message.text]


async def test_in_quiet_hours_nothing_comes_and_afterwards_it_does(house: OpenHouse) -> None:
    """What is asked for in quiet hours is pushed when they are over, once."""
    anna = await paused(house)
    await quiet_now(house, "anna")
    await asked(house, "A new drill")
    await polled(house)
    assert pushed(anna) == []
    await house.desk.db.write(lambda connection: preferences.drop(connection, "anna", "quiet"))
    await polled(house)
    await anna.card(containing="A new drill")
    await polled(house)
    assert len(pushed(anna)) == 1


async def test_quiet_hours_are_those_of_the_persons_zone(house: OpenHouse) -> None:
    """The same hours in UTC are no quiet hours for somebody on the other side of the world."""
    anna = await paused(house)
    await quiet_now(house, "anna")
    zone = text("UPDATE people SET zone = 'Pacific/Auckland' WHERE user_id = 'anna'")
    await house.desk.db.write(lambda connection: connection.execute(zone).rowcount)
    await asked(house, "A new drill")
    await polled(house)
    await anna.card(containing="A new drill")


async def test_what_was_decided_in_quiet_hours_never_comes(house: OpenHouse) -> None:
    """It does not wait any more when the quiet hours are over."""
    anna = await paused(house)
    await quiet_now(house, "anna")
    await asked(house, "A new drill")
    await polled(house)
    number = max(request.id or 0 for request in await house.requests())
    await house.as_user("anna").finplan.request.review(request_ids=[number], review_type="accept", block_id=10)
    await house.desk.db.write(lambda connection: preferences.drop(connection, "anna", "quiet"))
    await polled(house)
    assert pushed(anna) == []


async def test_more_than_three_come_as_one_card(house: OpenHouse) -> None:
    """Four at once are one card with their names; Show leads to the first of them."""
    anna = await paused(house)
    await asked(house, "Drill one", "Drill two", "Drill three", "Drill four")
    await polled(house)
    card = await anna.card(containing="4 requests wait for you")
    assert "Drill one · €340" in card.text
    assert card.buttons == (("Show",),)
    assert len(pushed(anna)) == 1
    await anna.presses("Show")
    await anna.card(containing="6 of 9")
    assert "Drill one" in anna.message(card.id).text


async def test_who_wants_them_together_gets_one_card_that_grows(house: OpenHouse) -> None:
    """With `batch`, the next one joins the card that nobody has opened yet."""
    anna = await paused(house)
    await house.desk.db.write(lambda connection: preferences.put(connection, "anna", "batch", True))
    await asked(house, "Drill one")
    await polled(house)
    card = await anna.card(containing="1 request waits for you")
    await asked(house, "Drill two")
    await polled(house)
    await anna.waits(lambda chat: "2 requests wait for you" in chat.message(card.id).text)
    await anna.presses("Show")
    await anna.card(containing="6 of 7")
    await asked(house, "Drill three")
    await polled(house)
    await anna.card(containing="1 request waits for you")


async def test_a_quiet_poll_costs_one_reading_for_all(house: OpenHouse) -> None:
    """Nothing has moved: one reading with the service key, none with anybody's own."""
    await house.linked("marina")
    await paused(house)
    before = house.lossy.seen[LIST]
    await house.assistant.watch.poll()
    each = 1 if house.keeps_data else 2  # a hosted workspace answers nothing before the periods are named
    assert house.lossy.seen[LIST] == before + each


async def test_what_waits_too_long_goes_up_one_level_once(house: OpenHouse) -> None:
    """Helen stands above Anna, Peter and Gregory: she is told of what they let wait, in one notice, once."""
    helen = await paused(house, "helen")
    notice = await helen.card(containing="one level below you")
    assert re.search(r"Raised floor .* — Anna Bennett, [345] working days", notice.text)
    await polled(house)
    assert sum("one level below you" in message.text for message in helen.messages) == 1


async def test_nobody_is_told_of_what_has_not_waited_long(tmp_path: Path) -> None:
    """With ten working days nothing of the sample is late; with quiet hours the notice comes afterwards."""
    async with open_house(tmp_path, escalate_days=10, profile=hosted()) as house:
        helen = await paused(house, "helen")
        assert not [message for message in helen.messages if "one level below you" in message.text]


async def test_a_notice_waits_for_the_end_of_quiet_hours(house: OpenHouse) -> None:
    """Victor is told of what waits one level below him, when his quiet hours are over."""
    await quiet_now(house, "victor")
    victor = await paused(house, "victor")
    assert not [message for message in victor.messages if "one level below you" in message.text]

    def later(connection: Connection) -> None:
        preferences.drop(connection, "victor", "quiet")

    await house.desk.db.write(later)
    await polled(house)
    await victor.card(containing="one level below you")


async def test_a_long_list_goes_page_by_page(house: OpenHouse) -> None:
    """Eight wait: six on the first page, two on the second, and Choose all means both."""
    anna = await paused(house)
    await asked(house, "Drill one", "Drill two", "Drill three")
    await anna.says("/requests")
    await anna.card(containing="1 of 8")
    for label in ("More", "Approve several"):
        await tap(anna, label)
    first = await anna.card(containing="0 of 8 chosen")
    assert first.buttons[6] == ("‹", "1 / 2", "›")
    await anna.presses("›")
    await anna.waits(lambda chat: ("‹", "2 / 2", "›") in chat.buttons)
    assert [row[0] for row in anna.buttons[:2]] == ["▫️ €340 · Drill two", "▫️ €340 · Drill three"]
    await anna.presses("Choose all")
    await anna.card(containing="8 of 8 chosen")
