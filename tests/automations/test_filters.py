"""The filters that automations bring along, used as a file uses them."""

from decimal import Decimal
from typing import Any

import pytest

from automations.expressions import ExpressionFailed, evaluate
from automations.filters import FILTERS

RATES = [
    {"code": "USD", "base": "USD", "quote": "RUB", "date": "2026-11-21", "value": Decimal("84.00")},
    {"code": "EUR", "base": "EUR", "quote": "RUB", "date": "2026-11-21", "value": Decimal("97.50")},
]


def earlier(code: str, *rates: tuple[str, float]) -> list[dict[str, Any]]:
    """An answer of fintransaction.exchange.rate.custom.list."""
    return [
        {"currency_code_from": code, "currency_code_to": "RUB", "date": date, "value": value} for date, value in rates
    ]


def moved(answers: Any, rates: Any = None, percent: Any = 5) -> Any:
    scope = {"steps": {"rates": RATES if rates is None else rates, "moved": answers}, "vars": {"percent": percent}}
    return evaluate("{{ steps.rates | moved_more_than(steps.moved, percent=vars.percent) }}", scope)


GATE: list[tuple[Any, bool]] = [
    ([earlier("USD", ("2026-11-20", 83.0)), earlier("EUR", ("2026-11-20", 97.0))], False),
    ([earlier("USD", ("2026-11-20", 79.0)), earlier("EUR", ("2026-11-20", 97.0))], True),
    # exactly five percent is not more than five percent
    ([earlier("USD", ("2026-11-20", 80.0)), []], False),
    ([earlier("USD", ("2026-11-20", 79.999)), []], True),
    # of several, the newest that is not later than the new rate
    ([earlier("USD", ("2026-11-20", 83.0), ("2026-10-01", 60.0)), []], False),
    ([earlier("USD", ("2026-10-01", 83.0), ("2026-11-20", 60.0)), []], True),
    ([earlier("USD", ("2026-11-22", 60.0), ("2026-11-20", 83.0)), []], False),
    # the order of the answers says nothing, and nothing is known of a currency without an earlier rate
    ([earlier("EUR", ("2026-11-20", 97.0)), earlier("USD", ("2026-11-20", 10.0))], True),
    ([[], []], False),
    ([], False),
    # from zero, every change is more
    ([earlier("USD", ("2026-11-20", 0)), []], True),
    # one answer alone, and a record without a value
    (earlier("USD", ("2026-11-20T00:00:00+03:00", 60.0)), True),
    ([[{"currency_code_from": "USD", "currency_code_to": "RUB", "date": "2026-11-20", "value": None}]], False),
]


@pytest.mark.parametrize(("answers", "expected"), GATE)
def test_rates_that_moved(answers: Any, expected: bool) -> None:
    """The sanity gate of the rates: more than five percent from the company's newest own rate."""
    assert moved(answers) is expected


def test_a_pair_given_the_other_way_round_counts() -> None:
    """The company keeps roubles in dollars, the bank publishes dollars in roubles."""
    kept = [{"currency_code_from": "RUB", "currency_code_to": "USD", "date": "2026-11-20", "value": 1 / 84}]
    assert moved([kept]) is False
    kept[0]["value"] = 1 / 60
    assert moved([kept]) is True


@pytest.mark.parametrize(
    ("answers", "rates", "percent", "told"),
    [
        (3, None, 5, "compares with a list of answers, not with a number"),
        ([3], None, 5, "takes a list of maps, not a number"),
        ([], 7, 5, "moved_more_than takes a list of maps, not a number"),
        ([], [{"code": "USD"}], 5, "a rate has no base: moved_more_than takes what a rates step gives"),
        ([], None, "5", "percent should be a number, not a text"),
        ([], None, True, "percent should be a number, not true or false"),
        ([], None, -1, "percent should not be below 0"),
        ([earlier("USD", ("soon", 1.0))], None, 5, "'soon' is no date"),
    ],
)
def test_what_is_no_rate_is_told(answers: Any, rates: Any, percent: Any, told: str) -> None:
    """Strict about types: a gate that cannot compare does not say that nothing moved."""
    with pytest.raises(ExpressionFailed) as caught:
        moved(answers, rates, percent)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'2026-11-21' | plus_days(10)", "2026-12-01"),
        ("'2026-11-21' | plus_days(-21)", "2026-10-31"),
        ("'2026-11-21T23:30:00Z' | plus_days(1)", "2026-11-22T23:30:00Z"),
        ("'2026-11-21T02:00:00+03:00' | plus_days(1)", "2026-11-22T02:00:00+03:00"),
        ("'2026-11-21 02:00:00' | plus_days(1)", "2026-11-22 02:00:00"),
        ("'2026-01-31' | plus_months(1)", "2026-02-28"),
        ("'2024-01-31' | plus_months(1)", "2024-02-29"),
        ("'2026-12-15' | plus_months(1)", "2027-01-15"),
        ("'2026-01-15' | plus_months(-1)", "2025-12-15"),
        ("'2026-03-31T12:00:00Z' | plus_months(-1)", "2026-02-28T12:00:00Z"),
        ("'2026-11-21' | first_of_month", "2026-11-01"),
        ("'2026-02-21' | last_of_month", "2026-02-28"),
        ("'2026-11-21T10:00:00Z' | last_of_month", "2026-11-30T10:00:00Z"),
        ("'2026-11-21' | plus_months(1) | first_of_month | plus_days(-1)", "2026-11-30"),
        ("'2026-11-21' | weekday", 6),
        ("'2026-11-22T10:00:00Z' | weekday", 7),
        ("'2026-11-21' | days_until('2026-12-01')", 10),
        ("'2026-11-21T23:59:59Z' | days_until('2026-11-22')", 1),
        ("'2026-11-21' | days_until('2026-11-20')", -1),
        ("'2026-11-02' | format_date('%d.%m.%Y')", "02.11.2026"),
        ("'2026-11-02T07:05:09Z' | format_date('%-d.%-m.%y %H:%M:%S')", "2.11.26 07:05:09"),
        ("'2026-11-02' | format_date('%j %u %V %G %%')", "306 1 45 2026 %"),
    ],
)  # fmt: skip
def test_dates(expression: str, value: Any) -> None:
    """Dates and moments keep the form in which they were written."""
    assert evaluate(f"{{{{ {expression} }}}}", {}) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1250000 | money", "1 250 000"),
        ("1250000 | money(currency='RUB')", "1 250 000_RUB"),
        ("125000050 | money(2, 'RUB')", "1 250 000.50_RUB"),
        ("5 | money(2)", "0.05"),
        ("-1234 | money", "−1 234"),
        ("1.005 | money", "1.01"),
        ("rate | money", "1 234.50"),
        ("0 | money(2)", "0.00"),
    ],
)
def test_money(expression: str, value: str) -> None:
    """Groups are parted by a narrow space that does not break; sums in hundredths are shown in units."""
    shown = evaluate(f"{{{{ {expression} }}}}", {"rate": Decimal("1234.5")})
    assert shown == value.replace(" ", "\u202f").replace("_", "\u00a0")


PEOPLE = [{"id": 7, "name": "Anna", "sum": Decimal("12.50")}, {"id": 12, "name": "Борис", "sum": 3, "note": "a\nb"}]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(people | by('id'))[7].name", "Anna"),
        ("(people | by('name'))['Anna'].id", 7),
        ("people | by('id') | list", ["7", "12"]),
        ("[] | by('id')", {}),
        ("people | table", "id  name     sum  note\n 7  Anna   12.50\n12  Борис      3  a b"),
        ("people | table('name', 'id')", "name   id\nAnna    7\nБорис  12"),
        ("[] | table", ""),
        ("people | sum('sum')", Decimal("15.50")),
        ("[3, 1, 3] | unique", [3, 1]),
    ],
)
def test_lists_of_maps(expression: str, value: Any) -> None:
    """A list as a map, as a text in columns, summed exactly."""
    assert evaluate(f"{{{{ {expression} }}}}", {"people": PEOPLE}) == value


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("3 | plus_days(1)", "a date should be a text such as 2026-11-21, not a number"),
        ("'21.11.2026' | plus_days(1)", "'21.11.2026' is no date: write 2026-11-21 or 2026-11-21T02:00:00Z"),
        ("'2026-02-30' | weekday", "is no date"),
        ("'2026-11-21' | plus_days(1.5)", "plus_days should be a whole number, not 1.5"),
        ("'2026-11-21' | plus_days(true)", "plus_days should be a whole number, not true or false"),
        ("'2026-11-21' | plus_days(10 ** 9)", "plus_days should be at most 400,000"),
        ("'9999-12-31' | plus_days(1)", "9999-12-31 is too near to the end of the calendar"),
        ("'9999-12-31' | plus_months(1)", "9999-12-31 is too near to the end of the calendar"),
        ("'2026-11-21' | format_date('%B')", "format_date does not know %B; there are %d, %-d"),
        ("'2026-11-21' | format_date(7)", "format_date takes a form such as '%d.%m.%Y', not a number"),
        ("'2026-11-21' | format_date('%')", "format_date does not know %"),
        ("'12' | money", "money should be a number, not a text"),
        ("none | money", "money should be a number, not null"),
        ("12 | money(3)", "scale is 0 or 2"),
        ("12 | money(0, 7)", "currency should be a text such as RUB, not a number"),
        ("(10 ** 40) | money", "money is too large"),
        ("(1e308 * 10) | money", "money should be a number, not Infinity"),
        ("people | by('nope')", "by: an item has no 'nope'"),
        ("(people + people) | by('id')", "by: id 7 is there twice"),
        ("people | by('sum')", "by: sum should be a text or a whole number, not a number"),
        ("[1] | table", "table takes a list of maps, not a list with a number in it"),
        ("missing | by('id')", "'missing' is undefined"),
        ("([{'a': 'x' * 99999}] * 99) | table", "more than 1,000,000 characters"),
    ],
)
def test_what_a_filter_refuses(expression: str, told: str) -> None:
    """Wrong types, dates that are none, and results without an end, each with a sentence."""
    with pytest.raises(ExpressionFailed) as caught:
        evaluate(f"{{{{ {expression} }}}}", {"people": PEOPLE})
    assert told in str(caught.value)


def test_every_filter_has_its_words() -> None:
    """Each filter says what it does."""
    assert [name for name, filter_ in FILTERS.items() if not filter_.__doc__] == []
