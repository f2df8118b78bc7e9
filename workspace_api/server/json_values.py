"""JSON as it came, narrowed: the one place where the type of a value from the wire is asserted after it was checked."""

from typing import Any


def as_map(value: object) -> dict[str, Any] | None:
    """The value as an object, if it is one. JSON's keys are strings, which `isinstance` alone cannot tell."""
    members: Any = value
    return members if isinstance(members, dict) else None  # pyright: ignore[reportUnknownVariableType] - JSON's keys are strings


def as_list(value: object) -> list[Any] | None:
    """The value as an array, if it is one."""
    items: Any = value
    return items if isinstance(items, list) else None  # pyright: ignore[reportUnknownVariableType] - elements are checked by who reads them


def as_id(value: object) -> int | None:
    """The value as an id, which may stand there as a text."""
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < len(str(2**63)):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
