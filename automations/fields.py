"""What keys of a file share: strict models, lengths of time, time zones, dates, conditions."""

import re
from datetime import date, datetime, timedelta
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue

from automations.errors import did_you_mean
from automations.expressions import BadTemplate, is_alone, is_template

DURATION = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?")
DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Model(BaseModel):
    """Base of all that stands in a file: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, validate_by_name=True, validate_by_alias=True)


def duration(text: str) -> timedelta:
    """`90s`, `15m`, `1h30m`, `2d`. Raises ValueError."""
    match = DURATION.fullmatch(text)
    if not text or match is None:
        raise ValueError("is no duration: write 30s, 15m, 1h30m or 2d")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if length < timedelta(seconds=1):
        raise ValueError("must be at least 1s")
    return length


@cache
def _zones() -> frozenset[str]:
    """All zones; the whole database is walked for them, which takes 30 ms."""
    return frozenset(available_timezones())


def zone_named(name: str) -> ZoneInfo:
    """A time zone by its IANA name, in its own spelling. Raises ValueError with the nearest right name."""
    zones = _zones()
    if name not in zones:
        by_city = {zone.rpartition("/")[2]: zone for zone in sorted(zones) if not zone.startswith(("posix", "right"))}
        hint = f"; did you mean {by_city[name.title()]}?" if name.title() in by_city else did_you_mean(name, zones)
        raise ValueError(f"{name} is no time zone{hint}")
    return ZoneInfo(name)


def _zone_name(name: str) -> str:
    zone_named(name)
    return name


def _duration_text(text: str) -> str:
    duration(text)
    return text


def _day_text(text: str) -> str:
    try:
        if not DAY.fullmatch(text):
            raise ValueError(text)
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text} is no date: write 2026-12-31") from None
    return text


def moment_text(text: str) -> str:
    """`2026-12-01 09:00`, with or without an offset. Raises ValueError."""
    try:
        if not MOMENT.fullmatch(text):
            raise ValueError(text)
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text} is no moment: write 2026-12-01 09:00") from None
    return text


def _condition(value: JsonValue) -> JsonValue:
    if not isinstance(value, bool) and not (isinstance(value, str) and is_template(value) and _alone(value)):
        raise ValueError('is a condition: write true, false, or one expression such as "{{ event.sum > 1000 }}"')
    return value


def _alone(text: str) -> bool:
    try:
        return is_alone(text)
    except BadTemplate:
        return True  # the check of templates tells what is wrong with it


ZoneName = Annotated[str, AfterValidator(_zone_name)]
Duration = Annotated[str, AfterValidator(_duration_text)]
Day = Annotated[str, AfterValidator(_day_text)]
Condition = Annotated[JsonValue, AfterValidator(_condition)]
