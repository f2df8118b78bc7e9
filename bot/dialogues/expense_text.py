"""Free text about money, such as `450 taxi` or `1 200,50 usd hotel yesterday`: sum, currency, day, words.

A grammar over plain text, without I/O. What it is not sure of it leaves out, and the card asks.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from rapidfuzz import fuzz

NUMBER = re.compile(
    r"(?<![\w.,/:-])(?P<number>"
    r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d{1,2})?"  # 1 200,50
    r"|\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?"  # 1.200,50
    r"|\d+(?:[.,]\d{1,2})?"  # 450 or 12.5
    r")(?![\d/:])"
)

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


def parse(text: str, today: date, codes: Iterable[str] = ()) -> Entry | None:
    """The first sum of the text with what stands around it; None where there is no sum above nothing."""
    found = NUMBER.search(text)
    if found is None:
        return None
    amount = decimal(found["number"])
    if amount <= 0:
        return None
    before, after = text[: found.start()], text[found.end() :]
    currency = None
    if before.rstrip() and before.rstrip()[-1] in SIGNS:
        currency, before = SIGNS[before.rstrip()[-1]], before.rstrip()[:-1]
    elif after.lstrip() and after.lstrip()[0] in SIGNS:
        currency, after = SIGNS[after.lstrip()[0]], after.lstrip()[1:]
    words: list[str] = []
    day: date | None = None
    known = {code.lower(): code for code in codes} | dict(CURRENCY_WORDS)
    for place, word in enumerate((before + " " + after).split()):
        plain = word.lower().strip(".,;!?")
        beside = place <= len(before.split()) + 1
        if currency is None and beside and plain in known:
            currency = known[plain]
        elif day is None and plain in DAYS:
            day = today + timedelta(days=DAYS[plain])
        else:
            words.append(word)
    return Entry(amount, currency, day, " ".join(words))


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
