"""Saving, changing and undoing entries: one call each, its outcome shown, and found again where the answer was lost.

draft ──save──► saving ──► saved        saved ──change──► changing ──► saved        saved ──undo──► undoing ──► draft
Each act is decided on fresh state: who still works here, what the workspace has, up to when the books are closed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sqlalchemy import select

from bot import evidence
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogues.entry_ask import Question, closed_words
from bot.dialogues.entry_books import Books, books_of, doubt, remembered
from bot.dialogues.entry_draft import (
    Draft,
    Standing,
    Told,
    as_draft,
    booked_on,
    changing,
    deleting,
    drafts_of,
    saving,
    says_the_same,
    subject_of,
    unsaved_subject,
    with_draft,
    with_drafts,
)
from bot.dialogues.entry_view import draft_view, head_of, list_view, saved_view, twin_view, working
from bot.intents import Intent, Settled, Verdict
from bot.money_text import Kind
from bot.tables import audit
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finance import Transaction

CREATE = "fintransaction.transaction.create"


def line_of(card: Card) -> int | None:
    """Which of its entries the card shows; None: the list of all."""
    shown = card.state.get("open")
    if isinstance(shown, int):
        return shown
    return 0 if len(card.state.get("entries", [])) == 1 else None


def is_several(card: Card) -> bool:
    return len(card.state.get("entries", [])) > 1


def pending_of(card: Card) -> Draft | None:
    """What a saved entry is to become, while something about that is still being asked."""
    kept = card.state.get("pending")
    return None if kept is None else Draft(**kept)


async def show(turn: Turn, card: Card, books: Books | None = None, *, quiet: bool = False) -> None:
    """The screen that fits how the card stands; `quiet`: nothing is asked, the card only stands there."""
    books = await books_of(turn) if books is None else books
    drafts, line = drafts_of(card), line_of(card)
    card = card.with_state(asked=None, problem=None, everybody=False)
    if line is None or drafts[line].standing == "dropped":
        turn.show(card.with_state(open=None), list_view(drafts, books, turn))
        return
    draft, several = drafts[line], is_several(card)
    if draft.works:
        turn.show(card, working(draft, books, turn))
    elif draft.twin is not None:
        turn.show(card, twin_view(draft, books, turn, several=several))
    elif draft.is_saved:
        turn.show(card, saved_view(draft, books, turn, several=several))
    elif (field := doubt(draft, books, turn)) is None or quiet:
        turn.show(card, draft_view(draft, books, turn, several=several))
    else:
        Question(turn, card, books, draft, several=several, everybody=False).ask(field, {})


async def save(turn: Turn, card: Card, lines: Iterable[int], books: Books | None = None) -> None:
    """Books each of these drafts of which all is known, with a call of its own."""
    await turn.still_works_here()
    books = await books_of(turn) if books is None else books
    drafts, intended = drafts_of(card), list[Intended]()
    for line in lines:
        draft = drafts[line]
        if draft.standing != "draft" or draft.twin is not None or doubt(draft, books, turn) is not None:
            continue
        call = saving(draft, turn.known().user_id)
        intended.append(Intended(call, unsaved_subject(card, line), {"act": "save", "line": line}, key="any"))
        drafts[line] = replace(draft, standing="saving", told="", why="")
    if not intended:
        _say_why_not(turn, books, drafts, line_of(card))
        await show(turn, card, books)
        return
    _show_working(turn, with_drafts(card, drafts, asked=None), books, intended)


def _say_why_not(turn: Turn, books: Books, drafts: Sequence[Draft], line: int | None) -> None:
    field = None if line is None else doubt(drafts[line], books, turn)
    if field == "cashbox":
        turn.toast(turn.t("You cannot use this cashbox any more. Choose another one."), alert=True)
    elif field == "category":
        turn.toast(turn.t("This category has been archived. Choose another one."), alert=True)
    elif field == "day":
        turn.toast(closed_words(turn, books), alert=True)


def _show_working(turn: Turn, card: Card, books: Books, intended: Sequence[Intended]) -> None:
    drafts, line = drafts_of(card), line_of(card)
    view = list_view(drafts, books, turn) if line is None else working(drafts[line], books, turn)
    turn.show(card, view, intend=intended)


async def undo(turn: Turn, card: Card, lines: Iterable[int]) -> None:
    """Deletes each of these saved entries, unless it is gone already or its day is closed."""
    await turn.still_works_here()
    books = await books_of(turn)
    drafts, intended = drafts_of(card), list[Intended]()
    wanted = [line for line in lines if drafts[line].is_saved]
    found = await saved_entries(turn, {drafts[line].kind for line in wanted})
    refused = ""
    for line in wanted:
        draft = drafts[line]
        transaction = found.get(draft.transaction or 0)
        if transaction is None:
            drafts[line] = replace(as_draft(draft), told="gone")
            _forget_receipt(turn, card, draft)
            continue
        refused = _may_not(turn, books, transaction, draft.day) or refused
        if not _may_not(turn, books, transaction, draft.day):
            before = {"act": "undo", "line": line, "transaction": draft.transaction}
            intended.append(Intended(deleting(draft), subject_of(draft.transaction or 0), before, key="any"))
            drafts[line] = replace(draft, standing="undoing", told="", why="")
    if refused:
        turn.toast(refused, alert=True)
    card = with_drafts(card, drafts)
    if intended:
        _show_working(turn, card, books, intended)
    else:
        await show(turn, card, books)


async def change(turn: Turn, card: Card, line: int, changed: Draft, books: Books | None = None) -> None:
    """Makes a saved entry like `changed`; asks first about what that leaves in doubt."""
    books = await books_of(turn) if books is None else books
    draft = drafts_of(card)[line]
    if replace(changed, told=draft.told, why=draft.why) == draft:
        await show(turn, without_pending(card), books)
        return
    await turn.still_works_here()
    transaction = (await saved_entries(turn, {draft.kind})).get(draft.transaction or 0)
    if transaction is None:
        gone = replace(as_draft(changed), told="gone")
        _forget_receipt(turn, card, draft)
        await show(turn, with_draft(without_pending(card), line, gone), books)
        return
    refused = _may_not(turn, books, transaction, draft.day)
    if refused:
        turn.say(turn.texts.html("%(words)s", words=refused))
        await show(turn, without_pending(card), books)
        return
    # The new day counts, where one was named.
    judged = replace(changed, booked=None) if changed.day != draft.day else changed
    field = doubt(judged, books, turn, draft)
    if field is not None:
        asking = card.with_state(pending=judged.to_state(), open=line if is_several(card) else None, everybody=False)
        Question(turn, asking, books, judged, several=is_several(card), everybody=False).ask(field, {})
        return
    before = {"act": "change", "line": line, "transaction": draft.transaction, "after": judged.to_state()}
    intended = Intended(changing(judged, transaction), subject_of(draft.transaction or 0), before, key="any")
    card = with_draft(without_pending(card), line, replace(draft, standing="changing", told="", why=""), asked=None)
    _show_working(turn, card, books, [intended])


def without_pending(card: Card) -> Card:
    """The card with its saved entry left as it was."""
    return replace(card, state={name: value for name, value in card.state.items() if name != "pending"})


def _may_not(turn: Turn, books: Books, transaction: Transaction, day: str | None) -> str:
    """Why this entry is not changed; nothing where it may be."""
    me = turn.known()
    if me.sealed_key is None and transaction.user_id != me.user_id:
        # The service's key may change everything; its policy lets a person log for themselves only.
        return turn.t("This entry is somebody else's.")
    counted = booked_on(transaction.report_date or transaction.creation_date, turn) or day
    if counted is not None and books.is_closed(date.fromisoformat(counted)):
        return turn.t("%(closed)s This entry stays as it is.", closed=closed_words(turn, books))
    return ""


async def saved_entries(turn: Turn, kinds: Iterable[Kind]) -> dict[int, Transaction]:
    """The entries of these kinds that the workspace has now, by id."""
    api = turn.api_to("log")
    found = dict[int, Transaction]()
    for kind in sorted(set(kinds)):
        for transaction in await api.finance.transaction.list(type=kind):
            if transaction.id is not None and transaction.delete_date is None:
                found[transaction.id] = transaction
    return found


def _forget_receipt(turn: Turn, card: Card, draft: Draft) -> None:
    receipt = draft.receipt
    if receipt is not None:
        turn.change(lambda connection: evidence.settle(connection, card.id, receipt, None))


async def settled(turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
    """Notes what became of a call on its line, and shows it. What is known is kept even where nothing can be read."""
    line, act = int(intent.before["line"]), intent.before["act"]
    draft = drafts_of(card)[line]
    after = _after(turn, draft, intent, settled)
    card = with_draft(card, line, after)
    if settled.kind == "done":
        receipt, number = after.receipt, after.transaction
        if receipt is not None:
            turn.change(lambda connection: evidence.settle(connection, card.id, receipt, number))
        if act != "undo":
            remembered(turn, after)
    elif settled.kind == "refused":
        # What was archived meanwhile, or is open to this person no more, is not offered again.
        turn.desk.directory.forget()
    try:
        books = await books_of(turn)
    except (WorkspaceError, Refusal, VaultError):
        _show_without_books(turn, card, after)
        return
    if settled.kind == "refused" and act == "save":
        card = with_draft(card, line, _in_our_words(turn, books, after))
    await show(turn, card, books)


def _in_our_words(turn: Turn, books: Books, draft: Draft) -> Draft:
    """The refused draft, and where something was archived meanwhile, that in the person's language and without it."""
    field = doubt(draft, books, turn)
    if field == "category":
        why = turn.t("This category has been archived. Choose another one.")
        return replace(draft, category=None, why=why)
    if field == "cashbox":
        why = turn.t("You cannot use this cashbox any more. Choose another one.")
        return replace(draft, cashbox=None, why=why)
    return draft


def _show_without_books(turn: Turn, card: Card, draft: Draft) -> None:
    """The outcome alone, while the workspace answers nothing else; the rest comes at a tap."""
    head = head_of(draft, turn)
    if head is None and draft.is_saved:
        head = turn.texts.html("✅ <b>%(saved)s</b>", saved=turn.t("Saved, no. %(id)s", id=draft.transaction))
    if head is None:
        words = turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
        head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
    turn.show(card, View(head, ((Button(turn.t("Show"), "show"),),)))


def _after(turn: Turn, draft: Draft, intent: Intent, settled: Settled) -> Draft:
    """The line after its call."""
    act = intent.before["act"]
    if settled.kind == "checking":
        return replace(draft, standing="checking")
    if settled.kind == "done" and act == "undo":
        return replace(as_draft(draft), told="undone")
    if settled.kind == "done":
        after = Draft(**intent.before["after"]) if act == "change" else draft
        answer = Transaction.model_validate(settled.data or {})
        number = draft.transaction if answer.id is None else answer.id
        if number is None:
            # It was booked, and nobody can say as what: a person has to look.
            return replace(draft, standing="draft", told="not_seen", why="")
        booked = booked_on(answer.report_date or answer.creation_date, turn) or after.day
        told: Told = "changed" if act == "change" else ""
        return replace(after, transaction=number, booked=booked, standing="saved", told=told, why="", again=False)
    standing: Standing = "draft" if act == "save" else "saved"
    if settled.kind == "refused":
        return replace(draft, standing=standing, told="refused", why=settled.message)
    return replace(draft, standing=standing, told="not_seen", why="")


async def read_back(turn: Turn, intent: Intent) -> Verdict:
    """By the operation id in `data`; a workspace that drops `data` is read by what else the entry says."""
    act, body = intent.before["act"], intent.body
    found = await saved_entries(turn, [body["type"]])
    if act == "undo":
        return Verdict(intent.before["transaction"] not in found, True)
    if act == "change":
        changed = found.get(intent.before["transaction"])
        since = changed.update_date if changed is not None else None
        fresh = since is None or since.timestamp() >= intent.created_at - 5
        if changed is not None and fresh and says_the_same(changed, body):
            return Verdict(True, _plain(changed))
        return Verdict(None)
    for transaction in found.values():
        if (transaction.data or {}).get("operation_id") == intent.id:
            return Verdict(True, _plain(transaction))
    claimed = _claimed(turn, intent)
    twins = [
        transaction
        for number, transaction in found.items()
        if not transaction.data
        and number not in claimed
        and transaction.user_id == intent.user_id
        and says_the_same(transaction, body)
        and transaction.creation_date is not None
        and transaction.creation_date.timestamp() >= intent.created_at - 5
    ]
    return Verdict(True, _plain(twins[0])) if len(twins) == 1 else Verdict(None)


def _claimed(turn: Turn, intent: Intent) -> set[int]:
    """The transactions that other calls are known to have made since this one was asked for."""
    since = intent.created_at - 5
    query = select(audit.c.subject).where(
        audit.c.operation == CREATE, audit.c.act == "done", audit.c.at >= since, audit.c.intent_id != intent.id
    )
    with turn.desk.db.read() as connection:
        subjects = list(connection.execute(query).scalars())
    return {int(subject.split(":")[1]) for subject in subjects if subject.startswith("transaction:")}


def _plain(transaction: Transaction) -> dict[str, Any]:
    """As it came from the workspace."""
    return transaction.model_dump(mode="json", exclude_none=True)
