"""The caller of one automation: with the key that it names, held to the operations that it may call, and counted."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from automations.definition import Definition
from automations.errors import StepFailed
from automations.ports import Caller
from workspace_api.contract import Call, Done, NotSent, Raw, Refused, Unknown

WithKey = Callable[[str], Caller]
"""A caller that uses an API key."""


def may_call(operation: str, patterns: list[str] | None) -> bool:
    """Whether an operation is among those that an automation may call; all are where it names none."""
    return patterns is None or any(fnmatchcase(operation, pattern) for pattern in patterns)


class BoundCaller:
    """Refuses what the automation may not call, before anything is sent."""

    def __init__(self, caller: Caller, definition: Definition) -> None:
        self._caller = caller
        self._definition = definition
        self._left = definition.limits.calls

    async def attempt_raw(self, call: Call[Any], /) -> Done[Raw[Any]] | Refused | NotSent | Unknown:
        """Sends one call. Raises StepFailed where it is not allowed."""
        if not may_call(call.name, self._definition.operations):
            allowed = ", ".join(self._definition.operations or [])
            raise StepFailed(f"{call.name} is none of the operations of this automation ({allowed})")
        self._left -= 1
        if self._left < 0:
            raise StepFailed(f"this run has made its {self._definition.limits.calls} calls: raise limits.calls")
        return await self._caller.attempt_raw(call)


def caller_of(definition: Definition, caller: Caller, with_key: WithKey | None, secrets: Mapping[str, str]) -> Caller:
    """The caller of a run. Raises StepFailed where its key is not there."""
    if definition.key is not None:
        if definition.key not in secrets or with_key is None:
            raise StepFailed(f"its key {definition.key} is not there: set WORKSPACE_SECRET_{definition.key.upper()}")
        caller = with_key(secrets[definition.key])
    return BoundCaller(caller, definition)
