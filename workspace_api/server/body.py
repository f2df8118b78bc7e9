"""From the bytes of a request to fields that can be stored: what JSON readers let through and databases do not.

Refused with one sentence each: no JSON, NaN, a body that is no object, nesting deeper than 64, a number beyond 64
bits, NUL or half a surrogate pair in a text. The same on both databases.
"""

from typing import Any

import orjson

from workspace_api.server.errors import InvalidRequest
from workspace_api.server.json_values import as_list, as_map

BODY_LIMIT = 8 * 1024 * 1024
DEPTH_LIMIT = 64
NUMBER_LIMIT = 2**63


def read_fields(body: bytes) -> dict[str, Any]:
    """The fields of a request; an empty body has none."""
    if not body.strip():
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(
            f"The body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    fields = as_map(value)
    if fields is None:
        raise InvalidRequest('The body must be a JSON object, such as {"id": 7}.')
    _check(fields)
    return fields


def _check(value: object) -> None:
    """Walks without recursion, so that depth is a refusal and not a crash."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        current, depth = waiting.pop()
        if isinstance(current, str):
            if "\x00" in current:
                raise InvalidRequest("A text holds the character NUL, which cannot be kept.")
        elif isinstance(current, (int, float)):
            # The reader makes a float of a whole number that is too long, and infinity of one longer still.
            low = -NUMBER_LIMIT if isinstance(current, int) else -NUMBER_LIMIT + 1
            if not low <= current < NUMBER_LIMIT:
                raise InvalidRequest("A number is beyond 64 bits.")
        members = as_map(current)
        items = as_list(current) if members is None else [*members, *members.values()]
        if items is not None:
            if depth > DEPTH_LIMIT:
                raise InvalidRequest(f"The body is nested deeper than {DEPTH_LIMIT} levels.")
            waiting.extend((item, depth + 1) for item in items)
