"""What a dialogue is: screens on cards, and what people do to them. Registered in dialogues/__init__.py.

/command ─► command        a button ─► tapped        an awaited text ─► answered        a reply to its card ─► replied
one's own message changed ─► edited        an intended call's outcome ─► settled, after read_back where it was lost
"""

from typing import Any, ClassVar, NamedTuple

from bot.cards import Card
from bot.desk import Turn
from bot.incoming import Edited, Said
from bot.intents import Intent, Settled, Verdict


class Command(NamedTuple):
    """`/name` and what the menu says of it (English, marked with `sentence`); `group`: safe where others read."""

    name: str
    words: str
    group: bool = False


class Dialogue:
    """One dialogue. What it does not need it leaves as it is here: nothing is ignored, all answer in words."""

    name: ClassVar[str]
    commands: ClassVar[tuple[Command, ...]] = ()

    async def command(self, turn: Turn, command: str, words: str) -> None:
        """`/command words`."""
        raise NotImplementedError

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """A button of the card's present version."""
        raise NotImplementedError

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        """The text that `expect` asked for; the message itself is `turn.incoming`."""
        turn.say(turn.t("/help shows what I can do."))

    async def replied(self, turn: Turn, card: Card, said: Said) -> bool:
        """A text or picture in reply to one of the dialogue's cards; false where it means nothing here."""
        return False

    async def edited(self, turn: Turn, card: Card, edited: Edited) -> None:
        """A message that made this card (Turn.source) was changed by its writer."""

    async def abandoned(self, turn: Turn, card: Card) -> None:
        """A command came where an answer was awaited: the card stands as before, without its question."""
        await self.refresh(turn, card)

    async def refresh(self, turn: Turn, card: Card) -> None:
        """Shows the card anew from fresh state: after a tap on an older version, or when its subject has changed."""

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """The outcome of an intended call is known (or is still being looked for)."""

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Whether a call whose answer was lost has taken effect."""
        return Verdict(None)
