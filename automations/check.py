"""Checks a definition against what it names: templates, steps, variables, operations, people.

Types are checked before this (definition.py). All of it is known when a file is loaded, so that nothing of it is found
out at night.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, cast

from automations.definition import Definition
from automations.errors import Finding, Path, did_you_mean, place_of
from automations.expressions import BadTemplate, Reference, Trials, is_template, references
from automations.shapes import is_list, is_map
from automations.steps import CallStep, Step
from automations.triggers import duration
from automations.yaml_source import Source
from workspace_api.contract import UnknownOperation

FIXED: Mapping[str, tuple[str, ...]] = {
    "tick": ("utc", "local", "date", "zone"),
    "run": ("id", "cause", "by"),
    "automation": ("name",),
    "failure": ("step", "message", "state"),
    "loop": ("index", "index0", "length"),
}
"""Names with their members; `event` and `secrets` may have any, the others are the file's own."""

EVERYWHERE = ("tick", "run", "automation", "event")
IN_TRIGGERS = ("event", "automation")
IN_STEPS = (*EVERYWHERE, "secrets", "vars", "steps")

ELSEWHERE: Mapping[str, str] = {
    "item": "is only there in a step with for_each",
    "loop": "is only there in a step with for_each",
    "failure": "is only there in the steps of on_failure",
    "value": "is only there in the steps of undo",
    "secrets": "is not there in vars: name it in the step that uses it",
}
"""Names that are there in other places."""

MOST_TEMPLATES = 1_000
"""In one file."""

TIMES = frozenset({"cron", "every", "at"})
"""The keys of triggers that are due at times which are known beforehand."""

PERSON = re.compile(r"@[a-z][a-z0-9_-]*|[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class _Names:
    """What a template in one place may use."""

    variables: Collection[str]
    roots: tuple[str, ...]
    earlier: Collection[str] = ()
    later: Collection[str] = ()

    def objection(self, reference: Reference) -> str | None:
        root, *rest = reference.path
        if root not in self.roots:
            if root in ELSEWHERE:
                return f"{root} {ELSEWHERE[root]}"
            if root in self.earlier:
                return f"{root} is no name; did you mean steps.{root}?"
            if root in self.variables:
                return f"{root} is no name; did you mean vars.{root}?"
            hint = did_you_mean(root, self.roots) or f"; there are {', '.join(self.roots)}"
            return f"{root} is no name{hint}"
        if not rest:
            return None
        return self._member(root, rest[0])

    def _member(self, root: str, name: str) -> str | None:
        if root == "steps" and name in self.later:
            return f"steps.{name} comes later: a step sees those before it"
        known: Mapping[str, Collection[str]] = {"steps": self.earlier, "vars": self.variables, **FIXED}
        members = known.get(root)
        if members is None or name in members or (root == "vars" and name == "get"):
            return None
        hints = did_you_mean(f"{root}.{name}", [f"{root}.{member}" for member in members])
        if not hints:
            hints = f"; there are {', '.join(members)}" if members else "; there are none here"
        return f"{root}.{name} is not known{hints}"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every template in a value of the file, with its place."""
    if isinstance(value, str):
        if is_template(value):
            yield path, value
    elif is_map(value):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _is_plain(value: Any) -> bool:
    return next(_texts(value, ()), None) is None


def _place(path: Path, raw: Any, index: int) -> tuple[Path, Mapping[str, Any]]:
    """Where a step stands, and as what: `undo` with one step needs no list around it."""
    if is_map(raw):
        return path, raw
    return (*path, index), raw[index]


@dataclass
class _Check:
    """One file under check."""

    definition: Definition
    source: Source
    trials: Trials = field(init=False)
    texts: int = 0
    """How many templates it has so far."""

    def __post_init__(self) -> None:
        # Variables with a template in them have no value before a run.
        self.trials = Trials({name: value for name, value in self.definition.vars.items() if _is_plain(value)})

    def templates(self, value: Any, path: Path, names: _Names) -> Iterator[Finding]:
        for place, text in _texts(value, path):
            self.texts += 1
            if self.texts > MOST_TEMPLATES:
                if self.texts == MOST_TEMPLATES + 1:
                    many = f"is one of more than {MOST_TEMPLATES:,} templates: split the automation"
                    yield self.source.finding(place, many)
                return
            try:
                told = [(names.objection(reference), reference.line) for reference in references(text)]
                found = {message: line for message, line in reversed(told) if message is not None}
                if not found and (wrong := self.trials.objection(text)) is not None:
                    found = {f"has no value: {wrong}": 1}
            except BadTemplate as error:
                found = {f"is no template: {error}": error.line}
            for message, line in reversed(found.items()):
                yield self.source.finding(place, message, line=line)

    def steps(self, steps: Sequence[Step], raw: Any, path: Path, names: _Names) -> Iterator[Finding]:
        """Steps in order; `raw` is what the file has there, a list or, for `undo`, a map of one step."""
        for index, step in enumerate(steps):
            place, written = _place(path, raw, index)
            inner = replace(names, roots=(*names.roots, "item", "loop")) if step.for_each is not None else names
            for key, value in written.items():
                if key == "undo":
                    undo = replace(inner, roots=(*inner.roots, "value"))
                    yield from self.steps(step.undo, value, (*place, key), undo)
                else:
                    yield from self.templates(value, (*place, key), names if key == "for_each" else inner)
            for where, message in (*step.findings(), *self._sense(step, path[0] == "on_failure", "undo" in path)):
                yield self.source.finding((*place, *where), message, at_key=message.startswith("no such"))
            if step.id:
                later = [name for name in names.later if name != step.id]
                names = replace(names, earlier=(*names.earlier, step.id), later=later)

    def _sense(self, step: Step, after_failure: bool, undoing: bool) -> Iterator[tuple[Path, str]]:
        """What the common keys of one step say together."""
        try:
            traces, reads = step.leaves_traces, step.only_reads
        except UnknownOperation:
            traces, reads = False, False
        if step.concurrency > 1:
            if step.for_each is None:
                yield ("concurrency",), "says how many items run at once, and there is no for_each: leave it out"
            elif traces or step.waits:
                why = "waits" if step.waits else "must not be done twice"
                yield ("concurrency",), f"is not for a step that {why}: leave it out"
        if step.undo and (undoing or after_failure):
            yield ("undo",), f"a step of {'undo' if undoing else 'on_failure'} is not undone itself: leave it out"
        elif step.undo and reads:
            yield ("undo",), "there is nothing to undo: this step only reads"
        whole = self.definition.timeout
        if step.timeout is not None and whole is not None and duration(step.timeout) > duration(whole):
            yield ("timeout",), f"is longer than the automation's own, {whole}"
        end = step.timeout or whole
        if step.retry is not None and end is not None and duration(step.retry.backoff) >= duration(end):
            yield ("retry", "backoff"), f"is not shorter than the timeout, {end}: nothing would be tried again"
        allowed = self.definition.operations
        if isinstance(step, CallStep) and allowed is not None:
            try:
                name = step.operation.name
            except UnknownOperation:
                return
            if not any(fnmatchcase(name, pattern) for pattern in allowed):
                yield ("call",), f"{name} is not among the operations of this automation: add it to operations"

    def whole(self) -> Iterator[Finding]:
        """What the keys of the automation say together."""
        one = self.definition
        if one.operations is not None and not one.operations:
            yield self.source.finding(("operations",), "is empty, so nothing could be called: leave it out for all")
        if one.people is not None and not one.people:
            yield self.source.finding(("people",), "is empty, so nobody could run it: leave it out for @ops")
        for index, person in enumerate(one.people or ()):
            if not PERSON.fullmatch(person):
                told = f"{person} is nobody: write a role such as @ops, or the id of a user"
                yield self.source.finding(("people", index), told)
        if one.deadline is not None and not any(TIMES & set(type(trigger).model_fields) for trigger in one.trigger):
            told = "needs a trigger with cron, every or at: it tells when a tick of the day has not run"
            yield self.source.finding(("deadline",), told)
        if one.timeout is not None and duration(one.retry.backoff) >= duration(one.timeout):
            told = f"is not shorter than the timeout, {one.timeout}: nothing would be tried again"
            yield self.source.finding(("retry", "backoff") if "retry" in one.model_fields_set else ("timeout",), told)


def _places(steps: Sequence[Step], raw: Any, path: Path) -> Iterator[tuple[Path, int, Step]]:
    """All steps with their places, those of `undo` among them."""
    for index, step in enumerate(steps):
        place, written = _place(path, raw, index)
        yield place, index, step
        if step.undo:
            yield from _places(step.undo, written["undo"], (*place, "undo"))


def _ids(places: Sequence[tuple[Path, int, Step]], source: Source) -> Iterator[Finding]:
    """All steps of a file share one namespace, and those without an id have a name in the history."""
    first: dict[str, Path] = {}
    unnamed = {
        f"{step.kind}_{index + 1}": place for place, index, step in places if step.id is None and len(place) == 2
    }
    for place, _, step in places:
        if step.id is None:
            continue
        if step.id in first:
            told = f"{step.id} is the id of {place_of(first[step.id])} too: each needs its own"
            yield source.finding((*place, "id"), told)
        elif step.id in unnamed:
            told = f"{step.id} is what {place_of(unnamed[step.id])} is called in the history: choose another"
            yield source.finding((*place, "id"), told)
        first.setdefault(step.id, place)


def check(definition: Definition, source: Source) -> Iterator[Finding]:
    """Everything that is wrong with a definition that has the right shape."""
    data = cast("dict[str, Any]", source.data)
    one = _Check(definition, source)
    places = [
        *_places(definition.steps, data["steps"], ("steps",)),
        *_places(definition.on_failure, data.get("on_failure", []), ("on_failure",)),
    ]
    yield from _ids(places, source)
    yield from one.whole()
    yield from one.templates(data.get("vars", {}), ("vars",), _Names((), EVERYWHERE))
    yield from one.templates(data.get("trigger", []), ("trigger",), _Names((), IN_TRIGGERS))
    ids = [step.id for step in definition.steps if step.id]
    undoing = [step.id for place, _, step in places if step.id and "undo" in place]
    afterwards = [step.id for step in definition.on_failure if step.id]
    names = _Names(definition.vars, IN_STEPS, (), (*ids, *undoing, *afterwards))
    yield from one.steps(definition.steps, data["steps"], ("steps",), names)
    after = _Names(definition.vars, (*IN_STEPS, "failure"), ids, afterwards)
    yield from one.steps(definition.on_failure, data.get("on_failure", []), ("on_failure",), after)
