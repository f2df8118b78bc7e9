"""An answer read tolerantly: envelope → outcome, records with aware dates, differences told as drift.

body ─► one strict pass (status "success", data of the right type) ─► Done
     └► else: envelope by hand ─► Refused, or the known deviations repaired, or Unknown
"""

import gc
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import from_json

from workspace_api.client.events import Drift, Observer
from workspace_api.client.transport import Answer
from workspace_api.contract.endpoint import Operation
from workspace_api.contract.outcome import Done, Outcome, Refused, Unknown
from workspace_api.contract.wire import OneOf, Record

T = TypeVar("T")

LARGE = 200_000
"""Bytes from which the garbage collector rests while records are made."""

REPAIRS = 5
"""How often wrong fields are set aside before an answer counts as unreadable."""


@cache
def _envelope(operation: Operation[Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {"status": (Literal["success"], ...), "data": (operation.data, ...)}
    return create_model("Envelope", __config__=ConfigDict(allow_inf_nan=False), **fields)


def read_answer(operation: Operation[T], answer: Answer, zone: tzinfo, observer: Observer | None) -> Outcome[T]:
    """What an answer means. Done only for 200, whole JSON, `success` and data of the right type."""
    if answer.http_status != 200:
        return _read_by_hand(operation, answer, zone, observer)
    try:
        with _resting_collector(len(answer.body)):
            data = _parse(operation, answer.body)
            settle(data, zone, observer, operation.name)
    except ValidationError:
        return _read_by_hand(operation, answer, zone, observer)
    return _confirmed(data)


def _confirmed(data: T) -> Outcome[T]:
    """`data` given as bool is true on success (part 1, §4.1): a false one confirms nothing."""
    return Unknown("success whose data is false", 200) if data is False else Done(data)


@contextmanager
def _resting_collector(size: int) -> Generator[None]:
    """While many records are made the garbage collector rests; then they go to its oldest generation unwalked.

    All of them are alive, and walking the young ones again and again costs as much as reading them.
    """
    if size < LARGE or not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
        gc.unfreeze()
    finally:
        gc.enable()


def _parse(operation: Operation[T], body: bytes) -> T:
    model: Any = _envelope(operation)
    return cast("T", model.__pydantic_validator__.validate_json(body).data)


def _read_by_hand(operation: Operation[T], answer: Answer, zone: tzinfo, observer: Observer | None) -> Outcome[T]:
    status = answer.http_status
    try:
        envelope: Any = from_json(answer.body, allow_inf_nan=False)
    except ValueError:
        kind = _short(answer.headers.get("content-type", "no content type").split(";", 1)[0], 60)
        return Unknown(f"HTTP {status} with {kind} in place of JSON", status)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("status"), str):  # pyright: ignore[reportUnknownMemberType]
        return Unknown(f"HTTP {status} without the envelope", status)
    if envelope["status"] != "success":
        return _refusal(cast("dict[str, Any]", envelope), status)
    if status != 200:
        return Unknown(f"HTTP {status} that says success", status)
    told: list[Drift] = []
    data = _reshape(operation, envelope.get("data"), told)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    checked = _repair(operation, data, told)
    if checked is None:
        return Unknown("data is not of the documented type", status)
    if observer is not None:
        for drift in told:
            observer(drift)
    settle(checked.data, zone, observer, operation.name)
    return checked


_CODES = {401: "unauthorized", 403: "permission_denied", 404: "not_found", 409: "conflict", 429: "too_many_requests"}


def _refusal(envelope: dict[str, Any], status: int) -> Refused | Unknown:
    """`error_message`, else `error`, holds the text; a 5xx or 3xx envelope leaves open what happened.

    The code is `error` where that is a code; else the HTTP status tells what kind of refusal it is.
    """
    error, message = envelope.get("error"), envelope.get("error_message")
    text = _short(str(message or error or "no reason given"), 500)
    if (status >= 500 and error != "not_implemented") or 300 <= status < 400:
        return Unknown(f"HTTP {status}: {text}", status)
    if "permission_denied" in f"{error} {message}":
        return Refused("permission_denied", text, status)
    if isinstance(error, str) and re.fullmatch("[a-z][a-z0-9_]{0,63}", error):
        return Refused(error, text, status)
    return Refused(_CODES.get(status, "error"), text, status)


def _short(text: str, longest: int) -> str:
    """Somebody else's text in one of our sentences: one line, printable, not endless."""
    line = " ".join(text[: 4 * longest].split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= longest else f"{line[:longest]}…"


def _rows(value: Any) -> list[Any]:
    """JSON that is known to be an array."""
    return list[Any](value)


def _reshape(operation: Operation[Any], data: Any, told: list[Drift]) -> Any:
    """A map keyed by id where the documents say array, one for many, many for one."""
    whole: Any = data
    if get_origin(operation.data) is list:
        if isinstance(data, dict):
            members: list[Any] = list(cast("dict[str, Any]", data).values())
            if all(isinstance(member, dict) for member in members):
                told.append(Drift(operation.name, "data", "", "map for array"))
                return members
            told.append(Drift(operation.name, "data", "", "one for many"))
            return [cast("dict[str, Any]", data)]
    elif isinstance(data, list) and issubclass(operation.data, Record):
        rows = _rows(data)
        if len(rows) == 1:
            told.append(Drift(operation.name, "data", "", "many for one"))
            return rows[0]
    return whole


def _repair(operation: Operation[T], data: Any, told: list[Drift]) -> Done[T] | None:
    """Sets fields of a wrong type to null, keeping the value under `<field>!`, until the data can be read."""
    for _ in range(REPAIRS):
        try:
            return Done(operation.adapter.validate_python(data))
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            found = [_innermost_field(operation, data, detail["loc"]) for detail in details]
            # Two wrong elements of one list, or two branches of one union, are one field.
            fields = {field.path: field for field in found if field is not None}
            if None in found:
                return None
            for _, holder, record, name in fields.values():
                holder[f"{name}!"] = holder[name]
                holder[name] = None
                told.append(Drift(operation.name, record, name, "wrong type"))
    return None


class _Field(NamedTuple):
    """A field of a record in raw data."""

    path: tuple[int | str, ...]
    holder: dict[str, Any]
    record: str
    field: str


def _innermost_field(operation: Operation[Any], data: Any, path: tuple[int | str, ...]) -> _Field | None:
    """The innermost record's field on `path`; None where the error is not inside a record, or the field is null."""
    found: _Field | None = None
    annotation: Any = operation.data
    current: Any = data
    for depth, part in enumerate(path):
        model = next((kind for kind in _parts(annotation) if isinstance(kind, type) and issubclass(kind, Record)), None)
        inner: Any = current
        if isinstance(inner, list) and isinstance(part, int):
            current = _rows(inner)[part]
        elif isinstance(inner, dict) and model is not None and part in inner and part in model.model_fields:
            holder = cast("dict[str, Any]", inner)
            found = _Field(path[: depth + 1], holder, model.__name__, str(part))
            annotation, current = model.model_fields[str(part)].annotation, holder[str(part)]
        else:
            break
    return None if found is None or found.holder[found.field] is None else found


class _Plan:
    """What of a record is looked at after reading: its dates, open enumerations and records inside it."""

    __slots__ = ("dates", "enums", "nested")

    def __init__(self, record: type[Record]) -> None:
        self.dates: list[str] = []
        self.enums: list[tuple[str, frozenset[str | int]]] = []
        self.nested: list[str] = []
        for name, field in record.model_fields.items():
            parts = list(_parts(field.annotation))
            if datetime in parts:
                self.dates.append(name)
            if any(isinstance(part, type) and issubclass(part, Record) for part in parts):
                self.nested.append(name)
            values = [part.values for part in parts if isinstance(part, OneOf)]
            self.enums.extend((name, frozenset(allowed)) for allowed in values)


def _parts(annotation: Any) -> Iterator[Any]:
    """A type, its members and their metadata, however deep."""
    yield annotation
    # Of an Annotated type, the arguments are the type and its metadata.
    for part in get_args(annotation):
        yield from _parts(part)


_plans: dict[type[Record], _Plan] = {}


def settle(data: object, zone: tzinfo, observer: Observer | None, operation: str) -> None:
    """Gives naive dates their zone and tells drift, in place. Walks records only: cheap, once per answer."""
    if isinstance(data, Record):
        _settle([data], zone, observer, operation)
    elif isinstance(data, list) and data and isinstance(data[0], Record):
        _settle(cast("list[Record]", data), zone, observer, operation)


def _settle(records: list[Record], zone: tzinfo, observer: Observer | None, operation: str) -> None:
    """All records of one list, which are of one type."""
    kind = type(records[0])
    plan = _plans.get(kind)
    if plan is None:
        plan = _plans[kind] = _Plan(kind)
    dates, nested = plan.dates, plan.nested
    for record in records:
        # The fields' own dictionary: going through setattr would cost more than the reading did.
        values: dict[str, Any] = vars(record)
        for name in dates:
            moment = values[name]
            if moment is not None and moment.tzinfo is None:
                values[name] = moment.replace(tzinfo=zone)
        for name in nested:
            inner = values[name]
            if inner:
                _settle(inner if inner.__class__ is list else [inner], zone, observer, operation)
        if observer is not None:
            _tell_drift(record, values, plan, observer, operation)


def _tell_drift(record: Record, values: dict[str, Any], plan: _Plan, observer: Observer, operation: str) -> None:
    kind = type(record).__name__
    for name, allowed in plan.enums:
        if values[name] is not None and values[name] not in allowed:
            observer(Drift(operation, kind, name, "unknown value"))
    for name in record.model_extra or ():
        if not name.endswith("!"):
            observer(Drift(operation, kind, name, "unknown field"))
