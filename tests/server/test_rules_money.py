"""Rates, balances and the sides of a transaction, as values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspace_api.server.errors import InvalidRequest
from workspace_api.server.rules.money import Rate, balance, check_sides, exchange_rate
from workspace_api.server.schema import MONEY_LIMIT

RATES = [
    Rate("EUR", "USD", "2026-11-01", 1.10),
    Rate("EUR", "USD", "2026-11-10", 1.20),
    Rate("USD", "EUR", "2026-11-12", 0.5),
    Rate("EUR", "RUB", "2026-11-05", 100.0),
    Rate("USD", "KZT", "2026-11-08", 500.0),
]


@pytest.mark.parametrize(
    ("base", "quote", "date", "value"),
    [
        ("EUR", "USD", "2026-11-01", 1.10),
        ("EUR", "USD", "2026-11-09", 1.10),
        ("EUR", "USD", "2026-12-31", 1.20),
        ("EUR", "USD", "2026-10-31", None),
        ("USD", "EUR", "2026-11-11", 1 / 1.20),
        ("USD", "EUR", "2026-11-12", 0.5),
        ("USD", "RUB", "2026-11-11", 100 / 1.20),
        ("RUB", "EUR", "2026-11-05", 1 / 100),
        ("EUR", "EUR", "1999-01-01", 1.0),
        ("RUB", "KZT", "2026-11-20", None),
        ("EUR", "GBP", "2026-11-20", None),
    ],
)
def test_a_rate_is_the_latest_then_the_inverse_then_the_cross(
    base: str, quote: str, date: str, value: float | None
) -> None:
    """On or before the date; over one third currency, not over two."""
    found = exchange_rate(base, quote, date, RATES)
    assert found == (None if value is None else pytest.approx(value))


def test_a_cross_takes_the_freshest_way() -> None:
    """The third currency whose older leg is newest."""
    rates = [
        Rate("A", "OLD", "2026-01-01", 2.0),
        Rate("OLD", "B", "2026-11-01", 2.0),
        Rate("A", "NEW", "2026-10-01", 3.0),
        Rate("NEW", "B", "2026-10-02", 3.0),
    ]
    assert exchange_rate("A", "B", "2026-11-01", rates) == pytest.approx(9.0)


def row(**values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("cashbox_id", "sum", "cashbox_id_charge", "cashbox_id_topup", "sum_charge", "sum_topup"))
    return {**empty, "delete_date": None, **values}


def test_a_balance_is_opening_and_what_came_went_and_moved() -> None:
    """Deleted ones and those of other cashboxes do not count."""
    rows = [
        row(type="in", cashbox_id=1, sum=500),
        row(type="out", cashbox_id=1, sum=120),
        row(type="out", cashbox_id=2, sum=999),
        row(type="out", cashbox_id=1, sum=77, delete_date="2026-11-01 00:00:00"),
        row(type="move", cashbox_id_charge=1, cashbox_id_topup=2, sum_charge=100, sum_topup=116),
        row(type="move", cashbox_id_charge=3, cashbox_id_topup=1, sum_charge=9, sum_topup=8),
    ]
    assert balance(1, 1000, rows) == 1000 + 500 - 120 - 100 + 8
    assert balance(2, 0, rows) == -999 + 116


@given(st.lists(st.integers(1, 10**6)), st.integers(-(10**6), 10**6))
def test_moves_within_a_currency_lose_nothing(sums: list[int], opening: int) -> None:
    """Whatever is written off here is credited there."""
    rows = [row(type="move", cashbox_id_charge=1, cashbox_id_topup=2, sum_charge=each, sum_topup=each) for each in sums]
    assert balance(1, opening, rows) + balance(2, 0, rows) == opening


@pytest.mark.parametrize(
    "values",
    [
        {"type": "out"},
        {"type": "out", "sum": 5},
        {"type": "in", "sum": 0, "cashbox_id": 1},
        {"type": "in", "sum": -1, "cashbox_id": 1},
        {"type": "in", "sum": MONEY_LIMIT + 1, "cashbox_id": 1},
        {"type": "in", "sum": 5, "cashbox_id": 1, "sum_charge": 5},
        {"type": "move", "sum": 5, "cashbox_id": 1},
        {"type": "move", "sum_charge": 5, "sum_topup": 5, "cashbox_id_charge": 1, "cashbox_id_topup": 1},
    ],
)
def test_a_transaction_carries_the_sides_of_its_type(values: dict[str, Any]) -> None:
    """Neither fewer nor others, with sums above zero."""
    with pytest.raises(InvalidRequest):
        check_sides(values)
