"""Picking from JSON with JMESPath, bounded: `items[?active].{id: id, name: name}`.

Whatever an expression gives is a part of what is there, unless it puts together anew: `[a, b]` and `{a: b}` may name
the same part several times, one within the other. How often is told by the expression alone, and has a limit.
"""

from functools import lru_cache
from typing import Any

from automations.errors import StepFailed
from automations.shapes import is_list

LONGEST = 1_000
MOST_COPIES = 200
"""How many times an expression may name what it picks from."""


class BadPick(ValueError):
    """The expression is no JMESPath, or puts too much together."""


def _copies(node: Any) -> int:
    """How often the same part may turn up in what a node of the syntax tree gives."""
    children = [_copies(child) for child in node["children"] if isinstance(child, dict)]
    if node["type"] in {"multi_select_list", "multi_select_dict"}:
        return max(sum(children), 1)
    product = 1
    for child in children:
        product *= child
    return product


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    import jmespath  # type: ignore[import-untyped]  # the library has no types

    if len(expression) > LONGEST:
        raise BadPick(f"is longer than {LONGEST:,} characters")
    try:
        compiled: Any = jmespath.compile(expression)
        copies = _copies(compiled.parsed)
    except ValueError as error:
        first = str(error).partition("\n")[0].strip().rstrip(":")
        raise BadPick(f"is no JMESPath: {first}") from None
    except RecursionError:
        raise BadPick("is nested too deeply") from None
    if copies > MOST_COPIES:
        raise BadPick(f"names what it picks from more than {MOST_COPIES} times")
    return compiled


def checked(expression: str) -> str:
    """The expression, if it is one. Raises BadPick."""
    _compiled(expression)
    return expression


def picked(expression: str, value: Any) -> Any:
    """What the expression picks; null where there is nothing. Raises StepFailed where types do not fit."""
    try:
        found: Any = _compiled(expression).search(value)
    except ValueError as error:  # what the library's own errors are
        raise StepFailed(f"pick: {str(error).partition(chr(10))[0][:300]}") from None
    except (TypeError, RecursionError) as error:
        raise StepFailed(f"pick: cannot be done here ({type(error).__name__})") from None
    return list(found) if is_list(found) else found
