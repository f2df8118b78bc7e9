"""Free text about money: every notation is read back, and what is no sum is not taken for one.

Today is Saturday, 21 November 2026.
"""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dialogues.expense_text import LARGEST, SIGNS, SURE, Entry, NotRepresentable, alike, decimal, parse, to_wire

TODAY = date(2026, 11, 21)
YESTERDAY = date(2026, 11, 20)
CODES = ("EUR", "USD", "RUB", "GBP", "KZT")


def entry(amount: str, words: str, currency: str | None = None, day: date | None = None) -> Entry:
    return Entry(Decimal(amount), currency, day, words)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("450 taxi", entry("450", "taxi")),
        ("450 такси", entry("450", "такси")),
        ("такси 450", entry("450", "такси")),
        ("18 taxi Halden samples", entry("18", "taxi Halden samples")),
        ("450", entry("450", "")),
        ("  450, taxi!  ", entry("450", "taxi!")),
        ("450. Taxi", entry("450", "Taxi")),
        ("такси - 450", entry("450", "такси")),
        ("taxi: 450", entry("450", "taxi")),
        ("1 200,50 usd hotel yesterday", entry("1200.50", "hotel", "USD", YESTERDAY)),
        ("1,200.50 hotel", entry("1200.50", "hotel")),
        ("1.200,50 hotel", entry("1200.50", "hotel")),
        ("1'200.50 hotel", entry("1200.50", "hotel")),
        ("1.200 hotel", entry("1200", "hotel")),
        ("1\u00a0200\u00a0300 flat", entry("1200300", "flat")),
        ("12.5 coffee", entry("12.5", "coffee")),
        ("0,50 copy", entry("0.50", "copy")),
        ("€12.50 coffee", entry("12.50", "coffee", "EUR")),
        ("€ 1.250,50 rent", entry("1250.50", "rent", "EUR")),
        ("100$ gift", entry("100", "gift", "USD")),
        ("100 EUR gift", entry("100", "gift", "EUR")),
        ("gift 100 eur.", entry("100", "gift", "EUR")),
        ("500р бензин вчера", entry("500", "бензин", "RUB", YESTERDAY)),
        ("500 р. бензин", entry("500", "бензин", "RUB")),
        ("500 руб бензин", entry("500", "бензин", "RUB")),
        ("500руб.бензин", entry("500", "бензин", "RUB")),
        ("бензин ₽500", entry("500", "бензин", "RUB")),
        ("20 долларов чаевые", entry("20", "чаевые", "USD")),
        ("5к бензин", entry("5000", "бензин")),
        ("$1k gift", entry("1000", "gift", "USD")),
        ("1,5 тыс. бензин", entry("1500", "бензин")),
        ("2 млн руб станок", entry("2000000", "станок", "RUB")),
        ("позавчера обед 12", entry("12", "обед", None, date(2026, 11, 19))),
        ("12 lunch the day before yesterday", entry("12", "lunch", None, date(2026, 11, 19))),
        ("12 lunch today", entry("12", "lunch", None, TODAY)),
        ("today's lunch 12", entry("12", "today's lunch")),
        ("такси 450 20.11.2026", entry("450", "такси", None, YESTERDAY)),
        ("2026-11-20 hotel 30", entry("30", "hotel", None, YESTERDAY)),
        ("21 ноября 2000 такси", entry("2000", "такси", None, TODAY)),
        ("25 ноября такси 300", entry("300", "такси", None, date(2025, 11, 25))),
        ("30 lunch Nov 20", entry("30", "lunch", None, YESTERDAY)),
        # Of several numbers: the one with a currency, else the first word, else the last one.
        ("3 chairs 120 usd", entry("120", "3 chairs", "USD")),
        ("3 chairs 120", entry("3", "chairs 120")),
        ("hotel 2 nights 240", entry("240", "hotel 2 nights")),
        ("room 101 hotel 80", entry("80", "room 101 hotel")),
        ("12 usd 3", entry("12", "3", "USD")),
        ("450 taxi room 101", entry("450", "taxi room 101")),
        ("450 taxi at 5:30", entry("450", "taxi at 5:30")),
        ("450 звонок +7 915 123-45-67", entry("450", "звонок +7 915 123-45-67")),
    ],
)
def test_sums(text: str, read: Entry) -> None:
    """Sum, currency and day are taken out, the other words stay as they were written."""
    assert parse(text, TODAY, CODES) == read


@pytest.mark.parametrize(
    "text",
    [
        "", "taxi", "такси вчера", "24/7", "room 101 at 5:30", "комната 101", "№ 45", "#45", "at 5:30", "17:05:30",
        "21.11.2026", "2026-11-21", "21/11/2026", "встреча 21 ноября", "Nov 21", "10-15", "10–15", "v1.2.3",
        "a1", "B52",
        "+7 915 123-45-67", "+44 20 7946 0958", "8 (915) 123-45-67", "8 915 123 45 67", "89151234567",
        "-450 taxi", "−450 taxi", "+450", "0 taxi", "0.00", "000", "10% off", "10 % off", "50 000 000 000 000",
        "9" * 30,
        "1e5", "nan", "NaN taxi", "inf", "Infinity", "1,200.500", "1,2,3", "0.125", "12.3456", "10км", "3шт",
        "2nd floor",
    ],
)  # fmt: skip
def test_no_sums(text: str) -> None:
    """Dates, times, telephones, rooms, percentages, quantities, nothing and less than nothing are no sums."""
    assert parse(text, TODAY, CODES) is None


def test_codes_are_those_of_the_workspace() -> None:
    """A code is read where the workspace has the currency, else it is a word; it has to stand beside the sum."""
    assert parse("450 kzt taxi", TODAY, ["KZT"]) == entry("450", "taxi", "KZT")
    assert parse("450 kzt taxi", TODAY, ["EUR"]) == entry("450", "kzt taxi")
    assert parse("all taxis 450", TODAY, ["ALL"]) == entry("450", "all taxis")


GAPS = st.sampled_from(["", " ", "\u00a0", "\u202f", "'", "’", ",", "."])


@given(
    whole=st.integers(1, 10**9 - 1),
    cents=st.none() | st.integers(0, 99),
    gap=GAPS,
    sign=st.none() | st.sampled_from(sorted(SIGNS)),
    first=st.booleans(),
    spaced=st.booleans(),
)
def test_every_notation_is_read_back(
    whole: int, cents: int | None, gap: str, sign: str | None, first: bool, spaced: bool
) -> None:
    """Any sum, grouped in any known way, with and without cents and a sign on either side, before and after words."""
    point = "," if gap == "." else "."
    number = f"{whole:,}".replace(",", gap) + (f"{point}{cents:02d}" if cents is not None else "")
    space = " " if spaced else ""
    text = number if sign is None else f"{sign}{space}{number}" if first else f"{number}{space}{sign}"
    amount = Decimal(whole) + (Decimal(cents) / 100 if cents is not None else 0)
    for written in (f"{text} taxi", f"taxi {text}"):
        assert parse(written, TODAY) == Entry(amount, SIGNS[sign] if sign else None, None, "taxi")


@given(text=st.text(max_size=60) | st.text(alphabet="0123456789 .,-+/:€кkтыс%", max_size=20))
def test_any_text_is_read(text: str) -> None:
    """No text is an error; a sum is above nothing and below what cannot be."""
    read = parse(text, TODAY, CODES)
    assert read is None or 0 < read.amount < LARGEST


@pytest.mark.parametrize(
    ("number", "value"),
    [("450", "450"), ("1 200,50", "1200.50"), ("1,200.50", "1200.50"), ("1.200", "1200"), ("12.5", "12.5")],
)
def test_decimal(number: str, value: str) -> None:
    """A last group of three digits is thousands, a shorter one decimals."""
    assert decimal(number) == Decimal(value)


def test_to_wire() -> None:
    """The workspace's int; what it cannot keep is told, never rounded."""
    assert to_wire(Decimal("12.50"), 2) == 1250
    assert to_wire(Decimal("12.00"), 0) == 12
    for amount, scale in ((Decimal("12.50"), 0), (Decimal("0.125"), 2)):
        with pytest.raises(NotRepresentable):
            to_wire(amount, scale)


CATEGORIES = {1: "Taxi", 2: "Transport", 3: "Timber and boards", 4: "Такси", 5: "Материалы", 6: "Топливо", 7: "Hotels"}


@pytest.mark.parametrize(
    ("words", "best"),
    [
        ("taxi to the airport", 1),
        ("Taxi", 1),
        ("такси до вокзала", 4),
        ("на материалов для кафе", 5),
        ("transprot", 2),
        ("hotel in York", 7),
        ("топлива", 6),
    ],
)
def test_alike(words: str, best: int) -> None:
    """A category is found by a word of its name, with its endings and small errors, and surely enough to be taken."""
    found = alike(words, CATEGORIES)
    assert found[0][0] == best
    assert found[0][1] >= SURE


@pytest.mark.parametrize("words", ["", "at", "lunch", "обед", "xyz", "12"])
def test_alike_to_nothing(words: str) -> None:
    """No category is guessed from words that are like none."""
    assert not [one for one in alike(words, CATEGORIES) if one[1] >= SURE]
