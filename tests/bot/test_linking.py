"""Who may do what in chat: linking by a one-time code, foreign and forged buttons, groups, people who left."""

from tests.bot.house import OpenHouse
from tests.bot.waiting import until


async def test_both_identities_are_shown_before_anything_is_bound(house: OpenHouse) -> None:
    """The card names the Telegram account and the workspace person; nothing is bound until the answer."""
    chat = house.chat("anna")
    await chat.starts(house.invite("anna"))
    card = await chat.card(containing="Is this you?")
    assert "Head of Project Delivery" in card.text
    assert card.buttons == (("Yes, that's me",), ("No, not me",))
    await chat.says("/requests")
    await chat.card(containing="not linked")


async def test_no_binds_nothing(house: OpenHouse) -> None:
    """After No the person is not linked."""
    chat = house.chat("anna")
    await chat.starts(house.invite("anna"))
    await chat.card(containing="Is this you?")
    await chat.presses("No")
    await chat.card(containing="Nothing was linked")
    await chat.says("/tasks")
    await chat.card(containing="not linked")


async def test_a_code_works_once(house: OpenHouse) -> None:
    """The second person with the same code is refused."""
    code = house.invite("anna")
    anna, boris = house.chat("anna"), house.chat("boris")
    await anna.starts(code)
    await anna.card(containing="Is this you?")
    await boris.starts(code)
    await boris.card(containing="Is this you?")
    await anna.presses("Yes")
    await anna.card(containing="Linked")
    await boris.presses("Yes")
    await boris.card(containing="used already")
    await boris.says("/requests")
    await boris.card(containing="not linked")


async def test_a_made_up_code_is_refused(house: OpenHouse) -> None:
    """A guess gets a sentence."""
    chat = house.chat("anna")
    await chat.starts("guessed-guessed-guessed")
    await chat.card(containing="used already or has expired")


async def test_an_expired_code_is_refused(house: OpenHouse) -> None:
    """A code of yesterday does not link."""
    from bot import people

    old = house.desk.now() - 86400
    code = house.desk.db.write_now(lambda c: people.invite(c, "anna", None, old))
    chat = house.chat("anna")
    await chat.starts(code)
    await chat.card(containing="expired")


async def test_linking_elsewhere_ends_the_first_link_and_tells(house: OpenHouse) -> None:
    """A second Telegram account for the same person ends the first link, which is told so."""
    anna = await house.linked("anna")
    other = house.chat("helen")
    await other.starts(house.invite("anna"))
    await other.card(containing="Is this you?")
    await other.presses("Yes")
    await other.card(containing="Linked")
    await anna.card(containing="linked from another Telegram account")
    await anna.says("/requests")
    await anna.card(containing="not linked")


async def test_somebody_elses_button_does_nothing(house: OpenHouse) -> None:
    """A handle of Anna's card, tapped by Boris, is refused and reviews nothing."""
    anna, boris = await house.linked("anna"), await house.linked("boris")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    stolen = card.button("Approve").callback_data
    assert stolen is not None
    await boris.says("450 taxi")
    own = await boris.card(containing="Which cashbox")
    answer = await boris.presses_data(own, stolen)
    assert answer.text == "This button belongs to somebody else."
    found = next(r for r in await house.requests() if r.id == 1)
    assert [entry.type for entry in found.history or []] == ["create"]


async def test_a_forged_button_does_nothing(house: OpenHouse) -> None:
    """Made-up callback data is answered, and does nothing."""
    anna = await house.linked("anna")
    await anna.says("450 taxi")
    card = await anna.card(containing="Which cashbox")
    answer = await anna.presses_data(card, "forged-forged")
    assert answer.text is not None
    assert "out of date" in answer.text


async def test_groups_get_no_money(house: OpenHouse) -> None:
    """A command in a group is answered with a sentence, without a card."""
    await house.linked("anna")
    group = house.telegram.group("Finance", members=[1001, 1002])
    chat = group.chat(1001)
    await chat.says("/requests")
    card = await chat.card(containing="private chat")
    assert card.buttons == ()


async def test_help_shows_the_commands(house: OpenHouse) -> None:
    """/help and an unknown command lead on."""
    anna = await house.linked("anna")
    await anna.says("/help")
    await anna.card(containing="/expense")
    await anna.says("/nonsense")
    await anna.card(containing="I do not know /nonsense")


async def test_cancel_stops_a_question(house: OpenHouse) -> None:
    """/cancel ends what is being asked: the next text is no answer to it."""
    anna = await house.linked("anna")
    await anna.says("/task")
    await anna.card(containing="What is to be done?")
    await anna.says("/cancel")
    await anna.card(containing="All right, stopped")
    await anna.says("Order glass")
    await anna.card(containing="I did not find a sum")


async def test_one_who_blocked_the_bot_is_left_in_peace(house: OpenHouse) -> None:
    """After blocking, nothing is pushed; the person is marked."""
    from bot import outbox, people

    anna = await house.linked("anna")
    anna.blocks_bot()
    marina = await house.linked("marina")

    def noticed() -> bool:
        with house.desk.db.read() as connection:
            found = people.find(connection, 1001)
        return found is not None and found.blocked

    await marina.says("/help")
    await until(noticed)
    saved = await house.as_user("boris").finplan.request.save(
        author_block_id=100, finplan="2026-11-01", name="A new drill", problem="Old one broke", sum=340, type=130
    )
    assert saved.id is not None
    await house.assistant.watch.poll()
    with house.desk.db.read() as connection:
        person = people.find(connection, 1001)
        assert [row for row in outbox.due(connection, house.desk.now() + 60) if row.chat_id == 1001] == []
    assert person is not None
    assert person.blocked


async def test_a_username_that_was_sold_opens_nothing(house: OpenHouse) -> None:
    """Whoever has the linked person's username now, and the one in the profile, is nobody: the number counts."""
    anna = await house.linked("anna")
    world = house.telegram.world
    world.state.people[1001].username = "anna_local"
    await anna.says("/tasks")
    await anna.card(containing="task")
    world.state.people[1001].username = None
    world.state.people[1007].username = "anna_local"
    buyer = house.chat("helen")
    await buyer.says("/tasks")
    await buyer.card(containing="not linked")


async def test_one_who_leaves_between_card_and_yes_is_not_linked(house: OpenHouse) -> None:
    """The profile is read again when the link is about to bind."""
    from sqlalchemy import Connection

    from workspace_api.server.changes import bump
    from workspace_api.server.schema import users

    def disable(connection: Connection) -> None:
        connection.execute(users.update().where(users.c.user_id == "anna").values(is_disabled=True))
        bump(connection)

    chat = house.chat("anna")
    await chat.starts(house.invite("anna"))
    await chat.card(containing="Is this you?")
    house.server.write_now(disable)
    await chat.presses("Yes")
    await chat.card(containing="does not work here any more")
    await chat.says("/tasks")
    await chat.card(containing="not linked")
