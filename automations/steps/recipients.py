"""Whom a message or a question is for: `to` of `telegram` and `ask`, read when the step comes.

```
to: "anna, @finance, -100123"                      user ids, roles of WORKSPACE_ROLES and @ops, chats' numbers
to: "manager_of({{ steps.request.author_id }})"    who holds the block above this person's in the structure
to: "holder_of(10)"                                who holds that block
```
Nobody is their own manager: where a person holds the block above too, and where nobody holds it, it is the one above
that. Of several holders all are meant. Roles and user ids are looked up by the messenger.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from automations.errors import StepFailed, did_you_mean
from automations.expressions import is_template
from automations.shapes import is_list, is_map
from automations.steps.base import Given
from workspace_api.contract import Done, Refused, find

FUNCTIONS = ("manager_of", "holder_of")

PART = re.compile(r"(?:[^,(]|\([^)]*\)?)+")
"""One recipient: commas within parentheses do not part."""
CALL = re.compile(r"([^\s()]+)\s*\(([^()]*)\)")
NAME = re.compile(r"@?[^\s(),]+")
EXPRESSION = re.compile(r"\{\{.*?\}\}", re.S)


def _parts(to: str) -> list[str]:
    return [part for part in (found.strip() for found in PART.findall(to)) if part]


def findings(to: str) -> Iterator[str]:
    """What is wrong with a `to` as it stands in the file; what templates put in is known only later."""
    if "{%" in to or "{#" in to:
        return
    for part in _parts(EXPRESSION.sub("x", to)) or [""]:
        problem = _problem(part)
        if problem is not None:
            yield problem


def _problem(part: str) -> str | None:
    call = CALL.fullmatch(part)
    if call is None:
        if "(" in part or ")" in part:
            return f"{part} is no recipient: write manager_of(<user id>) or holder_of(<block id>)"
        if NAME.fullmatch(part):
            return None
        if not part:
            return "names nobody: write a user id, a role such as @ops, or a chat's number"
        return f"{part!r} is no recipient: write a user id, a role such as @ops, or a chat's number, parted by commas"
    name, argument = call.group(1), call.group(2).strip()
    if name not in FUNCTIONS:
        return f"{name} is no function{did_you_mean(name, FUNCTIONS) or '; there are manager_of and holder_of'}"
    if not argument:
        return f"{name}() should name {'a person' if name == 'manager_of' else 'a block'}"
    return None


async def addressees(to: str, given: Given) -> str:
    """The recipients with templates evaluated and functions answered, parted by commas.

    Raises StepFailed where there is nobody; a transient one where the workspace did not answer.
    """
    value = given.value(to) if is_template(to) else to
    if is_list(value):
        value = ", ".join(str(item) for item in value)
    if value is None or is_map(value) or isinstance(value, bool):
        raise StepFailed(f"to should name people or chats, {to.strip()[:200]} does not")
    structure: Structure | None = None
    found: list[str] = []
    for part in _parts(str(value)) or [""]:
        problem = _problem(part)
        if problem is not None:
            raise StepFailed(f"to: {problem}")
        call = CALL.fullmatch(part)
        if call is None:
            found.append(part)
            continue
        structure = structure or await _structure(given)
        argument = call.group(2).strip()
        found += structure.managers(argument) if call.group(1) == "manager_of" else structure.holders(argument)
    return ", ".join(dict.fromkeys(found))


class Structure:
    """Who holds what, as the workspace tells it: `orgschema.block.list` and `orgschema.worker.list-active`."""

    def __init__(self, blocks: Sequence[Mapping[str, Any]], workers: Sequence[Mapping[str, Any]]) -> None:
        self._parents = {str(block["id"]): _text(block.get("parent_id")) for block in blocks}
        # The first block of a person is the primary one.
        active = [worker for worker in workers if worker.get("user_id") and not worker.get("is_deleted")]
        self._workers = sorted(active, key=lambda worker: not worker.get("is_primary"))

    def holders(self, block: str) -> list[str]:
        """User ids of those who hold a block. Raises StepFailed where there are none."""
        if block not in self._parents:
            raise StepFailed(f"to: there is no block {block} in the structure")
        found = self._holding(block)
        if not found:
            raise StepFailed(f"to: nobody holds block {block}")
        return found

    def managers(self, user_id: str) -> list[str]:
        """User ids of those who hold the nearest block above a person's that somebody else holds."""
        own = [str(worker["block_id"]) for worker in self._workers if worker["user_id"] == user_id]
        if not own:
            raise StepFailed(f"to: {user_id} holds no block of the structure, so nobody is their manager")
        for block in own:
            for above in self._above(block):
                found = [holder for holder in self._holding(above) if holder != user_id]
                if found:
                    return found
        raise StepFailed(f"to: nobody is above {user_id} in the structure")

    def _holding(self, block: str) -> list[str]:
        return [str(worker["user_id"]) for worker in self._workers if str(worker.get("block_id")) == block]

    def _above(self, block: str) -> Iterator[str]:
        """The blocks over this one, nearest first; ends where a damaged tree turns in a circle."""
        seen = {block}
        above = self._parents.get(block)
        while above is not None and above not in seen:
            seen.add(above)
            yield above
            above = self._parents.get(above)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


async def _structure(given: Given) -> Structure:
    return Structure(await _read(given, "orgschema.block.list"), await _read(given, "orgschema.worker.list-active"))


async def _read(given: Given, operation: str) -> list[Mapping[str, Any]]:
    call = find(operation).call({})
    answer = await given.tools.caller.attempt_raw(call)
    if isinstance(answer, Done):
        data = answer.data.json()["data"]
        return [record for record in data if is_map(record)] if is_list(data) else []
    if isinstance(answer, Refused):
        raise StepFailed(f"to: {call.name} was refused: {answer.message} ({answer.code})")
    raise StepFailed(f"to: {call.name} did not get through: {answer.reason}", transient=True)
