"""Two at once over the real writer: one review, one payment, no lost money."""

import asyncio

from tests.server.world import Person, Refused, World


async def outcome(person: Person, operation: str, **fields: object) -> int:
    """200, or the status of the refusal."""
    try:
        await person.call(operation, **fields)
    except Refused as refusal:
        return refusal.status
    return 200


async def test_two_holders_of_a_block_are_one_review(world: World) -> None:
    """The second is told that the block has accepted."""
    await world.owner().call("orgschema.worker.save", block_id=10, user_id="diana")
    people = [world.person("anna"), world.person("diana")]
    outcomes = await asyncio.gather(
        *(outcome(person, "finplan.request.review", requestIds=[2], reviewType="accept") for person in people)
    )
    assert sorted(outcomes) == [200, 409]
    request = await people[0].request(2)
    assert [each["type"] for each in request["history"]].count("accept") == 1
    assert request["need_accept"] == [2, 1, 4]


async def test_a_double_tap_is_one_review(world: World) -> None:
    """Ten times the same."""
    anna = world.person("anna")
    outcomes = await asyncio.gather(
        *(outcome(anna, "finplan.request.review", requestIds=[3], reviewType="accept") for _ in range(10))
    )
    assert sorted(outcomes) == [200] + [409] * 9


async def test_accepting_and_rejecting_at_once_is_one_of_them(world: World) -> None:
    """The request ends in one state, and its history knows of one end."""
    marina = world.person("marina")
    outcomes = await asyncio.gather(
        outcome(marina, "finplan.request.review", requestIds=[14], reviewType="accept_final"),
        outcome(marina, "finplan.request.review", requestIds=[14], reviewType="reject", rejectText="No"),
    )
    assert sorted(outcomes) == [200, 409]


async def test_two_payers_pay_once(world: World) -> None:
    """Full payments: one. Parts: as many as fit."""
    lily, simon = world.person("lily"), world.person("simon")
    full = await asyncio.gather(
        *(outcome(person, "finplan.request.pay", request_id=20, full_payment=True) for person in (lily, simon))
    )
    assert sorted(full) == [200, 409]
    parts = await asyncio.gather(
        *(outcome(person, "finplan.request.pay", request_id=21, payment_sum=700) for person in [lily, simon] * 5)
    )
    assert parts.count(200) == 7
    paid = await lily.request(21)
    assert (paid["sum_paid"], paid["status"]) == (4900, "accept")
    assert [each["type"] for each in paid["history"]].count("pay") == 7


async def test_many_writers_lose_nothing(world: World) -> None:
    """Each of a hundred expenses is there, with an id of its own."""
    vera = world.person("vera")
    before = await vera.call("fintransaction.transaction.get.total.count")
    made = await asyncio.gather(
        *(
            vera.call("fintransaction.transaction.create", type="out", sum=each, cashbox_id=2, category_id=101)
            for each in range(1, 101)
        )
    )
    assert len({each["id"] for each in made}) == 100
    assert await vera.call("fintransaction.transaction.get.total.count") == before + 100
