"""/request: name → sum → position (where one holds several) → category → month → problem → solution → justification
(skippable) → review ──(Submit)──► sending ──► the request's card        Later or /cancel ──► parked ──(Go on)──► …
Edit: the review of a request that exists ──(Save)──► sending ──► its card

The draft lives in the card's state, so a restart loses nothing. /request offers to go on with a parked one.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from bot import cards, choices
from bot.cards import Button, Card, View
from bot.desk import Refusal, Turn
from bot.dialogues import request_form_category as category_screen
from bot.dialogues.request_form_text import (
    LONGEST,
    STEPS,
    before,
    draft_of,
    missing,
    months_ahead,
    named,
    near,
    on_wire,
    sum_in,
    sure,
)
from bot.dialogues.request_form_view import (
    DIALOGUE,
    DRAFT,
    LABELS,
    QUESTIONS,
    currency_note,
    currency_of,
    form_text,
    in_short,
    money_of,
    state,
)
from bot.tables import cards as card_table
from bot.texts import short
from workspace_api.contract.finplan import Request

OFFERED = 3


def parked(connection: Connection, telegram_id: int) -> list[Card]:
    """The unfinished drafts of a person, the newest first."""
    query = (
        select(card_table.c.id)
        .where(card_table.c.telegram_id == telegram_id, card_table.c.dialogue == DIALOGUE)
        .where(card_table.c.subject == DRAFT)
        .order_by(card_table.c.updated_at.desc())
        .limit(OFFERED)
    )
    found = [cards.load(connection, row.id) for row in connection.execute(query)]
    return [card for card in found if card is not None]


class RequestForm:
    """The screens that make and change a draft; sending it is my_request_calls.py's."""

    async def command(self, turn: Turn, words: str) -> None:
        """`/request`, with or without words."""
        with turn.desk.db.read() as connection:
            drafts = [card for card in parked(connection, turn.telegram_id) if _begun(card)]
        if not drafts:
            await self._begin(turn, turn.new_card(DIALOGUE), words)
            return
        card = turn.new_card(DIALOGUE, screen="offer", words=words)
        rows: list[tuple[Button, ...]] = []
        for draft in drafts:
            label = turn.t("Go on with “%(what)s”", what=await in_short(turn, draft.state["draft"]))
            rows.append((Button(label, "go_on", {"draft": draft.id}),))
        rows.append((Button(turn.t("New request"), "new", style="primary"),))
        turn.show(card, View(turn.t("You have begun a request and not submitted it yet."), tuple(rows)))

    async def _begin(self, turn: Turn, card: Card, words: str) -> None:
        """A new draft, with what the words say."""
        turn.api()
        blocks = await turn.desk.directory.blocks_of(turn.known().user_id)
        if not blocks:
            raise Refusal(turn.t("You hold no position in the workspace: a request is made in the name of one."))
        draft: dict[str, Any] = {"author_block_id": blocks[0]} if len(blocks) == 1 else {}
        found = sum_in(words, turn.today.date(), await turn.desk.directory.currencies()) if words else None
        name = named(words if found is None else found.words)
        if name and len(name) <= LONGEST["name"]:
            draft["name"] = name
            if "author_block_id" in draft:
                category = sure(name, await category_screen.categories_for(turn, draft["author_block_id"]))
                draft |= {} if category is None else {"type": category}
        card = replace(card, state=state(card, "form", draft=draft), subject=DRAFT)
        if found is None:
            await self.go_on(turn, card)
        else:
            await self._sum(turn, card, words)

    def edit(self, card: Card, request: Request, standing: dict[str, Any]) -> Card:
        """The card as the form of a request that exists."""
        draft = draft_of(request)
        members = {"request": request.id, "finplan": request.finplan, "standing": standing, "original": draft}
        return replace(card, state=state(card, "form", draft=draft, **members), subject=None, live=False)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> bool:
        """One of the form's buttons; false where it is none."""
        if action == "go_on":
            await self._resume(turn, card, int(args["draft"]))
        elif action == "new":
            await self._begin(turn, card, str(card.state.get("words", "")))
        elif action == "park":
            await self.park(turn, card)
        elif action == "discard":
            thrown = replace(card, state=state(card, "closed"), subject=None)
            turn.show(thrown, View(turn.t("Thrown away; nothing was submitted.")))
        elif action == "ask":
            await self.ask(turn, card, args["step"], args)
        elif action == "set":
            await self._set(turn, card, args["step"], args["value"])
        elif action == "form":
            await self.go_on(turn, card)
        else:
            return False
        return True

    async def _resume(self, turn: Turn, card: Card, draft_id: int) -> None:
        """The draft moves to this card; the one that held it says so."""
        with turn.desk.db.read() as connection:
            held = cards.load(connection, draft_id)
        if held is None or held.telegram_id != turn.telegram_id or held.subject != DRAFT:
            turn.toast(turn.t("This draft was submitted or thrown away meanwhile."), alert=True)
            await self.refresh(turn, card)
            return
        if held.id != card.id:
            moved = replace(held, state=state(held, "closed"), subject=None)
            turn.show(moved, View(turn.t("This draft goes on below.")))
        kept = {name: value for name, value in held.state.items() if name in {"draft", "tried"}}
        if str(kept["draft"].get("finplan", "9")) < months_ahead(turn.today)[0]:
            # Its month is over: asked for again.
            kept["draft"] = {step: value for step, value in kept["draft"].items() if step != "finplan"}
        await self.go_on(turn, replace(card, state=state(card, "form", **kept), subject=DRAFT))

    async def park(self, turn: Turn, card: Card) -> None:
        """The draft waits; /request goes on with it."""
        if not _begun(card):
            closed = replace(card, state=state(card, "closed"), subject=None)
            turn.show(closed, View(turn.t("Cancelled; nothing was saved.")))
            return
        waiting = replace(card, state={**card.state, "screen": "parked"}, subject=DRAFT)
        rows = (
            (Button(turn.t("Go on"), "go_on", {"draft": card.id}, style="primary"),),
            (Button(turn.t("Throw away"), "discard", style="danger"),),
        )
        words = turn.t("Put aside, nothing was submitted. /request goes on with it.")
        turn.show(
            waiting,
            View(await form_text(turn, waiting.state["draft"], head=turn.texts.html("⏸ %(words)s", words=words)), rows),
        )

    async def refresh(self, turn: Turn, card: Card) -> None:
        """The card's present screen once more."""
        screen = card.state.get("screen")
        if screen == "form":
            await self.go_on(turn, card)
        elif screen == "parked":
            await self.park(turn, card)
        else:
            turn.show(
                card, View(turn.t("This is over. /request begins a new one, /myrequests shows what you asked for."))
            )

    async def go_on(self, turn: Turn, card: Card) -> None:
        """Asks for what is missing, else shows the whole for review."""
        step = missing(card.state["draft"])
        if step is None:
            await self.review(turn, card)
        else:
            await self.ask(turn, card, step, {})

    async def ask(
        self, turn: Turn, card: Card, step: str, args: dict[str, Any], note: str | None = None, rows: Any = ()
    ) -> None:
        """Asks for one field; `note` says what was wrong with the last answer, `rows` come before the others."""
        draft = card.state["draft"]
        card = replace(card, state={**card.state, "screen": "form"})
        question = turn.t(QUESTIONS[step])
        rows = tuple(rows)
        if step == "sum":
            note = note or await currency_note(turn)
        elif step == "author_block_id":
            rows = await self._positions(turn)
        elif step == "type" and not rows:
            usable = await category_screen.categories_for(turn, draft.get("author_block_id"))
            if not usable:
                await self._set(turn, card, "type", None)
                return
            parent = args.get("parent") if args.get("parent") in usable else None
            rows = category_screen.tree(turn, usable, str(draft.get("name", "")), parent, int(args.get("page", 0)))
        elif step == "finplan":
            rows = tuple((_month(turn, period),) for period in months_ahead(turn.today))
        elif step == "economic_justification":
            rows = ((Button(turn.t("Skip"), "set", {"step": step, "value": ""}),),)
        text = await form_text(turn, card.state["draft"], question=question, note=note)
        turn.show(card, View(text, (*rows, *await self._ways(turn, card, step))), expect=step)

    async def _ways(self, turn: Turn, card: Card, step: str) -> tuple[tuple[Button, ...], ...]:
        """The ways out of a question: back, on with what stands there already, or later."""
        draft = card.state["draft"]
        if missing(draft) is None:
            return ((Button(turn.t("‹ Back"), "form"),),)
        several = len(await turn.desk.directory.blocks_of(turn.known().user_id)) > 1
        previous = before(step, tuple(s for s in STEPS if s in draft and (several or s != "author_block_id")))
        keep = (Button(turn.t("Keep it ›"), "form"),) if step in draft else ()
        back = (Button(turn.t("‹ Back"), "ask", {"step": previous}),) if previous else ()
        return ((*back, *keep), (Button(turn.t("Later"), "park"),))

    async def _positions(self, turn: Turn) -> tuple[tuple[Button, ...], ...]:
        blocks = await turn.desk.directory.blocks()
        mine = [blocks[b] for b in await turn.desk.directory.blocks_of(turn.known().user_id) if b in blocks]
        return tuple(
            (Button(block.position or block.name or "?", "set", {"step": "author_block_id", "value": block.id}),)
            for block in mine
        )

    async def answered(self, turn: Turn, card: Card, step: str, text: str) -> None:
        """The text that a question was answered with."""
        text = text.strip()
        if step == "sum":
            await self._sum(turn, card, text)
        elif step == "type":
            await self._search(turn, card, text)
        elif step == "finplan":
            named_month = [p for p in months_ahead(turn.today) if turn.texts.month(p).lower().startswith(text.lower())]
            if named_month and text:
                await self._set(turn, card, step, named_month[0])
            else:
                await self.ask(turn, card, step, {}, turn.t("Choose one of the months below."))
        elif step == "author_block_id":
            await self.ask(turn, card, step, {}, turn.t("Choose one of the positions below."))
        elif len(text) > LONGEST.get(step, 0):
            most = LONGEST.get(step, 0)
            too_long = turn.t(
                "That is %(count)d characters, more than %(most)d. Shorten it.", count=len(text), most=most
            )
            await self.ask(turn, card, step, {}, too_long)
        else:
            await self._set(turn, card, step, text)

    async def _sum(self, turn: Turn, card: Card, text: str) -> None:
        """A sum from a text: in the company's currency, rounded only by the person."""
        found = sum_in(text, turn.today.date(), await turn.desk.directory.currencies())
        if found is None:
            await self.ask(turn, card, "sum", {}, turn.t("I see no sum above zero there. Write a number, such as 450."))
            return
        code = await currency_of(turn)
        if found.currency is not None and found.currency != code:
            words = turn.t("Requests are kept in %(code)s: write the sum in that currency.", code=code)
            await self.ask(turn, card, "sum", {}, words)
            return
        kept = on_wire(found.amount, turn.desk.house.scale)
        if kept is not None:
            await self._set(turn, card, "sum", kept)
            return
        sides = near(found.amount, turn.desk.house.scale)
        offered = [Button(await money_of(turn, side), "set", {"step": "sum", "value": side}) for side in sides]
        words = turn.t("The workspace cannot keep %(sum)s. Round it, or write another sum.", sum=found.amount)
        await self.ask(turn, card, "sum", {}, words, (tuple(offered),))

    async def _search(self, turn: Turn, card: Card, text: str) -> None:
        usable = await category_screen.categories_for(turn, card.state["draft"].get("author_block_id"))
        rows = category_screen.found(text, usable)
        if rows:
            all_of_them = (Button(turn.t("All categories"), "ask", {"step": "type"}),)
            await self.ask(turn, card, "type", {}, None, (*rows, all_of_them))
        else:
            nothing = turn.t("No category is like “%(text)s”.", text=short(text, 40))
            await self.ask(turn, card, "type", {}, nothing)

    async def _set(self, turn: Turn, card: Card, step: str, value: Any) -> None:
        draft = {**card.state["draft"], step: value}
        if step == "author_block_id" and draft.get("type") is not None:
            categories = await category_screen.categories_for(turn, value)
            if draft["type"] not in categories:
                del draft["type"]
        if step == "type" and value is not None:
            choices.note(turn, category_screen.KIND, int(value))
        await self.go_on(turn, card.with_state(draft=draft))

    async def review(self, turn: Turn, card: Card, head: str | None = None) -> None:
        """The whole draft, with a button for each part; `head` is HTML."""
        editing = "request" in card.state
        card = replace(card, state={**card.state, "screen": "form"}, subject=None if editing else DRAFT)
        several = len(await turn.desk.directory.blocks_of(turn.known().user_id)) > 1
        steps = [step for step in STEPS if several or step != "author_block_id"]
        parts = [Button(turn.t(LABELS[step]), "ask", {"step": step}) for step in steps]
        pairs = tuple(tuple(parts[place : place + 2]) for place in range(0, len(parts), 2))
        if editing:
            title = turn.texts.html("✏️ <b>%(title)s</b>", title=turn.t("Change the request, then save it"))
            first = (Button(turn.t("Save"), "save", style="success"),)
            last: tuple[Button, ...] = (Button(turn.t("‹ Back"), "back"),)
        else:
            title = turn.texts.html("📝 <b>%(title)s</b>", title=turn.t("Request, not submitted yet"))
            first = (Button(turn.t("Submit"), "submit", style="success"),)
            last = (Button(turn.t("Later"), "park"), Button(turn.t("Throw away"), "discard"))
        note = self._anew(turn, card) if editing else await currency_note(turn)
        text = await form_text(turn, card.state["draft"], head=head or title, note=note)
        turn.show(card, View(text, (first, *pairs, last)))

    def _anew(self, turn: Turn, card: Card) -> str | None:
        """What saving an edited request means for its approval."""
        draft, original = card.state["draft"], card.state["original"]
        if not card.state["standing"]["need"]:
            return turn.t("Saving submits it again: the approval starts anew.")
        if any(draft[step] != original[step] for step in ("sum", "author_block_id")):
            return turn.t("The sum or the position has changed: saving starts the approval anew, from the first one.")
        return turn.t("Approvals given so far stay; a changed sum would start the approval anew.")


def _begun(card: Card) -> bool:
    """Whether there is something to keep."""
    return any(card.state.get("draft", {}).get(step) for step in STEPS if step != "author_block_id")


def _month(turn: Turn, period: str) -> Button:
    return Button(turn.texts.month(period), "set", {"step": "finplan", "value": period})
