"""What the bot says in a group: a short help, and that everything else is for the private chat.

/help, /start ─► a short help      another command of ours ─► write to me in private      a button ─► the same
everything else ─► silence: sums, answers, edited messages, commands of other bots

Others read along in a group, so nothing is asked, shown or decided there, not even for who is entitled to it.
"""

from bot.desk import Turn
from bot.dialogues import COMMANDS
from bot.incoming import Incoming, Said, Tapped

HELP = {"help", "start"}

OURS = {command.name for command in COMMANDS}


def in_group(turn: Turn, incoming: Incoming) -> None:
    """Handles an update of a chat that is not private."""
    if isinstance(incoming, Tapped):
        turn.toast(turn.t("Write to me in a private chat."))
        return
    text = incoming.text.strip() if isinstance(incoming, Said) else ""
    if not text.startswith("/"):
        return
    command = text[1:].split(maxsplit=1)[0].split("@")[0].lower() if len(text) > 1 else ""
    if command in HELP:
        turn.say(
            turn.t("I help with requests, entries and tasks, in private alone: open a chat with me and press Start.")
        )
    elif command in OURS:
        turn.say(turn.t("Money and decisions stay private: write to me in a private chat."))
