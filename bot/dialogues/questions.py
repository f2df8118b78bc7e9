"""A question of an automation: a card with its options ──(one)──► counted, or why not ──► every card says how it ended

In private and in groups that were asked. Who taps is entitled now: linked, works here still (read afresh), and is
among those asked. The first answer counts; a tap after it, after the time or after the run's end says so.
"""

import asyncio
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Connection

from bot import cards, questions, roles
from bot.cards import Card
from bot.desk import Desk, Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.incoming import Tapped
from bot.questions import Asked, Outcome

if TYPE_CHECKING:
    from automations.control import Answered, Control


class Questions(Dialogue):
    """Answers to automations."""

    name = questions.DIALOGUE
    commands: ClassVar[tuple[Command, ...]] = ()

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        asked = _of(turn, card)
        await turn.still_works_here()
        if not await _may_answer(turn, card, asked):
            turn.toast(turn.t("This question is not asked of you."), alert=True)
            return
        option = asked.options[int(args["option"])]
        user_id = turn.known().user_id
        answered = await control_of(turn).answer(asked.key, option, user_id)
        # A tap that was handled, but not to the end: the bot was stopped in between.
        counts = answered.state == "taken" or (answered.option == option and answered.by == user_id)
        turn.toast(_said(turn, answered, counts), alert=not counts)
        await _close(turn, asked)

    async def refresh(self, turn: Turn, card: Card) -> None:
        """A tap on a card that has moved on: it is closed where the question is, else it stands as it is."""
        await _close(turn, _of(turn, card))


async def asked_in_group(turn: Turn, tap: Tapped) -> bool:
    """Handles a tap on a question that was asked in this group; false where it is something else's button."""
    with turn.desk.db.read() as connection:
        handle = cards.resolve(connection, tap.handle)
        card = None if handle is None else cards.load(connection, handle.card_id)
    if handle is None or card is None or card.dialogue != questions.DIALOGUE or card.chat_id != tap.chat_id:
        return False
    if turn.person is None:
        turn.toast(turn.t("You are not linked to the workspace. Ask for an invitation."), alert=True)
    elif handle.version != card.version:
        turn.toast(turn.t("The card has changed meanwhile: this is how it stands now."))
    else:
        await Questions().tapped(turn, card, handle.action, dict(handle.args))
    return True


def control_of(turn: Turn) -> "Control":
    """The automations. Raises Refusal where this bot has none."""
    control = turn.desk.automations
    if control is None:
        raise Refusal(turn.t("There are no automations here."))
    return control


async def outcome_of(desk: Desk, asked: Asked) -> Outcome | None:
    """How a question ended, as the automations know it; None while it is open."""
    assert desk.automations is not None, "only looked at where there are automations"
    line = await asyncio.to_thread(desk.automations.question, asked.key)
    if line is None or line.state == "withdrawn":
        return Outcome("withdrawn")
    if line.state == "answered":
        at = None if line.answered_at is None else _seconds(line.answered_at)
        return Outcome("answered", line.answer, line.answered_by or "", at)
    # Past its time nothing is taken any more, also before a runner has noted it.
    over = line.deadline is not None and desk.now() >= _seconds(line.deadline)
    return Outcome("expired", line.default) if over or line.state == "expired" else None


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _of(turn: Turn, card: Card) -> Asked:
    with turn.desk.db.read() as connection:
        asked = questions.load(connection, int(card.state["question"]))
    if asked is None:
        raise Refusal(turn.t("This button is out of date. Start anew with a command."))
    return asked


async def _close(turn: Turn, asked: Asked) -> None:
    """With the turn: every card says how the question ended, where it has."""
    control_of(turn)
    outcome = await outcome_of(turn.desk, asked)
    if outcome is not None:
        turn.change(partial(_closed, asked=asked, outcome=outcome, turn=turn))


def _closed(connection: Connection, asked: Asked, outcome: Outcome, turn: Turn) -> None:
    questions.close(connection, asked, outcome, turn.desk.house, turn.now)


async def _may_answer(turn: Turn, card: Card, asked: Asked) -> bool:
    """Whether this person is among those asked, as the roles stand now.

    In a group that was asked everybody of the house is, unless the automation names its people.
    """
    person, house = turn.known(), turn.desk.house
    with turn.desk.db.read() as connection:
        if roles.is_meant(connection, person, asked.names, house):
            return True
    if card.chat_id == person.telegram_id or not roles.names_chat(card.chat_id, asked.names, house):
        return False
    known = await asyncio.to_thread(control_of(turn).runnable)
    automation = next((one for one in known if one.name == asked.automation), None)
    if automation is None or automation.people is None:
        return automation is not None
    with turn.desk.db.read() as connection:
        return roles.is_meant(connection, person, automation.people, house)


def _said(turn: Turn, answered: "Answered", counts: bool) -> str:
    """What the tap is answered with."""
    option = answered.option or ""
    if counts:
        return turn.t("Noted: %(option)s.", option=option)
    if answered.state == "before" and answered.by == turn.known().user_id:
        return turn.t("You have answered already: %(option)s.", option=option)
    if answered.state == "before":
        with turn.desk.db.read() as connection:
            who = questions.name_of(connection, answered.by)
        return turn.t("%(who)s was quicker: %(option)s.", who=who, option=option)
    if answered.state == "late" and answered.option is not None:
        return turn.t("Too late: the time ran out, and it is %(option)s.", option=option)
    if answered.state == "late":
        return turn.t("Too late: the time ran out.")
    if answered.state == "gone":
        return turn.t("The run has ended: no answer is needed any more.")
    return turn.t("This button is out of date. Start anew with a command.")
