"""The JSON Schema (2020-12) of the language, for editors: `schema()`, made of the models that read the files.

Definition ─► pydantic's schema ─► triggers and steps told by their key ─► templates allowed ─► words from docstrings
call       ─► the names of all operations, and for each the shape of `with`, by wire and by Python names

What only a whole file tells (names in templates, ids, a folder's other files) is beyond a schema: `validate` knows it.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from automations.check import PERSON
from automations.definition import Definition
from automations.shapes import is_list, is_map
from automations.steps import STEPS, CallStep, Step
from automations.steps.base import Condition
from automations.triggers import TRIGGERS, Cron, Duration, ZoneName
from automations.yaml_source import read_source
from workspace_api.contract import Operation, operations

Json = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The name of the dialect, which is an address by its standard."""
TEMPLATE: Json = {
    "type": "string",
    "pattern": r"\{\{|\{%",
    "description": "A template: its value stands here when the step runs.",
}
ALONE: Json = {"type": "string", "pattern": r"^\s*\{\{[\s\S]*\}\}\s*$"}
LENGTH: Json = {
    "pattern": r"^(?=.)([0-9]{1,4}d)?([0-9]{1,4}h)?([0-9]{1,5}m)?([0-9]{1,6}s)?$",
    "examples": ["30s", "15m", "1h30m", "2d"],
}
ZONE: Json = {"pattern": r"^[A-Za-z][A-Za-z0-9_+/-]*$", "examples": ["Europe/Moscow", "UTC"]}
MARKS: tuple[tuple[Any, Json], ...] = ((Duration, LENGTH), (ZoneName, ZONE))
"""What the checks of a type mean to a schema."""
NAME: Json = {"pattern": "^[a-z0-9_-]*[a-z0-9][a-z0-9_-]*$", "maxLength": 60}
FIELDS: Mapping[tuple[type[BaseModel], str], Json] = {
    (Definition, "name"): {**NAME, "examples": ["daily-rates"]},
    (Definition, "key"): NAME,
    (Definition, "deadline"): {"pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "examples": ["07:00"]},
    (Cron, "cron"): {"pattern": r"^\s*\S+(\s+\S+){4}\s*$", "examples": ["30 12 * * 1-5"]},
    (Step, "id"): {"pattern": "^[A-Za-z][A-Za-z0-9_]*$", "examples": ["rates"]},
}
BLOCK = re.compile(r"```yaml\n(.*?)```", re.S)


# Words


@cache
def _attribute_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """The docstrings that stand below the fields of a model, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, BaseModel) or base.__module__.partition(".")[0] != "automations":
            continue
        body = ast.parse(dedent(inspect.getsource(base))).body[0]
        statements: list[ast.stmt] = getattr(body, "body", [])
        for field, text in pairwise(statements):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                value = text.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found[field.target.id] = inspect.cleandoc(value.value)
    return found


def _examples(words: str) -> list[Any]:
    """The YAML of a docstring as data."""
    found: list[Any] = []
    for block in BLOCK.findall(words):
        data = read_source(block, "example").data
        found.extend(data if is_list(data) else [data])
    return found


# What Definition's schema does not say by itself


def _marks(annotation: Any) -> Iterator[Any]:
    """The checks within a type, those of its members included."""
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        if get_origin(part) is not None or isinstance(part, type):
            yield from _marks(part)


def _is_marked(checks: Sequence[Any], alias: Any) -> bool:
    """Whether a field is of a type that has a name, such as Duration: its checks are that type's."""
    return any(check in alias.__metadata__ for check in checks)


def _refined(model: type[BaseModel], name: str, told: Json) -> Json:
    """The schema of one field."""
    field = model.model_fields[name]
    checks = [*field.metadata, *_marks(field.annotation)]
    if _is_marked(checks, Condition):
        return {**_without(told, "$ref"), "anyOf": [{"type": "boolean"}, ALONE]}
    if issubclass(model, Step) and name == "for_each":
        return {**_without(told, "$ref"), "anyOf": [{"type": "array"}, ALONE, {"type": "null"}]}
    for (owner, key), more in FIELDS.items():
        if issubclass(model, owner) and key == name:
            told = _narrowed(told, more)
    for alias, more in MARKS:
        if _is_marked(checks, alias):
            told = _narrowed(told, more)
    return told


def _narrowed(told: Json, more: Json) -> Json:
    """The schema with more said of its text."""
    if told.get("type") == "string":
        return {**told, **more}
    return {**told, "anyOf": [_narrowed(part, more) for part in told["anyOf"]]} if "anyOf" in told else told


def _without(told: Json, *keys: str) -> Json:
    return {key: value for key, value in told.items() if key not in keys}


def _models(model: type[BaseModel], found: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """All models of the language by the names that pydantic gives them."""
    if model.__name__ not in found:
        found[model.__name__] = model
        for field in model.model_fields.values():
            for part in _parts(field.annotation):
                _models(part, found)
    return found


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _told(model: type[BaseModel], told: Json) -> Json:
    """The schema of a model with its words, and its fields refined."""
    docs = _attribute_docs(model)
    names = {field.alias or name: name for name, field in model.model_fields.items()}
    fields: Json = {}
    for key, field in told.get("properties", {}).items():
        refined = _refined(
            model, names[key], _without(field, "title", *(["default"] if field.get("default", 0) is None else []))
        )
        if names[key] in docs:
            refined = {**refined, "description": docs[names[key]]}
        fields[key] = refined
    whole = _without(told, "title") | {"properties": fields, "description": inspect.cleandoc(model.__doc__ or "")}
    if model in STEPS:
        words = inspect.cleandoc(sys.modules[model.__module__].__doc__ or "")
        whole |= {"markdownDescription": words, "examples": _examples(words)}
    return whole


def _by_key(kinds: Mapping[str, type[BaseModel]], what: str) -> Json:
    """A map that is told by one of its keys: an editor then says what is wrong with that one kind."""
    return {
        "type": "object",
        "description": f"{what}: one of {', '.join(kinds)}.",
        "anyOf": [{"required": [key]} for key in kinds],
        "allOf": [
            {"if": {"required": [key]}, "then": {"$ref": f"#/$defs/{model.__name__}"}} for key, model in kinds.items()
        ],
    }


def _one_or_many(kind: str) -> Json:
    return {"anyOf": [{"$ref": f"#/$defs/{kind}"}, {"type": "array", "items": {"$ref": f"#/$defs/{kind}"}}]}


# Operations


def _both(by_alias: Any, by_name: Any) -> Any:
    """One schema out of two that differ in the names of fields: each may be given by either."""
    if is_list(by_alias):
        return [_both(one, other) for one, other in zip(by_alias, by_name, strict=True)]
    if not is_map(by_alias):
        return by_alias
    if "properties" not in by_alias:
        return {key: _both(value, by_name[key]) for key, value in by_alias.items()}
    pairs = list(zip(by_alias["properties"], by_name["properties"], strict=True))
    fields: Json = {}
    for wire, python in pairs:
        field = _templated(_both(by_alias["properties"][wire], by_name["properties"][python]))
        fields |= {wire: field, python: field}
    needed = [
        {"anyOf": [{"required": [name]} for name in dict.fromkeys(pair)]}
        for pair in pairs
        if pair[0] in by_alias.get("required", ())
    ]
    rest = {key: value for key, value in by_alias.items() if key not in {"properties", "required", "title", "$defs"}}
    return rest | {"properties": fields} | ({"allOf": needed} if needed else {})


def _templated(told: Json) -> Json:
    """A value or a template; so for the items of a list."""
    inner = _without(told, "title", "default")
    if "items" in inner:
        inner["items"] = _templated(inner["items"])
    if "anyOf" in inner:
        inner["anyOf"] = [_templated(part) if part.get("type") == "array" else part for part in inner["anyOf"]]
    return {"anyOf": [inner, {"$ref": "#/$defs/template"}]}


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if is_list(value):
        return [_renamed(item, rename) for item in value]
    if is_map(value):
        return {
            key: rename(item) if key == "$ref" and isinstance(item, str) else _renamed(item, rename)
            for key, item in value.items()
        }
    return value


def _fields_of(operation: Operation[Any], definitions: Json) -> Json:
    """What `with` of an operation may be; the shapes that it refers to are put among the definitions."""
    model = operation.params
    wire, python = (model.model_json_schema(by_alias=alias) for alias in (True, False))
    prefix = f"{model.__module__.rpartition('.')[2]}."

    def rename(reference: str) -> str:
        name = reference.removeprefix("#/$defs/")
        return reference if name == "template" else f"#/$defs/{prefix}{name}"

    for name, told in wire.get("$defs", {}).items():
        definitions[prefix + name] = _renamed(_both(told, python["$defs"][name]), rename)
    fields: Json = _renamed(_both(wire, python), rename)
    return _without(fields, "description")


def _calls(told: Json, definitions: Json) -> Json:
    """The call step with its operations."""
    known = operations()
    python_names = {one.python_name: one for one in known.values() if one.python_name not in known}
    words = {name: f"{one.summary} ({one.effect.value})" for name, one in {**known, **python_names}.items()}
    call = {
        "enum": list(words),
        "description": told["properties"]["call"].get("description", "The name of an operation."),
        "enumDescriptions": list(words.values()),
    }
    choices: list[Json] = []
    for name, one in known.items():
        names = list(dict.fromkeys([name, one.python_name]))
        fields = _fields_of(one, definitions)
        then: Json = {
            "properties": {"with": {"anyOf": [fields, {"$ref": "#/$defs/template"}], "description": one.summary}}
        }
        if "allOf" in fields:
            then["required"] = ["with"]
        choices.append({"if": {"properties": {"call": {"enum": names}}, "required": ["call"]}, "then": then})
    return told | {"properties": told["properties"] | {"call": call}, "allOf": choices}


@cache
def schema() -> Json:
    """The schema of an automation's file. It is made once: do not change it."""
    whole = Definition.model_json_schema(by_alias=True)
    models = _models(Definition, {})
    definitions: Json = {
        name: _told(models[name], told) if name in models else told for name, told in whole.pop("$defs").items()
    }
    definitions[CallStep.__name__] = _calls(definitions[CallStep.__name__], definitions)
    for step in STEPS:
        told = definitions[step.__name__]
        told["properties"]["undo"] = _without(told["properties"]["undo"], "items", "type") | _one_or_many("step")
        told["dependentRequired"] = {"concurrency": ["for_each"]}
    definitions |= {
        "template": TEMPLATE,
        "step": _by_key({step.kind: step for step in STEPS}, "A step"),
        "trigger": _by_key(TRIGGERS, "A trigger"),
    }
    told = _told(Definition, whole)
    steps = {"items": {"$ref": "#/$defs/step"}}
    for key in ("steps", "on_failure"):
        told["properties"][key] |= steps
    trigger = told["properties"]["trigger"]
    told["properties"]["trigger"] = _without(trigger, "items", "type", "maxItems") | _one_or_many("trigger")
    people = {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": f"^({PERSON.pattern})$"}}
    told["properties"]["people"]["anyOf"] = [people, {"type": "null"}]
    names = [*operations()]
    told["properties"]["operations"]["anyOf"] = [
        {
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [{"enum": names}, {"type": "string", "pattern": r"[*?\[]"}]},
        },
        {"type": "null"},
    ]
    return {"$schema": DIALECT, "title": "An automation", **told, "$defs": definitions}
