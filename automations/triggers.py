"""When an automation is due: Cron, Every, and several of them as one.

`trigger.after(moment, default_zone)` is the first Tick after a moment; `upcoming` lists the next ones. Cron times are
Debian cron's (cronsim): day-of-week 0 is Sunday, a job in the hour that is skipped runs right after the change, a job
in the hour that comes twice runs once. `every` counts elapsed time from a fixed anchor, so that all runners agree.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Tag

from automations.errors import did_you_mean
from automations.shapes import is_map

ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
"""Where `every` counts from when no anchor is given."""

DURATION = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?")


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


def zone_named(name: str) -> ZoneInfo:
    """A time zone by its IANA name, in its own spelling. Raises ValueError with the nearest right name."""
    zones = available_timezones()
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


def _cron_text(text: str) -> str:
    if len(text.split()) != 5:
        raise ValueError("has five fields (minute hour day month weekday), such as 0 2 * * *")
    try:
        next(CronSim(text, ANCHOR))
    except CronSimError as error:
        raise ValueError(f"is no cron expression: {str(error).replace('Bad', 'wrong')}") from None
    except StopIteration:
        raise ValueError("never comes: no such day in any year") from None
    return text


def _anchor_text(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is no date: write 2026-01-01 or 2026-01-01 06:00") from None
    return text


ZoneName = Annotated[str, AfterValidator(_zone_name)]
Duration = Annotated[str, AfterValidator(_duration_text)]


@dataclass(frozen=True, slots=True, order=True)
class Tick:
    """A moment at which an automation is due (`at`, in UTC), and the zone in which its people read it."""

    at: datetime
    zone: str

    @property
    def name(self) -> str:
        """`2026-11-21T02:00:00Z`."""
        return utc_text(self.at)


def utc_text(moment: datetime) -> str:
    """`2026-11-21T02:00:00Z`, fractions left out."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Cron(Model):
    """`{cron: "0 2 * * *", timezone: Europe/Moscow}`"""

    cron: Annotated[str, AfterValidator(_cron_text)]
    timezone: ZoneName | None = None

    def words(self, default_zone: str) -> str:
        """`0 2 * * * Europe/Moscow`."""
        return f"{self.cron} {self.timezone or default_zone}"

    def ticks(self, after: datetime, default_zone: str) -> Iterator[Tick]:
        """All ticks after a moment."""
        zone = self.timezone or default_zone
        for at in CronSim(self.cron, after.astimezone(ZoneInfo(zone))):
            # In the hour that comes twice, cronsim starts anew from the wall clock and may name a moment gone by.
            if at > after:
                yield Tick(at.astimezone(UTC), zone)


class Every(Model):
    """`{every: 1h}`, counted from `anchor` (a date and time in `timezone`)."""

    every: Duration
    anchor: Annotated[str, AfterValidator(_anchor_text)] | None = None
    timezone: ZoneName | None = None

    def words(self, default_zone: str) -> str:  # noqa: ARG002 - an interval has no zone; cron triggers, which share the signature, do
        """`every 1h`."""
        return f"every {self.every}"

    def ticks(self, after: datetime, default_zone: str) -> Iterator[Tick]:
        """All ticks after a moment."""
        zone = self.timezone or default_zone
        anchor = ANCHOR
        if self.anchor is not None:
            given = datetime.fromisoformat(self.anchor)
            anchor = (given if given.tzinfo else given.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
        step = duration(self.every)
        at = anchor + (max(after, anchor - step) - anchor) // step * step
        while True:
            at += step
            yield Tick(at.astimezone(UTC), zone)


def _kind(value: Any) -> str | None:
    if isinstance(value, (Cron, Every)):
        return "=cron" if isinstance(value, Cron) else "=every"
    return next((f"={key}" for key in ("cron", "every") if is_map(value) and key in value), None)


Trigger = Annotated[Annotated[Cron, Tag("=cron")] | Annotated[Every, Tag("=every")], Discriminator(_kind)]
"""Which one it is, is told by its key."""


def ticks(triggers: Sequence[Cron | Every], after: datetime, default_zone: str) -> Iterator[Tick]:
    """The ticks of all triggers after a moment, in order; one moment comes once."""
    streams = [trigger.ticks(after, default_zone) for trigger in triggers]
    heads = [next(stream, None) for stream in streams]
    while any(heads):
        first = min(head for head in heads if head is not None)
        yield first
        for index, head in enumerate(heads):
            if head is not None and head.at == first.at:
                heads[index] = next(streams[index], None)


def upcoming(triggers: Sequence[Cron | Every], after: datetime, n: int, default_zone: str = "UTC") -> list[Tick]:
    """The next `n` ticks after a moment."""
    return list(islice(ticks(triggers, after, default_zone), n))
