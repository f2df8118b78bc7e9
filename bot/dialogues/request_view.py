"""A request as a card: what it shows, and which decisions its viewer may take. Values in, View out.

The flags are the viewer's own (read with their key); the block in whose name they act is found in the lists of the
request, never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import chain, comments
from bot.cards import Button, Card
from bot.desk import Turn
from bot.directory import Directory
from bot.texts import Texts, sentence, short
from bot.working_time import in_words, worked
from workspace_api.contract.finance import Currency
from workspace_api.contract.finplan import Request

FIELD = 700
"""Characters shown of one free-text field."""

HISTORY = 12


def subject_of(request_id: int) -> str:
    """How cards and intents name a request."""
    return f"request:{request_id}"


def on_screen(card: Card, screen: str) -> Card:
    """The card on another screen than its request's: it does not follow the request meanwhile."""
    return replace(card.with_state(screen=screen), live=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision that the viewer may take now, in the name of `block`."""

    review_type: str
    block: int | None


def decisions(request: Request, blocks: list[int], viewer: str | None) -> dict[str, Decision]:
    """What the viewer (holder of `blocks`) may do with a request, by button; nobody decides about their own.

    A workspace may let them: its flags are those of a key, and a key of the owner's says yes to all.
    """
    if request.status != "progress" or request.author_id == viewer:
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


async def money(turn: Turn, request: Request) -> str:
    """The sum in the request's own currency."""
    currency = (await turn.desk.directory.currencies()).get(request.currency_code or "")
    return turn.texts.money(request.sum, currency, request.currency_code)


async def body(turn: Turn, request: Request, head: str | None = None, notes: Sequence[str] = ()) -> str:
    """The card's text; `head` is a line on top, such as the outcome, `notes` are lines below it (HTML)."""
    texts, directory = turn.texts, turn.desk.directory
    category = (await directory.categories()).get(request.type or 0)
    author_block = (await directory.blocks()).get(request.author_block_id or 0)
    currency: Currency | None = (await directory.currencies()).get(request.currency_code or "")
    return texts.render(
        "request.html",
        head="\n".join([line for line in (head, *notes) if line]) or None,
        request=request,
        money=await money(turn, request),
        paid=texts.money(request.sum_paid, currency, request.currency_code) if request.sum_paid else None,
        category=category.name if category else None,
        author=await directory.name(request.author_id),
        author_position=(author_block.position or author_block.name) if author_block else None,
        period=texts.month(request.finplan),
        problem=short(request.problem, FIELD),
        solution=short(request.solution, FIELD),
        justification=short(request.economic_justification, FIELD),
        files=len(request.files or []),
        web_url=turn.desk.house.web_url,
        chain=await _chain(turn, request),
        comments=await comments.lines(turn.desk, texts, request.id or 0),
        history=await _history(texts, directory, request),
        returned=chain.returned(request),
    )


MARKS = {"done": "✅", "next": "▫️", "later": "▫️", "rejected": "❌", "spared": "▫️"}


async def _chain(turn: Turn, request: Request) -> list[dict[str, str]]:
    """Who stands where, and how long each took or has waited, in working time."""
    texts, directory, viewer = turn.texts, turn.desk.directory, turn.known().user_id
    blocks = await directory.blocks()
    steps = chain.steps(request, {number: block.parent_id for number, block in blocks.items()})
    following = next((step for step in steps if step.standing == "next"), None)
    turn_of = await _own_turn(directory, request, viewer) or (following.block if following else None)
    found: list[dict[str, str]] = []
    for step in steps:
        holders = await directory.holders(step.block)
        names = [texts.t("you") if holder == viewer else await directory.name(holder) for holder in holders]
        block = blocks.get(step.block)
        is_next = following is not None and step.block == turn_of
        waited = ""
        if following is not None and is_next and following.since is not None:
            waited = in_words(texts, worked(following.since, turn.today, texts.zone))
            waited = texts.t("has waited %(long)s", long=waited)
        elif step.since is not None and step.at is not None:
            waited = texts.t("took %(long)s", long=in_words(texts, worked(step.since, step.at, texts.zone)))
        found.append(
            {
                "mark": "👉" if is_next else MARKS[step.standing],
                "position": (block.position or block.name or "") if block else "",
                "names": ", ".join(names),
                "waited": waited,
            }
        )
    return found


async def _own_turn(directory: Directory, request: Request, viewer: str) -> int | None:
    """The viewer's block, where the workspace itself says that it is next: it knows the order best."""
    if not request.is_need_accept_next:
        return None
    return _mine(request.need_accept or [], await directory.blocks_of(viewer))


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
