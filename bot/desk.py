"""What every dialogue works with: the Desk (shared) and the Turn (one update, or one outcome, being handled).

A turn reads what it likes and collects what is to change; `commit` writes all of it at once, together with the mark
that the update is done. A turn that fails has changed nothing.
"""

import copy
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot import audit, cards, intents, outbox, people
from bot.cards import Card, View
from bot.directory import Directory
from bot.incoming import Edited, Incoming, Said, Sender, Tapped
from bot.intents import Intent, KeyKind
from bot.mirror import Mirror
from bot.people import Person
from bot.texts import Texts
from bot.vault import Vault
from storage import Database
from workspace_api import AsyncWorkspace
from workspace_api.contract.endpoint import Call

if TYPE_CHECKING:
    from automations.control import Control

Change = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class House:
    """The settings that dialogues need.

    `scale`: decimals of a sum on the wire. `limit`: the sum above which approving and paying ask again, in that scale.
    `act_as`: what people without an own key may do with the service's. `sites`: names of `project_id`s.
    `embedded`: the workspace is our own, wherever it runs. `roles`: user ids and chats by the name of a role.
    """

    zone: tzinfo
    language: str
    scale: int
    clock: Callable[[], datetime]
    folder: Path = Path("data")
    workspace_url: str = ""
    web_url: str | None = None
    ops: tuple[str, ...] = ()
    limit: int | None = None
    act_as: Literal["nobody", "see", "log"] = "nobody"
    sites: Mapping[int, str] = field(default_factory=dict[int, str])
    escalate_days: int = 2
    embedded: bool = False
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


class Desk:
    """The shared parts: database, workspace, dictionaries, keys.

    `automations`: the runs and questions of automations, set by whoever opens the desk; None: there are none here.
    """

    def __init__(
        self,
        db: Database,
        service: AsyncWorkspace,
        vault: Vault,
        house: House,
        polling: AsyncWorkspace | None = None,
    ) -> None:
        self.db = db
        self.service = service
        self.vault = vault
        self.house = house
        self.directory = Directory(service, self.now)
        self._polling = polling or service
        self.mirror = Mirror(self._polling, self.now, house.zone)
        self.download: Callable[[str], Awaitable[bytes]] = _no_download
        self.automations: Control | None = None

    def background(self) -> "Desk":
        """The same desk for whatever nobody waits for: its calls give way to people's."""
        other = copy.copy(self)
        other.service = self._polling
        return other

    def now(self) -> float:
        """Seconds since 1970."""
        return self.house.clock().timestamp()

    def api(self, person: Person) -> AsyncWorkspace | None:
        """The workspace as this person sees it: with their own key; None where there is none for this workspace."""
        if person.sealed_key is None or self.elsewhere(person.workspace):
            return None
        return self.service.with_options(api_key=self.vault.open(person.sealed_key))

    def elsewhere(self, address: str | None) -> bool:
        """Whether an address that was noted is that of another workspace: a key for that one is not sent here."""
        here = self.house.workspace_url
        return bool(address and here) and (address or "").rstrip("/") != here.rstrip("/")

    def texts(self, language: str, zone: str | None = None) -> Texts:
        """Sentences in a language, times in a zone (the house's where none is named)."""
        return Texts(language, ZoneInfo(zone) if zone else self.house.zone, self.house.scale)

    def texts_of(self, person: Person) -> Texts:
        """Sentences in a person's language, times in their zone."""
        return self.texts(person.language, person.zone)


class Refusal(Exception):
    """A dialogue cannot go on; its text is told to the person, nothing has changed."""


async def _no_download(_file_id: str) -> bytes:
    raise Refusal("Pictures cannot be read here.")


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
    _sources: list[int] = field(default_factory=list[int])
    _toast: tuple[str, bool] = ("", False)

    @property
    def now(self) -> float:
        return self.desk.now()

    @property
    def today(self) -> datetime:
        """Now, in the person's zone."""
        return datetime.fromtimestamp(self.now, UTC).astimezone(self.texts.zone)

    @property
    def written_on(self) -> date:
        """The day in the person's zone on which the message was written: a phone without a network sends it later."""
        at = self.incoming.sent_at if isinstance(self.incoming, Said | Edited) else None
        if at is None:
            return self.today.date()
        return datetime.fromtimestamp(min(at, self.now), UTC).astimezone(self.texts.zone).date()

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
        """The workspace with the person's own key, for what counts as their own act; refuses where there is none."""
        api = self.desk.api(self.known())
        if api is None:
            raise Refusal(self.t("I have no key of yours for this workspace. Send it to me with /key."))
        return api

    def api_to(self, act: Literal["see", "log"]) -> AsyncWorkspace:
        """The workspace with the person's own key, else with the service's where its policy allows the act."""
        api = self.desk.api(self.known())
        allowed = self.desk.house.act_as == "log" or self.desk.house.act_as == act
        return self.desk.service if api is None and allowed else self.api()

    @property
    def key_kind(self) -> KeyKind:
        """Whose key acts for this person."""
        return "own" if self.known().sealed_key is not None else "service"

    async def still_works_here(self) -> None:
        """Refuses where the person has been disabled or has left, or where that cannot be read (safety)."""
        from bot.access import still_works_here

        await still_works_here(self)

    def new_card(self, dialogue: str, *, subject: str | None = None, live: bool = False, **state: Any) -> Card:
        """A card that will be a new message."""
        return Card(self.telegram_id, self.chat_id, dialogue, state, subject, live)

    def show(
        self,
        card: Card,
        view: View,
        *,
        expect: str | None = None,
        intend: "Intended | Sequence[Intended] | None" = None,
    ) -> None:
        """Shows the card; `expect`: the next text answers it; `intend`: calls that are made once this is committed."""

        def change(connection: Connection) -> None:
            shown = cards.show(connection, card, view, self.now)
            awaited = cards.expected(connection, self.telegram_id)
            if expect is not None:
                cards.expect(connection, shown, expect)
            elif awaited is not None and awaited[0].id == shown.id:
                cards.forget_question(connection, self.telegram_id)
            for intended in [intend] if isinstance(intend, Intended) else intend or ():
                self._intend(connection, shown, intended)
            for message_id in self._sources:
                cards.note_source(connection, shown, message_id)

        self._changes.append(change)

    def _intend(self, connection: Connection, shown: Card, intended: "Intended") -> None:
        intent = _intent(self, shown, intended)
        intents.create(connection, intent)
        audit.note(
            connection,
            audit.Entry(
                self.now,
                intent.user_id,
                "asked",
                audit.subject_of(intent.subject, intent.operation, None),
                intent.telegram_id,
                intent.key_kind,
                intent.operation,
                intent.id,
                body=intent.body,
                before=intent.before,
            ),
        )

    def source(self, message_id: int) -> None:
        """The person's message that made the card shown next: changing it changes the card (Dialogue.edited)."""
        self._sources.append(message_id)

    def note(self, act: str, subject: str, *, before: Any = None, after: Any = None, note: str = "") -> None:
        """A line in the audit, beside those that every intended call gets by itself."""
        person = self.known()
        entry = audit.Entry(
            self.now,
            person.user_id,
            act,
            subject,
            self.telegram_id,
            "none",
            before=before,
            after=after,
            note=note,
        )
        self._changes.append(lambda connection: audit.note(connection, entry))

    def photo(self, png: bytes, caption: str = "") -> None:
        """A picture as a message of its own; the caption is HTML."""
        path = self._outgoing("picture.png", png)
        self._changes.append(
            lambda connection: _said(connection, self.chat_id, caption, self.now, file=path, kind="photo")
        )

    def document(self, name: str, content: bytes, caption: str = "") -> None:
        """A file as a message of its own; the caption is HTML."""
        path = self._outgoing(name, content)
        self._changes.append(lambda connection: _said(connection, self.chat_id, caption, self.now, file=path))

    def _outgoing(self, name: str, content: bytes) -> Path:
        """The file until it has been sent; swept later, so that a turn that fails leaves nothing for long."""
        folder = self.desk.house.folder / "outgoing" / secrets.token_hex(8)
        folder.mkdir(parents=True, mode=0o700)
        (folder / name).write_bytes(content)
        return folder / name

    def delete_message(self, message_id: int) -> None:
        """The person's own message goes from the chat, such as one that holds a key or a PIN."""
        self._changes.append(lambda connection: outbox.delete_message(connection, self.chat_id, message_id, self.now))

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
    """A call that a card asks for. `subject` may have one open intent; `before` helps to read back.

    `key` "own": with the person's own key or not at all; "any": with the service's where they have none and its policy
    lets them log.
    """

    call: Call[Any]
    subject: str
    before: dict[str, Any] = field(default_factory=dict[str, Any])
    key: Literal["own", "any"] = "own"


def _said(
    connection: Connection,
    chat_id: int,
    html: str,
    now: float,
    *,
    file: Path | None = None,
    kind: Literal["say", "photo"] = "say",
) -> None:
    outbox.say(connection, chat_id, html, now, file=file, kind=kind)


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
        key_kind=turn.key_kind if intended.key == "any" else "own",
    )
