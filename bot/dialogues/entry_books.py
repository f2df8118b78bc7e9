"""What an entry may refer to, read once for a turn, and what is still in doubt about it.

words ─► parts (money_text) ─► taken(): hints, the words' likes and what was chosen before ─► Draft ─► doubt(): what to
ask next, or nothing
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal, get_args

from bot import choices, facts, learned, preferences
from bot.desk import Turn
from bot.dialogues.entry_draft import Draft, day_of
from bot.likeness import alike, named, the_one
from bot.money_text import Kind, Known, Parts
from bot.purse import cashboxes_of
from bot.sums import NotRepresentable, to_wire
from bot.texts import short
from workspace_api.contract.finance import Cashbox, Currency, TransactionCategory

Field = Literal["amount", "round", "cashbox", "into", "arriving", "category", "day", "description", "site"]
"""What can be asked; in the order in which it is, but for `site`, which never has to be."""

FIELDS: Mapping[str, Field] = {name: name for name in get_args(Field)}

LONGEST = 500
"""Characters of a description."""

SURE_TIMES = 2
"""How often the same words must have had the same cashbox for it to be taken without asking."""


@dataclass(frozen=True, slots=True)
class Books:
    """The person's cashboxes, all categories and currencies, the sites, and up to when the books are closed."""

    boxes: Mapping[int, Cashbox]
    categories: Mapping[int, TransactionCategory]
    currencies: Mapping[str, Currency]
    sites: Mapping[int, str]
    closed: date | None
    scale: int

    @property
    def known(self) -> Known:
        """For the grammar."""
        return Known(tuple(self.currencies), self.sites, self.box_names())

    def box_names(self, currency: str | None = None, *, but: int | None = None) -> dict[int, str]:
        """Names of cashboxes, of one currency where one is named."""
        return {n: box.name or "?" for n, box in self.boxes_in(currency).items() if n != but}

    def boxes_in(self, currency: str | None) -> dict[int, Cashbox]:
        """The cashboxes, of one currency where one is named."""
        return {n: box for n, box in self.boxes.items() if currency is None or box.currency_code == currency}

    def categories_of(self, kind: Kind) -> dict[int, TransactionCategory]:
        """The categories that take new entries of a kind."""
        return {n: c for n, c in self.categories.items() if c.transaction_type == kind and not c.is_archived}

    def category_names(self, kind: Kind) -> dict[int, str]:
        return {n: c.name or "?" for n, c in self.categories_of(kind).items()}

    def code(self, draft: Draft) -> str | None:
        """The currency of an entry: that of its cashbox, else the one that was named."""
        box = self.boxes.get(draft.cashbox or 0)
        return (box.currency_code if box else None) or draft.currency

    def two_currencies(self, draft: Draft) -> bool:
        """Whether a move arrives in another currency than it leaves in."""
        ends = (self.boxes.get(draft.cashbox or 0), self.boxes.get(draft.into or 0))
        return draft.kind == "move" and None not in ends and len({box.currency_code for box in ends if box}) == 2

    def is_closed(self, day: date) -> bool:
        """Whether nothing may be entered or changed on this day any more."""
        return self.closed is not None and day <= self.closed


async def books_of(turn: Turn, act: Literal["see", "log"] = "log") -> Books:
    """What this person's entries may refer to; refuses where they may not even do this."""
    directory = turn.desk.directory
    turn.api_to(act)
    with turn.desk.db.read() as connection:
        closed = facts.get(connection, "closed_until")
    return Books(
        await cashboxes_of(turn),
        await directory.categories(),
        await directory.currencies(),
        turn.desk.house.sites,
        date.fromisoformat(closed) if closed else None,
        turn.desk.house.scale,
    )


def doubt(draft: Draft, books: Books, turn: Turn, before: Draft | None = None) -> Field | None:
    """What has to be asked before the entry can be saved; None where all is known.

    What a saved entry has from `before` is not in doubt, even where it would not be taken anew.
    """
    if no_cashbox_in(draft, books) is not None:
        return "amount"
    if draft.amount is None:
        return "amount" if draft.exact is None else "round"
    same = before or Draft()
    if draft.cashbox not in books.boxes_in(draft.currency) and (before is None or draft.cashbox != same.cashbox):
        return "cashbox"
    if draft.kind == "move" and (before is None or draft.into != same.into) and draft.into not in books.boxes:
        return "into"
    if draft.kind == "move" and draft.into == draft.cashbox:
        return "into"
    if draft.arriving is None and books.two_currencies(draft):
        return "arriving"
    if draft.category not in books.categories_of(draft.kind) and (before is None or draft.category != same.category):
        return "category"
    if books.is_closed(day_of(draft, turn)):
        return "day"
    return "description" if draft.description is None else None


def no_cashbox_in(draft: Draft, books: Books) -> str | None:
    """The currency that was named and in which the person has no cashbox."""
    return draft.currency if draft.currency is not None and not books.boxes_in(draft.currency) else None


def taken(turn: Turn, books: Books, read: Parts, draft: Draft) -> Draft:
    """The draft with what a text says, and with what follows from it; what it does not say stays."""
    if read.kind is not None and read.kind != draft.kind:
        draft = replace(draft, kind=read.kind, category=None)
    if read.amount is not None:
        draft = with_amount(draft, read.amount, read.currency, books)
    if read.day is not None:
        draft = replace(draft, day=read.day.isoformat())
    if read.site is not None:
        draft = replace(draft, site=read.site)
    draft = _with_boxes(turn, books, read, draft)
    words = read.words
    if read.category is not None:
        draft = _with_category_hint(turn, books, read.category, draft)
        if draft.category_hint is not None and (words or not draft.description):
            # A #word that no category is called by is not lost; alone it is no new description.
            words = f"{words} #{read.category.replace(' ', '_')}".strip()
    if words:
        draft = replace(draft, description=short(words, LONGEST))
    # What was saved is changed where the text says so, and not by what might be meant.
    return draft if draft.transaction is not None else guessed(turn, books, draft)


def with_amount(draft: Draft, amount: Decimal, currency: str | None, books: Books) -> Draft:
    """The draft with another sum; a currency that was not named again stays, where one has a cashbox in it."""
    if currency is None and draft.currency is not None and not books.boxes_in(draft.currency):
        draft = replace(draft, currency=None)
    if currency is not None:
        draft = replace(draft, currency=currency)
        if draft.cashbox not in books.boxes_in(currency):
            draft = replace(draft, cashbox=None)
    try:
        return replace(draft, amount=to_wire(amount, books.scale), exact=None, arriving=None)
    except NotRepresentable:
        return replace(draft, amount=None, exact=str(amount), arriving=None)


def _with_boxes(turn: Turn, books: Books, read: Parts, draft: Draft) -> Draft:
    if read.cashbox is not None:
        box = _box(turn, books, read.cashbox, draft.currency)
        draft = replace(draft, cashbox=box, cashbox_hint=read.cashbox if box is None else None)
    if read.into is not None:
        box = _box(turn, books, read.into, None)
        draft = replace(draft, into=box, into_hint=read.into if box is None else None)
    options = books.boxes_in(draft.currency)
    if draft.cashbox is None and draft.cashbox_hint is None and len(options) == 1:
        draft = replace(draft, cashbox=next(iter(options)))
    return draft


def _box(turn: Turn, books: Books, hint: str, currency: str | None) -> int | None:
    """The cashbox that a name means: as it is called, or as this person calls it."""
    options = books.box_names(currency)
    found = named(hint, options)
    return found if found is not None else learned.meant(turn, "@", hint, options)


def _with_category_hint(turn: Turn, books: Books, hint: str, draft: Draft) -> Draft:
    options = books.category_names(draft.kind)
    found = named(hint, options)
    if found is None:
        found = learned.meant(turn, f"#{draft.kind}", hint, options)
    return replace(draft, category=found, category_hint=hint if found is None else None)


def guessed(turn: Turn, books: Books, draft: Draft) -> Draft:
    """The draft with the category that its words mean, where that is beyond doubt."""
    options = books.category_names(draft.kind)
    if draft.category in options:
        return draft
    if draft.kind == "move" and len(options) == 1:
        return replace(draft, category=next(iter(options)))
    words = draft.description or ""
    if draft.category_hint is not None or not words:
        return draft
    found = learned.meant(turn, draft.kind, words, options)
    return replace(draft, category=found if found is not None else the_one(alike(words, options)))


def usual_box(turn: Turn, books: Books, draft: Draft) -> Draft:
    """For one who wants no questions: the cashbox that these words have had each time."""
    if draft.cashbox is not None or draft.cashbox_hint is not None:
        return draft
    options = books.boxes_in(draft.currency)
    return replace(
        draft, cashbox=learned.meant(turn, f"@{draft.kind}", draft.description or "", options, times=SURE_TIMES)
    )


def remembered(turn: Turn, draft: Draft) -> None:
    """A saved entry teaches what its words and hints mean; its site is the next one's."""
    words = draft.description or ""
    for kind, value in (("cashbox", draft.cashbox), ("category", draft.category), ("into", draft.into)):
        if value is not None:
            choices.note(turn, kind, value)
    if draft.category is not None and draft.kind != "move":
        learned.note(turn, draft.kind, words, draft.category)
        if draft.category_hint is not None:
            learned.note(turn, f"#{draft.kind}", draft.category_hint, draft.category)
    if draft.cashbox is not None:
        learned.note(turn, f"@{draft.kind}", words, draft.cashbox)
        if draft.cashbox_hint is not None:
            learned.note(turn, "@", draft.cashbox_hint, draft.cashbox)
    if draft.into is not None and draft.into_hint is not None:
        learned.note(turn, "@", draft.into_hint, draft.into)
    _note_site(turn, draft)


def _note_site(turn: Turn, draft: Draft) -> None:
    if not turn.desk.house.sites:
        return
    user_id, site = turn.known().user_id, draft.site
    if site is None:
        turn.change(lambda connection: preferences.drop(connection, user_id, "site"))
    else:
        turn.change(lambda connection: preferences.put(connection, user_id, "site", site))


def fresh(turn: Turn, kind: Kind = "out") -> Draft:
    """An entry of which nothing is known but the site of the last one."""
    with turn.desk.db.read() as connection:
        site = preferences.get(connection, turn.known().user_id, "site")
    return Draft(kind=kind, site=site if site in turn.desk.house.sites else None)
