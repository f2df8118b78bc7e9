"""One's own request as a card: how it stands in words, the chain live with how long each has waited, and the buttons.

Values in, text and buttons out. What may be done is what the flags say that were read with the person's own key.
"""

from datetime import UTC, datetime

from bot import chain, comments
from bot.cards import Button
from bot.desk import Turn
from bot.dialogues.request_view import EVENTS
from bot.directory import Directory
from bot.texts import Texts, short
from bot.working_time import in_words, worked
from workspace_api.contract.finplan import Request

FIELD = 700
"""Characters shown of one free-text field."""

HISTORY = 12

MARKS = {"done": "✅", "next": "👉", "later": "▫️", "rejected": "❌", "spared": "▫️"}

OPEN = ("progress", "accept")
"""What an open request may be: on its way, or approved and not yet paid in full."""


async def parents_of(directory: Directory) -> dict[int, int | None]:
    """The structure as block → parent."""
    return {number: block.parent_id for number, block in (await directory.blocks()).items()}


async def money(turn: Turn, request: Request, amount: int | None) -> str:
    """A sum in the request's currency."""
    currency = (await turn.desk.directory.currencies()).get(request.currency_code or "")
    return turn.texts.money(amount, currency, request.currency_code)


async def in_short(turn: Turn, request: Request) -> str:
    """`Raised floor · €12,400`, plain."""
    return f"{comments.title(turn.texts, request)} · {await money(turn, request, request.sum)}"


async def whose_turn(turn: Turn, request: Request) -> str:
    """The names of those whose decision comes next; empty where it is nobody's turn."""
    directory = turn.desk.directory
    following = chain.next_block(request, await parents_of(directory))
    holders = [] if following is None else await directory.holders(following)
    return ", ".join([await directory.name(holder) for holder in holders])


async def status(turn: Turn, request: Request) -> str:
    """How it stands, in words."""
    texts = turn.texts
    if request.status == "progress":
        if chain.returned(request):
            return "↩️ " + texts.t("returned to work: change it and submit it again")
        names = await whose_turn(turn, request)
        return "⏳ " + (
            texts.t("waits for approval: %(names)s", names=names) if names else texts.t("waits for approval")
        )
    if request.status == "accept" and request.sum_paid:
        paid, whole = await money(turn, request, request.sum_paid), await money(turn, request, request.sum)
        return "💳 " + texts.t("approved, paid in part: %(paid)s of %(whole)s", paid=paid, whole=whole)
    if request.status == "accept":
        return "✅ " + texts.t("approved, waits for payment")
    if request.status == "paid":
        return "💳 " + texts.t("paid in full")
    if request.status == "reject":
        why = short(request.reject_text, 200)
        return "❌ " + (texts.t("rejected: %(why)s", why=why) if why else texts.t("rejected without a reason"))
    return str(request.status or "?")


async def text_of(turn: Turn, request: Request, *, head: str | None = None, question: str | None = None) -> str:
    """The card's text; `head` is a line on top (HTML), `question` one below (plain)."""
    directory, texts = turn.desk.directory, turn.texts
    category = (await directory.categories()).get(request.type or 0)
    block = (await directory.blocks()).get(request.author_block_id or 0)
    return texts.render(
        "my_request.html",
        head=head,
        question=question,
        title=short(request.name, 200) or texts.t("Request %(id)s", id=request.id),
        money=await money(turn, request, request.sum),
        category=category.name if category else None,
        status=await status(turn, request),
        period=texts.month(request.finplan),
        position=(block.position or block.name) if block else None,
        problem=short(request.problem, FIELD),
        solution=short(request.solution, FIELD),
        justification=short(request.economic_justification, FIELD),
        files=len(request.files or []),
        web_url=turn.desk.house.web_url,
        chain=await _chain(turn, request),
        comments=await comments.lines(turn.desk, texts, request.id or 0),
        history=await _history(texts, directory, request),
    )


async def _chain(turn: Turn, request: Request) -> list[dict[str, str]]:
    """Each block of the chain: who, and how long it took or has waited."""
    directory, texts = turn.desk.directory, turn.texts
    blocks = await directory.blocks()
    now = datetime.fromtimestamp(turn.now, UTC)
    found: list[dict[str, str]] = []
    for step in chain.steps(request, await parents_of(directory)):
        names = [await directory.name(holder) for holder in await directory.holders(step.block)]
        block = blocks.get(step.block)
        when = ""
        if step.standing == "next" and step.since is not None:
            when = texts.t("has waited %(long)s", long=in_words(texts, worked(step.since, now, texts.zone)))
        elif step.at is not None:
            when = texts.moment(step.at)
            if step.since is not None:
                took = in_words(texts, worked(step.since, step.at, texts.zone))
                when = texts.t("%(when)s, after %(long)s", when=when, long=took)
        found.append(
            {
                "mark": MARKS[step.standing],
                "names": await directory.name(step.by) if step.by else ", ".join(names),
                "position": (block.position or block.name or "") if block else "",
                "when": when,
            }
        )
    return found


async def _history(texts: Texts, directory: Directory, request: Request) -> list[dict[str, str]]:
    return [
        {
            "when": texts.moment(entry.creation_date),
            "who": await directory.name(entry.author_id),
            "what": texts.t(EVENTS.get(entry.type or "", entry.type or "")),
            "text": short(entry.text, 200),
        }
        for entry in (request.history or [])[-HISTORY:]
    ]


async def buttons(turn: Turn, request: Request) -> tuple[tuple[Button, ...], ...]:
    """What the author may do now; what the flags do not allow has no button."""
    own = turn.known().sealed_key is not None
    rows: list[tuple[Button, ...]] = []
    if own and request.can_edit and chain.returned(request):
        rows.append((Button(turn.t("Submit again"), "resubmit", style="success"),))
    following = chain.next_block(request, await parents_of(turn.desk.directory))
    if following is not None:
        rows.append((Button(turn.t("Remind"), "nudge"),))
    change: list[Button] = []
    if own and request.can_edit:
        change.append(Button(turn.t("Edit"), "edit"))
    if own:
        change.append(Button(turn.t("Copy into another month"), "copy_where"))
    rows.append(tuple(change))
    if own and request.can_remove:
        rows.append((Button(turn.t("Remove"), "remove"),))
    rows.append((Button(turn.t("‹ My requests"), "list"), Button(turn.t("Refresh"), "look")))
    return tuple(row for row in rows if row)
