"""What runs next: two weeks of days with their ticks, on the clocks of the house.

What is due more often than a few times a day stands apart (`often`), so that a day can be read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from automations.definition import Automation
from automations.preview import marked
from automations.triggers import Tick, ticks

DAYS = 14
MOST_A_DAY = 4
"""What comes more often on any day is told in words."""
MOST = 500
"""Automations whose ticks are worked out for one look."""


@dataclass(frozen=True, slots=True)
class Coming:
    """A tick on a day: `at` on the clocks of the house, `local` on its own where they differ."""

    automation: str
    at: datetime
    local: datetime | None
    zone: str
    mark: str
    """What is odd about it; empty where nothing is."""


@dataclass(frozen=True, slots=True)
class Day:
    date: date
    ticks: tuple[Coming, ...]


@dataclass(frozen=True, slots=True)
class Often:
    """An automation that is due many times a day: its triggers in words of its file, and its next tick."""

    automation: str
    words: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Calendar:
    """`left_out`: automations beyond the first ones, which are not shown."""

    days: tuple[Day, ...]
    often: tuple[Often, ...]
    left_out: int


def calendar(automations: Mapping[str, Automation], now: datetime, zone: str, days: int = DAYS) -> Calendar:
    """The ticks from now on."""
    house = ZoneInfo(zone)
    today = now.astimezone(house).date()
    until = datetime.combine(today + timedelta(days=days), datetime.min.time(), house)
    chosen = [one for one in automations.values() if one.definition.trigger]
    found: list[Coming] = []
    often: list[Often] = []
    for one in chosen[:MOST]:
        own = _own(one, now, until, zone)
        if own is None:
            words = "; ".join(trigger.words(zone) for trigger in one.definition.trigger)
            first = next(ticks(one.definition.trigger, now, zone), None)
            if first is None:
                continue
            often.append(Often(one.name, words, first.at.astimezone(house)))
        else:
            found += [_coming(one, tick, mark, house) for tick, mark in own]
    found.sort(key=lambda coming: (coming.at, coming.automation))
    dates = [today + timedelta(days=number) for number in range(days)]
    by_date = {day: tuple(coming for coming in found if coming.at.date() == day) for day in dates}
    return Calendar(tuple(Day(day, some) for day, some in by_date.items()), tuple(often), max(0, len(chosen) - MOST))


def _own(one: Automation, now: datetime, until: datetime, zone: str) -> Sequence[tuple[Tick, str]] | None:
    """The ticks of an automation; None where a day has too many."""
    found: list[tuple[Tick, str]] = []
    for tick, mark in marked(one.definition.trigger, now, zone):
        if tick.at >= until:
            break
        found.append((tick, mark))
        if len(found) > MOST_A_DAY and tick.at - found[-1 - MOST_A_DAY][0].at < timedelta(days=1):
            return None
    return found


def _coming(one: Automation, tick: Tick, mark: str, house: ZoneInfo) -> Coming:
    at, local = tick.at.astimezone(house), tick.at.astimezone(ZoneInfo(tick.zone))
    differs = at.utcoffset() != local.utcoffset()
    return Coming(one.name, at, local if differs else None, tick.zone, mark)
