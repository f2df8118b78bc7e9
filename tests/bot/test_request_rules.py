"""The rules of the inbox, over values: working time, quiet hours, filters, days of leave."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import days_of_leave, deputies
from bot.people import Person
from bot.quiet import is_quiet, window
from bot.texts import Texts
from bot.working_time import in_words, worked

FRIDAY = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(1, timedelta(hours=1)), (7, timedelta(hours=7)), (40, timedelta(hours=7)), (72, timedelta(days=1)),
     (24 * 7, timedelta(days=5)), (24 * 14 + 1, timedelta(days=10, hours=1)), (-5, timedelta())],
)  # fmt: skip
def test_weekends_do_not_count(hours: int, expected: timedelta) -> None:
    """From Friday, 17:00: an hour is an hour, Saturday and Sunday are nothing, Monday at 17:00 is one working day."""
    assert worked(FRIDAY, FRIDAY + timedelta(hours=hours), UTC) == expected


moments = st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone


@given(moments, moments, moments)
def test_working_time_adds_up(one: datetime, two: datetime, three: datetime) -> None:
    """What lies between two moments is the sum of its parts, and never more than the time that has gone."""
    first, second, third = sorted((one, two, three))
    assert worked(first, second, UTC) + worked(second, third, UTC) == worked(first, third, UTC)
    assert worked(first, third, UTC) <= third - first


def test_the_weekend_is_that_of_the_zone() -> None:
    """Friday, 20:00 in UTC is Saturday in Auckland."""
    assert worked(FRIDAY.replace(hour=20), FRIDAY.replace(hour=22), ZoneInfo("Pacific/Auckland")) == timedelta()


@pytest.mark.parametrize(
    ("waited", "words"),
    [(timedelta(minutes=59), "less than an hour"), (timedelta(hours=1), "1 hour"),
     (timedelta(days=1, minutes=5), "1 working day"), (timedelta(days=2, hours=3), "2 working days"),
     (timedelta(days=12, hours=3), "12 working days")],
)  # fmt: skip
def test_waiting_in_words(waited: timedelta, words: str) -> None:
    """Days and hours; hours are left out where they say nothing."""
    assert in_words(Texts("en", UTC), waited) == words


def test_waiting_in_russian() -> None:
    """The plural forms of the language."""
    assert in_words(Texts("ru", UTC), timedelta(days=2, hours=5)) == "2 рабочих дня"


@pytest.mark.parametrize(
    ("kept", "clock", "quiet"),
    [(["22:00", "07:00"], (23, 0), True), (["22:00", "07:00"], (6, 59), True), (["22:00", "07:00"], (7, 0), False),
     (["22:00", "07:00"], (21, 59), False), (["12:00", "13:00"], (12, 30), True), (["12:00", "13:00"], (13, 0), False),
     (["12:00", "12:00"], (12, 0), False), (None, (3, 0), False), (["x", "07:00"], (3, 0), False),
     ("22", (3, 0), False)],
)  # fmt: skip
def test_quiet_hours(kept: object, clock: tuple[int, int], quiet: bool) -> None:
    """Over midnight too; the end is not quiet any more; what makes no sense is no window."""
    assert is_quiet(window(kept), datetime(2026, 11, 20, *clock, tzinfo=UTC)) is quiet


TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.12-14.12", (date(2026, 12, 1), date(2026, 12, 14))),
     ("24 Nov – 5 Dec", (date(2026, 11, 24), date(2026, 12, 5))),
     ("до 30 ноября", (TODAY, date(2026, 11, 30))), ("until 30.11.", (TODAY, date(2026, 11, 30))),
     ("2026-12-01 2026-12-14", (date(2026, 12, 1), date(2026, 12, 14))),
     ("28.12 - 10.01", (date(2026, 12, 28), date(2027, 1, 10))), ("5 мая", (TODAY, date(2027, 5, 5))),
     ("с 1 по 5", None), ("31.02", None), ("1.12.25", None), ("5 Smarch", None), ("", None),
     ("14.12.2026-1.12.2026", None), ("1.1 2.1 3.1", None), ("2026-13-01", None)],
)  # fmt: skip
def test_days_of_leave(text: str, expected: tuple[date, date] | None) -> None:
    """One day is the last one; days without a year come next; what makes no sense is nothing."""
    assert days_of_leave.parse(text, TODAY) == expected


@given(st.text(alphabet="0123456789.-/ novдек", max_size=24))
def test_any_text_is_read(text: str) -> None:
    """Whatever is typed is two days in order from today on, or nothing."""
    found = days_of_leave.parse(text, TODAY)
    assert found is None or TODAY <= found[0] <= found[1]


def test_buttons_of_leave() -> None:
    """Saturday's week ends on the Sunday after next; a Monday's on its Sunday."""
    assert days_of_leave.week(TODAY) == (TODAY, date(2026, 11, 29))
    assert days_of_leave.week(date(2026, 11, 23)) == (date(2026, 11, 23), date(2026, 11, 29))
    assert days_of_leave.two_weeks(TODAY) == (TODAY, date(2026, 12, 4))


def person(user_id: str, *, key: str | None = "sealed", blocked: bool = False) -> Person:
    return Person(1, user_id, user_id, "en", key, key_proved=True, linked_at=0.0, blocked=blocked)


@pytest.mark.parametrize(
    ("deputy", "active", "expected"),
    [("anna", True, "self"), ("boris", True, None), ("boris", False, "inactive"), ("vera", True, "unlinked"),
     ("max", True, "keyless"), ("ivan", True, "away"), ("olga", True, None), ("paul", True, "unlinked")],
)  # fmt: skip
def test_who_can_stand_in(deputy: str, active: bool, expected: str | None) -> None:
    """Linked, with a key of their own, active, at work in these days, and somebody else."""
    linked = {name: person(name) for name in ("anna", "boris", "ivan", "olga")}
    linked |= {"max": person("max", key=None), "paul": person("paul", blocked=True)}
    leaves = [
        deputies.Leave(1, "ivan", "boris", date(2026, 11, 20), date(2026, 11, 21)),
        deputies.Leave(2, "olga", "boris", date(2027, 1, 1), date(2027, 1, 5)),
    ]
    days = TODAY, date(2026, 11, 30)
    assert deputies.obstacle("anna", deputy, linked, active, leaves, *days) == expected
