"""/start CODE: who are you? ──(Yes, that's me)──► linked        /help: what there is        /cancel: back to nothing

The card shows both identities before anything is bound; the code works once.
"""

from typing import Any

from sqlalchemy import Connection

from bot import cards, outbox, people
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.request_view import waits_for_viewer
from bot.directory import is_active
from bot.periods import requests_of
from bot.texts import LANGUAGES, sentence


class Start(Dialogue):
    """Linking, help, cancel."""

    name = "start"
    commands = (Command("help", sentence("What I can do")), Command("cancel", sentence("Stop what is being asked")))

    async def command(self, turn: Turn, command: str, words: str) -> None:
        if command == "cancel":
            turn.say(turn.t("All right, stopped. /help shows what I can do."))
        elif command == "start" and words:
            await self._invited(turn, words)
        elif turn.person is None:
            turn.say(turn.texts.render("welcome.html", name=turn.sender.name))
        else:
            turn.say(turn.texts.render("help.html", name=turn.person.name))

    async def _invited(self, turn: Turn, code: str) -> None:
        with turn.desk.db.read() as connection:
            invitation = people.redeemable(connection, code, turn.now)
        if invitation is None:
            turn.say(turn.t("This invitation was used already or has expired. Ask for a new one."))
            return
        profile = (await turn.desk.directory.people(fresh=True)).get(invitation.user_id)
        if profile is None or not is_active(profile, turn.today.date().isoformat()):
            turn.say(turn.t("The person of this invitation does not work here any more. Ask your administrator."))
            return
        blocks = await turn.desk.directory.blocks()
        mine = [
            blocks[block].position or blocks[block].name
            for block in await turn.desk.directory.blocks_of(invitation.user_id)
            if block in blocks
        ]
        name = profile.user_name or profile.name or invitation.user_id
        text = turn.texts.render(
            "invited.html",
            name=name,
            position=mine[0] if mine else None,
            email=profile.user_email,
            telegram=turn.sender.name,
            username=turn.sender.username,
            already=turn.person.name if turn.person is not None and turn.person.user_id != invitation.user_id else None,
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
            return
        if action != "link":
            turn.show(card, View(turn.t("Nothing was linked. Tell the person who sent you the invitation.")))
            return
        await self._link(turn, card)

    async def _link(self, turn: Turn, card: Card) -> None:
        known = await self._waiting_now(turn, card)
        language = turn.sender.language or turn.desk.house.language
        name = str(card.state["name"])
        linked = turn.texts.render("linked.html", name=name)
        used = turn.t("This invitation was used already or has expired. Ask for a new one.")
        elsewhere = turn.t(
            "Your account was linked from another Telegram account just now. "
            "If that was not you, tell your administrator at once."
        )

        def change(connection: Connection) -> None:
            done = people.link(connection, card.state["code"], turn.telegram_id, name, language, turn.now)
            cards.show(connection, card, View(used if done is None else linked), turn.now)
            if done is not None:
                people.note_waiting(connection, turn.telegram_id, gone=set(), new={people.FIRST, *known}, at=turn.now)
            if done is not None and done[1] is not None:
                outbox.say(connection, done[1], elsewhere, turn.now)

        turn.change(change)

    async def _waiting_now(self, turn: Turn, card: Card) -> set[int]:
        """What waits for the person already: it is found by /requests, and not pushed as new."""
        with turn.desk.db.read() as connection:
            invitation = people.invitation(connection, card.state["code"])
        if invitation is None or invitation.sealed_key is None:
            return set()
        api = turn.desk.service.with_options(api_key=turn.desk.vault.open(invitation.sealed_key))
        return {r.id for r in await requests_of(api, turn.today) if r.id is not None and waits_for_viewer(r)}
