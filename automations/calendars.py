"""Working days: of a country (`RU`, `DE-BY`), of a market (`ECB`), or of the company (`calendars/<name>.yaml`).

```
calendar: moscow ─► calendars/moscow.yaml beside the automation ─► written into the automation when it is loaded
                    {country: RU, off: [2026-12-31], working: [2026-12-26]}
calendar: RU ─► the `holidays` library, with the days off that were moved and the Saturdays worked for them
```
A file's own days come first, then the library's; without a country, Monday to Friday are worked. A run and a backfill
need no file: what it said stands in the definition that they take along.

For a year of which the library knows nothing, or not yet which days are moved, `unknown` says so in a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationError

from automations.errors import Finding, InvalidAutomation, did_you_mean
from automations.fields import Day, Model
from automations.shapes import is_list, is_map
from automations.yaml_source import Source, read_source

FOLDER = "calendars"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
MARKETS = {"TARGET": "ECB"}
"""Other names of markets."""
AMERICAN = re.compile(r"(\d\d)/(\d\d)/(\d{4})")
MOST_DAYS = 2000
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text} is no calendar: name a country such as RU or DE-BY, ECB, or a file of {FOLDER}/")
    return text


class OwnDays(Model):
    """A calendar of one's own: `{country: RU, off: [2026-12-31], working: [2026-12-26]}`."""

    country: Annotated[str, AfterValidator(_name)] | None = None
    """Whose holidays and weekends count besides; none: Saturdays and Sundays are off."""
    off: Annotated[list[Day], Field(max_length=MOST_DAYS)] = Field(default_factory=list[str])
    working: Annotated[list[Day], Field(max_length=MOST_DAYS)] = Field(default_factory=list[str])
    name: Annotated[str, AfterValidator(_name)] | None = None
    """What it is called: the name of its file."""


def _shape(value: object) -> str:
    return "=days" if isinstance(value, OwnDays) or is_map(value) else "=name"


CalendarName = Annotated[
    Annotated[Annotated[str, AfterValidator(_name)], Tag("=name")] | Annotated[OwnDays, Tag("=days")],
    Discriminator(_shape),
]
"""What stands in a file under `calendar`."""


@dataclass(frozen=True)
class Calendar:
    """Which days are worked."""

    name: str
    own_off: frozenset[date] = frozenset()
    own_working: frozenset[date] = frozenset()
    holidays: Any = field(default=None, compare=False, repr=False)
    """The library's calendar; it has no types that say what it holds."""

    def off(self, day: date) -> str | None:
        """Why a day is not worked (`New Year's Day`, `Sunday`), None where it is."""
        if day in self.own_working:
            return None
        if day in self.own_off:
            return f"a day off in {self.name}"
        if self.holidays is None:
            return WEEKDAYS[day.weekday()] if day.weekday() >= 5 else None
        # Looking a day up is what makes the library fill in its year, moved working days included.
        holiday = self._holiday(day)
        if day in self.holidays.weekend_workdays:
            return None
        return holiday or (WEEKDAYS[day.weekday()] if self.holidays.is_weekend(day) else None)

    def _holiday(self, day: date) -> str | None:
        # `substituted from 01/03/2027`: the third of January
        return AMERICAN.sub(r"\3-\1-\2", self.holidays.get(day) or "") or None

    def note(self, day: date) -> str:
        """What is odd about a working day: `a working Saturday`; else nothing."""
        weekend = day.weekday() >= 5 if self.holidays is None else self.holidays.is_weekend(day)
        if self.off(day) is not None:
            return ""
        if weekend:
            return f"a working {WEEKDAYS[day.weekday()]}"
        if day in self.own_working and self.holidays is not None and self._holiday(day):
            return f"{self._holiday(day)}, worked by {self.name}"
        return ""

    def unknown(self, year: int) -> str | None:
        """What is not known of a year, as a sentence; None where all is known."""
        if self.holidays is None:
            return None
        version = _library_version()
        first, last = self.holidays.start_year, self.holidays.end_year
        if not first <= year <= last:
            told = f"nothing is known of {year} (holidays {version} knows {first} to {last})"
            return f"calendar {self.name}: {told}; only weekends{_and_own(self)} are left out"
        moved = _years_of_moved_days(self.holidays)
        if moved and year > max(moved):
            told = f"which days are moved in {year} is not known yet (holidays {version} knows them up to {max(moved)})"
            return f"calendar {self.name}: {told}; its fixed holidays and weekends{_and_own(self)} are left out"
        self.holidays.get(date(year, 1, 1))
        guessed = sorted(name for day, name in self.holidays.items() if day.year == year and "estimated" in name)
        if guessed:
            return f"calendar {self.name}: in {year} the day of {guessed[0]} may still change"
        return None


def _and_own(calendar: Calendar) -> str:
    return " and own days off" if calendar.own_off else ""


def _library_version() -> str:
    from importlib.metadata import version

    return version("holidays")


def _years_of_moved_days(library: Any) -> set[int]:
    """The years for which the library has days off that were moved from other days: published year by year."""
    special: dict[int, Any] = getattr(library, "special_public_holidays", None) or {}
    found: set[int] = set()
    for year, entry in special.items():
        entries: Sequence[Any] = entry if entry and isinstance(entry[0], tuple) else (entry,)
        if any(len(one) >= 4 and all(isinstance(part, int) for part in one) for one in entries):
            found.add(year)
    return found


@lru_cache(maxsize=256)
def _library(code: str) -> Any:
    """The library's calendar of a country, a part of one, or a market. Raises ValueError with the nearest right name.

    One object for all automations: years are filled in as they are asked for.
    """
    import holidays

    country, _, part = code.partition("-")
    countries: dict[str, list[str]] = holidays.list_supported_countries()
    markets: dict[str, Any] = holidays.list_supported_financial()
    market = MARKETS.get(code, code)
    if market in markets:
        kind: Any = type(holidays.financial_holidays(market))
        return kind(language=_english(kind))
    if country not in countries:
        hint = did_you_mean(code.upper(), [*countries, *markets, *MARKETS])
        raise ValueError(f"{code} is no country and no market{hint}")
    if part and part not in countries[country]:
        parts = countries[country]
        hint = did_you_mean(part.upper(), parts) or f"; there are {', '.join(parts) or 'none'}"
        raise ValueError(f"{part} is no part of {country}{hint}")
    kind = type(holidays.country_holidays(country))
    return kind(subdiv=part or None, language=_english(kind))


def _english(kind: Any) -> str | None:
    return "en_US" if "en_US" in kind.supported_languages else None


@lru_cache(maxsize=4096)
def _calendar(country: str | None, off: tuple[str, ...], working: tuple[str, ...], name: str) -> Calendar:
    own_off, own_working = (frozenset(date.fromisoformat(day) for day in texts) for texts in (off, working))
    return Calendar(name, own_off, own_working, _library(country) if country else None)


def calendar_of(given: str | OwnDays) -> Calendar:
    """The calendar that a trigger names, or holds. Raises ValueError for a country that is none."""
    if isinstance(given, str):
        return _calendar(given, (), (), given)
    name = given.name or (f"{given.country} with own days" if given.country else "own days")
    return _calendar(given.country, tuple(given.off), tuple(given.working), name)


def read_calendar(text: str | bytes, file: Path) -> OwnDays:
    """Reads `calendars/<name>.yaml`. Raises InvalidAutomation with every finding."""
    source = read_source(text, str(file))
    if not is_map(source.data):
        told = "is empty" if source.data is None else "should be a map with country, off and working"
        raise InvalidAutomation([source.finding((), told)])
    try:
        days = OwnDays.model_validate({"name": file.stem, **source.data})
    except ValidationError as error:
        raise InvalidAutomation(list(_findings(error, source))) from None
    found: list[Finding] = []
    for index, day in enumerate(days.working):
        if day in days.off:
            found.append(source.finding(("working", index), f"{day} is off too: it can be only one"))
    if days.country is not None:
        try:
            _library(days.country)
        except ValueError as error:
            found.append(source.finding(("country",), str(error)))
    if found:
        raise InvalidAutomation(found)
    return days


def _findings(error: ValidationError, source: Source) -> Iterator[Finding]:
    details: list[Any] = error.errors(include_url=False)
    for detail in details:
        path = tuple(detail["loc"])
        match detail["type"]:
            case "extra_forbidden":
                keys = [key for key in OwnDays.model_fields if key != "name"]
                told = f"no such key{did_you_mean(str(path[-1]), keys) or '; the keys are ' + ', '.join(keys)}"
                yield source.finding(path, told, at_key=True)
            case "value_error":
                yield source.finding(path, str(detail["ctx"]["error"]))
            case "list_type":
                yield source.finding(path, "should be a list of dates, such as [2026-12-31]")
            case "too_long":
                yield source.finding(path, f"has more than {MOST_DAYS} days")
            case _:
                yield source.finding(path, "should be a text")


def own_file(name: str, folder: Path) -> Path | None:
    """`calendars/<name>.yaml` or `.yml` below an automation's folder, where there is one."""
    paths = (folder / FOLDER / f"{name}{ending}" for ending in (".yaml", ".yml"))
    return next((path for path in paths if NAME.fullmatch(name) and path.is_file()), None)


def resolve_calendars(source: Source, folder: Path) -> list[Finding]:
    """Puts what `calendars/*.yaml` say in the place of their names, in the data of an automation's file.

    Called between reading a file and validating it. Gives what is wrong: with a calendar's own file, or a name that is
    neither a file nor a country nor a market.
    """
    if not is_map(source.data):
        return []
    given = source.data.get("trigger")
    many = is_list(given)
    found: list[Finding] = []
    for index, trigger in enumerate(given if is_list(given) else [given]):
        if not _is_dict(trigger):
            continue
        place = ("trigger", index, "calendar") if many else ("trigger", "calendar")
        value: Any = trigger.get("calendar")
        country: Any = value.get("country") if is_map(value) else value
        if not isinstance(country, str) or not NAME.fullmatch(country):
            continue  # the model says what is wrong with it
        try:
            file = own_file(country, folder) if value is country else None
            if file is None:
                _library(country)
            else:
                days = read_calendar(file.read_bytes(), file)
                trigger["calendar"] = days.model_dump(exclude_defaults=True)
        except InvalidAutomation as error:
            found.extend(error.findings)
        except OSError as error:
            found.append(source.finding(place, f"{country} cannot be read: {error.strerror}"))
        except ValueError as error:
            if value is country:
                found.append(source.finding(place, _no_such(country, folder, str(error))))
            else:
                found.append(source.finding((*place, "country"), str(error)))
    return found


def _is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _no_such(name: str, folder: Path, told: str) -> str:
    """What the library says, or the own file that is nearer."""
    files = sorted(path.stem for path in (folder / FOLDER).glob("*.y*ml")) if (folder / FOLDER).is_dir() else []
    hint = did_you_mean(name, files)
    if hint:
        return f"{name} is no calendar{hint}"
    return f"{told}, or put {FOLDER}/{name}.yaml beside this file" if "did you mean" not in told else told
