"""/start CODE: who are you? ─(Yes, that's me)─┬─► linked ─(Give my own key)─► own_key.py
                                             └─► waits for an admin (a link of a batch) ─► linked, or refused
/help: what there is        /cancel: back to nothing        an admin's card: ─(Confirm)─► linked   ─(Refuse)─► dead

The card shows both identities before anything is bound; the code works once.
"""

import logging
from typing import Any

from sqlalchemy import Connection

from bot import admission, audit, cards, outbox, people
from bot.admission import linked_view, told_elsewhere
from bot.audit import Entry
from bot.cards import Button, Card, View
from bot.desk import Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import own_key
from bot.directory import is_active
from bot.people import Invitation
from bot.texts import LANGUAGES, sentence, translations

log = logging.getLogger("bot.start")


class Start(Dialogue):
    """Linking, help, cancel."""

    name = admission.DIALOGUE
    commands = (
        Command("help", sentence("What I can do"), group=True),
        Command("cancel", sentence("Stop what is being asked")),
    )

    async def command(self, turn: Turn, command: str, words: str) -> None:
        if command == "cancel":
            turn.say(turn.t("All right, stopped. /help shows what I can do."))
        elif command == "start" and words:
            await self._invited(turn, words)
        elif turn.person is None:
            turn.say(turn.texts.render("welcome.html", name=turn.sender.name))
        else:
            self._help(turn)

    def _help(self, turn: Turn) -> None:
        """The commands of the one list; those that the template names are not said twice."""
        from bot.dialogues import COMMANDS

        person = turn.known()
        said = translations(turn.texts.language).gettext
        others = [(command.name, said(command.words)) for command in COMMANDS if command.name not in EXEMPLIFIED]
        keyless = person.sealed_key is None
        text = turn.texts.render(
            "help.html", name=person.name, others=others, keyless=keyless, act_as=turn.desk.house.act_as
        )
        turn.say(text)

    async def _invited(self, turn: Turn, code: str) -> None:
        with turn.desk.db.read() as connection:
            invitation = people.redeemable(connection, code, turn.now)
        if invitation is None:
            turn.say(turn.t("This invitation was used already or has expired. Ask for a new one."))
            return
        if turn.desk.elsewhere(invitation.profile):
            turn.say(turn.t("This invitation is for another workspace than mine. Ask for a new one."))
            return
        if not await _works_here(turn, invitation.user_id):
            turn.say(_gone(turn))
            return
        profile = (await turn.desk.directory.people())[invitation.user_id]
        name = profile.user_name or profile.name or invitation.user_id
        text = turn.texts.render(
            "invited.html",
            name=name,
            position=await admission.position(turn.desk, invitation.user_id),
            email=profile.user_email,
            telegram=turn.sender.name,
            username=turn.sender.username,
            already=turn.person.name if turn.person is not None and turn.person.user_id != invitation.user_id else None,
            confirm=invitation.confirm,
        )
        rows = (
            (Button(turn.t("Yes, that's me"), "link", style="success"),),
            (Button(turn.t("No, not me"), "decline"),),
        )
        card = turn.new_card(self.name, code=invitation.code_hash, name=name)
        turn.show(card, View(text, rows))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "language" and args["language"] in LANGUAGES:
            turn.change(lambda connection: people.mark(connection, turn.telegram_id, language=args["language"]))
        elif action == "key" and turn.person is None:
            turn.toast(turn.t("You are not linked to the workspace. Ask for an invitation."), alert=True)
        elif action == "key":
            await own_key.ask(turn)
        elif action in {"confirm", "refuse"}:
            await self._decide(turn, card, action)
        elif action == "link":
            await self._link(turn, card)
        else:
            turn.show(card, View(turn.t("Nothing was linked. Tell the person who sent you the invitation.")))

    async def _link(self, turn: Turn, card: Card) -> None:
        with turn.desk.db.read() as connection:
            invitation = people.invitation(connection, card.state["code"])
        if invitation is not None and invitation.confirm:
            await self._ask(turn, card, invitation)
            return
        if invitation is not None and not await _works_here(turn, invitation.user_id):
            turn.show(card, View(_gone(turn)))
            return
        known = await admission.waits_with(turn.desk, invitation)
        language = turn.sender.language or turn.desk.house.language
        name = str(card.state["name"])
        used = turn.t("This invitation was used already or has expired. Ask for a new one.")
        told = told_elsewhere(turn.desk, language)

        def change(connection: Connection) -> None:
            done = people.link(connection, card.state["code"], turn.telegram_id, name, language, turn.now)
            if done is None:
                cards.show(connection, card, View(used), turn.now)
                return
            person, previous = done
            cards.show(connection, card, linked_view(turn.desk, person), turn.now)
            people.note_known(connection, turn.telegram_id, {people.FIRST, *known}, turn.now)
            if previous is not None:
                outbox.say(connection, previous, told, turn.now)
            after = {"telegram_id": turn.telegram_id, "name": turn.sender.name, "username": turn.sender.username}
            line = Entry(turn.now, person.user_id, "linked", f"person:{person.user_id}", turn.telegram_id, after=after)
            audit.note(connection, line)

        turn.change(change)

    async def _ask(self, turn: Turn, card: Card, invitation: Invitation) -> None:
        """A link of a batch: whoever holds the paper is bound to nothing until an admin has said who that is."""
        language = turn.sender.language or turn.desk.house.language
        sender = turn.sender
        told = {
            "asked": turn.t("Thank you. Your administrator confirms that this is you; I write to you then."),
            "again": turn.t("You wait for your administrator already. I write to you as soon as you are confirmed."),
            "taken": turn.t("This link was opened from another Telegram account already. Tell your administrator."),
            "busy": turn.t("You wait under another name already. Your administrator decides about that one first."),
            "used": turn.t("This invitation was used already or has expired. Ask for a new one."),
        }
        who = await admission.claimed(turn.desk, invitation.user_id, sender.username)

        def change(connection: Connection) -> None:
            asked, pending = admission.ask(connection, invitation.code_hash, sender, language, turn.now)
            follows = asked == "asked" and pending is not None
            subject = admission.subject_of(pending.id) if pending is not None and follows else None
            shown = Card(
                card.telegram_id,
                card.chat_id,
                self.name,
                card.state,
                subject,
                follows,
                card.id,
                card.version,
                card.message_id,
            )
            cards.show(connection, shown, View(told[asked]), turn.now)
            if pending is not None and asked == "asked":
                if not admission.ask_ops(connection, turn.desk, pending, who):
                    log.warning("link %s waits and nobody of ops is in chat: workspace people confirm", pending.id)
            elif pending is not None and asked == "taken":
                admission.warn_ops(connection, turn.desk, pending, sender)

        turn.change(change)

    async def _decide(self, turn: Turn, card: Card, action: str) -> None:
        """An admin's answer: one of ops, who still works here, about somebody else's account."""
        if turn.person is None or not admission.is_ops(turn.person, turn.desk.house.ops):
            raise Refusal(turn.t("Only an administrator of this assistant may decide this."))
        await turn.still_works_here()
        with turn.desk.db.read() as connection:
            pending = admission.find(connection, int(card.state["pending"]))
        if pending is None:
            turn.toast(turn.t("This has been decided already."))
            return
        if pending.telegram_id == turn.telegram_id:
            raise Refusal(turn.t("Nobody confirms their own account: ask another administrator."))
        decide = admission.confirming if action == "confirm" else admission.refusing
        turn.change(await decide(turn.desk, pending, turn.person))

    async def refresh(self, turn: Turn, card: Card) -> None:
        """An admin's question from fresh state; a decided invitation stays as it is shown."""
        if "pending" not in card.state or turn.person is None:
            return
        with turn.desk.db.read() as connection:
            pending = admission.find(connection, int(card.state["pending"]))
        if pending is not None:
            who = await admission.claimed(turn.desk, pending.user_id, pending.username)
            turn.show(card, admission.question(turn.texts, pending, who))


async def _works_here(turn: Turn, user_id: str) -> bool:
    """Read afresh: at the invitation, and again when it is about to bind."""
    profile = (await turn.desk.directory.people(fresh=True)).get(user_id)
    return is_active(profile, turn.today.date().isoformat())


def _gone(turn: Turn) -> str:
    return turn.t("The person of this invitation does not work here any more. Ask your administrator.")


EXEMPLIFIED = {
    "requests", "vacation", "request", "myrequests", "expense", "income", "move", "last", "balance", "report",
    "task", "tasks", "wiki", "run", "settings", "key", "why", "cancel", "help",
}  # fmt: skip
"""Commands that help.html names in its groups; those of a new dialogue stand below them until they have a place."""
