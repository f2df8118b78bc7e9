"""What types alone do not tell: operations and their fields, names in templates, the order of steps.

All of it is known when a file is loaded, so that nothing of it is found out at night.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from automations.definition import Definition
from automations.errors import Finding, Path, did_you_mean
from automations.expressions import BadTemplate, Reference, is_template, references
from automations.shapes import is_list, is_map
from automations.steps import Step
from automations.yaml_source import Source

FIXED: Mapping[str, tuple[str, ...]] = {
    "tick": ("utc", "local", "date"),
    "run": ("id",),
    "automation": ("name",),
}
"""Names that are always there, with their members."""


@dataclass(frozen=True, slots=True)
class _Names:
    """What a template in one place may use."""

    variables: Collection[str]
    earlier: Collection[str]
    later: Collection[str]
    roots: tuple[str, ...]

    def objection(self, reference: Reference) -> str | None:
        root, *rest = reference.path
        if root not in self.roots:
            if root in {"item", "loop"}:
                return f"{root} is only there in a step with for_each"
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
        known: dict[str, Collection[str]] = {"steps": self.earlier, "vars": self.variables, **FIXED}
        members = known.get(root)
        if members is None or name in members:
            return None
        hints = did_you_mean(f"{root}.{name}", [f"{root}.{member}" for member in members])
        if not hints:
            hints = f"; there are {', '.join(members)}" if members else "; there are none here"
        return f"{root}.{name} is not known{hints}"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every template in a value of the file, with its place."""
    if is_map(value):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif is_template(value):
        yield path, value


def _templates(value: Any, path: Path, names: _Names, source: Source) -> Iterator[Finding]:
    for place, text in _texts(value, path):
        try:
            used = references(text)
        except BadTemplate as error:
            yield source.finding(place, f"is no template: {error}", line=error.line)
            continue
        told: set[str] = set()
        for reference in used:
            objection = names.objection(reference)
            if objection is not None and objection not in told:
                told.add(objection)
                yield source.finding(place, objection, line=reference.line)


def _ids(steps: list[Step], source: Source) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, step in enumerate(steps):
        if step.id is None:
            continue
        if step.id in first:
            told = f"{step.id} is the id of steps[{first[step.id]}] too: each needs its own"
            yield source.finding(("steps", index, "id"), told)
        first.setdefault(step.id, index)


def check(definition: Definition, source: Source) -> Iterator[Finding]:
    """Everything that is wrong with a definition that has the right shape."""
    data = cast("dict[str, Any]", source.data)
    steps: list[Step] = list(definition.steps)
    yield from _ids(steps, source)
    yield from _templates(data.get("vars", {}), ("vars",), _Names((), (), (), tuple(FIXED)), source)
    ids = [step.id for step in steps if step.id]
    earlier: list[str] = []
    for index, step in enumerate(steps):
        roots = ("steps", "vars", *FIXED)
        later = [name for name in ids if name not in earlier]
        own = _Names(definition.vars, tuple(earlier), later, roots)
        inner = _Names(definition.vars, tuple(earlier), later, (*roots, "item", "loop"))
        for key, value in data["steps"][index].items():
            each = step.for_each is not None and key != "for_each"
            yield from _templates(value, ("steps", index, key), inner if each else own, source)
        for place, message in step.findings():
            yield source.finding(("steps", index, *place), message, at_key=message.startswith("no such"))
        if step.id:
            earlier.append(step.id)
