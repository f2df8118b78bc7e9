"""A link that lives for days is bound by an admin, not by whoever holds the paper.

"Yes, that's me" ─► ask(): a row in pending_links, nothing is bound ─► cards for ops, or `workspace people confirm ID`
                                                                        ├─(Confirm)─► linked, with the key
                                                                        └─(Refuse)──► the link is dead
All who have a card about it see how it ended. Nobody confirms their own account.
"""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from bot import audit, cards, outbox, people
from bot.audit import Entry
from bot.cards import Button, Card, View
from bot.desk import Change, Desk, Refusal
from bot.directory import is_active
from bot.incoming import Sender
from bot.people import Invitation, Person
from bot.periods import requests_of
from bot.tables import cards as card_rows
from bot.tables import invitations, pending_links
from bot.texts import Texts
from workspace_api import AsyncWorkspace
from workspace_api.contract.user import Profile

DIALOGUE = "start"
"""Whose cards these are."""

Asked = Literal["asked", "again", "taken", "busy", "used"]
"""What became of a question: it is new; was asked before; somebody else asked with this code; this account waits as
somebody else; the code is of no use."""

Hint = Literal["same", "other", "none"]


@dataclass(frozen=True, slots=True)
class Pending:
    """Somebody who says to be `user_id` and waits; `name` and `username` are Telegram's, and only hints."""

    id: int
    code_hash: str
    user_id: str
    telegram_id: int
    name: str
    username: str | None
    language: str
    asked_at: float


_WITH_USER = select(pending_links, invitations.c.user_id).join(
    invitations, invitations.c.code_hash == pending_links.c.code_hash
)


def _pending(row: Row[Any]) -> Pending:
    return Pending(
        row.id, row.code_hash, row.user_id, row.telegram_id, row.name, row.username, row.language, row.asked_at
    )


def find(connection: Connection, pending_id: int) -> Pending | None:
    """One who waits, unless it has been decided."""
    row = connection.execute(
        _WITH_USER.where(pending_links.c.id == pending_id, invitations.c.used_at.is_(None))
    ).first()
    return None if row is None else _pending(row)


def waiting(connection: Connection) -> list[Pending]:
    """All who wait, the first to ask first."""
    rows = connection.execute(_WITH_USER.where(invitations.c.used_at.is_(None)).order_by(pending_links.c.id))
    return [_pending(row) for row in rows]


def ask(
    connection: Connection, code_hash: str, sender: Sender, language: str, now: float
) -> tuple[Asked, Pending | None]:
    """Notes that somebody says to be the person of a code. The first account that asks keeps the place."""
    usable = (invitations.c.code_hash == code_hash, invitations.c.used_at.is_(None), invitations.c.expires_at > now)
    if connection.execute(select(invitations.c.code_hash).where(*usable)).first() is None:
        return "used", None
    here = connection.execute(_WITH_USER.where(pending_links.c.code_hash == code_hash)).first()
    if here is not None:
        return ("again" if here.telegram_id == sender.telegram_id else "taken"), _pending(here)
    if any(other.telegram_id == sender.telegram_id for other in waiting(connection)):
        return "busy", None
    row = {"code_hash": code_hash, "telegram_id": sender.telegram_id, "name": sender.name, "username": sender.username}
    try:
        with connection.begin_nested():
            connection.execute(insert(pending_links).values(**row, language=language, asked_at=now))
    except IntegrityError:
        here = connection.execute(_WITH_USER.where(pending_links.c.code_hash == code_hash)).one()
        return "taken", _pending(here)
    return "asked", _pending(connection.execute(_WITH_USER.where(pending_links.c.code_hash == code_hash)).one())


def hint(username: str | None, profile: Profile | None) -> Hint:
    """How the account's username compares with the profile's `telegram`: a hint for the admin, never proof."""
    told = _bare(None if profile is None else profile.telegram)
    if not told:
        return "none"
    return "same" if told == _bare(username) else "other"


def _bare(name: str | None) -> str:
    return (name or "").strip().lower().removeprefix("https://").removeprefix("t.me/").lstrip("@")


def ops(connection: Connection, names: tuple[str, ...]) -> list[Person]:
    """The linked people among WORKSPACE_OPS, which names user ids and chats; a group is nobody who may decide."""
    return [person for person in people.everyone(connection) if is_ops(person, names)]


def is_ops(person: Person, names: tuple[str, ...]) -> bool:
    """Whether this person is one of WORKSPACE_OPS."""
    return person.user_id in names or str(person.telegram_id) in names


def subject_of(pending_id: int) -> str:
    """How cards name a question."""
    return f"pending:{pending_id}"


@dataclass(frozen=True, slots=True)
class Claimed:
    """Whom somebody says to be: name and position in the workspace, and what the profile tells of Telegram.

    `linked` is the account that is theirs so far, and would be no more.
    """

    name: str
    position: str | None
    telegram: str | None
    hint: Hint
    linked: int | None


async def claimed(desk: Desk, user_id: str, username: str | None) -> Claimed:
    """Read afresh, since it is shown to the one who decides. `username` is Telegram's, of whoever says so."""
    profile = (await desk.directory.people(fresh=True)).get(user_id)
    name = (profile.user_name or profile.name if profile else None) or user_id
    told = profile.telegram if profile else None
    with desk.db.read() as connection:
        person = people.find_user(connection, user_id)
    linked = None if person is None else person.telegram_id
    return Claimed(name, await position(desk, user_id), told, hint(username, profile), linked)


async def position(desk: Desk, user_id: str) -> str | None:
    """What a person is in the structure."""
    blocks = await desk.directory.blocks()
    mine = [blocks[block] for block in await desk.directory.blocks_of(user_id) if block in blocks]
    return mine[0].position or mine[0].name if mine else None


def question(texts: Texts, pending: Pending, who: Claimed) -> View:
    """What an admin is asked."""
    rows = (
        (Button(texts.t("Confirm"), "confirm", style="success"),),
        (Button(texts.t("Refuse"), "refuse", style="danger"),),
    )
    return View(texts.render("pending.html", pending=pending, who=who, outcome=None, by=None, at=None), rows)


def ask_ops(connection: Connection, desk: Desk, pending: Pending, who: Claimed) -> int:
    """A card for each linked one of ops, but for the account that asks; returns how many."""
    asked = [
        person
        for person in ops(connection, desk.house.ops)
        if person.telegram_id != pending.telegram_id and not person.blocked
    ]
    for person in asked:
        state = {"pending": pending.id}
        card = Card(person.telegram_id, person.telegram_id, DIALOGUE, state, subject_of(pending.id), True)
        cards.show(connection, card, question(desk.texts_of(person), pending, who), desk.now())
    return len(asked)


def warn_ops(connection: Connection, desk: Desk, pending: Pending, sender: Sender) -> None:
    """A second account has tried the code of somebody who waits: one of the two is not who they say."""
    for person in ops(connection, desk.house.ops):
        words = desk.texts_of(person).html(
            "⚠️ A second account, %(name)s (id %(id)s), opened the link with which %(first)s (id %(first_id)s) waits. "
            "Ask the person which one is theirs.",
            name=sender.name,
            id=sender.telegram_id,
            first=pending.name,
            first_id=pending.telegram_id,
        )
        once = f"second:{pending.id}:{sender.telegram_id}:{person.telegram_id}"
        outbox.say(connection, person.telegram_id, words, desk.now(), once=once)


async def confirming(desk: Desk, pending: Pending, by: Person | None) -> Change:
    """What links the person; `by` None: the command line. Raises Refusal where they do not work here."""
    profile = (await desk.directory.people(fresh=True)).get(pending.user_id)
    if not is_active(profile, desk.house.clock().astimezone(desk.house.zone).date().isoformat()):
        texts = desk.texts(desk.house.language) if by is None else desk.texts_of(by)
        raise Refusal(texts.t("This person does not work here any more: refuse the link."))
    who = await claimed(desk, pending.user_id, pending.username)
    with desk.db.read() as connection:
        invitation = people.invitation(connection, pending.code_hash)
    known = await waits_with(desk, invitation)

    def change(connection: Connection) -> None:
        now = desk.now()
        if find(connection, pending.id) is None:
            return
        linked = people.link_confirmed(
            connection, pending.code_hash, pending.telegram_id, who.name, pending.language, now
        )
        if linked is None:
            return
        person, previous = linked
        people.note_known(connection, person.telegram_id, {people.FIRST, *known}, now)
        told = told_elsewhere(desk, pending.language)
        if previous is not None:
            outbox.say(connection, previous, told, now)
        _noted(connection, pending, "linked", by, now)
        _settle(connection, desk, pending, who, "confirmed", by, person)

    return change


async def refusing(desk: Desk, pending: Pending, by: Person | None) -> Change:
    """What ends the link without binding anybody: its code is dead, since a stranger may hold it."""
    who = await claimed(desk, pending.user_id, pending.username)

    def change(connection: Connection) -> None:
        if find(connection, pending.id) is None:
            return
        _noted(connection, pending, "refused", by, desk.now())
        _settle(connection, desk, pending, who, "refused", by, None)
        dead = update(invitations).where(invitations.c.code_hash == pending.code_hash)
        connection.execute(dead.values(used_at=desk.now(), sealed_key=None))

    return change


async def waits_with(desk: Desk, invitation: Invitation | None) -> set[int]:
    """What waits for whom an invitation with a key links; without a key nothing can be said."""
    if invitation is None or invitation.sealed_key is None:
        return set()
    return await waits_already(desk, desk.service.with_options(api_key=desk.vault.open(invitation.sealed_key)))


async def waits_already(desk: Desk, api: AsyncWorkspace) -> set[int]:
    """What waits for the key's person now: it is found by /requests, and not pushed as new."""
    # The dialogues use this module; at the top their list would need it before it is there.
    from bot.dialogues.request_view import waits_for_viewer

    found = await requests_of(api, desk.house.clock().astimezone(desk.house.zone))
    return {request.id for request in found if request.id is not None and waits_for_viewer(request)}


def told_elsewhere(desk: Desk, language: str) -> str:
    """What the account is told that was linked before."""
    return desk.texts(language).t(
        "Your account was linked from another Telegram account just now. "
        "If that was not you, tell your administrator at once."
    )


def linked_view(desk: Desk, person: Person) -> View:
    """What a person sees once they are linked: without a key of their own, what that means and a way to give one."""
    texts = desk.texts_of(person)
    keyless = person.sealed_key is None
    rows = ((Button(texts.t("Give my own key"), "key", style="primary"),),) if keyless else ()
    text = texts.render("linked.html", name=person.name, keyless=keyless, act_as=desk.house.act_as)
    return View(text, rows)


def _settle(
    connection: Connection,
    desk: Desk,
    pending: Pending,
    who: Claimed,
    outcome: Literal["confirmed", "refused"],
    by: Person | None,
    linked: Person | None,
) -> None:
    """Shows on every card about it how it ended, and forgets the question."""
    found = select(card_rows.c.id).where(
        card_rows.c.dialogue == DIALOGUE, card_rows.c.subject == subject_of(pending.id), card_rows.c.live.is_(True)
    )
    for card_id in list(connection.execute(found).scalars()):
        card = cards.load(connection, card_id)
        assert card is not None, "it was found in this transaction"
        if card.telegram_id == pending.telegram_id:
            refused = desk.texts(pending.language).t(
                "Your administrator did not confirm that this is you. Nothing was linked."
            )
            shown = View(refused) if linked is None else linked_view(desk, linked)
        else:
            person = people.find(connection, card.telegram_id)
            texts = desk.texts(desk.house.language) if person is None else desk.texts_of(person)
            name = texts.t("the command line") if by is None else by.name
            at = texts.moment(desk.house.clock())
            shown = View(texts.render("pending.html", pending=pending, who=who, outcome=outcome, by=name, at=at))
        cards.show(connection, card, shown, desk.now())
        cards.retire(connection, card.id)
    connection.execute(delete(pending_links).where(pending_links.c.id == pending.id))


def _noted(connection: Connection, pending: Pending, act: str, by: Person | None, now: float) -> None:
    line = Entry(
        now,
        "ops" if by is None else by.user_id,
        act,
        f"person:{pending.user_id}",
        None if by is None else by.telegram_id,
        after={"telegram_id": pending.telegram_id, "name": pending.name, "username": pending.username},
        note="by the command line" if by is None else f"by {by.name}",
    )
    audit.note(connection, line)
