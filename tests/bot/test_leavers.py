"""Who has left is unlinked by himself; who cannot be looked up is left linked."""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import pytest
from sqlalchemy import Connection, select

from bot import outbox, people
from bot.leavers import Leavers, has_left, unlink
from bot.sandbox import PersonChat
from bot.tables import audit, cards, handles, invitations
from tests.bot.house import OpenHouse
from workspace_api import WorkspaceError
from workspace_api.contract.user import Profile
from workspace_api.server.changes import bump
from workspace_api.server.schema import users


def lock(_: int) -> AbstractAsyncContextManager[object]:
    return nullcontext()


def changes(house: OpenHouse, user_id: str, **values: Any) -> None:
    """The personnel office changes a profile."""

    def change(connection: Connection) -> None:
        connection.execute(users.update().where(users.c.user_id == user_id).values(**values))
        bump(connection)

    house.server.write_now(change)
    house.desk.directory.forget()


def linked(house: OpenHouse) -> list[people.Person]:
    with house.desk.db.read() as connection:
        return people.everyone(connection)


async def follow(house: OpenHouse) -> None:
    await Leavers(house.desk, lock).follow({}, linked(house))
    house.assistant.delivery.wake()


async def with_a_task(house: OpenHouse, user_id: str) -> PersonChat:
    """A linked person with a live card on the screen."""
    chat = await house.linked(user_id)
    await chat.says("/task Order glass")
    await chat.card(containing="Order glass")
    house.desk.db.write_now(lambda c: c.execute(cards.update().where(cards.c.telegram_id == chat.id).values(live=True)))
    return chat


@pytest.mark.parametrize("how", [{"is_disabled": True}, {"is_deleted": True}, {"firing_date": "2020-01-01T00:00:00"}])
async def test_a_leaver_is_told_and_unlinked(house: OpenHouse, how: dict[str, Any]) -> None:
    """Disabled, deleted or dismissed: told, the key forgotten, the cards closed, the audit says so."""
    anna = await with_a_task(house, "anna")
    await house.linked("marina")
    house.invite("anna")
    changes(house, "anna", **how)
    await follow(house)
    await anna.card(containing="You no longer work here")
    closed = await anna.card(containing="Closed: you are not linked")
    assert closed.buttons == ()
    assert [person.user_id for person in linked(house)] == ["marina"]
    with house.desk.db.read() as connection:
        assert connection.execute(select(handles).where(handles.c.telegram_id == 1001)).first() is None
        assert connection.execute(select(cards.c.id).where(cards.c.live, cards.c.telegram_id == 1001)).first() is None
        open_ones = select(invitations).where(invitations.c.user_id == "anna", invitations.c.used_at.is_(None))
        assert connection.execute(open_ones).first() is None
        line = connection.execute(select(audit).where(audit.c.act == "unlinked")).one()
    assert line.subject == "person:anna"
    await anna.says("/tasks")
    await anna.card(containing="not linked")


async def test_who_still_works_stays(house: OpenHouse) -> None:
    """A dismissal in the future, and no dismissal, unlink nobody."""
    await house.linked("anna")
    await house.linked("marina")
    changes(house, "anna", firing_date="2099-01-01T00:00:00")
    await follow(house)
    assert len(linked(house)) == 2


async def test_profiles_that_cannot_be_read_unlink_nobody(house: OpenHouse) -> None:
    """The workspace does not answer: nobody is unlinked, the next poll looks again."""
    await house.linked("anna")
    changes(house, "anna", is_disabled=True)
    house.lossy.lose("/user/api/profile/list", 50)
    with pytest.raises(WorkspaceError):
        await follow(house)
    assert len(linked(house)) == 1


async def test_a_kept_profile_alone_unlinks_nobody(house: OpenHouse) -> None:
    """What was read minutes ago is read again before anybody is unlinked."""
    await house.linked("anna")
    changes(house, "anna", is_disabled=True)
    await house.desk.directory.people()

    def enable(connection: Connection) -> None:
        connection.execute(users.update().where(users.c.user_id == "anna").values(is_disabled=False))
        bump(connection)

    house.server.write_now(enable)
    await follow(house)
    assert len(linked(house)) == 1


async def test_what_was_queued_does_not_go_out_any_more(house: OpenHouse) -> None:
    """A message that waits in the outbox is for those who work here."""
    await house.linked("anna")
    person = linked(house)[0]

    def queue_and_unlink(connection: Connection) -> None:
        outbox.say(connection, 1001, "the quarterly figures", house.desk.now() + 60)
        unlink(connection, house.desk, person, "farewell", note="by hand")

    house.desk.db.write_now(queue_and_unlink)
    with house.desk.db.read() as connection:
        waiting = [row.payload.get("text") for row in outbox.due(connection, house.desk.now() + 120)]
    assert "the quarterly figures" not in waiting
    await house.chat("anna").card(containing="farewell")


async def test_an_account_that_was_linked_anew_stays(house: OpenHouse) -> None:
    """The poll read the list of the linked before; the account is somebody else's now."""
    await house.linked("anna")
    before = linked(house)
    chat = house.chat("anna")
    await chat.starts(house.invite("marina"))
    await chat.card(containing="that link would end")
    await chat.presses("Yes")
    await chat.card(containing="Linked: you are Marina")
    changes(house, "anna", is_disabled=True)
    await Leavers(house.desk, lock).follow({}, before)
    assert [person.user_id for person in linked(house)] == ["marina"]


def test_no_profile_says_nothing() -> None:
    """Somebody who is missing in the list has not been said to have left."""
    assert not has_left(None, "2026-11-21")
    assert has_left(Profile(user_id="x", is_deleted=True), "2026-11-21")
