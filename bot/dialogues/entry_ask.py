"""What is asked of an entry, one thing a screen: recents first, a typed word searches, then the tree.

amount · round (12 or 13) · cashbox · into · arriving · category · day · description · site
Every screen has a way back: to the draft where all is known, to the list of several, or off the card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from bot import choices
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogues.entry_books import Books, Field, doubt, no_cashbox_in, with_amount
from bot.dialogues.entry_draft import Draft, day_of, drafts_of
from bot.dialogues.entry_view import day_name, exact_of, head_of, list_view, one, way_back
from bot.incoming import Said
from bot.likeness import alike, named, search
from bot.money_text import parts
from bot.sums import rounded
from bot.texts import fit, sentence

PAGE = 8
"""Choices on one screen."""

HOW_MUCH = {
    "out": sentence("How much did you spend? Write the sum."),
    "in": sentence("How much came in? Write the sum."),
    "move": sentence("How much is moved? Write the sum."),
}

WHICH_CASHBOX = {
    "out": sentence("Which cashbox was it paid from?"),
    "in": sentence("Which cashbox did it come to?"),
    "move": sentence("Which cashbox does it leave?"),
}

WHAT_FOR = {
    "out": sentence("What was it for? Write a few words."),
    "in": sentence("What was it paid for? Write a few words."),
    "move": sentence("Why is it moved? Write a few words."),
}


class Question:
    """One question about one entry, or (`line` None) about all those of a card in which the same thing is unclear."""

    def __init__(self, turn: Turn, card: Card, books: Books, draft: Draft, *, several: bool, everybody: bool) -> None:
        self.turn, self.card, self.books, self.draft = turn, card, books, draft
        self._several, self._everybody = several, everybody

    def ask(self, field: Field, args: Mapping[str, Any], problem: str = "") -> None:
        """Shows the question; `problem` says why it is asked (again)."""
        match field:
            case "amount":
                self._amount(problem)
            case "round":
                self._round()
            case "cashbox" | "into":
                self._cashbox(field, args, problem)
            case "arriving":
                self._arriving(problem)
            case "category":
                self._category(args, problem)
            case "day":
                self._day(problem)
            case "description":
                skip = (Button(self.turn.t("Without a description"), "set", {"description": ""}),)
                self._show(field, self.turn.t(WHAT_FOR[self.draft.kind]), [skip], problem)
            case "site":
                self._site(args, problem)

    def _show(
        self, field: Field, question: str, rows: Sequence[tuple[Button, ...]], problem: str = "", hint: str = ""
    ) -> None:
        turn, asked = self.turn, f"{problem} {question}".strip()
        if problem and problem == self.card.state.get("problem") and isinstance(turn.incoming, Said):
            # The card says so already and would not change: who writes hears it all the same.
            turn.say(turn.texts.html("%(words)s", words=asked))
        card = self.card.with_state(asked=field, problem=problem)
        if self._everybody:
            view = list_view(drafts_of(card), self.books, turn)
            # Above the list: where that is too long for a message, its end is cut.
            text = fit(turn.texts.html("<b>%(question)s</b>\n\n", question=asked) + view.text)
        else:
            # What is still being asked has not changed anything yet, so the last outcome is not said above it.
            head = None if "pending" in card.state else head_of(self.draft, turn)
            text = one(self.draft, self.books, turn, head=head, question=asked, hint=hint)
        turn.show(card, View(text, tuple(row for row in (*rows, self._last()) if row)), expect=field)

    def _last(self) -> tuple[Button, ...]:
        if "pending" in self.card.state:
            return (Button(self.turn.t("‹ Leave it as it was"), "keep"),)
        if self._everybody:
            return (Button(self.turn.t("‹ All lines"), "list"),)
        if doubt(self.draft, self.books, self.turn) is None:
            return (Button(self.turn.t("‹ Back"), "draft"),)
        return way_back(self.turn, several=self._several)

    def _amount(self, problem: str) -> None:
        code = no_cashbox_in(self.draft, self.books)
        if code is not None and not problem:
            problem = self.turn.t("You have no cashbox in %(code)s.", code=code)
        elif self.draft.receipt is not None and self.draft.amount is None and not problem:
            problem = self.turn.t("I see no receipt's code in the picture.")
        question = self.turn.t(HOW_MUCH[self.draft.kind])
        if code is not None:
            codes = sorted({box.currency_code for box in self.books.boxes.values() if box.currency_code})
            question = self.turn.t("Write the sum in another currency: %(codes)s.", codes=", ".join(codes))
        self._show("amount", question, [], problem)

    def _round(self) -> None:
        """The sums on either side; the exact one is kept beside the one that is chosen."""
        code = self.books.code(self.draft)
        sums = rounded(Decimal(self.draft.exact), self.books.scale) if self.draft.exact is not None else ()
        row = tuple(
            Button(self.turn.texts.money(one, self.books.currencies.get(code or ""), code), "set", {"amount": one})
            for one in sums
        )
        question = self.turn.t(
            "The workspace keeps no such fractions: %(sum)s cannot be noted. Which sum shall it be?",
            sum=exact_of(self.draft, self.books, self.turn),
        )
        self._show("round", question, [row], hint=self.turn.t("The exact sum is kept beside it."))

    def _cashbox(self, field: Field, args: Mapping[str, Any], problem: str) -> None:
        turn, draft = self.turn, self.draft
        hint = draft.cashbox_hint if field == "cashbox" else draft.into_hint
        names = self._options(field)
        only = args.get("found")
        if only is None and hint and not problem:
            problem = self._not_one(hint, names, turn.t("I know no cashbox called “%(name)s”.", name=hint))
        if not names:
            problem = turn.t("There is no cashbox that you may use for this. Ask your administrator.")
        ranked = [n for n, _ in choices.ranked(turn, field, names)]
        # What the name might mean comes before what is chosen most.
        order = list(dict.fromkeys([*search(hint or "", names), *ranked])) if only is None else only
        question = turn.t("Which cashbox does it go to?") if field == "into" else turn.t(WHICH_CASHBOX[draft.kind])
        shown, turning = self._page(order, field, int(args.get("page", 0)))
        rows = [(Button(self._box_label(number), "set", {field: number}),) for number in shown if number in names]
        self._show(field, question, [*rows, turning, self._all(field, only)], problem, self._typing(len(names)))

    def _not_one(self, hint: str, names: Mapping[int, str], unknown: str) -> str:
        """Why a name did not do: several are called so, or none is."""
        wanted = hint.casefold()
        if sum(wanted in name.casefold() for name in names.values()) > 1:
            return self.turn.t("“%(name)s” may be several.", name=hint)
        return unknown

    def _page(self, order: Sequence[int], field: Field, page: int) -> tuple[Sequence[int], tuple[Button, ...]]:
        """What stands on this page, and the buttons that turn it."""
        turning: list[Button] = []
        if page:
            turning.append(Button("‹", "ask", {"field": field, "page": page - 1}))
        if len(order) > (page + 1) * PAGE:
            turning.append(Button("›", "ask", {"field": field, "page": page + 1}))
        return order[page * PAGE : (page + 1) * PAGE], tuple(turning)

    def _all(self, field: Field, only: Any) -> tuple[Button, ...]:
        """From what a word has found back to everything."""
        return () if only is None else (Button(self.turn.t("Show all"), "ask", {"field": field}),)

    def _typing(self, count: int) -> str:
        return self.turn.t("Or write a part of its name.") if count > 3 else ""

    def _options(self, field: Field) -> dict[int, str]:
        """What can be chosen, by name."""
        if field == "cashbox":
            return self.books.box_names(self.draft.currency)
        if field == "into":
            return self.books.box_names(but=self.draft.cashbox)
        if field == "site":
            return dict(self.books.sites)
        return self.books.category_names(self.draft.kind)

    def _box_label(self, number: int) -> str:
        box = self.books.boxes[number]
        # A name such as “Main account, EUR” says it already.
        said = (box.currency_code or "") in (box.name or "")
        return box.name or "?" if said else f"{box.name} · {box.currency_code}"

    def _arriving(self, problem: str) -> None:
        box = self.books.boxes.get(self.draft.into or 0)
        question = self.turn.t("How much arrives, in %(code)s? Write the sum.", code=box.currency_code if box else "?")
        self._show("arriving", question, [], problem)

    def _category(self, args: Mapping[str, Any], problem: str) -> None:
        """Likely ones first, then the tree, level by level and page by page; or what a word has found."""
        turn, draft = self.turn, self.draft
        categories = self.books.categories_of(draft.kind)
        names = self.books.category_names(draft.kind)
        only = args.get("found")
        if only is None and draft.category_hint and not problem and not args:
            unknown = turn.t("I know no category called “%(name)s”.", name=draft.category_hint)
            problem = self._not_one(draft.category_hint, names, unknown)
        question = turn.t("Which category is it?")
        if only is not None:
            hits = [(Button(names[number], "set", {"category": number}),) for number in only if number in names]
            self._show("category", question, [*hits[:PAGE], self._all("category", only)], problem)
            return
        parent, page = args.get("parent"), int(args.get("page", 0))
        rows: list[tuple[Button, ...]] = self._likely(names) if parent is None and page == 0 else []
        if parent is not None and parent in categories:
            just = turn.t("Just “%(name)s”", name=names[parent])
            rows.append((Button(just, "set", {"category": parent}),))
        parents = {c.parent_id for c in categories.values()}
        level = [n for n, c in categories.items() if (c.parent_id if c.parent_id in categories else None) == parent]
        for number in level[page * PAGE : (page + 1) * PAGE]:
            inner = number in parents
            action = ("ask", {"field": "category", "parent": number}) if inner else ("set", {"category": number})
            rows.append((Button(f"{names[number]} ›" if inner else names[number], *action),))
        turning: list[Button] = []
        if page:
            turning.append(Button("‹", "ask", {"field": "category", "parent": parent, "page": page - 1}))
        if len(level) > (page + 1) * PAGE:
            turning.append(Button("›", "ask", {"field": "category", "parent": parent, "page": page + 1}))
        up: tuple[Button, ...] = ()
        if parent is not None:
            above = categories[parent].parent_id if parent in categories else None
            up = (
                Button(turn.t("‹ Up"), "ask", {"field": "category", "parent": above if above in categories else None}),
            )
        self._show("category", question, [*rows, tuple(turning), up], problem, self._typing(len(names)))

    def _likely(self, names: Mapping[int, str]) -> list[tuple[Button, ...]]:
        """Up to five that the words are like or that were chosen lately."""
        words = f"{self.draft.category_hint or ''} {self.draft.description or ''}"
        guessed = [number for number, _ in alike(words, names)][:3]
        recent = [number for number, _ in choices.ranked(self.turn, "category", names, used_only=True)][:4]
        likely = list(dict.fromkeys([*guessed, *recent]))[:5]
        return [(Button(f"★ {names[number]}", "set", {"category": number}),) for number in likely]

    def _day(self, problem: str) -> None:
        turn, today = self.turn, self.turn.today.date()
        if self.books.closed is not None and self.books.is_closed(day_of(self.draft, turn)) and not problem:
            problem = closed_words(turn, self.books)
        near = [(turn.t("Today"), today), (turn.t("Yesterday"), today - timedelta(days=1))]
        near.append((day_name(turn, today - timedelta(days=2)), today - timedelta(days=2)))
        row = tuple(
            Button(label, "set", {"day": day.isoformat()}) for label, day in near if not self.books.is_closed(day)
        )
        question = turn.t("Which day does it count on? Write for example “yesterday” or “20.11.2026”.")
        self._show("day", question, [row], problem)

    def _site(self, args: Mapping[str, Any], problem: str) -> None:
        only = args.get("found")
        order = list(self.books.sites) if only is None else only
        shown, turning = self._page(order, "site", int(args.get("page", 0)))
        rows = [(Button(self.books.sites[number], "set", {"site": number}),) for number in shown]
        none = (Button(self.turn.t("No site"), "set", {"site": None}),)
        self._show("site", self.turn.t("Which site is it for?"), [*rows, turning, none], problem)

    def answer(self, field: Field, text: str) -> Draft | None:
        """The draft with a typed answer; None where it has to be asked again, which this shows."""
        if field in {"amount", "round", "arriving"}:
            return self._sum(field, text)
        if field == "description":
            return with_choice(self.draft, "description", " ".join(text.split())[:500], self.books)
        if field == "day":
            day = parts(text, self.turn.today.date()).day
            if day is not None:
                return with_choice(self.draft, "day", day.isoformat(), self.books)
            self.ask("day", {}, self.turn.t("I see no day there."))
            return None
        names = self._options(field)
        found = search(text, names)
        sure = found[0] if len(found) == 1 else named(text, names)
        if sure is not None:
            return with_choice(self.draft, field, sure, self.books)
        if found:
            self.ask(field, {"found": found[:PAGE]}, self.turn.t("Found for “%(words)s”:", words=text[:40]))
        else:
            self.ask(field, {}, self.turn.t("Nothing is like “%(words)s”.", words=text[:40]))
        return None

    def _sum(self, field: Field, text: str) -> Draft | None:
        turn = self.turn
        read = parts(text, turn.today.date(), self.books.known)
        if read.amount is None:
            self.ask(
                "amount" if field == "round" else field,
                {},
                turn.t("I see no sum above zero there. Write a number, such as 450."),
            )
            return None
        if field == "arriving":
            changed = with_amount(Draft(), read.amount, None, self.books)
            if changed.amount is None:
                self.ask(field, {}, turn.t("The workspace keeps no such fractions."))
                return None
            return replace(self.draft, arriving=changed.amount)
        if read.currency is not None and not self.books.boxes_in(read.currency):
            self.ask("amount", {}, turn.t("You have no cashbox in %(code)s.", code=read.currency))
            return None
        return with_amount(self.draft, read.amount, read.currency, self.books)


def closed_words(turn: Turn, books: Books) -> str:
    """Why nothing is changed on such a day."""
    assert books.closed is not None, "asked only where a day is closed"
    return turn.t("The books are closed up to %(day)s.", day=day_name(turn, books.closed))


def with_choice(draft: Draft, field: str, value: Any, books: Books) -> Draft:
    """The draft with one field chosen, and without what that makes untrue."""
    changed = replace(draft, **{field: value})
    if field in {"cashbox", "into", "amount"}:
        changed = replace(changed, arriving=None)
    if field == "cashbox" and changed.currency is not None and value not in books.boxes_in(changed.currency):
        changed = replace(changed, currency=None)
    return changed
