"""Who has left is unlinked by himself: told first, the key forgotten, the cards closed, a line in the audit.

a poll ─► kept profiles name a leaver ─► read afresh ─► still gone ─► unlink()

Only a profile that says so counts: disabled, deleted, or dismissed by today. One that is missing, or profiles that
cannot be read, unlink nobody; such a person is refused at each act all the same (access.still_works_here).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

from sqlalchemy import Connection, delete, select, update

from bot import audit, cards, outbox, people
from bot.audit import Entry
from bot.cards import View
from bot.desk import Desk
from bot.directory import is_active
from bot.people import Person
from bot.tables import cards as card_rows
from bot.tables import handles
from bot.tables import outbox as outbox_rows
from workspace_api.contract.finplan import Request
from workspace_api.contract.user import Profile

log = logging.getLogger("bot.leavers")

CLOSED_AT_MOST = 50
"""Cards of one person that are shown as closed; older ones only lose their buttons' effect."""


def has_left(profile: Profile | None, today: str) -> bool:
    """Whether a profile says that its person works here no more; none at all says nothing."""
    return profile is not None and not is_active(profile, today)


class Leavers:
    """A follower of the polls."""

    def __init__(self, desk: Desk, lock: Callable[[int], AbstractAsyncContextManager[object]]) -> None:
        self._desk = desk
        self._lock = lock

    async def follow(self, found: Mapping[int, Request], linked: Sequence[Person]) -> None:  # noqa: ARG002 - the protocol of followers
        """Unlinks those among the linked who have left. Raises WorkspaceError where that cannot be read."""
        today = self._desk.house.clock().astimezone(self._desk.house.zone).date().isoformat()
        kept = await self._desk.directory.people()
        if not any(has_left(kept.get(person.user_id), today) for person in linked):
            return
        profiles = await self._desk.directory.people(fresh=True)
        for person in linked:
            if has_left(profiles.get(person.user_id), today):
                async with self._lock(person.telegram_id):
                    await self._desk.db.write(partial(self._unlink, person=person))
                log.info("%s has left and was unlinked", person.user_id)

    def _unlink(self, connection: Connection, person: Person) -> None:
        # Whoever was linked to this account meanwhile has not left.
        now = people.find(connection, person.telegram_id)
        if now is None or now.user_id != person.user_id:
            return
        words = self._desk.texts_of(person).t(
            "You no longer work here, says the workspace: this chat was unlinked and your key forgotten."
        )
        unlink(connection, self._desk, person, words, note="the profile says that they have left")


def by_ops(desk: Desk, person: Person) -> str:
    """What a person is told whom ops unlink."""
    return desk.texts_of(person).t("Your administrator has unlinked this chat; your key was forgotten.")


def unlink(
    connection: Connection, desk: Desk, person: Person, words: str, *, note: str, by: Person | None = None
) -> None:
    """Ends a link: nothing that was queued goes out any more but these words, and every card is closed."""
    now = desk.now()
    chat = outbox_rows.c.chat_id == person.telegram_id
    queued = (chat, outbox_rows.c.state == "due", outbox_rows.c.kind != "answer")
    connection.execute(delete(outbox_rows).where(*queued))
    outbox.say(connection, person.telegram_id, words, now)
    _close_cards(connection, desk, person)
    people.unlink(connection, person.telegram_id)
    people.uninvite(connection, person.user_id)
    line = Entry(
        now,
        "ops" if by is None else by.user_id,
        "unlinked",
        f"person:{person.user_id}",
        None if by is None else by.telegram_id,
        before={"telegram_id": person.telegram_id, "own_key": person.sealed_key is not None},
        note=note,
    )
    audit.note(connection, line)


def _close_cards(connection: Connection, desk: Desk, person: Person) -> None:
    mine = card_rows.c.telegram_id == person.telegram_id
    shown = select(card_rows.c.id).where(mine, card_rows.c.live.is_(True), card_rows.c.message_id.is_not(None))
    newest = shown.order_by(card_rows.c.updated_at.desc()).limit(CLOSED_AT_MOST)
    closed = View(desk.texts_of(person).t("Closed: you are not linked to the workspace any more."))
    for card_id in list(connection.execute(newest).scalars()):
        card = cards.load(connection, card_id)
        assert card is not None, "it was found in this transaction"
        cards.show(connection, card, closed, desk.now())
    connection.execute(delete(handles).where(handles.c.telegram_id == person.telegram_id))
    connection.execute(update(card_rows).where(mine).values(live=False))
