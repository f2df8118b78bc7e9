"""/settings: everything by buttons, kept at once, in the person's own language and zone."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from bot import people, preferences
from bot.sandbox import ChatMessage, PersonChat
from bot.tables import audit, cards, inbox
from tests.bot.house import OpenHouse, open_house, telegram_id


def kept(house: OpenHouse, user_id: str, name: str) -> Any:
    """A preference as it stands in the database."""
    with house.desk.db.read() as connection:
        return preferences.get(connection, user_id, name)


async def opened(house: OpenHouse, user_id: str = "anna") -> PersonChat:
    """A linked person who looks at the settings."""
    chat = await house.linked(user_id)
    await chat.says("/settings")
    await chat.card(containing="Settings")
    return chat


async def tap(chat: PersonChat, label: str) -> ChatMessage:
    """Presses a button and waits for what it shows."""
    await chat.presses(label)
    return await chat.card()


async def test_the_very_next_text_is_in_the_chosen_language(house: OpenHouse) -> None:
    """The card too; and back again."""
    anna = await opened(house)
    await tap(anna, "🌐")
    await tap(anna, "Русский")
    card = await anna.card(containing="Настройки")
    assert "Язык: Русский" in card.text
    await anna.says("/nonsense")
    await anna.card(containing="не знаю")
    await tap(anna, "🌐")
    await tap(anna, "English")
    await anna.card(containing="Language: English")


async def test_a_zone_is_chosen_by_button(house: OpenHouse) -> None:
    """The common ones are buttons; the card says the zone and the time there; the company's comes back."""
    anna = await opened(house)
    assert "UTC (the company's)" in anna.last.text
    asked = await tap(anna, "🕒")
    assert "Choose a place" in asked.text
    assert asked.buttons[-1] == ("‹ Back",)
    await tap(anna, "Berlin")
    await anna.card(containing="Berlin (Europe/Berlin)")
    with house.desk.db.read() as connection:
        person = people.find(connection, telegram_id("anna"))
    assert person is not None
    assert person.zone == "Europe/Berlin"
    await tap(anna, "🕒")
    await tap(anna, "As the company")
    await anna.card(containing="UTC (the company's)")


@pytest.mark.parametrize(("words", "zone"), [("Asia/Tokyo", "Asia/Tokyo"), ("нью йорк", "America/New_York")])
async def test_a_zone_is_typed(house: OpenHouse, words: str, zone: str) -> None:
    """By its name or by the name of a city."""
    anna = await opened(house)
    await tap(anna, "🕒")
    await anna.card(containing="Choose a place")
    await anna.says(words)
    await anna.card(containing=f"({zone})")


async def test_a_misspelt_zone_is_offered(house: OpenHouse) -> None:
    """Did you mean; what is no place at all is told, and may be written again."""
    anna = await opened(house)
    await tap(anna, "🕒")
    await anna.card(containing="Choose a place")
    await anna.says("Saturnalia X")
    await anna.card(containing="I know no such place")
    await anna.says("Eurpe/Berln")
    offered = await anna.card(containing="Did you mean")
    assert offered.buttons[0] == ("Europe/Berlin",)
    await tap(anna, "Europe/Berlin")
    await anna.card(containing="Berlin (Europe/Berlin)")


async def test_quiet_hours_by_button_in_words_and_off(house: OpenHouse) -> None:
    """Kept as two times of a day; hours that make no sense are asked for again."""
    anna = await opened(house)
    await tap(anna, "🌙")
    await tap(anna, "22:00–07:00")
    await anna.card(containing="Quiet hours: 22:00–07:00")
    assert kept(house, "anna", "quiet") == ["22:00", "07:00"]
    await tap(anna, "🌙")
    await anna.card(containing="When should nothing come")
    await anna.says("in the evening")
    await anna.card(containing="I do not understand these hours")
    await anna.says("21:30-07")
    await anna.card(containing="Quiet hours: 21:30–07:00")
    await tap(anna, "🌙")
    await tap(anna, "Off")
    await anna.card(containing="Quiet hours: off")
    assert kept(house, "anna", "quiet") is None


async def test_switches_turn_with_a_tap(house: OpenHouse) -> None:
    """Cards together and saving at once: on, and off again."""
    anna = await opened(house)
    for name, label, said, back in (
        ("batch", "📦", "together, as one card", "come: one by one"),
        ("autosave", "⚡", "is saved: at once", "is saved: after a tap"),
    ):
        await tap(anna, label)
        await anna.card(containing=said)
        assert kept(house, "anna", name) is True
        await tap(anna, label)
        await anna.card(containing=back)
        assert kept(house, "anna", name) is None


async def test_every_screen_has_a_way_back(house: OpenHouse) -> None:
    """Back leads to the settings from each of them."""
    anna = await opened(house)
    card = anna.last
    for label in ("🌐", "🕒", "🌙", "🔐"):
        await tap(anna, label)
        await anna.waits(lambda chat: chat.message(card.id).buttons[-1] == ("‹ Back",))
        await tap(anna, "‹ Back")
        await anna.waits(lambda chat: chat.message(card.id).buttons[-1] == ("Done",))
    await tap(anna, "Done")
    await anna.waits(lambda chat: chat.message(card.id).buttons == ())


async def test_a_command_ends_the_question(house: OpenHouse) -> None:
    """After /tasks the next text is no time zone any more, and the card shows the settings again."""
    anna = await opened(house)
    await tap(anna, "🕒")
    card = await anna.card(containing="Choose a place")
    await anna.says("/cancel")
    await anna.waits(lambda chat: "Quiet hours" in chat.message(card.id).text)
    await anna.says("Berlin")
    await anna.card(containing="I did not find a sum")


async def test_settings_outlive_a_new_link(house: OpenHouse) -> None:
    """They belong to the person, not to the Telegram account."""
    anna = await opened(house)
    await tap(anna, "📦")
    await anna.card(containing="together, as one card")
    await house.linked("anna")
    await anna.says("/settings")
    await anna.card(containing="together, as one card")


async def test_sites_are_shown_where_there_are_some(tmp_path: Path) -> None:
    """By name; the number is what is kept."""
    async with open_house(tmp_path, sites={12: "Halden", 14: "Bergen"}) as house:
        anna = await opened(house)
        assert "Site: none" in anna.last.text
        await tap(anna, "🏗")
        await tap(anna, "Bergen")
        await anna.card(containing="Site: Bergen")
        assert kept(house, "anna", "site") == 14


async def type_pins(chat: PersonChat, *pins: str) -> None:
    """Writes PINs, and sees each message go."""
    for pin in pins:
        said = await chat.says(pin)
        await chat.waits(partial(_gone, said))


def _gone(said: ChatMessage, chat: PersonChat) -> bool:
    return said not in chat


async def with_pin(house: OpenHouse, pin: str = "2580") -> PersonChat:
    """A person who has set a PIN and is back at the settings."""
    anna = await opened(house)
    await tap(anna, "🔐")
    await tap(anna, "Set a PIN")
    await anna.card(containing="4 to 12 digits")
    await type_pins(anna, pin, pin)
    await anna.card(containing="Your PIN is set")
    await anna.card(containing="PIN for payments: set")
    return anna


async def test_a_pin_is_typed_twice_and_never_kept_in_the_clear(house: OpenHouse) -> None:
    """Both messages go; neither the database nor the card's state holds the digits; the audit has the act alone."""
    await with_pin(house, "258013")
    with house.desk.db.read() as connection:
        rows = [
            json.dumps([str(value) for value in row])
            for table in (cards, audit, inbox)
            for row in connection.execute(select(table))
        ]
        kept_pin = connection.execute(text("SELECT value FROM preferences WHERE name = 'pin'")).scalar_one()
        acts = connection.execute(select(audit.c.act).where(audit.c.subject == "person:anna")).scalars().all()
    assert not [row for row in rows if "258013" in row]
    assert "258013" not in kept_pin
    assert "pin set" in acts


async def test_two_different_pins_are_no_pin(house: OpenHouse) -> None:
    """A slip in the repetition starts anew; a PIN of one digit is refused."""
    anna = await opened(house)
    await tap(anna, "🔐")
    await tap(anna, "Set a PIN")
    await anna.card(containing="4 to 12 digits")
    await type_pins(anna, "1111")
    await anna.card(containing="not all the same")
    await type_pins(anna, "2580", "2581")
    await anna.card(containing="begin anew")
    assert kept(house, "anna", "pin") is None


async def test_a_pin_changes_after_the_old_one(house: OpenHouse) -> None:
    """The old one is asked for; a wrong one is told and counts; the new one takes its place."""
    anna = await with_pin(house)
    before = kept(house, "anna", "pin")
    await tap(anna, "🔐")
    await tap(anna, "Change")
    await anna.card(containing="present PIN first")
    await type_pins(anna, "9999")
    await anna.card(containing="not your PIN")
    assert kept(house, "anna", "pin")["wrong"] == 1
    await type_pins(anna, "2580", "3691", "3691")
    await anna.waits(lambda chat: sum("Your PIN is set" in message.text for message in chat.messages) == 2)
    assert kept(house, "anna", "pin")["hash"] != before["hash"]


async def test_a_pin_is_removed_after_the_old_one(house: OpenHouse) -> None:
    """Then there is none."""
    anna = await with_pin(house)
    await tap(anna, "🔐")
    await tap(anna, "Remove")
    await anna.card(containing="to remove it")
    await type_pins(anna, "2580")
    await anna.card(containing="PIN for payments: not set")
    assert kept(house, "anna", "pin") is None


async def test_five_wrong_pins_lock(house: OpenHouse) -> None:
    """The fifth one locks, the right one helps no more, and the card says who resets it."""
    anna = await with_pin(house)
    await tap(anna, "🔐")
    await tap(anna, "Remove")
    await anna.card(containing="to remove it")
    await type_pins(anna, *["1234"] * 5)
    locked = await anna.card(containing="locked after five wrong tries")
    assert locked.buttons == (("‹ Back",),)
    assert kept(house, "anna", "pin") is not None
    await tap(anna, "‹ Back")
    await anna.card(containing="PIN for payments: locked")
