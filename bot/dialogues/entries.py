"""Money in, out and between cashboxes: /expense /income /move, free text, several lines, photos of receipts.

text, photo ─► draft ─(what is missing is asked, entry_ask)─► draft ──(Save)──► saving ──► saved ──(Undo)──► draft
several lines ─► list ─┬(a line)──► its draft ──(‹ All lines)──► list
                       └(Save all)──► each line with its own outcome ──(Undo all)──► list
A reply to the card, or a change of the message that made it, changes the draft or the saved entry (entry_acts). The
entries live in the card's state, so a restart loses nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot import preferences
from bot.cards import Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import entry_acts as acts
from bot.dialogues.entry_acts import is_several, line_of, pending_of, show, without_pending
from bot.dialogues.entry_ask import Question, with_choice
from bot.dialogues.entry_books import FIELDS, Books, books_of, doubt, fresh, guessed, no_cashbox_in, taken, usual_box
from bot.dialogues.entry_draft import NAME, Draft, drafts_of, new_card, with_draft, with_drafts
from bot.dialogues.entry_edit import edited_lines, line_named, too_early
from bot.dialogues.entry_receipt import attached, noting, picture_of, twin_of, with_picture
from bot.incoming import Edited, Said
from bot.intents import Intent, Settled, Verdict
from bot.money_text import Kind, Parts, parts, read_lines
from bot.texts import sentence

KINDS: dict[str, Kind] = {"expense": "out", "income": "in", "move": "move"}
"""The commands."""

NAMES = {"cashbox", "into", "category", "site", "day"}
"""Questions that a name answers, and a sum does not."""

MOST = 20
"""Entries in one message."""


class Entries(Dialogue):
    """Expenses, income and moves: guided, from free text and photos, saved, corrected and undone."""

    name = NAME
    commands = (
        Command("expense", sentence("Log an expense")),
        Command("income", sentence("Log income")),
        Command("move", sentence("Move money between cashboxes")),
    )

    async def command(self, turn: Turn, command: str, words: str) -> None:
        kind = KINDS[command]
        said = turn.incoming
        if words and isinstance(said, Said) and await self._from_text(turn, words, said, kind):
            return
        books = await books_of(turn)
        # “/expense taxi @card” has no sum: the rest of it is known all the same.
        read = parts(words, turn.today.date(), books.known, kind)
        await show(turn, new_card(turn, [taken(turn, books, read, fresh(turn, kind))], guided=True), books)

    async def free_text(self, turn: Turn, said: Said) -> bool:
        """Drafts from a text with sums in it, or from a photo; false where there is nothing of money."""
        if said.photo is not None:
            await self._from_photo(turn, said, said.photo)
            return True
        return await self._from_text(turn, said.text, said)

    async def _from_text(self, turn: Turn, text: str, said: Said, assumed: Kind | None = None) -> bool:
        today = turn.written_on
        if not read_lines(text, today, await turn.desk.directory.currencies(), assumed):
            return False
        books = await books_of(turn)
        lines = read_lines(text, today, books.known, assumed)
        if len(lines) > MOST:
            turn.say(turn.t("These are more than %(count)s entries. Send them in several messages.", count=MOST))
            return True
        drafts = [of_its_day(turn, drafted(turn, books, read)) for read in lines]
        turn.source(said.message_id)
        at_once = () if said.forwarded else self._sure(turn, books, lines, drafts)
        for line, draft in at_once:
            drafts[line] = draft
        card = new_card(turn, drafts, assumed=assumed)
        if at_once:
            await acts.save(turn, card, [line for line, _ in at_once], books)
        else:
            await show(turn, card, books)
        return True

    def _sure(
        self, turn: Turn, books: Books, lines: Sequence[Parts], drafts: Sequence[Draft]
    ) -> Sequence[tuple[int, Draft]]:
        """What may be saved at once, for one who has set that: entries of which nothing is in doubt."""
        with turn.desk.db.read() as connection:
            if preferences.get(connection, turn.known().user_id, "autosave", False) is not True:
                return ()
        found = [(line, usual_box(turn, books, draft)) for line, draft in enumerate(drafts)]
        today = turn.today.date().isoformat()
        return [
            (line, draft)
            for line, draft in found
            if lines[line].sure and (draft.day or today) <= today and doubt(draft, books, turn) is None
        ]

    async def _from_photo(self, turn: Turn, said: Said, file_id: str) -> None:
        """What the caption says, and for the rest what the receipt does."""
        picture = await picture_of(turn, file_id)
        books = await books_of(turn)
        read = parts(said.text, turn.written_on, books.known)
        draft = with_picture(taken(turn, books, read, fresh(turn)), picture, books)
        # The currency is known now, so a name may mean one cashbox only.
        again = Parts(cashbox=draft.cashbox_hint, into=draft.into_hint)
        draft = taken(turn, books, again, replace(draft, description=draft.description or ""))
        draft = of_its_day(turn, replace(draft, twin=await twin_of(turn, picture.fingerprint)))
        turn.source(said.message_id)
        await show(turn, new_card(turn, [draft]), books)
        turn.change(noting(turn, picture, said.message_id))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        line = line_of(card)
        drafts = drafts_of(card)
        everyone = range(len(drafts))
        match action:
            case "save" | "save_all":
                await self._save(turn, card, everyone if line is None else [line])
            case "undo" | "undo_all":
                await acts.undo(turn, card, everyone if line is None else [line])
            case "cancel":
                await self._cancel(turn, card)
            case "ask" | "ask_all":
                await self._ask(turn, card, args, everybody=action == "ask_all" or bool(card.state.get("everybody")))
            case "set":
                await self._set(turn, card, *next(iter(args.items())))
            case "kind" if line is not None:
                changed = replace(drafts[line], kind=args["kind"], category=None, category_hint=None)
                books = await books_of(turn)
                await show(turn, with_draft(card, line, guessed(turn, books, changed)), books)
            case "anyway" if line is not None:
                turn.note("logged again", f"receipt:{(drafts[line].receipt or '')[:16]}", note=drafts[line].twin or "")
                await show(turn, with_draft(card, line, replace(drafts[line], twin=None, again=True)))
            case "drop" if line is not None:
                dropped = replace(drafts[line], standing="dropped", told="", why="")
                await show(turn, with_draft(card, line, dropped, open=None))
            case "open":
                await show(turn, card.with_state(open=args["line"]))
            case "list":
                await show(turn, without_pending(card).with_state(open=None))
            case _:  # draft, keep, show: the card as it stands
                await show(turn, without_pending(card))

    async def _save(self, turn: Turn, card: Card, lines: Sequence[int]) -> None:
        """Looks once more whether a receipt has been logged by somebody else meanwhile."""
        drafts = drafts_of(card)
        for line in lines:
            receipt = drafts[line].receipt
            if receipt is not None and not drafts[line].again:
                drafts[line] = replace(drafts[line], twin=await twin_of(turn, receipt, but_card=card.id))
        await acts.save(turn, with_drafts(card, drafts), lines)

    async def _cancel(self, turn: Turn, card: Card) -> None:
        """Drafts go; what is saved or under way stays."""
        drafts = drafts_of(card)
        left = [replace(draft, standing="dropped") if draft.standing == "draft" else draft for draft in drafts]
        if all(draft.standing == "dropped" for draft in left):
            turn.show(with_drafts(card, left), View(turn.t("Cancelled; nothing was saved.")))
        else:
            await show(turn, with_drafts(card, left, open=None))

    async def _ask(self, turn: Turn, card: Card, args: dict[str, Any], *, everybody: bool) -> None:
        books = await books_of(turn)
        question = _question(turn, card, books, everybody=everybody, field=args["field"])
        if question is None:
            await show(turn, card, books)
        else:
            question.ask(args["field"], args)

    async def _set(self, turn: Turn, card: Card, field: str, value: Any) -> None:
        books = await books_of(turn)
        if card.state.get("everybody"):
            drafts = [
                with_choice(draft, field, value, books)
                if draft.standing == "draft"
                and doubt(draft, books, turn) == field
                and _fits(draft, field, value, books)
                else draft
                for draft in drafts_of(card)
            ]
            await show(turn, with_drafts(card, drafts, everybody=False), books)
            return
        current = pending_of(card) or drafts_of(card)[line_of(card) or 0]
        await self._go_on(turn, card, with_choice(current, field, value, books), books)

    async def _go_on(self, turn: Turn, card: Card, draft: Draft, books: Books) -> None:
        """The line of this card is now like this: a draft is shown, a saved entry is changed."""
        line = line_of(card) or 0
        if drafts_of(card)[line].is_saved:
            await acts.change(turn, card, line, draft, books)
        else:
            plain = replace(draft, told="", why="")
            await show(turn, with_draft(card, line, guessed(turn, books, plain)), books)

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        books = await books_of(turn)
        said = turn.incoming
        read = parts(text, turn.today.date(), books.known)
        if isinstance(said, Said):
            if said.reply_to == card.message_id and question != "description" and _says_a_field(read):
                await self.replied(turn, card, said)
                return
            several = len(read_lines(text, turn.today.date(), books.known)) > 1
            current = pending_of(card) or drafts_of(card)[line_of(card) or 0]
            # Its sum is known, in a currency without a cashbox: more than another sum is the next entry.
            several = several or (
                question == "amount"
                and read.amount is not None
                and bool(read.words)
                and no_cashbox_in(current, books) is not None
            )
            if question != "description" and (several or _is_new_entry(question, read, text, books)):
                # Who writes `12 taxi` while a cashbox is asked for goes on with the next entry; the buttons stay.
                await self.free_text(turn, said)
                return
        asked = _question(turn, card, books, everybody=bool(card.state.get("everybody")), field=question)
        if asked is None:
            await show(turn, card, books)
            return
        draft = asked.answer(FIELDS[question], text)
        if draft is None:
            return
        if card.state.get("everybody"):
            await self._set(turn, card, question, getattr(draft, question))
            return
        if question == "amount":
            # More than a sum: its words are the description, unless one was asked for and given.
            words = read.words if draft.description is None or not card.state.get("guided") else ""
            anew = replace(draft, category=None) if words and draft.transaction is None else draft
            draft = taken(turn, books, replace(read, amount=None, kind=None, words=words), anew)
        await self._go_on(turn, card, draft, books)

    async def replied(self, turn: Turn, card: Card, said: Said) -> bool:
        """`500`, `yesterday`, `#food`, `@bank`, other words: one field changes. A picture becomes the evidence."""
        drafts = drafts_of(card)
        line, text = line_named(said.text, len(drafts)) if is_several(card) else (0, said.text)
        line = line_of(card) if line is None else line
        if line is None:
            turn.say(turn.t("Which line? Begin with its number, such as “2: 500”, or open it first."))
            return True
        draft = drafts[line]
        if draft.standing == "dropped":
            return False
        if draft.works:
            turn.say(too_early(turn))
            return True
        if said.photo is not None:
            draft = await attached(turn, card, draft, said.photo)
            card = with_draft(card, line, draft)
        books = await books_of(turn)
        read = parts(text, turn.today.date(), books.known)
        kind = read.kind if not draft.is_saved else None
        opened = card.with_state(open=line if is_several(card) else None)
        await self._go_on(turn, opened, taken(turn, books, replace(read, kind=kind), draft), books)
        return True

    async def edited(self, turn: Turn, card: Card, edited: Edited) -> None:
        """The message was changed: drafts and saved entries follow it."""
        await edited_lines(turn, card, edited)

    async def abandoned(self, turn: Turn, card: Card) -> None:
        """/cancel closes the draft, and so does any command where no sum is known yet; else it stays, with buttons."""
        said = turn.incoming
        stopped = isinstance(said, Said) and said.text.strip().lower().startswith("/cancel")
        empty = all(draft.amount is None and not draft.exact and not draft.receipt for draft in drafts_of(card))
        if "pending" not in card.state and (stopped or empty):
            await self._cancel(turn, card)
        else:
            await show(turn, without_pending(card), quiet=True)

    async def refresh(self, turn: Turn, card: Card) -> None:
        line = line_of(card)
        if line is not None and drafts_of(card)[line].works:
            turn.toast(turn.t("This is already under way."))
        if all(draft.standing == "dropped" for draft in drafts_of(card)):
            turn.show(card, View(turn.t("Cancelled; nothing was saved.")))
        else:
            await show(turn, without_pending(card))

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        await acts.settled(turn, card, intent, settled)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        return await acts.read_back(turn, intent)


def drafted(turn: Turn, books: Books, read: Parts) -> Draft:
    """A draft from what a line says."""
    draft = taken(turn, books, read, fresh(turn, read.kind or "out"))
    return replace(draft, description=draft.description or "")


def _question(turn: Turn, card: Card, books: Books, *, everybody: bool, field: str) -> Question | None:
    """The question about the line that the card shows, or about all lines in which this field is unclear."""
    drafts = drafts_of(card)
    if everybody:
        draft = next((one for one in drafts if one.standing == "draft" and doubt(one, books, turn) == field), None)
        if draft is None:
            return None
        return Question(turn, card.with_state(everybody=True), books, draft, several=True, everybody=True)
    line = line_of(card)
    draft = pending_of(card) or (drafts[line] if line is not None else None)
    if draft is None or draft.works or draft.standing == "dropped":
        return None
    return Question(turn, card, books, draft, several=is_several(card), everybody=False)


def _fits(draft: Draft, field: str, value: Any, books: Books) -> bool:
    """Whether what was chosen for all fits this one: a cashbox its currency, a category its kind."""
    if field == "cashbox":
        return value in books.boxes_in(draft.currency)
    return field != "category" or value in books.categories_of(draft.kind)


def _says_a_field(read: Parts) -> bool:
    """Whether a text says more than words."""
    return read != Parts(words=read.words)


def _is_new_entry(question: str, read: Parts, text: str, books: Books) -> bool:
    """Whether a text is an entry of its own rather than an answer.

    A sum with words where one of two sums is to be chosen; a sum where a name is asked for and none has these words.
    """
    if read.amount is None or question not in NAMES:
        return question == "round" and read.amount is not None and bool(read.words)
    wanted = text.strip().casefold()
    names = [*books.box_names().values(), *(c.name or "" for c in books.categories.values()), *books.sites.values()]
    return not any(wanted in name.casefold() for name in names)


def of_its_day(turn: Turn, draft: Draft) -> Draft:
    """The draft, of the day on which its message was written, where neither the words nor the receipt name another."""
    late = draft.day is None and turn.written_on != turn.today.date()
    return replace(draft, day=turn.written_on.isoformat()) if late else draft
