"""`run`: another automation, waited for.

```yaml
- id: export
  run: nightly-org-export
  with: {folder: month-end}
```
`with` stands in place of the `vars` of that automation. While it runs this run is parked. Its value is
`{run_id, state}`; where the other one does not end well, this step fails.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field, JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.shapes import is_map
from automations.steps.base import Given, Step, Wait

ENDED_BADLY = {"failed", "stopped", "cancelled"}


class RunStep(Step):
    """Runs another automation and waits for its end."""

    kind: ClassVar[str] = "run"

    run_: str = Field(alias="run")
    with_: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue], alias="with")

    @property
    def waits(self) -> bool:
        return True

    def findings(self) -> Iterator[tuple[Path, str]]:
        if not is_template(self.run_) and not self.run_:
            yield ("run",), "is the name of an automation"

    async def _child(self, given: Given) -> tuple[str, str, str | None]:
        values = given.value(self.with_)
        if not is_map(values):
            raise StepFailed("with should be a map of vars")
        name = given.text(self.run_, "run")
        return await given.tools.desk.run_child(name, given.run_id, given.key, values)

    async def ready(self, given: Given) -> Wait | None:
        run_id, state, _ = await self._child(given)
        return None if state == "done" or state in ENDED_BADLY else Wait(on=f"run:{run_id}")

    async def intent(self, given: Given) -> dict[str, Any]:
        return {"run": given.text(self.run_, "run"), "with": given.value(self.with_)}

    async def run(self, given: Given) -> Any:
        given.tell(**await self.intent(given))
        run_id, state, message = await self._child(given)
        if state != "done":
            raise StepFailed(f"{run_id} ended as {state}{f': {message}' if message else ''}")
        return {"run_id": run_id, "state": state}
