"""The part of Jinja2 that automations speak: what may stand in a template, and bounded operators, filters and calls.

Left out on purpose: macros, includes, recursive loops, `namespace`, formatting with `%` and `.format`, padding and
random filters: either they have no bound, or they give another value when a run is taken up again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from decimal import ROUND_HALF_UP, Decimal
from types import BuiltinMethodType, MethodType
from typing import Any, cast

from jinja2 import TemplateSyntaxError, Undefined, nodes
from jinja2.utils import pass_environment

from automations.budget import LARGEST_POWER, LARGEST_RANGE, MOST_WORK, TooMuch, built, counted, text_of
from automations.errors import did_you_mean
from automations.filters import FILTERS
from automations.shapes import is_iterable, is_list, is_map
from automations.values import json_text

LONGEST_TEMPLATE = 64_000
LARGEST_EXPONENT = 300
"""Of a decimal, as of a float."""

_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.Name, nodes.Const,
    nodes.List, nodes.Dict, nodes.Pair, nodes.Tuple, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Filter,
    nodes.Test, nodes.Call, nodes.Keyword, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not,
    nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow,
    nodes.Concat,
)  # fmt: skip

INSTEAD: Mapping[type[nodes.Node], tuple[str, str]] = {
    nodes.Macro: ("a macro", "write it out where it is needed"),
    nodes.CallBlock: ("a call block", "write it out where it is needed"),
    nodes.Include: ("an include", "write the text out"),
    nodes.Import: ("an import", "write the text out"),
    nodes.FromImport: ("an import", "write the text out"),
    nodes.Extends: ("extends", "write the text out"),
    nodes.Block: ("a block", "write the text out"),
    nodes.FilterBlock: ("a filter block", "put the filter behind the value, as in {{ vars.name | upper }}"),
    nodes.AssignBlock: ("a set block", "write {% set name = ... %}"),
    nodes.NSRef: ("a namespace", "sum, select and map work on a whole list"),
    nodes.Scope: ("autoescape", "a page escapes by itself"),
    nodes.With: ("with", "write {% set name = ... %}"),
}
"""What is left out of the language, and what to write in its place."""

TESTS = frozenset(
    {
        "!=", "<", "<=", "==", ">", ">=", "boolean", "defined", "divisibleby", "eq", "equalto", "even", "false",
        "float", "ge", "greaterthan", "gt", "in", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping",
        "ne", "none", "number", "odd", "sameas", "sequence", "string", "true", "undefined", "upper",
    }
)  # fmt: skip

JINJAS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "filesizeformat", "first", "float", "groupby", "int",
    "items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "select",
    "selectattr", "sort", "string", "striptags", "title", "trim", "truncate", "unique", "upper", "urlencode",
    "wordcount",
)  # fmt: skip
"""The filters that are Jinja's own."""

BOUNDED = ("join", "replace", "round", "sum", "tojson")
"""Jinja's filters in a form that is bounded, or exact."""

METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        {
            "upper", "lower", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith",
            "removeprefix", "removesuffix", "title", "capitalize", "isdigit", "isalpha", "count", "find",
        }
    ),
    dict: frozenset({"get", "keys", "values", "items"}),
    list: frozenset({"index", "count"}),
}  # fmt: skip
"""The methods that may be called, by the type that has them."""

_METHOD_NAMES = frozenset(name for names in METHODS.values() for name in names)
TAKES_NAMES = {"map": (0, "filter"), "select": (0, "test"), "reject": (0, "test"), "selectattr": (1, "test"),
            "rejectattr": (1, "test")}  # fmt: skip
"""The filters that are given the name of a filter or a test, and where."""


FILTER_NAMES = frozenset({*JINJAS, *BOUNDED, *FILTERS})


class NotAvailable(Exception):
    """A part of Jinja2 that automations do not speak."""

    def __init__(self, message: str, line: int | None) -> None:
        # Jinja knows no line of some of its nodes.
        self.line = line or 1
        super().__init__(message)


def filter_names() -> list[str]:
    """All filters of the language, sorted."""
    return sorted(FILTER_NAMES)


def _known(kind: str, name: str, line: int) -> None:
    if name not in (FILTER_NAMES if kind == "filter" else TESTS):
        names = filter_names() if kind == "filter" else sorted(TESTS)
        hint = did_you_mean(name, names) or f"; LANGUAGE.md lists the {kind}s that there are"
        raise NotAvailable(f"there is no {kind} {name}{hint}", line)


def _hidden(name: object, line: int) -> None:
    if isinstance(name, str) and "__" in name and any(part.startswith("__") for part in name.split(".")):
        raise NotAvailable(f"{name} is out of reach: names that start with __ are no data", line)


def _called(node: nodes.Call) -> None:
    called = node.node
    if isinstance(called, nodes.Getattr):
        if called.attr not in _METHOD_NAMES:
            hint = did_you_mean(called.attr, _METHOD_NAMES) or "; LANGUAGE.md lists the methods that can"
            raise NotAvailable(f"{called.attr}() cannot be called{hint}", node.lineno)
    elif not (isinstance(called, nodes.Name) and called.name == "range"):
        name = f"{called.name}()" if isinstance(called, nodes.Name) else "this"
        hint = ""
        if isinstance(called, nodes.Name) and called.name in filter_names():
            hint = f"; did you mean the filter, as in {{{{ value | {called.name} }}}}?"
        raise NotAvailable(f"{name} cannot be called{hint or ': range is the only function'}", node.lineno)


def _filter(node: nodes.Filter) -> None:
    _no_stars(node)
    _known("filter", node.name, node.lineno)
    place, kind = TAKES_NAMES.get(node.name, (-1, ""))
    if 0 <= place < len(node.args) and isinstance(given := node.args[place], nodes.Const):
        _known(kind, str(given.value), node.lineno)
    for argument in (*node.args, *(keyword.value for keyword in node.kwargs)):
        if isinstance(argument, nodes.Const):
            _hidden(argument.value, node.lineno)


def _call(node: nodes.Call) -> None:
    _no_stars(node)
    _called(node)


def _no_stars(node: nodes.Call | nodes.Filter) -> None:
    if node.dyn_args or node.dyn_kwargs:
        raise NotAvailable("* and ** are not available in calls: write the values out", node.lineno)


def _for(node: nodes.For) -> None:
    if node.recursive:
        raise NotAvailable("recursive loops are not available in templates: write one loop for each level", node.lineno)


def _name(node: nodes.Name) -> None:
    if node.name.startswith("_"):
        raise NotAvailable(f"{node.name} is no name: names do not start with _", node.lineno)


def _getitem(node: nodes.Getitem) -> None:
    if isinstance(node.arg, nodes.Const):
        _hidden(node.arg.value, node.lineno)


def _mod(node: nodes.Mod) -> None:
    if isinstance(node.left, nodes.Const) and isinstance(node.left.value, str):
        raise NotAvailable("% does not format text here: join with ~", node.lineno)


CHECKS: Mapping[type[nodes.Node], Callable[[Any], None] | None] = {
    **dict.fromkeys(_NODES),
    nodes.Call: _call,
    nodes.Filter: _filter,
    nodes.Test: lambda node: _known("test", node.name, node.lineno),
    nodes.For: _for,
    nodes.Name: _name,
    nodes.Getattr: lambda node: _hidden(node.attr, node.lineno),
    nodes.Getitem: _getitem,
    nodes.Mod: _mod,
}
"""The nodes of the language, and what else has to hold for one."""


def check(node: nodes.Node) -> None:
    """Refuses a node (not those within it) that has no bound, is unknown or out of reach. Raises NotAvailable."""
    kind = type(node)
    if kind not in CHECKS:
        what, instead = INSTEAD.get(kind, (kind.__name__.lower(), "say it with values, filters, if and for"))
        raise NotAvailable(f"{what} is not available in templates: {instead}", node.lineno)
    further = CHECKS[kind]
    if further is not None:
        further(node)


def turns(loop: nodes.For) -> int:
    """How often a loop over a range of written numbers turns; 1 where that is not known."""
    over = loop.iter
    if not isinstance(over, nodes.Call) or not all(isinstance(bound, nodes.Const) for bound in over.args):
        return 1
    bounds = [cast("nodes.Const", bound).value for bound in over.args]
    if not 1 <= len(bounds) <= 3 or not all(isinstance(bound, int) for bound in bounds) or bounds[2:] == [0]:
        return 1
    return max(len(range(*bounds)), 1)


def loops(count: int, line: int) -> None:
    """Refuses loops within loops that would not end in time. Raises NotAvailable."""
    if count > MOST_WORK:
        raise NotAvailable(f"would turn {count:,} times, more than {MOST_WORK:,}: loop over less", line)


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _skipped(node: nodes.Node) -> nodes.Expr | None:
    """`steps.gate.skipped` and `.failed` ask the run, not the step's value, which is what the workspace answered."""
    if isinstance(node, nodes.Getattr) and node.attr in {"skipped", "failed"} and isinstance(node.node, nodes.Getattr):
        step = node.node
        if isinstance(step.node, nodes.Name) and step.node.name == "steps":
            name = nodes.Name(f"_{node.attr}", "load", lineno=node.lineno)
            return nodes.Getitem(name, nodes.Const(step.attr), "load", lineno=node.lineno)
    return None


def _bound(node: nodes.Node) -> nodes.Node:
    for field, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            setattr(node, field, _bound(value))
        elif is_list(value):
            setattr(node, field, [_bound(part) if isinstance(part, nodes.Node) else part for part in value])
    if isinstance(node, nodes.For):
        node.iter = _filtered(cast("nodes.Expr", node.iter), "_counted")
    elif isinstance(node, nodes.Concat):
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "_concat")
    elif isinstance(node, (nodes.List, nodes.Dict)):
        return _filtered(node, "_built")
    return _skipped(node) or node


def bounded(tree: nodes.Template) -> nodes.Template:
    """The tree with loops, literals and `~` routed through the budget."""
    _bound(tree)
    return tree


def may_call(value: Any) -> bool:
    """Only `range`, the bounded filters' own helpers, and harmless methods of texts, maps and lists."""
    if value is bounded_range:
        return True
    if isinstance(value, (MethodType, BuiltinMethodType)):
        return value.__name__ in METHODS.get(type(value.__self__), frozenset())
    return False


def bounded_range(*bounds: int) -> range:
    """`range`, no longer than LARGEST_RANGE."""
    numbers = range(*bounds)
    if len(numbers) > LARGEST_RANGE:
        raise TooMuch(f"range is longer than {LARGEST_RANGE:,}")
    return numbers


def as_value(value: Any) -> Any:
    """What may leave an expression: JSON's types and Decimal; ranges and generators become lists."""
    if value is None or isinstance(value, (bool, int, float, str, Decimal)):
        return value
    if is_map(value):
        return built(dict(value))
    if is_iterable(value):
        return built(list(counted(value)))
    raise TypeError(f"a {type(value).__name__} is no value")


def _numbers(left: Any, right: Any) -> tuple[Any, Any]:
    """A float beside a Decimal becomes one, so that rates stay exact."""
    if isinstance(left, Decimal) and isinstance(right, float):
        return left, Decimal(repr(right))
    if isinstance(right, Decimal) and isinstance(left, float):
        return Decimal(repr(left)), right
    return left, right


def _fits(value: Any) -> Any:
    """The value, where it is no decimal of hundreds of digits, which costs more than it says."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > LARGEST_EXPONENT:
        raise TooMuch("makes a number that is too large or too small")
    return value


def _length(value: Any) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _add(left: Any, right: Any) -> Any:
    text_of(_length(left) + _length(right))
    left, right = _numbers(left, right)
    return left + right


def _multiply(left: Any, right: Any) -> Any:
    for one, times in ((left, right), (right, left)):
        if isinstance(one, (str, list, tuple)):
            text_of(_length(cast("Any", one)) * max(int(times), 0))
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > 4096:
        raise TooMuch("makes a number that is too large")
    left, right = _numbers(left, right)
    return _fits(left * right)


def _power(left: Any, right: Any) -> Any:
    if abs(right) > LARGEST_POWER or (isinstance(left, int) and left.bit_length() * abs(right) > 4096):
        raise TooMuch("makes a number that is too large")
    left, right = _numbers(left, right)
    return _fits(left**right)


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise TypeError("% does not format text here: join with ~")
    left, right = _numbers(left, right)
    return left % right


def _minus(left: Any, right: Any) -> Any:
    left, right = _numbers(left, right)
    return left - right


def _divide(left: Any, right: Any) -> Any:
    left, right = _numbers(left, right)
    return _fits(left / right)


def _floor(left: Any, right: Any) -> Any:
    left, right = _numbers(left, right)
    return left // right


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": _add, "-": _minus, "*": _multiply, "/": _divide, "//": _floor, "%": _modulo, "**": _power,
}  # fmt: skip


def _joined(parts: Iterable[Any], separator: str = "", show: Callable[[Any], Any] = str) -> str:
    texts: list[str] = []
    length = 0
    for part in counted(parts):
        if isinstance(part, Undefined):
            str(part)  # raises: strict names
        texts.append(str(show(part)))
        length += len(texts[-1]) + len(separator)
        text_of(length)
    return separator.join(texts)


@pass_environment
def _join(environment: Any, value: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    items: Iterable[Any] = value
    if attribute is not None:
        items = (environment.getattr(item, attribute) for item in items)
    return _joined(items, separator, environment.finalize)


@pass_environment
def _concat(environment: Any, parts: list[Any]) -> str:
    return _joined(parts, "", environment.finalize)


def _replace(text: Any, old: str, new: str) -> str:
    whole = str(text)
    times = whole.count(old) if old else len(whole) + 1
    text_of(len(whole) + times * max(len(new) - len(old), 0))
    return whole.replace(old, new)


def _round(value: Any, digits: int = 0) -> Any:
    if not -15 <= digits <= 15:
        raise ValueError("round takes -15 to 15 digits")
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return round(value, digits)


def _sum(values: Iterable[Any], attribute: str | None = None) -> Any:
    total: Any = 0
    for value in counted(values):
        number: Any = cast("Mapping[str, Any]", value)[attribute] if attribute is not None else value
        if not isinstance(number, (int, float, Decimal)):
            raise TypeError(f"sum takes numbers, not {type(number).__name__}")
        total = _add(total, number)
    return total


def _tojson(value: Any, indent: int | None = None) -> str:
    return json_text(built(value), min(indent, 8) if indent else None)


def _counted_loop(items: Iterable[Any]) -> Iterator[Any]:
    yield from counted(items)


def filters(defaults: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """The filters of the language by name; those that start with `_` are put in by `bounded`."""
    ours: dict[str, Callable[..., Any]] = {
        "join": _join, "replace": _replace, "round": _round, "sum": _sum, "tojson": _tojson,
        "_concat": _concat, "_built": built, "_counted": _counted_loop,
    }  # fmt: skip
    return {name: defaults[name] for name in JINJAS} | dict(FILTERS) | ours


__all__ = [
    "FILTER_NAMES",
    "LONGEST_TEMPLATE",
    "OPERATORS",
    "TAKES_NAMES",
    "TESTS",
    "NotAvailable",
    "TemplateSyntaxError",
    "as_value",
    "bounded",
    "bounded_range",
    "check",
    "filter_names",
    "filters",
    "loops",
    "may_call",
    "turns",
]  # fmt: skip
