"""Pydantic's findings in our words: which field, what is wrong, and the nearest right name.

finding ─► place (the branches of a union, which pydantic puts into its path, left out) ─► sentence ─► Problem
"""

from collections.abc import Iterable, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from workspace_api.contract.errors import Problem


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was most likely meant, or none that is near enough."""
    from difflib import get_close_matches

    matches = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return matches[0] if matches else None


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Fields by their Python names, then by their wire names where they differ."""
    fields = dict(model.model_fields)
    return fields | {f.serialization_alias: f for f in model.model_fields.values() if f.serialization_alias}


def members(annotation: Any) -> list[Any]:
    """What a type may be, without None and metadata: `X | None` is [X], `X | list[X]` is [X, list[X]]."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return members(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [member for argument in get_args(annotation) for member in members(argument)]
    return [] if annotation is type(None) else [annotation]


def _branch(tag: str, choices: Sequence[Any]) -> Any:
    """The member of a union that pydantic calls by `tag`: a model's name, or `list[…]` and `dict[…]`."""
    for choice in choices:
        if tag.partition("[")[0] == getattr(get_origin(choice) or choice, "__name__", ""):
            return choice
    return choices[0]


def _inside(annotation: Any, part: str | int) -> Any:
    """The type of the member `part` of a value of type `annotation`; Any where it is not known."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = _fields(annotation).get(str(part))
        return Any if field is None else field.annotation
    arguments = get_args(annotation)
    return arguments[-1] if arguments and get_origin(annotation) in (list, dict) else Any


def _place(path: tuple[str | int, ...], model: type[BaseModel]) -> tuple[tuple[str | int, ...], type[BaseModel] | None]:
    """The path that the caller knows, and the model in which its last part was looked for."""
    place: list[str | int] = []
    owner: type[BaseModel] | None = None
    annotation: Any = model
    for part in path:
        choices = members(annotation)
        if len(choices) > 1:
            annotation = _branch(str(part), choices)
            continue
        annotation = choices[0] if choices else Any
        owner = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
        place.append(part)
        annotation = _inside(annotation, part)
    return tuple(place), owner


def _text(kind: str, message: str, name: str, owner: type[BaseModel] | None) -> str:
    if kind == "extra_forbidden" and owner is not None:
        names = list(_fields(owner))
        if name in names:
            return "is given twice, by its Python and by its wire name"
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near else f"the fields are {', '.join(owner.model_fields)}"
        if not names:
            hint = "there are none"
        return f"no such field; {hint}"
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    if kind in ("too_short", "too_long"):
        return message.replace("List ", "", 1).replace(" after validation", "", 1)
    return message.replace("Input should be", "should be", 1)


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One Problem for each place, in the order of the fields; values are never repeated (they may be secret)."""
    found: dict[tuple[str | int, ...], list[str]] = {}
    details: list[Any] = error.errors(include_url=False, include_input=False, include_context=False)
    for detail in details:
        place, owner = _place(tuple(detail["loc"]), model)
        text = _text(detail["type"], detail["msg"], str(place[-1]) if place else "", owner)
        texts = found.setdefault(place, [])
        if text not in texts:
            texts.append(text.removeprefix("should be ") if texts else text)
    return [Problem(place, " or ".join(texts)) for place, texts in found.items()]
