"""Templates: Jinja2's immutable sandbox, strict names, typed values, bounded work.

evaluate("{{ vars.codes }}", scope)   a text that is one expression alone keeps the value's type
evaluate("{{ a }}/{{ b }}", scope)    any other is rendered to text
references(text)                      the names that it uses, for the check at load time; nothing is compiled for it
Trials(vars).objection(text)          what shows to be wrong with it without a run

Bounds: the language is cut to what has them (language.py), and what remains is charged against a budget (budget.py),
so that nothing has to be killed from outside. The same input gives the same value: no randomness, no clock.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import Any, cast

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from automations import language
from automations.budget import COMPILE_WORK, TRIAL_WORK, TRIALS_WORK, TooMuch, budget, built, charge
from automations.errors import AutomationError, did_you_mean
from automations.shapes import is_list, is_map, is_sequence
from automations.simple import simple
from automations.values import json_text

ALONE = re.compile(r"\{\{[-+]?(.*?)[-+]?\}\}", re.S)


class BadTemplate(AutomationError):
    """A template that cannot be read; `line` counts within the text."""

    def __init__(self, message: str, line: int = 1) -> None:
        self.line = line
        super().__init__(message)


class ExpressionFailed(AutomationError):
    """An expression has no value: a name that is not there, a wrong type, too much work."""


class OutOfReach(ExpressionFailed):
    """An expression reaches for the insides of Python."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in use: `("steps", "org", "blocks")`, and the line within the text."""

    path: tuple[str, ...]
    line: int


def is_template(value: object) -> bool:
    """Whether a value is a text with something to evaluate in it."""
    return isinstance(value, str) and ("{{" in value or "{%" in value or "{#" in value)


def _shown(value: Any) -> Any:
    """How a value stands in a text: nothing for null, true and false as YAML writes them, JSON for lists and maps."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, (list, tuple, dict)):
        return json_text(built(cast("Any", value)))
    return value


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox with our filters, bounded operators and calls, and members of data before methods of Python."""

    intercepted_binops = frozenset(language.OPERATORS)

    def __init__(self, *, autoescape: bool = False) -> None:
        super().__init__(
            undefined=StrictUndefined, optimized=False, autoescape=autoescape, finalize=_shown, cache_size=0
        )
        self.filters = dict(language.filters(self.filters))
        self.tests = {name: test for name, test in self.tests.items() if name in language.TESTS}
        self.globals = {"range": language.bounded_range}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - Jinja passes it by place
        return language.OPERATORS[operator](left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if is_map(obj):
            if attribute in obj:
                return obj[attribute]
            # Secrets say how to set one that is not there.
            why: Callable[[str], str] | None = getattr(obj, "why_missing", None)
            if why is not None:
                return self.undefined(why(attribute))
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A number finds its text among the keys of a map: JSON's are texts."""
        if is_map(obj) and isinstance(argument, int) and not isinstance(argument, bool):
            argument = str(argument)
        if is_map(obj) and isinstance(argument, str):
            return self.getattr(obj, argument)
        return super().getitem(obj, argument)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return super().is_safe_attribute(obj, attr, value) and (not callable(value) or language.may_call(value))

    def is_safe_callable(self, obj: Any) -> bool:
        return language.may_call(obj)

    def _generate(self, source: nodes.Template, *args: Any, **keywords: Any) -> str:
        return super()._generate(language.bounded(source), *args, **keywords)


_sandbox = _Sandbox()
_pages = _Sandbox(autoescape=True)


@dataclass(frozen=True, slots=True)
class _Read:
    """A template as it was read; `alone`: it is one expression, whose value keeps its type; `acts`: it calls, or looks
    a member up by a value, so that only its evaluation tells what it reaches."""

    references: tuple[Reference, ...]
    alone: bool
    acts: bool = False


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A template ready for use."""

    template: Any
    alone: bool


def _plain(text: str) -> _Read | None:
    """The reading of a text that needs no parser, as most do (simple.py)."""
    found = simple(text)
    if found is None:
        return None
    names = [Reference(path, 1 + text.count("\n", 0, at)) for path, at in found.names]
    return _Read(tuple(names), found.alone)


class _Reader:
    """Goes once through a template: checks each node, and finds the names that it takes from outside, those that no
    loop and no `set` in it has bound."""

    def __init__(self) -> None:
        self.found: list[Reference] = []
        self.acts = False

    def visit(self, node: nodes.Node, bound: set[str], turns: int = 1) -> None:
        language.check(node)
        if isinstance(node, (nodes.Getattr, nodes.Getitem, nodes.Name)):
            self._member(node, bound, turns)
        elif isinstance(node, nodes.For):
            self._loop(node, bound, turns * language.turns(node))
        elif isinstance(node, nodes.Assign):
            self.visit(node.node, bound, turns)
            bound |= _targets(node.target)
        else:
            self.acts = self.acts or isinstance(node, nodes.Call)
            for name in node.fields:
                part: Any = getattr(node, name)
                if isinstance(part, nodes.Node):
                    self.visit(part, bound, turns)
                elif is_list(part):
                    for child in part:
                        if isinstance(child, nodes.Node):
                            self.visit(child, bound, turns)

    def _loop(self, node: nodes.For, bound: set[str], turns: int) -> None:
        language.loops(turns, node.lineno)
        self.visit(node.iter, bound)
        inside = bound | {"loop"} | _targets(node.target)
        for part in (*([node.test] if node.test else []), *node.body):
            self.visit(part, inside, turns)
        outside = set(bound)
        for part in node.else_:
            self.visit(part, outside)

    def _member(self, node: nodes.Node, bound: set[str], turns: int) -> None:
        names: list[str] = []
        line = node.lineno
        while isinstance(node, (nodes.Getattr, nodes.Getitem)):
            if isinstance(node, nodes.Getattr):
                names.append(node.attr)
            elif isinstance(node.arg, nodes.Const):
                names.append(str(node.arg.value))
            else:
                names.clear()
                self.acts = True
                self.visit(node.arg, bound, turns)
            node = node.node
            language.check(node)
        if not isinstance(node, nodes.Name):
            self.visit(node, bound, turns)
        elif node.name not in bound and node.name not in _sandbox.globals:
            self.found.append(Reference((node.name, *reversed(names)), line))


def _targets(target: nodes.Node) -> set[str]:
    language.check(target)
    if isinstance(target, nodes.Name):
        return {target.name}
    parts: Sequence[nodes.Node] = getattr(target, "items", ())
    return {name for part in parts for name in _targets(part)}


def _is_alone(text: str, body: Sequence[nodes.Node]) -> bool:
    if not ALONE.fullmatch(text.strip()):
        return False
    parts = [part for output in body for part in getattr(output, "nodes", [output])]
    told = [part for part in parts if not (isinstance(part, nodes.TemplateData) and not part.data.strip())]
    return len(told) == 1 and isinstance(told[0], nodes.Expr) and not isinstance(told[0], nodes.TemplateData)


TAGS = ("for", "if", "set", "elif", "else", "endfor", "endif")
UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(\w+)'")


def _syntax(told: str) -> str:
    """Jinja's sentence about what it cannot read; of an unknown tag our own."""
    tag = UNKNOWN_TAG.match(told)
    if tag is None:
        return told.rstrip(".").replace(
            "Unexpected end of template. Jinja was looking for the following tags:", "has to end with"
        )
    if tag[1] in TAGS:
        return f"{tag[1]} stands here alone: it belongs to a for or an if"
    return f"there is no tag {tag[1]}{did_you_mean(tag[1], TAGS) or '; there are for, if and set'}"


@lru_cache(maxsize=4096)
def _read(text: str) -> _Read:
    """Reads a template without compiling it: that waits until it is used."""
    if len(text) > language.LONGEST_TEMPLATE:
        raise BadTemplate(f"is longer than {language.LONGEST_TEMPLATE:,} characters: cut it into several")
    plain = _plain(text)
    if plain is not None:
        return plain
    try:
        # Not `parse`, which goes through the whole once more to make it ready for compiling.
        body = Parser(_sandbox, text).subparse()
        reader = _Reader()
        bound: set[str] = set()
        for node in body:
            reader.visit(node, bound)
        return _Read(tuple(reader.found), _is_alone(text, body), reader.acts)
    except TemplateSyntaxError as error:
        raise BadTemplate(_syntax(error.message or "it cannot be read"), error.lineno) from None
    except language.NotAvailable as error:
        raise BadTemplate(str(error), error.line) from None
    except RecursionError:
        raise BadTemplate("is nested too deeply: take it apart with {% set %}") from None


@lru_cache(maxsize=2048)
def _compiled(text: str, html: bool = False) -> _Compiled:
    read = _read(text)
    try:
        if read.alone and not html:
            found = ALONE.fullmatch(text.strip())
            source = found[1] if found else ""
            return _Compiled(_sandbox.compile_expression(source, undefined_to_none=False), True)
        # Trailing line ends are part of a text, and Jinja would drop one.
        sandbox = _pages if html else _sandbox
        return _Compiled(sandbox.from_string(text + "\n" if text.endswith("\n") else text), False)
    except TemplateSyntaxError as error:
        raise BadTemplate(_syntax(error.message or "it cannot be read"), error.lineno) from None
    except RecursionError:
        raise BadTemplate("is nested too deeply: take it apart with {% set %}") from None


def references(text: str) -> tuple[Reference, ...]:
    """The names that a template takes from outside, in the order of the text. Raises BadTemplate."""
    return _read(text).references


def is_alone(text: str) -> bool:
    """Whether the text is one expression alone. Raises BadTemplate."""
    return _read(text).alone


class Trials:
    """Tries templates of one file without a run, as far as that tells anything.

    One that names nothing is evaluated. One that names nothing but `vars` may be given others in a run, so of it only
    counts that it reaches for what is out of reach. All together may cost TRIALS_WORK.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables
        self._left = TRIALS_WORK

    def objection(self, text: str) -> str | None:
        """What is wrong; None where nothing is, or where only a run can tell. Raises BadTemplate."""
        read = _read(text)
        constant = not read.references
        if not constant and not (read.acts and all(map(self._is_own, read.references))):
            return None
        if self._left < TRIAL_WORK:
            return None
        self._left -= COMPILE_WORK
        try:
            with budget(TRIAL_WORK, None) as spent:
                try:
                    _evaluated(text, {"vars": self._variables})
                finally:
                    self._left -= TRIAL_WORK - max(spent.left, 0)
        except OutOfReach as error:
            return str(error)
        except ExpressionFailed as error:
            return str(error) if constant else None
        return None

    def _is_own(self, name: Reference) -> bool:
        return len(name.path) > 1 and name.path[0] == "vars" and name.path[1] in self._variables


def evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """The value of a text in a scope. Raises BadTemplate, or ExpressionFailed with what is missing or too much."""
    if not is_template(text):
        return text
    with budget():
        return _evaluated(text, scope)


def evaluate_page(text: str, scope: Mapping[str, Any]) -> str:
    """A text of HTML in a scope, every value in it escaped. Raises as `evaluate` does."""
    with budget():
        return str(_evaluated(text, scope, html=True))


def _evaluated(text: str, scope: Mapping[str, Any], *, html: bool = False) -> Any:
    """The value, on the budget that there is."""
    compiled = _compiled(text, html)
    try:
        if not compiled.alone:
            pieces: list[str] = []
            for piece in compiled.template.generate(scope):
                charge(1 + len(piece))
                pieces.append(piece)
            return "".join(pieces)
        value: Any = compiled.template(scope)
        if isinstance(value, Undefined):
            str(value)
        return built(value) if is_sequence(value) or is_map(value) else language.as_value(value)
    except SecurityError as error:
        raise OutOfReach(f"{text.strip()[:200]}: {error.message}") from None
    except UndefinedError as error:
        raise ExpressionFailed(f"{text.strip()[:200]}: {error.message}") from None
    except TooMuch as error:
        raise ExpressionFailed(f"{text.strip()[:200]}: {error}") from None
    except (
        # AssertionError: how some of Jinja's filters refuse an argument
        JinjaError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, AssertionError, RecursionError,
    ) as error:  # fmt: skip
        told = "cannot be calculated" if isinstance(error, DecimalException) else str(error) or type(error).__name__
        raise ExpressionFailed(f"{text.strip()[:200]}: {told}") from None


def resolve(value: Any, scope: Mapping[str, Any]) -> Any:
    """A value of a file with every template in it evaluated; keys stay as they are."""
    if isinstance(value, str):
        return evaluate(value, scope)
    if is_list(value):
        return [resolve(item, scope) for item in value]
    if is_map(value):
        return {key: resolve(item, scope) for key, item in value.items()}
    return value
