"""The nightly comparison: real differences, made in a real workspace, are told once and in words."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from bot import audit, facts, intents, reconcile
from bot.desk import Desk
from bot.differences import CREATE, DELETE, PAY, Paid, first_look, payment
from bot.intents import Intent, State
from bot.tables import intents as intents_table
from bot.tables import outbox
from tests.bot.house import OpenHouse, open_house
from workspace_api.contract.finance import Transaction
from workspace_api.contract.finplan import Request


class Days:
    """A clock that a test can move on by days."""

    def __init__(self) -> None:
        self.later = 0.0

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(datetime.now(UTC).timestamp() + self.later, UTC)


def asked(
    house: OpenHouse, operation: str, body: dict[str, Any], state: State, *, number: int | None = None, **more: Any
) -> Intent:
    """A call as the bot commits to it, in the state in which it was left."""
    now = house.desk.now()
    before = more.pop("before", {})
    intent = Intent(
        intents.new_id(), 1001, "anna", 1, "entries", f"entry:{intents.new_id()}", operation, body, before, "open", 0,
        more.pop("at", now),
    )  # fmt: skip
    intent = replace(intent, **more)

    def commit(connection: Any) -> None:
        intents.create(connection, intent)
        intents.move(connection, intent.id, state, now)
        if number is not None:
            line = audit.Entry(now, "anna", "done", f"transaction:{number}", intent_id=intent.id, after={"id": number})
            audit.note(connection, line)

    house.desk.db.write_now(commit)
    return intent


async def entry(house: OpenHouse) -> dict[str, Any]:
    """An entry that Anna may make."""
    boxes = await house.as_user("anna").finance.transaction.cashbox_list()
    categories = await house.owner.fintransaction.category.list()
    category = next(c for c in categories if c.transaction_type == "out" and not c.is_archived)
    places = {"cashbox_id": boxes[0].id, "category_id": category.id}
    return {"type": "out", "sum": 450, "description": "taxi", "user_id": "anna", **places}


async def saved(house: OpenHouse, body: dict[str, Any], operation_id: str = "") -> Transaction:
    """The entry in the workspace."""
    sent: dict[str, Any] = body | ({"data": {"operation_id": operation_id}} if operation_id else {})
    return await house.as_user("anna").fintransaction.transaction.create(**sent)


async def kinds(desk: Desk) -> list[str]:
    """What the comparison finds."""
    return [difference.kind for difference in await reconcile.reconcile(desk)]


async def test_what_is_as_it_was_left_is_no_difference(house: OpenHouse) -> None:
    """A saved entry that is there, one that was undone, and one that was refused."""
    body = await entry(house)
    there = asked(house, CREATE, body, "done")
    await saved(house, body, there.id)
    asked(house, CREATE, body | {"sum": 777}, "refused")
    gone = asked(house, CREATE, body | {"sum": 333}, "done", number=987_654)
    asked(house, DELETE, {"ids": [987_654], "type": "out"}, "done")
    assert gone.id != there.id
    assert await kinds(house.desk) == []


async def test_an_entry_that_is_gone_is_told(house: OpenHouse) -> None:
    """Somebody deleted in the workspace what was saved here: the sentence has the sum, who and which."""
    body = await entry(house)
    made = await saved(house, body)
    asked(house, CREATE, body, "done", number=made.id)
    assert await kinds(house.desk) == []
    await house.owner.fintransaction.transaction.delete(ids=[made.id or 0], type="out")
    (difference,) = await reconcile.reconcile(house.desk)
    assert (difference.kind, difference.ids) == ("not_there", (made.id,))
    said = await reconcile.in_words(house.desk, house.desk.texts("en"), difference)
    assert "Anna Bennett's entry of" in said
    assert "450" in said
    assert said.endswith(f"Entry {made.id}")
    assert (await reconcile.in_words(house.desk, house.desk.texts("ru"), difference)).endswith(f"Запись {made.id}")


async def test_an_entry_that_is_there_twice_is_told(house: OpenHouse) -> None:
    """By its operation id; where the workspace keeps none, by a like entry of the same minutes."""
    body = await entry(house)
    intent = asked(house, CREATE, body, "done")
    first, second = [await saved(house, body, intent.id) for _ in range(2)]
    (difference,) = await reconcile.reconcile(house.desk)
    assert difference.kind == "twice"
    assert set(difference.ids) == {first.id, second.id}


async def test_two_like_entries_of_two_calls_are_in_order(house: OpenHouse) -> None:
    """Two taxis of the same price on one evening are two entries."""
    body = await entry(house)
    for _ in range(2):
        intent = asked(house, CREATE, body, "done")
        made = await saved(house, body, intent.id)
        line = audit.Entry(house.desk.now(), "anna", "done", "x", intent_id=intent.id, after={"id": made.id})
        house.desk.db.write_now(partial(audit.note, entry=line))
    assert await kinds(house.desk) == []


async def test_what_was_given_up_and_came_after_all_is_told(house: OpenHouse) -> None:
    """Not seen for ten minutes, and there in the morning."""
    body = await entry(house)
    intent = asked(house, CREATE, body, "not_seen")
    assert await kinds(house.desk) == []
    await saved(house, body, intent.id)
    assert await kinds(house.desk) == ["there"]


async def test_what_was_undone_and_is_still_there_is_told(house: OpenHouse) -> None:
    """An undoing that was done, and an entry that stands."""
    body = await entry(house)
    made = await saved(house, body)
    asked(house, DELETE, {"ids": [made.id], "type": "out"}, "done")
    assert await kinds(house.desk) == ["still_there"]


@pytest.mark.parametrize("state", ["unknown", "held"])
async def test_a_call_that_never_settled_is_told(house: OpenHouse, state: State) -> None:
    """After half an hour; before that the bot is still looking itself."""
    body = {"id": 1, "request_id": 1, "payment_sum": 500}
    before = {"sum_paid": 0, "history": 0, "amount": 500}
    intent = asked(house, PAY, body, state, before=before, at=house.desk.now() - 60)
    assert await kinds(house.desk) == []
    long_ago = update(intents_table).where(intents_table.c.id == intent.id).values(created_at=house.desk.now() - 3600)
    house.desk.db.write_now(lambda connection: connection.execute(long_ago).rowcount)
    assert await kinds(house.desk) == ["unsettled"]


async def payable(house: OpenHouse) -> Request:
    """A request that can be paid."""
    return next(r for r in await house.requests() if r.status == "accept" and (r.sum or 0) > 1000 and not r.sum_paid)


async def pay(house: OpenHouse, request: Request, amount: int, *, really: bool = True) -> Intent:
    """A payment through the bot that was done, in the workspace too or not."""
    now = next(r for r in await house.requests() if r.id == request.id)
    before = {"sum_paid": now.sum_paid or 0, "history": len(now.history or []), "amount": amount}
    if really:
        await house.owner.finplan.request.pay(id=request.id, request_id=request.id, payment_sum=amount)
    body = {"id": request.id, "request_id": request.id, "payment_sum": amount}
    return asked(house, PAY, body, "done", before=before)


async def test_our_payments_and_those_of_the_history_are_in_order(house: OpenHouse) -> None:
    """One by the bot, one by somebody in the workspace, night after night."""
    request = await payable(house)
    await pay(house, request, 500)
    assert await kinds(house.desk) == []
    assert await reconcile.night(house.desk) == []
    await house.owner.finplan.request.pay(id=request.id, request_id=request.id, payment_sum=100)
    await pay(house, request, 200)
    assert await reconcile.night(house.desk) == []


async def test_a_payment_that_did_not_move_the_sum_is_told(house: OpenHouse) -> None:
    """Said to be done, and nothing was paid."""
    request = await payable(house)
    await reconcile.night(house.desk)
    await pay(house, request, 500, really=False)
    (difference,) = await reconcile.reconcile(house.desk)
    assert (difference.kind, difference.was, difference.amount, difference.ours) == ("paid", 0, 0, 500)
    said = await reconcile.in_words(house.desk, house.desk.texts("en"), difference)
    assert f"Request {request.id}: paid was €0, is €0" in said
    assert "€500" in said


async def test_a_difference_is_told_to_ops_once_and_stays_until_accepted(tmp_path: Path) -> None:
    """In the language of whom it is told; the second night says nothing new; accepted, it is gone."""
    async with open_house(tmp_path, ops=("marina",)) as house:
        marina = await house.linked("marina")
        request = await payable(house)
        await reconcile.night(house.desk)
        await pay(house, request, 500, really=False)
        await reconcile.night(house.desk)
        await reconcile.night(house.desk)
        house.assistant.delivery.wake()
        await marina.card(containing="Our payments since: €500")
        assert told(house.desk) == 1
        assert await kinds(house.desk) == ["paid"]
        assert await reconcile.accept(house.desk) == []
        assert await kinds(house.desk) == []


def told(desk: Desk) -> int:
    """How often a difference was said, delivered or not yet."""
    with desk.db.read() as connection:
        return len([row for row in connection.execute(select(outbox.c.payload)).scalars() if "Our payments" in row])


async def test_each_night_once_and_a_missed_one_at_the_start(tmp_path: Path) -> None:
    """The loop works soon where it never did, then waits for the next night; a stop ends it."""
    async with open_house(tmp_path) as house:
        clock = Days()
        desk = Desk(house.desk.db, house.desk.service, house.desk.vault, replace(house.desk.house, clock=clock))

        async def once() -> float:
            stop = asyncio.Event()
            running = asyncio.create_task(reconcile.run(desk, stop, first=0))
            while not (found := _kept(desk)) or found < desk.now() - 60:
                await asyncio.sleep(0)
            stop.set()
            await running
            return found

        first = await once()
        assert await once() == first
        clock.later = 86_400
        assert await once() > first


def _kept(desk: Desk) -> float:
    with desk.db.read() as connection:
        kept = facts.get(connection, reconcile.FACT)
    return float(kept["at"]) if kept else 0.0


def request_with(paid: int, *texts: str | None, kind: str = "pay") -> Request:
    """A request of 1,000 with payments in its history."""
    history = [{"type": "create"}, *({"type": kind, "text": text} for text in texts)]
    return Request.model_validate({"id": 7, "sum": 1000, "sum_paid": paid, "history": history})


def ours(*amounts: int) -> list[Intent]:
    """Payments of ours, of which the first found nothing paid."""
    return [
        Intent(str(n), 1, "anna", 1, "requests", "request:7", PAY, {}, {"sum_paid": 0, "history": 1, "amount": amount},
               "done", 0, float(n))
        for n, amount in enumerate(amounts)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("request_now", "paid_by_us", "well"),
    [
        (request_with(500, "500"), [500], True),
        (request_with(500, "500"), [], True),  # somebody paid in the workspace, and the history says so
        (request_with(700, "500", "200"), [500], True),
        (request_with(700, "500"), [500], False),  # moved by more, and nobody is named
        (request_with(300, "300"), [500], False),  # ours is not among what the history tells
        (request_with(500), [500], True),  # a history that tells nothing of payments
        (request_with(600), [500], False),
        (request_with(400), [500], False),
        (request_with(0), [], True),
        (request_with(900, None), [500], True),  # somebody is named, without a sum
        (request_with(400, None), [500], False),  # ours alone are more
        (request_with(1000, "500", "500"), [500, 500], True),
        (request_with(500, "500"), [500, 500], False),
    ],
)
def test_a_paid_sum_is_explained_or_not(request_now: Request, paid_by_us: list[int], well: bool) -> None:
    """By our payments where the history tells nothing of any, else by the history, in which ours have to be."""
    assert (payment(request_now, Paid(0, 1, 0.0), ours(*paid_by_us)) is None) is well


def test_the_first_look_is_what_our_first_payment_found() -> None:
    """Where nothing was kept before."""
    assert first_look(ours(500)) == Paid(0, 1, 0.0)
    assert first_look([]) is None


def test_the_key_of_a_difference_stays_the_same() -> None:
    """Else it would be told every night; another sum is another difference."""
    found = [payment(request_with(paid), Paid(0, 1, 0.0), ours(500)) for paid in (600, 600, 650)]
    keys = [difference.key for difference in found if difference is not None]
    assert keys[0] == keys[1] != keys[2]
    assert json.loads(json.dumps(keys)) == keys
