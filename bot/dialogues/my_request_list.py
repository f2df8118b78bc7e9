"""The list of one's own requests: the open ones, or all of them, page by page."""

from dataclasses import replace

from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogues.my_request_calls import mine
from bot.dialogues.my_request_view import OPEN, in_short, status
from bot.dialogues.request_form_view import state
from bot.texts import short

PAGE = 6


async def show_list(turn: Turn, card: Card, *, page: int = 0, closed: bool = False) -> None:
    """A page of the list; `closed`: the paid and the rejected ones too."""
    found = [request for request in await mine(turn) if closed or request.status in OPEN]
    last = max(0, (len(found) - 1) // PAGE)
    page = min(max(page, 0), last)
    shown = found[page * PAGE : (page + 1) * PAGE]
    rows: list[tuple[Button, ...]] = [
        (Button(short(r.name, 50) or f"#{r.id}", "open", {"request": r.id, "finplan": r.finplan}),) for r in shown
    ]
    turning = [Button("‹", "list", {"page": page - 1, "closed": closed})] if page else []
    turning += [Button("›", "list", {"page": page + 1, "closed": closed})] if page < last else []
    rows.append(tuple(turning))
    other = turn.t("Open ones only") if closed else turn.t("Closed ones too")
    rows.append((Button(turn.t("New request"), "new"), Button(other, "list", {"closed": not closed})))
    rows.append((Button(turn.t("Copy last month's"), "copies"),))
    if closed:
        head = turn.texts.n("You have made %(count)d request", "You have made %(count)d requests", len(found))
    else:
        head = turn.texts.n("You have %(count)d open request", "You have %(count)d open requests", len(found))
    lines = [
        turn.texts.html(
            "<b>%(what)s</b>\n%(status)s · %(month)s",
            what=await in_short(turn, request),
            status=await status(turn, request),
            month=turn.texts.month(request.finplan),
        )
        for request in shown
    ]
    text = "\n\n".join([turn.texts.html("📨 <b>%(head)s</b>", head=head), *lines])
    members = {"page": page, "closed": closed}
    listed = replace(card, state=state(card, "list", **members), subject=None, live=False)
    turn.show(listed, View(text, tuple(row for row in rows if row)))
