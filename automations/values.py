"""Values as they are recorded, shown and sent: JSON that keeps decimals exact, and hides what is secret.

encode / decode   a step's value to and from the record: a Decimal becomes {"$decimal": "1.25"}
plain             for the wire and for files: a Decimal becomes a number; json_text is its JSON
redacted          for people: values under keys such as `password` or `api_key` are replaced, long ones shortened
"""

import re
from decimal import Decimal
from json import dumps
from typing import Any

from automations.shapes import is_list, is_map, is_sequence

DECIMAL = "$decimal"
ESCAPED = "$escaped"
SECRET = re.compile(r"pass(word|phrase|wd)?$|secret|token|api[-_]?key|authorization|credential|private[-_]?key", re.I)
HIDDEN = "(hidden)"
LONGEST = 500
MOST_SHOWN = 20


def encode(value: Any) -> Any:
    """JSON for the record. Raises TypeError for what JSON does not hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Decimal):
        return {DECIMAL: str(value)}
    if is_sequence(value):
        return [encode(item) for item in value]
    if is_map(value):
        members = {str(key): encode(item) for key, item in value.items()}
        return {ESCAPED: members} if DECIMAL in members or ESCAPED in members else members
    raise TypeError(f"a value of the type {type(value).__name__} cannot be kept")


def decode(value: Any) -> Any:
    """The value that was encoded."""
    if is_list(value):
        return [decode(item) for item in value]
    if is_map(value):
        if DECIMAL in value:
            return Decimal(value[DECIMAL])
        return {key: decode(item) for key, item in value.get(ESCAPED, value).items()}
    return value


def plain(value: Any) -> Any:
    """Decimals as numbers: whole ones as int, others as the nearest float, whose shortest text is the same."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if is_sequence(value):
        return [plain(item) for item in value]
    if is_map(value):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON for people and other programs. Raises ValueError for inf and nan, which JSON does not know."""
    try:
        return dumps(plain(value), ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        raise ValueError("a number is too large or none at all (inf, nan), which JSON cannot hold") from None


def redacted(value: Any) -> Any:
    """For people's eyes: secrets hidden, long texts and lists cut."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} characters)"
    if is_sequence(value):
        shown = [redacted(item) for item in value[:MOST_SHOWN]]
        return shown if len(value) <= MOST_SHOWN else [*shown, f"… ({len(value)} in all)"]
    if is_map(value):
        return {key: HIDDEN if SECRET.search(key) and item else redacted(item) for key, item in value.items()}
    return plain(value)
