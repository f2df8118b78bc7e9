"""Days as people write them, in both languages: `25.11.2026`, `Nov 25`, «25 ноября», weekdays. No I/O."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

WEEKDAYS: Mapping[str, int] = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "понедельник": 0, "вторник": 1, "среду": 2, "среда": 2, "четверг": 3, "пятницу": 4, "пятница": 4,
    "субботу": 5, "суббота": 5, "воскресенье": 6,
}  # fmt: skip

AFTER_A_PREPOSITION: Mapping[str, int] = {
    "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6,
    "пн": 0, "вт": 1, "ср": 2, "чт": 3, "пт": 4, "сб": 5, "вс": 6,
    "понедельника": 0, "понедельнику": 0, "вторника": 1, "вторнику": 1, "среды": 2, "среде": 2,
    "четверга": 3, "четвергу": 3, "пятницы": 4, "пятнице": 4, "субботы": 5, "субботе": 5,
    "воскресенья": 6, "воскресенью": 6,
}  # fmt: skip
"""Days in «к пятнице» and “by fri”; alone these words say other things («охрана среды»)."""

MONTHS: Mapping[str, int] = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6,
    "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10,
    "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12,
    "января": 1, "янв": 1, "февраля": 2, "фев": 2, "марта": 3, "мар": 3, "апреля": 4, "апр": 4, "мая": 5, "июня": 6,
    "июн": 6, "июля": 7, "июл": 7, "августа": 8, "авг": 8, "сентября": 9, "сен": 9, "октября": 10, "окт": 10,
    "ноября": 11, "ноя": 11, "декабря": 12, "дек": 12,
}  # fmt: skip

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(20[2-3]\d)\b(?:\s*г(?:ода)?\b\.?)?)?"

DATE = re.compile(
    r"(?<![\w.,:/+-])(?:"
    r"(\d{4})-(\d{1,2})-(\d{1,2})"  # 2026-11-25
    r"|(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})"  # 25.11.2026
    r"|(\d{1,2})/(\d{1,2})/(\d{4})"  # 25/11/2026
    rf"|(\d{{1,2}})(?:st|nd|rd|th)?\s+({_MONTH}){_YEAR}"  # 25 November
    rf"|({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR}"  # November 25
    r")(?![\w/:-]|[.,]\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day where it stands in a text: `text[start:end]`."""

    start: int
    end: int
    day: date


def dates(text: str, today: date, *, past: bool = False) -> Iterator[Day]:
    """The dates of a text. One without a year is the next such day from today on, or (`past`) the last one."""
    for found in DATE.finditer(text):
        parts = found.groups()
        if parts[0]:
            year, month, day = int(parts[0]), int(parts[1]), int(parts[2])
        elif parts[3]:
            day, month, year = int(parts[3]), int(parts[4]), int(parts[5])
            year += 2000 if year < 100 else 0
        elif parts[6]:
            day, month, year = int(parts[6]), int(parts[7]), int(parts[8])
        else:
            word, number, written = (parts[10], parts[9], parts[11]) if parts[10] else parts[12:15]
            day, month, year = int(number), MONTHS.get(word.lower().rstrip("."), 0), int(written or 0)
        meant = _on(year, month, day) if year else near(month, day, today, past=past)
        if meant is not None:
            yield Day(found.start(), found.end(), meant)


def near(month: int, day: int, today: date, *, past: bool = False) -> date | None:
    """A day of a year that is not written: the next from today on, or (`past`) the last up to today."""
    step = -1 if past else 1
    years = range(today.year, today.year + 9 * step, step)
    fitting = (one for one in (_on(year, month, day) for year in years) if one is not None)
    return next((one for one in fitting if (one <= today if past else one >= today)), None)


def _on(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
