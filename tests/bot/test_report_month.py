"""The month of a report: which one is meant, what it sums up to, and whose cashboxes count."""

from collections.abc import Sequence
from datetime import UTC, date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dialogues.report_month import bounds, month_of, sums_of
from bot.mirror import Entry, Ledger, first_day
from bot.purse import Purse, may_use
from bot.texts import Texts
from workspace_api.contract.access import AccessItem
from workspace_api.contract.finance import Cashbox, TransactionCategory

TODAY = date(2026, 11, 21)


# Which month


@pytest.mark.parametrize(
    ("words", "month"),
    [
        ("", date(2026, 11, 1)),
        ("2026-10", date(2026, 10, 1)),
        ("2026-10-01", date(2026, 10, 1)),
        ("10.2026", date(2026, 10, 1)),
        ("10/2025", date(2025, 10, 1)),
        ("10", date(2026, 10, 1)),
        ("12", date(2025, 12, 1)),
        ("October", date(2026, 10, 1)),
        ("oct 2025", date(2025, 10, 1)),
        ("Dec", date(2025, 12, 1)),
        ("  ОКТЯБРЬ   2024 ", date(2024, 10, 1)),
        ("октября", date(2026, 10, 1)),
        ("мая", date(2026, 5, 1)),
        ("май", date(2026, 5, 1)),
        ("сент.", date(2026, 9, 1)),
    ],
)
def test_which_month_is_meant(words: str, month: date) -> None:
    """Numbers and names in both languages; without a year the last such month."""
    assert month_of(words, TODAY) == month


@pytest.mark.parametrize(
    "words",
    ["2026-13", "13", "0", "2026-00", "ma", "ju", "1999-05", "99999-01", "yesterday", "10-2", "x" * 500, "²", "٣"],
)
def test_what_is_no_month(words: str) -> None:
    """Thirteen, two letters that may be two months, years beyond reason."""
    assert month_of(words, TODAY) is None


@given(st.text(max_size=20), st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31)))
def test_any_words_are_a_month_or_none(words: str, today: date) -> None:
    """Never an error, and always the first day."""
    month = month_of(words, today)
    assert month is None or month.day == 1


@given(st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31)), st.sampled_from(["en", "ru"]))
def test_a_month_is_read_as_it_is_written(day: date, language: str) -> None:
    """What a button says can be typed."""
    assert month_of(Texts(language, UTC).month(day.isoformat()), TODAY) == first_day(day)


# Sums

TREE = {
    number: TransactionCategory(id=number, parent_id=parent, name=f"c{number}")
    for number, parent in {1: None, 2: 1, 3: 1, 9: None}.items()
}
BOXES = {
    1: Cashbox(id=1, currency_code="EUR"),
    2: Cashbox(id=2, currency_code="USD"),
    3: Cashbox(id=3, currency_code="EUR"),
}


def spent(number: int, amount: int, category: int | None, day: date = TODAY, box: int = 1) -> Entry:
    return Entry(number, "out", day, box, amount, None, 0, category, "anna", "")


def purse(entries: Sequence[Entry]) -> Purse:
    return Purse(Ledger(0.0, tuple(entries)), BOXES, TODAY, UTC)


def test_sums_go_up_the_tree_and_never_over_currencies() -> None:
    """Each uppermost category with what lies in it, its share, and the month before."""
    found = sums_of(
        purse(
            [
                spent(1, 30, 2),
                spent(2, 50, 3),
                spent(3, 20, None, box=3),
                spent(4, 7, 9, box=2),
                spent(5, 11, 2, first_day(TODAY, -1)),
            ]
        ),
        first_day(TODAY),
        "out",
        TREE,
    )
    assert [(each.code, each.total, each.before, each.count) for each in found] == [
        ("EUR", 100, 11, 3),
        ("USD", 7, 0, 1),
    ]
    first, second = found[0].parts
    assert (first.category, first.amount, first.before, first.share) == (1, 80, 11, Decimal("0.8"))
    assert first.inner == ((3, 50), (2, 30))
    assert (second.category, second.amount) == (None, 20)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.sampled_from([None, 1, 2, 3, 9, 77]), st.sampled_from([1, 2, 3]))))
def test_nothing_is_lost_in_a_sum(drawn: list[tuple[int, int | None, int]]) -> None:
    """The parts add up to the total, the inner ones to their part, the shares to one."""
    made = [spent(number, amount, category, box=box) for number, (amount, category, box) in enumerate(drawn)]
    found = sums_of(purse(made), first_day(TODAY), "out", TREE)
    assert sum(each.total for each in found) == sum(amount for amount, _, _ in drawn)
    for each in found:
        assert sum(part.amount for part in each.parts) == each.total
        assert all(sum(amount for _, amount in part.inner) == part.amount for part in each.parts)
        assert not each.total or abs(sum((part.share for part in each.parts), Decimal(0)) - 1) < Decimal("1e-9")


def test_how_far_one_can_turn_the_pages() -> None:
    """From the first entry's month to this one, or to the last where something is booked ahead."""
    assert bounds(purse([])) == (date(2026, 11, 1), date(2026, 11, 1))
    assert bounds(purse([spent(1, 5, 1, date(2026, 3, 9))])) == (date(2026, 3, 1), date(2026, 11, 1))
    assert bounds(purse([spent(1, 5, 1, date(2027, 1, 9))])) == (date(2026, 11, 1), date(2027, 1, 1))


# Who may see which cashbox, where it is not their own key that asks

PARENTS = {1: None, 2: 1, 10: 2, 100: 10, 4: None}


@pytest.mark.parametrize(
    ("items", "mine", "may"),
    [
        ([], [], True),
        ([{"block_id": 10}], [10], True),
        ([{"block_id": 10}], [100], False),
        ([{"block_id": 10, "nested": True}], [100], True),
        ([{"block_id": 10, "nested": True}], [2], False),
        ([{"block_id": 10, "parents": True}], [2], True),
        ([{"block_id": 10, "parents": True}], [100], False),
        ([{"block_id": 4}], [1, 2], False),
        ([{"block_id": 4}, {"block_id": 1, "nested": True}], [100], True),
        ([{"block_id": None}], [1], False),
        ([{"block_id": 1}], [], False),
    ],
)
def test_an_access_list(items: list[dict[str, object]], mine: list[int], may: bool) -> None:
    """The block itself, those under it, those over it; nobody but these."""
    box = Cashbox(id=1, access_blocks=[AccessItem.model_validate(item) for item in items])
    assert may_use(box, mine, PARENTS) is may
