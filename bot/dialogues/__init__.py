"""The dialogues, in one visible list, and where a text goes.

/command ─► its dialogue      an awaited answer ─► the card that asked      anything else ─► an expense, or a hint
"""

from collections.abc import Mapping

from bot import cards
from bot.cards import View
from bot.desk import Dialogue, Turn
from bot.dialogues.expenses import Expenses
from bot.dialogues.requests import Requests
from bot.dialogues.start import Start
from bot.dialogues.tasks import Tasks
from bot.dialogues.wiki import Wiki
from bot.incoming import Said

_expenses = Expenses()

DIALOGUES: tuple[Dialogue, ...] = (Requests(), _expenses, Tasks(), Wiki(), Start())

BY_NAME: Mapping[str, Dialogue] = {dialogue.name: dialogue for dialogue in DIALOGUES}

COMMANDS: tuple[tuple[str, str], ...] = tuple(command for dialogue in DIALOGUES for command in dialogue.commands)
"""The menu: command and what it does."""

_BY_COMMAND: Mapping[str, Dialogue] = {
    command: dialogue
    for dialogue in DIALOGUES
    for command, _ in (*dialogue.commands, ("start", ""))
    if command != "start" or dialogue.name == "start"
}

FOR_ALL = {"start", "help", "cancel"}
"""Commands that work before one is linked."""


async def route(turn: Turn, said: Said) -> None:
    """A text in a private chat."""
    text = said.text.strip()
    if text.startswith("/"):
        command, _, words = text[1:].partition(" ")
        command = command.split("@")[0].lower()
        dialogue = _BY_COMMAND.get(command)
        if turn.person is None and command not in FOR_ALL:
            turn.say(turn.t("You are not linked to the workspace yet. Open the invitation link that you were given."))
        elif dialogue is None:
            turn.say(turn.texts.html("I do not know %(command)s. /help shows what I can do.", command=f"/{command}"))
        else:
            await _close_question(turn)
            await dialogue.command(turn, command, words.strip())
        return
    if turn.person is None:
        turn.say(turn.t("You are not linked to the workspace yet. Open the invitation link that you were given."))
        return
    with turn.desk.db.read() as connection:
        awaited = cards.expected(connection, turn.telegram_id)
    if awaited is not None:
        card, question = awaited
        await BY_NAME[card.dialogue].answered(turn, card, question, text)
    elif not await _expenses.free_text(turn, text):
        turn.say(turn.t("I did not find a sum in this. Write for example “450 taxi”, or see /help."))


async def _close_question(turn: Turn) -> None:
    """A command ends what was being asked: a request's card is shown whole again, a draft is closed."""
    with turn.desk.db.read() as connection:
        awaited = cards.expected(connection, turn.telegram_id)
    if awaited is None:
        return
    card, _ = awaited
    if card.dialogue == "requests":
        await BY_NAME[card.dialogue].refresh(turn, card)
    else:
        turn.show(card, View(turn.t("Cancelled; nothing was saved.")))
