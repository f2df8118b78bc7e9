"""Currencies, rates, cashboxes, transactions and their categories through the API."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.server.world import World

CREATE = "fintransaction.transaction.create"
UPDATE = "fintransaction.transaction.update"
LIST = "finance.transaction.list"
TAXI: dict[str, Any] = {"type": "out", "sum": 450, "cashbox_id": 2, "category_id": 101}


async def test_active_currencies_are_those_of_cashboxes(world: World) -> None:
    """A currency without a cashbox in use is not active."""
    owner = world.owner()
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE cashboxes SET is_archived = true WHERE id = 4")
    assert [each["code"] for each in await owner.call("finance.currency.list-active")] == ["EUR", "RUB"]
    assert len(await owner.call("finance.currency.list")) == 3


async def test_the_rate_of_a_date(world: World) -> None:
    """Today's where no date is given; every form of a date; nothing before the first rate."""
    vera = world.person("vera")
    pair = {"currency_code_from": "EUR", "currency_code_to": "USD"}
    assert await vera.call("finance.currency.exchange-rate", **pair) == 1.1631
    assert await vera.call("finance.currency.exchange-rate", **pair, date="2026-11-15T12:00:00+03:00") == 1.1647
    assert await vera.call("finance.currency.exchange-rate", **pair, date="2026-11-12") == 1.1684
    assert (await vera.refused("finance.currency.exchange-rate", **pair, date="2020-01-01")).status == 404
    back = {"currency_code_from": "RUB", "currency_code_to": "EUR"}
    assert await vera.call("finance.currency.exchange-rate", **back) == pytest.approx(1 / 94.74)
    assert (await vera.refused("finance.currency.exchange-rate", currency_code_from="EUR")).status == 400
    unknown = {"currency_code_from": "EUR", "currency_code_to": "XXX"}
    assert (await vera.refused("finance.currency.exchange-rate", **unknown)).status == 404


async def test_own_rates_are_set_by_finance(world: World) -> None:
    """A second one for a day takes the place of the first; the list has the newest first."""
    marina = world.person("marina")
    pair = {"currency_code_from": "USD", "currency_code_to": "EUR"}
    set_rate = "fintransaction.exchange.rate.custom.set"
    for value in (0.8, 0.9):
        assert await marina.call(set_rate, **pair, date="2026-11-21T00:00:00+00:00", value=value) is True
    await marina.call(set_rate, **pair, date="2026-11-19", value=0.7)
    listed = await marina.call("fintransaction.exchange.rate.custom.list", **pair)
    assert listed == [
        {**pair, "date": "2026-11-21", "value": 0.9},
        {**pair, "date": "2026-11-19", "value": 0.7},
    ]
    assert await marina.call("finance.currency.exchange-rate", **pair) == 0.9
    assert (await world.person("vera").refused(set_rate, **pair, date="2026-11-21", value=1.0)).status == 403
    for wrong in ({"value": 0.0}, {"value": -1.0}, {"value": 1e300}, {"date": "soon"}, {"currency_code_to": "USD"}):
        assert (await marina.refused(set_rate, **({**pair, "date": "2026-11-21", "value": 1.0} | wrong))).status == 400
    strange = {"currency_code_from": "XXX", "currency_code_to": "EUR"}
    assert (await marina.refused("fintransaction.exchange.rate.custom.list", **strange)).status == 404


async def test_cashboxes_are_for_those_on_their_list(world: World) -> None:
    """In their order; with the offset form of dates."""
    owner = await world.owner().call("finance.transaction.cashbox-list")
    assert [each["id"] for each in owner] == [1, 2, 3, 4, 5, 6]
    assert owner[0]["access_blocks"][0] == {"id": 1, "type": "block", "block_id": 4, "nested": True, "parents": False}
    assert owner[0]["opening_balance_date"] == "2025-11-20T00:00:00+00:00"
    vera = await world.person("vera").call("finance.transaction.cashbox-list")
    assert [each["id"] for each in vera] == [2, 6]
    anna = await world.person("anna").call("finance.transaction.cashbox-list")
    assert [each["id"] for each in anna] == [2, 3, 5, 6]


async def test_an_expense_is_logged(world: World) -> None:
    """As it was sent, in the viewer's name, on this day."""
    data = {"operation": "a1", "nested": {"list": [1, None, "é"]}}
    made = await world.person("vera").call(CREATE, **TAXI, description="taxi", data=data, project_id=5)
    assert {name: made[name] for name in TAXI} == TAXI
    assert (made["user_id"], made["description"], made["data"], made["project_id"]) == ("vera", "taxi", data, 5)
    assert made["report_date"] == made["creation_date"] == "2026-11-21T12:00:00+00:00"
    assert made["sum_charge"] is made["cashbox_id_topup"] is made["delete_date"] is None
    listed = await world.person("vera").call(LIST, type="out")
    assert listed[0] == made


async def test_a_date_in_data_is_the_day_it_counts_on(world: World) -> None:
    """Of a receipt, or of yesterday; something else there is left alone, a text that is no date is refused."""
    vera = world.person("vera")
    made = await vera.call(CREATE, **TAXI, data={"date": "2026-11-20"})
    assert made["report_date"] == "2026-11-20T00:00:00+00:00"
    assert made["creation_date"] == "2026-11-21T12:00:00+00:00"
    moved = await vera.call(UPDATE, id=made["id"], type="out", category_id=101, data={"date": "2026-11-19 08:00:00"})
    assert moved["report_date"] == "2026-11-19T08:00:00+00:00"
    kept = await vera.call(UPDATE, id=made["id"], type="out", category_id=101, data={"note": 1})
    assert kept["report_date"] == "2026-11-19T08:00:00+00:00"
    assert (await vera.call(CREATE, **TAXI, data={"date": 7}))["report_date"] == "2026-11-21T12:00:00+00:00"
    for date in ("yesterday", "1066-10-14", "9999-12-31T23:59:59-23:00"):
        assert (await vera.refused(CREATE, **TAXI, data={"date": date})).status == 400


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"sum": None}, 400),
        ({"sum": 0}, 400),
        ({"cashbox_id": None}, 400),
        ({"cashbox_id": 1}, 403),
        ({"cashbox_id": 99}, 404),
        ({"category_id": 99}, 404),
        ({"category_id": 302}, 400),
        ({"type": "loan"}, 400),
        ({"sum_charge": 5}, 400),
        ({"user_id": "lily"}, 403),
        ({"user_id": "nobody"}, 404),
        ({"user_id": "arthur"}, 404),
    ],
)
async def test_an_expense_that_cannot_be(world: World, fields: dict[str, Any], status: int) -> None:
    """Each with its own refusal."""
    assert (await world.person("vera").refused(CREATE, **(TAXI | fields))).status == status


async def test_superiors_and_finance_log_for_others(world: World) -> None:
    """And so does the owner's key, for a bot."""
    for person in ("sofia", "lily"):
        assert (await world.person(person).call(CREATE, **TAXI, user_id="vera"))["user_id"] == "vera"
    assert (await world.owner().call(CREATE, **TAXI, user_id="boris"))["user_id"] == "boris"


async def test_archived_places_take_nothing_new(world: World) -> None:
    """Neither cashbox nor category; what is there stays."""
    vera = world.person("vera")
    made = await vera.call(CREATE, **TAXI)
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE cashboxes SET is_archived = true WHERE id = 2")
        connection.exec_driver_sql("UPDATE categories SET is_archived = true WHERE id = 101")
    assert (await vera.refused(CREATE, **TAXI)).status == 409
    assert (await vera.refused(CREATE, **(TAXI | {"cashbox_id": 6}))).status == 409
    changed = await vera.call(UPDATE, id=made["id"], type="out", category_id=101, description="kept")
    assert changed["description"] == "kept"


async def test_a_move_keeps_both_sums(world: World) -> None:
    """Between currencies they differ, within one they may not."""
    simon = world.person("simon")
    move: dict[str, Any] = {"type": "move", "category_id": 400, "cashbox_id_charge": 4, "cashbox_id_topup": 1}
    made = await simon.call(CREATE, **move, sum_charge=1000, sum_topup=860)
    assert (made["sum_charge"], made["sum_topup"], made["sum"]) == (1000, 860, None)
    within = {"type": "move", "category_id": 400, "cashbox_id_charge": 1, "cashbox_id_topup": 2}
    assert (await simon.refused(CREATE, **within, sum_charge=100, sum_topup=99)).status == 400
    assert (await world.person("vera").refused(CREATE, **within, sum_charge=5, sum_topup=5)).status == 403


async def test_a_transaction_is_changed_by_its_author_their_superiors_and_finance(world: World) -> None:
    """Type and sides change together."""
    made = await world.person("vera").call(CREATE, **TAXI)
    change: dict[str, Any] = {"id": made["id"], "type": "out", "category_id": 102, "sum": 500}
    assert (await world.person("boris").refused(UPDATE, **change)).status == 403
    for person in ("vera", "victor", "lily"):
        assert (await world.person(person).call(UPDATE, **change))["sum"] == 500
    turned = await world.person("lily").call(
        UPDATE, id=made["id"], type="move", category_id=400, cashbox_id_charge=1, cashbox_id_topup=2, sum_charge=5,
        sum_topup=5, user_id="rose",
    )  # fmt: skip
    assert (turned["type"], turned["sum"], turned["cashbox_id"], turned["user_id"]) == ("move", None, None, "rose")
    assert (await world.person("lily").refused(UPDATE, id=99999, type="out", category_id=101)).status == 404
    assert (await world.person("lily").refused(UPDATE, id=made["id"], type="out", category_id=101)).status == 400


async def test_deleted_transactions_no_longer_count(world: World) -> None:
    """They leave the list and the count; all or none."""
    vera, lily = world.person("vera"), world.person("lily")
    count = "fintransaction.transaction.get.total.count"
    before = await vera.call(count)
    ids = [(await vera.call(CREATE, **TAXI))["id"] for _ in range(3)]
    assert await vera.call(count) == before + 3
    delete = "fintransaction.transaction.delete"
    assert (await vera.refused(delete, ids=[ids[0], 99999])).status == 404
    assert (await vera.refused(delete, ids=[ids[0]], type="in")).status == 400
    assert (await vera.refused(delete, ids=[])).status == 400
    assert (await world.person("boris").refused(delete, ids=[ids[0]])).status == 403
    assert await vera.call(count) == before + 3
    assert await vera.call(delete, ids=[ids[0], ids[1], ids[0]], type="out") is True
    assert await vera.call(count) == before + 1
    assert not {ids[0], ids[1]} & {each["id"] for each in await lily.call(LIST, type="out")}
    assert (await vera.refused(delete, ids=[ids[0]])).status == 404
    assert (await vera.refused(UPDATE, id=ids[0], type="out", category_id=101)).status == 404


async def test_lists_hold_one_type_of_the_viewers_cashboxes(world: World) -> None:
    """Newest first; a move is seen from both its ends."""
    vera, owner = world.person("vera"), world.owner()
    mine = await vera.call(LIST, type="out")
    assert {each["cashbox_id"] for each in mine} == {2, 6}
    assert {each["type"] for each in mine} == {"out"}
    dates = [each["report_date"] for each in mine]
    assert dates == sorted(dates, reverse=True)
    moves = await vera.call(LIST, type="move")
    assert moves
    assert all({each["cashbox_id_charge"], each["cashbox_id_topup"]} & {2, 6} for each in moves)
    assert len(await owner.call(LIST, type="move")) > len(moves)
    assert (await vera.refused(LIST)).status == 400


Fits = Callable[[dict[str, Any]], bool]

FILTERS: list[tuple[Any, Fits]] = [
    ({"field": "category_id", "value": 101}, lambda t: t["category_id"] == 101),
    ({"field": "category_id", "operator": "eq", "value": "101"}, lambda t: t["category_id"] == 101),
    ({"field": "category_id", "operator": "!=", "value": 101}, lambda t: t["category_id"] != 101),
    ({"field": "category_id", "value": [101, 112]}, lambda t: t["category_id"] in {101, 112}),
    ({"field": "category_id", "operator": "not_in", "value": [101]}, lambda t: t["category_id"] != 101),
    ({"field": "sum", "operator": ">=", "value": 1000}, lambda t: t["sum"] >= 1000),
    ({"field": "sum", "operator": "lt", "value": 20}, lambda t: t["sum"] < 20),
    ({"field": "sum", "operator": "between", "value": [20, 30]}, lambda t: 20 <= t["sum"] <= 30),
    (
        {"field": "description", "operator": "contains", "value": "TAXI"},
        lambda t: "taxi" in str(t["description"]).lower(),
    ),
    ({"field": "description", "operator": "contains", "value": "%"}, lambda t: "%" in t["description"]),
    ({"field": "project_id", "value": None}, lambda _: True),
    ({"field": "project_id", "operator": "ne", "value": None}, lambda _: False),
    ({"field": "report_date", "value": "2026-11-19"}, lambda t: t["report_date"][:10] == "2026-11-19"),
    (
        {"field": "report_date", "operator": "in", "value": ["2026-11-19", "2026-11-20"]},
        lambda t: t["report_date"][:10] in {"2026-11-19", "2026-11-20"},
    ),
    ({"field": "report_date", "operator": "lte", "value": "2026-01-31"}, lambda t: t["report_date"] < "2026-02"),
    ({"field": "report_date", "operator": "gt", "value": "2026-10-31"}, lambda t: t["report_date"] > "2026-11"),
    ({"report_date": ["2026-10-01", "2026-10-31"]}, lambda t: t["report_date"][:7] == "2026-10"),
    (
        {"user_id": ["vera", "igor"], "cashbox_id": 2},
        lambda t: t["user_id"] in {"vera", "igor"} and t["cashbox_id"] == 2,
    ),
    ({"user_id": "vera"}, lambda t: t["user_id"] == "vera"),
]


@pytest.mark.parametrize(("condition", "fits"), FILTERS, ids=[str(each[0]) for each in FILTERS])
async def test_a_filter_lets_through_what_fits(world: World, condition: Any, fits: Fits) -> None:
    """The same rows as picking them by hand."""
    owner = world.owner()
    everything = await owner.call(LIST, type="out")
    found = await owner.call(LIST, type="out", filter=[condition])
    assert found == [each for each in everything if fits(each)]


async def test_several_conditions_must_all_hold(world: World) -> None:
    """An empty list is none."""
    owner = world.owner()
    both = await owner.call(LIST, type="out", filter=[{"category_id": 101}, {"field": "cashbox_id", "value": 3}])
    assert both
    assert all(each["category_id"] == 101 and each["cashbox_id"] == 3 for each in both)
    assert await owner.call(LIST, type="out", filter=[]) == await owner.call(LIST, type="out")


@pytest.mark.parametrize(
    "condition",
    [
        "category_id",
        {},
        [],
        None,
        {"field": "secret", "value": 1},
        {"field": ["sum"], "value": 1},
        {"secret": 1},
        {"field": "sum", "operator": "like", "value": 1},
        {"field": "sum", "operation": "eq", "value": 1},
        {"field": "sum", "operator": "in", "value": 5},
        {"field": "sum", "operator": "between", "value": [5]},
        {"field": "sum", "value": "many"},
        {"field": "sum", "value": 1.5},
        {"field": "sum", "value": True},
        {"field": "sum", "operator": "contains", "value": "1"},
        {"field": "user_id", "value": 7},
        {"field": "report_date", "value": "soon"},
        {"field": "report_date", "value": 20261101},
        {"sum": {"a": 1}},
    ],
    ids=str,
)
async def test_a_filter_that_means_nothing_is_refused(world: World, condition: Any) -> None:
    """With a sentence that names the place."""
    refusal = await world.owner().refused(LIST, type="out", filter=[{"sum": 1}, condition])
    assert refusal.status == 400
    assert "filter[1]" in refusal.sentence


DAYS = [f"20{year}-{month:02}-{day:02}" for year in range(10, 20) for month in range(1, 11) for day in range(1, 11)]


async def test_a_filter_may_be_as_large_as_it_may(world: World) -> None:
    """At the limits it is answered, dates and texts included, whatever SQLite takes in one statement."""
    owner = world.owner()
    everything = await owner.call(LIST, type="out")
    for filters in (
        [{"field": "report_date", "operator": "in", "value": DAYS}],
        [{"field": "report_date", "operator": "not_in", "value": [*DAYS[:999], everything[0]["report_date"]]}],
        [{"field": "sum", "value": list(range(10))}] * 100,
        [dict.fromkeys(("id", "sum", "cashbox_id", "category_id", "project_id"), 1)] * 20,
        [{"field": "description", "operator": "contains", "value": "x_" * 100}] * 100,
    ):
        assert all(row in everything for row in await owner.call(LIST, type="out", filter=filters))


TOO_LARGE: list[tuple[list[Any], str]] = [
    ([{"sum": 1}] * 101, "more than 100 conditions"),
    ([{}] * 101, "more than 100 conditions"),
    ([{"sum": 1, "id": 1, "cashbox_id": 1}] * 40, "more than 100 conditions"),
    ([{"field": "report_date", "operator": "in", "value": DAYS * 3}], "more than 1000 values"),
    ([{"sum": list(range(501))}] * 2, "more than 1000 values"),
    ([{"field": "description", "operator": "contains", "value": "x" * 201}], "at most 200 characters"),
]


@pytest.mark.parametrize(("filters", "told"), TOO_LARGE, ids=range(6))
async def test_a_filter_that_is_too_large_is_refused(world: World, filters: list[Any], told: str) -> None:
    """With the limit in the sentence, not with a fault of the database."""
    refusal = await world.owner().refused(LIST, type="out", filter=filters)
    assert (refusal.status, refusal.code) == (400, "invalid_request")
    assert told in refusal.sentence


@pytest.mark.parametrize(("grouping", "length"), [("day", 10), ("week", 10), ("month", 7), ("year", 4)])
async def test_groups_add_up(world: World, grouping: str, length: int) -> None:
    """One transaction for each period and cashbox, newest first; nothing is lost or counted twice."""
    owner = world.owner()
    for kind, name in (("out", "sum"), ("move", "sum_charge")):
        everything = await owner.call(LIST, type=kind)
        groups = await owner.call(LIST, type=kind, group_by=grouping)
        assert sum(each[name] for each in groups) == sum(each[name] for each in everything)
        assert sum(each["data"]["count"] for each in groups) == len(everything)
        keys = [
            (each["report_date"], each["cashbox_id"], each["cashbox_id_charge"], each["cashbox_id_topup"])
            for each in groups
        ]
        assert len(set(keys)) == len(keys)
        assert [key[0] for key in keys] == sorted((key[0] for key in keys), reverse=True)
        if grouping != "week":
            rows = {(each["report_date"][:length], each["cashbox_id"]) for each in everything}
            assert {(each["report_date"][:length], each["cashbox_id"]) for each in groups} == rows


async def test_weeks_begin_on_monday(world: World) -> None:
    """Sunday belongs to the week before."""
    vera = world.person("vera")
    for day in ("2026-11-15", "2026-11-16"):
        await vera.call(CREATE, **(TAXI | {"cashbox_id": 6}), data={"date": day}, project_id=77)
    groups = await vera.call(LIST, type="out", filter=[{"project_id": 77}], group_by="week")
    assert [each["description"] for each in groups] == ["2026-11-16", "2026-11-09"]


async def test_categories_are_kept_in_a_tree(world: World) -> None:
    """Created under a parent of the same type, renamed, moved; never under themselves."""
    marina = world.person("marina")
    create, change = "fintransaction.category.create", "fintransaction.category.update"
    drinks = await marina.call(create, name=" Drinks ", parent_id=110, block_id=4)
    assert (drinks["name"], drinks["transaction_type"], drinks["parent_id"], drinks["block_id"]) == (
        "Drinks",
        "out",
        110,
        4,
    )
    assert (drinks["author_id"], drinks["is_archived"]) == ("marina", False)
    water = await marina.call(create, name="Water", transaction_type="out", parent_id=drinks["id"])
    renamed = await marina.call(change, id=drinks["id"], name="Cold drinks")
    assert (renamed["name"], renamed["parent_id"], renamed["block_id"]) == ("Cold drinks", 110, 4)
    freed = await marina.call(change, id=drinks["id"], parent_id=None, block_id=None)
    assert (freed["parent_id"], freed["block_id"]) == (None, None)
    assert (await marina.refused(change, id=drinks["id"], parent_id=water["id"])).status == 400
    for operation, fields, status in (
        (create, {"name": "x"}, 400),
        (create, {"name": "x", "transaction_type": "loan"}, 400),
        (create, {"name": " ", "transaction_type": "out"}, 400),
        (create, {"name": "x", "transaction_type": "in", "parent_id": 110}, 400),
        (create, {"name": "x", "transaction_type": "out", "block_id": 999}, 400),
        (create, {"name": "x", "transaction_type": "out", "parent_id": 999}, 404),
        (create, {"id": 5, "name": "x", "transaction_type": "out"}, 400),
        (change, {"name": "x"}, 400),
        (change, {"id": 999, "name": "x"}, 404),
    ):
        assert (await marina.refused(operation, **fields)).status == status, (operation, fields)
    assert (await world.person("vera").refused(create, name="x", transaction_type="out")).status == 403


async def test_a_category_in_use_is_archived_another_deleted(world: World) -> None:
    """As the documents say; one with subcategories waits for these."""
    marina = world.person("marina")
    archive = "fintransaction.category.archive"
    fresh = await marina.call("fintransaction.category.create", name="Fresh", transaction_type="out")
    assert await marina.call(archive, id=fresh["id"]) is True
    assert await marina.call(archive, id=101) is True
    listed = {each["id"]: each for each in await marina.call("fintransaction.category.list")}
    assert fresh["id"] not in listed
    assert listed[101]["is_archived"] is True
    assert (await marina.refused(archive, id=110)).status == 409
    assert (await marina.refused(archive)).status == 400
    assert (await marina.refused(archive, id=999)).status == 404
    under = {"name": "x", "transaction_type": "out", "parent_id": 101}
    assert (await marina.refused("fintransaction.category.create", **under)).status == 409
