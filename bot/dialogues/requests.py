"""/requests: the oldest card that waits for me ─┬─(Approve, Final approve)──► working ──► outcome ──(Next)──► …
                                                ├─(Reject)──► why? ──text──► working ──► outcome
                                                └─(Return to work)──► note? ──text or (Without a note)──► …

A card is decided on fresh state, read with the person's own key right before the call; what changed since the card was
shown is shown first. watch.py pushes new cards and edits those that were decided elsewhere.
"""

from collections.abc import Iterable
from typing import Any

from bot import people
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.request_view import body, buttons, decisions, last_event, standing, waits_for_viewer
from bot.intents import Intent, Settled, Verdict
from bot.periods import request_by_id, requests_of
from bot.texts import sentence, short
from workspace_api import calls
from workspace_api.contract.finplan import Request

DECISIONS = ("accept", "accept_final", "reject", "progress")

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


def subject_of(request_id: int) -> str:
    """How cards and intents name a request."""
    return f"request:{request_id}"


class Requests(Dialogue):
    """Decisions about requests for money."""

    name = "requests"
    commands = (Command("requests", sentence("Requests that wait for my decision")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        waiting = await self.waiting(turn)
        if not waiting:
            turn.say(turn.t("Nothing waits for your decision. New requests come here by themselves."))
            return
        request = waiting[0]
        card = turn.new_card(self.name, live=True, browsing=True)
        await self.show(turn, card, request, waiting=waiting)

    async def waiting(self, turn: Turn) -> list[Request]:
        """What waits for this person's decision, the oldest first."""
        found = [request for request in await requests_of(turn.api(), turn.today) if waits_for_viewer(request)]
        return sorted(found, key=_age)

    async def show(
        self, turn: Turn, card: Card, request: Request, *, head: str | None = None, waiting: Iterable[Request] = ()
    ) -> None:
        """The card of a request, from fresh state, with what its viewer may do."""
        person = turn.known()
        assert request.id is not None, "a request without an id cannot be shown"
        state = {
            "request": request.id,
            "finplan": request.finplan,
            "standing": standing(request),
            "browsing": bool(card.state.get("browsing")),
        }
        blocks = await turn.desk.directory.blocks_of(person.user_id)
        rows = buttons(turn.texts, decisions(request, blocks))
        if head is None and request.status != "progress":
            head = await self._what_happened(turn, request)
        ids = [other.id for other in waiting]
        count = ""
        if request.id in ids and len(ids) > 1:
            count = turn.t("%(number)d of %(count)d", number=ids.index(request.id) + 1, count=len(ids))
            rows = (*rows, (Button(turn.t("Next ›"), "next"),))
        elif head is not None and state["browsing"]:
            others = [other for other in ids if other != request.id]
            if others:
                label = turn.texts.n("Next (%(count)d waits) ›", "Next (%(count)d wait) ›", len(others))
                rows = (*rows, (Button(label, "next", style="primary"),))
        text = await body(
            turn.texts, turn.desk.directory, request, person.user_id, head or (f"<i>{count}</i>" if count else None)
        )
        shown = Card(
            card.telegram_id,
            card.chat_id,
            self.name,
            state,
            subject_of(request.id),
            True,
            card.id,
            card.version,
            card.message_id,
        )
        turn.show(shown, View(text, rows))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "next":
            await self._next(turn, card)
        elif action == "back":
            await self.refresh(turn, card)
        elif action in {"reject", "progress"} and not args.get("sure"):
            await self._ask_why(turn, card, action)
        elif action in DECISIONS:
            await self._decide(turn, card, action, str(args.get("text", "")))

    async def _next(self, turn: Turn, card: Card) -> None:
        waiting = await self.waiting(turn)
        if not waiting:
            turn.toast(turn.t("Nothing else waits for your decision."))
            await self.refresh(turn, card)
            return
        ids = [request.id for request in waiting]
        now_at = card.state["request"]
        following = waiting[(ids.index(now_at) + 1) % len(ids)] if now_at in ids else waiting[0]
        await self.show(turn, card, following, waiting=waiting)

    async def _ask_why(self, turn: Turn, card: Card, action: str) -> None:
        request = await self._fresh(turn, card)
        if request is None:
            return
        question = (
            turn.t("Why do you reject it? Write the reason.")
            if action == "reject"
            else turn.t("What should be changed? Write it, or return it without a note.")
        )
        skip = (Button(turn.t("Without a note"), action, {"sure": True}),) if action == "progress" else ()
        rows = (skip, (Button(turn.t("‹ Back"), "back"),))
        currency = (await turn.desk.directory.currencies()).get(request.currency_code or "")
        text = turn.texts.html(
            "<b>%(name)s</b>\n💰 %(money)s\n\n<b>%(question)s</b>",
            name=request.name or "",
            money=turn.texts.money(request.sum, currency, request.currency_code),
            question=question,
        )
        turn.show(card, View(text, rows), expect=action)

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._decide(turn, card, question, short(text, 1000))

    async def _decide(self, turn: Turn, card: Card, review_type: str, reason: str) -> None:
        """Checks everything afresh, then commits to the call."""
        await turn.still_works_here()
        request = await self._fresh(turn, card)
        if request is None:
            return
        person = turn.known()
        blocks = await turn.desk.directory.blocks_of(person.user_id, fresh=True)
        possible = decisions(request, blocks)
        if review_type not in possible:
            who, what, when = await last_event(turn.texts, turn.desk.directory, request)
            why = turn.t(
                "This is not for you to decide now. Last: %(who)s %(what)s, %(when)s.", who=who, what=what, when=when
            )
            turn.toast(why, alert=True)
            await self.show(turn, card, request, waiting=await self.waiting(turn))
            return
        if standing(request) != card.state["standing"]:
            turn.toast(turn.t("The request has changed since you saw it. Look at it again, then decide."), alert=True)
            await self.show(turn, card, request, waiting=await self.waiting(turn))
            return
        assert request.id is not None, "it was found by its id"
        call = calls.finplan.request.review(
            request_ids=[request.id],
            review_type=_review_type(review_type),
            block_id=possible[review_type].block,
            reject_text=reason or None,
        )
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t(WORKING[review_type]))
        text = await body(turn.texts, turn.desk.directory, request, person.user_id, head)
        before = {"standing": standing(request), "review": review_type}
        subject = f"{subject_of(request.id)}:{person.user_id}"
        turn.show(card, View(text), intend=Intended(call, subject, before))

    async def _fresh(self, turn: Turn, card: Card) -> Request | None:
        """The request as it is now for this person; says so on the card where it is gone."""
        request = await request_by_id(turn.api(), card.state["request"], card.state.get("finplan"), turn.today)
        if request is None:
            gone = turn.t("This request no longer exists, or you may not see it any more.")
            turn.show(card, View(turn.texts.html("%(gone)s", gone=gone)))
        return request

    async def refresh(self, turn: Turn, card: Card) -> None:
        """The card from fresh state; one whose decision is under way stays as it is."""
        if under_way(turn, card):
            turn.toast(turn.t("This is already under way."))
            return
        request = await self._fresh(turn, card)
        if request is not None:
            await self.show(turn, card, request, waiting=await self._waiting_if_browsing(turn, card))

    async def _waiting_if_browsing(self, turn: Turn, card: Card) -> list[Request]:
        return await self.waiting(turn) if card.state.get("browsing") else []

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        review_type = intent.before["review"]
        if settled.kind == "checking":
            request = await self._fresh(turn, card)
            if request is not None:
                words = turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
                head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
                text = await body(turn.texts, turn.desk.directory, request, turn.known().user_id, head)
                turn.show(card, View(text))
            return
        request = await self._fresh(turn, card)
        if request is None:
            return
        if settled.kind == "done":
            head = await self._confirmed(turn, request, review_type, intent.before["standing"]["history"])
        elif settled.kind == "refused":
            head = turn.texts.html(
                "⛔ <b>%(words)s</b>", words=turn.t("The workspace refused: %(why)s", why=settled.message)
            )
        else:
            head = turn.texts.html(
                "⚠️ <b>%(words)s</b>", words=turn.t("Your decision did not reach the workspace. Decide again.")
            )
        await self.show(turn, card, request, head=head, waiting=await self._waiting_if_browsing(turn, card))

    async def _confirmed(self, turn: Turn, request: Request, review_type: str, before: int) -> str:
        """The outcome with who and when, as the workspace's own history tells it."""
        person = turn.known()
        news = [entry for entry in (request.history or [])[before:] if entry.type == review_type]
        mine = next((entry for entry in news if entry.author_id == person.user_id), None)
        if mine is not None and not person.key_proved:
            turn.change(lambda connection: people.mark(connection, person.telegram_id, key_proved=True))
        if news and mine is None and not person.key_proved:
            # The key acts for somebody else: it must not be used for decisions again (safety).
            turn.change(lambda connection: people.mark(connection, person.telegram_id, sealed_key=None))
            who = await turn.desk.directory.name(news[0].author_id)
            words = turn.t(
                "The workspace noted this under the name of %(who)s. "
                "Your key is not your own: ask for a new invitation.",
                who=who,
            )
            return turn.texts.html("⛔ <b>%(words)s</b>", words=words)
        when = turn.texts.moment(mine.creation_date if mine and mine.creation_date else turn.today)
        mark = "✅" if review_type.startswith("accept") else "❌" if review_type == "reject" else "↩️"
        return turn.texts.html(
            "%(mark)s <b>%(done)s</b>, %(when)s", mark=mark, done=turn.t(DONE[review_type]), when=when
        )

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Seen when the history holds this person's decision beyond what stood there before."""
        request_id = int(intent.body["requestIds"][0])
        request = await request_by_id(turn.api(), request_id, None, turn.today)
        if request is None:
            return Verdict(None)
        news = (request.history or [])[intent.before["standing"]["history"] :]
        same = [e for e in news if e.type == intent.before["review"]]
        if not turn.known().key_proved and any(e.author_block_id == intent.body.get("blockId") for e in same):
            # Done in this block's name, perhaps under a wrong name: `settled` looks whose key that was.
            return Verdict(True)
        return Verdict(any(e.author_id == intent.user_id for e in same))

    async def decided_elsewhere(self, turn: Turn, card: Card, request: Request) -> None:
        """The subject of a shown card has changed: the card says what happened, by whom and when."""
        head = await self._what_happened(turn, request)
        await self.show(turn, card, request, head=head, waiting=await self._waiting_if_browsing(turn, card))

    async def _what_happened(self, turn: Turn, request: Request) -> str | None:
        """Who did what last, and when, as a headline."""
        who, what, when = await last_event(turn.texts, turn.desk.directory, request)
        return turn.texts.html("ℹ️ <b>%(who)s</b>: %(what)s, %(when)s", who=who, what=what, when=when) if who else None


def _age(request: Request) -> tuple[str, int]:
    return (request.creation_date.isoformat() if request.creation_date else "", request.id or 0)


def _review_type(name: str) -> Any:
    """One of DECISIONS, which are the contract's own review types."""
    if name not in DECISIONS:
        raise Refusal(f"{name} is no decision")
    return name


def under_way(turn: Turn, card: Card) -> bool:
    """Whether the card's newest intent is still open."""
    from bot import intents

    with turn.desk.db.read() as connection:
        intent = intents.latest(connection, card.id)
    return intent is not None and intent.state in {"open", "sending", "unknown"}
