"""Telling JSON's shapes apart, for values whose type is known only when they are there."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, (list, tuple))


def is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable)
