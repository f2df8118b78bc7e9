"""Cron times on clocks that change: expression ─► wall times (cronsim) ─► moments, and what is odd about them.

What becomes of a change of the clocks is Debian cron's, said here once:

- **times of day** (neither the minute nor the hour begins with `*`, as in `30 2 * * *`): each wall time once. One that
  is left out comes at the change, together with whatever is due then; of one that comes twice the first is taken.
- **rhythms** (`*/20 * * * *`, `0 * * * *`): as the clocks show. Wall times that are left out do not come, those that
  come twice are both taken.

cronsim is only given wall times without a zone: with one it loses times, or goes round in circles for ever, where the
clocks change by half an hour (Lord Howe) or not at a full hour (Chatham).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
NAMED = 3
"""Wall times that are named of those that a change leaves out."""


@dataclass(frozen=True, slots=True, order=True)
class Tick:
    """A moment at which an automation is due (`at`, in UTC), and the zone in which its people read it. `note` says
    what is odd about it: moved by a clock change, a working Saturday; else it is empty."""

    at: datetime
    zone: str
    note: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """`2026-11-21T02:00:00Z`."""
        return utc_text(self.at)

    @property
    def local(self) -> datetime:
        """On the clocks of its zone."""
        return self.at.astimezone(ZoneInfo(self.zone))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Ticks that do not come, from `at` (UTC) on: those of a day off (`kind` is `calendar`), or of the wall times that
    a clock change leaves out (`clock`)."""

    at: datetime
    zone: str
    kind: str
    reason: str

    @property
    def local(self) -> datetime:
        return self.at.astimezone(ZoneInfo(self.zone))


Occurrence = Tick | LeftOut


def utc_text(moment: datetime) -> str:
    """`2026-11-21T02:00:00Z`, fractions left out."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta(0)


def change_between(after: datetime, until: datetime, zone: ZoneInfo) -> datetime | None:
    """The first moment after `after`, up to and including `until`, from which the zone has another offset."""
    start = after
    while start < until:
        end = min(start + DAY, until)
        if _offset(start, zone) != _offset(end, zone):
            while end - start > SECOND:
                middle = start + (end - start) // 2 // SECOND * SECOND
                if _offset(middle, zone) == _offset(start, zone):
                    start = middle
                else:
                    end = middle
            return end
        start = end
    return None


def placed(wall: datetime, zone: ZoneInfo) -> tuple[datetime, str]:
    """The moment of a wall time, and what is odd about it: one that is left out is at the change, one that comes twice
    is its first."""
    first = wall.replace(tzinfo=zone, fold=0)
    at = first.astimezone(UTC)
    shown = at.astimezone(zone).replace(tzinfo=None)
    if shown != wall:
        change = change_between(at - abs(shown - wall), at, zone) or at
        return change, f"the clocks leave out {wall:%H:%M}: it comes at {change.astimezone(zone):%H:%M}"
    if first.utcoffset() != first.replace(fold=1).utcoffset():
        return at, f"the clocks show {wall:%H:%M} twice: this is the first"
    return at, ""


def cron_times(expression: str, after: datetime, zone: str) -> Iterator[Occurrence]:
    """What is due after a moment, for ever or until no such day comes in fifty years."""
    minute, hour, *_ = expression.split()
    rhythm = minute.startswith("*") or hour.startswith("*")
    after = after.astimezone(UTC).replace(microsecond=0)
    return (_rhythm if rhythm else _times_of_day)(expression, after, zone)


def _times_of_day(expression: str, after: datetime, zone: str) -> Iterator[Occurrence]:
    clocks = ZoneInfo(zone)
    last = after
    for wall in CronSim(expression, after.astimezone(clocks).replace(tzinfo=None, fold=0)):
        at, note = placed(wall, clocks)
        # A start within the hour that comes twice finds times whose first coming is gone by.
        if at > last:
            yield Tick(at, zone, note)
            last = at
        elif at == last and note:
            told = f"the clocks leave out {wall:%H:%M}: it is one with the tick at the change"
            yield LeftOut(at, zone, "clock", told)


def _rhythm(expression: str, after: datetime, zone: str) -> Iterator[Occurrence]:
    clocks = ZoneInfo(zone)
    # From here to the next change, wall times are moments plus `offset`.
    last, offset = after, _offset(after, clocks)
    known = after
    """Up to where changes were looked for."""
    while True:
        change: datetime | None = None
        for wall in CronSim(expression, (last + offset).replace(tzinfo=None)):
            at = wall.replace(tzinfo=UTC) - offset
            change = change_between(known, at, clocks)
            if change is not None:
                break
            known = at
            again = at.astimezone(clocks).fold == 1
            yield Tick(at, zone, f"the clocks show {wall:%H:%M} twice: this is the second" if again else "")
        if change is None:
            return
        before, offset = offset, _offset(change, clocks)
        if offset > before:
            yield from _never_shown(expression, change, before, offset, zone)
        last, known = change - SECOND, change


def _never_shown(
    expression: str, change: datetime, before: timedelta, after: timedelta, zone: str
) -> Iterator[LeftOut]:
    start, end = ((change + offset).replace(tzinfo=None) for offset in (before, after))
    walls = list(takewhile(lambda wall: wall < end, islice(CronSim(expression, start - SECOND), 1500)))
    if walls:
        named = ", ".join(f"{wall:%H:%M}" for wall in walls[:NAMED])
        more = f" and {len(walls) - NAMED} more" if len(walls) > NAMED else ""
        verb = "do" if walls[1:] else "does"
        told = f"the clocks go from {start:%H:%M} to {end:%H:%M}: {named}{more} {verb} not come"
        yield LeftOut(change, zone, "clock", told)
