"""The money of a month by category, as values: which month is meant, the sums with their shares, the workbook's sheets.

words ─► month_of ─► the month      Purse, month, kind ─► sums_of ─► a Sums for each currency ─► card, plot, workbook
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Literal, cast

from babel.dates import get_month_names

from bot.mirror import Entry, by_category, first_day, in_month, top
from bot.purse import Purse
from bot.sheets import Column, Sheet
from bot.texts import LOCALES, Texts
from workspace_api.contract.finance import TransactionCategory

Kind = Literal["in", "out"]

FIRST_YEAR, LAST_YEAR = 2000, 2099

SHORTEST_NAME = 3
"""Letters of a month's name that are enough."""


def month_of(words: str, today: date) -> date | None:
    """The month that `2026-10`, `10.2026`, `october`, `окт 2025` or `10` means; None where that is no month.

    Without a year it is the last such month up to today's; no words at all mean the present one.
    """
    said = " ".join(words.lower().split())
    if not said:
        return first_day(today)
    for pattern in (
        r"(?P<year>[0-9]{4})[-./ ](?P<month>[0-9]{1,2})(?:[-./][0-9]{1,2})?",
        r"(?P<month>[0-9]{1,2})(?:[-./ ](?P<year>[0-9]{4}))?",
        r"(?P<name>[^\W\d_]+)\.?(?: (?P<year>[0-9]{4}))?",
    ):
        found = re.fullmatch(pattern, said)
        if found is None:
            continue
        parts = found.groupdict()
        number = _by_name(parts["name"]) if parts.get("name") else int(parts["month"])
        if number is None or not 1 <= number <= 12:
            return None
        year = int(parts["year"]) if parts["year"] else today.year - (number > today.month)
        return date(year, number, 1) if FIRST_YEAR <= year <= LAST_YEAR else None
    return None


def _by_name(name: str) -> int | None:
    """The number of a month by its name or at least its first letters, in any of the languages."""
    if len(name) < SHORTEST_NAME:
        return None
    found = {number for known, number in _names() if known.startswith(name)}
    return found.pop() if len(found) == 1 else None


@cache
def _names() -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    for locale in LOCALES.values():
        # In Russian a month is called one way alone and another way beside a day.
        for form in (
            get_month_names("wide", "format", locale),
            get_month_names("wide", "stand-alone", locale),
            get_month_names("abbreviated", "format", locale),
        ):
            names = cast("Mapping[int, str]", form)  # the library's own mapping has no types
            found += [(name.lower().rstrip("."), number) for number, name in names.items()]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Part:
    """An uppermost category (None: entries without one), what it sums up to, and what of it lies in which category."""

    category: int | None
    amount: int
    before: int
    share: Decimal
    inner: tuple[tuple[int | None, int], ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of a month in one currency, the largest category first. `before`: of the month before."""

    code: str
    total: int
    before: int
    count: int
    parts: tuple[Part, ...]


def entries_of(purse: Purse, month: date, kind: Kind, code: str) -> list[Entry]:
    """What was booked in a month in the cashboxes of a currency."""
    boxes = purse.of_currency(code)
    return [entry for entry in in_month(purse.ledger, month, kind) if entry.cashbox in boxes]


def sums_of(purse: Purse, month: date, kind: Kind, categories: Mapping[int, TransactionCategory]) -> list[Sums]:
    """The sums of the month by currency; currencies in which nothing was booked are left out."""
    found: list[Sums] = []
    for code in purse.currencies:
        entries = entries_of(purse, month, kind, code)
        if not entries:
            continue
        before = _by_top(entries_of(purse, first_day(month, -1), kind, code), categories)
        now = by_category(iter(entries))
        total = sum(now.values())
        parts = [
            Part(
                category=category,
                amount=amount,
                before=before.get(category, 0),
                share=Decimal(amount) / total if total > 0 else Decimal(0),
                inner=tuple((inner, part) for inner, part in now.items() if top(inner, categories) == category),
            )
            for category, amount in _by_top(entries, categories).items()
        ]
        found.append(Sums(code, total, sum(before.values()), len(entries), tuple(parts)))
    return found


def _by_top(entries: Iterable[Entry], categories: Mapping[int, TransactionCategory]) -> dict[int | None, int]:
    found: dict[int | None, int] = {}
    for entry in entries:
        category = top(entry.category, categories)
        found[category] = found.get(category, 0) + entry.amount
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def bounds(purse: Purse) -> tuple[date, date]:
    """The first and the last month that can be looked at: of the first entry, and of the last one or today."""
    today = first_day(purse.today)
    days = [entry.day for entry in purse.ledger.entries if entry.kind != "move"]
    return (min(first_day(min(days)), today), max(first_day(max(days)), today)) if days else (today, today)


def category_name(texts: Texts, number: int | None, categories: Mapping[int, TransactionCategory]) -> str:
    """A category's name; its number where it is not known any more."""
    if number is None:
        return texts.t("without a category")
    known = categories.get(number)
    return (known.name if known else None) or f"#{number}"


def sheets_of(
    texts: Texts,
    purse: Purse,
    month: date,
    kind: Kind,
    categories: Mapping[int, TransactionCategory],
    names: Mapping[str, str],
) -> list[Sheet]:
    """The workbook of a month: sums by category, and the entries behind them. `names`: people by user id."""
    period = texts.month(month.isoformat())
    title = (
        texts.t("%(month)s: expenses", month=period) if kind == "out" else texts.t("%(month)s: income", month=period)
    )
    notes = (
        title,
        texts.t(
            "By booking date, in the cashboxes that you see, without moves; as of %(moment)s.",
            moment=texts.moment(purse.as_of),
        ),
    )
    sums = sums_of(purse, month, kind, categories)
    return [
        Sheet(texts.t("By category"), _summary_columns(texts), _summary_rows(texts, sums, categories), notes),
        Sheet(
            texts.t("Entries"),
            _entry_columns(texts),
            _entry_rows(texts, purse, month, kind, sums, categories, names),
            notes,
        ),
    ]


def _summary_columns(texts: Texts) -> tuple[Column, ...]:
    return (
        Column(texts.t("Category")),
        Column(texts.t("Subcategory")),
        Column(texts.t("Currency"), width=10),
        Column(texts.t("Sum"), "money"),
        Column(texts.t("Share"), "share"),
    )


def _summary_rows(
    texts: Texts, sums: Sequence[Sums], categories: Mapping[int, TransactionCategory]
) -> list[tuple[str, str, str, int, Decimal]]:
    return [
        (
            category_name(texts, part.category, categories),
            "" if inner == part.category else category_name(texts, inner, categories),
            each.code,
            amount,
            Decimal(amount) / each.total if each.total > 0 else Decimal(0),
        )
        for each in sums
        for part in each.parts
        for inner, amount in part.inner
    ]


def _entry_columns(texts: Texts) -> tuple[Column, ...]:
    return (
        Column(texts.t("Booked on"), "date"),
        Column(texts.t("Category")),
        Column(texts.t("Cashbox")),
        Column(texts.t("Currency"), width=10),
        Column(texts.t("Sum"), "money"),
        Column(texts.t("Who")),
        Column(texts.t("Description"), width=48),
        Column(texts.t("No."), "number"),
    )


def _entry_rows(
    texts: Texts,
    purse: Purse,
    month: date,
    kind: Kind,
    sums: Sequence[Sums],
    categories: Mapping[int, TransactionCategory],
    names: Mapping[str, str],
) -> list[tuple[date, str, str, str, int, str, str, int]]:
    return [
        (
            entry.day,
            category_name(texts, entry.category, categories),
            purse.cashboxes[entry.cashbox].name or f"#{entry.cashbox}",
            each.code,
            entry.amount,
            names.get(entry.user_id or "", entry.user_id or ""),
            entry.words,
            entry.id,
        )
        for each in sums
        for entry in entries_of(purse, month, kind, each.code)
        if entry.cashbox is not None
    ]
