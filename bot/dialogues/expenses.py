"""/expense: amount → cashbox → category → description → draft ──(Save)──► saving ──► saved ──(Undo)──► draft
`450 taxi`: what is missing is asked on the same message → draft …

The draft lives in the card's state, so a restart loses nothing. The likeliest answer is the first button; Back and
Cancel come last.
"""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from bot import cards, choices
from bot.cards import Button, Card, View
from bot.desk import Intended, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.expense_text import SURE, NotRepresentable, alike, parse, to_wire
from bot.dialogues.requests import under_way
from bot.intents import Intent, Settled, Verdict
from bot.texts import sentence, short
from workspace_api import calls
from workspace_api.contract.finance import Cashbox, TransactionCategory

PAGE = 8
"""Choices on one screen."""

FIELDS = ("amount", "cashbox", "category", "description")


class Expenses(Dialogue):
    """Expenses: guided, from free text, saved and undone."""

    name = "expenses"
    commands = (Command("expense", sentence("Log an expense")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        if words and await self.free_text(turn, words):
            return
        await self._go_on(turn, turn.new_card(self.name, guided=True))

    async def free_text(self, turn: Turn, text: str) -> bool:
        """A draft from a text with a sum in it; false where there is none."""
        currencies = await turn.desk.directory.currencies()
        entry = parse(text, turn.today.date(), currencies)
        if entry is None:
            return False
        try:
            amount = to_wire(entry.amount, turn.desk.house.scale)
        except NotRepresentable:
            turn.say(_whole_units(turn, entry.amount))
            return True
        state: dict[str, Any] = {"amount": amount, "description": short(entry.words, 500), "guided": False}
        if entry.currency is not None:
            state["currency"] = entry.currency
        if entry.day is not None:
            state["day"] = entry.day.isoformat()
        best = alike(entry.words, {c.id: c.name or "" for c in (await _categories(turn)).values() if c.id})
        if best and best[0][1] >= SURE and (len(best) == 1 or best[0][1] - best[1][1] >= 3.0):
            state["category"] = best[0][0]
        boxes = await _cashboxes(turn, state)
        if len(boxes) == 1:
            state["cashbox"] = next(iter(boxes))
        elif not boxes and "currency" in state:
            turn.say(turn.t("You have no cashbox in %(code)s.", code=state["currency"]))
            return True
        await self._go_on(turn, turn.new_card(self.name, **state))
        return True

    async def _go_on(self, turn: Turn, card: Card) -> None:
        """Asks for what is missing, else shows the draft."""
        for field in FIELDS:
            if field not in card.state:
                await self._ask(turn, card, field)
                return
        await self._draft(turn, card)

    async def _ask(self, turn: Turn, card: Card, field: str, args: dict[str, Any] | None = None) -> None:
        complete = all(name in card.state for name in FIELDS)
        last = (Button(turn.t("‹ Back"), "draft"),) if complete else (Button(turn.t("Cancel"), "cancel"),)
        if field == "amount":
            question = turn.t("How much did you spend? Write the sum.")
            turn.show(card, View(await self._text(turn, card, question), (last,)), expect="amount")
        elif field == "description":
            question = turn.t("What was it for? Write a few words.")
            skip = (Button(turn.t("Without a description"), "set", {"description": ""}),)
            turn.show(card, View(await self._text(turn, card, question), (skip, last)), expect="description")
        elif field == "cashbox":
            question = turn.t("Which cashbox was it paid from?")
            boxes = choices.ranked(turn, "cashbox", await _cashboxes(turn, card.state))
            rows = tuple((Button(_box_label(box), "set", {"cashbox": number}),) for number, box in boxes[:20])
            turn.show(card, View(await self._text(turn, card, question), (*rows, last)))
        else:
            await self._ask_category(turn, card, args or {}, last)

    async def _ask_category(self, turn: Turn, card: Card, args: dict[str, Any], last: tuple[Button, ...]) -> None:
        """Likely ones first, then the tree, level by level and page by page."""
        categories = await _categories(turn)
        parent, page = args.get("parent"), int(args.get("page", 0))
        parents = {c.parent_id for c in categories.values()}
        level = [c for c in categories.values() if (c.parent_id if c.parent_id in categories else None) == parent]
        rows: list[tuple[Button, ...]] = []
        if parent is None and page == 0:
            words = str(card.state.get("description", ""))
            guessed = [number for number, _ in alike(words, {c.id: c.name or "" for c in categories.values() if c.id})][
                :3
            ]
            recent = [number for number, _ in choices.ranked(turn, "category", categories, used_only=True)][:4]
            likely = list(dict.fromkeys([*guessed, *recent]))[:5]
            rows += [(Button(f"★ {categories[number].name}", "set", {"category": number}),) for number in likely]
        if parent is not None:
            rows.append(
                (Button(turn.t("Just “%(name)s”", name=categories[parent].name or ""), "set", {"category": parent}),)
            )
        for category in level[page * PAGE : (page + 1) * PAGE]:
            inner = category.id in parents
            action, more = (
                ("ask", {"field": "category", "parent": category.id}) if inner else ("set", {"category": category.id})
            )
            rows.append((Button(f"{category.name} ›" if inner else category.name or "?", action, more),))
        turning: list[Button] = []
        if page:
            turning.append(Button("‹", "ask", {"field": "category", "parent": parent, "page": page - 1}))
        if len(level) > (page + 1) * PAGE:
            turning.append(Button("›", "ask", {"field": "category", "parent": parent, "page": page + 1}))
        up: tuple[Button, ...] = ()
        if parent is not None:
            above = categories[parent].parent_id
            up = (
                Button(turn.t("‹ Up"), "ask", {"field": "category", "parent": above if above in categories else None}),
            )
        text = await self._text(turn, card, turn.t("Which category is it?"))
        turn.show(card, View(text, tuple(row for row in (*rows, tuple(turning), up, last) if row)))

    async def _text(self, turn: Turn, card: Card, question: str | None = None, head: str | None = None) -> str:
        """The draft so far, with the question below."""
        state = card.state
        categories = await turn.desk.directory.categories()
        boxes = await turn.desk.directory.cashboxes(turn.known().user_id, turn.api())
        box = boxes.get(state.get("cashbox", 0))
        code = (box.currency_code if box else None) or state.get("currency")
        currency = (await turn.desk.directory.currencies()).get(code or "")
        category = categories.get(state.get("category", 0))
        return turn.texts.render(
            "expense.html",
            head=head,
            question=question,
            money=turn.texts.money(state["amount"], currency, code) if "amount" in state else None,
            cashbox=box.name if box else None,
            category=_path(category, categories) if category else None,
            description=state.get("description"),
            day=turn.texts.day(_noon(turn, state["day"])) if state.get("day") else None,
        )

    async def _draft(self, turn: Turn, card: Card, head: str | None = None) -> None:
        rows = (
            (Button(turn.t("Save"), "save", style="success"),),
            (
                Button(turn.t("Amount"), "ask", {"field": "amount"}),
                Button(turn.t("Cashbox"), "ask", {"field": "cashbox"}),
            ),
            (
                Button(turn.t("Category"), "ask", {"field": "category"}),
                Button(turn.t("Description"), "ask", {"field": "description"}),
            ),
            (Button(turn.t("Cancel"), "cancel"),),
        )
        title = turn.texts.html("📝 <b>%(title)s</b>", title=turn.t("Expense, not saved yet"))
        turn.show(card, View(await self._text(turn, card, head=head or title), rows))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "cancel":
            turn.show(card, View(turn.t("Cancelled; nothing was saved.")))
        elif action == "ask":
            await self._ask(turn, card, args["field"], args)
        elif action == "draft":
            await self._draft(turn, card)
        elif action == "set":
            await self._go_on(turn, card.with_state(**args))
        elif action == "save":
            await self._save(turn, card)
        elif action == "undo":
            await self._undo(turn, card)

    async def abandoned(self, turn: Turn, card: Card) -> None:
        turn.show(card, View(turn.t("Cancelled; nothing was saved.")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        if question == "description":
            await self._go_on(turn, card.with_state(description=short(text, 500)))
            return
        currencies = await turn.desk.directory.currencies()
        entry = parse(text, turn.today.date(), currencies)
        if entry is None:
            await self._ask_again(turn, card, turn.t("I see no sum above zero there. Write a number, such as 450."))
            return
        try:
            amount = to_wire(entry.amount, turn.desk.house.scale)
        except NotRepresentable:
            await self._ask_again(turn, card, _whole_units(turn, entry.amount))
            return
        changes: dict[str, Any] = {"amount": amount}
        if entry.currency is not None:
            if not await _cashboxes(turn, {"currency": entry.currency}):
                await self._ask_again(turn, card, turn.t("You have no cashbox in %(code)s.", code=entry.currency))
                return
            changes["currency"] = entry.currency
            boxes = await _cashboxes(turn, changes)
            # Another currency than the chosen cashbox has: the cashbox is asked for again.
            if card.state.get("cashbox") not in boxes:
                card = _without(card, "cashbox")
        if entry.words and "description" not in card.state:
            changes["description"] = short(entry.words, 500)
        await self._go_on(turn, card.with_state(**changes))

    async def _ask_again(self, turn: Turn, card: Card, words: str) -> None:
        complete = all(name in card.state for name in FIELDS)
        last = Button(turn.t("‹ Back"), "draft") if complete else Button(turn.t("Cancel"), "cancel")
        turn.show(card, View(await self._text(turn, card, words), ((last,),)), expect="amount")

    async def _save(self, turn: Turn, card: Card) -> None:
        await turn.still_works_here()
        state = card.state
        categories, boxes = await _categories(turn), await _cashboxes(turn, {})
        if state["cashbox"] not in boxes:
            await self._ask(turn, card.with_state(), "cashbox")
            turn.toast(turn.t("You cannot use this cashbox any more. Choose another one."), alert=True)
            return
        if state["category"] not in categories:
            await self._ask(turn, card, "category")
            turn.toast(turn.t("This category has been archived. Choose another one."), alert=True)
            return
        data: dict[str, Any] = {"source": "chat"} | ({"date": state["day"]} if state.get("day") else {})
        call = calls.fintransaction.transaction.create(
            type="out",
            sum=state["amount"],
            cashbox_id=state["cashbox"],
            category_id=state["category"],
            description=state["description"],
            user_id=turn.known().user_id,
            data=data,
        )
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t("Saving …"))
        text = await self._text(turn, card, head=head)
        turn.show(card, View(text), intend=Intended(call, f"expense:{card.id}", {"act": "save"}))

    async def _undo(self, turn: Turn, card: Card) -> None:
        await turn.still_works_here()
        call = calls.fintransaction.transaction.delete(ids=[card.state["transaction"]], type="out")
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t("Undoing …"))
        text = await self._text(turn, card, head=head)
        before = {"act": "undo", "transaction": card.state["transaction"]}
        turn.show(card, View(text), intend=Intended(call, f"expense:{card.id}", before))

    async def refresh(self, turn: Turn, card: Card) -> None:
        if under_way(turn, card):
            turn.toast(turn.t("This is already under way."))
        elif "transaction" in card.state:
            await self._saved(turn, card)
        else:
            await self._go_on(turn, card)

    async def _saved(self, turn: Turn, card: Card) -> None:
        head = turn.texts.html("✅ <b>%(saved)s</b>", saved=turn.t("Saved, no. %(id)s", id=card.state["transaction"]))
        rows = ((Button(turn.t("Undo"), "undo"),),)
        turn.show(card, View(await self._text(turn, card, head=head), rows))

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        saving = intent.before["act"] == "save"
        if settled.kind == "checking":
            words = turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
            head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
            turn.show(card, View(await self._text(turn, card, head=head)))
        elif settled.kind == "done" and saving:
            state = card.state
            for kind in ("cashbox", "category"):
                choices.note(turn, kind, state[kind])
            await self._saved(turn, card.with_state(transaction=settled.data["id"]))
        elif settled.kind == "done":
            head = turn.texts.html("↩️ <b>%(undone)s</b>", undone=turn.t("Undone. You can change it and save it again."))
            await self._draft(turn, _without(card, "transaction"), head)
        else:
            words = (
                turn.t("The workspace refused: %(why)s", why=settled.message)
                if settled.kind == "refused"
                else turn.t("It was not seen in the workspace. Check there before you do it again.")
            )
            head = turn.texts.html("⛔ <b>%(words)s</b>", words=words)
            if saving:
                await self._draft(turn, card, head)
            else:
                turn.show(card, View(await self._text(turn, card, head=head), ((Button(turn.t("Undo"), "undo"),),)))

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """By the operation id in `data`; a workspace that drops `data` is read by what else the entry says."""
        found = await turn.api().finance.transaction.list(type="out")
        if intent.before["act"] == "undo":
            gone = [t for t in found if t.id == intent.before["transaction"] and t.delete_date is None]
            return Verdict(not gone, True)
        body = intent.body
        for transaction in found:
            if (transaction.data or {}).get("operation_id") == intent.id:
                return Verdict(True, {"id": transaction.id})
        with turn.desk.db.read() as connection:
            others = cards.claimed(connection, self.name, "transaction", intent.card_id)
        twins = [
            t
            for t in found
            if not t.data
            and t.id not in others
            and (t.sum, t.cashbox_id, t.category_id, t.description, t.user_id)
            == (body["sum"], body["cashbox_id"], body["category_id"], body["description"], intent.user_id)
            and t.creation_date is not None
            and t.creation_date.timestamp() >= intent.created_at - 5
        ]
        return Verdict(len(twins) == 1, {"id": twins[0].id} if len(twins) == 1 else None)


def _without(card: Card, field: str) -> Card:
    """The card without one member of its state."""
    return replace(card, state={name: value for name, value in card.state.items() if name != field})


async def _categories(turn: Turn) -> dict[int, TransactionCategory]:
    """Categories of expenses that take new entries."""
    found = await turn.desk.directory.categories()
    return {n: c for n, c in found.items() if c.transaction_type == "out" and not c.is_archived}


async def _cashboxes(turn: Turn, state: Any) -> dict[int, Cashbox]:
    """The person's cashboxes, of the named currency where one was named."""
    found = await turn.desk.directory.cashboxes(turn.known().user_id, turn.api())
    code = state.get("currency")
    return {n: box for n, box in found.items() if code is None or box.currency_code == code}


def _box_label(box: Cashbox) -> str:
    return f"{box.name} · {box.currency_code}"


def _path(category: TransactionCategory, categories: dict[int, TransactionCategory]) -> str:
    """`Transport › Taxi`"""
    above = categories.get(category.parent_id or 0)
    return f"{above.name} › {category.name}" if above else category.name or "?"


def _noon(turn: Turn, day: str) -> Any:
    """The middle of a day in the house's zone, which is that day in every near zone."""
    return turn.today.replace(
        year=date.fromisoformat(day).year, month=date.fromisoformat(day).month, day=date.fromisoformat(day).day, hour=12
    )


def _whole_units(turn: Turn, amount: Decimal) -> str:
    if turn.desk.house.scale:
        return turn.t("%(sum)s has more decimals than the workspace keeps. Write it with two.", sum=amount)
    return turn.t(
        "The workspace keeps whole units: %(sum)s cannot be noted. Write %(low)s or %(high)s.",
        sum=amount,
        low=int(amount),
        high=int(amount) + 1,
    )
