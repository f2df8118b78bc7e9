"""Leave in chat: who stands in, what the deputy gets, and what is told where the rights do not reach."""

from bot import audit, deputies, people
from bot.sandbox import PersonChat
from tests.bot.house import OpenHouse
from tests.bot.test_requests import reviewers
from tests.bot.test_requests_inbox import tap
from tests.bot.test_watch import asked, polled, pushed


async def both(house: OpenHouse, away: str = "anna", deputy: str = "marina") -> tuple[PersonChat, PersonChat]:
    """Two linked people; the test polls by itself."""
    chats = await house.linked(away), await house.linked(deputy)
    await polled(house)
    house.assistant.polls.pause()
    return chats


async def goes(chat: PersonChat, deputy: str, days: str = "Two weeks") -> None:
    """The whole way to a leave."""
    await chat.says("/vacation")
    await chat.card(containing="Who decides for you")
    await tap(chat, deputy)
    await chat.card(containing="From when until when?")
    await tap(chat, days)
    await tap(chat, "Yes, so be it")
    await chat.card(containing="has been told")


async def test_the_deputy_gets_what_waits_and_decides_in_both_names(house: OpenHouse) -> None:
    """Marina may accept finally: Anna's five come as one card; both names stand on the card and in the audit."""
    anna, marina = await both(house)
    await goes(anna, "Marina Holt")
    told = await marina.card(containing="You stand in for Anna Bennett")
    assert "You decide with your own key" in told.text
    await polled(house)
    await marina.card(containing="5 requests wait for you")
    await tap(marina, "Show")
    card = await marina.card(containing="for Anna Bennett, on leave until")
    assert "Raised floor" in card.text
    assert card.buttons[0] == ("Final approve",)
    await tap(marina, "Final approve")
    done = await marina.card(containing="Finally approved by you")
    assert "as the deputy of Anna Bennett" in done.text
    assert await reviewers(house, 1, "accept_final") == ["marina"]
    with house.desk.db.read() as connection:
        lines = audit.entries(connection, ["request:1"])
    deputised = next(line for line in lines if line.act == "deputy")
    assert (deputised.user_id, deputised.after["for"]) == ("marina", "anna")
    call = next(line for line in lines if line.act == "asked")
    assert call.before["deputy_for"] == "anna"


async def test_who_is_away_is_left_in_peace_until_they_are_back(house: OpenHouse) -> None:
    """A request that comes during the leave goes to the deputy alone; the absent one gets it when they are back."""
    anna, marina = await both(house)
    await goes(anna, "Marina Holt", "This week")
    await polled(house)
    await marina.card(containing="5 requests wait for you")
    await asked(house, "A new drill")
    await polled(house)
    card = await marina.card(containing="A new drill")
    assert "for Anna Bennett, on leave until" in card.text
    assert pushed(anna) == []
    await anna.says("/vacation")
    await anna.card(containing="Marina Holt decides for you")
    await tap(anna, "I am back")
    await anna.card(containing="Welcome back")
    await marina.card(containing="You do not stand in any more")
    await polled(house)
    await anna.card(containing="A new drill")
    await asked(house, "Another drill")
    await polled(house)
    await anna.card(containing="Another drill")
    assert not any("Another drill" in message.text for message in marina.messages)


async def test_where_the_rights_do_not_reach_both_are_told(house: OpenHouse) -> None:
    """Pauline holds no block of the chain: it is said at the naming, and both get a notice for a new request, once."""
    anna, pauline = await both(house, deputy="pauline")
    await anna.says("/vacation")
    await anna.card(containing="Who decides for you")
    await tap(anna, "Pauline")
    await tap(anna, "Two weeks")
    await anna.card(containing="the workspace lets Pauline Archer decide 0")
    await tap(anna, "Yes, so be it")
    await pauline.card(containing="the workspace lets you decide 0")
    await asked(house, "A new drill")
    await polled(house)
    notice = await anna.card(containing="does not let your deputy Pauline Archer decide")
    assert "A new drill" in notice.text
    other = await pauline.card(containing="The workspace does not let you decide")
    # She may not see these requests, so she does not learn their names here either.
    assert "A new drill" not in other.text
    await polled(house)
    assert sum("does not let your deputy" in message.text for message in anna.messages) == 1
    assert not any("🔔" in message.text for message in pauline.messages)


async def test_a_deputy_never_decides_their_own_request(house: OpenHouse) -> None:
    """Boris holds Anna's block too and stands in: his own request is not for him, the others are."""
    await house.owner.orgschema.worker.save(block_id=10, user_id="boris")
    house.desk.directory.forget()
    anna, boris = await both(house, deputy="boris")
    await goes(anna, "Boris Clarke")
    await polled(house)
    await boris.says("/requests")
    await boris.card(containing="1 of 4")
    for _ in range(4):
        assert "Raised floor for Halden office" not in boris.last.text
        await tap(boris, "Next")
    await anna.card(containing="does not let your deputy Boris Clarke decide")


async def test_who_cannot_stand_in_is_said_in_words(house: OpenHouse) -> None:
    """Oneself, who is not linked, who has no key: each has its sentence; a name is found with a typing error too."""
    anna, _ = await both(house)
    await house.linked("helen", key=False)
    await anna.says("/vacation")
    await anna.card(containing="Who decides for you")
    for typed, said in (
        ("Anna Bennett", "Nobody stands in for themselves"),
        ("Gregory", "is not linked to me yet"),
        ("Helen Ashworth", "has no key of their own"),
        ("Xyzzy", "Nobody is called like"),
    ):
        await anna.says(typed)
        await anna.card(containing=said)
    await anna.says("marna holt")
    await anna.waits(lambda chat: chat.buttons[0] == ("Marina Holt",))


async def test_there_are_no_chains_of_deputies(house: OpenHouse) -> None:
    """Marina is away: she cannot be named in her days of leave."""
    anna, marina = await both(house)
    await house.linked("victor")
    await goes(marina, "Victor Langley")
    await anna.says("/vacation")
    await anna.card(containing="Who decides for you")
    await anna.says("Marina Holt")
    await anna.card(containing="is on leave in these days too")


async def test_days_can_be_written(house: OpenHouse) -> None:
    """What makes no sense is said; days to come are a leave that can be cancelled before it begins."""
    anna, marina = await both(house)
    await anna.says("/vacation")
    await anna.card(containing="Who decides for you")
    await tap(anna, "Marina Holt")
    await anna.card(containing="From when until when?")
    await anna.says("soon")
    await anna.card(containing="I did not find days")
    await anna.says("1.3 - 5.3")
    await anna.card(containing="1 Mar")
    await tap(anna, "Yes, so be it")
    await anna.card(containing="has been told")
    await polled(house)
    assert not any("on leave until" in message.text for message in marina.messages)
    await anna.says("/vacation")
    await tap(anna, "Cancel the leave")
    await anna.card(containing="Welcome back")
    with house.desk.db.read() as connection:
        assert deputies.open_ones(connection, deputies.today(house.desk)) == []


async def test_an_unreachable_deputy_is_told_to_who_is_away(house: OpenHouse) -> None:
    """The deputy has stopped the bot: what comes is not lost in silence."""
    anna, marina = await both(house)
    await goes(anna, "Marina Holt")
    await house.desk.db.write(lambda connection: people.mark(connection, 1002, blocked=True))
    await asked(house, "A new drill")
    await polled(house)
    notice = await anna.card(containing="your deputy Marina Holt cannot be reached here")
    assert "A new drill" in notice.text
    await polled(house)
    assert sum("cannot be reached" in message.text for message in anna.messages) == 1
    assert pushed(marina) == []


async def test_a_deputy_who_goes_away_too_is_told(house: OpenHouse) -> None:
    """Marina stands in and then goes on leave herself: her deputy gets nothing of Anna's, and Anna is told."""
    anna, marina = await both(house)
    victor = await house.linked("victor")
    await goes(anna, "Marina Holt")
    await goes(marina, "Victor Langley")
    await asked(house, "A new drill")
    await polled(house)
    notice = await anna.card(containing="your deputy Marina Holt cannot be reached here")
    assert "A new drill" in notice.text
    assert not any("A new drill" in message.text for chat in (marina, victor) for message in chat.messages)


async def test_who_sees_and_may_not_decide_gets_a_notice_with_the_name(house: OpenHouse) -> None:
    """Helen's turn comes after Anna's: she sees the request, cannot accept it out of turn, and gets no card of it."""
    anna, helen = await both(house, deputy="helen")
    await goes(anna, "Helen Ashworth")
    await asked(house, "A new drill")
    await polled(house)
    notice = await helen.card(containing="The workspace does not let you decide")
    assert "A new drill" in notice.text
    assert not any("on leave until" in message.text for message in helen.messages)
    assert "A new drill" in (await anna.card(containing="does not let your deputy")).text


async def test_who_stops_the_bot_while_away_does_not_stop_the_deputy(house: OpenHouse) -> None:
    """Anna has stopped the bot for her leave: what waits for her still reaches Marina, and nothing is said to Anna."""
    anna, marina = await both(house)
    await goes(anna, "Marina Holt")
    await house.desk.db.write(lambda connection: people.mark(connection, 1001, blocked=True))
    await asked(house, "A new drill")
    await polled(house)
    await polled(house)
    await marina.card(containing="requests wait for you")
    assert "A new drill" in str([message.text for message in marina.messages])
    assert pushed(anna) == []
