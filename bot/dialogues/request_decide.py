"""One decision: (Approve, Final approve) ──above the limit──► type the amount ─┬─► working ──► outcome
                 (Reject) ──► why? ──text or one of the last reasons─────────┤
                 (Return to work) ──► note? ──text or (Without a note)───────┘

A card is decided on fresh state, read with the person's own key right before the call; what changed since the card was
shown is shown first.
"""

from typing import Any, Protocol

from bot import access, people
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogues import request_reasons as reasons
from bot.dialogues.request_queue import Reading, look, shown
from bot.dialogues.request_view import body, decisions, last_event, money, standing, subject_of
from bot.incoming import Tapped
from bot.intents import Intent, Settled, Verdict
from bot.periods import request_by_id
from bot.texts import sentence, short
from workspace_api import WorkspaceError, calls
from workspace_api.contract.endpoint import Call
from workspace_api.contract.finplan import Request, RequestHistory

DECISIONS = ("accept", "accept_final", "reject", "progress")

CONFIRM = "confirm_"
"""Begins the question for the amount; the decision follows."""

WORKING = {
    "accept": sentence("Approving …"),
    "accept_final": sentence("Approving finally …"),
    "reject": sentence("Rejecting …"),
    "progress": sentence("Returning to work …"),
}

DONE = {
    "accept": sentence("Approved by you"),
    "accept_final": sentence("Finally approved by you"),
    "reject": sentence("Rejected by you"),
    "progress": sentence("Returned to work by you"),
}


class Show(Protocol):
    """Draws the card of a request (Requests.show)."""

    async def __call__(
        self, turn: Turn, card: Card, request: Request, *, head: str | None = None, reading: Reading | None = None
    ) -> None: ...


class Deciding:
    """What the buttons of a decision lead to."""

    def __init__(self, show: Show) -> None:
        self._show = show

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """One of DECISIONS."""
        if action in {"reject", "progress"} and not args.get("sure"):
            await self._ask_why(turn, card, action)
        else:
            await self._decide(turn, card, action, str(args.get("text", "")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        """A reason, or the amount that confirms an approval above the limit."""
        if not question.startswith(CONFIRM):
            await self._decide(turn, card, question, short(text, reasons.LONGEST))
            return
        review_type = question.removeprefix(CONFIRM)
        if access.is_amount(text, int(card.state["standing"]["sum"] or 0), turn.texts.scale):
            await self._decide(turn, card, review_type, "", confirmed=True)
            return
        request = await self._fresh(turn, card, await look(turn))
        if request is not None:
            await self._ask_amount(turn, card, request, review_type, wrong=True)

    async def _ask_why(self, turn: Turn, card: Card, action: str) -> None:
        request = await self._fresh(turn, card, await look(turn))
        if request is None:
            return
        question = (
            turn.t("Why do you reject it? Write the reason.")
            if action == "reject"
            else turn.t("What should be changed? Write it, or return it without a note.")
        )
        skip = (Button(turn.t("Without a note"), action, {"sure": True}),) if action == "progress" else ()
        rows = (*reasons.rows(turn, action), skip, (Button(turn.t("‹ Back"), "back"),))
        await self._ask(turn, card, request, question, rows, action)

    async def _ask_amount(
        self, turn: Turn, card: Card, request: Request, review_type: str, *, wrong: bool = False
    ) -> None:
        question = turn.t("This is above your limit. Type the amount to approve it.")
        if wrong:
            question = turn.t("That is not the amount: nothing was approved. Type the amount, or go back.")
        await self._ask(
            turn, card, request, question, ((Button(turn.t("‹ Back"), "back"),),), f"{CONFIRM}{review_type}"
        )

    async def _ask(
        self,
        turn: Turn,
        card: Card,
        request: Request,
        question: str,
        rows: tuple[tuple[Button, ...], ...],
        expect: str,
    ) -> None:
        text = turn.texts.html(
            "<b>%(name)s</b>\n💰 %(money)s\n\n<b>%(question)s</b>",
            name=request.name or "",
            money=await money(turn, request),
            question=question,
        )
        turn.show(card, View(text, rows), expect=expect)

    async def _decide(self, turn: Turn, card: Card, review_type: str, reason: str, *, confirmed: bool = False) -> None:
        """Checks everything afresh, then commits to the call."""
        await turn.still_works_here()
        reading = await look(turn, fresh=True)
        request = await self._fresh(turn, card, reading)
        if request is None:
            return
        possible = decisions(request, list(reading.blocks), reading.user_id)
        if review_type not in possible:
            who, what, when = await last_event(turn.texts, turn.desk.directory, request)
            why = turn.t(
                "This is not for you to decide now. Last: %(who)s %(what)s, %(when)s.", who=who, what=what, when=when
            )
            await self._show(turn, card, request, head=_told(turn, why), reading=reading)
            return
        if standing(request) != card.state["standing"]:
            why = turn.t("The request has changed since you saw it. Look at it again, then decide.")
            await self._show(turn, card, request, head=_told(turn, why), reading=reading)
            return
        if review_type in {"accept", "accept_final"} and not confirmed and access.steps(turn, request.sum or 0):
            await self._ask_amount(turn, card, request, review_type)
            return
        reasons.remember(turn, reason)
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t(WORKING[review_type]))
        turn.show(
            card, View(await body(turn, request, head)), intend=intended(turn, request, review_type, reading, reason)
        )

    async def _fresh(self, turn: Turn, card: Card, reading: Reading) -> Request | None:
        """The request as it is now for this person; says so on the card where it is gone."""
        request = await shown(turn, card, reading)
        if request is None:
            gone(turn, card)
        return request

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """What became of the decision, on the card."""
        reading = await look(turn)
        request = await self._fresh(turn, card, reading)
        if request is None:
            return
        if settled.kind == "checking":
            words = turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
            turn.show(card, View(await body(turn, request, turn.texts.html("⚠️ <b>%(words)s</b>", words=words))))
            return
        if settled.kind == "done":
            head = await confirmed(turn, request, intent)
        elif settled.kind == "refused":
            why = turn.t("The workspace refused: %(why)s", why=settled.message)
            head = turn.texts.html("⛔ <b>%(words)s</b>", words=why)
        else:
            why = turn.t("Your decision did not reach the workspace. Decide again.")
            head = turn.texts.html("⚠️ <b>%(words)s</b>", words=why)
        await self._show(turn, card, request, head=head, reading=reading)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Seen when the history holds this person's decision beyond what stood there before."""
        request_id = int(intent.body["requestIds"][0])
        request = await request_by_id(turn.api(), request_id, None, turn.today)
        if request is None:
            return Verdict(None)
        same = news_of(request, intent)
        # Done in this block's name, perhaps under a wrong name: `wrong_name` looks whose key that was.
        unproved = not turn.known().key_proved and any(e.author_block_id == intent.body.get("blockId") for e in same)
        if unproved or any(e.author_id == intent.user_id for e in same):
            return Verdict(True, [request.model_dump(mode="json", by_alias=True, exclude_unset=True)])
        return Verdict(False)


def intended(
    turn: Turn, request: Request, review_type: str, reading: Reading, reason: str = "", **more: Any
) -> Intended:
    """The one call of a decision. Whose deputy decides stands in the intent and in the audit."""
    assert request.id is not None, "it was found by its id"
    person = turn.known()
    block = decisions(request, list(reading.blocks), reading.user_id)[review_type].block
    before: dict[str, Any] = {"standing": standing(request), "review": review_type, **more}
    leave = reading.leave(request)
    if leave is not None:
        before["deputy_for"] = leave.user_id
        turn.note(
            "deputy",
            subject_of(request.id),
            after={"deputy": person.user_id, "for": leave.user_id, "until": leave.last_day.isoformat()},
            note=f"{person.user_id} decides for {leave.user_id}",
        )
    return Intended(
        _review(request.id, review_type, block, reason), f"{subject_of(request.id)}:{person.user_id}", before
    )


def _review(request_id: int, review_type: str, block: int | None, reason: str) -> Call[Any]:
    return calls.finplan.request.review(
        request_ids=[request_id],
        review_type=_known(review_type),
        block_id=block,
        reject_text=reason or None,
    )


def _known(name: str) -> Any:
    """One of DECISIONS, which are the contract's own review types."""
    if name not in DECISIONS:
        raise Refusal(f"{name} is no decision")
    return name


def _told(turn: Turn, why: str) -> str | None:
    """Why not: in the answer to the tap, else as the card's headline."""
    if isinstance(turn.incoming, Tapped):
        turn.toast(why, alert=True)
        return None
    return turn.texts.html("⚠️ <b>%(words)s</b>", words=why)


def gone(turn: Turn, card: Card) -> None:
    """The card of a request that its viewer cannot see any more."""
    words = turn.t("This request no longer exists, or you may not see it any more.")
    turn.show(card, View(turn.texts.html("%(words)s", words=words)))


def news_of(request: Request, intent: Intent) -> list[RequestHistory]:
    """The decisions of the intent's kind that the history has beyond what stood there before."""
    news = (request.history or [])[intent.before["standing"]["history"] :]
    return [entry for entry in news if entry.type == intent.before["review"]]


async def wrong_name(turn: Turn, request: Request, intent: Intent) -> str | None:
    """What is wrong where the first review stands under somebody else's name: that key is not used again (safety).

    Where it stands under the person's own, the key is proved.
    """
    person, news = turn.known(), news_of(request, intent)
    if person.key_proved or not news:
        return None
    if any(entry.author_id == person.user_id for entry in news):
        turn.change(lambda connection: people.mark(connection, person.telegram_id, key_proved=True))
        return None
    turn.change(lambda connection: people.mark(connection, person.telegram_id, sealed_key=None))
    return turn.t(
        "The workspace noted this under the name of %(who)s. Your key is not your own: ask for a new invitation.",
        who=await _name(turn, news[0].author_id),
    )


async def _name(turn: Turn, user_id: str | None) -> str:
    """A name, or the bare id: that the key is not used again must not hang on a dictionary."""
    try:
        return await turn.desk.directory.name(user_id)
    except WorkspaceError:
        return user_id or "?"


async def confirmed(turn: Turn, request: Request, intent: Intent) -> str:
    """The outcome with who and when, as the workspace's own history tells it."""
    wrong = await wrong_name(turn, request, intent)
    if wrong is not None:
        return turn.texts.html("⛔ <b>%(words)s</b>", words=wrong)
    review_type = str(intent.before["review"])
    mine = next((e for e in news_of(request, intent) if e.author_id == turn.known().user_id), None)
    when = turn.texts.moment(mine.creation_date if mine and mine.creation_date else turn.today)
    mark = "✅" if review_type.startswith("accept") else "❌" if review_type == "reject" else "↩️"
    head = turn.texts.html("%(mark)s <b>%(done)s</b>, %(when)s", mark=mark, done=turn.t(DONE[review_type]), when=when)
    away = intent.before.get("deputy_for")
    if away:
        for_whom = turn.t("as the deputy of %(name)s", name=await turn.desk.directory.name(away))
        head += "\n" + turn.texts.html("<i>%(words)s</i>", words=for_whom)
    return head
