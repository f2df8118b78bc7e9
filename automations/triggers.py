"""When an automation is due: at times (`cron`, `every`, `at`), on events, by hand, or by a word in chat.

`ticks(triggers, after, zone)` are the Ticks of all of them after a moment, in order; `occurrences` tells besides what
is left out, by a calendar or by a clock change. Only cron, every and at have any; a list may hold all kinds.

Cron expressions are Debian cron's (day-of-week 0 is Sunday; a day of the month or of the week is enough where neither
begins with `*`); clocks.py says what becomes of them when the clocks change. `every` counts elapsed time from a fixed
anchor, so that all runners agree. A calendar leaves out the ticks of days that are not worked, on the trigger's clocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from typing import Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from automations.calendars import Calendar, CalendarName, calendar_of
from automations.clocks import SECOND, LeftOut, Occurrence, Tick, cron_times, placed, utc_text
from automations.fields import Condition, Duration, Model, ZoneName, duration, moment_text, zone_named
from automations.shapes import is_map

__all__ = [
    "ANCHOR", "EVENTS", "TRIGGERS", "AnyTrigger", "At", "Chat", "Cron", "Duration", "Event", "Every", "LeftOut",
    "Manual", "Model", "Occurrence", "Tick", "Trigger", "ZoneName", "duration", "occurrences", "ticks", "upcoming",
    "utc_text", "zone_named",
]  # fmt: skip

ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
"""Where `every` counts from when no anchor is given."""
MOST_MOMENTS = 1000
LONGEST_WORD = 32
NEVER = timedelta(days=12 * 366)
"""A trigger whose calendar has left everything out for so long has no more ticks."""

EventName = Literal[
    "request.created",
    "request.status_changed",
    "task.created",
    "task.overdue",
    "article.changed",
    "org.changed",
    "transaction.created",
]
EVENTS: tuple[str, ...] = get_args(EventName)


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


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _moments(texts: list[str]) -> list[str]:
    if not texts:
        raise ValueError("is empty: name at least one moment, such as 2026-12-01 09:00")
    if len(texts) > MOST_MOMENTS:
        raise ValueError(f"has more than {MOST_MOMENTS} moments")
    for index, text in enumerate(texts):
        moment_text(text)
        if text in texts[:index]:
            raise ValueError(f"{text} is given twice")
    return texts


def _word(text: str) -> str:
    plain = text.replace("-", "").replace("_", "")
    if not plain.isalnum() or text != text.lower() or len(text) > LONGEST_WORD:
        raise ValueError(f"is no word: use up to {LONGEST_WORD} small letters, digits and dashes, as in /run rates")
    return text


def _aware(text: str, zone: ZoneInfo) -> tuple[datetime, str]:
    """The moment of a text on the clocks of a zone, and what is odd about it."""
    given = datetime.fromisoformat(text)
    return (given.astimezone(UTC), "") if given.tzinfo else placed(given, zone)


class _Any(Model):
    """What all triggers have."""

    timezone: ZoneName | None = None
    """The zone whose clocks count, and in which `tick.local` is told."""

    def words(self, default_zone: str) -> str:
        """In a few words: `0 2 * * * Europe/Moscow`."""
        raise NotImplementedError

    def occurrences(self, after: datetime, default_zone: str) -> Iterator[Occurrence]:  # noqa: ARG002 - most have none
        """All ticks after a moment, and what is left out between them."""
        return iter(())


class _Timed(_Any):
    """What triggers have that go on for ever."""

    calendar: CalendarName | None = None
    """The calendar whose working days count."""

    def times(self, after: datetime, zone: str) -> Iterator[Occurrence]:
        """All ticks after a moment, without a calendar."""
        raise NotImplementedError

    def occurrences(self, after: datetime, default_zone: str) -> Iterator[Occurrence]:
        """All ticks after a moment, and what is left out between them: of a day off, one line."""
        zone = self.timezone or default_zone
        if self.calendar is None:
            return self.times(after, zone)
        return self._on_working_days(calendar_of(self.calendar), after, zone)

    def _on_working_days(self, calendar: Calendar, after: datetime, zone: str) -> Iterator[Occurrence]:
        clocks = ZoneInfo(zone)
        worked = after
        while True:
            for one in self.times(after, zone):
                if isinstance(one, LeftOut):
                    yield one
                    continue
                day = one.local.date()
                reason = calendar.off(day)
                if reason is None:
                    note = "; ".join(part for part in (one.note, calendar.note(day)) if part)
                    yield Tick(one.at, zone, note)
                    worked = one.at
                    continue
                if one.at - worked > NEVER:
                    return
                yield LeftOut(one.at, zone, "calendar", reason)
                midnight = datetime(day.year, day.month, day.day) + timedelta(days=1)  # noqa: DTZ001 - a wall time
                after = max(placed(midnight, clocks)[0] - SECOND, one.at)
                break
            else:
                return

    @property
    def _working_days(self) -> str:
        return f", working days of {calendar_of(self.calendar).name}" if self.calendar is not None else ""


class Cron(_Timed):
    """`{cron: "0 2 * * *", timezone: Europe/Moscow, calendar: RU}`"""

    cron: Annotated[str, AfterValidator(_cron_text)]

    def words(self, default_zone: str) -> str:
        """`0 2 * * * Europe/Moscow, working days of RU`."""
        return f"{self.cron} {self.timezone or default_zone}{self._working_days}"

    def times(self, after: datetime, zone: str) -> Iterator[Occurrence]:
        return cron_times(self.cron, after, zone)


class Every(_Timed):
    """`{every: 1h}`, counted from `anchor` (a date and time in `timezone`)."""

    every: Duration
    anchor: Annotated[str, AfterValidator(_anchor_text)] | None = None

    def words(self, default_zone: str) -> str:  # noqa: ARG002 - an interval has no zone; the others, which share the signature, do
        """`every 1h`."""
        return f"every {self.every}{self._working_days}"

    def times(self, after: datetime, zone: str) -> Iterator[Occurrence]:
        anchor = _aware(self.anchor, ZoneInfo(zone))[0] if self.anchor is not None else ANCHOR
        step = duration(self.every)
        at = anchor + (max(after, anchor - step) - anchor) // step * step
        while True:
            at += step
            yield Tick(at.astimezone(UTC), zone)


class At(_Any):
    """`{at: "2026-12-01 09:00", timezone: Europe/Moscow}`, or a list of moments; each comes once."""

    at: Annotated[list[str], BeforeValidator(_one_or_many), AfterValidator(_moments)]

    def words(self, default_zone: str) -> str:
        """`at 2026-12-01 09:00 Europe/Moscow`."""
        more = f" and {len(self.at) - 3} more" if len(self.at) > 3 else ""
        return f"at {', '.join(self.at[:3])}{more} {self.timezone or default_zone}"

    def occurrences(self, after: datetime, default_zone: str) -> Iterator[Occurrence]:
        """Those of its moments that come after a moment."""
        zone = self.timezone or default_zone
        moments = (_aware(text, ZoneInfo(zone)) for text in self.at)
        return iter(sorted(Tick(at, zone, note) for at, note in moments if at > after))


class Manual(_Any):
    """`{manual: true}`: only by hand, from the shell or the ops page."""

    manual: Literal[True]

    def words(self, default_zone: str) -> str:  # noqa: ARG002 - the same
        """`by hand`."""
        return "by hand"


class Chat(_Any):
    """`{chat: rates}`: people start it from chat with `/run rates`."""

    chat: Annotated[str, AfterValidator(_word)]

    def words(self, default_zone: str) -> str:  # noqa: ARG002 - the same
        """`/run rates`."""
        return f"/run {self.chat}"


class Event(_Any):
    """`{event: request.created, if: "{{ event.sum > 1000 }}"}`: on a change in the workspace."""

    event: EventName
    if_: Condition = Field(True, alias="if")
    """Counts only events for which it is true."""

    def words(self, default_zone: str) -> str:  # noqa: ARG002 - the same
        """`on request.created, if {{ event.sum > 1000 }}`."""
        return f"on {self.event}" + (f", if {self.if_}" if self.if_ is not True else "")


AnyTrigger = Cron | Every | At | Manual | Chat | Event

TRIGGERS: Mapping[str, type[AnyTrigger]] = {
    "cron": Cron, "every": Every, "at": At, "manual": Manual, "chat": Chat, "event": Event,
}  # fmt: skip
"""The triggers by the key that makes a map one of them."""


def _kind(value: Any) -> str | None:
    for key, model in TRIGGERS.items():
        if isinstance(value, model) or (is_map(value) and key in value):
            return f"={key}"
    return None


Trigger = Annotated[
    Annotated[Cron, Tag("=cron")]
    | Annotated[Every, Tag("=every")]
    | Annotated[At, Tag("=at")]
    | Annotated[Manual, Tag("=manual")]
    | Annotated[Chat, Tag("=chat")]
    | Annotated[Event, Tag("=event")],
    Discriminator(_kind),
]
"""Which one it is, is told by its key."""


def _order(one: Occurrence) -> tuple[datetime, bool, str]:
    return one.at, isinstance(one, Tick), one.zone


def occurrences(triggers: Sequence[AnyTrigger], after: datetime, default_zone: str) -> Iterator[Occurrence]:
    """What all triggers give after a moment, in order; one moment is due once."""
    last: datetime | None = None
    # One trigger alone, as most automations have, needs no merging.
    streams = [trigger.occurrences(after, default_zone) for trigger in triggers]
    for one in streams[0] if len(streams) == 1 else merge(*streams, key=_order):
        if isinstance(one, Tick):
            if one.at == last:
                continue
            last = one.at
        yield one


def ticks(triggers: Sequence[AnyTrigger], after: datetime, default_zone: str) -> Iterator[Tick]:
    """The ticks of all triggers after a moment, in order; one moment comes once."""
    return (one for one in occurrences(triggers, after, default_zone) if isinstance(one, Tick))


def upcoming(triggers: Sequence[AnyTrigger], after: datetime, n: int, default_zone: str = "UTC") -> list[Tick]:
    """The next `n` ticks after a moment."""
    return list(islice(ticks(triggers, after, default_zone), n))
