"""/request in chat: guided from name to justification, put aside and taken up, submitted once whatever happens."""

from pathlib import Path

from sqlalchemy import text

from tests.bot.authoring import SAVE, last, newest, sees, written
from tests.bot.house import OpenHouse, open_house


async def test_guided_from_name_to_submission(house: OpenHouse) -> None:
    """One question after the other on one message; the draft's message becomes the request's card."""
    boris = await house.linked("boris")
    await boris.says("/request")
    card = await sees(boris, "What is it for?")
    await boris.says("Two laser levels")
    asked = await sees(boris, "How much is needed?")
    assert asked.id == card.id
    assert "main currency, EUR" in asked.text
    await boris.says("1 290")
    await sees(boris, "Which category is it?")
    await boris.presses("Tools and equipment ›")
    await sees(boris, "Which category is it?", "Just")
    await boris.presses("Tools")
    await sees(boris, "For which month?")
    await boris.presses(last(boris).buttons[1][0])
    await sees(boris, "What is the problem?")
    await boris.says("The crew has one for two floors")
    await sees(boris, "What is the solution?")
    await boris.says("Buy two")
    await sees(boris, "Why is it worth the money?")
    await boris.says("Saves a day a week")
    review = await sees(boris, "not submitted yet")
    assert review.id == card.id
    assert review.buttons[0] == ("Submit",)
    for part in ("Two laser levels", "€1,290", "The crew has one", "Buy two", "Saves a day a week"):
        assert part in review.text
    await boris.presses("Submit")
    done = await sees(boris, "Submitted, no.")
    assert done.id == card.id
    assert "👉 Anna Bennett" in done.text
    made = await newest(house)
    known = (made.author_id, made.author_block_id, made.name, made.sum, made.type, made.status)
    assert known == ("boris", 100, "Two laser levels", 1290, 131, "progress")
    assert (made.problem, made.economic_justification) == ("The crew has one for two floors", "Saves a day a week")


async def test_words_after_the_command_fill_what_they_can(house: OpenHouse) -> None:
    """`/request 12000 raised floor` asks for neither name nor sum."""
    boris = await house.linked("boris")
    await boris.says("/request 12000 raised floor")
    card = await sees(boris, "Which category is it?")
    assert "Raised floor" in card.text
    assert "€12,000" in card.text


async def test_a_category_without_doubt_is_filled_in(house: OpenHouse) -> None:
    """A name that says the category skips that question; the review has it, and it can be changed."""
    boris = await house.linked("boris")
    await boris.says("/request 900 hotel for the crew")
    card = await sees(boris, "For which month?")
    assert "Travel › Hotels" in card.text
    await boris.presses("‹ Back")
    await sees(boris, "Which category is it?", "Keep it ›")


async def test_categories_are_those_of_the_position(house: OpenHouse) -> None:
    """Sales has its advertising, operations has not; a word that finds nothing says so."""
    boris = await house.linked("boris")
    await boris.says("/request 500 posters")
    await sees(boris, "Which category is it?")
    assert not [row for row in boris.buttons if "Marketing" in row[0]]
    assert [row for row in boris.buttons if "Subcontractors" in row[0]]
    await boris.says("exhibitions")
    await sees(boris, "No category is like “exhibitions”")


async def test_what_was_chosen_last_comes_first(house: OpenHouse) -> None:
    """The category of the last request is marked on top of the next."""
    boris = await house.linked("boris")
    await written(boris)
    await boris.presses("Submit")
    await sees(boris, "Submitted, no.")
    await boris.says("/request 99 something else")
    card = await sees(boris, "Which category is it?")
    assert card.buttons[0] == ("★ Tools and equipment › Workwear and safety",)


async def test_hundredths_are_rounded_by_the_person(house: OpenHouse) -> None:
    """A workspace of whole units: the two next sums are offered, and another can be written."""
    boris = await house.linked("boris")
    await boris.says("/request 12,50 screws")
    await sees(boris, "cannot keep 12.5")
    await boris.presses("€13")
    card = await sees(boris, "Which category is it?")
    assert "€13" in card.text


async def test_hundredths_are_kept_where_the_scale_has_them(tmp_path: Path) -> None:
    """With a scale of 2 the sum is taken as it is."""
    async with open_house(tmp_path, scale=2) as house:
        boris = await house.linked("boris")
        await boris.says("/request 12,50 screws")
        assert "€12.50" in (await sees(boris, "Which category is it?")).text


async def test_another_currency_is_told_about(house: OpenHouse) -> None:
    """Saving a request takes no currency: dollars are not taken for euros."""
    boris = await house.linked("boris")
    await boris.says("/request 500 usd hotel")
    await sees(boris, "Requests are kept in EUR: write the sum in that currency.")
    await boris.says("450")
    assert "€450" in (await sees(boris, "For which month?")).text


async def test_cancel_puts_aside_and_request_goes_on(house: OpenHouse) -> None:
    """/cancel loses nothing: /request offers the draft by name; going on moves it below."""
    boris = await house.linked("boris")
    await boris.says("/request 12000 raised floor")
    first = await sees(boris, "Which category is it?")
    await boris.says("/cancel")
    await boris.waits(lambda chat: "Put aside" in chat.message(first.id).text)
    await boris.says("/request")
    offer = await sees(boris, "not submitted it yet")
    assert offer.buttons == (("Go on with “Raised floor · €12,000”",), ("New request",))
    await boris.presses("Go on with")
    again = await sees(boris, "Which category is it?")
    assert again.id == offer.id
    assert "Raised floor" in again.text
    await boris.waits(lambda chat: "goes on below" in chat.message(first.id).text)


async def test_new_beside_a_parked_draft(house: OpenHouse) -> None:
    """New keeps the words of the command; the other draft stays for later."""
    boris = await house.linked("boris")
    await boris.says("/request 12000 raised floor")
    await sees(boris, "Which category is it?")
    await boris.presses("Later")
    await sees(boris, "Put aside")
    await boris.says("/request 70 two lamps")
    await sees(boris, "not submitted it yet")
    await boris.presses("New request")
    assert "Two lamps" in (await sees(boris, "Which category is it?")).text
    await boris.says("/request")
    offer = await sees(boris, "not submitted it yet")
    assert [row[0] for row in offer.buttons[:2]] == [
        "Go on with “Two lamps · €70”",
        "Go on with “Raised floor · €12,000”",
    ]


async def test_thrown_away_is_gone(house: OpenHouse) -> None:
    """A draft that was thrown away is not offered again."""
    boris = await house.linked("boris")
    await written(boris)
    await boris.presses("Throw away")
    await sees(boris, "Thrown away")
    await boris.says("/request")
    await sees(boris, "What is it for?")


async def test_back_and_change(house: OpenHouse) -> None:
    """Back leads to the question before; each part of the review can be changed."""
    boris = await house.linked("boris")
    await boris.says("/request 12000 raised floor")
    await sees(boris, "Which category is it?")
    await boris.presses("‹ Back")
    await sees(boris, "How much is needed?")
    await boris.presses("Keep it ›")
    await sees(boris, "Which category is it?")
    await boris.presses("Later")
    await sees(boris, "Put aside")
    await boris.presses("Throw away")
    await sees(boris, "Thrown away")
    await written(boris)
    await boris.presses("Amount")
    await sees(boris, "How much is needed?")
    await boris.says("1400")
    assert "€1,400" in (await sees(boris, "not submitted yet")).text


async def test_a_lost_submission_is_found_again(house: OpenHouse) -> None:
    """The answer is lost: one request, found by what it says; the card says so meanwhile."""
    boris = await house.linked("boris")
    count = len(await house.requests())
    await written(boris)
    house.lossy.lose(SAVE)
    await boris.presses("Submit")
    await sees(boris, "has not confirmed it yet")
    done = await sees(boris, "Submitted, no.")
    assert f"no. {(await newest(house)).id}" in done.text
    assert house.lossy.seen[SAVE] == 1
    assert len(await house.requests()) == count + 1


async def test_two_equal_requests_are_two(house: OpenHouse) -> None:
    """The same words twice, both answers lost: neither card takes the other's request for its own."""
    boris = await house.linked("boris")
    count = len(await house.requests())
    for _ in range(2):
        await written(boris)
        house.lossy.lose(SAVE)
        await boris.presses("Submit")
        await sees(boris, "Submitted, no.")
    said = {message.text.split("\n")[0] for message in boris.messages if "Submitted, no." in message.text}
    assert len(said) == 2
    assert len(await house.requests()) == count + 2


async def test_a_refusal_keeps_the_draft(house: OpenHouse) -> None:
    """The workspace refuses, since the category was archived just now: said in words, and all can be changed."""
    boris = await house.linked("boris")
    await written(boris)
    await house.owner.fintransaction.category.archive(id=133)
    await boris.presses("Submit")
    card = await sees(boris, "The workspace refused", "Submit")
    assert "The old ones are" in card.text
    assert house.lossy.seen[SAVE] == 1
    await boris.says("/cancel")
    await boris.says("/request")
    await sees(boris, "not submitted it yet", "Go on with “Two laser levels")


async def test_an_archived_category_is_asked_for_again(house: OpenHouse) -> None:
    """The category is archived after the review was shown, and it is known: asked for again, nothing is sent."""
    boris = await house.linked("boris")
    await written(boris)
    await house.owner.fintransaction.category.archive(id=133)
    house.desk.directory.forget()
    await boris.presses("Submit")
    card = await sees(boris, "Which category is it?")
    assert "The old ones are" in card.text
    assert house.lossy.seen[SAVE] == 0


async def test_a_disabled_person_submits_nothing(house: OpenHouse) -> None:
    """Who was disabled after the review was shown is refused."""
    boris = await house.linked("boris")
    await written(boris)
    gone = text("UPDATE users SET is_disabled = true WHERE user_id = 'boris'")
    house.server.write_now(lambda connection: connection.execute(gone).rowcount)
    tap = await boris.presses("Submit")
    assert "has ended" in (tap.text or "")
    assert house.lossy.seen[SAVE] == 0
