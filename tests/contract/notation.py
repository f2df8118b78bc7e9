"""The registry written in the notation of the facts, so that both can be compared as plain texts.

type annotation ─► text (`array[Worker]`, `map[string]int`, `{id int, name string}`) and, apart, where it is left open

A value typed `Undocumented` is written `?`: the facts name such places in a table of their own.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.contract import facts
from workspace_api.contract import Operation, Record, operations
from workspace_api.contract.problems import members
from workspace_api.contract.wire import DateForm, OneOf, Undefined

PLAIN = {"int": "int", "float": "float", "str": "string", "bool": "bool", "datetime": "date"}
NAMED = frozenset(fact.record for fact in facts.records())


def _field_marks(field: FieldInfo) -> list[Any]:
    return [*field.metadata, *marks(field.annotation)]


def marks(annotation: Any) -> list[Any]:
    """The metadata of a type, through `| None`."""
    found = list(getattr(annotation, "__metadata__", ()))
    return found + [mark for inner in get_args(annotation) if not isinstance(inner, str | int) for mark in marks(inner)]


def field_type(field: FieldInfo) -> str:
    """The type of a field; pydantic keeps the outermost metadata apart."""
    return "?" if any(isinstance(mark, Undefined) for mark in field.metadata) else written(field.annotation)


def written(annotation: Any) -> str:
    """A type as the facts write it."""
    if any(isinstance(mark, Undefined) for mark in getattr(annotation, "__metadata__", ())):
        return "?"
    return "|".join(_written(member) for member in members(annotation))


def _written(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        inner = written(arguments[0])
        return "array" if inner == "?" else f"array[{inner}]"
    if origin is dict:
        inner = written(arguments[1])
        return "map" if inner == "?" else f"map[string]{inner}"
    if origin is Literal:
        return "int" if isinstance(arguments[0], int) else "string"
    if isinstance(kind, type) and issubclass(kind, Record):
        return record_name(kind)
    return PLAIN[kind.__name__]


def record_name(record: type[Record]) -> str:
    """Its name where the documents name it, else its members; a record with further members is written with a plus."""
    if record.__name__ in NAMED:
        return record.__name__
    base = record.__base__
    inherited: dict[str, Any] = {}
    prefix = ""
    if base is not None and base is not Record and issubclass(base, Record):
        prefix, inherited = f"{record_name(base)}+", dict(base.model_fields)
    own = ((name, field) for name, field in record.model_fields.items() if name not in inherited)
    return prefix + "{" + ", ".join(f"{name} {field_type(field)}" for name, field in own) + "}"


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """All models that a type holds, records inside records included."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models_in(field.annotation)
    for inner in get_args(annotation):
        yield from models_in(inner)


def records() -> dict[str, type[Record]]:
    """Every record that an operation takes or answers, by its name."""
    found: dict[str, type[Record]] = {}
    for operation in operations().values():
        for model in (*models_in(operation.params), *models_in(operation.data)):
            if issubclass(model, Record):
                found[model.__name__] = model
    return found


def parameter_places() -> Iterator[tuple[Operation[Any], str, str, FieldInfo]]:
    """Every parameter: operation, where it travels (body, query, filter), wire name, field."""
    for operation in operations().values():
        for name, field in operation.params.model_fields.items():
            where = "query" if name in operation.params.query_fields() else "body"
            yield operation, where, field.serialization_alias or name, field
            if operation.name == "tasks.task.list":
                (filter_model,) = members(field.annotation)
                for inner, inner_field in filter_model.model_fields.items():
                    yield operation, "filter", inner, inner_field


def field_values(field: FieldInfo) -> tuple[str, ...]:
    """The values that a field's type names, closed (Literal) or open (OneOf)."""
    found = [mark.values for mark in _field_marks(field) if isinstance(mark, OneOf)]
    found += [get_args(member) for member in members(field.annotation) if get_origin(member) is Literal]
    return tuple(str(value) for value in found[0]) if found else ()


def date_forms(field: FieldInfo) -> set[bool]:
    """Whether a field's dates carry an offset on the wire; empty where it holds no date."""
    return {mark.offset for mark in _field_marks(field) if isinstance(mark, DateForm)}


def is_closed(field: FieldInfo) -> bool:
    """Whether a field takes its named values only."""
    return any(get_origin(member) is Literal for member in members(field.annotation))


def is_open(field: FieldInfo) -> bool:
    """Whether a shape is left open somewhere in a field's own type (records that it holds speak for themselves)."""
    return any(isinstance(mark, Undefined) for mark in _field_marks(field))
