"""Decisions in chat: the oldest card at once, one tap approves, one review whatever happens."""

import asyncio

from tests.bot.house import OpenHouse
from workspace_api.contract.finplan import Request


async def request(house: OpenHouse, number: int) -> Request:
    """The request as the owner sees it."""
    return next(found for found in await house.requests() if found.id == number)


async def reviewers(house: OpenHouse, number: int, kind: str) -> list[str | None]:
    """Who did this to the request, as its history tells."""
    return [entry.author_id for entry in (await request(house, number)).history or [] if entry.type == kind]


async def test_one_tap_approves_and_the_card_says_so(house: OpenHouse) -> None:
    """/requests shows the oldest card with a count; Approve is one review under the person's own name."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    assert "Raised floor for Halden office" in card.text
    assert "€12,400" in card.text
    assert "👉 you" in card.text
    assert card.buttons == (
        ("Approve",),
        ("Reject", "Return to work"),
        ("‹ Previous", "Next ›"),
        ("X-ray", "More ›"),
    )
    await anna.presses("Approve")
    done = await anna.card(containing="Approved by you")
    assert done.id == card.id
    assert done.buttons == (("Next (4 wait) ›",),)
    assert await reviewers(house, 1, "accept") == ["anna"]


async def test_next_goes_through_what_waits_and_comes_back(house: OpenHouse) -> None:
    """Next shows the following request on the same message; after the last comes the first."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    for number in (2, 3, 4, 5, 1):
        await anna.presses("Next")
        shown = await anna.card(containing=f"{number} of 5")
        assert shown.id == card.id


async def test_the_last_manager_approves_finally(house: OpenHouse) -> None:
    """The finance director's button is Final approve; the request is then accepted."""
    marina = await house.linked("marina")
    await marina.says("/requests")
    card = await marina.card(containing="1 of 3")
    assert card.buttons[0] == ("Final approve",)
    await marina.presses("Final approve")
    await marina.card(containing="Finally approved by you")
    accepted = [r.id for r in await house.requests() if r.status == "accept"]
    assert {14, 15, 16} & set(accepted)


async def test_reject_asks_for_a_reason_and_passes_it_on(house: OpenHouse) -> None:
    """Reject asks; the next text is the reason, and the request is rejected with it."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await anna.presses("Reject")
    asked = await anna.card(containing="Why do you reject it?")
    assert asked.buttons == (("‹ Back",),)
    await anna.says("The old floor will do <b>for now</b>")
    done = await anna.card(containing="Rejected by you")
    assert "The old floor will do <b>for now</b>" in done.text
    rejected = await request(house, 1)
    assert (rejected.status, rejected.reject_text) == ("reject", "The old floor will do <b>for now</b>")


async def test_back_leads_from_the_reason_to_the_card(house: OpenHouse) -> None:
    """Back takes the question away: a text afterwards is no reason."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await anna.presses("Reject")
    await anna.card(containing="Why do you reject it?")
    await anna.presses("‹ Back")
    await anna.card(containing="1 of 5")
    await anna.says("never mind")
    await anna.card(containing="I did not find a sum")
    assert (await request(house, 1)).status == "progress"


async def test_return_to_work_without_a_note(house: OpenHouse) -> None:
    """A returned request has nobody to decide until its author saves it, and the card says so."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await anna.presses("Return")
    await anna.card(containing="What should be changed?")
    await anna.presses("Without a note")
    done = await anna.card(containing="Returned to work by you")
    assert "the author has to save it" in done.text
    returned = await request(house, 1)
    assert (returned.status, returned.need_accept) == ("progress", [])


async def test_a_double_tap_is_one_review(house: OpenHouse) -> None:
    """Two taps on Approve before the first is handled make one review; the second is told so."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    first, second = await asyncio.gather(anna.presses("Approve"), anna.presses("Approve"))
    await anna.card(containing="Approved by you")
    assert await reviewers(house, 1, "accept") == ["anna"]
    assert {first.text or "", second.text or ""} & {
        "This is already under way.",
        "The card has changed meanwhile: this is how it stands now.",
    }


async def test_two_cards_of_one_request_make_one_review(house: OpenHouse) -> None:
    """The same request on two cards: the second card acts on fresh state and says why not."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    one = await anna.card(containing="1 of 5")
    await anna.says("/requests")
    await anna.waits(lambda chat: sum("1 of 5" in message.text for message in chat.messages) == 2)
    await anna.presses("Approve")
    await anna.card(containing="Approved by you")
    await anna.presses("Approve", on=one)
    await anna.waits(lambda chat: "Anna Bennett: approved" in chat.message(one.id).text)
    assert await reviewers(house, 1, "accept") == ["anna"]


async def test_a_card_decided_elsewhere_says_so(house: OpenHouse) -> None:
    """A decision through the API edits the shown card: who, what, and no buttons to decide with."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="reject", block_id=10, reject_text="no"
    )
    await anna.waits(lambda chat: "Anna Bennett: rejected" in chat.message(card.id).text)
    assert not any(label in {"Approve", "Reject"} for row in anna.message(card.id).buttons for label in row)


async def test_a_changed_sum_is_shown_before_it_is_approved(house: OpenHouse) -> None:
    """The author changes the sum between card and tap: nothing is approved unseen."""
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await house.as_user("boris").finplan.request.save(id=1, sum=99_000)
    answer = await anna.presses("Approve")
    assert answer.text is not None
    assert "changed since you saw it" in answer.text
    await anna.card(containing="€99,000")
    assert await reviewers(house, 1, "accept") == []


async def test_a_new_request_comes_by_itself(house: OpenHouse) -> None:
    """What is submitted after linking is pushed to whoever decides next, and to nobody else."""
    anna, marina = await house.linked("anna"), await house.linked("marina")
    saved = await house.as_user("boris").finplan.request.save(
        author_block_id=100, finplan="2026-11-01", name="A new drill", problem="Old one broke", sum=340, type=130
    )
    card = await anna.card(containing="A new drill")
    assert "This waits for your decision" in card.text
    await anna.presses("Approve")
    await anna.card(containing="Approved by you")
    assert await reviewers(house, saved.id or 0, "accept") == ["anna"]
    assert all("A new drill" not in message.text for message in marina.messages)


async def test_what_waited_before_linking_is_not_pushed(house: OpenHouse) -> None:
    """Five requests wait when Anna is linked; several polls later none has come by itself."""
    anna = await house.linked("anna")
    await house.assistant.watch.poll()
    await house.assistant.watch.poll()
    assert [message.text for message in anna.messages if "This waits" in message.text] == []


async def test_without_an_own_key_one_may_not_decide(house: OpenHouse) -> None:
    """A person linked without a key is told to get one."""
    helen = await house.linked("helen", key=False)
    await helen.says("/requests")
    await helen.card(containing="no key of yours")


async def test_a_person_disabled_between_card_and_tap_is_refused(house: OpenHouse) -> None:
    """A dismissal counts from the very next tap; nothing is reviewed."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    house.disable("anna")
    answer = await anna.presses("Approve")
    assert answer.show_alert
    assert await reviewers(house, 1, "accept") == []
