"""Paying from a request's card: in full, in part, above a limit, with a PIN, and when the answer is lost."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot import access, intents, preferences
from bot.sandbox import PersonChat
from tests.bot.house import OpenHouse, hosted, open_house
from workspace_api.contract.finplan import Request

PAY = "/finplan/api/request/pay"


async def to_pay(house: OpenHouse) -> list[Request]:
    """What is accepted and not paid, the oldest first."""
    found = [request for request in await house.requests() if request.status == "accept"]
    return sorted(found, key=lambda request: (str(request.creation_date), request.id or 0))


async def request(house: OpenHouse, number: int | None) -> Request:
    return next(found for found in await house.requests() if found.id == number)


async def tap(chat: PersonChat, label: str) -> None:
    """Presses the button once it is on the screen."""
    await chat.waits(lambda seen: any(text.startswith(label) for row in seen.buttons for text in row))
    await chat.presses(label)


async def at_payment(house: OpenHouse) -> tuple[PersonChat, Request]:
    """Marina, before the first request that is to be paid."""
    marina = await house.linked("marina")
    first = (await to_pay(house))[0]
    await marina.says("/requests")
    await marina.card(containing="1 of 3")
    await tap(marina, "More")
    await tap(marina, "To be paid")
    await marina.card(containing=first.name)
    return marina, first


async def test_a_request_is_paid_in_full(house: OpenHouse) -> None:
    """Two taps; the card says who paid and when, the workspace has it as paid, and the audit has both lines."""
    marina, first = await at_payment(house)
    await tap(marina, "Pay")
    await marina.card(containing="How much do you pay?")
    await tap(marina, "Pay in full")
    done = await marina.card(containing="paid by you")
    assert "✅" in done.text
    paid = await request(house, first.id)
    assert (paid.status, paid.sum_paid) == ("paid", paid.sum)
    from bot import audit

    with house.desk.db.read() as connection:
        lines = audit.entries(connection, [f"request:{first.id}"])
    assert [(line.act, line.user_id, line.key_kind) for line in lines] == [
        ("asked", "marina", "own"),
        ("done", "marina", "own"),
    ]


async def test_a_part_is_paid_and_the_rest_stays(house: OpenHouse) -> None:
    """Another sum: more than is left, nothing and words are refused; a part leaves the request accepted."""
    marina, first = await at_payment(house)
    left = (first.sum or 0) - (first.sum_paid or 0)
    await tap(marina, "Pay")
    await tap(marina, "Another sum")
    for wrong, words in ((str(left + 1), "is left to pay"), ("nothing", "no sum above zero"), ("5 USD", "is in EUR")):
        await marina.says(wrong)
        await marina.card(containing=words)
    await marina.says("5")
    await marina.card(containing="Pay €5 of this request?")
    await tap(marina, "Pay €5")
    await marina.card(containing="€5 paid by you")
    paid = await request(house, first.id)
    assert (paid.status, paid.sum_paid) == ("accept", (first.sum_paid or 0) + 5)


async def test_back_leads_from_every_screen(house: OpenHouse) -> None:
    """Back from the sum to the choice, from the choice to the request; nothing is paid."""
    marina, _ = await at_payment(house)
    await tap(marina, "Pay")
    await tap(marina, "Another sum")
    await marina.card(containing="Write the sum")
    await tap(marina, "‹ Back")
    await marina.waits(lambda chat: ("Another sum",) in chat.buttons)
    await tap(marina, "‹ Back")
    await marina.waits(lambda chat: chat.buttons[0] == ("Pay",))
    assert house.lossy.seen[PAY] == 0


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    """A house where every sum above 100 is asked for again."""
    async with open_house(tmp_path, limit=100) as opened:
        yield opened


async def test_above_the_limit_the_sum_is_typed(strict: OpenHouse) -> None:
    """A wrong sum pays nothing; the right one, however it is grouped, pays."""
    marina, first = await at_payment(strict)
    left = (first.sum or 0) - (first.sum_paid or 0)
    await tap(marina, "Pay")
    await tap(marina, "Pay in full")
    await marina.card(containing="above your limit")
    await marina.says(str(left - 1))
    await marina.card(containing="This is another sum. Nothing was paid.")
    assert strict.lossy.seen[PAY] == 0
    await marina.says(f"{left:,}".replace(",", " "))
    await marina.card(containing="paid by you")


async def test_the_limit_of_a_person_stands_above_the_houses(strict: OpenHouse) -> None:
    """Ops have raised Marina's limit: she is not asked."""
    strict.desk.db.write_now(lambda c: preferences.put(c, "marina", "limit", 10_000_000))
    marina, _ = await at_payment(strict)
    await tap(marina, "Pay")
    await tap(marina, "Pay in full")
    await marina.card(containing="paid by you")


async def test_a_pin_is_asked_for_and_its_message_deleted(house: OpenHouse) -> None:
    """A wrong PIN pays nothing; the right one pays; neither stays in the chat or in the inbox."""
    house.desk.db.write_now(lambda c: access.set_pin(c, "marina", "4711"))
    marina, _ = await at_payment(house)
    await tap(marina, "Pay")
    await tap(marina, "Pay in full")
    await marina.card(containing="write your PIN")
    wrong = await marina.says("1234")
    await marina.card(containing="This is not your PIN")
    assert house.lossy.seen[PAY] == 0
    right = await marina.says("4711")
    await marina.card(containing="paid by you")
    await marina.waits(lambda chat: wrong not in chat and right not in chat)
    with house.desk.db.read() as connection:
        kept = " ".join(str(row) for row in connection.exec_driver_sql("SELECT payload FROM inbox"))
    assert "4711" not in kept


async def test_five_wrong_pins_lock(house: OpenHouse) -> None:
    """After the fifth not even the right one pays, until ops reset it."""
    house.desk.db.write_now(lambda c: access.set_pin(c, "marina", "4711"))
    marina, _ = await at_payment(house)
    await tap(marina, "Pay")
    await tap(marina, "Pay in full")
    await marina.card(containing="write your PIN")
    for attempt in range(1, 5):
        await marina.says(f"000{attempt}")
        await marina.card(containing="This is not your PIN")
    await marina.says("0005")
    await marina.card(containing="locked after five wrong tries")
    right = await marina.says("4711")
    await marina.waits(lambda chat: right not in chat)
    assert house.lossy.seen[PAY] == 0


async def test_a_lost_payment_is_found_in_the_history(house: OpenHouse) -> None:
    """The answer is lost after the money has moved: the card warns, then says it is paid; it was sent once."""
    marina, first = await at_payment(house)
    await tap(marina, "Pay")
    house.lossy.lose(PAY)
    await tap(marina, "Pay in full")
    await marina.card(containing="Do not pay again")
    await marina.card(containing="paid by you")
    assert house.lossy.seen[PAY] == 1
    paid = await request(house, first.id)
    assert paid.sum_paid == paid.sum


async def hold(house: OpenHouse, marina: PersonChat) -> None:
    """The time of reading back is over for every payment that is not known."""
    from sqlalchemy import update

    from bot.tables import intents as table

    def skip(connection: object) -> None:
        from sqlalchemy import Connection

        assert isinstance(connection, Connection)
        connection.execute(
            update(table).where(table.c.state == "unknown").values(checks=len(intents.CHECKS), due_at=0.0)
        )

    house.desk.db.write_now(skip)
    house.assistant.operations.wake()
    await marina.card(containing="was not confirmed")


async def test_a_payment_that_was_never_seen_is_held_until_a_person_releases_it(house: OpenHouse) -> None:
    """Nobody can pay past it; released by a person who is asked twice, it can be paid."""
    marina, first = await at_payment(house)
    await tap(marina, "Pay")
    house.lossy.swallow(PAY)
    await tap(marina, "Pay in full")
    await marina.card(containing="Do not pay again")
    await hold(house, marina)
    held = await marina.card(containing="was not seen in the workspace for ten minutes")
    assert held.buttons == (("It was not paid",), ("It was paid",), ("‹ Back",))
    await tap(marina, "‹ Back")
    await tap(marina, "Pay")
    await marina.card(containing="Do not pay again before it is clear")
    await tap(marina, "It was not paid")
    await marina.card(containing="Have you looked")
    await tap(marina, "Yes, it was not paid")
    await marina.card(containing="Released")
    await tap(marina, "Pay")
    await tap(marina, "Pay in full")
    await marina.card(containing="paid by you")
    paid = await request(house, first.id)
    assert paid.sum_paid == paid.sum


async def test_the_same_sum_paid_by_somebody_else_is_a_persons_to_judge(house: OpenHouse) -> None:
    """Marina's payment never arrives, the owner pays the very sum: the card says so and does not call it hers."""
    marina, first = await at_payment(house)
    await tap(marina, "Pay")
    house.lossy.swallow(PAY)
    house.assistant.polls.pause()
    await tap(marina, "Pay in full")
    await marina.card(containing="Do not pay again")
    await house.as_user("tamara").finplan.request.pay(
        id=first.id, request_id=first.id, payment_sum=(first.sum or 0) - (first.sum_paid or 0)
    )
    card = await marina.card(containing="maybe by somebody else")
    assert "It was paid" in str(card.buttons)
    await tap(marina, "It was paid")
    await tap(marina, "Yes, it was paid")
    await marina.card(containing="Noted as paid")


async def test_a_sum_that_changed_meanwhile_is_shown_first(house: OpenHouse) -> None:
    """A part is paid between the card and the tap: nothing is paid unseen."""
    marina, first = await at_payment(house)
    house.assistant.polls.pause()
    await tap(marina, "Pay")
    await marina.card(containing="How much do you pay?")
    await house.as_user("tamara").finplan.request.pay(id=first.id, request_id=first.id, payment_sum=1)
    answer = await marina.presses("Pay in full")
    assert "has changed since you saw it" in (answer.text or "")
    assert (await request(house, first.id)).sum_paid == (first.sum_paid or 0) + 1


async def test_without_an_own_key_nobody_pays(tmp_path: Path) -> None:
    """The service's key is the owner's, who may pay: it is not lent for that, whatever the policy."""
    async with open_house(tmp_path, profile=hosted(), act_as="log") as house:
        marina = await house.linked("marina", key=False)
        await marina.says("/requests")
        await marina.card(containing="no key of yours")
