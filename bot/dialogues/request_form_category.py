"""Which category a request is for: likely ones first, then the tree level by level; a typed word searches."""

from collections.abc import Mapping
from typing import Any

from bot import choices
from bot.cards import Button
from bot.desk import Turn
from bot.dialogues.my_request_view import parents_of
from bot.dialogues.request_form_text import likely, search, usable
from workspace_api.contract.finance import TransactionCategory

KIND = "request_category"
"""Under which name the choices are remembered."""

PAGE = 8

Rows = tuple[tuple[Button, ...], ...]


async def categories_for(turn: Turn, block: int | None) -> dict[int, TransactionCategory]:
    """The categories that a request in the name of this block may have."""
    directory = turn.desk.directory
    return usable(await directory.categories(), block, await parents_of(directory))


def path(category: TransactionCategory, categories: Mapping[int, TransactionCategory]) -> str:
    """`Transport › Taxi`"""
    above = categories.get(category.parent_id or 0)
    return f"{above.name} › {category.name}" if above else category.name or "?"


def found(text: str, categories: Mapping[int, TransactionCategory]) -> Rows:
    """What a typed word means."""
    return tuple((_choose(number, path(categories[number], categories)),) for number in search(text, categories))


def tree(
    turn: Turn, categories: Mapping[int, TransactionCategory], words: str, parent: int | None = None, page: int = 0
) -> Rows:
    """One level of the tree; on top of the first page what the words and earlier choices make likely."""
    rows: list[tuple[Button, ...]] = []
    if parent is None and page == 0:
        recent = [number for number, _ in choices.ranked(turn, KIND, categories, used_only=True)][:4]
        first = list(dict.fromkeys([*likely(words, categories), *recent]))[:5]
        rows += [(_choose(number, f"★ {path(categories[number], categories)}"),) for number in first]
    if parent is not None:
        rows.append((_choose(parent, turn.t("Just “%(name)s”", name=categories[parent].name or "")),))
    parents = {category.parent_id for category in categories.values()}
    level = [n for n, c in categories.items() if (c.parent_id if c.parent_id in categories else None) == parent]
    for number in level[page * PAGE : (page + 1) * PAGE]:
        name = categories[number].name or "?"
        rows.append((_open(f"{name} ›", number) if number in parents else _choose(number, name),))
    turning = [_open("‹", parent, page - 1)] if page else []
    turning += [_open("›", parent, page + 1)] if len(level) > (page + 1) * PAGE else []
    rows.append(tuple(turning))
    if parent is not None:
        above = categories[parent].parent_id
        rows.append((_open(turn.t("‹ Up"), above if above in categories else None),))
    return tuple(row for row in rows if row)


def _choose(number: int, label: str) -> Button:
    return Button(label, "set", {"step": "type", "value": number})


def _open(label: str, parent: int | None, page: int = 0) -> Button:
    args: dict[str, Any] = {"step": "type", "parent": parent, "page": page}
    return Button(label, "ask", args)
