"""The YAML model: what an automation's file says.

read_automation(text, file) ─► yaml_source ─► Definition (pydantic) ─► check ─► Automation
All findings of a file come together, each with file:line:column, the place in words, and what was probably meant.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import islice
from json import dumps
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, JsonValue, ValidationError, field_validator

from automations.calendars import OwnDays, resolve_calendars
from automations.errors import Finding, InvalidAutomation, Path, did_you_mean
from automations.shapes import is_map
from automations.steps import KINDS, STEPS, AnyStep, Retry
from automations.triggers import TRIGGERS, AnyTrigger, Duration, Model, Trigger
from automations.yaml_source import Source, read_source
from workspace_api.contract import nearest, operations

MOST_STEPS = 200
LONGEST_NAME = 60
MOST_FINDINGS = 50
"""Of one file: nobody reads more at once."""


def _name(text: str) -> str:
    plain = text.replace("-", "").replace("_", "")
    if not plain.isalnum() or not plain.isascii() or text != text.lower() or len(text) > LONGEST_NAME:
        raise ValueError(f"is no name: use up to {LONGEST_NAME} small letters, digits and dashes, as in daily-rates")
    return text


def _deadline(text: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", text):
        raise ValueError("is no time of day: write 07:00")
    return text


def _allowed(patterns: list[str]) -> list[str]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in operations()):
            hint = did_you_mean(pattern, operations())
            raise ValueError(f"{pattern} is no operation and no pattern of any{hint or ', such as finplan.request.*'}")
    return patterns


class CatchUp(Model):
    """What becomes of ticks that were missed while no runner ran: `{policy: latest, window: 2d}`."""

    policy: Literal["none", "latest", "all"] = "latest"
    window: Duration = "2d"
    """A missed tick older than this is not run any more."""


class Limits(Model):
    """What an automation may use: `{at_once: 2, calls: 500}`."""

    at_once: Annotated[int, Field(ge=1, le=1000)] = 20
    """Runs of it at the same time, where `overlap` is `parallel`."""
    calls: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """Calls to the workspace in one run, attempts counted."""


class Definition(Model):
    """An automation as its file tells it."""

    name: Annotated[str, AfterValidator(_name)]
    """Its name in commands and in the ids of its runs."""
    description: str = ""
    trigger: list[Trigger] = Field(default_factory=list[AnyTrigger], max_length=50)
    """When it is due; none: only by hand."""
    catch_up: CatchUp = CatchUp()
    overlap: Literal["skip", "queue", "restart", "parallel"] = "skip"
    """What becomes of a tick while an earlier run is under way or parked: it is skipped, waits for that run, ends
    that run, or runs beside it."""
    deadline: Annotated[str, AfterValidator(_deadline)] | None = None
    """`07:00`: an alarm is raised where a tick of that day has not run well by then, on the clocks of the trigger."""
    timeout: Duration | None = None
    """For one go of a run; while it is parked no time is counted."""
    retry: Retry = Retry()
    limits: Limits = Limits()
    key: Annotated[str, AfterValidator(_name)] | None = None
    """The name of the API key that it uses (`secrets.<key>`); the service's own where none is named."""
    operations: Annotated[list[str], Field(max_length=200), AfterValidator(_allowed)] | None = None
    """The operations that it may call, by name or pattern (`finplan.request.*`); all where none are named."""
    people: Annotated[list[str], Field(max_length=200)] | None = None
    """Who may run it from chat and from the ops page: user ids and roles (`@ops`); anybody of `@ops` where none are
    named."""
    vars: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Values for templates; they may use `tick`, `run`, `automation` and `event` themselves."""
    steps: list[AnyStep] = Field(min_length=1, max_length=MOST_STEPS)
    on_failure: list[AnyStep] = Field(default_factory=list[AnyStep], max_length=MOST_STEPS)
    """Steps that are done when the run fails or stops; `failure.step` and `failure.message` say where and why."""

    @field_validator("trigger", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if is_map(value) else value


def text_of(data: dict[str, Any]) -> str:
    """A definition as JSON."""
    return dumps(data, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Automation:
    """A checked definition, where it came from, and itself as data: what a run takes along."""

    definition: Definition
    file: FilePath
    data: dict[str, Any]

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def text(self) -> str:
        """Itself as JSON, in the order of the file: that of a map may be that of a table's columns."""
        return text_of(self.data)

    @cached_property
    def digest(self) -> str:
        """Tells this version from others of its name."""
        return sha256(self.text.encode()).hexdigest()


@lru_cache(maxsize=256)
def _known(text: str) -> Definition:
    return Definition.model_validate_json(text)


def definition_of(data: dict[str, Any]) -> Definition:
    """The definition that a run takes along, as it was checked when it was loaded."""
    return _known(text_of(data))


_MODELS: Mapping[str, type[BaseModel]] = {
    "=days": OwnDays,
    **{f"={key}": model for key, model in TRIGGERS.items()},
    **{f"={step.kind}": step for step in STEPS},
}


def _owner(location: Path) -> type[BaseModel]:
    """The model in which the last part of a pydantic location was looked for."""
    model: type[BaseModel] = Definition
    for part in location[:-1]:
        if isinstance(part, str) and part in _MODELS:
            model = _MODELS[part]
        elif isinstance(part, str):
            named = (field for name, field in model.model_fields.items() if part in {name, field.alias})
            annotation: Any = next((field.annotation for field in named), None)
            for candidate in (annotation, *get_args(annotation)):
                if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                    model = candidate
    return model


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


DURATIONS = frozenset({"timeout", "window", "every", "backoff", "max_age", "length"})
"""The keys of lengths of time, which are often written as bare numbers."""


def _message(kind: str, told: str, location: Path, context: dict[str, Any], given: Any) -> str:
    owner = _owner(location)
    key = str(location[-1])
    match kind:
        case "extra_forbidden":
            if key in KINDS:
                return "a step does one thing: put this into a step of its own"
            if key in TRIGGERS:
                return "a trigger is of one kind: put this into a trigger of its own, in a list"
            return f"no such key{did_you_mean(key, _keys(owner)) or '; the keys are ' + ', '.join(_keys(owner))}"
        case "missing":
            return "is required"
        case "value_error":
            return str(context["error"])
        case "literal_error":
            choices: list[str] = [choice.strip("'") for choice in context["expected"].replace(" or ", ", ").split(", ")]
            return f"should be {' or '.join(choices)}{did_you_mean(str(given)[:LONGEST_NAME], choices)}"
        case "string_type":
            number = isinstance(given, (int, float)) and not isinstance(given, bool)
            if number and key in DURATIONS:
                return "is no duration: write 30s, 15m, 1h30m or 2d"
            return "should be a text: put quotes around it" if number or isinstance(given, bool) else "should be a text"
        case "union_tag_not_found":
            return _nothing_to_do(location, given)
        case "too_short" | "too_long":
            least, most = context.get("min_length"), context.get("max_length")
            if key == "steps" and kind == "too_short":
                return "should have at least one step"
            if most == MOST_STEPS:
                return f"has more than {MOST_STEPS} steps: split the automation"
            return f"should have at least {least}" if kind == "too_short" else f"should have at most {most}"
        case "int_type" | "int_parsing" | "int_from_float":
            return "should be a whole number"
        case "bool_type":
            return "should be true or false"
        case "list_type":
            if key == "trigger":
                return 'should be a map such as {cron: "0 2 * * *"}, or a list of them'
            single = given is not None and given != {}
            return f"should be a list{': put a dash before it, or [ ] around it' if single else ''}"
        case "dict_type" | "model_type" | "model_attributes_type":
            fields = [name for name in _keys(_owner((*location, ""))) if _owner((*location, "")) is not owner]
            return f"should be a map{' with ' + ', '.join(fields[:5]) if fields else ''}"
        case _:
            return told.replace("Input should be", "should be", 1)


def _nothing_to_do(location: Path, given: Any) -> str:
    kinds = tuple(TRIGGERS) if location[0] == "trigger" else KINDS
    if not is_map(given):
        return f"should be a map with one of {', '.join(kinds)}"
    for key in given:
        near = nearest(key, kinds)
        if near:
            return f"needs one of {', '.join(kinds)}; did you mean {near} by {key}?"
    return f"needs one of {', '.join(kinds)}"


def _written(path: Path, source: Source) -> Path:
    """A path as the file has it: one value alone needs no list around it, and pydantic counts it all the same."""
    found: Path = ()
    for part in path:
        if isinstance(part, int) and (*found, part) not in source.values and found in source.values:
            continue
        found = (*found, part)
    return found


def _findings(error: ValidationError, source: Source) -> list[Finding]:
    found: list[Finding] = []
    details: list[Any] = error.errors(include_url=False)
    for detail in details[:MOST_FINDINGS]:
        location: Path = tuple(detail["loc"])
        path = _written(tuple(p for p in location if not (isinstance(p, str) and p.startswith("="))), source)
        message = _message(detail["type"], detail["msg"], location, detail.get("ctx", {}), detail["input"])
        found.append(source.finding(path, message, at_key=detail["type"] == "extra_forbidden"))
    return found


def read_automation(text: str | bytes, file: FilePath) -> Automation:
    """Reads and checks one file. Raises InvalidAutomation with its findings, in the order of the lines."""
    from automations.check import check

    source = read_source(text, str(file))
    if not isinstance(source.data, dict):
        told = "is empty" if source.data is None else "should be a map"
        raise InvalidAutomation([source.finding((), f"{told}: write name, trigger and steps")])
    unknown = resolve_calendars(source, file.parent)
    try:
        definition = Definition.model_validate(source.data)
    except ValidationError as error:
        raise InvalidAutomation([*unknown, *_findings(error, source)]) from None
    if unknown:
        raise InvalidAutomation(unknown)
    definition = _embedded(definition, source, file.parent)
    found = list(islice(check(definition, source), MOST_FINDINGS))
    if found:
        raise InvalidAutomation(found)
    return Automation(definition, file, source.data)


def _embedded(definition: Definition, source: Source, folder: FilePath) -> Definition:
    """The definition with what its steps take from files beside it: that travels with a run too.

    Raises InvalidAutomation for a file that cannot be used.
    """
    data: Any = source.data
    changed: dict[str, list[Any]] = {}
    for key in ("steps", "on_failure"):
        for index, step in enumerate(getattr(definition, key)):
            try:
                whole = step.embed(folder)
            except ValueError as error:
                raise InvalidAutomation([source.finding((key, index, step.kind, "file"), str(error))]) from None
            if whole is not None:
                changed.setdefault(key, list(getattr(definition, key)))[index] = whole
                data[key][index] = whole.model_dump(by_alias=True, exclude_unset=True)
    return definition.model_copy(update=changed) if changed else definition
