"""Time zones as people name them: `Europe/Berlin`, `berlin`, `Берлин`, `нью йорк`.

typed words ─► their plain form ─► the names of all zones and their cities, in every language of the bot ─► zones,
the likeliest first; a slip of the pen still finds its zone.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import cast
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale
from babel.dates import get_timezone_location
from rapidfuzz import fuzz, process

from bot.texts import LOCALES

COMMON = (
    "Europe/London",
    "Europe/Berlin",
    "Europe/Kyiv",
    "Europe/Istanbul",
    "Europe/Moscow",
    "Asia/Dubai",
    "Asia/Yekaterinburg",
    "Asia/Almaty",
)
"""Zones that are offered at once, from west to east."""

LIKE_ENOUGH = 75.0
"""How alike, of 100, a name has to be to be offered for a misspelt one."""

NO_PLACE = re.compile(r"^(Etc|SystemV|posix|right)/|^(localtime|Factory|posixrules)$")


RENAMED = {
    "Europe/Kiev": "Europe/Kyiv",
    "Asia/Calcutta": "Asia/Kolkata",
    "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon",
    "Asia/Saigon": "Asia/Ho_Chi_Minh",
    "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
    "America/Godthab": "America/Nuuk",
}
"""Zones under the name that the list of cities still has, and under today's."""

CITY_UNDER = {today: listed for listed, today in RENAMED.items()}


def _plain(words: str) -> str:
    """Words without case, signs and blanks at the ends: how names are compared."""
    return re.sub(r"[\W_]+", " ", words.casefold().replace("ё", "е")).strip()


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """The zones of each plain name: of the zone itself, of its last part, of its city in each language."""
    found: dict[str, list[str]] = {}
    # Places come before the bare names of old, such as `Turkey` and `PST8PDT`.
    zones = sorted(available_timezones(), key=lambda name: ("/" not in name, name))
    zones = [zone for zone in zones if not NO_PLACE.search(zone)]
    own = [(name, zone) for zone in zones for name in (zone, zone.rsplit("/", 1)[-1])]
    # A name of its own beats the city of a neighbour, as London is Belfast's.
    cities = [(city(zone, language), zone) for zone in zones for language in LOCALES]
    for name, zone in (*own, *cities):
        named = found.setdefault(_plain(name), [])
        today = RENAMED.get(zone, zone)
        if today not in named and today in zones:
            named.append(today)
    return {name: tuple(zones) for name, zones in found.items()}


def find(words: str) -> str | None:
    """The zone that the words name beyond doubt: as it is written, or its city."""
    return next(iter(_names().get(_plain(words), ())), None)


def alike(words: str, limit: int = 4) -> list[str]:
    """Zones that may have been meant, the likeliest first; empty where nothing is near."""
    wanted = _plain(words)
    if not wanted:
        return []
    names = _names()
    near = process.extract(wanted, list(names), scorer=fuzz.ratio, limit=limit, score_cutoff=LIKE_ENOUGH)
    # Two letters begin too many names.
    begun = sorted(name for name in names if len(wanted) > 2 and f" {name}".find(f" {wanted}") >= 0)
    found = [zone for name in (*begun, *(name for name, _, _ in near)) for zone in names[name][:1]]
    return list(dict.fromkeys(found))[:limit]


def city(zone: str, language: str) -> str:
    """The city of a zone as a person calls it: `Berlin`, `Берлин`."""
    locale = LOCALES.get(language, "en_GB")
    # The library's own table of names, which it does not type.
    named = cast("Mapping[str, Mapping[str, object]]", Locale.parse(locale).time_zones)
    listed = named.get(CITY_UNDER.get(zone, zone), {})
    return str(listed.get("city") or get_timezone_location(zone, locale=locale, return_city=True))


def known(zone: str | None) -> ZoneInfo | None:
    """The zone of this name, where there is one."""
    return ZoneInfo(zone) if zone is not None and zone in available_timezones() else None
