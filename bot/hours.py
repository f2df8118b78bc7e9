"""Quiet hours: `21:30-07:00`, `22–7`, `off`. Kept as `["21:30", "07:00"]`, in the person's own zone."""

import re

HOURS = re.compile(
    r"(?P<from>\d{1,2})(?:[:.](?P<from_minute>\d{2}))?\s*(?:-|–|—|to|до)\s*(?P<to>\d{1,2})(?:[:.](?P<to_minute>\d{2}))?"
)


def parse(words: str) -> tuple[str, str] | None:
    """From and to as `HH:MM`; None where the words are no two different times of a day."""
    found = HOURS.fullmatch(words.strip().casefold())
    if found is None:
        return None
    times = [(int(found[name]), int(found[f"{name}_minute"] or 0)) for name in ("from", "to")]
    if times[0] == times[1] or any(hour > 24 or minute > 59 or (hour == 24 and minute) for hour, minute in times):
        return None
    start, end = (f"{hour % 24:02d}:{minute:02d}" for hour, minute in times)
    return (start, end) if start != end else None


def shown(hours: tuple[str, str] | list[str]) -> str:
    """`21:30–07:00`"""
    return f"{hours[0]}–{hours[1]}"
