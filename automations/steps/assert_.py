"""`assert`: ends the run where something is not as it must be.

```yaml
- assert:
    that: "{{ steps.rates | length == 2 }}"
    message: "Only {{ steps.rates | length }} of 2 rates came"
```
Its value is true.
"""

from typing import Any, ClassVar

from pydantic import Field

from automations.errors import StepFailed
from automations.steps.base import Condition, Given, Step
from automations.triggers import Model


class Assertion(Model):
    """What must be true, and what is said where it is not."""

    that: Condition
    message: str


class AssertStep(Step):
    """Fails with `message` where `that` is false; it is never tried again."""

    kind: ClassVar[str] = "assert"

    assert_: Assertion = Field(alias="assert")

    @property
    def computes(self) -> bool:
        return True

    @property
    def only_reads(self) -> bool:
        return True

    async def run(self, given: Given) -> Any:
        given.tell(that=str(self.assert_.that))
        if not given.value(self.assert_.that):
            raise StepFailed(given.text(self.assert_.message, "message"))
        return True
