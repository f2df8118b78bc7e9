"""`call Anna tomorrow` → the task's name, its day, the people who are named. Plain text, without I/O."""

import re
from collections.abc import Mapping
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

BEFORE_A_DAY = {"on", "by", "until", "в", "во", "к", "до", "next"}

NUMERIC = re.compile(r"^(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})\.(\d{1,2})(?:\.(\d{4}))?)$")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says of a task; `people` are user ids, in the order in which they are named."""

    name: str
    day: date | None
    people: tuple[str, ...]


def parse(text: str, today: date, names: Mapping[str, str]) -> Parsed:
    """The last word that is a day is the due day and leaves the name; `names` (by user id) find the people."""
    words = text.split()
    day: date | None = None
    for place in range(len(words) - 1, -1, -1):
        day = _day(words[place].strip(".,;!?").lower(), today)
        if day is not None:
            from_here = place - 1 if place and words[place - 1].lower() in BEFORE_A_DAY else place
            words = words[:from_here] + words[place + 1 :]
            break
    name = " ".join(words).strip(" ,;")
    return Parsed(name[:1].upper() + name[1:], day, _people(name, names))


def _day(word: str, today: date) -> date | None:
    if word in RELATIVE:
        return today + timedelta(days=RELATIVE[word])
    if word in WEEKDAYS:
        return today + timedelta(days=(WEEKDAYS[word] - today.weekday() - 1) % 7 + 1)
    found = NUMERIC.match(word)
    if found is None:
        return None
    year, month, day, short_day, short_month, long_year = found.groups()
    try:
        if year:
            return date(int(year), int(month), int(day))
        guess = date(int(long_year or today.year), int(short_month), int(short_day))
        return guess if long_year or guess >= today else guess.replace(year=guess.year + 1)
    except ValueError:
        return None


def _people(name: str, names: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    for word in re.findall(r"\w+", name.lower()):
        for user_id, full in names.items():
            first = full.lower().split()[0] if full else ""
            if len(word) > 2 and first and (word == first or _inflected(word, first)) and user_id not in found:
                found.append(user_id)
    return tuple(found)


def _inflected(word: str, first: str) -> bool:
    """A Russian case of a first name: «Анне», «Борису» (the same stem and another short ending)."""
    if not re.fullmatch(r"[а-яё]+", word):
        return False
    stem = first.rstrip("аяйьыие")
    return len(stem) >= 3 and word.startswith(stem) and len(word) - len(stem) <= 2
