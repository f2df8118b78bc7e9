"""One's own message was changed: its card follows, line by line.

one line ─► the draft, or the saved entry, with what the text now says
several  ─► nothing saved yet: the list anew, what was chosen stays; some saved: the lines that differ are changed
"""

import re
from dataclasses import replace

from bot.cards import Card
from bot.desk import Turn
from bot.dialogues import entry_acts as acts
from bot.dialogues.entry_acts import show, without_pending
from bot.dialogues.entry_books import Books, books_of, fresh, taken
from bot.dialogues.entry_draft import Draft, drafts_of, with_draft, with_drafts
from bot.incoming import Edited
from bot.money_text import Kind, Parts, parts, read_lines

COMMAND = re.compile(r"^/\w+(?:@\w+)?\s*")


async def edited_lines(turn: Turn, card: Card, edited: Edited) -> None:
    """Shows or changes the entries of a card as its message now has them."""
    drafts = drafts_of(card)
    if all(draft.standing == "dropped" for draft in drafts):
        return
    books = await books_of(turn)
    text, today = COMMAND.sub("", edited.text), turn.written_on
    assumed: Kind | None = card.state.get("assumed")
    lines: tuple[Parts, ...] = read_lines(text, today, books.known, assumed)
    if edited.photo is not None:
        lines = (parts(text, today, books.known),)
    if any(draft.works for draft in drafts):
        turn.say(too_early(turn))
    elif not lines:
        turn.say(turn.t("I see no sum in the changed message; the entry stays as it was."))
    elif not any(draft.is_saved for draft in drafts):
        await _anew(turn, card, books, lines)
    elif len(lines) != len(drafts):
        turn.say(turn.t("Some of it is saved already. Write what is new in a message of its own."))
    else:
        await _changed(turn, card, books, lines)


async def _anew(turn: Turn, card: Card, books: Books, lines: tuple[Parts, ...]) -> None:
    """Drafts as the message now reads; what was chosen for a line of the same kind and words stays."""
    before = drafts_of(card)
    drafts: list[Draft] = []
    for number, read in enumerate(lines):
        draft = taken(turn, books, read, fresh(turn, read.kind or "out"))
        draft = replace(draft, description=draft.description or "")
        if number < len(before):
            draft = _chosen(draft, before[number], books, read)
        drafts.append(draft)
    await show(turn, with_drafts(without_pending(card), drafts, open=None), books)


def _chosen(draft: Draft, before: Draft, books: Books, read: Parts) -> Draft:
    """The draft with what was answered for the line before, where the text says nothing of it."""
    if draft.kind != before.kind:
        return replace(draft, receipt=before.receipt)
    same_words = draft.description == before.description
    keeps_box = read.cashbox is None and before.cashbox in books.boxes_in(draft.currency)
    keeps_category = read.category is None and (same_words or draft.category is None)
    return replace(
        draft,
        cashbox=before.cashbox if keeps_box else draft.cashbox,
        into=before.into if read.into is None else draft.into,
        category=before.category if keeps_category else draft.category,
        day=draft.day or before.day,
        site=draft.site if read.site is not None else before.site,
        receipt=before.receipt,
        amount=before.amount if read.amount is None else draft.amount,
        exact=before.exact if read.amount is None else draft.exact,
    )


async def _changed(turn: Turn, card: Card, books: Books, lines: tuple[Parts, ...]) -> None:
    """The lines that differ: a draft is drafted anew, the first saved one that differs is changed.

    One call is made at a time for what is saved; the others are told of.
    """
    drafts = drafts_of(card)
    differing: list[tuple[int, Draft]] = []
    for number, (draft, read) in enumerate(zip(drafts, lines, strict=True)):
        changed = taken(turn, books, replace(read, kind=None), draft)
        if changed == draft:
            continue
        if draft.is_saved:
            differing.append((number, changed))
        elif draft.standing == "draft":
            drafts[number] = replace(changed, told="", why="")
    card = with_drafts(without_pending(card), drafts)
    if not differing:
        await show(turn, card, books)
        return
    number, changed = differing[0]
    if len(differing) > 1:
        turn.say(turn.t("I change line %(line)s now. Correct the others one by one, by replying.", line=number + 1))
    await acts.change(turn, with_draft(card, number, drafts[number]), number, changed, books)


def too_early(turn: Turn) -> str:
    """What is said to a change that comes between a call and its outcome."""
    return turn.t("A call is under way, so this change was not made. Write it again, in reply to the card.")


def line_named(text: str, count: int) -> tuple[int | None, str]:
    """`2: 500` ─► the second line and what is said of it."""
    found = re.match(r"\s*(\d{1,2})\s*[:)]\s*(?=\S)", text)
    if found is None or not 1 <= int(found[1]) <= count:
        return None, text
    return int(found[1]) - 1, text[found.end() :]
