"""`set`: a value under a name, for the steps after it.

```yaml
- id: late
  set: "{{ steps.tasks | selectattr('overdue') | list }}"
```
"""

from typing import Any, ClassVar

from pydantic import Field, JsonValue

from automations.steps.base import Given, Step


class SetStep(Step):
    """Gives a value: text, number, list or map, its templates evaluated."""

    kind: ClassVar[str] = "set"

    set_: JsonValue = Field(alias="set")

    @property
    def computes(self) -> bool:
        return True

    @property
    def only_reads(self) -> bool:
        return True

    async def run(self, given: Given) -> Any:
        return given.value(self.set_)
