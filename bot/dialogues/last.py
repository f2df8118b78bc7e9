"""/last: my ten newest entries ──(an entry)──► it ─┬(Repeat)───► a draft like it, of today, on a card of its own
├(Correct)──► its saved card, which takes replies and Undo
└(‹ Back)───► the list
"""

from dataclasses import replace
from typing import Any

from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.entry_acts import show
from bot.dialogues.entry_books import Books, books_of
from bot.dialogues.entry_draft import Draft, as_draft, from_transaction, new_card
from bot.dialogues.entry_view import MARKS, day_name, money_of, one
from bot.money_text import Kind
from bot.texts import sentence, short

MOST = 10

KINDS: tuple[Kind, ...] = ("out", "in", "move")


class Last(Dialogue):
    """A person's newest entries, wherever they were made."""

    name = "last"
    commands = (Command("last", sentence("My last entries: repeat, correct")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        await self._list(turn, turn.new_card(self.name))

    async def _list(self, turn: Turn, card: Card) -> None:
        books, drafts = await books_of(turn, "see"), await _mine(turn)
        if not drafts:
            turn.show(card, View(turn.t("You have no entries yet. Write for example “450 taxi”.")))
            return
        lines = [
            {
                "mark": MARKS[draft.kind],
                "money": money_of(draft, books, turn),
                "words": draft.description or _category(draft, books),
                "day": day_name(turn, draft.booked) if draft.booked else "",
            }
            for draft in drafts
        ]
        text = turn.texts.render("last.html", lines=lines)
        buttons = [
            (Button(_label(number, draft, books, turn), "entry", {"id": draft.transaction, "kind": draft.kind}),)
            for number, draft in enumerate(drafts, 1)
        ]
        turn.show(card.with_state(entry=None), View(text, tuple(buttons)))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "list":
            await self._list(turn, card)
            return
        draft = next((mine for mine in await _mine(turn) if mine.transaction == args["id"]), None)
        if draft is None:
            turn.toast(turn.t("This entry is gone, or it is no longer among your last ones."), alert=True)
            await self._list(turn, card)
        elif action == "repeat":
            books = await books_of(turn)
            turn.toast(turn.t("A draft like it is below."))
            await show(turn, new_card(turn, [replace(as_draft(draft), receipt=None)]), books)
        elif action == "correct":
            turn.toast(turn.t("Reply to the card below, or undo it there."))
            await show(turn, new_card(turn, [draft]))
        else:
            await self._entry(turn, card, draft)

    async def _entry(self, turn: Turn, card: Card, draft: Draft) -> None:
        books = await books_of(turn, "see")
        head = turn.texts.html("✅ <b>%(saved)s</b>", saved=turn.t("Saved, no. %(id)s", id=draft.transaction))
        this = {"id": draft.transaction, "kind": draft.kind}
        rows = (
            (Button(turn.t("Repeat"), "repeat", this), Button(turn.t("Correct"), "correct", this)),
            (Button(turn.t("‹ Back"), "list"),),
        )
        turn.show(card.with_state(entry=draft.transaction), View(one(draft, books, turn, head=head), rows))

    async def refresh(self, turn: Turn, card: Card) -> None:
        await self._list(turn, card)


async def _mine(turn: Turn) -> list[Draft]:
    """The person's newest entries, the newest first."""
    api, me = turn.api_to("see"), turn.known().user_id
    found: list[Draft] = []
    for kind in KINDS:
        found += [
            from_transaction(one, kind, turn)
            for one in await api.finance.transaction.list(type=kind)
            if one.user_id == me and one.id is not None and one.delete_date is None
        ]
    return sorted(found, key=lambda draft: -(draft.transaction or 0))[:MOST]


def _category(draft: Draft, books: Books) -> str:
    category = books.categories.get(draft.category or 0)
    return (category.name if category else None) or ""


def _label(number: int, draft: Draft, books: Books, turn: Turn) -> str:
    return short(f"{number}. {money_of(draft, books, turn)} {draft.description or _category(draft, books)}", 40)
