"""The X-ray: what it compares, and what an approver sees of it below a request's card."""

from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from bot.mirror import first_day
from bot.texts import Texts
from bot.xray import likeness, most_alike, period_of
from tests.bot.house import OpenHouse, hosted, open_house
from workspace_api.contract.finance import TransactionCategory
from workspace_api.contract.finplan import Request

TREE = {
    number: TransactionCategory(id=number, parent_id=parent)
    for number, parent in {1: None, 2: 1, 3: 1, 9: None}.items()
}


def asked(number: int, name: str, **more: object) -> Request:
    """A request for 1,000 € in category 2 where nothing else is said."""
    fields: dict[str, object] = {"type": 2, "sum": 1000, "currency_code": "EUR", "status": "paid"}
    return Request.model_validate({"id": number, "name": name, **fields, **more})


def test_the_same_again_is_the_likest() -> None:
    """Name, category and sum; each makes a difference."""
    request = asked(1, "Two laser levels for Crew North")
    same = likeness(request, asked(2, "Two laser levels for Crew South"), TREE)
    other_category = likeness(request, asked(2, "Two laser levels for Crew South", type=3), TREE)
    elsewhere = likeness(request, asked(2, "Two laser levels for Crew South", type=9), TREE)
    other_sum = likeness(request, asked(2, "Two laser levels for Crew South", sum=100), TREE)
    other_name = likeness(request, asked(2, "Catering at the fair"), TREE)
    assert likeness(request, asked(2, "two LASER levels, for crew north"), TREE) == 100
    assert same > other_category > elsewhere
    assert same > other_sum
    assert same > other_name


def test_words_in_another_order_and_language() -> None:
    """Cyrillic names are compared as Latin ones are."""
    request = asked(1, "Ремонт кромкооблицовочного станка")
    assert likeness(request, asked(2, "Станка кромкооблицовочного ремонт"), TREE) == 100


def test_what_is_missing_counts_for_nothing() -> None:
    """No name, no category, no sum, another currency: no failure, and no likeness out of nothing."""
    empty = Request(id=1)
    assert likeness(empty, Request(id=2), TREE) < 40
    assert likeness(asked(1, "Taxi"), asked(2, "Taxi", currency_code="USD"), TREE) == 75


def test_only_decided_requests_are_compared() -> None:
    """Three at the most, the likest first; what has nothing in common is left out."""
    request = asked(1, "Glass for the front", status="progress")
    others = [
        request,
        asked(2, "Glass for the front", status="progress"),
        asked(3, "Glass for the back", status="reject"),
        asked(4, "Glass for the front", status="accept"),
        asked(5, "Glass", sum=10, type=9),
        asked(6, "Glass for the front door"),
        asked(7, "Catering", sum=999_999, type=9),
    ]
    found = [other.id for other in most_alike(request, others, TREE)]
    assert found[0] == 4
    assert set(found) <= {3, 4, 5, 6}
    assert len(found) == 3
    assert 7 not in [other.id for other in most_alike(request, others[-1:], TREE)]


@pytest.mark.parametrize(
    ("finplan", "month"),
    [
        ("2026-10-01", date(2026, 10, 1)),
        ("2026-10-01 00:00:00", date(2026, 10, 1)),
        ("Q4", date(2026, 11, 1)),
        (None, date(2026, 11, 1)),
    ],
)
def test_the_period_of_a_request(finplan: str | None, month: date) -> None:
    """A month; where the workspace's period is no date, this month."""
    assert period_of(Request(id=1, finplan=finplan), date(2026, 11, 21)) == month


async def test_an_approver_looks_through_a_request(house: OpenHouse) -> None:
    """Two periods, what is left, the author's open requests, a plot; the buttons to decide stay below."""
    helen = await house.linked("helen")
    await helen.says("/requests")
    shown = await helen.card(containing="1 of")
    await helen.presses("X-ray")
    card = await helen.card(containing="Spent in this category")
    request = next(each for each in await house.requests() if each.name and each.name in shown.text)
    boxes = {box.id: box for box in await house.as_user("helen").finance.transaction.cashbox_list()}
    euros = {number for number, box in boxes.items() if box.currency_code == "EUR"}
    spent = await house.owner.finance.transaction.list(type="out")
    texts, this_month = Texts("en", UTC), first_day(datetime.now(UTC).date())
    sums = {
        month: sum(
            each.sum or 0
            for each in spent
            if each.category_id == request.type
            and each.cashbox_id in euros
            and each.report_date
            and first_day(each.report_date.date()) == month
        )
        for month in (this_month, first_day(this_month, -1))
    }
    assert any(sums.values())
    for month, amount in sums.items():
        assert f"{texts.month(month.isoformat())}: €{amount:,}" in card.text
    left = card.text.split("Left in the cashboxes, EUR")[1].split("Most alike")[0]
    assert [box.name for box in boxes.values() if f"{box.name}: €" in left] == [boxes[number].name for number in euros]
    assert "together: €" in left
    assert "Other open requests of" in card.text
    assert "as of" in card.text
    assert any("Approve" in label for row in card.buttons for label in row)
    await helen.waits(lambda chat: chat.last.photo is not None)
    assert helen.last.photo is not None
    assert Image.open(BytesIO(helen.last.photo)).format == "PNG"


async def test_nobody_looks_into_cashboxes_of_others(house: OpenHouse) -> None:
    """Who does not see the main account sees nothing of what was paid from it, and no empty picture."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="Raised floor")
    await anna.presses("X-ray")
    card = await anna.card(containing="Spent in this category")
    assert "Main account" not in card.text
    assert "Office petty cash: €" in card.text
    spent = await house.owner.finance.transaction.list(type="out")
    assert {each.cashbox_id for each in spent if each.category_id == 140} == {1, 5}
    assert card.text.count(": €0") == 2
    await anna.presses("‹ Back")
    await anna.card(containing="Approval")
    assert not [message for message in anna.messages if message.photo]


async def test_what_was_decided_before_is_told_with_its_outcome(house: OpenHouse) -> None:
    """The subcontractors' request that has been paid in part stands among the most alike ones."""
    helen = await house.linked("helen")
    await helen.says("/requests")
    await helen.card(containing="1 of")
    await helen.presses("X-ray")
    card = await helen.card(containing="Most alike so far")
    decided = [each for each in await house.requests() if each.status in {"accept", "paid", "reject"}]
    part = card.text.split("Most alike so far")[1].split("Other open requests")[0]
    named = [each for each in decided if (each.name or "?")[:40] in part]
    assert named
    assert part.count("approved") + part.count("paid in full") + part.count("rejected") >= len(named)


@pytest.mark.parametrize("profile", ["standard", "hosted"])
async def test_in_russian(tmp_path: Path, profile: str) -> None:
    """Every line of it."""
    async with open_house(tmp_path, language="ru", profile=hosted() if profile == "hosted" else None) as house:
        chat = house.chat("helen")
        await chat.starts(house.invite("helen"))
        await chat.card(containing="Это вы?")
        await chat.presses("Да")
        await chat.card(containing="Подключено")
        await chat.says("/requests")
        await chat.card(containing="1 из")
        await chat.presses("Рентген")
        card = await chat.card(containing="Потрачено по этой категории")
        assert "Осталось в кассах, EUR" in card.text
        assert "Самые похожие" in card.text
        assert not [word for word in ("Spent", "Left", "Other", "open", "as of", "paid") if word in card.text]
        await chat.waits(lambda chat: chat.last.photo is not None)
