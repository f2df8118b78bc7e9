"""/balance: what lies in the cashboxes that one may see, each currency with its total ──(Refresh)──► the same, newer"""

from typing import Any, ClassVar

from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.counting import AGAIN, counting, newest
from bot.mirror import ASKED, KEPT
from bot.purse import Purse
from bot.texts import sentence


class Balance(Dialogue):
    """Balances of cashboxes."""

    name: ClassVar[str] = "balance"
    commands: ClassVar[tuple[Command, ...]] = (Command("balance", sentence("What lies in the cashboxes")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        turn.api_to("see")
        await self._draw(turn, turn.new_card(self.name))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == AGAIN or not newest(turn, card):
            await self._draw(turn, card, at_most=ASKED)

    async def refresh(self, turn: Turn, card: Card) -> None:
        await self._draw(turn, card)

    async def _draw(self, turn: Turn, card: Card, *, at_most: float = KEPT) -> None:
        async with counting(turn, card, at_most=at_most) as (shown, purse):
            turn.show(shown, View(await _text(turn, purse), ((Button(turn.t("Refresh"), "refresh"),),)))


async def _text(turn: Turn, purse: Purse) -> str:
    currencies = await turn.desk.directory.currencies()
    left = purse.balances()

    def money(amount: int, code: str) -> str:
        return turn.texts.money(amount, currencies.get(code), code)

    parts = [
        {
            "code": code,
            "total": money(sum(left[number] for number in boxes), code),
            "boxes": [(box.name or f"#{number}", money(left[number], code)) for number, box in boxes.items()],
        }
        for code in purse.currencies
        for boxes in (purse.of_currency(code),)
    ]
    return turn.texts.render("balance.html", parts=parts, as_of=turn.texts.moment(purse.as_of))
