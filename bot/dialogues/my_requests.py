"""/myrequests: my open requests, page by page ──► one of them, its chain live ─┬─(Remind)──► the approver is told
/request: the form (request_form.py) ──(Submit)──► sending ──► its card        ├─(Edit)──► the form ──(Save)──► sending
a notice of a decision (authors.py) ──(Open)──► its card                       ├─(Submit again), (Remove)──► sending
                                                                               └─(Copy …)──► my_request_copy.py

What may be done is read from the flags, with the person's own key, right before it is done. A reply to a card is a
comment (comments.py).
"""

import logging
from dataclasses import replace
from typing import Any

from bot import chain, comments, followed, intents
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import my_request_calls as sending
from bot.dialogues.my_request_copy import CopyScreens
from bot.dialogues.my_request_list import show_list
from bot.dialogues.my_request_nudge import nudge
from bot.dialogues.my_request_view import buttons, in_short, status, text_of
from bot.dialogues.request_form import RequestForm
from bot.dialogues.request_form_category import categories_for
from bot.dialogues.request_form_text import changed, draft_of
from bot.dialogues.request_form_view import DIALOGUE, DRAFT, form_text, state
from bot.dialogues.request_view import standing
from bot.incoming import Said
from bot.intents import Intent, Settled, Verdict
from bot.texts import fit, sentence
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

log = logging.getLogger("bot.my_requests")

COPYING = ("copy", "copying")

DOING = {
    "create": sentence("Submitting …"),
    "save": sentence("Saving …"),
    "remove": sentence("Removing …"),
}


class MyRequests(Dialogue):
    """One's own requests: made, followed, changed."""

    name = DIALOGUE
    commands = (
        Command("request", sentence("Ask for money")),
        Command("myrequests", sentence("What I asked for, and whose turn it is")),
    )

    def __init__(self) -> None:
        self._form = RequestForm()
        self._copies = CopyScreens()

    async def command(self, turn: Turn, command: str, words: str) -> None:
        if command == "request":
            turn.api()
            await self._form.command(turn, words)
        else:
            await show_list(turn, turn.new_card(self.name))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if await self._form.tapped(turn, card, action, args) or await self._copy_tapped(turn, card, action, args):
            return
        if action == "list":
            await show_list(turn, card, page=int(args.get("page", 0)), closed=bool(args.get("closed")))
        elif action == "submit":
            await self._submit(turn, card)
        elif action == "open":
            await self._open(turn, card, int(args["request"]), args.get("finplan"))
        else:
            await self._act(turn, card, action)

    async def _copy_tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> bool:
        if action == "copies":
            await self._copies.choose(turn, card)
        elif action == "check":
            await self._copies.check(turn, card, args)
        elif action == "copy_now":
            await self._copies.send(turn, card, list(card.state["chosen"]), self._copies.this_month(turn))
        elif action == "copy_to":
            await self._copies.send(turn, card, [int(card.state["request"])], args["period"])
        elif action == "copy_again":
            await self._copies.again(turn, card)
        else:
            return False
        return True

    async def _act(self, turn: Turn, card: Card, action: str) -> None:
        """What is done with the card's request, on its fresh state."""
        if action not in {"look", "back", "nudge"}:
            turn.api()
        request = await self._fresh(turn, card)
        if request is None:
            return
        if action in {"look", "back"}:
            await self.show(turn, card, request)
        elif action == "nudge":
            await nudge(turn, request)
            if standing(request) != card.state.get("standing"):
                await self.show(turn, card, request)
        elif action == "copy_where":
            await self._copies.where(turn, asking(card, request), request)
        elif action == "remove" and request.can_remove:
            await self._ask_to_remove(turn, card, request)
        elif action == "edit" and request.can_edit:
            await self._form.review(turn, self._form.edit(card, request, standing(request)))
        elif action == "save":
            await self._save(turn, card, request)
        elif action == "resubmit" and request.can_edit and chain.returned(request):
            await turn.still_works_here()
            await self._send(turn, card, await text_of(turn, request), sending.resubmission(request))
        elif action == "remove_sure" and request.can_remove:
            await turn.still_works_here()
            await self._send(turn, card, await text_of(turn, request), sending.removal(request))
        else:
            await self._stale(turn, card, request)

    async def _stale(self, turn: Turn, card: Card, request: Request) -> None:
        """The request has moved on since the button was shown."""
        turn.toast(
            turn.t("This is not possible any more. Now: %(status)s.", status=await status(turn, request)), alert=True
        )
        await self.show(turn, card, request)

    async def _open(self, turn: Turn, card: Card, number: int, finplan: str | None) -> None:
        request = await self._fresh(turn, card.with_state(request=number, finplan=finplan))
        if request is not None:
            await self.show(turn, card, request)

    async def _fresh(self, turn: Turn, card: Card) -> Request | None:
        """The card's request as it is now; says so on the card where it is gone."""
        number = int(card.state.get("request", 0))
        request = await sending.one_of_mine(turn, number, card.state.get("finplan"))
        if request is None:
            gone = replace(card, state=state(card, "closed"), subject=None, live=False)
            words = turn.t("This request no longer exists, or you may not see it any more.")
            turn.show(gone, View(words, ((Button(turn.t("‹ My requests"), "list"),),)))
        return request

    async def show(self, turn: Turn, card: Card, request: Request, *, head: str | None = None) -> None:
        """The card of a request, from fresh state; `head` is HTML."""
        assert request.id is not None, "it was found by its id"
        members = {"request": request.id, "finplan": request.finplan, "standing": standing(request)}
        shown = replace(card, state=state(card, "card", **members), subject=f"request:{request.id}", live=True)
        turn.show(shown, View(await text_of(turn, request, head=head), await buttons(turn, request)))

    async def notice(self, turn: Turn, request: Request, html: str) -> None:
        """A message that something has happened to the request, with a way to its card."""
        card = turn.new_card(self.name)
        members = {"request": request.id, "finplan": request.finplan}
        card = replace(card, state=state(card, "notice", **members), subject=f"request:{request.id}")
        turn.show(card, View(html, ((Button(turn.t("Open"), "look"),),)))

    async def _ask_to_remove(self, turn: Turn, card: Card, request: Request) -> None:
        rows = (
            (Button(turn.t("Yes, remove it"), "remove_sure", style="danger"),),
            (Button(turn.t("‹ Back"), "look"),),
        )
        question = turn.t("Remove this request? It cannot be brought back.")
        text = turn.texts.html("<b>%(what)s</b>\n\n%(question)s", what=await in_short(turn, request), question=question)
        turn.show(asking(card, request), View(text, rows))

    async def _send(self, turn: Turn, card: Card, text: str, intended: Intended) -> None:
        """Commits to the call; the card says that it is under way."""
        act = intended.before["act"]
        doing = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t(DOING[act]))
        shown = replace(card, state={**card.state, "sending": True}, subject=None, live=False)
        turn.show(shown, View(fit(f"{doing}\n\n{text}")), intend=intended)

    async def _submit(self, turn: Turn, card: Card) -> None:
        """Checks the draft against what one may now, then commits to the call that creates the request."""
        await turn.still_works_here()
        if not await self._possible(turn, card):
            return
        late = await sending.arrived(turn, card)
        if late is not None:
            await self._arrived(turn, card, late)
            return
        intended = await sending.creation(turn, card)
        await self._send(turn, card, await form_text(turn, card.state["draft"]), intended)

    async def _arrived(self, turn: Turn, card: Card, late: Request) -> None:
        """The earlier try is there: what the draft says otherwise by now becomes a change of it."""
        words = turn.t("Your first try had arrived after all; nothing was submitted twice.")
        head = turn.texts.html("✅ <b>%(words)s</b>", words=words)
        if not changed(
            card.state["draft"], draft_of(late) | {"economic_justification": late.economic_justification or ""}
        ):
            await self._made(turn, card, late, head)
            return
        turn.change(lambda connection: followed.note(connection, late, turn.now))
        form = self._form.edit(card.with_state(made=late.id), late, standing(late))
        await self._form.review(turn, form.with_state(draft=card.state["draft"]), head)

    async def _possible(self, turn: Turn, card: Card) -> bool:
        """Whether the position and the category of the draft may still be used; asks for them again where not."""
        draft = card.state["draft"]
        original = card.state.get("original", {})
        blocks = await turn.desk.directory.blocks_of(turn.known().user_id, fresh=True)
        if draft["author_block_id"] not in blocks and draft["author_block_id"] != original.get("author_block_id"):
            turn.toast(turn.t("You do not hold this position any more. Choose another one."), alert=True)
            await self._form.ask(turn, card, "author_block_id", {})
            return False
        category = draft.get("type")
        usable = await categories_for(turn, draft["author_block_id"])
        if category is not None and category not in usable and category != original.get("type"):
            turn.toast(turn.t("This category cannot be used any more. Choose another one."), alert=True)
            await self._form.ask(turn, card, "type", {})
            return False
        return True

    async def _save(self, turn: Turn, card: Card, request: Request) -> None:
        """Saves an edited request, unless it has changed under the person's hands."""
        await turn.still_works_here()
        if not request.can_edit:
            await self._stale(turn, card, request)
            return
        draft, original = card.state["draft"], card.state["original"]
        edits = changed(draft, original)
        if standing(request) != card.state["standing"]:
            rebased = self._form.edit(card, request, standing(request))
            words = turn.t("The request has changed meanwhile: look at it again, then save. Your changes are kept.")
            head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
            await self._form.review(turn, rebased.with_state(draft={**draft_of(request), **edits}), head)
        elif not edits and not chain.returned(request):
            turn.toast(turn.t("Nothing has changed."))
            await self.show(turn, card, request)
        elif await self._possible(turn, card):
            await self._send(turn, card, await form_text(turn, draft), sending.saving(card, draft))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._form.answered(turn, card, question, text)

    async def replied(self, turn: Turn, card: Card, said: Said) -> bool:
        """A reply to a request's card is a comment."""
        if "request" not in card.state or card.state.get("screen") == "closed":
            return False
        request = await sending.one_of_mine(turn, int(card.state["request"]), card.state.get("finplan"))
        return request is not None and await comments.take(turn, request, said)

    async def abandoned(self, turn: Turn, card: Card) -> None:
        """A command came while the form asked: the draft is put aside, an edited request stays as far as it is."""
        if "request" in card.state:
            await self._form.review(turn, card)
        else:
            await self._form.park(turn, card)

    async def refresh(self, turn: Turn, card: Card) -> None:
        screen = card.state.get("screen")
        if self.is_under_way(turn, card):
            turn.toast(turn.t("This is already under way."))
        elif screen == "list":
            await show_list(turn, card, page=int(card.state["page"]), closed=bool(card.state["closed"]))
        elif screen in COPYING:
            await self._copies.refresh(turn, card)
        elif screen in {"card", "notice", "asking"}:
            await self._act(turn, card, "look")
        elif card.state.get("sending") and self._is_done(turn, card):
            # Its outcome could not be shown: the list has the request, and the draft is none any more.
            await show_list(turn, card)
        else:
            await self._form.refresh(turn, card)

    def is_under_way(self, turn: Turn, card: Card) -> bool:
        """Whether a call of this card is still open."""
        with turn.desk.db.read() as connection:
            made = intents.of_card(connection, card.id)
        return any(intent.state in {"open", "sending", "unknown"} for intent in made)

    def _is_done(self, turn: Turn, card: Card) -> bool:
        with turn.desk.db.read() as connection:
            intent = intents.latest(connection, card.id)
        return intent is not None and intent.state == "done"

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        act = intent.before["act"]
        card = replace(card, state={name: value for name, value in card.state.items() if name != "sending"})
        if act == "copy":
            await self._copies.settled(turn, card, intent, settled)
        elif settled.kind == "done":
            await self._done(turn, card, intent, settled.data)
        else:
            await self._not_done(turn, card, intent, settled)

    async def _done(self, turn: Turn, card: Card, intent: Intent, data: Any) -> None:
        act = intent.before["act"]
        if act == "remove":
            over = replace(card, state=state(card, "closed"), subject=None, live=False)
            words = turn.t("Removed: %(what)s", what=f"#{intent.body['requestIds'][0]}")
            back = (Button(turn.t("‹ My requests"), "list"),)
            turn.show(over, View(turn.texts.html("🗑 <b>%(words)s</b>", words=words), (back,)))
            return
        number, finplan = int(data["id"]), data.get("finplan")
        made = act == "create"
        words = (
            turn.t("Submitted, no. %(id)s", id=number)
            if made
            else turn.t("Saved. What it means for the approval stands below.")
        )
        head = turn.texts.html("✅ <b>%(words)s</b>", words=words)
        try:
            request = await sending.one_of_mine(turn, number, finplan)
            if request is not None:
                await (self._made if made else self._shown)(turn, card, request, head)
                return
        except (WorkspaceError, Refusal, VaultError) as error:
            log.warning("request %s is saved; its card cannot be shown afresh: %s", number, error)
        # The draft must not be there for a second submission, whether the request can be shown now or not.
        kept = replace(card, state=state(card, "card", request=number, finplan=finplan), subject=f"request:{number}")
        kept = kept.with_state(made=number) if made else kept
        turn.show(kept, View(head, ((Button(turn.t("Open"), "look"),),)))

    async def _shown(self, turn: Turn, card: Card, request: Request, head: str) -> None:
        await self.show(turn, card, request, head=head)

    async def _made(self, turn: Turn, card: Card, request: Request, head: str) -> None:
        """The card of the draft becomes that of the request, which its author knows from here on."""
        turn.change(lambda connection: followed.note(connection, request, turn.now))
        await self.show(turn, card.with_state(made=request.id), request, head=head)

    async def _not_done(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        if settled.kind == "checking":
            words = turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
        elif settled.kind == "refused":
            words = turn.t("The workspace refused: %(why)s", why=settled.message)
        else:
            words = turn.t("It was not seen in the workspace. Check there before you do it again.")
        mark = "⛔" if settled.kind == "refused" else "⚠️"
        head = turn.texts.html("%(mark)s <b>%(words)s</b>", mark=mark, words=words)
        if settled.kind == "checking":
            shown = card.with_state(sending=True)
            what = await form_text(turn, card.state["draft"], head=head) if "draft" in card.state else head
            turn.show(shown, View(what))
        elif "draft" in card.state:
            if settled.kind == "not_seen" and intent.before["act"] == "create":
                body = {name: intent.body[name] for name in ("name", "sum", "finplan")}
                card = card.with_state(tried={**body, "at": intent.created_at, "known": intent.before["known"]})
            await self._form.review(turn, replace(card, subject=DRAFT), head)
        else:
            request = await self._fresh(turn, card)
            if request is not None:
                await self.show(turn, card, request, head=head)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        return await sending.read_back(turn, intent)


def asking(card: Card, request: Request) -> Card:
    """The card while it asks something about its request: what happens meanwhile does not take the question away."""
    members = {"request": request.id, "finplan": request.finplan}
    return replace(card, state=state(card, "asking", **members), live=False)
