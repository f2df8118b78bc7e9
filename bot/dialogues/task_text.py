"""`call Anna tomorrow` → the task's name, its day, the people who are named. Plain text, without I/O.

Days as people write them stand here too; expense_text.py reads the same dates.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

RELATIVE: Mapping[str, int] = {
    "today": 0, "сегодня": 0, "tomorrow": 1, "завтра": 1, "послезавтра": 2,
}  # fmt: skip

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

BEFORE_A_DAY = {"on", "by", "until", "till", "next", "this", "в", "во", "к", "ко", "до", "на"} | {
    "этот", "эту", "это", "следующий", "следующую", "следующее", "ближайший", "ближайшую", "ближайшее",
}  # fmt: skip

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

SHORT = re.compile(r"(?<![\w.,:/+-])(\d{1,2})\.(\d{1,2})(?![\w/:-]|[.,]\d)")

AHEAD = re.compile(
    r"(?<!\w)(?:in|через)\s+(?:(an?|\d{1,2})\s+)?(?:(days?|день|дня|дней)|(weeks?|неделю|недели|недель))(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says of a task; `people` are user ids, in the order in which they are named."""

    name: str
    day: date | None
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A day where it stands in a text: `text[start:end]`."""

    start: int
    end: int
    day: date


def parse(text: str, today: date, names: Mapping[str, str]) -> Parsed:
    """The last day that is named is the due day and leaves the name; `names` (by user id) find the people."""
    found = max(_days(text, today), key=lambda one: (one.start, one.end), default=None)
    rest = text
    if found is not None:
        before = text[: found.start].split()
        while before and before[-1].lower() in BEFORE_A_DAY:
            before.pop()
        rest = " ".join(before) + " " + text[found.end :].lstrip(".,;!?")
    name = " ".join(rest.split()).strip(" ,;")
    if not re.search(r"\w", name):
        # A day alone is no task: the words stay.
        name = " ".join(text.split())
    return Parsed(name[:1].upper() + name[1:], found.day if found else None, _people(name, names))


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
            day, month, year = int(number), MONTHS[word.lower().rstrip(".")], int(written or 0)
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


def _days(text: str, today: date) -> Iterator[Day]:
    yield from dates(text, today)
    for found in AHEAD.finditer(text):
        count, _, weeks = found.groups()
        number = int(count) if count and count.isdigit() else 1
        yield Day(found.start(), found.end(), today + timedelta(days=number * (7 if weeks else 1)))
    preposition = False
    for found in re.finditer(r"\S+", text):
        word = found[0].strip(".,;!?").lower()
        day = _word(word, today, preposition=preposition)
        if day is not None:
            yield Day(found.start(), found.end(), day)
        preposition = word in BEFORE_A_DAY


def _word(word: str, today: date, *, preposition: bool) -> date | None:
    """A day that is one word."""
    if word in RELATIVE:
        return today + timedelta(days=RELATIVE[word])
    weekday = WEEKDAYS.get(word, AFTER_A_PREPOSITION.get(word) if preposition else None)
    if weekday is not None:
        return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    found = SHORT.fullmatch(word)
    # «12.5» is a number, «25.12» and «до 5.2» are days.
    if found is None or not (preposition or len(found[2]) == 2):
        return None
    return near(int(found[2]), int(found[1]), today)


def _people(name: str, names: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    for word in re.findall(r"\w+", name.lower()):
        for user_id, full in names.items():
            first = full.lower().split()[0] if full.split() else ""
            if len(word) > 2 and user_id not in found and _plain(word) in _cases(_plain(first)):
                found.append(user_id)
    return tuple(found)


def _plain(word: str) -> str:
    return word.replace("ё", "е")


FLEETING: Mapping[str, str] = {"павел": "павл", "лев": "льв", "петр": "петр"}
"""Stems of names that lose a vowel: «Павлу»."""


def _cases(first: str) -> set[str]:
    """A first name as it is written in the Russian cases: «Анна», «Анне», «Борису»."""
    if not re.fullmatch(r"[а-я]{2,}", first):
        return {first}
    stem, last = first[:-1], first[-1]
    endings: tuple[str, ...]
    if first.endswith("ия"):
        endings = ("я", "и", "ю", "ей")
    elif last == "я":
        endings = ("я", "и", "е", "ю", "ей")
    elif last == "а":
        endings = ("а", "ы", "и", "е", "у", "ой", "ей")
    elif last in "йь":
        endings = (last, "я", "ю", "ем", "и", "е", "ью")
    else:
        stem, endings = FLEETING.get(first, first), ("", "а", "у", "ом", "ем", "е")
    return {first} | {stem + ending for ending in endings}
