"""Free text about money, such as `450 taxi` or `1 200,50 usd hotel yesterday`: sum, currency, day, words.

A grammar over plain text, without I/O. What it is not sure of it leaves out, and the card asks. A number is no sum
where it is part of something else: of a date, a time, a telephone number, a percentage, «10 км» or “room 101”.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from rapidfuzz import fuzz

from bot.dialogues.task_text import Day, dates

NUMBER = re.compile(
    r"(?<![\w.,/:+−–-])(?<!№)(?<!№ )(?<!\#)(?P<number>"
    r"[1-9]\d{0,2}(?P<gap>[ \u00a0\u202f'’.,])\d{3}(?:(?P=gap)\d{3})*(?:(?!(?P=gap))[.,]\d{1,2})?"  # 1 200,50
    r"|\d+(?:[.,]\d{1,2})?"  # 450 or 12.5
    r")(?P<times>[kк](?![^\W\d_])|\s?тыс(?![^\W\d_])\.?|\s?млн(?![^\W\d_])\.?)?"
    r"(?![\d/:]|[.,'’−–-]\d|\s?%)",
    re.IGNORECASE,
)

TIMES: Mapping[str, int] = {"k": 1000, "к": 1000, "тыс": 1000, "млн": 1_000_000}

PHONE = re.compile(
    r"\+\d(?:[ ()-]*\d){7,14}|(?<!\w)8[ (-]*\d{3}[ )-]*\d{3}[ -]\d{2}[ -]\d{2}(?!\d)"  # +44 20 7946 0958, 8 (915) …
)

LARGEST = Decimal(10) ** 12
"""No sum reaches it."""

LONGEST = 9
"""Digits in a row; more of them are a telephone, an account or an invoice."""

NAMES_A_THING = {
    "room", "office", "gate", "flat", "floor", "flight", "no", "number", "комната", "комнате", "комнату", "кабинет",
    "кабинете", "каб", "офис", "офисе", "кв", "квартира", "этаж", "рейс", "номер",
}  # fmt: skip
"""A number after one of these is its name."""

SIGNS = {"€": "EUR", "$": "USD", "₽": "RUB", "£": "GBP", "¥": "JPY", "₸": "KZT", "₴": "UAH"}

CURRENCY_WORDS: Mapping[str, str] = {
    "euro": "EUR", "euros": "EUR", "евро": "EUR",
    "dollar": "USD", "dollars": "USD", "доллар": "USD", "доллара": "USD", "долларов": "USD", "баксов": "USD",
    "ruble": "RUB", "rubles": "RUB", "rouble": "RUB", "roubles": "RUB", "руб": "RUB", "рубль": "RUB", "рубля": "RUB",
    "рублей": "RUB", "р": "RUB",
}  # fmt: skip

DAYS: Mapping[str, int] = {
    "today": 0, "сегодня": 0, "yesterday": -1, "вчера": -1, "позавчера": -2,
}  # fmt: skip

BEFORE_YESTERDAY = re.compile(r"(?<!\w)(?:the )?day before yesterday(?!\w)", re.IGNORECASE)

SURE = 82.0
"""How alike a word and a category's name must be (0 to 100) to be taken without asking."""


class NotRepresentable(Exception):
    """The sum has more decimals than the workspace keeps."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was understood. `amount` is in whole currency units; the words are as they were written."""

    amount: Decimal
    currency: str | None
    day: date | None
    words: str


@dataclass(frozen=True, slots=True)
class Sum:
    """A number that may be the sum: `text[start:end]`, its currency's sign or word included."""

    amount: Decimal
    currency: str | None
    start: int
    end: int


def parse(text: str, today: date, codes: Iterable[str] = ()) -> Entry | None:
    """The sum of the text with what stands around it; None where there is no sum above nothing.

    Of several numbers the one with a currency is the sum, else the one that begins the text, else the one that ends it.
    """
    days = [Day(one.start(), one.end(), today - timedelta(days=2)) for one in BEFORE_YESTERDAY.finditer(text)]
    days += dates(text, today, past=True)
    known = {code.lower(): code for code in codes} | dict(CURRENCY_WORDS)
    sums = list(_sums(text, known, [(one.start, one.end) for one in days]))
    if not sums:
        return None
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip(" .!?"))
    chosen = min(sums, key=lambda one: (one.currency is None, one.start != begin, one.end != end))
    day = days[0].day if days else None
    # From the end, so that the places of the others stay.
    for start, stop in sorted([(chosen.start, chosen.end), *((one.start, one.end) for one in days[:1])], reverse=True):
        text = f"{text[:start]} {text[stop:]}"
    words: list[str] = []
    for word in text.split():
        named = word.lower().strip(".,;!?")
        if day is None and named in DAYS:
            day = today + timedelta(days=DAYS[named])
        else:
            words.append(word)
    return Entry(chosen.amount, chosen.currency, day, " ".join(words).lstrip(" .,;:–—-").rstrip(" ,;:–—-"))


def _sums(text: str, known: Mapping[str, str], days: list[tuple[int, int]]) -> Iterator[Sum]:
    taken = [*days, *(found.span() for found in PHONE.finditer(text))]
    for found in NUMBER.finditer(text):
        start, end = found.span()
        if any(start < stop and begin < end for begin, stop in taken):
            continue
        if not found["gap"] and len(re.split("[.,]", found["number"])[0]) > LONGEST:
            continue
        times = TIMES[found["times"].strip(" .\u00a0").lower()] if found["times"] else 1
        amount = decimal(found["number"]) * times
        attached = re.match(r"[^\W\d_]+", text[end:])
        if not 0 < amount < LARGEST or (attached and attached[0].lower() not in known):
            continue
        one = _with_currency(text, known, Sum(amount, None, start, end))
        before = re.search(r"([^\W\d_]+)\.?\s*$", text[:start])
        if one.currency is not None or before is None or before[1].lower() not in NAMES_A_THING:
            yield one


def _with_currency(text: str, known: Mapping[str, str], found: Sum) -> Sum:
    """The sum with the sign or word of a currency that stands right before or after it."""
    before = re.search(r"(?:([" + "".join(SIGNS) + r"])|(?<!\w)([^\W\d_]+))\s*$", text[: found.start])
    after = re.match(r"\s*(?:([" + "".join(SIGNS) + r"])|([^\W\d_]+)(?:\.(?!\w))?)", text[found.end :])
    for place, start, end in (
        (after, found.start, found.end + (after.end() if after else 0)),
        (before, before.start() if before else 0, found.end),
    ):
        code = place and (SIGNS.get(place[1] or "") or known.get((place[2] or "").lower()))
        if code:
            return Sum(found.amount, code, start, end)
    return found


def decimal(number: str) -> Decimal:
    """`1 200,50`, `1,200.50`, `1.200` and `12.5` as numbers; a last group of three digits is thousands."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", number)
    last = max(plain.rfind("."), plain.rfind(","))
    if last >= 0 and len(plain) - last - 1 != 3:
        return Decimal(re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :])
    return Decimal(re.sub(r"[.,]", "", plain))


def to_wire(amount: Decimal, scale: int) -> int:
    """The sum as the workspace keeps it. Raises NotRepresentable rather than rounding."""
    scaled = amount.scaleb(scale)
    if scaled != scaled.to_integral_value():
        raise NotRepresentable
    return int(scaled)


def alike(words: str, names: Mapping[int, str]) -> list[tuple[int, float]]:
    """Ids whose names are most like the words, best first, with how alike they are (0 to 100)."""
    tokens = [token for token in re.findall(r"\w+", words.lower()) if len(token) > 2]
    scored = [(number, _likeness(tokens, name)) for number, name in names.items()]
    return sorted([pair for pair in scored if pair[1] >= 60.0], key=lambda pair: -pair[1])


def _likeness(tokens: list[str], name: str) -> float:
    parts = [part for part in re.findall(r"\w+", name.lower()) if len(part) > 2]
    best = 0.0
    for part in parts:
        for token in tokens:
            score = fuzz.ratio(token, part)
            # An inflected word keeps its stem: «материалов» is «материалы».
            if min(len(token), len(part)) >= 4 and token[:4] == part[:4]:
                score = max(score, fuzz.partial_ratio(token, part) * 0.95)
            # A name of one word that is hit says more than one word of a long name.
            best = max(best, score - 2.0 * (len(parts) - 1))
    return best
