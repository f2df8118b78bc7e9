"""The inbox narrowed: card ──(More, Filter)──► filter ─┬─(Period)─► which? ─┐
                                                      ├─(Block)──► which? ─┼─► filter ──(Show)──► card
                                                      └─(Amount)─► or typed ┘        (Clear)

The filter is kept on the card, and shown in a line of it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogues.request_view import on_screen
from bot.directory import Directory
from bot.texts import Texts
from workspace_api.contract.finplan import Request

STEPS = (1, 2, 5)

MOST = 5
"""Amounts that are offered."""

Open = Callable[[Turn, Card], Awaitable[None]]
Waiting = Callable[[Turn, Mapping[str, Any]], Awaitable[Sequence[Request]]]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a request must be; None: anything. `above` is in the workspace's scale; `block` is the author's."""

    period: str | None = None
    block: int | None = None
    above: int | None = None

    @staticmethod
    def of(state: Mapping[str, Any]) -> "Filter":
        """The filter that a card's state holds."""
        kept: Mapping[str, Any] = state.get("filter") or {}
        return Filter(kept.get("period"), kept.get("block"), kept.get("above"))

    def admits(self, request: Request) -> bool:
        """Whether a request is one of these."""
        return (
            self.period in {None, request.finplan}
            and self.block in {None, request.author_block_id}
            and (self.above is None or (request.sum or 0) > self.above)
        )

    def kept(self) -> dict[str, Any]:
        """As JSON, without what is not narrowed."""
        found = {"period": self.period, "block": self.block, "above": self.above}
        return {name: value for name, value in found.items() if value is not None}

    async def in_words(self, texts: Texts, directory: Directory) -> str:
        """`November 2026 · Office Projects · above 5,000`; empty where nothing is narrowed."""
        said = [texts.month(self.period)] if self.period is not None else []
        if self.block is not None:
            said.append(await block_name(directory, self.block))
        if self.above is not None:
            said.append(texts.t("above %(amount)s", amount=number(texts, self.above)))
        return " · ".join(said)


def number(texts: Texts, amount: int) -> str:
    """A sum without a currency."""
    return texts.money(amount, None).strip()


async def block_name(directory: Directory, block: int) -> str:
    """What a block is called."""
    found = (await directory.blocks()).get(block)
    return (found.name or found.position if found else None) or str(block)


def amounts(requests: Sequence[Request], scale: int) -> list[int]:
    """Round amounts that some of the requests are above and some are not: 1, 2, 5, 10, 20 … ; the highest ones."""
    sums = [request.sum or 0 for request in requests]
    if not sums:
        return []
    rounds = [step * 10 ** (power + scale) for power in range(12) for step in STEPS]
    return [amount for amount in rounds if min(sums) <= amount < max(sums)][-MOST:]


def typed(text: str, scale: int) -> int | None:
    """A typed amount in the scale: `5000`, `5 000`, `5k`; None where it is none, or below one unit."""
    said = text.strip().casefold()
    thousands = said.endswith(("k", "к", "тыс", "тыс."))
    digits = "".join(character for character in said if character.isdigit() or character in ".,").strip(".,")
    try:
        found = Decimal(_plain(digits)) * (1000 if thousands else 1)
    except InvalidOperation:
        return None
    amount = int(found.scaleb(scale))
    return amount if 0 < amount < 10**15 else None


def _plain(digits: str) -> str:
    """`5,000.50`, `5.000,50`, `5,000`, `5,5` without the separators of thousands."""
    place = max(digits.rfind("."), digits.rfind(","))
    if place >= 0 and len(digits) - place - 1 in {1, 2}:
        return digits[:place].replace(".", "").replace(",", "") + "." + digits[place + 1 :]
    return digits.replace(".", "").replace(",", "")


class Filtering:
    """The screens. `waiting(turn, state)` gives what is narrowed, `back` shows the first card that is left."""

    def __init__(self, waiting: Waiting, back: Open) -> None:
        self._waiting = waiting
        self._back = back

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """Actions that begin with `filter`."""
        if action == "filter_show":
            await self._back(turn, card)
        elif action == "filter_clear":
            await self._back(turn, card.with_state(filter={}))
        elif action == "filter_set":
            await self.open(turn, card.with_state(filter=_set(card, args).kept()))
        elif action in {"filter_period", "filter_block", "filter_above"}:
            await self._choose(turn, card, action.removeprefix("filter_"))
        else:
            await self.open(turn, card)

    async def open(self, turn: Turn, card: Card, *, note: str | None = None) -> None:
        """The filter as it is, and how many are left."""
        narrowed = Filter.of(card.state)
        every = await self._waiting(turn, card.state)
        left = sum(narrowed.admits(request) for request in every)
        anything = turn.t("any")
        above = await Filter(above=narrowed.above).in_words(turn.texts, turn.desk.directory)
        lines = (
            turn.texts.html("🔎 <b>%(words)s</b>", words=turn.t("Filter")),
            note or "",
            turn.texts.html("Period: <b>%(set)s</b>", set=turn.texts.month(narrowed.period) or anything),
            turn.texts.html("Block: <b>%(set)s</b>", set=await self._block(turn, narrowed)),
            turn.texts.html("Amount: <b>%(set)s</b>", set=above or anything),
        )
        rows = (
            (Button(turn.t("Period"), "filter_period"), Button(turn.t("Block"), "filter_block")),
            (Button(turn.t("Amount"), "filter_above"),),
            (Button(turn.t("Clear the filter"), "filter_clear"),) if narrowed.kept() else (),
            (Button(turn.t("Show %(left)d of %(all)d", left=left, all=len(every)), "filter_show", style="primary"),),
        )
        turn.show(on_screen(card, "filter"), View("\n".join([line for line in lines if line]), rows))

    async def _block(self, turn: Turn, narrowed: Filter) -> str:
        return turn.t("any") if narrowed.block is None else await block_name(turn.desk.directory, narrowed.block)

    async def _choose(self, turn: Turn, card: Card, what: str) -> None:
        every = await self._waiting(turn, card.state)
        options = await self._options(turn, every, what)
        rows: list[tuple[Button, ...]] = [(Button(label, "filter_set", {what: value}),) for value, label in options]
        rows.append((Button(turn.t("Any"), "filter_set", {what: None}), Button(turn.t("‹ Back"), "filter")))
        question = turn.t("Above which amount? Tap one, or write it.") if what == "above" else turn.t("Which ones?")
        expect = "filter_above" if what == "above" else None
        turn.show(
            on_screen(card, "filter"), View(turn.texts.html("🔎 <b>%(q)s</b>", q=question), tuple(rows)), expect=expect
        )

    async def _options(self, turn: Turn, every: Sequence[Request], what: str) -> list[tuple[Any, str]]:
        """What there is to choose from, with how many requests each leaves."""
        found: list[tuple[Any, str]] = []
        if what == "above":
            for amount in amounts(every, turn.texts.scale):
                left = sum(Filter(above=amount).admits(request) for request in every)
                found.append((amount, f"{number(turn.texts, amount)} ({left})"))
            return found
        values = [request.finplan if what == "period" else request.author_block_id for request in every]
        for value in sorted({value for value in values if value is not None}, key=str):
            name = turn.texts.month(value) if isinstance(value, str) else await block_name(turn.desk.directory, value)
            found.append((value, f"{name} ({values.count(value)})"))
        return found[:40]

    async def answered(self, turn: Turn, card: Card, text: str) -> None:
        """The amount, typed."""
        amount = typed(text, turn.texts.scale)
        if amount is None:
            words = turn.t("I did not find an amount in this. Write for example 5000.")
            await self.open(turn, card, note=turn.texts.html("⚠️ %(words)s", words=words))
            return
        await self.open(turn, card.with_state(filter=_set(card, {"above": amount}).kept()))


def _set(card: Card, args: Mapping[str, Any]) -> Filter:
    known = Filter.of(card.state).kept()
    return Filter(**{**known, **{name: args[name] for name in ("period", "block", "above") if name in args}})
