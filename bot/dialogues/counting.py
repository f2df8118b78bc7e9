"""“Counting …” on a card while the workspace is read for it, and what becomes of the card where that fails.

Shown in a commit of its own, since a turn says everything at its end. A newer look of a card replaces one that has not
gone out yet, so a quick reading shows nothing of this.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import Connection

from bot import cards
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.mirror import ASKED, KEPT
from bot.purse import Purse, purse_of

AGAIN = "again"
"""The action of the button on a card that could not be counted."""


@asynccontextmanager
async def counting(turn: Turn, card: Card, *, at_most: float = KEPT) -> AsyncGenerator[tuple[Card, Purse]]:
    """The card as it is to be shown from, with the reading's moment in its state, and the person's Purse.

    Where what is done with them fails, a card that says “Counting …” says so, and offers to try again.
    """
    quick = turn.desk.mirror.known(at_most=max(at_most, ASKED)) is not None
    if not quick:
        card = await _shown(turn, card, View(turn.t("⏳ Counting …")))
    try:
        purse = await purse_of(turn, at_most=at_most)
        yield card.with_state(as_of=purse.ledger.as_of), purse
    except Exception:
        if not quick:
            again = Button(turn.t("Try again"), AGAIN)
            await _shown(turn, card, View(turn.t("This could not be counted."), ((again,),)))
        raise


def newest(turn: Turn, card: Card) -> bool:
    """Whether the card shows the newest reading that may be had now; the person is told so."""
    known = turn.desk.mirror.known(at_most=ASKED)
    if known is None or card.state.get("as_of") != known.as_of:
        return False
    turn.toast(turn.t("Read less than a minute ago: there is nothing newer yet."))
    return True


async def _shown(turn: Turn, card: Card, view: View) -> Card:
    def show(connection: Connection) -> Card:
        return cards.show(connection, card, view, turn.now)

    return await turn.desk.db.write(show)
