"""A preview: what is odd about the coming days is said, and nothing else."""

from datetime import UTC, datetime
from itertools import islice

from automations.calendars import OwnDays
from automations.preview import marked, notices, preview
from automations.triggers import Cron, Manual


def told(cron: Cron, start: str, days: int) -> list[str]:
    return [str(line) for line in preview("n", [cron], datetime.fromisoformat(start), days).lines]


def test_a_tick_that_the_clocks_move_and_one_that_comes_twice() -> None:
    """Berlin in spring and in autumn."""
    cron = Cron(cron="30 2 * * *", timezone="Europe/Berlin")
    assert told(cron, "2026-03-29T00:00Z", 2) == [
        "2026-03-29T01:00:00Z  Sun 2026-03-29 03:00 +02:00 Europe/Berlin  "
        "the clocks leave out 02:30: it comes at 03:00",
        "2026-03-30T00:30:00Z  Mon 2026-03-30 02:30 +02:00 Europe/Berlin",
    ]
    assert told(cron, "2026-10-24T12:00Z", 1) == [
        "2026-10-25T00:30:00Z  Sun 2026-10-25 02:30 +02:00 Europe/Berlin  "
        "the clocks show 02:30 twice: this is the first",
    ]


def test_ticks_that_are_merged_and_ticks_that_do_not_come() -> None:
    """Two times of one gap are one tick at the change; a rhythm just goes on."""
    twice = told(Cron(cron="15,45 2 * * *", timezone="Europe/Berlin"), "2026-03-29T00:00Z", 1)
    assert [line.split("Berlin  ")[-1] for line in twice[:2]] == [
        "the clocks leave out 02:15: it comes at 03:00",
        "the clocks leave out 02:45: it is one with the tick at the change",
    ]
    rhythm = told(Cron(cron="*/20 2 * * *", timezone="Europe/Berlin"), "2026-03-29T00:00Z", 1)
    assert rhythm[0].endswith("the clocks go from 02:00 to 03:00: 02:00, 02:20, 02:40 do not come")


def test_days_off_working_saturdays_and_gaps() -> None:
    """Russia around 1 November 2025: a Saturday is worked, and the long weekend after it is a gap."""
    cron = Cron(cron="0 9 * * *", timezone="Europe/Moscow", calendar="RU")
    found = preview("n", [cron], datetime(2025, 10, 31, 12, tzinfo=UTC), 6)
    assert [(line.kind, line.note) for line in found.lines] == [
        ("tick", "a working Saturday"),
        ("calendar", "Sunday"),
        ("calendar", "Day off (substituted from 2025-11-01)"),
        ("calendar", "Unity Day"),
        ("gap", "then none for 4 days"),
        ("tick", ""),
        ("tick", ""),
    ]
    assert found.text().startswith("n: 3 ticks in 6 days\n2025-11-01T06:00:00Z  Sat 2025-11-01 09:00 +03:00")
    assert found.to_json()["ticks"] == 3


def test_the_next_ticks_name_the_holidays_before_them() -> None:
    """Weekends are no news."""
    cron = Cron(cron="0 9 * * *", timezone="Europe/Moscow", calendar="RU")
    notes = [note for _, note in islice(marked([cron], datetime(2026, 11, 2, 12, tzinfo=UTC)), 4)]
    assert notes == ["", "not on Wed 2026-11-04 (Unity Day)", "", ""]


def test_what_is_not_known_is_said() -> None:
    """Years beyond what was published, triggers without a tick, previews that are too long."""
    cron = Cron(cron="0 9 * * *", calendar="RU")
    assert "which days are moved in 2040 is not known yet" in next(notices([cron], datetime(2040, 1, 5, tzinfo=UTC)))
    own = Cron(cron="0 9 1 1 *", calendar=OwnDays(country="RU"))
    assert preview("n", [own], datetime(2026, 1, 2, tzinfo=UTC)).notices[-1] == "no tick comes in 400 days"
    assert preview("n", [Manual(manual=True)], datetime(2026, 1, 2, tzinfo=UTC), 30).ticks == ()
    often = preview("n", [Cron(cron="* * * * *")], datetime(2026, 1, 2, tzinfo=UTC))
    assert len(often.lines) == 20_000
    assert often.notices == ("only the first 20,000 lines are shown, up to 2026-01-15T21:20:00Z",)
