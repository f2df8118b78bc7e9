"""A simulated year in thirteen zones: each tick comes exactly once, whatever the clocks do, however often one starts.

What is expected is worked out from scratch and shares nothing with the product: every minute of a year in UTC, what the
zone's clocks show then, five fields matched one by one, and the policy for both clock changes in a few lines:

- times of day (no `*` first in minute or hour): a wall time that is never shown is due at the change; one that is shown
  twice, at its first coming;
- rhythms: whenever the clocks show it, so twice where they do so twice, and never where they never do.
"""

import calendar
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from automations.catch_up import caught_up
from automations.definition import CatchUp
from automations.ledger import Ledger, LedgerLine
from automations.records import open_ledger
from automations.schedule import Schedule
from automations.triggers import AnyTrigger, Cron, Tick, ticks

MINUTE = timedelta(minutes=1)
QUARTER = [timedelta(minutes=minute) for minute in range(15)]

ZONES = {
    "Africa/Casablanca": 2026,  # back for Ramadan
    "America/New_York": 2026,
    "America/Santiago": 2026,  # at midnight
    "America/Sao_Paulo": 2018,  # at midnight, the last year
    "Antarctica/Troll": 2026,  # two hours
    "Asia/Gaza": 2026,
    "Asia/Kolkata": 2026,  # never
    "Australia/Lord_Howe": 2026,  # half an hour
    "Europe/Berlin": 2026,
    "Europe/Moscow": 2014,  # once, for good
    "Pacific/Apia": 2011,  # a whole day is left out
    "Pacific/Chatham": 2026,  # at a quarter to
    "UTC": 2026,
}

CRONS = (
    "0 * * * *",
    "30 2 * * *",
    "0 0 * * *",
    "59 23 * * *",
    "15 */4 * * *",
    "30 */2 * 3,4,9-11 *",
    "*/20 2 * * *",
    "*/10 3 * * 0,6",
    "15,45 1-3 * * *",
    "45 2-3 * * 0,6",
    "0 9 * * 1-5",
    "10 3 * * 7",
    "0 18 L * *",
    "59 23 28-31 * *",
    "0 9 1 * 1",
    "5 0 1 1,7 *",
    "0 12 29 2 *",
)
AROUND = ("* * * * *", "*/7 * * * *", "1-59/2 2 * * *", "*/10 3 * * *")
"""Too frequent for a year: two days around each change."""


def _set(field: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        found.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


class Expression:
    """Five fields, as cron's manual tells them."""

    def __init__(self, text: str) -> None:
        minute, hour, day, month, weekday = text.split()
        self.rhythm = minute[0] == "*" or hour[0] == "*"
        self.both = day[0] == "*" or weekday[0] == "*"
        self.minutes = _set(minute, 0, 59)
        self.hours = _set(hour, 0, 23)
        self.last = day == "L"
        self.days = set[int]() if self.last else _set(day, 1, 31)
        self.months = _set(month, 1, 12)
        self.weekdays = {number % 7 for number in _set(weekday, 0, 7)} if weekday != "*" else set(range(7))

    @lru_cache(maxsize=2000)  # noqa: B019 - lives as long as one test
    def on(self, year: int, month: int, day: int) -> bool:
        if month not in self.months:
            return False
        ends = day == calendar.monthrange(year, month)[1]
        one = day in self.days or (self.last and ends)
        other = calendar.weekday(year, month, day) in {(number - 1) % 7 for number in self.weekdays}
        return (one and other) if self.both else (one or other)


def walked(start: datetime, end: datetime, zone: str) -> Iterator[tuple[datetime, datetime]]:
    """Every minute in UTC, and what the clocks show. Clocks change at quarters of an hour, so each is asked once."""
    clocks = ZoneInfo(zone)
    moment = start.replace(minute=start.minute // 15 * 15)
    while moment <= end:
        wall = moment.astimezone(clocks).replace(tzinfo=None, fold=0)
        for step in QUARTER:
            yield moment + step, wall + step
        moment += QUARTER[-1] + MINUTE


def expected(crons: Sequence[str], zone: str, start: datetime, end: datetime) -> dict[str, list[datetime]]:
    """When each expression is due from `start` to `end`."""
    due: dict[str, list[datetime]] = {cron: [] for cron in crons}
    read = {cron: Expression(cron) for cron in crons}
    at_minute: list[list[str]] = [[] for _ in range(24 * 60)]
    for cron, fields in read.items():
        for hour in fields.hours:
            for minute in fields.minutes:
                at_minute[hour * 60 + minute].append(cron)
    coming: datetime | None = None
    """The first wall time that was not shown yet."""
    for moment, wall in walked(start - timedelta(days=2), end, zone):
        again = coming is not None and wall < coming
        while coming is not None and coming < wall:
            # A wall time that is never shown
            for cron in at_minute[coming.hour * 60 + coming.minute]:
                if not read[cron].rhythm and read[cron].on(coming.year, coming.month, coming.day):
                    due[cron].append(moment)
            coming += MINUTE
        for cron in at_minute[wall.hour * 60 + wall.minute]:
            fields = read[cron]
            if (fields.rhythm or not again) and fields.on(wall.year, wall.month, wall.day):
                due[cron].append(moment)
        if not again:
            coming = wall + MINUTE
    # What was moved to a change is one with whatever is due then.
    return {cron: sorted({moment for moment in found if start <= moment <= end}) for cron, found in due.items()}


def changes(zone: str, year: int) -> list[datetime]:
    """The hours of a year at which the clocks have changed."""
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(365 * 24)]
    offsets = [hour.astimezone(ZoneInfo(zone)).utcoffset() for hour in hours]
    return [hours[index] for index in range(1, len(hours)) if offsets[index] != offsets[index - 1]]


def given(cron: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """What the product says."""
    row = ticks([Cron(cron=cron, timezone=zone)], start - timedelta(seconds=1), "UTC")
    return [tick.at for tick in takewhile(lambda tick: tick.at <= end, row)]


@pytest.mark.parametrize(("zone", "year"), ZONES.items())
def test_each_tick_of_a_year_comes_exactly_once(zone: str, year: int) -> None:
    """And whenever one starts, the next ones are those of a clock that ran all the time."""
    start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, tzinfo=UTC)
    wanted = expected(CRONS, zone, start, end)
    dice = random.Random(zone)
    for cron in CRONS:
        assert given(cron, zone, start, end) == wanted[cron], cron
        for _ in range(3):
            moment = start + timedelta(seconds=dice.randrange(360 * 86400))
            index = bisect_right(wanted[cron], moment)
            row = ticks([Cron(cron=cron, timezone=zone)], moment, "UTC")
            found = [tick.at for tick in islice(row, 3) if tick.at <= end]
            assert found == wanted[cron][index : index + 3], (cron, moment)


@pytest.mark.parametrize(("zone", "year"), ZONES.items())
def test_every_minute_around_the_changes(zone: str, year: int) -> None:
    """Frequent ones, two days around each change; a start at each minute of the four hours about it."""
    for change in changes(zone, year):
        start, end = change - timedelta(days=1), change + timedelta(days=1)
        wanted = expected(AROUND, zone, start, end)
        for cron in AROUND:
            assert given(cron, zone, start, end) == wanted[cron], (cron, change)
            for minute in range(-120, 120, 7):
                moment = change + minute * MINUTE
                following = wanted[cron][bisect_right(wanted[cron], moment) :][:2]
                row = ticks([Cron(cron=cron, timezone=zone)], moment, "UTC")
                assert [tick.at for tick in islice(row, len(following))] == following, (cron, moment)


class SimulatedTime(datetime):
    """What APScheduler takes for the time."""

    moment: ClassVar[datetime]

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return cls.moment.astimezone(tz)


WEEKS = [
    ("Europe/Berlin", datetime(2026, 10, 22, tzinfo=UTC), "30 2 * * *", "*/20 * * * *"),
    ("America/Santiago", datetime(2026, 9, 3, tzinfo=UTC), "0 0 * * *", "0 * * * *"),
    ("Australia/Lord_Howe", datetime(2026, 10, 1, tzinfo=UTC), "15 2 * * *", "15 */4 * * *"),
    ("Pacific/Chatham", datetime(2026, 4, 2, tzinfo=UTC), "50 2,3 * * *", "*/10 3 * * *"),
    ("Pacific/Apia", datetime(2011, 12, 27, tzinfo=UTC), "30 6 * * *", "5 */2 * * *"),
]


@pytest.mark.parametrize("seed", range(4))
async def test_through_schedule_and_ledger_with_a_runner_that_dies(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weeks with a clock change, on a clock that is moved by hand: the runner dies at random moments, with ticks that
    it had not entered yet, is away for a while, and its successor catches up. Nothing is lost, nothing comes twice."""
    import asyncio

    monkeypatch.setattr("apscheduler.schedulers.base.datetime", SimulatedTime)
    dice = random.Random(seed)
    database = open_ledger(tmp_path, None)
    ledger = Ledger(database)
    arrived: list[tuple[str, Tick]] = []
    for zone, start, *crons in WEEKS:
        end = start + timedelta(days=6)
        wanted = {
            f"{zone}-{index}": expected([cron], zone, start + MINUTE, end)[cron] for index, cron in enumerate(crons)
        }
        triggers: dict[str, list[AnyTrigger]] = {
            f"{zone}-{index}": [Cron(cron=cron, timezone=zone)] for index, cron in enumerate(crons)
        }
        SimulatedTime.moment = start
        while SimulatedTime.moment < end:
            # A runner begins
            now = SimulatedTime.moment
            considered = await ledger.considered({name: f"{name} {crons}" for name in triggers}, now)
            policy = CatchUp(policy="all", window="30d")
            for name, own in triggers.items():
                await ledger.record(caught_up(name, own, "UTC", considered[name], now, policy), now)
            arrived.clear()
            schedule = Schedule(lambda name, tick: arrived.append((name, tick)), lambda: SimulatedTime.moment)
            for name, own in triggers.items():
                schedule.add(name, own, "UTC", now)
            schedule.start()
            for _ in range(dice.randrange(1, 40)):
                SimulatedTime.moment = min(end, SimulatedTime.moment + timedelta(seconds=dice.randrange(1, 3600)))
                schedule.look()
                await asyncio.sleep(0)
                if dice.random() < 0.05:
                    # Its file changes just then
                    name = dice.choice(list(triggers))
                    schedule.replace(name, triggers[name], "UTC", SimulatedTime.moment)
                if dice.random() < 0.8:
                    lines = [LedgerLine(name, tick.name, tick.zone, "due") for name, tick in arrived]
                    assert len({line.run_id for line in lines}) == len(lines)
                    arrived.clear()
                    await ledger.record(lines, SimulatedTime.moment)
            # It dies; what it had not entered dies with it
            schedule.stop()
            await asyncio.sleep(0)
            SimulatedTime.moment = min(end, SimulatedTime.moment + timedelta(seconds=dice.randrange(0, 40_000)))
        for name, own in triggers.items():
            considered = await ledger.considered({name: f"{name} {crons}"}, end)
            await ledger.record(
                caught_up(name, own, "UTC", considered[name], end, CatchUp(policy="all", window="30d")), end
            )
            lines = [line for line in ledger.newest(name, 10_000) if line.tick <= f"{end:%Y-%m-%dT%H:%M:%SZ}"]
            found = [datetime.fromisoformat(line.tick) for line in reversed(lines)]
            assert found == wanted[name], name
            assert {line.state for line in lines} == {"due"}
    database.close()


async def test_a_change_of_the_file_in_the_second_of_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop was too busy for a tick; what is due is handed on before the new triggers take over, once."""
    monkeypatch.setattr("apscheduler.schedulers.base.datetime", SimulatedTime)
    SimulatedTime.moment = datetime(2026, 11, 20, 1, 59, tzinfo=UTC)
    arrived: list[str] = []
    schedule = Schedule(lambda _name, tick: arrived.append(tick.name), lambda: SimulatedTime.moment)
    schedule.add("n", [Cron(cron="0 2 * * *")], "UTC", SimulatedTime.moment)
    schedule.start()
    SimulatedTime.moment += timedelta(seconds=61)
    schedule.replace("n", [Cron(cron="0 3 * * *")], "UTC", SimulatedTime.moment)
    schedule.remove("nobody")
    schedule.stop()
    assert arrived == ["2026-11-20T02:00:00Z"]
