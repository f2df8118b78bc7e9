"""Sums in plain text: numbers as people group them, with the sign or word of a currency beside them.

A number is no sum where it is part of something else: of a date, a time, a telephone number, a percentage, «10 км» or
“room 101”. No I/O.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

TIMES: Mapping[str, int] = {
    "k": 1000, "к": 1000, "тыс": 1000, "тысяча": 1000, "тысячи": 1000, "тысяч": 1000, "тысячу": 1000, "thousand": 1000,
    "млн": 1_000_000, "миллион": 1_000_000, "миллиона": 1_000_000, "миллионов": 1_000_000,
    "mln": 1_000_000, "million": 1_000_000,
}  # fmt: skip

_TIMES_WORDS = "|".join(sorted((word for word in TIMES if len(word) > 1), key=len, reverse=True))

NUMBER = re.compile(
    r"(?<![\w.,/:+−–-])(?<!№)(?<!№ )(?<!\#)(?P<number>"
    r"[1-9]\d{0,2}(?P<gap>[ \u00a0\u202f'’.,])\d{3}(?:(?P=gap)\d{3})*(?:(?!(?P=gap))[.,]\d{1,2})?"  # 1 200,50
    r"|\d+(?:[.,]\d{1,2})?"  # 450 or 12.5
    rf")(?P<times>[kк](?![^\W\d_])|\s?(?:{_TIMES_WORDS})(?![^\W\d_])\.?)?"
    r"(?![\d/:]|[.,'’−–-]\d|\s?%)",
    re.IGNORECASE,
)

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

SIGNS: Mapping[str, str] = {"€": "EUR", "$": "USD", "₽": "RUB", "£": "GBP", "¥": "JPY", "₸": "KZT", "₴": "UAH"}

CURRENCY_WORDS: Mapping[str, str] = {
    "euro": "EUR", "euros": "EUR", "евро": "EUR",
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "доллар": "USD", "доллара": "USD", "долларов": "USD",
    "баксов": "USD",
    "ruble": "RUB", "rubles": "RUB", "rouble": "RUB", "roubles": "RUB", "руб": "RUB", "рубль": "RUB", "рубля": "RUB",
    "рублей": "RUB", "р": "RUB",
    "фунтов": "GBP", "фунта": "GBP", "тенге": "KZT", "гривен": "UAH", "франков": "CHF", "francs": "CHF",
}  # fmt: skip


class NotRepresentable(Exception):
    """The sum has more decimals than the workspace keeps."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A number that may be the sum: `text[start:end]`, its currency's sign or word included; in whole units."""

    amount: Decimal
    currency: str | None
    start: int
    end: int


def sums(text: str, codes: Iterable[str] = (), taken: Iterable[tuple[int, int]] = ()) -> Iterator[Sum]:
    """What may be a sum, from left to right. `codes`: the workspace's currencies; `taken`: what says something else."""
    known = {code.lower(): code for code in codes} | dict(CURRENCY_WORDS)
    others = [*taken, *(found.span() for found in PHONE.finditer(text))]
    for found in NUMBER.finditer(text):
        start, end = found.span()
        if any(start < stop and begin < end for begin, stop in others):
            continue
        if not found["gap"] and len(re.split("[.,]", found["number"])[0]) > LONGEST:
            continue
        # The pattern also takes letters such as “ſ” for their like.
        times = TIMES.get(found["times"].strip().rstrip(".").lower(), 0) if found["times"] else 1
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


def rounded(amount: Decimal, scale: int) -> tuple[int, ...]:
    """The sums on either side, as the workspace keeps them; nothing is no sum."""
    low = int(amount.scaleb(scale).to_integral_value(ROUND_FLOOR))
    return tuple(one for one in (low, low + 1) if one > 0)
