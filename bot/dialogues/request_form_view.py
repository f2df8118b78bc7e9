"""What a request's form says: its questions, its text so far, and the state of its screens."""

from collections.abc import Mapping
from typing import Any

from bot.cards import Card
from bot.desk import Turn
from bot.dialogues.request_form_category import path
from bot.texts import sentence, short

DIALOGUE = "my_requests"

DRAFT = "draft"
"""What the cards of unfinished drafts are called by."""

SHOWN = 500
"""Characters of one text on the form."""

QUESTIONS = {
    "name": sentence("What is it for? Write a short name, such as “Two laser levels”."),
    "sum": sentence("How much is needed? Write the sum."),
    "author_block_id": sentence("In the name of which position do you ask?"),
    "type": sentence("Which category is it? Choose one, or type a word to search."),
    "finplan": sentence("For which month?"),
    "problem": sentence("What is the problem? Write what is missing or does not work."),
    "solution": sentence("What is the solution? Write what should be bought or done."),
    "economic_justification": sentence("Why is it worth the money? Write it, or skip it."),
}

LABELS = {
    "name": sentence("Name"),
    "sum": sentence("Amount"),
    "author_block_id": sentence("Position"),
    "type": sentence("Category"),
    "finplan": sentence("Month"),
    "problem": sentence("Problem"),
    "solution": sentence("Solution"),
    "economic_justification": sentence("Justification"),
}


def state(card: Card, screen: str, **members: Any) -> dict[str, Any]:
    """The state of a screen. `made`, the request that this card has created, stays for as long as the card does."""
    kept = {"made": card.state["made"]} if "made" in card.state else {}
    return {"screen": screen} | kept | members


async def currency_of(turn: Turn) -> str:
    """The company's main currency: the first of its list."""
    return next(iter(await turn.desk.directory.currencies()), "")


async def currency_note(turn: Turn) -> str:
    """Why a request's currency cannot be chosen: saving one takes none (part 1, §4.3)."""
    return turn.t("Requests are kept in the company's main currency, %(code)s.", code=await currency_of(turn))


async def money_of(turn: Turn, amount: int) -> str:
    """A sum in the main currency."""
    code = await currency_of(turn)
    return turn.texts.money(amount, (await turn.desk.directory.currencies()).get(code), code)


async def in_short(turn: Turn, draft: Mapping[str, Any]) -> str:
    """`Raised floor · €12,400`, as far as it is known; plain."""
    money = await money_of(turn, draft["sum"]) if "sum" in draft else ""
    return " · ".join(part for part in (short(draft.get("name"), 40), money) if part)


async def form_text(
    turn: Turn,
    draft: Mapping[str, Any],
    *,
    head: str | None = None,
    question: str | None = None,
    note: str | None = None,
) -> str:
    """The draft so far; `head` is HTML, `question` and `note` are plain."""
    categories = await turn.desk.directory.categories()
    category = categories.get(draft.get("type") or 0)
    blocks = await turn.desk.directory.blocks_of(turn.known().user_id)
    # A position is named only where there is a choice.
    block = (await turn.desk.directory.blocks()).get(draft.get("author_block_id") or 0) if len(blocks) > 1 else None
    return turn.texts.render(
        "request_form.html",
        head=head,
        question=question,
        note=note,
        name=draft.get("name"),
        money=await money_of(turn, draft["sum"]) if "sum" in draft else None,
        category=path(category, categories) if category else None,
        period=turn.texts.month(draft.get("finplan")) if draft.get("finplan") else "",
        position=(block.position or block.name) if block else None,
        problem=short(draft.get("problem"), SHOWN),
        solution=short(draft.get("solution"), SHOWN),
        justification=short(draft.get("economic_justification"), SHOWN),
    )
