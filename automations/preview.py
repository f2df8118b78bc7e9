"""What a trigger will do: its ticks of the coming days, with everything odd about them.

occurrences ─► preview(days) ─► a line a tick, and between them: days off (with the holiday), wall times that the clocks
                                leave out, gaps that are longer than any other          text(), to_json()
            └► marked ─► the next ticks with a note each, for `next`, `plan` and the ops page

`notices` says what cannot be known: a year of which the calendar knows nothing, or not yet which days are moved.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from automations.calendars import WEEKDAYS, calendar_of
from automations.clocks import LeftOut, Occurrence, Tick, utc_text
from automations.triggers import AnyTrigger, Cron, Every, occurrences

DAYS = 400
MOST_LINES = 20_000
WEEKEND = timedelta(days=3, hours=2)
"""From Friday to Monday, over a clock change: not called a gap."""
NAMED = 3
"""Holidays that the note of one tick names."""
AHEAD = 90
"""How many days `notices` looks ahead when a file is validated."""


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A moment of a preview. `kind` is `tick`; `calendar` or `clock` for ticks that do not come, with the reason in
    `note`; or `gap` before a tick that comes later after the one before it than any other does."""

    kind: str
    at: datetime
    zone: str
    note: str

    def __str__(self) -> str:
        local = self.at.astimezone(ZoneInfo(self.zone))
        offset = f"{local:%z}"
        when = f"{local:%a %Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]} {self.zone}"
        head = (
            utc_text(self.at) if self.kind == "tick" else f"({'gap' if self.kind == 'gap' else 'left out'})".ljust(20)
        )
        return "  ".join(part for part in (head, when, self.note) if part)

    def to_json(self) -> dict[str, Any]:
        local = self.at.astimezone(ZoneInfo(self.zone)).isoformat()
        return {"kind": self.kind, "tick": utc_text(self.at), "local": local, "zone": self.zone, "note": self.note}


@dataclass(frozen=True, slots=True)
class Preview:
    """The coming days of an automation."""

    automation: str
    days: int
    lines: tuple[PreviewLine, ...]
    notices: tuple[str, ...]

    @property
    def ticks(self) -> tuple[PreviewLine, ...]:
        return tuple(line for line in self.lines if line.kind == "tick")

    def text(self) -> str:
        """One line a tick; what is not known comes last."""
        count = len(self.ticks)
        head = f"{self.automation}: {count} tick{'' if count == 1 else 's'} in {self.days} days"
        return "\n".join([head, *map(str, self.lines), *(f"note: {notice}" for notice in self.notices)])

    def to_json(self) -> dict[str, Any]:
        return {
            "automation": self.automation,
            "days": self.days,
            "ticks": len(self.ticks),
            "lines": [line.to_json() for line in self.lines],
            "notices": list(self.notices),
        }


def preview(
    automation: str, triggers: Sequence[AnyTrigger], now: datetime, days: int = DAYS, zone: str = "UTC"
) -> Preview:
    """The ticks of the coming days, and what is left out between them."""
    until = now + timedelta(days=days)
    found: list[Occurrence] = []
    told = list(notices(triggers, now, days))
    for one in occurrences(triggers, now, zone):
        if one.at > until:
            break
        if len(found) == MOST_LINES:
            told.append(f"only the first {MOST_LINES:,} lines are shown, up to {utc_text(found[-1].at)}")
            break
        found.append(one)
    if not any(isinstance(one, Tick) for one in found):
        told.append(f"no tick comes in {days} days" if triggers else "it has no trigger: it is run by hand")
    return Preview(automation, days, tuple(_lines(found)), tuple(told))


def _lines(found: Sequence[Occurrence]) -> Iterator[PreviewLine]:
    usual = _longest_undisturbed(found)
    last: Tick | None = None
    disturbed = False
    for one in found:
        if isinstance(one, LeftOut):
            disturbed = True
            yield PreviewLine(one.kind, one.at, one.zone, one.reason)
            continue
        gap = one.at - last.at if last is not None else timedelta(0)
        if disturbed and last is not None and gap > max(WEEKEND, usual):
            yield PreviewLine("gap", last.at, one.zone, f"then none for {_length(gap)}")
        yield PreviewLine("tick", one.at, one.zone, one.note)
        last, disturbed = one, False


def _longest_undisturbed(found: Sequence[Occurrence]) -> timedelta:
    """The longest time between two ticks without anything left out between them."""
    longest = timedelta(0)
    for one, following in pairwise(found):
        if isinstance(one, Tick) and isinstance(following, Tick):
            longest = max(longest, following.at - one.at)
    return longest


def _length(gap: timedelta) -> str:
    hours = round(gap / timedelta(hours=1))
    if hours % 24 in {0, 1, 23}:
        return f"{round(hours / 24)} days"
    return f"{hours // 24} days and {hours % 24} hours"


def marked(triggers: Sequence[AnyTrigger], after: datetime, zone: str = "UTC") -> Iterator[tuple[Tick, str]]:
    """The ticks after a moment, each with what is odd about it and about the days before it; empty where nothing is."""
    left_out: list[str] = []
    for one in occurrences(triggers, after, zone):
        if isinstance(one, LeftOut):
            if one.kind == "clock":
                left_out.append(one.reason)
            elif one.reason not in WEEKDAYS:
                left_out.append(f"not on {one.local:%a %Y-%m-%d} ({one.reason})")
            continue
        more = [f"{len(left_out) - NAMED} more days off"] if len(left_out) > NAMED else []
        yield one, "; ".join(part for part in (one.note, *left_out[:NAMED], *more) if part)
        left_out = []


def notices(triggers: Sequence[AnyTrigger], now: datetime, days: int = AHEAD) -> Iterator[str]:
    """What the calendars of triggers do not know of the coming days, a sentence each."""
    told: set[str] = set()
    for trigger in triggers:
        if not isinstance(trigger, (Cron, Every)) or trigger.calendar is None:
            continue
        calendar = calendar_of(trigger.calendar)
        for year in range(now.year, (now + timedelta(days=days)).year + 1):
            sentence = calendar.unknown(year)
            if sentence is not None and sentence not in told:
                told.add(sentence)
                yield sentence
