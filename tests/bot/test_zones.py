"""Time zones and quiet hours as people write them."""

import pytest

from bot import hours, zones


@pytest.mark.parametrize(
    ("words", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        (" берлин ", "Europe/Berlin"),
        ("нью йорк", "America/New_York"),
        ("New York", "America/New_York"),
        ("London", "Europe/London"),
        ("Киев", "Europe/Kyiv"),
        ("utc", "UTC"),
        ("Berln", None),
        ("Saturn", None),
        ("", None),
    ],
)
def test_a_zone_is_found_by_its_name_or_city(words: str, zone: str | None) -> None:
    """Any case, both languages, today's name of the zone."""
    assert zones.find(words) == zone


@pytest.mark.parametrize(
    ("words", "zone"),
    [
        ("Berln", "Europe/Berlin"),
        ("Eurpe/Berlin", "Europe/Berlin"),
        ("Моск", "Europe/Moscow"),
        ("new", "America/New_York"),
    ],
)
def test_a_slip_of_the_pen_is_understood(words: str, zone: str) -> None:
    """The likeliest zone comes first."""
    assert zones.alike(words)[0] == zone


def test_nothing_is_offered_for_nonsense() -> None:
    """What resembles no city leads nowhere."""
    assert zones.alike("xyzzy") == []
    assert zones.alike("") == []


def test_the_zones_offered_exist_and_have_cities() -> None:
    """In both languages; a zone that was renamed too."""
    assert all(zones.known(zone) is not None for zone in zones.COMMON)
    assert [zones.city("Europe/Kyiv", language) for language in ("en", "ru")] == ["Kyiv", "Киев"]
    assert zones.known("Mars/Base") is None
    assert zones.known(None) is None


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("21:30-07:00", ("21:30", "07:00")),
        ("22–7", ("22:00", "07:00")),
        ("22.15 до 6", ("22:15", "06:00")),
        ("20 to 8", ("20:00", "08:00")),
        ("13-15", ("13:00", "15:00")),
        ("22-24", ("22:00", "00:00")),
        ("25-7", None),
        ("22:60-7", None),
        ("7-7", None),
        ("24-0", None),
        ("at night", None),
    ],
)
def test_quiet_hours_are_read(words: str, kept: tuple[str, str] | None) -> None:
    """Two different times of a day, or nothing."""
    assert hours.parse(words) == kept


def test_quiet_hours_are_shown() -> None:
    """As kept in the database, too."""
    assert hours.shown(["21:30", "07:00"]) == "21:30–07:00"
