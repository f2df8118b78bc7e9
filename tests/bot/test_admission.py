"""Links of a printed batch: nothing is bound until an admin has said who holds the paper."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from bot import people
from bot.admission import DIALOGUE, hint, subject_of, waiting
from bot.cards import Button, Card, View, show
from bot.people import DAY
from bot.sandbox import ChatMessage, PersonChat
from bot.tables import audit, pending_links
from tests.bot.house import OpenHouse, hosted, open_house
from workspace_api.contract.user import Profile
from workspace_api.server.keys import issue_key


@pytest.fixture
async def house(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[OpenHouse]:
    """Helen, and a second admin, Victor, are ops."""
    profile = hosted() if request.param == "hosted" else None
    async with open_house(tmp_path, profile=profile, ops=("helen", "1006", "-100200")) as opened:
        yield opened


def batch_link(house: OpenHouse, user_id: str, *, days: float = 7, key: bool = True, profile: str | None = None) -> str:
    """A code as it stands on a printed page."""
    sealed = house.desk.vault.seal(issue_key(house.server, user_id)) if key else None
    return house.desk.db.write_now(
        lambda c: people.invite(
            c, user_id, sealed, house.desk.now(), days * DAY, confirm=True, profile=profile or house.url
        )
    )


async def claims(house: OpenHouse, who: str, code: str) -> PersonChat:
    """Opens the link and says to be that person."""
    chat = house.chat(who)
    await chat.starts(code)
    card = await chat.card(containing="Is this you?")
    assert "Your administrator confirms it" in card.text
    await chat.presses("Yes")
    return chat


def linked_to(house: OpenHouse, user_id: str) -> int | None:
    with house.desk.db.read() as connection:
        person = people.find_user(connection, user_id)
    return None if person is None else person.telegram_id


async def asked(admin: PersonChat) -> ChatMessage:
    return await admin.card(containing="Who is this?")


async def test_a_batch_link_waits_for_an_admin(house: OpenHouse) -> None:
    """Nothing is bound by the person's own Yes; the admin's Confirm links, and the person is told."""
    helen = await house.linked("helen")
    marina = await claims(house, "marina", batch_link(house, "marina"))
    await marina.card(containing="administrator confirms that this is you")
    assert linked_to(house, "marina") is None
    await marina.says("/requests")
    await marina.card(containing="not linked")
    card = await asked(helen)
    assert "Marina Holt (id 1002)" in card.text
    assert "says: I am Marina Holt, Finance Director" in card.text
    assert "Telegram @marina_local, another one" in card.text
    await helen.presses("Confirm")
    await helen.card(containing="Linked (Helen")
    await marina.card(containing="Linked: you are Marina Holt")
    assert linked_to(house, "marina") == 1002
    with house.desk.db.read() as connection:
        lines = connection.execute(select(audit).where(audit.c.subject == "person:marina")).all()
        person = people.find(connection, 1002)
    assert [(line.user_id, line.act) for line in lines] == [("helen", "linked")]
    assert "1002" in lines[0].after
    assert person is not None
    assert person.sealed_key is not None


async def test_all_admins_see_how_it_ended(house: OpenHouse) -> None:
    """The second admin's card says who decided; a late tap does nothing more."""
    helen, victor = await house.linked("helen"), await house.linked("victor")
    await claims(house, "marina", batch_link(house, "marina"))
    stale = await asked(victor)
    await asked(helen)
    await helen.presses("Confirm")
    card = await victor.card(containing="Linked (Helen")
    assert card.buttons == ()
    answer = await victor.presses("Refuse", on=stale)
    assert answer.text
    assert linked_to(house, "marina") == 1002


async def test_refusing_kills_the_link(house: OpenHouse) -> None:
    """A stranger held the paper: nobody is linked, and the code works for nobody any more."""
    helen = await house.linked("helen")
    code = batch_link(house, "marina")
    boris = await claims(house, "boris", code)
    await asked(helen)
    await helen.presses("Refuse")
    await helen.card(containing="Refused (Helen")
    await boris.card(containing="did not confirm that this is you")
    marina = house.chat("marina")
    await marina.starts(code)
    await marina.card(containing="used already or has expired")
    assert linked_to(house, "marina") is None


async def test_a_second_person_on_a_batch_link_is_refused_and_told_to_ops(house: OpenHouse) -> None:
    """The first account keeps the place; the admin learns that two want to be the same person."""
    helen = await house.linked("helen")
    code = batch_link(house, "marina")
    await claims(house, "boris", code)
    await asked(helen)
    marina = await claims(house, "marina", code)
    await marina.card(containing="opened from another Telegram account")
    warning = await helen.card(containing="second account")
    assert "Marina Holt (id 1002)" in warning.text
    assert "Boris Clarke (id 1003)" in warning.text
    with house.desk.db.read() as connection:
        assert [pending.telegram_id for pending in waiting(connection)] == [1003]


async def test_one_account_claims_one_person_at_a_time(house: OpenHouse) -> None:
    """Whoever holds the whole page cannot claim everybody on it."""
    await house.linked("helen")
    boris = await claims(house, "boris", batch_link(house, "marina"))
    await boris.card(containing="administrator confirms that this is you")
    await boris.starts(batch_link(house, "anna"))
    await boris.card(containing="Is this you?")
    await boris.presses("Yes")
    await boris.card(containing="wait under another name already")
    with house.desk.db.read() as connection:
        assert [pending.user_id for pending in waiting(connection)] == ["marina"]


async def test_nobody_confirms_their_own_account(house: OpenHouse) -> None:
    """An admin who opens somebody else's link gets no card about it, and a card of before does not work."""
    helen, victor = await house.linked("helen"), await house.linked("victor")
    await helen.starts(batch_link(house, "marina"))
    await helen.card(containing="Is this you?")
    await helen.presses("Yes")
    await helen.card(containing="administrator confirms that this is you")
    await asked(victor)
    assert not [message for message in helen.messages if "Who is this?" in message.text]
    assert linked_to(house, "marina") is None


async def craft(house: OpenHouse, who: str, pending_id: int) -> PersonChat:
    """Puts an admin's card into a chat where it does not belong."""
    chat = house.chat(who)
    view = View("Crafted", ((Button("Confirm", "confirm"),),))
    card = Card(chat.id, chat.id, DIALOGUE, {"pending": pending_id}, subject_of(pending_id), True)
    await house.desk.db.write(lambda c: show(c, card, view, house.desk.now()))
    house.assistant.delivery.wake()
    await chat.card(containing="Crafted")
    return chat


async def test_only_ops_decide(house: OpenHouse) -> None:
    """One who is linked and is not of ops, with a card in hand, links nobody."""
    await house.linked("anna")
    await claims(house, "marina", batch_link(house, "marina"))
    with house.desk.db.read() as connection:
        (pending,) = waiting(connection)
    anna = await craft(house, "anna", pending.id)
    answer = await anna.presses("Confirm")
    assert "Only an administrator" in (answer.text or "")
    assert linked_to(house, "marina") is None


async def test_an_admin_with_a_card_about_themselves_decides_nothing(house: OpenHouse) -> None:
    """Whoever waits and is of ops meanwhile does not confirm the own account."""
    helen = await house.linked("helen")
    await helen.starts(batch_link(house, "marina"))
    await helen.card(containing="Is this you?")
    await helen.presses("Yes")
    await helen.card(containing="administrator confirms that this is you")
    with house.desk.db.read() as connection:
        (pending,) = waiting(connection)
    await craft(house, "helen", pending.id)
    answer = await helen.presses("Confirm")
    assert "Nobody confirms their own account" in (answer.text or "")
    assert linked_to(house, "marina") is None


async def test_a_batch_code_binds_nobody_by_the_short_way(house: OpenHouse) -> None:
    """The rule stands where the binding is done, whatever a dialogue does."""
    code = batch_link(house, "marina")
    with house.desk.db.read() as connection:
        found = people.redeemable(connection, code, house.desk.now())
    assert found is not None
    bound = house.desk.db.write_now(lambda c: people.link(c, found.code_hash, 1003, "Boris", "en", house.desk.now()))
    assert bound is None
    assert linked_to(house, "marina") is None


async def test_a_forwarded_question_decides_nothing(house: OpenHouse) -> None:
    """The button of the admin's card, tapped by the one who waits, is somebody else's."""
    helen = await house.linked("helen")
    boris = await claims(house, "boris", batch_link(house, "marina"))
    own = await boris.card(containing="administrator confirms")
    stolen = (await asked(helen)).button("Confirm").callback_data
    assert stolen is not None
    answer = await boris.presses_data(own, stolen)
    assert answer.text == "This button belongs to somebody else."
    assert linked_to(house, "marina") is None


async def test_who_is_no_admin_any_more_decides_nothing(house: OpenHouse) -> None:
    """The admin's own access is read again at the tap."""
    helen = await house.linked("helen")
    await claims(house, "marina", batch_link(house, "marina"))
    await asked(helen)
    _dismiss(house, "helen")
    answer = await helen.presses("Confirm")
    assert "access to the workspace has ended" in (answer.text or "")
    assert linked_to(house, "marina") is None


async def test_one_who_left_meanwhile_is_not_linked(house: OpenHouse) -> None:
    """The profile is read again when the admin confirms."""
    helen = await house.linked("helen")
    await claims(house, "marina", batch_link(house, "marina"))
    await asked(helen)
    _dismiss(house, "marina")
    answer = await helen.presses("Confirm")
    assert "does not work here any more" in (answer.text or "")
    assert linked_to(house, "marina") is None


def _dismiss(house: OpenHouse, user_id: str) -> None:
    from workspace_api.server.changes import bump
    from workspace_api.server.schema import users

    def disable(connection: Connection) -> None:
        connection.execute(users.update().where(users.c.user_id == user_id).values(is_disabled=True))
        bump(connection)

    house.server.write_now(disable)


async def test_a_replayed_code_binds_nobody(house: OpenHouse) -> None:
    """After it has served, the same code links no second account."""
    helen = await house.linked("helen")
    code = batch_link(house, "marina")
    await claims(house, "marina", code)
    await asked(helen)
    await helen.presses("Confirm")
    await helen.card(containing="Linked (Helen")
    boris = house.chat("boris")
    await boris.starts(code)
    await boris.card(containing="used already or has expired")
    assert linked_to(house, "marina") == 1002


async def test_the_question_outlives_the_days_of_the_link(house: OpenHouse) -> None:
    """Who asked in time may be confirmed later; who comes too late may not ask."""
    helen = await house.linked("helen")
    code = batch_link(house, "marina", days=1)
    await claims(house, "marina", code)
    await asked(helen)
    from bot.tables import invitations

    house.desk.db.write_now(lambda c: c.execute(invitations.update().values(expires_at=house.desk.now() - 1)))
    await helen.presses("Confirm")
    await helen.card(containing="Linked (Helen")
    assert linked_to(house, "marina") == 1002


async def test_a_link_of_another_workspace_is_refused(house: OpenHouse) -> None:
    """A code made for one workspace is of no use on another."""
    chat = house.chat("marina")
    await chat.starts(batch_link(house, "marina", profile="https://other.example.com"))
    await chat.card(containing="for another workspace")


async def test_the_admin_sees_that_a_person_is_linked_already(house: OpenHouse) -> None:
    """Another account would take the place of the one that is linked: the card names it, and it is told after."""
    helen, marina = await house.linked("helen"), await house.linked("marina")
    await claims(house, "boris", batch_link(house, "marina"))
    card = await asked(helen)
    assert "linked from another account now, id 1002; that link would end" in card.text
    await helen.presses("Confirm")
    await marina.card(containing="linked from another Telegram account just now")
    assert linked_to(house, "marina") == 1003


async def test_inviting_again_ends_the_question(house: OpenHouse) -> None:
    """A new link replaces the old one and whoever waits with it."""
    helen = await house.linked("helen")
    await claims(house, "boris", batch_link(house, "marina"))
    await asked(helen)
    house.invite("marina")
    answer = await helen.presses("Confirm")
    assert answer.text == "This has been decided already."
    with house.desk.db.read() as connection:
        assert connection.execute(select(pending_links)).first() is None
    assert linked_to(house, "marina") is None


@pytest.mark.parametrize(
    ("username", "told", "expected"),
    [
        ("marinah", "@MarinaH", "same"),
        ("marinah", "https://t.me/marinah", "same"),
        ("marinah", "@marina", "other"),
        (None, "@marina", "other"),
        ("marinah", "", "none"),
        (None, None, "none"),
    ],
)
def test_the_profile_is_compared_as_a_hint(username: str | None, told: str | None, expected: str) -> None:
    """In any of the ways in which people write their Telegram name."""
    assert hint(username, Profile(telegram=told)) == expected


def test_without_a_profile_there_is_no_hint() -> None:
    """A person who is not in the list any more."""
    assert hint("marinah", None) == "none"
