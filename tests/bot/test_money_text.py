"""Free text about money: every notation is read back, and what is no sum is not taken for one.

Today is Saturday, 21 November 2026.
"""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.likeness import named, search
from bot.money_text import (
    LARGEST,
    SIGNS,
    SURE,
    Entry,
    Kind,
    Known,
    NotRepresentable,
    Parts,
    alike,
    decimal,
    parse,
    parse_lines,
    parts,
    rounded,
    to_wire,
)

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
        "-450 taxi", "−450 taxi", "+ 50%", "0 taxi", "0.00", "000", "10% off", "10 % off", "50 000 000 000 000",
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


def test_rounded() -> None:
    """The sums on either side, in the workspace's scale; nothing is not offered."""
    assert rounded(Decimal("12.50"), 0) == (12, 13)
    assert rounded(Decimal("0.50"), 0) == (1,)
    assert rounded(Decimal("0.125"), 2) == (12, 13)


HOUSE = Known(
    CODES,
    sites={12: "Halden", 14: "Bergen harbour", 15: "Северный склад"},
    cashboxes={1: "Main account, EUR", 2: "Office petty cash", 3: "Site card", 7: "Касса", 8: "Банк", 9: "Карта"},
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "1 200,50 usd hotel yesterday #trip @card",
            Entry(Decimal("1200.50"), "USD", YESTERDAY, "hotel", "out", "trip", "card"),
        ),
        ("450 такси #поездки @карта", Entry(Decimal(450), None, None, "такси", "out", "поездки", "карта")),
        ("#trip 450 taxi", Entry(Decimal(450), None, None, "taxi", "out", "trip")),
        ("450 taxi #business_trip", Entry(Decimal(450), None, None, "taxi", "out", "business trip")),
        ("450 taxi #«проезд и такси»", Entry(Decimal(450), None, None, "taxi", "out", "проезд и такси")),
        ("450 taxi #halden #trip", Entry(Decimal(450), None, None, "taxi", "out", "trip", site=12)),
        ("450 taxi #bergen", Entry(Decimal(450), None, None, "taxi", "out", None, site=14)),
        ("450 краска #северный", Entry(Decimal(450), None, None, "краска", "out", None, site=15)),
        ("450 taxi #one #two", Entry(Decimal(450), None, None, "taxi #two", "out", "one")),
        ("450 taxi #45", Entry(Decimal(450), None, None, "taxi #45")),
        ("450 mail to a@b.com", Entry(Decimal(450), None, None, "mail to a@b.com")),
        ("перевод 10000 касса → банк", Entry(Decimal(10000), None, None, "", "move", None, "касса", "банк")),
        ("transfer 500 cash to bank", Entry(Decimal(500), None, None, "", "move", None, "cash", "bank")),
        ("transfer 500 from cash to bank yesterday for salaries",
         Entry(Decimal(500), None, YESTERDAY, "salaries", "move", None, "cash", "bank")),
        ("перевод 5к руб из кассы в банк", Entry(Decimal(5000), "RUB", None, "", "move", None, "кассы", "банк")),
        ("перевод с карты на счёт 700", Entry(Decimal(700), None, None, "", "move", None, "карты", "счёт")),
        ("касса -> банк 100", Entry(Decimal(100), None, None, "", "move", None, "касса", "банк")),
        ("move 100 @cash @bank float", Entry(Decimal(100), None, None, "float", "move", None, "cash", "bank")),
        ("transfer 500", Entry(Decimal(500), None, None, "", "move")),
        # An arrow between other words, a ride and a translation are no moves.
        ("450 taxi home → airport", Entry(Decimal(450), None, None, "taxi home → airport")),
        ("transfer 30 airport", Entry(Decimal(30), None, None, "transfer airport")),
        ("перевод документов 450", Entry(Decimal(450), None, None, "перевод документов")),
        ("доход 5000 аренда", Entry(Decimal(5000), None, None, "аренда", "in")),
        ("доход аренда 5000", Entry(Decimal(5000), None, None, "аренда", "in")),
        ("+5000 rent", Entry(Decimal(5000), None, None, "rent", "in")),
        ("+ 1 200,50 usd rent", Entry(Decimal("1200.50"), "USD", None, "rent", "in")),
        ("+450", Entry(Decimal(450), None, None, "", "in")),
        ("Income: 5000 rent", Entry(Decimal(5000), None, None, "rent", "in")),
        ("income tax 5000", Entry(Decimal(5000), None, None, "income tax")),
        ("spent 30 lunch", Entry(Decimal(30), None, None, "lunch")),
        ("2 тысячи бензин", Entry(Decimal(2000), None, None, "бензин")),
        ("2 million usd land", Entry(Decimal(2000000), "USD", None, "land")),
    ],
)  # fmt: skip
def test_kinds_hints_and_routes(text: str, read: Entry) -> None:
    """Income, moves, #categories, #sites and @cashboxes are parts of their own; the rest stays the description."""
    assert parse(text, TODAY, HOUSE) == read


@pytest.mark.parametrize(
    ("text", "day", "words"),
    [
        ("20 taxi on Friday", YESTERDAY, "taxi"),
        ("20 taxi on Monday", date(2026, 11, 16), "taxi"),
        ("20 taxi last sat", date(2026, 11, 14), "taxi"),
        ("20 такси в пятницу", YESTERDAY, "такси"),
        ("20 такси в прошлую пятницу", YESTERDAY, "такси"),
        ("20 такси в субботу", date(2026, 11, 14), "такси"),
        ("20 такси во вторник утром", date(2026, 11, 17), "такси утром"),
        ("20 такси в пн", date(2026, 11, 16), "такси"),
        ("20 taxi friday", YESTERDAY, "taxi"),
        ("Sunday newspaper 20", None, "Sunday newspaper"),
        ("защита среды 20", None, "защита среды"),
        ("20 taxi 3 days ago", date(2026, 11, 18), "taxi"),
        ("20 taxi a week ago", date(2026, 11, 14), "taxi"),
        ("20 такси неделю назад", date(2026, 11, 14), "такси"),
        ("20 такси 2 дня назад", date(2026, 11, 19), "такси"),
        ("20 такси от 20.11", YESTERDAY, "такси"),
        ("20 такси от 25.12", date(2025, 12, 25), "такси"),
        ("20 taxi tomorrow", None, "taxi tomorrow"),
        # The day is no longer in the way of the sum at the end.
        ("hotel 2 nights 20 yesterday", YESTERDAY, "hotel 2 nights"),
    ],
)
def test_days(text: str, day: date | None, words: str) -> None:
    """A day is the last such day; a weekday counts with its preposition or as the last word."""
    assert parse(text, TODAY, CODES) == Entry(Decimal(20), None, day, words)


def test_lines() -> None:
    """Each line with a sum is an entry; a line without one belongs to the entry above, or heads all of them."""
    text = "yesterday #trip\n450 taxi\nto the airport\n\n12 coffee @card\n+500 refund on Monday"
    assert parse_lines(text, TODAY, HOUSE) == (
        Entry(Decimal(450), None, YESTERDAY, "taxi to the airport", "out", "trip"),
        Entry(Decimal(12), None, YESTERDAY, "coffee", "out", "trip", "card"),
        Entry(Decimal(500), None, date(2026, 11, 16), "refund", "in", "trip"),
    )
    assert parse_lines("Lunch with Ann\n450", TODAY) == (Entry(Decimal(450), None, None, "Lunch with Ann"),)
    assert parse_lines("good morning\nhow are you", TODAY) == ()


def test_parts_of_a_reply() -> None:
    """What changes one field of an entry: a sum, a day, a category, a cashbox, or other words."""
    assert parts("500", TODAY, HOUSE) == Parts(Decimal(500))
    assert parts("yesterday", TODAY, HOUSE) == Parts(day=YESTERDAY)
    assert parts("#food", TODAY, HOUSE) == Parts(category="food")
    assert parts("@bank", TODAY, HOUSE) == Parts(cashbox="bank")
    assert parts("#halden", TODAY, HOUSE) == Parts(site=12)
    assert parts("lunch with Ann", TODAY, HOUSE) == Parts(words="lunch with Ann")


WORDS = st.sampled_from(["taxi", "такси", "lunch with Ann", "обед", "Raised floor", "кофе и чай", "flowers"])
HINTS = st.sampled_from(["trip", "food", "поездки", "business trip", "такси"])
BOXES = st.sampled_from(["card", "bank", "касса", "petty cash"])


@given(
    kind=st.sampled_from(["out", "in"]),
    amount=st.decimals(min_value="0.01", max_value=10**6, places=2),
    currency=st.none() | st.sampled_from(CODES),
    day=st.none() | st.dates(date(2020, 1, 1), TODAY),
    words=WORDS,
    category=st.none() | HINTS,
    cashbox=st.none() | BOXES,
    site=st.none() | st.just(12),
    order=st.permutations(range(4)),
)
def test_a_rendered_entry_is_read_back(
    kind: Kind,
    amount: Decimal,
    currency: str | None,
    day: date | None,
    words: str,
    category: str | None,
    cashbox: str | None,
    site: int | None,
    order: list[int],
) -> None:
    """Whatever an entry says, in any order of its parts, comes back to the last cent."""
    said = [
        "" if day is None else day.isoformat(),
        "" if category is None else f"#{category.replace(' ', '_')}",
        "" if cashbox is None else f"@{cashbox.replace(' ', '_')}",
        "" if site is None else "#halden",
    ]
    tail = " ".join(said[place] for place in order if said[place])
    text = f"{'+' if kind == 'in' else ''}{amount} {currency or ''} {words} {tail}"
    assert parse(text, TODAY, HOUSE) == Entry(amount, currency, day, words, kind, category, cashbox, None, site)


@given(
    amount=st.integers(1, 10**9 - 1),
    source=st.sampled_from(["касса", "cash", "petty cash"]),
    target=st.sampled_from(["банк", "bank", "site card"]),
    arrow=st.sampled_from(["→", "->", "=>", ">", "to", "в"]),
    first=st.booleans(),
)
def test_a_rendered_move_is_read_back(amount: int, source: str, target: str, arrow: str, first: bool) -> None:
    """From where and to where, however the arrow is drawn, the sum before or after."""
    route = f"{source} {arrow} {target}"
    text = f"перевод {amount} {route}" if first else f"transfer {route} {amount}"
    assert parse(text, TODAY, HOUSE) == Entry(Decimal(amount), None, None, "", "move", None, source, target)


ODD = st.text(alphabet="0123456789 .,-+/:€kкKſıİтысмлнo#@«»→>\n₽", max_size=24)


@given(text=st.text(max_size=60) | ODD)
def test_any_lines_are_read(text: str) -> None:
    """No text is an error; no more entries than lines, and no sum that cannot be."""
    found = parse_lines(text, TODAY, HOUSE)
    assert len(found) <= len(text.splitlines())
    assert all(0 < one.amount < LARGEST for one in found)


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


@pytest.mark.parametrize(
    ("hint", "number"),
    [("taxi", 1), ("TAX", 1), ("timber", 3), ("board", 3), ("материалы", 5), ("матер", 5), ("топливом", 6), ("t", None),
     ("tran", 2), ("nothing", None), ("", None), ("_", None)],
)  # fmt: skip
def test_named(hint: str, number: int | None) -> None:
    """A hint is a name, its beginning, or the name with another ending; what fits two names is asked."""
    assert named(hint, CATEGORIES) == number


def test_search() -> None:
    """A typed word finds beginnings first, then parts, then what is like it."""
    names = {1: "Site card", 2: "Cardinal account", 3: "Office petty cash", 4: "Касса офиса"}
    assert search("card", names) == [2, 1]
    assert search("касс", names) == [4]
    assert search("ofice", names) == [3]
    assert search("zzz", names) == []
