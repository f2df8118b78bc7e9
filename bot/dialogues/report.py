"""/report [month]: a month by category ─┬─(‹ October, December ›)──► another month
                                        ├─(Income, Expenses)──► the other kind
                                        ├─(Plot)──► a picture beside the card, one for each currency
                                        ├─(XLSX)──► a workbook with the sums and the entries
                                        └─(Refresh)──► the same, newer

The booking date decides to which month an entry belongs, and the card says so. What cannot be meant, such as a month
that does not exist, is said in words; a month outside of what is known shows the nearest one.
"""

import asyncio
from datetime import date
from typing import Any, ClassVar

from babel.dates import format_date
from babel.numbers import format_percent

from automations.plots import MOST_ROWS, Row, bars
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.counting import AGAIN, counting, newest
from bot.dialogues.report_month import Kind, Sums, bounds, category_name, month_of, sheets_of, sums_of
from bot.mirror import ASKED, KEPT, first_day
from bot.purse import Purse, purse_of
from bot.sheets import workbook
from bot.texts import LOCALES, sentence

LINES, INNER = 12, 3
"""Categories in the text, and the largest below each."""

MOST_PLOTS = 3


class Report(Dialogue):
    """A month's income and expenses by category."""

    name: ClassVar[str] = "report"
    commands: ClassVar[tuple[Command, ...]] = (Command("report", sentence("A month by category")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        turn.api_to("see")
        month = month_of(words, turn.today.date())
        if month is None:
            example = first_day(turn.today.date(), -1)
            turn.say(
                turn.texts.html(
                    "There is no such month as “%(words)s”. Write for example /report %(example)s",
                    words=words[:60],
                    example=f"{example:%Y-%m}",
                )
            )
            return
        await self._draw(turn, turn.new_card(self.name, month=month.isoformat(), kind="out"))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "plot":
            await self._plot(turn, card, str(args["code"]))
        elif action == "xlsx":
            await self._workbook(turn, card)
        elif action == "show":
            await self._draw(turn, card.with_state(**args))
        elif action == AGAIN:
            await self._draw(turn, card)
        elif not newest(turn, card):
            await self._draw(turn, card, at_most=ASKED)

    async def refresh(self, turn: Turn, card: Card) -> None:
        await self._draw(turn, card)

    async def _draw(self, turn: Turn, card: Card, *, at_most: float = KEPT) -> None:
        async with counting(turn, card, at_most=at_most) as (shown, purse):
            await self._show(turn, shown, purse)

    async def _show(self, turn: Turn, card: Card, purse: Purse) -> None:
        """The month, or the nearest one of which something is known."""
        month, kind = _asked(card)
        first, last = bounds(purse)
        head = None
        if not first <= month <= last:
            missing = turn.texts.month(month.isoformat())
            month = min(max(month, first), last)
            head = turn.t("Nothing is known of %(month)s: this is the nearest month.", month=missing)
            card = card.with_state(month=month.isoformat())
        sums = sums_of(purse, month, kind, await turn.desk.directory.categories())
        text = await self._text(turn, purse, month, kind, sums, head)
        turn.show(card, View(text, _rows(turn, month, kind, sums, first, last)))

    async def _text(self, turn: Turn, purse: Purse, month: date, kind: Kind, sums: list[Sums], head: str | None) -> str:
        texts = turn.texts
        categories = await turn.desk.directory.categories()
        currencies = await turn.desk.directory.currencies()
        parts: list[dict[str, Any]] = []
        for each in sums:
            currency = currencies.get(each.code)
            lines = [
                {
                    "name": category_name(texts, part.category, categories),
                    "money": texts.money(part.amount, currency, each.code),
                    "share": _percent(turn, part.share),
                    "inner": [
                        f"{category_name(texts, inner, categories)} {texts.money(amount, currency, each.code)}"
                        for inner, amount in part.inner[:INNER]
                        if inner != part.category
                    ],
                }
                for part in each.parts[:LINES]
            ]
            rest = sum(part.amount for part in each.parts[LINES:])
            parts.append(
                {
                    "code": each.code,
                    "total": texts.money(each.total, currency, each.code),
                    "before": texts.money(each.before, currency, each.code),
                    "lines": lines,
                    "rest": texts.money(rest, currency, each.code) if rest else None,
                }
            )
        return texts.render(
            "report.html",
            title=_title(turn, month, kind),
            head=head,
            parts=parts,
            month_before=_within(turn, first_day(month, -1)),
            as_of=texts.moment(purse.as_of),
        )

    async def _plot(self, turn: Turn, card: Card, code: str) -> None:
        """One picture: what the card says in one currency, beside the month before."""
        purse = await purse_of(turn)
        month, kind = _asked(card)
        categories = await turn.desk.directory.categories()
        currency = (await turn.desk.directory.currencies()).get(code)
        each = next((sums for sums in sums_of(purse, month, kind, categories) if sums.code == code), None)
        if each is None:
            turn.toast(turn.t("There is nothing to draw any more."))
            await self._draw(turn, card)
            return
        texts = turn.texts
        rows: list[Row] = [
            (category_name(texts, part.category, categories), part.amount, part.before)
            for part in each.parts[:MOST_ROWS]
        ]
        legend = (texts.month(month.isoformat()), texts.month(first_day(month, -1).isoformat()))
        title = f"{_title(turn, month, kind)}, {code}"
        picture = await asyncio.to_thread(bars, title, rows, lambda amount: texts.money(amount, currency, code), legend)
        as_of = texts.moment(purse.as_of)
        turn.photo(picture, texts.html("%(title)s · as of %(moment)s", title=title, moment=as_of))

    async def _workbook(self, turn: Turn, card: Card) -> None:
        purse = await purse_of(turn)
        month, kind = _asked(card)
        categories = await turn.desk.directory.categories()
        names = {user_id: await turn.desk.directory.name(user_id) for user_id in await turn.desk.directory.people()}
        sheets = sheets_of(turn.texts, purse, month, kind, categories, names)
        content = await asyncio.to_thread(workbook, sheets, made=turn.today, scale=turn.texts.scale)
        turn.document(
            f"{kind}-{month:%Y-%m}.xlsx", content, turn.texts.html("%(title)s", title=_title(turn, month, kind))
        )


def _asked(card: Card) -> tuple[date, Kind]:
    """The month and kind that a card shows."""
    return date.fromisoformat(str(card.state["month"])), "in" if card.state["kind"] == "in" else "out"


def _title(turn: Turn, month: date, kind: Kind) -> str:
    period = turn.texts.month(month.isoformat())
    return turn.t("%(month)s: expenses", month=period) if kind == "out" else turn.t("%(month)s: income", month=period)


def _within(turn: Turn, month: date) -> str:
    """A month's name as it stands within a sentence: a small letter where the language wants one."""
    return format_date(month, "LLLL y", locale=LOCALES.get(turn.texts.language, "en_GB"))


def _percent(turn: Turn, share: object) -> str:
    """`41 %`, as the language writes it; a part of one per cent is not nothing."""
    locale = LOCALES.get(turn.texts.language, "en_GB")
    pattern = "#,##0.0%" if 0 < float(str(share)) < 0.01 else None
    return format_percent(float(str(share)), format=pattern, locale=locale)


def _rows(
    turn: Turn, month: date, kind: Kind, sums: list[Sums], first: date, last: date
) -> tuple[tuple[Button, ...], ...]:
    """Months first, then the other kind, then what is sent beside the card."""
    turning: list[Button] = []
    if month > first:
        before = first_day(month, -1)
        turning.append(Button(f"‹ {turn.texts.month(before.isoformat())}", "show", {"month": before.isoformat()}))
    if month < last:
        after = first_day(month, 1)
        turning.append(Button(f"{turn.texts.month(after.isoformat())} ›", "show", {"month": after.isoformat()}))
    other = (
        Button(turn.t("Income"), "show", {"kind": "in"})
        if kind == "out"
        else Button(turn.t("Expenses"), "show", {"kind": "out"})
    )
    plots = tuple(
        Button(
            turn.t("Plot, %(code)s", code=each.code) if len(sums) > 1 else turn.t("Plot"), "plot", {"code": each.code}
        )
        for each in sums[:MOST_PLOTS]
    )
    last_row = (
        (Button("XLSX", "xlsx"), Button(turn.t("Refresh"), "refresh"))
        if sums
        else (Button(turn.t("Refresh"), "refresh"),)
    )
    return tuple(row for row in (tuple(turning), (other,), plots, last_row) if row)
