"""Days of leave as people write them: `1.12-14.12`, `24 Nov – 5 Dec`, `до 30 ноября`, `2026-12-01 2026-12-14`.

One day alone is the last one: the leave begins today.
"""

import re
from datetime import date, timedelta

MONTHS = (
    ("jan", "янв"), ("feb", "фев"), ("mar", "мар"), ("apr", "апр"), ("may", "мая"), ("jun", "июн"),
    ("jul", "июл"), ("aug", "авг"), ("sep", "сен"), ("oct", "окт"), ("nov", "ноя"), ("dec", "дек"),
)  # fmt: skip

DAY = re.compile(
    r"(?P<iso>\d{4}-\d{2}-\d{2})"
    r"|(?P<day>\d{1,2})[./](?P<month>\d{1,2})(?:[./](?P<year>\d{4}|\d{2}))?(?!\d)"
    r"|(?P<number>\d{1,2})\s+(?P<name>[a-zа-яё]{3,9})(?:\s+(?P<of>\d{4}))?"
)

LONGEST = timedelta(days=365)


def parse(text: str, today: date) -> tuple[date, date] | None:
    """The first and the last day; None where the text names none, more than two, or days that have passed.

    A day without a year is the next one that comes, counted from the day before it.
    """
    found: list[date] = []
    for match in DAY.finditer(text.casefold()):
        day = _day(match, found[-1] if found else today)
        if day is None:
            return None
        found.append(day)
    if not 1 <= len(found) <= 2:
        return None
    first, last = (today, found[0]) if len(found) == 1 else (found[0], found[1])
    return (first, last) if today <= first <= last <= first + LONGEST else None


def _day(match: re.Match[str], after: date) -> date | None:
    try:
        if match["iso"]:
            return date.fromisoformat(match["iso"])
        month = int(match["month"]) if match["month"] else _month(match["name"])
        if month is None:
            return None
        day, year = int(match["day"] or match["number"]), match["year"] or match["of"]
        if year:
            return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
        this_year = date(after.year, month, day)
        return this_year if this_year >= after else date(after.year + 1, month, day)
    except ValueError:
        return None


def _month(name: str) -> int | None:
    return next((number for number, forms in enumerate(MONTHS, 1) if name[:3] in {*forms, *_also(forms)}), None)


def _also(forms: tuple[str, str]) -> tuple[str, ...]:
    """May has two forms in Russian."""
    return ("май",) if forms[0] == "may" else ()


def week(today: date) -> tuple[date, date]:
    """Until the end of this week; at the weekend, until the end of the next."""
    return today, today + timedelta(days=6 - today.weekday() + (7 if today.weekday() > 4 else 0))


def two_weeks(today: date) -> tuple[date, date]:
    """Fourteen days, today included."""
    return today, today + timedelta(days=13)
