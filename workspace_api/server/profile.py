"""How faithful this workspace is to the documents: `standard`, or `hosted` as the others out there may be.

standard   follows the documents, with this workspace's own additions (Idempotency-Key, ordered `need_accept`)
hosted     a workspace that does none of that, for the tests of whoever talks to it: what field-notes.md tells of
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workspace_api.contract import Params
from workspace_api.server.json_values import as_list, as_map

ProfileName = Literal["standard", "hosted"]
Fault = Literal["before", "after"]

_NAIVE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_OFFSET = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


class Profile:
    """The documents' workspace: hands everything through as the handlers made it."""

    name: ProfileName = "standard"
    keeps_idempotency = True

    def params(self, params: Params) -> Params:
        """What the handler gets of what was sent."""
        return params

    def data(self, operation: str, data: object) -> object:  # noqa: ARG002 - the hosted profile looks at it
        """What goes out of what the handler made."""
        return data

    def fault(self) -> Fault | None:
        """Whether this request gets an HTML 502: before its effect, or after it."""
        return None


@dataclass
class HostedProfile(Profile):
    """Behaves as a hosted workspace may. `fault_rate`: the share of 502 answers; half of them had their effect."""

    fault_rate: float = 0.01
    seed: int = 20261101
    _dice: random.Random = field(init=False)

    name = "hosted"
    keeps_idempotency = False

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311 - chance for tests, no secret

    def params(self, params: Params) -> Params:
        """Filters are ignored, `finplans` is needed."""
        given: dict[str, Any] = {name: getattr(params, name) for name in params.model_fields_set}
        kind = type(params).__name__
        if kind == "ListRequests":
            given["finplans"] = given.get("finplans") or []
        elif kind in {"ListTransactions", "ListTasks"}:
            given.pop("filter", None)
            given.pop("group_by", None)
        elif kind in {"CreateTransaction", "UpdateTransaction"}:
            given.pop("data", None)
        return type(params).model_validate(given)

    def data(self, operation: str, data: object) -> object:
        """Dates with Z, some ids as strings, nulls for false, extra keys, no order in `need_accept`."""
        people = as_list(data) if operation == "user.profile.list" else None
        if people is not None:
            return {person["user_id"]: self._record(person) for person in people}
        return self._value(data)

    def fault(self) -> Fault | None:
        """Drawn from the seed, so that a run can be had again."""
        draw = self._dice.random()
        if draw >= self.fault_rate:
            return None
        return "after" if draw < self.fault_rate / 2 else "before"

    def _value(self, value: object) -> object:
        record, items = as_map(value), as_list(value)
        if record is not None:
            return self._record(record)
        return value if items is None else [self._value(item) for item in items]

    def _record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = {key: _HABITS.get(key, self._other)(value) for key, value in record.items()}
        if "id" in record:
            changed["_links"] = {"self": f"#{record['id']}"}
        return changed

    def _other(self, value: object) -> object:
        if isinstance(value, str):
            return with_z(value)
        return self._value(value)


def with_z(value: str) -> str:
    """Either documented form of a date as `2026-11-01T09:30:00Z`; other texts as they are."""
    if _NAIVE.fullmatch(value) or _OFFSET.fullmatch(value):
        return f"{value[:10]}T{value[11:19]}Z"
    return value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


def _unordered(value: object) -> object:
    """By number, as a set comes out of a database."""
    blocks = as_list(value)
    return value if blocks is None else sorted(blocks)


def _null_for_false(value: object) -> object:
    return None if value is False else value


_HABITS: Mapping[str, Callable[[object], object]] = {
    "category_id": _as_text,
    "cashbox_id": _as_text,
    "author_block_id": _as_text,
    "parent_id": _as_text,
    "need_accept": _unordered,
    "required_accept": _unordered,
    "is_archived": _null_for_false,
    "is_hidden": _null_for_false,
    "is_important": _null_for_false,
    "is_probation": _null_for_false,
}
"""Field → what this kind of workspace makes of it."""


def profile_named(name: str, *, fault_rate: float = 0.01, seed: int = 20261101) -> Profile:
    """The profile of that name. Raises ValueError that names the two."""
    if name == "standard":
        return Profile()
    if name == "hosted":
        return HostedProfile(fault_rate=fault_rate, seed=seed)
    raise ValueError(f"{name!r} is no profile: use standard or hosted")
