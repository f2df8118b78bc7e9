"""The sample company is believable and whole, in both languages, on whatever day it is loaded."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from storage import Database, open_database
from tests.server.world import TODAY, World
from workspace_api.server.json_values import as_list, as_map
from workspace_api.server.opening import prepare
from workspace_api.server.rules.money import balance
from workspace_api.server.sample import sample_company
from workspace_api.server.schema import cashboxes, requests, transactions, users


@pytest.mark.parametrize(("language", "day"), [("ru", TODAY), ("en", date(2028, 2, 29)), ("en", date(2027, 1, 1))])
def test_it_loads_on_any_day(tmp_path: Path, language: Any, day: date) -> None:
    """With the same people and requests."""
    with open_database(f"sqlite:///{tmp_path / 'w.db'}") as database:
        prepare(database, language, today=lambda: day)
        with database.read() as connection:
            names = {row[0]: row[1] for row in connection.execute(select(users.c.user_id, users.c.user_name))}
            states = Counter(connection.execute(select(requests.c.status)).scalars())
            latest = connection.execute(
                select(transactions.c.report_date).order_by(transactions.c.report_date.desc())
            ).scalar()
        assert names["anna"] == {"ru": "Анна Беляева", "en": "Anna Bennett"}[language]
        assert states == {"progress": 18, "accept": 3, "paid": 2, "reject": 2}
        assert latest is not None
        assert latest < day.isoformat()
        assert_balances(database)


def assert_balances(database: Database) -> None:
    """No cashbox is ever empty: neither on the last day nor on any before it."""
    with database.read() as connection:
        boxes = connection.execute(select(cashboxes.c.id, cashboxes.c.opening_balance)).all()
        rows = [
            dict(row)
            for row in connection.execute(select(transactions).order_by(transactions.c.report_date)).mappings()
        ]
    for cashbox_id, opening in boxes:
        running = opening
        for row in rows:
            running = balance(cashbox_id, running, [row])
            assert running > 0, (cashbox_id, row["report_date"])


async def test_it_has_what_the_tour_shows(world: World) -> None:
    """About sixty people, six cashboxes in three currencies, thirty articles, a year of money."""
    owner = world.owner()
    assert len([each for each in await owner.call("user.profile.list") if not each["is_disabled"]]) > 55
    boxes = await owner.call("finance.transaction.cashbox-list")
    assert len(boxes) == 6
    assert len({each["currency_code"] for each in boxes}) == 3
    assert len(await owner.call("wiki.article.list")) == 30
    assert await owner.call("fintransaction.transaction.get.total.count") > 2000
    assert len(await owner.call("tasks.task.list")) > 30
    months = {each["report_date"][:7] for each in await owner.call("finance.transaction.list", type="out")}
    assert len(months) == 13


async def test_requests_stand_where_the_file_says(world: World) -> None:
    """Every state, with chains and history from the real rules, on past days."""
    found = {each["id"]: each for each in await world.owner().call("finplan.request.list")}
    assert set(found) == set(range(1, 26))
    assert found[9]["need_accept"] == [2, 1, 4]
    assert found[10]["required_accept"] == [1, 2, 4]
    assert found[12]["need_accept"] == [3, 1, 2, 4]
    assert found[14]["need_accept"] == [4]
    assert found[25]["required_accept"] == [30, 4, 1, 2]
    assert (found[18]["status"], found[18]["need_accept"]) == ("progress", [])
    assert (found[22]["status"], found[22]["sum_paid"]) == ("accept", 11400)
    assert (found[23]["status"], [each["type"] for each in found[23]["history"]][-2:]) == ("paid", ["pay", "pay"])
    for each in found.values():
        moments = [line["creation_date"] for line in each["history"]]
        assert moments == sorted(moments)
        assert moments[0] == each["creation_date"]
        assert moments[-1] == each["modification_date"]
        assert moments[-1] < f"{TODAY} 00:00:00"
    waiting = [each["id"] for each in await world.person("anna").call("finplan.request.list") if each["can_accept"]]
    assert waiting == [5, 4, 3, 2, 1]


async def test_everybody_may_log_an_expense(world: World) -> None:
    """Each person who works there may use a cashbox and an expense category, and the people of the tour are there."""
    working = [
        each["user_id"]
        for each in await world.owner().call("user.profile.list")
        if not (each["is_disabled"] or each["is_deleted"])
    ]
    for user_id in working:
        person = world.person(user_id)
        box = (await person.call("finance.transaction.cashbox-list"))[0]
        category = next(
            each
            for each in await person.call("fintransaction.category.list")
            if each["transaction_type"] == "out" and each["parent_id"]
        )
        await person.call(
            "fintransaction.transaction.create", type="out", sum=1, cashbox_id=box["id"], category_id=category["id"]
        )
    assert {each.user_id for each in sample_company().demo} <= set(working)


def test_both_languages_are_complete() -> None:
    """Every text of the Russian twin has Cyrillic where the English one has words."""
    company = sample_company()

    def texts(value: object) -> list[dict[str, str]]:
        members = as_map(value)
        if members is not None and set(members) == {"en", "ru"}:
            return [members]
        items = as_list(value) if members is None else list(members.values())
        return [found for item in items or () for found in texts(item)]

    found = texts(company.model_dump())
    assert len(found) > 500
    for text in found:
        assert text["en"]
        assert text["ru"]
        assert not any("а" <= letter.lower() <= "я" for letter in text["en"]), text
