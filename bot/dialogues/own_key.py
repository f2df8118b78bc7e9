"""/key: a person's own key for the workspace ──(the key as a text)──► deleted from the chat ─► proved ─► kept, sealed
                                            └─(Cancel)──► nothing kept                    └► asked for again, with why

The message is deleted before anything else is done with it, and in a commit of its own: whatever becomes of the proof,
the key does not stay in the chat. The key is stored sealed in the commit that empties the update which brought it; the
database's log is scrubbed right after. What is proved: the workspace takes the key and shows this very person to work
there. That the key is nobody else's cannot be asked of a workspace without a whoami: the first decision shows it
(requests, `history.author_id`), and says so until then.
"""

import asyncio
import hmac
import logging
import string
from typing import Any

from sqlalchemy import Connection

from bot import audit, cards, outbox, people
from bot.admission import waits_already
from bot.audit import Entry
from bot.cards import Button, Card, View
from bot.desk import Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.directory import is_active
from bot.incoming import Said
from bot.people import Person
from bot.rotation import hold
from bot.texts import sentence
from bot.vault import Vault, VaultError
from storage import Database
from workspace_api import CallNotSent, CallUnknown, KeyRejected, PermissionDenied, WorkspaceError

log = logging.getLogger("bot.own_key")

SHORTEST, LONGEST = 8, 512

ALLOWED = frozenset(string.ascii_letters + string.digits + "!#$%&'*+-./:=?@^_`|~")
"""What a key may be made of: the characters that go into a header as they are."""

ASKED = "key"

LIKELY = 20
"""Characters from which on one word of letters and digits is taken for a key."""

ELSEWHERE, GROUP = "elsewhere", "group"

WHY = {
    "forwarded": sentence("This message was forwarded: I do not take a key that somebody else wrote."),
    GROUP: sentence("Never write a key where others read along. Ask for a new one, and send it to me privately."),
    "shape": sentence("This does not look like a key: it is one word, without spaces."),
    "rejected": sentence("The workspace does not accept this key. Look it up again and send it once more."),
    "stranger": sentence("With this key the workspace does not show you as somebody who works there."),
    "taken": sentence("This key is in use for somebody else here. Send your own."),
    "silent": sentence("The workspace does not answer right now. The key was not kept; send it again soon."),
    ELSEWHERE: sentence("You were linked for another workspace than mine: ask for a new invitation."),
    "fault": sentence("Something went wrong here. The key was not kept; send it again, or tell your administrator."),
}
"""Why a key was not kept. None of it names the key."""


class OwnKey(Dialogue):
    """A person's own key."""

    name = "own_key"
    commands = (Command("key", sentence("Give my own key for the workspace")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        """`/key`; a key written behind it is taken as the answer, since it is in the chat already."""
        if words:
            await self._take(turn, turn.new_card(self.name), words)
        else:
            await ask(turn)

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._take(turn, card, text)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "again":
            await ask(turn, card)
        elif action == "cancel":
            turn.show(card, View(turn.t("No key was kept. /key asks for it again.")))

    async def abandoned(self, turn: Turn, card: Card) -> None:
        turn.show(card, View(turn.t("No key was kept. /key asks for it again.")))

    async def refresh(self, turn: Turn, card: Card) -> None:
        """A key is asked for anew by /key only."""

    async def _take(self, turn: Turn, card: Card, text: str) -> None:
        """Deletes the message at once, then proves the key, then keeps it."""
        said = turn.incoming
        assert isinstance(said, Said), "a key comes as a text"
        await delete_at_once(turn, said.message_id)
        # The update that brought the key is emptied with this turn; this clears the database's log of it, too.
        turn.change(lambda _: _scrub(turn.desk.db))
        waits = set[int]()
        try:
            why = await self._wrong(turn, said, text)
            waits = await self._waits(turn, text) if why is None else waits
        except (CallNotSent, CallUnknown):
            why = "silent"
        except (KeyRejected, PermissionDenied):
            why = "rejected"
        except WorkspaceError as refused:
            log.warning("a key could not be proved: %s", type(refused).__name__)
            why = "silent"
        except Exception as fault:  # noqa: BLE001 - neither its words nor its trace may hold the key, and the chat goes on
            log.error("a key could not be proved: %s", type(fault).__name__)
            why = "fault"
        if why is not None:
            self._ask_again(turn, card, why)
        else:
            self._keep(turn, card, text, waits)

    async def _wrong(self, turn: Turn, said: Said, text: str) -> str | None:
        """Why this key is not taken, or None where it is proved as far as it can be."""
        person = turn.known()
        if said.forwarded:
            return "forwarded"
        if turn.desk.elsewhere(person.workspace):
            return ELSEWHERE
        if not is_key(text):
            return "shape"
        api = turn.desk.service.with_options(api_key=text)
        profiles = {profile.user_id: profile for profile in await api.user.profile.list()}
        if not is_active(profiles.get(person.user_id), turn.today.date().isoformat()):
            return "stranger"
        with turn.desk.db.read() as connection:
            others = [other for other in people.everyone(connection) if other.user_id != person.user_id]
        if await asyncio.to_thread(_is_of_another, turn.desk.vault, others, text):
            return "taken"
        return None

    async def _waits(self, turn: Turn, key: str) -> set[int]:
        """What waits already for one who gives a first key: /requests finds it, it is not pushed as new."""
        if turn.known().sealed_key is not None:
            return set()
        return await waits_already(turn.desk, turn.desk.service.with_options(api_key=key))

    def _ask_again(self, turn: Turn, card: Card, why: str) -> None:
        rows = ((Button(turn.t("Cancel"), "cancel"),),)
        text = turn.texts.html(
            "⛔ <b>%(why)s</b>\n\n%(how)s",
            why=turn.t(WHY[why]),
            how=turn.t("I deleted your message. Send the right key, or cancel."),
        )
        turn.show(_anew(turn, card), View(text, rows), expect=ASKED)

    def _keep(self, turn: Turn, card: Card, key: str, waits: set[int]) -> None:
        """Sealed inside the commit: a rotation of the key file cannot come between sealing and storing."""
        person, now, desk = turn.known(), turn.now, turn.desk
        turn.show(_anew(turn, card), View(turn.texts.render("key_kept.html", name=person.name)))

        def change(connection: Connection) -> None:
            hold(connection)
            sealed = desk.vault.seal(key)
            people.mark(connection, person.telegram_id, sealed_key=sealed, key_proved=False)
            people.note_known(connection, person.telegram_id, waits, now)
            note = "an own key was given, and proved by a read"
            subject = f"person:{person.user_id}"
            audit.note(connection, Entry(now, person.user_id, "key", subject, person.telegram_id, "own", note=note))

        turn.change(change)


async def ask(turn: Turn, card: Card | None = None, *, rejected: bool = False) -> None:
    """The card that asks for the key; `rejected`: the workspace does not take the one that is kept."""
    person = turn.known()
    if turn.desk.elsewhere(person.workspace):
        raise Refusal(turn.t(WHY[ELSEWHERE]))
    text = turn.texts.render(
        "key.html",
        kept=person.sealed_key is not None,
        rejected=rejected,
        address=turn.desk.house.workspace_url,
        act_as=turn.desk.house.act_as,
    )
    rows = ((Button(turn.t("Cancel"), "cancel"),),)
    turn.show(_anew(turn, card), View(text, rows), expect=ASKED)


async def key_was_rejected(turn: Turn) -> bool:
    """After KeyRejected in a turn: asks for the person's key again where it is theirs that is refused.

    False where their key is fine, or where they have none: then it is the service's own that the workspace refuses.
    """
    person = turn.person
    if person is None or person.sealed_key is None:
        return False
    try:
        api = turn.desk.api(person)
        assert api is not None, "there is a key"
        await api.user.profile.list()
    except KeyRejected:
        await ask(turn, rejected=True)
        return True
    except (WorkspaceError, VaultError, Refusal):
        return False
    return False


async def in_company(turn: Turn, said: Said) -> bool:
    """A key written in a group: deleted where the bot may, refused in words either way. False: it is no /key."""
    command, _, words = said.text.strip().partition(" ")
    if command.split("@")[0].lower() != "/key":
        return False
    if words.strip():
        await delete_at_once(turn, said.message_id)
        turn.say(turn.t(WHY[GROUP]))
    else:
        turn.say(turn.t("A key is for me alone: write /key to me in a private chat."))
    return True


async def delete_at_once(turn: Turn, message_id: int) -> None:
    """Takes the person's message out of the chat, in a commit of its own: it does not wait for this turn's end."""
    now, chat_id = turn.now, turn.chat_id
    await turn.desk.db.write(lambda connection: outbox.delete_message(connection, chat_id, message_id, now))


def _scrub(db: Database) -> None:
    """Queued behind the commit under way."""
    db.scrub()


def is_key(text: str) -> bool:
    """Whether a text can be a key at all: one word of the characters that a header takes."""
    return SHORTEST <= len(text) <= LONGEST and set(text) <= ALLOWED


def looks_like_key(text: str) -> bool:
    """Whether a text that nobody asked for is a key rather than a word: long, of letters and digits."""
    mixed = any(one.isdigit() for one in text) and any(one.isalpha() for one in text)
    return len(text) >= LIKELY and mixed and is_key(text)


def _is_of_another(vault: Vault, others: list[Person], key: str) -> bool:
    """Whether somebody else has given this very key: a key that two people hold is nobody's own."""
    for other in others:
        try:
            known = None if other.sealed_key is None else vault.open(other.sealed_key)
        except VaultError:
            continue
        if known is not None and hmac.compare_digest(known.encode(), key.encode()):
            return True
    return False


def _anew(turn: Turn, card: Card | None) -> Card:
    """The card to show on; a question that is asked again stands below what was deleted."""
    if card is None or not card.id:
        return turn.new_card(OwnKey.name)
    with turn.desk.db.read() as connection:
        known = cards.load(connection, card.id)
    return known or turn.new_card(OwnKey.name)
