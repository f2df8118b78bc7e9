"""JSON as it stands on the wire, and the way from a record to it."""

from __future__ import annotations

import dataclasses
from typing import Any

# The Bot API's objects are open and deeply nested: on the wire they are plain JSON, records begin behind it.
Json = dict[str, Any]


def as_json(record: Any) -> Any:
    """A record (or a list of records) as JSON, fields without a value left out."""
    if isinstance(record, list):
        return [as_json(item) for item in record]  # pyright: ignore[reportUnknownVariableType] -- a list on the wire
    if dataclasses.is_dataclass(record):
        pairs = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
        return {name: as_json(value) for name, value in pairs if value is not None}
    return record
