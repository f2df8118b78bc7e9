"""What all steps share: the common keys, and what a step is given when it runs.

A step is a model whose fields are its YAML keys, with `run(given) -> value`. The value is JSON (a Decimal is allowed);
StepFailed says why there is none. One file per step; steps/__init__.py lists them.

```
if / unless ─► for_each ─► (begun) ─► ready? ─► run, tried again while it fails for a passing reason ─► recorded
                                       └─ not yet: the run is parked, and asks again when it is woken
```
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from automations.errors import Path as Place
from automations.errors import StepFailed
from automations.expressions import is_alone, is_template, resolve
from automations.ports import Caller, Clock, Desk, Messenger, Sleep
from automations.scope import Watched
from automations.shapes import is_list, is_map
from automations.triggers import Duration, Model

if TYPE_CHECKING:
    from automations.steps import AnyStep


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
    desk: Desk
    clock: Clock
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Secret values by name; looked up when an expression names one, and hidden wherever they would be recorded."""
    is_cancelled: Callable[[str], bool] = lambda _: False
    """Whether a run is to end before its next step."""


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
    begun_at: datetime | None = None
    """When the step was begun first, for steps that wait (`waits`) or leave traces."""
    told: dict[str, Any] = field(default_factory=dict[str, Any])
    """What `tell` has told."""

    @property
    def run_id(self) -> str:
        return str(self.scope["run"]["id"])

    @property
    def automation(self) -> str:
        return str(self.scope["automation"]["name"])

    def value(self, template: JsonValue) -> Any:
        """A value of the file with its templates evaluated."""
        return resolve(template, self.scope)

    def text(self, template: str, what: str) -> str:
        """The same, where a text is wanted. Raises StepFailed for lists, maps and null."""
        value = self.value(template)
        if value is None or is_list(value) or is_map(value) or isinstance(value, bool):
            raise StepFailed(f"{what} should be a text, {template.strip()[:200]} is {_kind(value)}")
        return str(value)

    def words(self, template: str, what: str) -> str:
        """A text that is kept in a record: secrets that were used stand in it by their names. Raises StepFailed."""
        said, secrets = self.text(template, what), self.scope.get("secrets")
        return secrets.hidden(said) if isinstance(secrets, Watched) else said

    def tell(self, **inputs: Any) -> None:
        """What the step is about to do, with everything evaluated: is recorded beside the value, for people's eyes
        and for replay. Called by `run` before it does anything; secrets in it are hidden, long values cut."""
        self.told.update(inputs)


@dataclass(frozen=True, slots=True)
class Wait:
    """What a step that is not ready waits for: a moment, or something that has a name; one of them, or both."""

    until: datetime | None = None
    on: str | None = None
    """`question:<key>` or `run:<run id>`."""


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


def _one_or_many(value: object) -> object:
    return [value] if is_map(value) else value


Condition = Annotated[JsonValue, AfterValidator(_condition)]


class Retry(Model):
    """How often a step is tried that fails for a passing reason: `{attempts: 4, backoff: 5s}`.

    The pause before attempt n is up to `backoff` times 2 to the power of n - 1, chosen by chance, or what the other
    side asked for, where that is longer.
    """

    attempts: Annotated[int, Field(ge=1, le=20)] = 4
    backoff: Duration = "1s"


class Step(Model):
    """The keys that every step may have."""

    kind: ClassVar[str]
    """The key that makes a mapping this step."""

    id: Annotated[str, AfterValidator(_identifier)] | None = None
    """The name of its value in later templates: `steps.<id>`."""
    if_: Condition = Field(True, alias="if")
    """Skips the step where it is false; with `for_each`, each item for which it is false."""
    unless: Condition = False
    """Skips the step where it is true; with `for_each`, each item for which it is true."""
    for_each: Annotated[JsonValue, AfterValidator(_items)] = None
    """Runs the step once for each `item`; its value is the list of their values."""
    concurrency: Annotated[int, Field(ge=1, le=32)] = 1
    """How many items run at once; they are recorded together, so only steps that may be repeated may have it."""
    retry: Retry | None = None
    """In place of the automation's own."""
    timeout: Duration | None = None
    """For all attempts together; waiting for people is not counted."""
    continue_on_error: bool = False
    """A failure is kept (`steps.<id>.failed` is true, `steps.<id>.message` says why) and the run goes on."""
    undo: Annotated[list["AnyStep"], BeforeValidator(_one_or_many)] = Field(default_factory=list["AnyStep"])
    """Done by `workspace automations undo`, last step first; `value` is what the step gave."""

    @property
    def leaves_traces(self) -> bool:
        """Whether doing it twice differs from doing it once, so that its beginning is recorded before it begins."""
        return False

    @property
    def waits(self) -> bool:
        """Whether it may have to wait for people or time: then `ready` is asked before `run`, outside the journal."""
        return False

    @property
    def only_reads(self) -> bool:
        """Whether running it changes nothing anywhere, so that a plan may run it."""
        return False

    @property
    def computes(self) -> bool:
        """Whether its value comes from what it is given alone, so that a replay may run it."""
        return False

    async def ready(self, given: Given) -> Wait | None:  # noqa: ARG002 - steps that wait override it and need it
        """None where `run` can give the value now; else what to wait for. May be asked any number of times, also
        after a restart, and does what it does once (`given.key`). Raises StepFailed."""
        return None

    async def intent(self, given: Given) -> dict[str, Any]:  # noqa: ARG002 - steps that write override it and need it
        """What running it would do, for a plan: nothing is done. Raises StepFailed.

        Only asked of a step that does not merely read; one that has not said what it would do cannot be planned.
        """
        raise StepFailed("this step cannot say what it would do")

    def findings(self) -> Iterator[tuple[Place, str]]:
        """What is wrong with it that types do not tell; places are relative to the step."""
        return iter(())

    def embed(self, folder: Path) -> "Step | None":  # noqa: ARG002 - steps that take a file override it and need it
        """The step with the content of a file beside the automation in place of its name, so that it travels with a
        run; None where it names none. Raises ValueError where the file cannot be used."""
        return None

    @abstractmethod
    async def run(self, given: Given) -> Any:
        """Does the work once and gives the value. Raises StepFailed; a `transient` one is tried again by whoever
        called it, as the step's `retry` says."""
