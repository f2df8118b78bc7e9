"""What all steps share: the common keys, and what a step is given when it runs.

A step is a model whose fields are its YAML keys, with `run(given) -> value`. The value is JSON (a Decimal is allowed);
StepFailed says why there is none. One file per step; steps/__init__.py lists them.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, Field, JsonValue

from automations.errors import Path as Place
from automations.errors import StepFailed
from automations.expressions import is_alone, is_template, resolve
from automations.ports import Caller, Messenger, Sleep
from automations.shapes import is_list, is_map
from automations.triggers import Model


@dataclass(frozen=True, slots=True)
class Tools:
    """What steps work with; the same for all runs of a runner."""

    caller: Caller
    messenger: Messenger
    files: Path
    """The folder below which `write` writes."""
    hosts: Collection[str]
    """The hosts that may be fetched from, `name` or `name:port`."""
    sleep: Sleep
    random: Callable[[], float]
    """A number from 0 to 1, for jitter."""


@dataclass(frozen=True, slots=True)
class Given:
    """What one execution of one step is given."""

    tools: Tools
    scope: Mapping[str, Any]
    """The names that templates see."""
    key: str
    """`<run id>/<step>`: the same each time this step of this run is tried."""
    folder: Path
    """Where the automation's file is."""
    today: date
    """The tick's date in its zone."""
    taken_up: bool = False
    """Whether an earlier process had begun this very step, and nobody knows how far it came."""

    def value(self, template: JsonValue) -> Any:
        """A value of the file with its templates evaluated."""
        return resolve(template, self.scope)

    def text(self, template: str, what: str) -> str:
        """The same, where a text is wanted. Raises StepFailed for lists, maps and null."""
        value = self.value(template)
        if value is None or is_list(value) or is_map(value) or isinstance(value, bool):
            raise StepFailed(f"{what} should be a text, {template.strip()[:200]} is {_kind(value)}")
        return str(value)


def _kind(value: object) -> str:
    for shape, name in ((dict, "a map"), (list, "a list"), (bool, "true or false")):
        if isinstance(value, shape):
            return name
    return "null"


def _identifier(text: str) -> str:
    if not text.isidentifier() or text.startswith("_") or not text.isascii():
        raise ValueError("is no id: use letters, digits and _, as in steps.daily_rates")
    return text


def _condition(value: JsonValue) -> JsonValue:
    if not isinstance(value, bool) and not (is_template(value) and _alone(value)):
        raise ValueError(
            'is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        )
    return value


def _items(value: JsonValue) -> JsonValue:
    if not isinstance(value, list) and not (is_template(value) and _alone(value)):
        raise ValueError('is a list, or one expression that gives one, such as "{{ steps.rates }}"')
    return value


def _alone(value: JsonValue) -> bool:
    from automations.expressions import BadTemplate

    try:
        return is_alone(cast("str", value))
    except BadTemplate:
        return True  # the check of templates tells what is wrong with it


class Step(Model):
    """The keys that every step may have."""

    kind: ClassVar[str]
    """The key that makes a mapping this step."""

    id: Annotated[str, AfterValidator(_identifier)] | None = None
    """The name of its value in later templates: `steps.<id>`."""
    if_: Annotated[JsonValue, AfterValidator(_condition)] = Field(True, alias="if")
    """Skips the step where it is false; with `for_each`, each item for which it is false."""
    for_each: Annotated[JsonValue, AfterValidator(_items)] = None
    """Runs the step once for each `item`; its value is the list of their values."""

    @property
    def leaves_traces(self) -> bool:
        """Whether doing it twice differs from doing it once, so that its beginning is recorded before it begins."""
        return False

    @property
    def only_reads(self) -> bool:
        """Whether running it changes nothing anywhere, so that a plan may run it."""
        return False

    async def intent(self, given: Given) -> dict[str, Any]:  # noqa: ARG002 - steps that write override it and need it
        """What running it would do, for a plan: nothing is done. Raises StepFailed.

        Only asked of a step that does not merely read; one that has not said what it would do cannot be planned.
        """
        raise StepFailed("this step cannot say what it would do")

    def findings(self) -> Iterator[tuple[Place, str]]:
        """What is wrong with it that types do not tell; places are relative to the step."""
        return iter(())

    @abstractmethod
    async def run(self, given: Given) -> Any:
        """Does the work and gives the value. Raises StepFailed."""
