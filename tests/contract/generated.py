"""Hypothesis strategies made from the contract's own types: valid fields of any operation, JSON of any record.

fields_of(operation)  what a caller may pass, by Python names, required fields always there
json_of(record)       what a workspace may answer for a record: any field left out, null, or of its documented type
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.contract import notation
from workspace_api.contract import Operation, Record
from workspace_api.contract.problems import members
from workspace_api.contract.wire import Undefined

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | INTS | FLOATS | TEXTS
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=5
)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(lambda moment: moment.replace(microsecond=0))  # noqa: DTZ001 - naive on purpose


def fields_of(operation: Operation[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Valid fields of an operation. Its dates come back as they went: naive without offset, aware with one."""
    return _fields(operation.params)


def _fields(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    kinds = model.model_fields.items()
    required = {name: _value(field) for name, field in kinds if field.is_required()}
    optional = {name: _value(field) for name, field in kinds if not field.is_required()}
    # Few at a time, or the large operations are nearly always drawn with nearly all of their fields.
    names = st.sets(st.sampled_from(sorted(optional)), max_size=6) if optional else st.just(set[str]())
    return names.flatmap(lambda some: st.fixed_dictionaries(required | {name: optional[name] for name in some}))


def _value(field: FieldInfo) -> st.SearchStrategy[Any]:
    if any(isinstance(mark, Undefined) for mark in field.metadata):
        return JSON
    return _of_type(field.annotation, aware=True in notation.date_forms(field))


def _of_type(annotation: Any, *, aware: bool) -> st.SearchStrategy[Any]:
    if any(isinstance(mark, Undefined) for mark in getattr(annotation, "__metadata__", ())):
        return JSON
    choices = members(annotation)
    found = st.one_of([_of_member(choice, aware=aware) for choice in choices])
    return found | st.none() if type(None) in get_args(annotation) else found


def _as_sent(record: type[Record], value: dict[str, Any]) -> Record:
    """A record whose dates have the offset that they get on the wire."""
    sent = record.model_validate(value).model_dump(mode="json", exclude_unset=True, context={"zone": UTC})
    return record.model_validate(sent)


def _aware(moment: datetime, zone: tzinfo) -> datetime:
    return moment.replace(tzinfo=zone)


def _in_form(moment: datetime, form: str) -> str:
    return moment.replace(tzinfo=UTC).strftime(form)


def _together(known: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    return known | extra


def _of_member(kind: Any, *, aware: bool) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        dates = "date" in notation.written(arguments[0])
        # The only lists of dates are periods.
        return st.lists(_of_type(arguments[0], aware=aware), min_size=2 if dates else 0, max_size=2)
    if origin is dict:
        return st.dictionaries(TEXTS, _of_type(arguments[1], aware=aware), max_size=2)
    if origin is Literal:
        return st.sampled_from(arguments)
    if isinstance(kind, type) and issubclass(kind, Record):
        return json_of(kind).map(lambda value: _as_sent(kind, value))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _fields(kind)
    if kind is datetime:
        return st.builds(_aware, MOMENTS, OFFSETS) if aware else MOMENTS
    plain: dict[Any, st.SearchStrategy[Any]] = {int: INTS, str: TEXTS, bool: st.booleans(), float: FLOATS}
    return plain[kind]


WIRE_DATES: st.SearchStrategy[str] = st.builds(
    _in_form,
    MOMENTS,
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S+03:00", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"]),
)
EXTRA = st.dictionaries(TEXTS.map(lambda text: f"x_{text}"), JSON, max_size=2)


def json_of(record: type[Record]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON of a record, with fields that the documents do not name beside the documented ones."""
    kinds = {name: _json_value(field) | st.none() for name, field in record.model_fields.items()}
    names = st.sets(st.sampled_from(sorted(kinds)), max_size=8)
    known = names.flatmap(lambda some: st.fixed_dictionaries({name: kinds[name] for name in some}))
    return st.builds(_together, known, EXTRA)


def _json_value(field: FieldInfo) -> st.SearchStrategy[Any]:
    if any(isinstance(mark, Undefined) for mark in field.metadata):
        return JSON
    return _json_of_type(field.annotation)


def _json_of_type(annotation: Any) -> st.SearchStrategy[Any]:
    if any(isinstance(mark, Undefined) for mark in getattr(annotation, "__metadata__", ())):
        return JSON
    return st.one_of([_json_of_member(choice) for choice in members(annotation)])


def _json_of_member(kind: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        return st.lists(_json_of_type(arguments[0]), max_size=2)
    if origin is dict:
        return st.dictionaries(TEXTS, _json_of_type(arguments[1]), max_size=2)
    if isinstance(kind, type) and issubclass(kind, Record):
        return st.deferred(lambda: json_of(kind))
    if kind is datetime:
        return WIRE_DATES
    if kind is int:
        # Ids may arrive as strings (field-notes.md).
        return INTS | INTS.map(str)
    if kind is str:
        return TEXTS | INTS
    return st.booleans() if kind is bool else FLOATS
