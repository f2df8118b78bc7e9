"""The filters that automations bring along: rates, dates, money, lists of maps. Pure functions, strict about types.

moved_more_than   whether rates are further from earlier ones than so many percent
plus_days …       dates and moments as texts: `2026-11-21`, `2026-11-21T02:00:00Z`; what comes out has the form of
                  what went in
money             a sum for people: `1 250 000.50 RUB`, groups parted by a narrow space that does not break
by, table         a list of maps as a map, or as a text in columns

Each raises TypeError or ValueError with a sentence; whatever puts a text or list together is charged (budget.py).
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from jinja2 import Undefined

from automations.budget import charge, counted, text_of
from automations.shapes import is_iterable, is_map, is_sequence
from automations.values import json_text

THIN = "\u202f"
"""A narrow space at which no line is broken."""
MOST_DAYS = 400_000
DIRECTIVE = re.compile(r"%(-?[A-Za-z]|%|-?$|.)", re.S)


def _kind(value: object) -> str:
    if isinstance(value, Undefined):
        str(value)  # raises: strict names
    if isinstance(value, bool):
        return "true or false"
    for shape, name in (
        (str, "a text"),
        ((int, float, Decimal), "a number"),
        ((list, tuple), "a list"),
        (dict, "a map"),
    ):
        if isinstance(value, shape):
            return name
    return "null" if value is None else f"a {type(value).__name__}"


def _decimal(value: Any, what: str) -> Decimal:
    """A number as it is written, so that 1.1 is not 1.100000000000000088."""
    if isinstance(value, Decimal):
        number = value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        number = Decimal(repr(value))
    else:
        raise TypeError(f"{what} should be a number, not {_kind(value)}")
    if not number.is_finite():
        raise ValueError(f"{what} should be a number, not {number}")
    return number


def _whole(value: Any, what: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        shown = repr(value) if isinstance(value, float) else _kind(value)
        raise TypeError(f"{what} should be a whole number, not {shown}")
    if abs(value) > most:
        raise ValueError(f"{what} should be at most {most:,}")
    return value


def _maps(value: Any, what: str) -> Sequence[Mapping[str, Any]]:
    if not is_sequence(value):
        raise TypeError(f"{what} takes a list of maps, not {_kind(value)}")
    for item in counted(value):
        if not is_map(item):
            raise TypeError(f"{what} takes a list of maps, not a list with {_kind(item)} in it")
    return value


# Rates


def _answers(earlier: Any) -> list[Sequence[Mapping[str, Any]]]:
    """The answers of `for_each`, a list each; one answer alone is a list of one."""
    if not is_sequence(earlier):
        raise TypeError(f"moved_more_than compares with a list of answers, not with {_kind(earlier)}")
    if all(is_map(item) for item in counted(earlier)):
        return [_maps(earlier, "moved_more_than")]
    return [_maps(answer, "each answer that moved_more_than compares with") for answer in earlier]


def _newest(records: Iterable[Mapping[str, Any]], pair: tuple[str, str], until: date) -> Decimal | None:
    """The newest of the company's rates of a pair, given the one way or the other, that is not later than `until`."""
    found: tuple[date, Decimal] | None = None
    for record in counted(records):
        given = (record.get("currency_code_from"), record.get("currency_code_to"))
        if given not in {pair, pair[::-1]} or record.get("value") is None or not record.get("date"):
            continue
        day = _date(record["date"])
        if day > until or (found is not None and day < found[0]):
            continue
        value = _decimal(record["value"], "a rate")
        if given != pair:
            if not value:
                continue
            value = 1 / value
        found = (day, value)
    return found[1] if found is not None else None


def moved_more_than(rates: Any, earlier: Any, percent: Any = 5) -> bool:
    """Whether any of `rates` ({code, base, quote, date, value}) is more than so many percent away from before.

    `earlier` are answers of `fintransaction.exchange.rate.custom.list`, in any order. Of each pair of currencies the
    newest rate counts that is not later than the new one. A currency without one has not moved: there is nothing to
    compare with.
    """
    limit = _decimal(percent, "percent")
    if limit < 0:
        raise ValueError("percent should not be below 0")
    answers = _answers(earlier)
    for rate in _maps(rates, "moved_more_than"):
        for key in ("base", "quote", "date", "value"):
            if key not in rate:
                raise ValueError(f"a rate has no {key}: moved_more_than takes what a rates step gives")
        now = _decimal(rate["value"], "a rate")
        records = (record for answer in answers for record in answer)
        before = _newest(records, (rate["base"], rate["quote"]), _date(rate["date"]))
        if before is not None and abs(now - before) * 100 > limit * abs(before):
            return True
    return False


# Dates


def _moment(value: Any) -> date:
    """A date, or a date and time, from its text."""
    if not isinstance(value, str):
        raise TypeError(f"a date should be a text such as 2026-11-21, not {_kind(value)}")
    try:
        if len(value) <= len("2026-11-21"):
            return date.fromisoformat(value)
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value[:40]!r} is no date: write 2026-11-21 or 2026-11-21T02:00:00Z") from None


def _date(value: Any) -> date:
    moment = _moment(value)
    return moment.date() if isinstance(moment, datetime) else moment


def _as_written(moment: date, like: str) -> str:
    text = moment.isoformat("T" if "T" in like else " ") if isinstance(moment, datetime) else moment.isoformat()
    return text.replace("+00:00", "Z") if like.endswith("Z") else text


def _moved(value: Any, move: Callable[[date], date]) -> str:
    moment = _moment(value)
    try:
        return _as_written(move(moment), value)
    except OverflowError:
        raise ValueError(f"{value} is too near to the end of the calendar") from None


def plus_days(value: Any, days: Any) -> str:
    """`2026-11-21` and 10 is `2026-12-01`; the time of day stays."""
    length = timedelta(days=_whole(days, "plus_days", MOST_DAYS))
    return _moved(value, lambda moment: moment + length)


def _months_later(moment: date, months: int) -> date:
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def plus_months(value: Any, months: Any) -> str:
    """`2026-01-31` and 1 is `2026-02-28`: the same day, or the month's last where it has no such day."""
    number = _whole(months, "plus_months", 12_000)
    return _moved(value, lambda moment: _months_later(moment, number))


def first_of_month(value: Any) -> str:
    """`2026-11-21` is `2026-11-01`."""
    return _moved(value, lambda moment: moment.replace(day=1))


def last_of_month(value: Any) -> str:
    """`2026-11-21` is `2026-11-30`."""
    return _moved(value, lambda moment: moment.replace(day=monthrange(moment.year, moment.month)[1]))


def weekday(value: Any) -> int:
    """1 is Monday, 7 is Sunday."""
    return _date(value).isoweekday()


def days_until(value: Any, other: Any) -> int:
    """Whole days from a date to another, by their dates; below 0 where the other is past."""
    return (_date(other) - _date(value)).days


DIRECTIVES: Mapping[str, Callable[[datetime], str]] = {
    "d": lambda at: f"{at.day:02}", "-d": lambda at: str(at.day),
    "m": lambda at: f"{at.month:02}", "-m": lambda at: str(at.month),
    "Y": lambda at: f"{at.year:04}", "y": lambda at: f"{at.year % 100:02}",
    "H": lambda at: f"{at.hour:02}", "M": lambda at: f"{at.minute:02}", "S": lambda at: f"{at.second:02}",
    "j": lambda at: str(at.timetuple().tm_yday), "u": lambda at: str(at.isoweekday()),
    "V": lambda at: f"{at.isocalendar().week:02}", "G": lambda at: str(at.isocalendar().year),
    "%": lambda _: "%",
}  # fmt: skip
"""What may follow `%`. Names of months and days are left out: they would depend on the machine's language."""


def format_date(value: Any, form: Any = "%d.%m.%Y") -> str:
    """`2026-11-21` and `%d.%m.%Y` is `21.11.2026`."""
    moment = _moment(value)
    at = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - only its parts are read
    if not isinstance(form, str):
        raise TypeError(f"format_date takes a form such as '%d.%m.%Y', not {_kind(form)}")
    text_of(len(form) * 2)

    def part(found: re.Match[str]) -> str:
        if found[1] not in DIRECTIVES:
            known = ", ".join(f"%{key}" for key in DIRECTIVES)
            raise ValueError(f"format_date does not know {found[0]}; there are {known}")
        return DIRECTIVES[found[1]](at)

    return DIRECTIVE.sub(part, form)


# Money


def money(value: Any, scale: Any = 0, currency: Any = None) -> str:
    """A sum for people. `scale` is WORKSPACE_MONEY_SCALE: 0 for whole units, 2 where sums are in hundredths.

    Whole sums of scale 0 have no fraction, all others two digits, rounded half up.
    """
    sum_ = _decimal(value, "money")
    if isinstance(scale, bool) or scale not in {0, 2}:
        raise ValueError("scale is 0 or 2, as WORKSPACE_MONEY_SCALE")
    if sum_.adjusted() > 25:
        raise ValueError("money is too large")
    if currency is not None and not isinstance(currency, str):
        raise TypeError(f"currency should be a text such as RUB, not {_kind(currency)}")
    digits = 0 if scale == 0 and sum_ == sum_.to_integral_value() else 2
    rounded = sum_.scaleb(-scale).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    text = f"{rounded:,f}".replace(",", THIN).replace("-", "\u2212")
    return f"{text}\u00a0{currency}" if currency else text


# Lists of maps


def by(value: Any, key: Any) -> dict[str, Any]:
    """A list of maps as a map by one of their keys; a number finds its text (`users[7]`). Each may be there once."""
    found: dict[str, Any] = {}
    for item in _maps(value, "by"):
        if key not in item:
            raise ValueError(f"by: an item has no {key!r}")
        name = item[key]
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise TypeError(f"by: {key} should be a text or a whole number, not {_kind(name)}")
        if str(name) in found:
            raise ValueError(f"by: {key} {name} is there twice")
        found[str(name)] = item
    return found


def _cell(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if value is None:
        return ""
    text = value if isinstance(value, str) else json_text(value)
    return " ".join(text.split())


def table(value: Any, *columns: Any) -> str:
    """A list of maps as a text in columns, the names of the columns above; all keys where no columns are named."""
    rows = _maps(value, "table")
    names = list(columns) or list(dict.fromkeys(key for row in rows for key in counted(row)))
    if not names:
        return ""
    charge(len(names) * (len(rows) + 1))
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    heads = [_cell(name) for name in names]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    text_of((sum(widths) + 2 * len(widths)) * (len(rows) + 1))
    right = [bool(rows) and all(_is_number(row.get(name)) for row in rows) for name in names]

    def line(texts: Sequence[str]) -> str:
        padded = (t.rjust(w) if r else t.ljust(w) for t, w, r in zip(texts, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), *map(line, cells)])


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float, Decimal)) and not isinstance(value, bool))


def flatten(value: Any) -> list[Any]:
    """The items of lists in a list, one after another: `[[1, 2], [3]]` becomes `[1, 2, 3]`."""
    if isinstance(value, str) or is_map(value) or not is_iterable(value):
        raise TypeError(f"flatten takes a list of lists, not {_kind(value)}")
    found: list[Any] = []
    for part in counted(value):
        if not is_sequence(part):
            raise TypeError(f"flatten takes a list of lists, and one of its items is {_kind(part)}")
        found.extend(counted(part))
    return found


def contains_any(value: Any, words: Any) -> bool:
    """Whether a text holds one of some words, in large letters or small ones."""
    if not isinstance(value, str):
        raise TypeError(f"contains_any looks into a text, not into {_kind(value)}")
    if not is_sequence(words) or not all(isinstance(word, str) for word in words):
        raise TypeError("contains_any takes a list of words")
    text = value.casefold()
    charge(len(text) // 64 * len(words))
    return any(word.casefold() in text for word in counted(words))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "moved_more_than": moved_more_than,
    "plus_days": plus_days,
    "plus_months": plus_months,
    "first_of_month": first_of_month,
    "last_of_month": last_of_month,
    "weekday": weekday,
    "days_until": days_until,
    "format_date": format_date,
    "money": money,
    "by": by,
    "table": table,
    "flatten": flatten,
    "contains_any": contains_any,
}
"""The filters by their names in templates."""
