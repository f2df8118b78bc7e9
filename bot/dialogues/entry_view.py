"""How entries look: one entry, and several on one card with what is unclear and what became of each.

draft: all that is known, Save · Amount · Cashbox · Category · Description · Day · Site · Cancel        saved: Undo
several: a line for each, Save all · (open a line) · Cancel        saved: Undo all
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from babel.dates import format_date

from bot.cards import Button, View
from bot.desk import Turn
from bot.dialogues.entry_books import Books, Field, doubt, no_cashbox_in
from bot.dialogues.entry_draft import Draft, Standing
from bot.money_text import Kind
from bot.texts import LOCALES, sentence, short
from workspace_api.contract.finance import TransactionCategory

MARKS: dict[Kind, str] = {"out": "💸", "in": "💰", "move": "🔁"}

UNSAVED = {
    "out": sentence("Expense, not saved yet"),
    "in": sentence("Income, not saved yet"),
    "move": sentence("Move, not saved yet"),
}

NEW = {"out": sentence("New expense"), "in": sentence("New income"), "move": sentence("New move")}

UNCLEAR = {
    "amount": sentence("which sum?"),
    "round": sentence("which whole sum?"),
    "cashbox": sentence("which cashbox?"),
    "into": sentence("to which cashbox?"),
    "arriving": sentence("how much arrives?"),
    "category": sentence("which category?"),
    "day": sentence("that day is closed"),
    "description": sentence("what for?"),
}

WORKING: Mapping[Standing, str] = {
    "saving": sentence("Saving …"),
    "changing": sentence("Changing …"),
    "undoing": sentence("Undoing …"),
    "checking": sentence("The workspace has not confirmed it yet. I am checking; do not do it again."),
}

IN_A_ROW = 5


def money_of(draft: Draft, books: Books, turn: Turn) -> str:
    """The sum with its currency; the exact one where it still has to be rounded."""
    code = books.code(draft)
    currency = books.currencies.get(code or "")
    if draft.amount is None:
        return exact_of(draft, books, turn) or "?"
    return turn.texts.money(draft.amount, currency, code)


def exact_of(draft: Draft, books: Books, turn: Turn) -> str | None:
    """The sum as it was written, where the workspace cannot keep it: `12,50 €`"""
    if draft.exact is None:
        return None
    exact, code = Decimal(draft.exact), books.code(draft)
    exponent = exact.as_tuple().exponent
    places = max(2, -exponent) if isinstance(exponent, int) else 2
    finer = replace(turn.texts, scale=places)
    return finer.money(int(exact.scaleb(places)), books.currencies.get(code or ""), code)


def locale_of(turn: Turn) -> str:
    return LOCALES.get(turn.texts.language, "en_GB")


def arriving_of(draft: Draft, books: Books, turn: Turn) -> str | None:
    """What arrives in another currency."""
    box = books.boxes.get(draft.into or 0)
    if draft.arriving is None or box is None:
        return None
    return turn.texts.money(draft.arriving, books.currencies.get(box.currency_code or ""), box.currency_code)


def day_name(turn: Turn, day: str | date) -> str:
    """`20 Nov 2026`"""
    meant = date.fromisoformat(day) if isinstance(day, str) else day
    return format_date(meant, "d MMM y", locale=locale_of(turn))


def path_of(category: TransactionCategory, categories: Mapping[int, TransactionCategory]) -> str:
    """`Transport › Taxi`"""
    above = categories.get(category.parent_id or 0)
    return f"{above.name} › {category.name}" if above else category.name or "?"


def one(
    draft: Draft, books: Books, turn: Turn, *, head: str | None = None, question: str | None = None, hint: str = ""
) -> str:
    """An entry as HTML, with what is asked below; `head` is HTML."""
    box, into = books.boxes.get(draft.cashbox or 0), books.boxes.get(draft.into or 0)
    category = books.categories.get(draft.category or 0)
    counted = (draft.booked if draft.transaction is not None else None) or draft.day
    # The day is always shown: what is not said counts on today.
    shown = day_name(turn, counted) if counted else turn.t("today")
    has_sum = draft.amount is not None or draft.exact is not None
    if head is None and not has_sum:
        head = turn.texts.html("%(mark)s <b>%(title)s</b>", mark=MARKS[draft.kind], title=turn.t(NEW[draft.kind]))
    return turn.texts.render(
        "entry.html",
        head=head,
        mark=MARKS[draft.kind],
        money=money_of(draft, books, turn) if has_sum else None,
        arriving=arriving_of(draft, books, turn),
        exact=exact_of(draft, books, turn) if draft.amount is not None else None,
        category=path_of(category, books.categories) if category and draft.kind != "move" else None,
        cashbox=box.name if box else None,
        into=into.name if into else None,
        description=draft.description,
        day=shown if has_sum else None,
        other_day=day_name(turn, draft.day) if draft.booked and draft.day and draft.day != draft.booked else None,
        site=books.sites.get(draft.site) if draft.site is not None else None,
        receipt=draft.receipt is not None,
        question=question,
        hint=hint,
    )


def head_of(draft: Draft, turn: Turn) -> str | None:
    """What happened last, as HTML; None where nothing did."""
    if draft.told == "undone":
        return turn.texts.html("↩️ <b>%(undone)s</b>", undone=turn.t("Undone. You can change it and save it again."))
    if draft.told == "gone":
        words = turn.t("It was deleted in the workspace meanwhile. You can save it again.")
    elif draft.told == "refused":
        words = turn.t("The workspace refused: %(why)s", why=draft.why)
    elif draft.told == "not_seen":
        words = turn.t("It was not seen in the workspace. Check there before you do it again.")
    elif draft.told == "changed":
        return turn.texts.html("✏️ <b>%(words)s</b>", words=turn.t("Changed, no. %(id)s", id=draft.transaction))
    else:
        return None
    return turn.texts.html("⛔ <b>%(words)s</b>", words=words)


def working(draft: Draft, books: Books, turn: Turn) -> View:
    """The entry while its call is under way: no buttons."""
    mark = "⚠️" if draft.standing == "checking" else "⏳"
    head = turn.texts.html("%(mark)s <b>%(doing)s</b>", mark=mark, doing=turn.t(WORKING[draft.standing]))
    return View(one(draft, books, turn, head=head))


def draft_view(draft: Draft, books: Books, turn: Turn, *, several: bool) -> View:
    """A draft of which all is known."""
    head = head_of(draft, turn) or turn.texts.html("📝 <b>%(title)s</b>", title=turn.t(UNSAVED[draft.kind]))
    rows = [
        (Button(turn.t("Save"), "save", style="success"),),
        (_ask(turn.t("Amount"), "amount"), _ask(turn.t("Cashbox"), "cashbox")),
        (
            _ask(turn.t("To cashbox"), "into") if draft.kind == "move" else _ask(turn.t("Category"), "category"),
            _ask(turn.t("Description"), "description"),
        ),
        (_ask(turn.t("Day"), "day"), *((_ask(turn.t("Site"), "site"),) if books.sites else ())),
    ]
    if draft.kind != "move":
        other: Kind = "in" if draft.kind == "out" else "out"
        label = turn.t("It is income") if other == "in" else turn.t("It is an expense")
        rows.append((Button(label, "kind", {"kind": other}),))
    return View(one(draft, books, turn, head=head), (*rows, way_back(turn, several=several)))


def saved_view(draft: Draft, books: Books, turn: Turn, *, several: bool) -> View:
    """A saved entry with its number and its Undo."""
    head = head_of(draft, turn) or turn.texts.html(
        "✅ <b>%(saved)s</b>", saved=turn.t("Saved, no. %(id)s", id=draft.transaction)
    )
    undo = (Button(turn.t("Undo"), "undo"),)
    hint = turn.t("To correct it, reply to this message: 500, yesterday, #category, @cashbox or other words.")
    return View(one(draft, books, turn, head=head, hint=hint), (undo, (_list(turn),)) if several else (undo,))


def twin_view(draft: Draft, books: Books, turn: Turn, *, several: bool) -> View:
    """A receipt that was logged before: all the same, or not."""
    head = turn.texts.html("🧾 <b>%(words)s</b>", words=draft.twin)
    anyway = (Button(turn.t("Log it anyway"), "anyway"),)
    return View(one(draft, books, turn, head=head), (anyway, way_back(turn, several=several)))


def way_back(turn: Turn, *, several: bool) -> tuple[Button, ...]:
    """The last row of a draft: off the card, or off the list and back to it."""
    if several:
        return (Button(turn.t("Drop this line"), "drop"), _list(turn))
    return (Button(turn.t("Cancel"), "cancel"),)


def _list(turn: Turn) -> Button:
    return Button(turn.t("‹ All lines"), "list")


def _ask(label: str, field: Field) -> Button:
    return Button(label, "ask", {"field": field})


def list_view(drafts: Sequence[Draft], books: Books, turn: Turn) -> View:
    """Several entries on one card."""
    lines = [_line(number, draft, books, turn) for number, draft in enumerate(drafts, 1)]
    text = turn.texts.render("entries.html", head=_list_head(drafts, turn), lines=lines)
    waiting = [draft for draft in drafts if draft.standing == "draft"]
    clear = [draft for draft in waiting if doubt(draft, books, turn) is None]
    rows: list[tuple[Button, ...]] = []
    if clear and len(clear) == len(drafts):
        rows.append((Button(turn.t("Save all"), "save_all", style="success"),))
    elif clear:
        label = turn.texts.n("Save %(count)d clear line", "Save %(count)d clear lines", len(clear))
        rows.append((Button(label, "save_all", style="success"),))
    unclear = [doubt(draft, books, turn) for draft in waiting]
    if sum(field == "cashbox" for field in unclear) > 1:
        rows.append((Button(turn.t("One cashbox for all"), "ask_all", {"field": "cashbox"}),))
    if sum(field == "category" for field in unclear) > 1:
        rows.append((Button(turn.t("One category for all"), "ask_all", {"field": "category"}),))
    open_ = [
        Button(f"{number} {_mark(draft, books, turn)}", "open", {"line": number - 1})
        for number, draft in enumerate(drafts, 1)
        if draft.standing != "dropped" and not draft.works
    ]
    rows += [tuple(open_[start : start + IN_A_ROW]) for start in range(0, len(open_), IN_A_ROW)]
    if any(draft.is_saved for draft in drafts):
        rows.append((Button(turn.t("Undo all"), "undo_all"),))
    if waiting:
        label = turn.t("Cancel the rest") if len(waiting) < len(drafts) else turn.t("Cancel")
        rows.append((Button(label, "cancel"),))
    return View(text, tuple(rows))


def _list_head(drafts: Sequence[Draft], turn: Turn) -> str:
    saved = sum(draft.is_saved for draft in drafts)
    if any(draft.works for draft in drafts):
        return "⏳ " + turn.t("Under way …")
    if saved:
        total = sum(draft.standing != "dropped" for draft in drafts)
        return "✅ " + turn.t("Saved: %(saved)s of %(total)s", saved=saved, total=total)
    count = sum(draft.standing == "draft" for draft in drafts)
    return "📝 " + turn.texts.n("%(count)d entry, not saved yet", "%(count)d entries, not saved yet", count)


def _mark(draft: Draft, books: Books, turn: Turn) -> str:
    if draft.standing == "dropped":
        return "✖️"
    if draft.works:
        return "⚠️" if draft.standing == "checking" else "⏳"
    if draft.is_saved:
        return "✅"
    if draft.told in {"refused", "not_seen", "gone"}:
        return "⛔"
    return "❓" if doubt(draft, books, turn) is not None else "✏️"


def _line(number: int, draft: Draft, books: Books, turn: Turn) -> dict[str, object]:
    category = books.categories.get(draft.category or 0)
    ends = [box.name for box in map(books.boxes.get, (draft.cashbox or 0, draft.into or 0)) if box is not None]
    day = (draft.booked if draft.transaction is not None else None) or draft.day
    found = [
        short(draft.description, 60),
        category.name if category and draft.kind != "move" else None,
        " → ".join(name or "?" for name in ends),
        day_name(turn, day) if day else turn.t("today"),
        books.sites.get(draft.site) if draft.site is not None else None,
    ]
    return {
        "number": number,
        "mark": f"{_mark(draft, books, turn)} {MARKS[draft.kind]}",
        "money": money_of(draft, books, turn),
        "parts": [part for part in found if part],
        "note": _note(draft, books, turn),
    }


def _note(draft: Draft, books: Books, turn: Turn) -> str:
    if draft.standing == "dropped":
        return turn.t("dropped")
    if draft.works:
        return turn.t(WORKING[draft.standing])
    if draft.told == "refused":
        return turn.t("The workspace refused: %(why)s", why=short(draft.why, 150))
    if draft.told == "not_seen":
        return turn.t("It was not seen in the workspace. Check there before you do it again.")
    if draft.is_saved:
        changed = draft.told == "changed"
        number = draft.transaction
        return turn.t("Changed, no. %(id)s", id=number) if changed else turn.t("Saved, no. %(id)s", id=number)
    if no_cashbox_in(draft, books) is not None:
        return turn.t("You have no cashbox in %(code)s.", code=draft.currency)
    field = doubt(draft, books, turn)
    return "" if field is None else turn.t(UNCLEAR[field])
