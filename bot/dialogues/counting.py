"""“Counting …” on a card while the workspace is read for it, and what becomes of the card where that fails.

Shown in a commit of its own, since a turn says everything at its end. A newer look of a card replaces one that has not
gone out yet, so a quick reading shows nothing of this.
"""

from sqlalchemy import Connection

from bot import cards
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.mirror import ASKED, KEPT
from bot.purse import Purse, purse_of

AGAIN = "again"
"""The action of the button on a card that could not be counted."""


async def counted(turn: Turn, card: Card, *, at_most: float = KEPT) -> tuple[Card, Purse]:
    """The card as it is to be shown from, and the person's Purse."""
    if turn.desk.mirror.known(at_most=max(at_most, ASKED)) is not None:
        return card, await purse_of(turn, at_most=at_most)
    card = await _shown(turn, card, View(turn.t("⏳ Counting …")))
    try:
        return card, await purse_of(turn, at_most=at_most)
    except Exception:
        again = Button(turn.t("Try again"), AGAIN)
        await _shown(turn, card, View(turn.t("This could not be counted."), ((again,),)))
        raise


async def _shown(turn: Turn, card: Card, view: View) -> Card:
    def show(connection: Connection) -> Card:
        return cards.show(connection, card, view, turn.now)

    return await turn.desk.db.write(show)
