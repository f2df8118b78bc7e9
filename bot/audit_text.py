"""What the audit keeps of a call, as text: `reviewType: accept, requestIds: 7`. Secrets are never in it.

The audit holds none to begin with; what is shown or exported is looked through once more by the names of its fields.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

SECRET = re.compile(r"(?i)api.?key|token|passw|secret|(^|_)pins?($|_)|sealed|salt|(^|_)hash($|_)")
"""Names of fields whose values are not shown."""

HIDDEN = "***"


def clean(value: Any) -> Any:
    """The value without secrets, at any depth."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return {name: HIDDEN if SECRET.search(str(name)) else clean(inner) for name, inner in fields.items()}
    if isinstance(value, list):
        return [clean(inner) for inner in _items(value)]
    return value


def flat(value: Any, limit: int = 300) -> str:
    """One line: names and values; long ones are cut."""
    value = clean(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        text = ", ".join(
            f"{name}: {_plain(inner)}" for name, inner in fields.items() if inner not in (None, "", [], {})
        )
    else:
        text = _plain(value)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


NOTABLE = (
    "id", "status", "status_key", "sum", "sum_paid", "sum_charge", "sum_topup", "currency_code", "cashbox_id",
    "cashbox_id_charge", "cashbox_id_topup", "category_id", "description", "need_accept", "report_date", "is_finished",
)  # fmt: skip
"""What is told of a whole record that a call answered."""


def outcome(value: Any) -> str:
    """The answer of a call as one line: of a record what is notable, of a list of one that one."""
    if isinstance(value, list) and len(_items(value)) == 1:
        return outcome(_items(value)[0])
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return flat({name: fields[name] for name in NOTABLE if name in fields} or fields)
    return flat(value)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return "(" + ", ".join(f"{name} {_plain(inner)}" for name, inner in fields.items()) + ")"
    if isinstance(value, list):
        return ", ".join(_plain(inner) for inner in _items(value))
    if isinstance(value, str):
        return " ".join(value.split())
    return json.dumps(value, ensure_ascii=False, default=str)


def _items(value: Any) -> list[Any]:
    return list(value)
