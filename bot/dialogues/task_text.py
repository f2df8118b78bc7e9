"""`call Anna tomorrow` → the task's name, its day, the people who are named. Plain text, without I/O.

Days as people write them are read in bot/days.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from bot.days import AFTER_A_PREPOSITION, WEEKDAYS, Day, dates, near

RELATIVE: Mapping[str, int] = {
    "today": 0, "сегодня": 0, "tomorrow": 1, "завтра": 1, "послезавтра": 2,
}  # fmt: skip

BEFORE_A_DAY = {"on", "by", "until", "till", "next", "this", "в", "во", "к", "ко", "до", "на"} | {
    "этот", "эту", "это", "следующий", "следующую", "следующее", "ближайший", "ближайшую", "ближайшее",
}  # fmt: skip

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
