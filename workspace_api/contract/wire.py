"""How values stand on the wire: dates in their two forms, ids, open enums, shapes that the documents leave open.

Records come in tolerant: unknown fields are kept, null is accepted everywhere, an id may be a string, an unknown value
of an enumeration stays a string. Params go out strict. Neither does I/O.

Source: part 1, §2.1 (types) and §2.6, part 2, §2.6 (undefined shapes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, SerializationInfo, WithJsonSchema

Array = list
"""`list` under another name: operations are called `list`, and a method of that name hides the builtin in its class."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """Marks a type whose shape the documents do not give."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a field with documented values. In records it is open: another value is kept and told as drift."""

    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class DateForm:
    """Marks which of the two textual forms of a date an operation uses (part 1, §2.1)."""

    offset: bool


Undocumented = Annotated[Any, Undefined()]
"""A value whose shape the documents leave open. `Any` is the truth here: whatever JSON holds goes through untouched."""

JsonMap = dict[str, Undocumented]
"""The documents' `map`: an object whose members are not given."""


def _moment(value: object) -> object:
    """Texts and dates become datetimes; a number is no date, though pydantic would take it for a Unix time."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("is no date: write 2026-11-01, 2026-11-01 09:30:00 or 2026-11-01T09:30:00+03:00")


def _stated_zone(info: SerializationInfo) -> tzinfo | None:
    context = info.context
    if isinstance(context, Mapping):
        zone: object = context.get("zone")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped context
        if isinstance(zone, tzinfo):
            return zone
    return None


def _naive(value: datetime, info: SerializationInfo) -> str:
    local = value if value.tzinfo is None else value.astimezone(_stated_zone(info) or UTC)
    # Not strftime: on Linux it writes the year 987 with three digits.
    return local.replace(tzinfo=None).isoformat(" ", timespec="seconds")


def _offset(value: datetime, info: SerializationInfo) -> str:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=_stated_zone(info) or UTC)
    return aware.isoformat(timespec="seconds")


def _naive_when_sent(value: datetime, info: SerializationInfo) -> str:
    """A record that is sent back has the documents' form; one that is only kept loses nothing."""
    return value.isoformat() if _stated_zone(info) is None else _naive(value, info)


def _offset_when_sent(value: datetime, info: SerializationInfo) -> str:
    return value.isoformat() if _stated_zone(info) is None else _offset(value, info)


Date = Annotated[
    datetime,
    PlainSerializer(_naive_when_sent, return_type=str, when_used="json"),
    DateForm(offset=False),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01 09:30:00"]}),
]
"""A date in a record, `YYYY-MM-DD HH:MM:SS` by the documents; every form of the wire is read."""

OffsetDate = Annotated[
    datetime,
    PlainSerializer(_offset_when_sent, return_type=str, when_used="json"),
    DateForm(offset=True),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01T09:30:00+00:00"]}),
]
"""A date in a record of finance and fintransaction, `YYYY-MM-DDTHH:MM:SS+HH:MM` by the documents."""


DateParam = Annotated[
    datetime,
    BeforeValidator(_moment),
    PlainSerializer(_naive, return_type=str),
    DateForm(offset=False),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01 09:30:00"]}),
]
"""A date that is sent as `YYYY-MM-DD HH:MM:SS`, in the client's stated zone."""

OffsetDateParam = Annotated[
    datetime,
    BeforeValidator(_moment),
    PlainSerializer(_offset, return_type=str),
    DateForm(offset=True),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01T09:30:00+00:00"]}),
]
"""A date that is sent as `YYYY-MM-DDTHH:MM:SS+HH:MM`; a naive one gets the client's stated zone."""

RequestStatus = Annotated[str, OneOf(("progress", "accept", "reject", "paid"))]
QuestionKind = Annotated[str, OneOf(("variant", "open"))]
CategoryKind = Annotated[str, OneOf(("private", "common"))]
TransactionKind = Annotated[str, OneOf(("in", "out", "move"))]
IntervalDays = Annotated[int, OneOf((1, 7))]

# Values that are sent are closed: a wrong one is refused before anything leaves.
ReviewType = Literal["accept", "accept_final", "reject", "progress"]
TransactionType = Literal["in", "out", "move"]
Grouping = Literal["day", "month", "year", "week"]


class Record(BaseModel):
    """A record of the documents as it was received.

    Every field may be absent or null (`None`); `model_extra` holds what the documents do not name.
    Dates are aware: a naive one on the wire got the client's stated zone.
    """

    model_config = ConfigDict(
        extra="allow",
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        validate_by_name=True,
        validate_by_alias=True,
        # Built when first used: a program uses a few of them, and all together take a third of the import.
        defer_build=True,
    )
