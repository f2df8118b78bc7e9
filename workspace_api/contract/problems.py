"""Pydantic's findings in our words: which field, what is wrong, and the nearest right name."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from workspace_api.contract.errors import Problem


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was most likely meant, or none that is near enough."""
    matches = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return matches[0] if matches else None


def _names(model: type[BaseModel]) -> list[str]:
    """Python names, then wire names where they differ."""
    fields = model.model_fields
    return [*fields, *(f.serialization_alias for f in fields.values() if f.serialization_alias)]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that stand in a type, such as TaskFilter in `TaskFilter | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _owner(path: tuple[str | int, ...], model: type[BaseModel]) -> type[BaseModel]:
    """The model in which the last part of `path` was looked for."""
    for part in path[:-1]:
        by_name = dict(model.model_fields)
        by_name |= {f.serialization_alias: f for f in model.model_fields.values() if f.serialization_alias}
        if isinstance(part, str) and part in by_name:
            model = next(_models(by_name[part].annotation), model)
    return model


def _text(kind: str, message: str, path: tuple[str | int, ...], model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        owner = _owner(path, model)
        near = nearest(str(path[-1]), _names(owner))
        hint = f"did you mean {near}?" if near else f"the fields are {', '.join(owner.model_fields) or 'none'}"
        return f"no such field; {hint}"
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    return message.replace("Input should be", "should be", 1)


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One Problem for each finding, in the order of the fields; values are never repeated (they may be secret)."""
    found: list[Problem] = []
    details: list[Any] = error.errors(include_url=False, include_input=False, include_context=False)
    for detail in details:
        path: tuple[str | int, ...] = tuple(detail["loc"])
        found.append(Problem(path, _text(detail["type"], detail["msg"], path, model)))
    return found
