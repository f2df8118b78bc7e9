"""Idempotency-Key: the same request has one effect and one answer."""

import asyncio

import pytest

from tests.server.world import Refused, World

KEY = {"Idempotency-Key": "3f0c-1"}
TAXI = {"type": "out", "sum": 450, "cashbox_id": 2, "category_id": 101, "description": "taxi"}
COUNT = "fintransaction.transaction.get.total.count"


async def test_the_second_call_gets_the_first_answer(world: World) -> None:
    """Byte for byte, after a change of the world too."""
    vera = world.person("vera")
    before = await vera.call(COUNT)
    first = await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    await vera.call("fintransaction.transaction.delete", ids=[first["id"]])
    world.passes(days=29)
    assert await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI) == first
    assert await vera.call(COUNT) == before


async def test_another_request_under_the_same_key_is_a_conflict(world: World) -> None:
    """Another body, and another operation."""
    vera = world.person("vera")
    await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    for operation, fields in (
        ("fintransaction.transaction.create", {**TAXI, "sum": 451}),
        ("tasks.task.create", {"name": "x"}),
    ):
        with pytest.raises(Refused) as refusal:
            await vera.call_with(KEY, operation, **fields)
        assert (refusal.value.status, refusal.value.code) == (409, "conflict")


async def test_keys_of_different_people_are_different(world: World) -> None:
    """Each API key has its own."""
    vera, lily = world.person("vera"), world.person("lily")
    first = await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    second = await lily.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    assert first["id"] != second["id"]


async def test_a_refusal_is_not_kept(world: World) -> None:
    """It had no effect: the same key may be used when the way is free."""
    vera = world.person("vera")
    with pytest.raises(Refused):
        await vera.call_with(KEY, "fintransaction.transaction.create", **{**TAXI, "cashbox_id": 1})
    assert (await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI))["id"]


async def test_after_thirty_days_a_key_is_new(world: World) -> None:
    """And the old answer is gone from the database."""
    vera = world.person("vera")
    first = await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    world.passes(days=31)
    second = await vera.call_with(KEY, "fintransaction.transaction.create", **TAXI)
    assert second["id"] != first["id"]


async def test_many_at_once_have_one_effect(world: World) -> None:
    """However they meet in the writer."""
    vera = world.person("vera")
    before = await vera.call(COUNT)
    answers = await asyncio.gather(
        *(vera.call_with(KEY, "fintransaction.transaction.create", **TAXI) for _ in range(20))
    )
    assert len({each["id"] for each in answers}) == 1
    assert await vera.call(COUNT) == before + 1


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there"])
async def test_a_key_must_be_a_key(world: World, key: str) -> None:
    """1 to 255 printable characters."""
    with pytest.raises(Refused) as refusal:
        await world.person("vera").call_with({"Idempotency-Key": key}, "tasks.task.create", name="x")
    assert refusal.value.status == 400


async def test_reads_do_not_mind_a_key(world: World) -> None:
    """They have no effect to keep."""
    vera = world.person("vera")
    assert await vera.call_with(KEY, "finance.currency.list") == await vera.call_with(KEY, "finance.currency.list")
