"""Who has left between card and tap: whatever the tap would do is refused; then what codes and keys bind."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot import intents, people
from bot.sandbox import PersonChat
from bot.tables import deputies as leaves
from tests.bot.acting import (
    ENDED,
    PROFILES,
    annas_twin,
    approves,
    approves_several,
    calls_made,
    copies,
    finishes_a_task,
    goes_on_leave,
    judges,
    linked,
    makes_a_task,
    pays,
    reminds,
    removes,
    saves_a_change,
    saves_an_entry,
    submits_again,
    takes_an_entry_back,
    turn_of,
)
from tests.bot.authoring import sees
from tests.bot.house import OpenHouse, open_house, telegram_id
from tests.bot.test_pay import to_pay
from tests.bot.test_requests_inbox import tap
from workspace_api import CallUnknown

Act = Callable[[OpenHouse], Awaitable[tuple[PersonChat, str]]]

ACTS = (
    approves,
    approves_several,
    pays,
    reminds,
    removes,
    goes_on_leave,
    makes_a_task,
    saves_an_entry,
    takes_an_entry_back,
    saves_a_change,
    submits_again,
    copies,
    finishes_a_task,
    judges,
)


@pytest.mark.parametrize("act", ACTS)
async def test_disabled_between_card_and_tap(tmp_path: Path, act: Act) -> None:
    """Whatever the button does, it is refused in words though the key would do, and no call is asked for."""
    async with open_house(tmp_path) as house:
        chat, label = await act(house)
        before = calls_made(house)
        house.disable(next(name for name in ("anna", "boris", "marina") if telegram_id(name) == chat.id))
        answer = await chat.presses(label)
        assert (answer.text, answer.show_alert) == (ENDED, True)
        assert calls_made(house) == before
        with house.desk.db.read() as connection:
            assert connection.execute(select(func.count()).select_from(leaves)).scalar() == 0
            if act is judges:
                assert intents.held(connection, f"request:{(await to_pay(house))[0].id}") is not None


@pytest.mark.parametrize("act", [approves, pays])
async def test_a_profile_that_cannot_be_read_refuses(tmp_path: Path, act: Act) -> None:
    """Whether the person still works here cannot be asked: nothing is decided, nothing is paid."""
    async with open_house(tmp_path) as house:
        chat, label = await act(house)
        house.lossy.lose(PROFILES, 1000)
        answer = await chat.presses(label, timeout=60)
        assert "does not answer" in (answer.text or "")
        assert calls_made(house) == 0
        with pytest.raises(CallUnknown):
            await turn_of(house, "anna" if act is approves else "marina").still_works_here()


async def test_a_saved_entry_of_one_who_was_disabled_stays(tmp_path: Path) -> None:
    """A reply that would change it is refused."""
    async with open_house(tmp_path) as house:
        anna = await linked(house, "anna")
        await anna.says("450 taxi @office")
        await tap(anna, "Save")
        saved = await sees(anna, "", "Undo")
        before = calls_made(house)
        house.disable("anna")
        await anna.replies(to=saved, text="500")
        await anna.card(containing=ENDED)
        assert calls_made(house) == before


async def test_the_profile_is_read_at_the_tap(tmp_path: Path) -> None:
    """What was read a moment ago does not do: each tap on Approve asks the workspace who works here."""
    async with open_house(tmp_path) as house:
        anna = await annas_twin(house)
        await anna.says("/requests")
        await anna.card(containing="1 of 5")
        read = house.lossy.seen[PROFILES]
        await anna.presses("Approve")
        await anna.card(containing="Approv")
        assert house.lossy.seen[PROFILES] > read


async def test_a_code_that_two_look_at_links_one(house: OpenHouse) -> None:
    """Both have the card before them: the first Yes uses the code up, the second is refused."""
    code = house.invite("anna")
    chats = house.chat("anna"), house.chat("boris")
    for chat in chats:
        await chat.starts(code)
        await chat.card(containing="Is this you?")
    await chats[0].presses("Yes")
    await chats[0].card(containing="Linked")
    await chats[1].presses("Yes")
    await chats[1].card(containing="was used already or has expired")
    with house.desk.db.read() as connection:
        assert [person.telegram_id for person in people.everyone(connection)] == [1001]


async def test_a_key_for_another_workspace_is_none_here(house: OpenHouse) -> None:
    """Linked with a key for another address: for this one there is none, so it is never sent."""
    await house.linked("anna")
    assert house.desk.api(turn_of(house, "anna").known()) is not None
    house.desk.db.write_now(lambda c: people.mark(c, 1001, workspace="https://elsewhere.example"))
    assert house.desk.api(turn_of(house, "anna").known()) is None
