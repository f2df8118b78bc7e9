"""`call`: one operation of the workspace; its value is `data` exactly as received.

```yaml
- id: rates
  call: fintransaction.exchange.rate.custom.list
  with: {currency_code_from: USD, currency_code_to: RUB}
```
What may be tried again is decided by the operation's effect (a label says nothing): a read or an absolute write is
tried again by itself, a creation or a transition only while nothing has left this machine. Once it may have arrived,
the run stops and says so.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.shapes import is_map
from automations.steps.base import Given, Step
from automations.values import plain
from workspace_api.contract import (
    Call,
    Done,
    Effect,
    InvalidArguments,
    Operation,
    Problem,
    Refused,
    Unknown,
    UnknownOperation,
    find,
)

TOO_MANY_REQUESTS = 429


def _fields(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict) and not is_template(value):
        raise ValueError("is a map of the operation's fields")
    return value


def _templated(value: JsonValue) -> bool:
    """Whether anything in a value is known only when the step runs."""
    if isinstance(value, dict):
        return any(_templated(item) for item in value.values())
    if isinstance(value, list):
        return any(_templated(item) for item in value)
    return is_template(value)


class CallStep(Step):
    """Calls an operation. `call` is its name, `with` its fields by wire or Python names."""

    kind: ClassVar[str] = "call"

    call: str
    with_: Annotated[JsonValue, AfterValidator(_fields)] = Field(default_factory=dict[str, JsonValue], alias="with")

    @property
    def operation(self) -> Operation[Any]:
        return find(self.call)

    @property
    def leaves_traces(self) -> bool:
        return self.operation.effect in {Effect.CREATE, Effect.TRANSITION, Effect.SAVE}

    @property
    def only_reads(self) -> bool:
        return self.operation.effect is Effect.READ

    def findings(self) -> Iterator[tuple[Path, str]]:
        try:
            operation = self.operation
        except UnknownOperation as error:
            yield ("call",), str(error)
            return
        if not isinstance(self.with_, dict):
            return
        try:
            operation.call(self.with_)
        except InvalidArguments as error:
            for problem in error.problems:
                if problem.text.startswith("no such field") or not self._known_later(problem):
                    yield ("with", *problem.path), problem.text

    def _known_later(self, problem: Problem) -> bool:
        """Whether the value that does not fit holds a template, so that its type shows only when it runs."""
        value: JsonValue = self.with_
        for part in problem.path:
            if isinstance(value, dict) and part in value:
                value = value[str(part)]
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                break
        else:
            return _templated(value)
        return not isinstance(value, (dict, list)) and is_template(value)

    async def intent(self, given: Given) -> dict[str, Any]:
        call = self._call(given)
        return {"call": call.name, "with": {**call.params.query(), **call.params.body()}}

    def _call(self, given: Given) -> Call[Any]:
        """The call with its fields, checked."""
        fields = plain(given.value(self.with_))
        if not is_map(fields):
            raise StepFailed(f"{self.call}: with should be a map of fields")
        try:
            return self.operation.call(fields)
        except InvalidArguments as error:
            raise StepFailed(str(error)) from None

    async def run(self, given: Given) -> Any:
        call = self._call(given)
        given.tell(**{"call": call.name, "with": {**call.params.query(), **call.params.body()}})
        repeatable = call.effect in {Effect.READ, Effect.REPLACE}
        if given.taken_up and not repeatable:
            raise _doubt(call, "the runner was stopped while it was under way")
        answer = await given.tools.caller.attempt_raw(call)
        if isinstance(answer, Done):
            return answer.data.json()["data"]
        if isinstance(answer, Unknown) and not repeatable:
            raise _doubt(call, answer.reason)
        if isinstance(answer, Refused):
            raise StepFailed(
                f"{call.name} was refused: {answer.message} ({answer.code})",
                transient=answer.http_status == TOO_MANY_REQUESTS,
                retry_after=answer.retry_after,
            )
        raise StepFailed(f"{call.name} did not get through: {answer.reason}", transient=True, unreachable=True)


def _doubt(call: Call[Any], reason: str) -> StepFailed:
    return StepFailed(
        f"{call.name} may have gone through ({reason}). It is not repeated by itself: look in the workspace first, "
        "then resume the run with --again, which does this step once more",
        doubtful=True,
    )
