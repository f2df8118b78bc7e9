"""The X-ray of a request: what its category cost before, what is left, how such requests ended, what else is asked for.

```
mirror, within the viewer's cashboxes ─► spent this period and the one before, what is left in its currency ─┐
requests that the viewer may see ─► the most alike among the decided ones, the author's open ones            ├─► Xray
                                    the last months of the category beside the request ─► a plot ────────────┘
```
Money comes from the mirror and says as of when; what is alike is judged by name, category and sum.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from rapidfuzz import fuzz, utils

from automations.plots import bars
from bot.desk import Turn
from bot.mirror import family, first_day, spent, top
from bot.periods import requests_of
from bot.purse import Purse, purse_of
from bot.texts import short
from workspace_api.contract.finance import Currency, TransactionCategory
from workspace_api.contract.finplan import Request

MONTHS = 6
"""Months of the category in the picture."""

ALIKE, OPEN = 3, 5
"""How many requests are named."""

LEAST_ALIKE = 40.0
"""Of 100: below that two requests have nothing in common."""

DECIDED = {"accept", "paid", "reject"}
UNDER_WAY = {"progress", "accept"}


@dataclass(frozen=True, slots=True)
class Xray:
    """`text`: HTML for the card. `picture`: a PNG, where there is something to see."""

    text: str
    picture: bytes | None


async def xray(turn: Turn, request: Request) -> Xray:
    """What helps to decide about a request, as its viewer may see it. Raises WorkspaceError where nothing is known."""
    purse = await purse_of(turn)
    others = [other for other in await requests_of(turn.api(), turn.today) if other.id != request.id]
    directory, texts = turn.desk.directory, turn.texts
    categories = await directory.categories()
    currency = (await directory.currencies()).get(request.currency_code or "")
    words = _Words(turn, await directory.currencies())
    category = categories.get(request.type or 0)
    month = period_of(request, purse.today)
    boxes = purse.of_currency(request.currency_code)
    history = months_of(purse, request, month, categories)
    left = purse.balances()
    open_ones = sorted(
        (other for other in others if other.author_id == request.author_id and other.status in UNDER_WAY),
        key=lambda other: (other.finplan or "", other.id or 0),
    )
    text = texts.render(
        "xray.html",
        name=request.name or texts.t("Request %(id)s", id=request.id),
        money=words.money(request.sum, request.currency_code),
        category=category.name if category else None,
        code=request.currency_code,
        spent=[(texts.month(day.isoformat()), words.money(history[day], request.currency_code)) for day in _two(month)],
        boxes=[
            (box.name or str(number), words.money(left[number], request.currency_code)) for number, box in boxes.items()
        ],
        together=words.money(sum(left[number] for number in boxes), request.currency_code),
        alike=[words.outcome(other) for other in most_alike(request, others, categories)],
        author=await directory.name(request.author_id),
        open=[words.line(other) for other in open_ones[:OPEN]],
        more=max(0, len(open_ones) - OPEN),
        as_of=texts.moment(purse.as_of),
    )
    picture = None
    if category is not None and any(history.values()):
        picture = await asyncio.to_thread(_plot, turn, request, category, currency, history)
    return Xray(text, picture)


def period_of(request: Request, today: date) -> date:
    """The first day of the request's planning period; of this month where it names none that is a date."""
    try:
        return first_day(date.fromisoformat((request.finplan or "")[:10]))
    except ValueError:
        return first_day(today)


def _two(month: date) -> tuple[date, date]:
    return month, first_day(month, -1)


def months_of(
    purse: Purse, request: Request, month: date, categories: Mapping[int, TransactionCategory]
) -> dict[date, int]:
    """What was spent in the request's category and those below it, in its currency, in the months up to its own."""
    months = [first_day(month, back) for back in range(1 - MONTHS, 1)]
    if request.type is None:
        return dict.fromkeys(months, 0)
    below, boxes = family(request.type, categories), purse.of_currency(request.currency_code)
    return {day: spent(purse.ledger, day, "out", below, boxes) for day in months}


def likeness(request: Request, other: Request, categories: Mapping[int, TransactionCategory]) -> float:
    """How alike two requests are, of 100: by name half of it, by category and by sum a quarter each."""
    name, other_name = (utils.default_process(each.name or "") for each in (request, other))
    # The first forgives further words, the second prefers the name without any.
    names = (fuzz.token_set_ratio(name, other_name) + fuzz.token_sort_ratio(name, other_name)) / 2
    category = 0.0
    if request.type is not None and request.type == other.type:
        category = 25.0
    elif request.type is not None and top(request.type, categories) == top(other.type, categories):
        category = 12.0
    sums = sorted((abs(request.sum or 0), abs(other.sum or 0)))
    comparable = request.currency_code == other.currency_code and sums[1] > 0
    return names / 2 + category + (25.0 * sums[0] / sums[1] if comparable else 0.0)


def most_alike(
    request: Request, others: Sequence[Request], categories: Mapping[int, TransactionCategory]
) -> list[Request]:
    """The decided requests that are most like this one, the likest first."""
    decided = [other for other in others if other.status in DECIDED and other.id != request.id]
    rated = [(likeness(request, other, categories), other.id or 0, other) for other in decided]
    rated.sort(key=lambda each: (-each[0], -each[1]))
    return [other for rating, _, other in rated[:ALIKE] if rating >= LEAST_ALIKE]


@dataclass(frozen=True, slots=True)
class _Words:
    """Requests and sums as the viewer reads them."""

    turn: Turn
    currencies: Mapping[str, Currency]

    def money(self, amount: int | None, code: str | None) -> str:
        return self.turn.texts.money(amount, self.currencies.get(code or ""), code)

    def line(self, request: Request) -> dict[str, str]:
        """A request in one line; a returned one waits for its author."""
        texts = self.turn.texts
        returned = request.status == "progress" and not request.need_accept
        standing = texts.t("returned to work") if returned else texts.t("waits for approval")
        if request.status == "accept":
            standing = self._accepted(request)
        return self._shown("↩️" if returned else "⏳" if request.status == "progress" else "✅", request, standing)

    def outcome(self, request: Request) -> dict[str, str]:
        """A decided request with how it ended."""
        texts = self.turn.texts
        if request.status == "paid":
            return self._shown("💳", request, texts.t("paid in full"))
        if request.status == "accept":
            return self._shown("✅", request, self._accepted(request))
        why = short(request.reject_text, 120)
        words = texts.t("rejected: %(why)s", why=why) if why else texts.t("rejected without a reason")
        return self._shown("❌", request, words)

    def _accepted(self, request: Request) -> str:
        if not request.sum_paid:
            return self.turn.t("approved, waits for payment")
        paid = self.money(request.sum_paid, request.currency_code)
        whole = self.money(request.sum, request.currency_code)
        return self.turn.t("approved, paid in part: %(paid)s of %(whole)s", paid=paid, whole=whole)

    def _shown(self, mark: str, request: Request, standing: str) -> dict[str, str]:
        return {
            "mark": mark,
            "name": short(request.name, 90) or self.turn.t("Request %(id)s", id=request.id),
            "money": self.money(request.sum, request.currency_code),
            "period": self.turn.texts.month(request.finplan),
            "standing": standing,
        }


def _plot(
    turn: Turn, request: Request, category: TransactionCategory, currency: Currency | None, history: Mapping[date, int]
) -> bytes:
    """The last months of the category, and the request beside them in another colour."""
    texts = turn.texts
    rows: list[tuple[str, int, int | None]] = [
        (texts.month(day.isoformat()), amount, None) for day, amount in history.items()
    ]
    rows.append((texts.t("This request"), request.sum or 0, None))
    title = texts.t("%(category)s: spent by month", category=category.name or "?")
    return bars(title, rows, lambda amount: texts.money(amount, currency, request.currency_code), strong=len(rows) - 1)
