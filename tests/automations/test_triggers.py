"""When automations are due: cron on clocks that change, intervals, several triggers, missed ticks."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from automations.catch_up import caught_up
from automations.definition import CatchUp
from automations.triggers import AnyTrigger, Cron, Every, Trigger, duration, ticks, upcoming, zone_named


def local(cron: str, zone: str, after: str, n: int) -> list[str]:
    found = upcoming([Cron(cron=cron, timezone=zone)], datetime.fromisoformat(after), n)
    return [tick.at.astimezone(ZoneInfo(zone)).strftime("%a %d %H:%M %z") for tick in found]


def test_the_hour_that_comes_twice_fires_once() -> None:
    """Berlin, 25 October 2026: 02:30 is there twice."""
    assert local("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2) == ["Sun 25 02:30 +0200", "Mon 26 02:30 +0100"]


def test_started_within_the_hour_that_comes_twice() -> None:
    """A start at 02:15 for the second time does not go back to the first 02:30."""
    assert local("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15Z", 1) == ["Mon 26 02:30 +0100"]


def test_the_hour_that_is_left_out_fires_right_after() -> None:
    """Berlin, 29 March 2026: there is no 02:30."""
    assert local("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2) == ["Sun 29 03:00 +0200", "Mon 30 02:30 +0200"]


def test_a_midnight_that_is_left_out() -> None:
    """Santiago, 6 September 2026: the day begins at 01:00, and is not lost."""
    expected = ["Sat 05 00:00 -0400", "Sun 06 01:00 -0300", "Mon 07 00:00 -0300"]
    assert local("0 0 * * *", "America/Santiago", "2026-09-04T12:00Z", 3) == expected


def test_day_of_week_0_is_sunday() -> None:
    """Cron counts from Sunday."""
    assert local("0 9 * * 0", "UTC", "2026-11-21T12:00Z", 2) == ["Sun 22 09:00 +0000", "Sun 29 09:00 +0000"]


def test_day_of_month_or_day_of_week() -> None:
    """Both given: either is enough."""
    found = local("0 9 1 * 1", "UTC", "2026-11-24T12:00Z", 3)
    assert found == ["Mon 30 09:00 +0000", "Tue 01 09:00 +0000", "Mon 07 09:00 +0000"]


@settings(max_examples=60, deadline=None)
@given(
    moment=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds the zone
    zone=st.sampled_from(["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]),
    cron=st.sampled_from(["30 2 * * *", "0 0 * * *", "*/20 * * * *", "15 */3 * * 1-5", "0 9 1 * 1"]),
)
def test_times_are_cronsims_from_wherever_one_starts(moment: datetime, zone: str, cron: str) -> None:
    """Started at any moment, the ticks are those of a clock that ran all the time, and all come after that moment."""
    early = moment - timedelta(days=3)
    always = [
        at.astimezone(UTC) for at, _ in zip(CronSim(cron, early.astimezone(ZoneInfo(zone))), range(320), strict=False)
    ]
    expected = [at for at in always if at > moment][:3]
    found = [tick.at for tick in upcoming([Cron(cron=cron, timezone=zone)], moment, 3)]
    assert found[: len(expected)] == expected


def test_every_counts_from_a_fixed_anchor() -> None:
    """Whenever a runner starts, the ticks are the same; a clock change does not move them."""
    every = Every(every="7h", anchor="2026-10-24 06:00", timezone="Europe/Berlin")
    found = [tick.name for tick in upcoming([every], datetime(2026, 10, 24, 23, 30, tzinfo=UTC), 3)]
    assert found == ["2026-10-25T01:00:00Z", "2026-10-25T08:00:00Z", "2026-10-25T15:00:00Z"]
    before = upcoming([every], datetime(2026, 10, 1, tzinfo=UTC), 1)
    assert before[0].name == "2026-10-24T04:00:00Z"
    assert upcoming([Every(every="1h")], datetime(2026, 11, 21, 2, 0, tzinfo=UTC), 1)[0].name == "2026-11-21T03:00:00Z"


def test_several_triggers_are_one_row_of_ticks() -> None:
    """In order, and a moment that two of them name comes once."""
    both: list[AnyTrigger] = [
        Cron(cron="0 * * * *"),
        Every(every="30m"),
        Cron(cron="0 3 * * *", timezone="Europe/Moscow"),
    ]
    found = [tick.name[11:16] for tick in upcoming(both, datetime(2026, 11, 20, 23, 10, tzinfo=UTC), 4)]
    assert found == ["23:30", "00:00", "00:30", "01:00"]
    assert upcoming([], datetime(2026, 11, 20, tzinfo=UTC), 3) == []


def test_durations_and_zones() -> None:
    """Their spellings, and what is near a wrong one."""
    assert duration("1d2h3m4s") == timedelta(days=1, hours=2, minutes=3, seconds=4)
    with pytest.raises(ValueError, match=r"did you mean Europe/Moscow\?"):
        zone_named("europe/moscow")
    assert Every(every="1h").words("UTC") == "every 1h"
    assert Cron(cron="0 2 * * *").words("Europe/Moscow") == "0 2 * * * Europe/Moscow"


NIGHTLY = [Cron(cron="0 2 * * *")]


def missed(considered: str, now: str) -> list[tuple[str, str, str]]:
    lines = caught_up("n", NIGHTLY, "UTC", datetime.fromisoformat(considered), datetime.fromisoformat(now))
    return [(line.tick[:10], line.state, line.reason) for line in lines]


def test_nothing_was_missed() -> None:
    """A start before the next tick."""
    assert missed("2026-11-20T02:00:00Z", "2026-11-20T23:00:00Z") == []


def test_the_latest_missed_tick_is_run_and_the_others_are_told() -> None:
    """Four nights down: one run, one skipped, two lost, with their reasons."""
    instead = "missed while no runner ran; the latest missed one was run instead"
    old = "missed while no runner ran, more than 2 days ago"
    assert missed("2026-11-16T02:00:00Z", "2026-11-20T09:00:00Z") == [
        ("2026-11-17", "lost", old),
        ("2026-11-18", "lost", old),
        ("2026-11-19", "skipped", instead),
        ("2026-11-20", "due", "late: no runner ran at its time"),
    ]


def test_a_tick_that_is_too_old_is_not_run() -> None:
    """A weekly automation whose tick is five days old."""
    weekly = [Cron(cron="0 2 * * 0")]
    considered, now = datetime(2026, 11, 8, 2, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
    lines = caught_up("n", weekly, "UTC", considered, now)
    assert [(line.tick[:10], line.state) for line in lines] == [("2026-11-15", "lost")]


def test_a_year_down_is_not_told_night_by_night() -> None:
    """A month is listed, and what was before it is said once."""
    found = missed("2025-11-20T02:00:00Z", "2026-11-20T09:00:00Z")
    assert len(found) == 31
    assert found[0][2].endswith("; those before it, from 2025-11-20, are not listed")
    assert found[-1][1] == "due"


def test_all_missed_ticks_are_run_and_none_of_them() -> None:
    """The other two policies."""
    considered, now = datetime(2026, 11, 16, 2, tzinfo=UTC), datetime(2026, 11, 20, 9, tzinfo=UTC)
    every_one = caught_up("n", NIGHTLY, "UTC", considered, now, CatchUp(policy="all", window="3d"))
    assert [line.state for line in every_one] == ["lost", "due", "due", "due"]
    assert every_one[0].reason == "missed while no runner ran, more than 3 days ago"
    none = caught_up("n", NIGHTLY, "UTC", considered, now, CatchUp(policy="none"))
    assert [(line.state, line.reason) for line in none] == [
        ("skipped", "missed while no runner ran; catch_up is none")
    ] * 4


def test_what_comes_each_second_does_not_fill_the_ledger() -> None:
    """Two days down: the newest thousand are told, the newest five hundred of them run, and the first says so."""
    now = datetime(2026, 11, 20, 9, tzinfo=UTC)
    lines = caught_up("n", [Every(every="1s")], "UTC", now - timedelta(days=2), now, CatchUp(policy="all"))
    assert [line.state for line in lines] == ["lost"] * 500 + ["due"] * 500
    reason = "missed while no runner ran; only the newest 500 are run"
    assert lines[0].reason == f"{reason}; those before it, from 2026-11-18, are not listed"
    assert lines[-1].tick == "2026-11-20T09:00:00Z"


def loaded(*triggers: object) -> list[AnyTrigger]:
    """Triggers as a file has them."""
    return TypeAdapter(list[Trigger]).validate_python(list(triggers))


def test_a_list_of_all_kinds() -> None:
    """Only those that are due at times have ticks; all of them say in words when."""
    mixed = loaded(
        {"cron": "0 9 * * *", "timezone": "Europe/Moscow"},
        {"at": ["2026-12-02 09:00", "2026-12-01 09:00"], "timezone": "Europe/Moscow"},
        {"manual": True},
        {"chat": "rates"},
        {"event": "request.created", "if": "{{ event.sum > 1000 }}"},
    )
    found = [tick.name for tick in upcoming(mixed, datetime(2026, 11, 30, 7, tzinfo=UTC), 3)]
    assert found == ["2026-12-01T06:00:00Z", "2026-12-02T06:00:00Z", "2026-12-03T06:00:00Z"]
    assert upcoming(mixed[2:], datetime(2026, 11, 30, tzinfo=UTC), 3) == []
    assert [trigger.words("UTC") for trigger in mixed] == [
        "0 9 * * * Europe/Moscow",
        "at 2026-12-02 09:00, 2026-12-01 09:00 Europe/Moscow",
        "by hand",
        "/run rates",
        "on request.created, if {{ event.sum > 1000 }}",
    ]


def test_at_on_clocks_that_change() -> None:
    """A moment that the clocks leave out is at the change; an offset is taken as it stands; what is past is past."""
    at = loaded({"at": ["2026-03-29 02:30", "2026-04-01T09:00+05:00", "2026-03-01 09:00"], "timezone": "Europe/Berlin"})
    found = upcoming(at, datetime(2026, 3, 28, tzinfo=UTC), 5)
    assert [tick.name for tick in found] == ["2026-03-29T01:00:00Z", "2026-04-01T04:00:00Z"]
    assert found[0].note == "the clocks leave out 02:30: it comes at 03:00"


@pytest.mark.parametrize(
    ("trigger", "told"),
    [
        ({"at": "tomorrow"}, "tomorrow is no moment: write 2026-12-01 09:00"),
        ({"at": "2026-12-01"}, "2026-12-01 is no moment"),
        ({"at": "2026-02-30 09:00"}, "2026-02-30 09:00 is no moment"),
        ({"at": ["2026-12-01 09:00", "2026-12-01 09:00"]}, "is given twice"),
        ({"at": list[str]()}, "is empty"),
        ({"manual": False}, "True"),
        ({"chat": "Two words"}, "is no word"),
        ({"event": "request.deleted"}, "request.created"),
        ({"event": "request.created", "if": "event.sum"}, "is a condition"),
        ({"event": "request.created", "cron": "0 2 * * *"}, "Extra inputs"),
        ({"cron": "0 2 * * *", "calendar": "../RU"}, "is no calendar"),
        ({"cron": "0 0 31 2 *"}, "cron expression"),
    ],
)
def test_wrong_triggers(trigger: object, told: str) -> None:
    """Each with what is wrong."""
    with pytest.raises(ValidationError, match=re.escape(told)):
        loaded(trigger)


def test_ticks_go_on_for_ever() -> None:
    """The row of ticks is made as it is read."""
    row = ticks(NIGHTLY, datetime(2026, 11, 20, tzinfo=UTC), "UTC")
    assert [next(row).name for _ in range(400)][-1] == "2027-12-24T02:00:00Z"
