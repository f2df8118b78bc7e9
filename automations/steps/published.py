"""What central banks publish: the Bank of Russia's and the European Central Bank's XML, read into exact rates.

CBR: windows-1251, decimal comma, `Nominal` units for `Value` roubles (`VunitRate`, where given, is for one), one date.
ECB: `Cube time` holds `Cube currency rate`, units for one euro; the history files hold many days, the newest counts.
Documents with a DTD are refused: they are what entity bombs are made of.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

from automations.errors import AutomationError


class BadRates(AutomationError):
    """The document is not what the bank publishes."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How much `quote` one unit of `base` is worth; `code` is the foreign one of the two."""

    code: str
    base: str
    quote: str
    value: Decimal

    def as_value(self, day: date) -> dict[str, Any]:
        return {
            "code": self.code,
            "base": self.base,
            "quote": self.quote,
            "date": day.isoformat(),
            "value": self.value,
        }


@dataclass(frozen=True, slots=True)
class Published:
    """The rates of one day by code."""

    date: date
    rates: Mapping[str, Rate]


@dataclass(slots=True)
class _Element:
    name: str
    attributes: dict[str, str]
    text: str = ""


def _elements(document: bytes) -> list[tuple[tuple[str, ...], _Element]]:
    """Every element with the names above it, in the order of their ends."""
    parser = ParserCreate()
    stack: list[_Element] = []
    found: list[tuple[tuple[str, ...], _Element]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        stack.append(_Element(name.rpartition(":")[2], attributes))

    def end(_: str) -> None:
        element = stack.pop()
        found.append((tuple(above.name for above in stack), element))

    def text(data: str) -> None:
        stack[-1].text += data

    def doctype(*_: object) -> None:
        raise BadRates("the document has a DTD, which is refused")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(document, True)
    except (ExpatError, ValueError, LookupError) as error:
        raise BadRates(f"the document is no XML: {error}") from None
    return found


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text.strip().replace("\xa0", "").replace(",", "."))
    except InvalidOperation:
        raise BadRates(f"{text[:30]!r} is no number") from None
    if not number.is_finite() or number <= 0:
        raise BadRates(f"{text[:30]!r} is no rate")
    return number


def _day(text: str, form: str) -> date:
    try:
        return datetime.strptime(text, form).date()  # noqa: DTZ007 - a bank's date has no time and no zone
    except ValueError:
        raise BadRates(f"{text[:30]!r} is no date") from None


def read_cbr(document: bytes) -> Published:
    """Roubles for one unit of each currency. Raises BadRates."""
    day: date | None = None
    rates: dict[str, Rate] = {}
    fields: dict[str, str] = {}
    for above, element in _elements(document):
        if above[-1:] == ("Valute",):
            fields[element.name] = element.text
        elif element.name == "Valute":
            try:
                nominal, value = _number(fields["Nominal"]), _number(fields["Value"])
                unit = _number(fields["VunitRate"]) if fields.get("VunitRate") else value / nominal
                rates[fields["CharCode"]] = Rate(fields["CharCode"], fields["CharCode"], "RUB", unit)
            except KeyError as error:
                raise BadRates(f"a currency without {error.args[0]}") from None
            fields = {}
        elif element.name == "ValCurs":
            day = _day(element.attributes.get("Date", ""), "%d.%m.%Y")
    if day is None or not rates:
        raise BadRates("no rates of the Bank of Russia are in the document")
    return Published(day, rates)


def read_ecb(document: bytes) -> Published:
    """Units of each currency for one euro, of the newest day. Raises BadRates."""
    days: dict[date, dict[str, Rate]] = {}
    rates: dict[str, Rate] = {}
    for _, element in _elements(document):
        if element.name != "Cube":
            continue
        if "currency" in element.attributes:
            code = element.attributes["currency"]
            rates[code] = Rate(code, "EUR", code, _number(element.attributes.get("rate", "")))
        elif "time" in element.attributes:
            days[_day(element.attributes["time"], "%Y-%m-%d")] = rates
            rates = {}
    if not days or not days[max(days)]:
        raise BadRates("no rates of the European Central Bank are in the document")
    return Published(max(days), days[max(days)])


@dataclass(frozen=True, slots=True)
class Publisher:
    """A bank: where it publishes, and how its document is read."""

    url: str
    read: Callable[[bytes], Published]


PUBLISHERS: Mapping[str, Publisher] = {
    "cbr": Publisher("https://www.cbr.ru/scripts/XML_daily.asp", read_cbr),
    "ecb": Publisher("https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml", read_ecb),
}

HOSTS = frozenset({"www.cbr.ru", "cbr.ru", "www.ecb.europa.eu"})
"""The hosts that may be fetched from without being asked for."""
