"""A request as a card: what it shows, and which decisions its viewer may take. Values in, View out.

The flags are the viewer's own (read with their key); the block in whose name they act is found in the lists of the
request, never guessed.
"""

from dataclasses import dataclass
from typing import Any

from bot.cards import Button
from bot.directory import Directory
from bot.texts import Texts, sentence, short
from workspace_api.contract.finance import Currency
from workspace_api.contract.finplan import Request

FIELD = 700
"""Characters shown of one free-text field."""

HISTORY = 12


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision that the viewer may take now, in the name of `block`."""

    review_type: str
    block: int | None


def decisions(request: Request, blocks: list[int]) -> dict[str, Decision]:
    """What the viewer (holder of `blocks`) may do with a request, by button."""
    if request.status != "progress":
        return {}
    need = request.need_accept or []
    found: dict[str, Decision] = {}
    final = request.user_final_accept_block
    last_turn = need == [final] or (final in blocks and need[:1] == [final])
    if request.can_accept and not (request.can_accept_final and last_turn):
        found["accept"] = Decision("accept", _mine(need, blocks))
    if request.can_accept_final:
        found["accept_final"] = Decision("accept_final", final if final in blocks else _mine(need, blocks))
    if request.can_reject:
        found["reject"] = Decision("reject", _mine(request.rejected_block or need, blocks))
    if request.can_progress:
        found["progress"] = Decision("progress", _mine(request.progressed_blocks or need, blocks))
    return found


def _mine(candidates: list[int], blocks: list[int]) -> int | None:
    return next((block for block in candidates if block in blocks), None)


def waits_for_viewer(request: Request) -> bool:
    """Whether the viewer's decision is what comes next."""
    if request.status != "progress" or not request.need_accept:
        return False
    if request.is_need_accept_next is not None:
        return bool(request.is_need_accept_next and (request.can_accept or request.can_accept_final))
    return bool(request.can_accept)


def standing(request: Request) -> dict[str, Any]:
    """What must not have changed between the card and the decision, as JSON."""
    return {
        "status": request.status,
        "sum": request.sum,
        "sum_paid": request.sum_paid,
        "currency": request.currency_code,
        "need": sorted(request.need_accept or []),
        "history": len(request.history or []),
    }


async def body(texts: Texts, directory: Directory, request: Request, viewer: str, head: str | None) -> str:
    """The card's text; `head` is a line on top, such as the outcome (HTML)."""
    categories = await directory.categories()
    category = categories.get(request.type or 0)
    blocks = await directory.blocks()
    currency: Currency | None = (await directory.currencies()).get(request.currency_code or "")
    author_block = blocks.get(request.author_block_id or 0)
    return texts.render(
        "request.html",
        head=head,
        request=request,
        money=texts.money(request.sum, currency, request.currency_code),
        paid=texts.money(request.sum_paid, currency, request.currency_code) if request.sum_paid else None,
        category=category.name if category else None,
        author=await directory.name(request.author_id),
        author_position=(author_block.position or author_block.name) if author_block else None,
        period=texts.month(request.finplan),
        problem=short(request.problem, FIELD),
        solution=short(request.solution, FIELD),
        justification=short(request.economic_justification, FIELD),
        files=len(request.files or []),
        chain=await _chain(texts, directory, request, viewer),
        history=await _history(texts, directory, request),
        returned=request.status == "progress" and not request.need_accept,
    )


async def _following(directory: Directory, request: Request, viewer: str) -> int | None:
    """The block that decides next; None where the workspace does not keep the order of the chain."""
    need, required = request.need_accept or [], request.required_accept or []
    if request.is_need_accept_next:
        mine = set(await directory.blocks_of(viewer)) & set(need)
        if mine:
            return next(block for block in need if block in mine)
    # The final block stands last in a chain; where it does not, the order says nothing.
    if request.user_final_accept_block is not None and required[-1:] != [request.user_final_accept_block]:
        return None
    return next((block for block in required if block in need), None)


async def _chain(texts: Texts, directory: Directory, request: Request, viewer: str) -> list[dict[str, str]]:
    """Who stands where: done, next, later."""
    blocks = await directory.blocks()
    need = request.need_accept or []
    required = request.required_accept or []
    steps: list[dict[str, str]] = []
    ordered = [block for block in required if block not in need] + [block for block in required if block in need]
    following = await _following(directory, request, viewer)
    for number in ordered:
        holders = await directory.holders(number)
        names = ", ".join([texts.t("you") if holder == viewer else await directory.name(holder) for holder in holders])
        block = blocks.get(number)
        if number not in need:
            mark = "✅" if request.status in {"accept", "paid"} or need else "▫️"
            if request.status == "reject" and number == request.reject_block_id:
                mark = "❌"
        else:
            mark = "👉" if number == following and request.status == "progress" else "▫️"
        steps.append({"mark": mark, "position": (block.position or block.name or "") if block else "", "names": names})
    return steps


EVENTS = {
    "create": sentence("created"),
    "save": sentence("changed"),
    "accept": sentence("approved"),
    "accept_final": sentence("finally approved"),
    "reject": sentence("rejected"),
    "progress": sentence("returned to work"),
    "pay": sentence("paid"),
    "copy": sentence("copied"),
}
"""What a history entry's type means; the documents do not list them, so others are shown as they are."""


async def _history(texts: Texts, directory: Directory, request: Request) -> list[dict[str, str]]:
    entries = (request.history or [])[-HISTORY:]
    return [
        {
            "when": texts.moment(entry.creation_date),
            "who": await directory.name(entry.author_id),
            "what": texts.t(EVENTS.get(entry.type or "", entry.type or "")),
            "text": short(entry.text, 200),
        }
        for entry in entries
    ]


async def last_event(texts: Texts, directory: Directory, request: Request) -> tuple[str, str, str]:
    """Who did what last, and when; empty where the history tells nothing."""
    history = await _history(texts, directory, request)
    return (history[-1]["who"], history[-1]["what"], history[-1]["when"]) if history else ("", "", "")


def buttons(texts: Texts, possible: dict[str, Decision]) -> tuple[tuple[Button, ...], ...]:
    """Approve first, in green; what hurts last of the decisions."""
    rows: list[tuple[Button, ...]] = []
    first = [
        Button(texts.t("Approve"), "accept", style="success") if "accept" in possible else None,
        Button(texts.t("Final approve"), "accept_final", style="success" if "accept" not in possible else "primary")
        if "accept_final" in possible
        else None,
    ]
    second = [
        Button(texts.t("Reject"), "reject", style="danger") if "reject" in possible else None,
        Button(texts.t("Return to work"), "progress") if "progress" in possible else None,
    ]
    for row in (first, second):
        shown = tuple(button for button in row if button is not None)
        if shown:
            rows.append(shown)
    return tuple(rows)
