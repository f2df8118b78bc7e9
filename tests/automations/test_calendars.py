"""Working days: Russian ones with the days that were moved, TARGET days, German ones by land, and one's own."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from automations.calendars import OwnDays, calendar_of, read_calendar, resolve_calendars
from automations.errors import InvalidAutomation
from automations.triggers import Cron, Every, upcoming
from automations.yaml_source import read_source


def worked(calendar: str | OwnDays, days: Sequence[str]) -> list[str]:
    return [day for day in days if calendar_of(calendar).off(date.fromisoformat(day)) is None]


MOVED_TO = [
    "2024-04-29", "2024-04-30", "2024-05-10", "2024-12-30", "2024-12-31",
    "2025-05-02", "2025-05-08", "2025-06-13", "2025-11-03", "2025-12-31",
    "2026-01-09", "2026-03-09", "2026-05-11", "2026-12-31",
]  # fmt: skip
WORKING_SATURDAYS = ["2024-04-27", "2024-11-02", "2024-12-28", "2025-11-01"]


def test_russian_days_that_were_moved() -> None:
    """As the government moved them for 2024, 2025 and 2026."""
    assert worked("RU", MOVED_TO) == []
    assert worked("RU", WORKING_SATURDAYS) == WORKING_SATURDAYS
    assert worked("RU", ["2024-11-09", "2026-01-08", "2026-11-04", "2026-11-07"]) == []
    assert worked("RU", ["2024-05-02", "2025-01-09", "2026-01-12"]) == ["2024-05-02", "2025-01-09", "2026-01-12"]
    assert calendar_of("RU").note(date(2025, 11, 1)) == "a working Saturday"
    assert calendar_of("RU").off(date(2026, 12, 31)) == "Day off (substituted from 2026-01-04)"


def test_working_days_in_2026_are_as_many_as_the_state_counts() -> None:
    """The production calendar of 2026 has 247 working days, that of 2025 as many, that of 2024 248."""
    days = {
        year: sum(calendar_of("RU").off(date.fromordinal(day)) is None for day in _year(year))
        for year in (2024, 2025, 2026)
    }
    assert days == {2024: 248, 2025: 247, 2026: 247}


def _year(year: int) -> range:
    return range(date(year, 1, 1).toordinal(), date(year + 1, 1, 1).toordinal())


def test_markets_and_parts_of_countries() -> None:
    """TARGET is closed on Good Friday and open on national holidays; Epiphany is off in Bavaria alone."""
    assert calendar_of("ECB").off(date(2026, 4, 3)) == "Good Friday"
    assert worked("TARGET", ["2026-04-06", "2026-05-14", "2026-10-03", "2026-12-24"]) == ["2026-05-14", "2026-12-24"]
    assert worked("DE-BY", ["2026-01-06"]) == []
    assert worked("DE-BE", ["2026-01-06"]) == ["2026-01-06"]


def test_own_days_come_first() -> None:
    """Off and on, over a country's or over plain weekdays."""
    own = OwnDays(country="RU", off=["2026-12-30"], working=["2026-12-26", "2026-12-31"])
    assert worked(own, ["2026-12-26", "2026-12-27", "2026-12-30", "2026-12-31"]) == ["2026-12-26", "2026-12-31"]
    plain = OwnDays(off=["2026-11-23"])
    assert worked(plain, ["2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"]) == ["2026-11-24"]


def test_ticks_count_only_on_working_days() -> None:
    """On the trigger's clocks; of a day off none comes, however often it would."""
    nine = Cron(cron="0 9 * * *", timezone="Europe/Moscow", calendar="RU")
    found = upcoming([nine], datetime(2025, 10, 31, 7, tzinfo=UTC), 3)
    assert [tick.name[:10] for tick in found] == ["2025-11-01", "2025-11-05", "2025-11-06"]
    assert found[0].note == "a working Saturday"
    seconds = Every(every="1s", timezone="Europe/Moscow", calendar="RU")
    found = upcoming([seconds], datetime(2026, 12, 30, 20, 59, 58, tzinfo=UTC), 3)
    assert [tick.name for tick in found] == ["2026-12-30T20:59:59Z", "2027-01-10T21:00:00Z", "2027-01-10T21:00:01Z"]
    never = Cron(cron="0 9 1 1 *", calendar="RU")
    assert upcoming([never], datetime(2026, 1, 1, tzinfo=UTC), 1) == []


def test_years_that_are_not_known() -> None:
    """Said in a sentence: no year passes for one without holidays."""
    sentence = calendar_of("RU").unknown(2031) or ""
    assert sentence.startswith("calendar RU: which days are moved in 2031 is not known yet (holidays ")
    assert "nothing is known of 2150" in (calendar_of("DE").unknown(2150) or "")
    assert calendar_of("DE").unknown(2031) is None
    assert calendar_of("RU").unknown(2026) is None
    assert calendar_of(OwnDays(off=["2026-11-23"])).unknown(2031) is None


def automation(folder: Path, calendar: str) -> list[str]:
    """What is told of a file that names a calendar."""
    source = read_source(f"name: a\ntrigger: {{cron: 0 9 * * *, calendar: {calendar}}}\n", str(folder / "a.yaml"))
    return [str(finding).removeprefix(f"{folder}/") for finding in resolve_calendars(source, folder)]


def test_a_file_of_own_days_is_taken_along(tmp_path: Path) -> None:
    """Its content stands in the automation from then on: the file may go."""
    (tmp_path / "calendars").mkdir()
    (tmp_path / "calendars" / "moscow.yaml").write_text("country: RU\noff: [2026-12-30]\nworking: [2026-12-26]\n")
    source = read_source("trigger:\n  - {every: 1h}\n  - {cron: 0 9 * * *, calendar: moscow}\n", "a.yaml")
    assert resolve_calendars(source, tmp_path) == []
    taken = {"name": "moscow", "country": "RU", "off": ["2026-12-30"], "working": ["2026-12-26"]}
    assert source.data == {"trigger": [{"every": "1h"}, {"cron": "0 9 * * *", "calendar": taken}]}
    trigger = Cron(cron="0 9 * * *", calendar=OwnDays.model_validate(taken))
    assert trigger.words("UTC") == "0 9 * * * UTC, working days of moscow"


@pytest.mark.parametrize(
    ("calendar", "told"),
    [
        ("RUS-X", "RUS-X"),
        ("ru", "a.yaml:2:38: trigger.calendar: ru is no country and no market; did you mean RU?"),
        ("DE-BX", "a.yaml:2:38: trigger.calendar: BX is no part of DE; there are BB, BE, BW"),
        ("moscov", "a.yaml:2:38: trigger.calendar: moscov is no calendar; did you mean moscow?"),
        ("office", "a.yaml:2:38: trigger.calendar: office is no country and no market, or put calendars/office.yaml"),
        ("{country: XX}", "a.yaml:2:48: trigger.calendar.country: XX is no country and no market"),
    ],
)
def test_unknown_calendars(tmp_path: Path, calendar: str, told: str) -> None:
    """With file, line, column, and what was meant."""
    (tmp_path / "calendars").mkdir()
    (tmp_path / "calendars" / "moscow.yaml").write_text("country: RU\n")
    found = automation(tmp_path, calendar)
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("country: RUU", "c.yaml:1:10: country: RUU is no country and no market"),
        ("offf: [2026-12-31]", "c.yaml:1:1: offf: no such key; did you mean off?"),
        ("off: [31.12.2026]", "c.yaml:1:7: off[0]: 31.12.2026 is no date: write 2026-12-31"),
        ("off: [2026-02-30]", "c.yaml:1:7: off[0]: 2026-02-30 is no date"),
        ("off: 2026-12-31", "c.yaml:1:6: off: should be a list of dates"),
        ("off: [2026-12-31]\nworking: [2026-12-31]", "c.yaml:2:11: working[0]: 2026-12-31 is off too"),
        ("", "c.yaml:1:1: is empty"),
        ("- RU", "c.yaml:1:1: should be a map"),
        ("off: &a [2026-12-31]\nworking: *a", "c.yaml:2:10: working: aliases (*a) are refused"),
    ],
)
def test_wrong_files_of_own_days(text: str, told: str) -> None:
    """With file, line and column of the calendar's own file."""
    with pytest.raises(InvalidAutomation) as refused:
        read_calendar(text, Path("c.yaml"))
    assert told in str(refused.value)
