"""The rules of the inbox, over values: working time, quiet hours, the chain's times, filters."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dialogues.request_chain import first_of, times
from bot.quiet import is_quiet, window
from bot.texts import Texts
from bot.working_time import in_words, worked
from workspace_api.contract.finplan import Request

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
     (timedelta(days=1, minutes=5), "1 working day"), (timedelta(days=2, hours=3), "2 working days 3 hours"),
     (timedelta(days=12, hours=3), "12 working days")],
)  # fmt: skip
def test_waiting_in_words(waited: timedelta, words: str) -> None:
    """Days and hours; hours are left out where they say nothing."""
    assert in_words(Texts("en", UTC), waited) == words


def test_waiting_in_russian() -> None:
    """The plural forms of the language."""
    assert in_words(Texts("ru", UTC), timedelta(days=2, hours=5)) == "2 рабочих дня 5 часов"


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


def of(history: list[tuple[str, int | None, int]], need: list[int], **more: object) -> Request:
    """A request whose history is (type, block, hours after Friday 17:00)."""
    entries = [
        {"type": kind, "author_block_id": block, "creation_date": (FRIDAY + timedelta(hours=hours)).isoformat()}
        for kind, block, hours in history
    ]
    value = {"id": 1, "status": "progress", "history": entries, "need_accept": need, "required_accept": [10, 2, 4]}
    return Request.model_validate(value | {"user_final_accept_block": 4} | more)


def after(hours: int) -> datetime:
    return FRIDAY + timedelta(hours=hours)


def test_the_turn_begins_where_the_one_before_ended() -> None:
    """Created, then accepted by the first: the second has its turn since then."""
    found = times(of([("create", 100, 0), ("accept", 10, 5)], [2, 4]))
    assert found.turn == after(5)
    assert found.done == {10: (after(0), after(5))}


def test_a_return_and_a_save_begin_a_new_round() -> None:
    """What was accepted before the return counts no more; a later save of a text moves no turn."""
    found = times(of([("create", 100, 0), ("accept", 10, 5), ("progress", 2, 6), ("save", 100, 9)], [10, 2, 4]))
    assert (found.turn, found.done) == (after(9), {})
    found = times(of([("create", 100, 0), ("save", 100, 3)], [10, 2, 4]))
    assert found.turn == after(0)


def test_a_changed_sum_begins_a_new_round() -> None:
    """A block that had accepted is needed again: the chain began anew with the save."""
    found = times(of([("create", 100, 0), ("accept", 10, 5), ("save", 100, 8)], [10, 2, 4]))
    assert (found.turn, found.done) == (after(8), {})


def test_who_is_next_is_said_only_where_the_order_is_known() -> None:
    """The final block stands last in a chain: where it does not, the order says nothing, but one alone is next."""
    assert first_of(of([], [2, 4])) == 2
    assert first_of(of([], [2, 4], required_accept=[4, 10, 2])) is None
    assert first_of(of([], [4], required_accept=[4, 10, 2])) == 4
