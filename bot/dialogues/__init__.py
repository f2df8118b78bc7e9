"""The dialogues, in one visible list, and where a text goes.

/command ─► its dialogue      an awaited answer ─► the card that asked      a reply to a card ─► its dialogue
anything else, pictures too ─► entries, or a hint      a changed message of one's own ─► the card that it made
"""

from collections.abc import Mapping

from bot import cards
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.automations import Automations
from bot.dialogues.balance import Balance
from bot.dialogues.entries import Entries
from bot.dialogues.last import Last
from bot.dialogues.my_requests import MyRequests
from bot.dialogues.own_key import OwnKey, looks_like_key
from bot.dialogues.questions import Questions
from bot.dialogues.report import Report
from bot.dialogues.requests import Requests
from bot.dialogues.settings import Settings
from bot.dialogues.start import Start
from bot.dialogues.tasks import Tasks
from bot.dialogues.vacation import Vacation
from bot.dialogues.why import Why
from bot.dialogues.wiki import Wiki
from bot.incoming import Edited, Said

_entries = Entries()

DIALOGUES: tuple[Dialogue, ...] = (
    Requests(),
    MyRequests(),
    Vacation(),
    _entries,
    Last(),
    Balance(),
    Report(),
    Tasks(),
    Wiki(),
    Automations(),
    Questions(),
    Settings(),
    Why(),
    OwnKey(),
    Start(),
)

BY_NAME: Mapping[str, Dialogue] = {dialogue.name: dialogue for dialogue in DIALOGUES}

COMMANDS: tuple[Command, ...] = tuple(command for dialogue in DIALOGUES for command in dialogue.commands)
"""The menu, from the one list: what the dialogues declare."""

_BY_COMMAND: Mapping[str, Dialogue] = {
    **{command.name: dialogue for dialogue in DIALOGUES for command in dialogue.commands},
    "start": BY_NAME["start"],
}

FOR_ALL = {"start", "help", "cancel"}
"""Commands that work before one is linked."""


async def route(turn: Turn, said: Said) -> None:
    """A text or picture in a private chat."""
    text = said.text.strip()
    if text.startswith("/"):
        await _command(turn, text)
        return
    if turn.person is None:
        turn.say(turn.t("You are not linked to the workspace yet. Open the invitation link that you were given."))
        return
    with turn.desk.db.read() as connection:
        awaited = cards.expected(connection, turn.telegram_id)
        replied = None if said.reply_to is None else cards.find_by_message(connection, said.chat_id, said.reply_to)
    asked_by = None if awaited is None else awaited[0].id
    # Who replies to another card means that one, whatever else is being asked.
    means = replied is not None and replied.telegram_id == turn.telegram_id and replied.id != asked_by
    if means and replied is not None and await BY_NAME[replied.dialogue].replied(turn, replied, said):
        return
    if awaited is not None and text and said.photo is None:
        card, question = awaited
        await BY_NAME[card.dialogue].answered(turn, card, question, text)
    elif await _entries.free_text(turn, said):
        return
    elif looks_like_key(text):
        # Pasted without being asked for: taken as /key takes it, and out of the chat either way.
        await BY_NAME["own_key"].command(turn, "key", text)
    else:
        turn.say(turn.t("I did not find a sum in this. Write for example “450 taxi”, or see /help."))


async def _command(turn: Turn, text: str) -> None:
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


async def _close_question(turn: Turn) -> None:
    """A command ends what was being asked; the card that asked says how it stands."""
    with turn.desk.db.read() as connection:
        awaited = cards.expected(connection, turn.telegram_id)
    if awaited is not None:
        await BY_NAME[awaited[0].dialogue].abandoned(turn, awaited[0])


async def edited(turn: Turn, change: Edited) -> None:
    """A person's own message was changed: the card that it made follows."""
    with turn.desk.db.read() as connection:
        card = cards.find_by_source(connection, change.chat_id, change.message_id)
    if turn.person is not None and card is not None and card.telegram_id == turn.telegram_id:
        await BY_NAME[card.dialogue].edited(turn, card, change)
