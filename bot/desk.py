"""What every dialogue works with: the Desk (shared) and the Turn (one update, or one outcome, being handled).

A turn reads what it likes and collects what is to change; `commit` writes all of it at once, together with the mark
that the update is done. A turn that fails has changed nothing.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Protocol

from sqlalchemy import Connection

from bot import cards, intents, outbox, people
from bot.cards import Card, View
from bot.directory import Directory
from bot.incoming import Incoming, Sender, Tapped
from bot.intents import Intent, Settled, Verdict
from bot.people import Person
from bot.texts import Texts
from bot.vault import Vault
from storage import Database
from workspace_api import AsyncWorkspace
from workspace_api.contract.endpoint import Call

Change = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class House:
    """The settings that dialogues need. `scale`: decimals of a sum on the wire."""

    zone: tzinfo
    language: str
    scale: int
    clock: Callable[[], datetime]


class Desk:
    """The shared parts: database, workspace, dictionaries, keys."""

    def __init__(self, db: Database, service: AsyncWorkspace, vault: Vault, house: House) -> None:
        self.db = db
        self.service = service
        self.vault = vault
        self.house = house
        self.directory = Directory(service, self.now)

    def now(self) -> float:
        """Seconds since 1970."""
        return self.house.clock().timestamp()

    def api(self, person: Person) -> AsyncWorkspace | None:
        """The workspace as this person sees it: with their own key, or none."""
        if person.sealed_key is None:
            return None
        return self.service.with_options(api_key=self.vault.open(person.sealed_key))

    def texts(self, language: str) -> Texts:
        """Sentences in a language."""
        return Texts(language, self.house.zone, self.house.scale)


class Refusal(Exception):
    """A dialogue cannot go on; its text is told to the person, nothing has changed."""


@dataclass(slots=True)
class Turn:
    """One update or outcome being handled for one person in one chat."""

    desk: Desk
    chat_id: int
    telegram_id: int
    texts: Texts
    person: Person | None = None
    incoming: Incoming | None = None
    _changes: list[Change] = field(default_factory=list[Change])
    _toast: tuple[str, bool] = ("", False)

    @property
    def now(self) -> float:
        return self.desk.now()

    @property
    def today(self) -> datetime:
        """Now, in the house's zone."""
        return datetime.fromtimestamp(self.now, UTC).astimezone(self.desk.house.zone)

    @property
    def sender(self) -> Sender:
        """Who wrote; only in turns that handle an update."""
        assert self.incoming is not None, "an outcome has no sender"
        return self.incoming.sender

    def t(self, sentence: str, **values: object) -> str:
        return self.texts.t(sentence, **values)

    def known(self) -> Person:
        """The linked person. Dialogues that need one are not entered without."""
        assert self.person is not None, "this dialogue is for linked people"
        return self.person

    def api(self) -> AsyncWorkspace:
        """The workspace with the person's own key; refuses in words where there is none."""
        api = self.desk.api(self.known())
        if api is None:
            raise Refusal(self.t("I have no key of yours for the workspace. Ask for a new invitation."))
        return api

    async def still_works_here(self) -> None:
        """Refuses where the person has been disabled or has left, or where that cannot be read (safety)."""
        from bot.directory import is_active

        profile = (await self.desk.directory.people(fresh=True)).get(self.known().user_id)
        if not is_active(profile, self.today.date().isoformat()):
            raise Refusal(self.t("Your access to the workspace has ended. Ask your administrator."))

    def new_card(self, dialogue: str, *, subject: str | None = None, live: bool = False, **state: Any) -> Card:
        """A card that will be a new message."""
        return Card(self.telegram_id, self.chat_id, dialogue, state, subject, live)

    def show(self, card: Card, view: View, *, expect: str | None = None, intend: "Intended | None" = None) -> None:
        """Shows the card; `expect`: the next text answers it; `intend`: a call that is made once this is committed."""

        def change(connection: Connection) -> None:
            shown = cards.show(connection, card, view, self.now)
            awaited = cards.expected(connection, self.telegram_id)
            if expect is not None:
                cards.expect(connection, shown, expect)
            elif awaited is not None and awaited[0].id == shown.id:
                cards.forget_question(connection, self.telegram_id)
            if intend is not None:
                intents.create(connection, _intent(self, shown, intend))

        self._changes.append(change)

    def say(self, html: str) -> None:
        """A message of its own."""
        self._changes.append(lambda connection: _said(connection, self.chat_id, html, self.now))

    def toast(self, text: str, *, alert: bool = False) -> None:
        """What the tap is answered with."""
        self._toast = (text, alert)

    def change(self, change: Change) -> None:
        """Anything else that is written with this turn."""
        self._changes.append(change)

    def write(self, connection: Connection) -> None:
        """Writes all that was collected; called inside the transaction that marks the update as done."""
        for change in self._changes:
            change(connection)
        if isinstance(self.incoming, Tapped):
            text, alert = self._toast
            outbox.answer(connection, self.chat_id, self.incoming.query_id, text[:200], alert, self.now)
        if self.person is not None and self.incoming is not None:
            people.mark(connection, self.telegram_id, seen_at=self.now)


@dataclass(frozen=True, slots=True)
class Intended:
    """A call that a card asks for. `subject` may have one open intent; `before` helps to read back."""

    call: Call[Any]
    subject: str
    before: dict[str, Any] = field(default_factory=dict[str, Any])


def _said(connection: Connection, chat_id: int, html: str, now: float) -> None:
    outbox.say(connection, chat_id, html, now)


def _intent(turn: Turn, card: Card, intended: Intended) -> Intent:
    person = turn.known()
    operation_id = intents.new_id()
    body = json.loads(intended.call.params.model_dump_json(by_alias=True, exclude_unset=True))
    tag = intents.OPERATION_ID_FIELD.get(intended.call.name)
    if tag is not None:
        body[tag] = {**(body.get(tag) or {}), "operation_id": operation_id}
    return Intent(
        id=operation_id,
        telegram_id=person.telegram_id,
        user_id=person.user_id,
        card_id=card.id,
        dialogue=card.dialogue,
        subject=intended.subject,
        operation=intended.call.name,
        body=body,
        before=intended.before,
        state="open",
        checks=0,
        created_at=turn.now,
    )


class Dialogue(Protocol):
    """One dialogue: screens on cards. Registered in dialogues/__init__.py."""

    @property
    def name(self) -> str: ...

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """Command and what the menu says of it (English; translated by gettext)."""
        ...

    async def command(self, turn: Turn, command: str, words: str) -> None:
        """`/command words`."""
        ...

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """A button of the card's present version."""
        ...

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        """The text that `expect` asked for."""
        ...

    async def refresh(self, turn: Turn, card: Card) -> None:
        """Shows the card anew from fresh state: after a tap on an older version, or when its subject has changed."""
        ...

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """The outcome of an intended call is known (or is still being looked for)."""
        ...

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Whether a call whose answer was lost has taken effect."""
        ...
