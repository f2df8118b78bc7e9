"""Templates: Jinja2's immutable sandbox, strict names, typed values, bounded work.

evaluate("{{ vars.codes }}", scope)   a text that is one expression alone keeps the value's type
evaluate("{{ a }}/{{ b }}", scope)    any other is rendered to text
references(text)                      the names that it uses, for the check at load time

Bounds: the language is cut to what has them (language.py), and what remains is charged against a budget (budget.py),
so that nothing has to be killed from outside. The same input gives the same value: no randomness, no clock.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import Any, cast

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, meta, nodes
from jinja2.exceptions import SecurityError
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from automations import language
from automations.budget import TooMuch, budget, built, charge
from automations.errors import AutomationError
from automations.shapes import is_list, is_map, is_sequence
from automations.values import json_text

ALONE = re.compile(r"\{\{[-+]?(.*?)[-+]?\}\}", re.S)
MARKS = ("{{", "{%", "{#")


class BadTemplate(AutomationError):
    """A template that cannot be read; `line` counts within the text."""

    def __init__(self, message: str, line: int = 1) -> None:
        self.line = line
        super().__init__(message)


class ExpressionFailed(AutomationError):
    """An expression has no value: a name that is not there, a wrong type, too much work."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in use: `("steps", "org", "blocks")`, and the line within the text."""

    path: tuple[str, ...]
    line: int


def is_template(value: object) -> bool:
    """Whether a value is a text with something to evaluate in it."""
    return isinstance(value, str) and any(mark in value for mark in MARKS)


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

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, optimized=False, autoescape=False, finalize=_shown, cache_size=0)
        self.filters = dict(language.filters(self.filters))
        self.tests = {name: test for name, test in self.tests.items() if name in language.TESTS}
        self.globals = {"range": language.bounded_range}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - Jinja passes it by place
        return language.OPERATORS[operator](left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping) and attribute in obj:
            return cast("Mapping[str, Any]", obj)[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return super().is_safe_attribute(obj, attr, value) and (not callable(value) or language.may_call(value))

    def is_safe_callable(self, obj: Any) -> bool:
        return language.may_call(obj)

    def _generate(self, source: nodes.Template, *args: Any, **keywords: Any) -> str:
        return super()._generate(language.bounded(source), *args, **keywords)


_sandbox = _Sandbox()


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A template ready for use; `alone`: it is one expression, whose value keeps its type."""

    template: Any
    alone: bool
    references: tuple[Reference, ...]


def _references(tree: nodes.Template) -> tuple[Reference, ...]:
    outside = meta.find_undeclared_variables(tree)
    inner: set[int] = set()
    found: list[Reference] = []
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Name)):
        if id(node) in inner:
            continue
        names: list[str] = []
        step: nodes.Node = node
        while not isinstance(step, nodes.Name):
            if isinstance(step, nodes.Getattr):
                names.append(step.attr)
            elif isinstance(step, nodes.Getitem) and isinstance(step.arg, nodes.Const):
                names.append(str(step.arg.value))
            elif isinstance(step, nodes.Getitem):
                names.clear()
            else:
                break
            step = step.node
            inner.add(id(step))
        if isinstance(step, nodes.Name) and step.name in outside:
            found.append(Reference((step.name, *reversed(names)), step.lineno))
    return tuple(found)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> _Compiled:
    if len(text) > language.LONGEST_TEMPLATE:
        raise BadTemplate(f"is longer than {language.LONGEST_TEMPLATE:,} characters")
    try:
        tree = _sandbox.parse(text)
        language.check(tree)
        references = _references(tree)
        alone = ALONE.fullmatch(text.strip())
        body = _sandbox.parse(text.strip()).body if alone else []
        if alone and len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1:
            source = alone.group(1)
            return _Compiled(_sandbox.compile_expression(source, undefined_to_none=False), True, references)
        # Trailing line ends are part of a text, and Jinja would drop one.
        return _Compiled(_sandbox.from_string(text + "\n" if text.endswith("\n") else text), False, references)
    except TemplateSyntaxError as error:
        raise BadTemplate((error.message or "is no template").rstrip("."), error.lineno) from None
    except language.NotAvailable as error:
        raise BadTemplate(str(error), error.line) from None
    except RecursionError:
        raise BadTemplate("is nested too deeply") from None


def references(text: str) -> tuple[Reference, ...]:
    """The names that a template takes from outside, in the order of the text. Raises BadTemplate."""
    return _compiled(text).references


def is_alone(text: str) -> bool:
    """Whether the text is one expression alone. Raises BadTemplate."""
    return _compiled(text).alone


def evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """The value of a text in a scope. Raises BadTemplate, or ExpressionFailed with what is missing or too much."""
    if not is_template(text):
        return text
    compiled = _compiled(text)
    try:
        with budget():
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
    except (UndefinedError, SecurityError) as error:
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
