"""Approving several: card ──(More, Approve several)──► list with check marks ──(Approve 4)──► receipts ──(Next)──► card

One call for each request, so there is no partial outcome; all intents are committed together with the card that shows
them (⏳ ✅ ⛔ ⚠️), so a crash loses none: what was not sent is sent or told after the restart. A request that changed
since it was listed, or is above the person's limit, is left out (➖) and told. A key that no review has proved yet
makes the first call alone; the others follow once it is known whose key it is.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from sqlalchemy import select

from bot import access
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogues.request_decide import intended, news_of, wrong_name
from bot.dialogues.request_queue import ACCEPTS, Reading, look
from bot.dialogues.request_view import decisions, money, on_screen, standing, subject_of
from bot.intents import Intent, Settled
from bot.operations import STALE
from bot.tables import intents
from bot.texts import sentence, short
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

PAGE = 6

MOST = 30
"""Requests approved at once: their receipts fit on one card."""

NAME = 40
"""Characters of a request's name on a button."""

Open = Callable[[Turn, Card], Awaitable[None]]

MARKS = {"open": "⏳", "later": "⏳", "done": "✅", "refused": "⛔", "checking": "⚠️", "not_seen": "⚠️", "left": "➖"}

WHY = {
    "changed": sentence("changed since you saw it: left out"),
    "gone": sentence("not for you to decide now: left out"),
    "limit": sentence("above your limit: approve it on its own card"),
    "busy": sentence("already under way elsewhere: left out"),
    "unproved": sentence("not sent: the first one has to be confirmed before it"),
    "late": sentence("not sent in time: approve it again"),
    "checking": sentence("not confirmed yet: I am checking, do not do it again"),
    "not_seen": sentence("did not reach the workspace: decide again"),
}


class Batch:
    """The list and the receipts. `back` shows the first card that waits."""

    def __init__(self, back: Open) -> None:
        self._back = back

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """Actions that begin with `several`."""
        chosen = [int(number) for number in card.state.get("chosen", [])]
        if action == "several":
            await self._open(turn, card)
        elif action == "several_page":
            await self.draw(turn, card.with_state(page=int(args["page"])))
        elif action == "several_all":
            every = [row["id"] for row in card.state["listed"] if not row["above"]][:MOST]
            await self.draw(turn, card.with_state(chosen=[] if set(every) <= set(chosen) else every))
        elif action == "several_mark":
            await self._mark(turn, card, chosen, int(args["id"]))
        elif action == "several_go" and chosen:
            await self._approve(turn, card, chosen)
        else:
            await self._back(turn, card)

    async def draw(self, turn: Turn, card: Card) -> None:
        """The list, or the receipts, as the card's state has them."""
        if card.state["screen"] == "receipts":
            await self._receipts(turn, card)
            return
        listed, chosen = list(card.state["listed"]), set(card.state["chosen"])
        pages = max(1, -(-len(listed) // PAGE))
        page = min(int(card.state["page"]), pages - 1)
        rows: list[tuple[Button, ...]] = [
            (Button(_label(row, row["id"] in chosen), "several_mark", {"id": row["id"]}),)
            for row in listed[page * PAGE : (page + 1) * PAGE]
        ]
        if pages > 1:
            before, after = Button("‹", "several_page", {"page": (page - 1) % pages}), (page + 1) % pages
            place = Button(f"{page + 1} / {pages}", "several_page", {"page": after})
            rows.append((before, place, Button("›", "several_page", {"page": after})))
        every = {row["id"] for row in listed if not row["above"]}
        label = turn.t("Choose none") if every and chosen >= every else turn.t("Choose all")
        rows.append((Button(label, "several_all"), Button(turn.t("‹ Back"), "several_back")))
        if chosen:
            words = turn.texts.n("Approve %(count)d", "Approve %(count)d", len(chosen))
            rows.append((Button(words, "several_go", style="success"),))
        text = turn.texts.html(
            "<b>%(title)s</b>\n%(count)s\n%(total)s",
            title=turn.t("Approve several"),
            count=turn.t("%(chosen)d of %(all)d chosen", chosen=len(chosen), all=len(listed)),
            total=await _total(turn, [row for row in listed if row["id"] in chosen]),
        )
        turn.show(card.with_state(page=page), View(text.rstrip(), tuple(rows)))

    async def _open(self, turn: Turn, card: Card) -> None:
        reading = await look(turn)
        listed = [
            {**await _row(turn, request), "above": _above(turn, request), "standing": standing(request)}
            for request in reading.queue({**card.state, "queue": "to_decide"})
            if _accept(request, reading) is not None
        ]
        await self.draw(turn, on_screen(card, "several").with_state(listed=listed, chosen=[], page=0))

    async def _mark(self, turn: Turn, card: Card, chosen: list[int], number: int) -> None:
        if any(row["above"] for row in card.state["listed"] if row["id"] == number):
            turn.toast(turn.t("This is above your limit: approve it on its own card."), alert=True)
        elif number in chosen:
            await self.draw(turn, card.with_state(chosen=[other for other in chosen if other != number]))
        elif len(chosen) >= MOST:
            turn.toast(turn.t("At most %(most)d at once.", most=MOST), alert=True)
        else:
            await self.draw(turn, card.with_state(chosen=[*chosen, number]))

    async def _approve(self, turn: Turn, card: Card, chosen: list[int]) -> None:
        """Commits to one call for each that is still as it was listed."""
        await turn.still_works_here()
        listed = [row for row in card.state["listed"] if row["id"] in chosen]
        receipts = [{**row, "state": "later", "said": ""} for row in listed]
        state = {**card.state, "receipts": receipts, "asked_at": turn.now, "listed": [], "chosen": []}
        await self._send(turn, on_screen(card.with_state(**state), "receipts"), proved=turn.known().key_proved)

    async def _send(self, turn: Turn, card: Card, *, proved: bool) -> None:
        """Intends those that come later: all of them, or the first alone where the key is not proved yet."""
        reading = await look(turn, fresh=True)
        receipts = [dict(row) for row in card.state["receipts"]]
        calls: list[Intended] = []
        for row in receipts:
            if row["state"] != "later" or (calls and not proved):
                continue
            request = reading.requests.get(row["id"])
            review_type = None if request is None else _accept(request, reading)
            why = self._why_not(turn, row, request, review_type)
            if why is not None or request is None or review_type is None:
                row |= {"state": "left", "said": why or "gone"}
                continue
            row["state"] = "open"
            named = {"name": row["name"], "money": row["money"]}
            calls.append(intended(turn, request, review_type, reading, batch=named))
        await self._receipts(turn, card.with_state(receipts=receipts), calls)

    def _why_not(self, turn: Turn, row: dict[str, Any], request: Request | None, review_type: str | None) -> str | None:
        """Why a listed request is left out: a key of WHY."""
        if request is None or review_type is None:
            return "gone"
        if standing(request) != row["standing"]:
            return "changed"
        if _above(turn, request):
            return "limit"
        return "busy" if _busy(turn, row["id"]) else None

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """One more receipt. The workspace's own answer is used, so that no further reading can lose it."""
        number = int(intent.body["requestIds"][0])
        outcome, said, proved = await _outcome(turn, intent, settled, number)
        shown: list[dict[str, Any]] = card.state["receipts"] if card.state.get("screen") == "receipts" else []
        if number not in {row["id"] for row in shown if row["state"] in {"open", "checking"}}:
            # The person has gone on: the receipt comes as a message of its own.
            if settled.kind != "checking":
                turn.say(_line(turn, {**intent.before["batch"], "state": outcome, "said": said}))
            return
        receipts = [dict(row) for row in shown]
        for row in receipts:
            if row["id"] == number:
                row |= {"state": outcome, "said": said}
        card = card.with_state(receipts=receipts)
        if settled.kind == "checking" or all(row["state"] != "later" for row in receipts):
            await self._receipts(turn, card)
            return
        why = "" if outcome == "done" and proved else "unproved"
        if not why and turn.now - float(card.state["asked_at"]) > STALE:
            why = "late"
        if not why:
            try:
                await self._send(turn, card, proved=True)
            except (WorkspaceError, Refusal, VaultError):
                why = "late"
        if why:
            left = [row | {"state": "left", "said": why} if row["state"] == "later" else row for row in receipts]
            await self._receipts(turn, card.with_state(receipts=left))

    async def _receipts(self, turn: Turn, card: Card, calls: Sequence[Intended] = ()) -> None:
        receipts = list(card.state["receipts"])
        done = sum(row["state"] == "done" for row in receipts)
        over = not any(row["state"] in {"open", "later"} for row in receipts)
        title = turn.t("%(done)d of %(all)d approved", done=done, all=len(receipts))
        lines = [turn.texts.html("%(mark)s <b>%(title)s</b>", mark="🧾" if over else "⏳", title=title)]
        lines += [_line(turn, row) for row in receipts]
        rows = ((Button(turn.t("Next ›"), "next", style="primary"),),) if over else ()
        turn.show(card, View("\n".join(lines), rows), intend=calls)


async def _outcome(turn: Turn, intent: Intent, settled: Settled, number: int) -> tuple[str, str, bool]:
    """The receipt's state, its words, and whether this review proves the key to be the person's own."""
    if settled.kind == "refused":
        return "refused", settled.message, False
    if settled.kind != "done":
        return ("checking" if settled.kind == "checking" else "not_seen"), "", False
    request = _answered(settled, number)
    wrong = None if request is None else await wrong_name(turn, request, intent)
    if wrong is not None:
        return "refused", wrong, False
    news = [] if request is None else news_of(request, intent)
    mine = any(entry.author_id == turn.known().user_id for entry in news)
    return "done", turn.texts.moment(turn.today), mine or turn.known().key_proved


def _line(turn: Turn, row: dict[str, Any]) -> str:
    said, state = row["said"], row["state"]
    if state in {"checking", "not_seen"}:
        said = turn.t(WHY[state])
    elif state == "left":
        said = turn.t(WHY[said])
    return turn.texts.html(
        "%(mark)s %(name)s · %(money)s%(said)s",
        mark=MARKS[state],
        name=row["name"],
        money=row["money"],
        said=f" — {short(said, 120)}" if said else "",
    )


def _label(row: dict[str, Any], is_chosen: bool) -> str:
    mark = "🔒" if row["above"] else "✅" if is_chosen else "▫️"
    return f"{mark} {row['money']} · {row['name']}"


async def _row(turn: Turn, request: Request) -> dict[str, Any]:
    return {
        "id": request.id,
        "name": short(request.name, NAME) or turn.t("Request %(id)s", id=request.id),
        "money": await money(turn, request),
        "sum": request.sum or 0,
        "currency": request.currency_code,
    }


async def _total(turn: Turn, rows: Sequence[dict[str, Any]]) -> str:
    """The sum of each currency."""
    currencies = await turn.desk.directory.currencies()
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["currency"] or ""] = sums.get(row["currency"] or "", 0) + int(row["sum"])
    return " + ".join(turn.texts.money(amount, currencies.get(code), code) for code, amount in sums.items())


def _accept(request: Request, reading: Reading) -> str | None:
    """How this person approves it: in their turn, else finally; None where they may not."""
    possible = decisions(request, list(reading.blocks), reading.user_id)
    return next((name for name in ACCEPTS if name in possible), None)


def _above(turn: Turn, request: Request) -> bool:
    return bool(access.steps(turn, request.sum or 0))


def _busy(turn: Turn, number: int) -> bool:
    """Whether a decision of this person about the request is under way on another card."""
    subject = f"{subject_of(number)}:{turn.known().user_id}"
    open_ones = select(intents.c.id).where(
        intents.c.subject == subject, intents.c.state.in_(("open", "sending", "unknown"))
    )
    with turn.desk.db.read() as connection:
        return connection.execute(open_ones).first() is not None


def _answered(settled: Settled, number: int) -> Request | None:
    """The request in the workspace's answer to the review, which is a list of requests (part 1, §4.3)."""
    # JSON as it came over the wire: the records check it.
    data: object = settled.data
    found = cast("list[object]", data) if isinstance(data, list) else []
    requests = [Request.model_validate(value) for value in found]
    return next((request for request in requests if request.id == number), None)
