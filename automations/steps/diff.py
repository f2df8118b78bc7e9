"""`diff`: what differs from the last run that ended well.

```yaml
- id: moved
  diff: {value: "{{ steps.org }}", by: id, ignore: [creation_date]}
- if: "{{ steps.moved.changed }}"
  telegram: {to: "@ops", text: "The structure: {{ steps.moved.summary }}\n{{ steps.moved.lines | join('\n') }}"}
```
value    what is compared: lists of maps by a field, maps by their keys, other lists by what they hold
by       that field; `id` where it is left out and all have one. With it, lists within the items, and all the lists of
         a map (the `org` and `block` of an export) are compared item by item too
ignore   fields that do not count
name     under which the value is kept; the step's own where it is left out

Its value is `{first, changed, added, removed, changed_items, summary, lines}`:
first          true where there is nothing to compare with; then nothing has changed
changed        whether anything differs
added, removed the items
changed_items  `{key, title, fields: {name: [old, new]}}` for each
summary        a sentence such as `14 changed, 2 added`; `lines` has one line for each item
"""

from typing import Any, ClassVar

from pydantic import Field, JsonValue

from automations.errors import StepFailed
from automations.steps.base import Given, Step
from automations.steps.differences import Difference, Item, compared, items_of
from automations.triggers import Model


class Comparison(Model):
    """What is compared, and how."""

    value: JsonValue
    by: str | None = None
    ignore: list[str] = Field(default_factory=list[str])
    name: str | None = None


class DiffStep(Step):
    """Compares a value with that of the last run."""

    kind: ClassVar[str] = "diff"

    diff: Comparison

    @property
    def only_reads(self) -> bool:
        return True

    async def run(self, given: Given) -> Any:
        value = given.value(self.diff.value)
        own = given.key.removeprefix(f"{given.run_id}/")
        name = given.text(self.diff.name, "name") if self.diff.name is not None else own
        given.tell(name=name, by=self.diff.by, ignore=self.diff.ignore)
        new = self._items(value, "value")
        known, last = await given.tools.desk.last_value(given.automation, name, given.run_id)
        old = self._items(last, "the last run's value") if known else new
        await given.tools.desk.keep_value(given.automation, name, given.run_id, value)
        return _told(compared(old, new), first=not known, items=len(new))

    def _items(self, value: Any, what: str) -> dict[str, Item]:
        try:
            return dict(items_of(value, self.diff.by, self.diff.ignore))
        except ValueError as error:
            raise StepFailed(f"diff: {what} {error}") from None


def _told(difference: Difference, *, first: bool, items: int) -> dict[str, Any]:
    return {
        "first": first,
        "changed": bool(difference),
        "added": [item.whole for item in difference.added],
        "removed": [item.whole for item in difference.removed],
        "changed_items": [
            {"key": item.key, "title": item.title, "fields": fields} for item, fields in difference.changed
        ],
        "summary": f"nothing to compare with yet: {items:,} kept for the next time" if first else difference.summary,
        "lines": difference.lines(),
    }
