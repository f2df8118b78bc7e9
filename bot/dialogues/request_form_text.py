"""What a request's form holds, and what a text fills of it. Values in, values out.

`12000 raised floor` ─► sum and name        a draft ─► the step that is missing        a draft ─► the call that saves it
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bot import likeness
from bot.chain import above
from bot.days import dates
from bot.money_text import NotRepresentable, rounded, to_wire
from bot.periods import months
from bot.sums import sums
from workspace_api import calls
from workspace_api.contract.endpoint import Call
from workspace_api.contract.finance import TransactionCategory
from workspace_api.contract.finplan import Request

STEPS = ("name", "sum", "author_block_id", "type", "finplan", "problem", "solution", "economic_justification")
"""The fields of a request (part 1, §4.3) in the order in which they are asked for."""

LONGEST: Mapping[str, int] = {"name": 150, "problem": 2000, "solution": 2000, "economic_justification": 2000}
"""Characters that a text may have."""

AHEAD = 3
"""Months after this one that a request may be meant for."""

FOUND = 8
"""Categories that a typed word finds at the most."""

Draft = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum in whole currency units with the currency that was named, and the words around it."""

    amount: Decimal
    currency: str | None
    words: str


def sum_in(text: str, today: date, codes: Mapping[str, Any]) -> Sum | None:
    """The sum of a text and the words without it; None where there is none above nothing.

    Of several numbers the one with a currency is the sum, else the one that begins the text, else the one that ends it.
    """
    text = text.strip()
    found = list(sums(text, codes, [(day.start, day.end) for day in dates(text, today)]))
    if not found:
        return None
    chosen = min(found, key=lambda one: (one.currency is None, one.start != 0, one.end != len(text)))
    return Sum(chosen.amount, chosen.currency, f"{text[: chosen.start]} {text[chosen.end :]}".strip(" .,;:–—-"))


def on_wire(amount: Decimal, scale: int) -> int | None:
    """The sum as the workspace keeps it; None where it cannot keep this one."""
    try:
        return to_wire(amount, scale)
    except NotRepresentable:
        return None


def near(amount: Decimal, scale: int) -> tuple[int, ...]:
    """The sums on either side of one that cannot be kept, as the workspace keeps them."""
    return rounded(amount, scale)


def named(words: str) -> str:
    """A name from free words, with a capital."""
    plain = " ".join(words.split())
    return plain[:1].upper() + plain[1:]


def missing(draft: Draft) -> str | None:
    """The first step that has no answer yet; one that was skipped has an empty one."""
    return next((step for step in STEPS if step not in draft), None)


def before(step: str, asked: tuple[str, ...]) -> str | None:
    """The step before this one, of those that are asked."""
    earlier = [other for other in asked if STEPS.index(other) < STEPS.index(step)]
    return earlier[-1] if earlier else None


def months_ahead(today: datetime) -> list[str]:
    """This month and the next ones, as periods."""
    return months(today, 0, AHEAD)


def usable(
    categories: Mapping[int, TransactionCategory], block: int | None, parents: Mapping[int, int | None]
) -> dict[int, TransactionCategory]:
    """Categories of spending for a request from this block: everybody's, the block's own, those of blocks over it."""
    over = {block, *above(block, parents)}
    return {
        number: category
        for number, category in categories.items()
        if category.transaction_type == "out"
        and not category.is_archived
        and (category.block_id is None or category.block_id in over)
    }


def search(text: str, categories: Mapping[int, TransactionCategory]) -> list[int]:
    """Categories that a typed word finds, the best first."""
    return likeness.search(text, {number: category.name or "" for number, category in categories.items()})[:FOUND]


def likely(words: str, categories: Mapping[int, TransactionCategory]) -> list[int]:
    """Categories that the name of a request makes likely."""
    like = likeness.alike(words, {number: category.name or "" for number, category in categories.items()})
    return [number for number, score in like if score >= likeness.SURE][:3]


def sure(words: str, categories: Mapping[int, TransactionCategory]) -> int | None:
    """The category that the name of a request leaves no doubt about; the review shows it, where it can be changed."""
    return likeness.the_one(likeness.alike(words, {number: c.name or "" for number, c in categories.items()}))


def draft_of(request: Request) -> dict[str, Any]:
    """A request as a draft: what one edits."""
    return {step: getattr(request, step) for step in STEPS}


def changed(draft: Draft, original: Draft) -> dict[str, Any]:
    """What the draft says otherwise than the original."""
    return {step: draft[step] for step in STEPS if step in draft and draft[step] != original.get(step)}


def save_call(draft: Draft, request_id: int | None = None) -> Call[Request]:
    """The call that creates the request, or saves the one of this id. What was left empty is left out."""
    given = {step: value for step, value in draft.items() if step in STEPS and value is not None}
    if request_id is None:
        given = {step: value for step, value in given.items() if value != ""}
        return calls.finplan.request.save(**given)
    return calls.finplan.request.save(id=request_id, **given)


def same(request: Request, name: str, amount: int, finplan: str) -> bool:
    """Whether the request is what a form asked for; a period is compared by its month."""
    known = (" ".join((request.name or "").split()), request.sum, (request.finplan or "")[:7])
    return known == (" ".join(name.split()), amount, finplan[:7])
