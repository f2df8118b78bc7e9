"""`wait`: goes on later.

```yaml
- wait: 10m
- wait: {until: "2026-12-01 09:00", timezone: Europe/Moscow}
- wait: {until: "{{ steps.request.deadline }}"}
```
The time is counted from the moment at which the step was first come to, restarts included. `until` is a date, or a date
and time, on the clocks of `timezone`, else of the tick; one that is past is not waited for. While it waits the run
holds nothing. Its value is the moment in UTC until which it waited.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.steps.base import Given, Step, Wait
from automations.triggers import Model, ZoneName, duration, utc_text

BRIEF = timedelta(seconds=5)
"""A shorter wait is slept through: parking a run costs more."""
LONGEST = timedelta(days=400)


def _length(text: str) -> timedelta:
    length = duration(text)
    if length > LONGEST:
        raise ValueError(f"must be at most {LONGEST.days}d")
    return length


def _moment(text: str) -> str:
    if not is_template(text):
        _read(text)
    return text


def _read(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError("is no moment: write 2026-12-01 or 2026-12-01 09:00") from None


def _length_or_moment(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not is_template(value):
        _length(value)
    return {"length": value}


class Pause(Model):
    """How long, or until when."""

    length: str | None = None
    until: Annotated[str, AfterValidator(_moment)] | None = None
    timezone: ZoneName | None = None


class WaitStep(Step):
    """Waits."""

    kind: ClassVar[str] = "wait"

    wait: Annotated[Pause, BeforeValidator(_length_or_moment, json_schema_input_type=str | Pause)]

    @property
    def _brief(self) -> timedelta | None:
        length = self.wait.length
        if length is None or is_template(length):
            return None
        return _length(length) if _length(length) < BRIEF else None

    @property
    def waits(self) -> bool:
        return self._brief is None

    def findings(self) -> Iterator[tuple[Path, str]]:
        if (self.wait.length is None) == (self.wait.until is None):
            yield ("wait",), "should be a duration such as 10m, or {until: ...}"

    def _until(self, given: Given) -> datetime:
        """The moment, in UTC. Raises StepFailed."""
        try:
            if self.wait.length is not None:
                begun = given.begun_at or given.tools.clock()
                return (begun + _length(given.text(self.wait.length, "wait"))).astimezone(UTC)
            moment = _read(given.text(str(self.wait.until), "until"))
        except ValueError as error:
            raise StepFailed(f"wait: {error}") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=self._zone(given))
        now = given.tools.clock()
        if moment - now > LONGEST:
            raise StepFailed(f"wait: {utc_text(moment)} is more than {LONGEST.days} days away")
        return moment.astimezone(UTC)

    def _zone(self, given: Given) -> Any:
        if self.wait.timezone is not None:
            return ZoneInfo(self.wait.timezone)
        tick = given.scope["tick"]
        return ZoneInfo(tick["zone"]) if "zone" in tick else datetime.fromisoformat(tick["local"]).tzinfo

    async def ready(self, given: Given) -> Wait | None:
        until = self._until(given)
        return None if given.tools.clock() >= until else Wait(until=until)

    async def intent(self, given: Given) -> dict[str, Any]:
        return {"wait until": utc_text(self._until(given))}

    async def run(self, given: Given) -> Any:
        brief = self._brief
        if brief is not None:
            await given.tools.sleep(brief.total_seconds())
            return utc_text(given.tools.clock())
        until = self._until(given)
        given.tell(**{"wait until": utc_text(until)})
        return utc_text(until)
