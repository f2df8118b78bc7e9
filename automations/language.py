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

from automations.budget import LARGEST_POWER, LARGEST_RANGE, TooMuch, built, counted, text_of
from automations.shapes import is_iterable, is_list, is_map
from automations.values import json_text

LONGEST_TEMPLATE = 64_000

_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.Name, nodes.Const,
    nodes.List, nodes.Dict, nodes.Pair, nodes.Tuple, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Filter,
    nodes.Test, nodes.Call, nodes.Keyword, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not,
    nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow,
    nodes.Concat,
)  # fmt: skip

TESTS = frozenset(
    [
        "!=",
        "<",
        "<=",
        "==",
        ">",
        ">=",
        "boolean",
        "defined",
        "divisibleby",
        "eq",
        "equalto",
        "even",
        "false",
        "float",
        "ge",
        "greaterthan",
        "gt",
        "in",
        "integer",
        "iterable",
        "le",
        "lessthan",
        "lower",
        "lt",
        "mapping",
        "ne",
        "none",
        "number",
        "odd",
        "sameas",
        "sequence",
        "string",
        "true",
        "undefined",
        "upper",
    ]
)

_FILTERS = [
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "filesizeformat",
    "first",
    "float",
    "groupby",
    "int",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
    "sort",
    "string",
    "striptags",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "urlencode",
    "wordcount",
]

_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        [
            "upper",
            "lower",
            "strip",
            "lstrip",
            "rstrip",
            "split",
            "rsplit",
            "splitlines",
            "startswith",
            "endswith",
            "removeprefix",
            "removesuffix",
            "title",
            "capitalize",
            "isdigit",
            "isalpha",
            "count",
            "find",
        ]
    ),
    dict: frozenset({"get", "keys", "values", "items"}),
    list: frozenset({"index", "count"}),
}


class NotAvailable(Exception):
    """A part of Jinja2 that automations do not speak."""

    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(message)


def check(tree: nodes.Template) -> None:
    """Refuses what has no bound. Raises NotAvailable."""
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _NODES):
            raise NotAvailable(f"{type(node).__name__.lower()} is not available in templates", node.lineno)
        if isinstance(node, nodes.For) and node.recursive:
            raise NotAvailable("recursive loops are not available in templates", node.lineno)
        if isinstance(node, nodes.Name) and node.name.startswith("_"):
            raise NotAvailable(f"{node.name} is no name: names do not start with _", node.lineno)
        if isinstance(node, (nodes.Call, nodes.Filter)) and (node.dyn_args or node.dyn_kwargs):
            raise NotAvailable("* and ** are not available in calls", node.lineno)


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _skipped(node: nodes.Node) -> nodes.Expr | None:
    """`steps.gate.skipped` asks the run and not the step's value, which is whatever the workspace answered."""
    if isinstance(node, nodes.Getattr) and node.attr == "skipped" and isinstance(node.node, nodes.Getattr):
        step = node.node
        if isinstance(step.node, nodes.Name) and step.node.name == "steps":
            name = nodes.Name("_skipped", "load", lineno=node.lineno)
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
        return value.__name__ in _METHODS.get(type(value.__self__), frozenset())
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
    return left * right


def _power(left: Any, right: Any) -> Any:
    if abs(right) > LARGEST_POWER or (isinstance(left, int) and left.bit_length() * abs(right) > 4096):
        raise TooMuch("makes a number that is too large")
    left, right = _numbers(left, right)
    return left**right


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
    return left / right


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
    return {name: defaults[name] for name in _FILTERS} | ours


__all__ = [
    "LONGEST_TEMPLATE", "OPERATORS", "TESTS", "NotAvailable", "TemplateSyntaxError", "as_value", "bounded",
    "bounded_range", "check", "filters", "may_call",
]  # fmt: skip
