"""/report and /balance in chat: the sums are those of the workspace, within what the person may see."""

import zipfile
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from bot import people
from bot.desk import Refusal, Turn
from bot.dialogues.counting import counting
from bot.mirror import first_day
from bot.purse import purse_of
from bot.sandbox import PersonChat
from bot.texts import Texts
from tests.bot.house import OpenHouse, hosted, open_house, telegram_id
from workspace_api.contract.finance import Transaction

THIS_MONTH = first_day(datetime.now(UTC).date())
LIST = "/finance/api/transaction/list"


def english(month: date) -> str:
    return Texts("en", UTC).month(month.isoformat())


async def seen(house: OpenHouse, user_id: str, kind: str, month: date, code: str) -> list[Transaction]:
    """What a person's own key shows of a month in one currency."""
    api = house.as_user(user_id)
    boxes = {box.id for box in await api.finance.transaction.cashbox_list() if box.currency_code == code}
    found = await (
        api.finance.transaction.list(type="out") if kind == "out" else api.finance.transaction.list(type="in")
    )
    return [
        each
        for each in found
        if each.cashbox_id in boxes and each.report_date and first_day(each.report_date.date()) == month
    ]


async def at_report(house: OpenHouse, user_id: str = "helen", words: str = "") -> PersonChat:
    chat = await house.linked(user_id)
    await chat.says(f"/report {words}".strip())
    await chat.card(containing=": expenses")
    return chat


async def test_balances_of_ones_own_cashboxes(house: OpenHouse) -> None:
    """Opening and in less out and moves, a total for each currency, and when it was read; others' are not there."""
    helen = await house.linked("helen")
    await helen.says("/balance")
    card = await helen.card(containing="What lies in the cashboxes")
    assert card.buttons == (("Refresh",),)
    lists = {
        "in": await house.owner.finance.transaction.list(type="in"),
        "out": await house.owner.finance.transaction.list(type="out"),
    }
    moves = await house.owner.finance.transaction.list(type="move")
    total = 0
    for box in await house.as_user("helen").finance.transaction.cashbox_list():
        left = (box.opening_balance or 0) + sum(each.sum or 0 for each in lists["in"] if each.cashbox_id == box.id)
        left -= sum(each.sum or 0 for each in lists["out"] if each.cashbox_id == box.id)
        left -= sum(each.sum_charge or 0 for each in moves if each.cashbox_id_charge == box.id)
        left += sum(each.sum_topup or 0 for each in moves if each.cashbox_id_topup == box.id)
        shown = f"€{left:,}" if box.currency_code == "EUR" else f"{left:,}\u00a0₽"
        assert f"{box.name}: {shown}" in card.text
        total += left if box.currency_code == "EUR" else 0
    assert f"EUR: €{total:,}" in card.text
    assert "Dollar account" not in card.text
    assert "as of" in card.text


async def test_refresh_reads_once_a_minute(tmp_path: Path) -> None:
    """Sooner there is nothing newer, and it says so; after a minute the new entry is in the balance."""
    passed = timedelta()
    async with open_house(tmp_path, clock=lambda: datetime.now(UTC) + passed) as house:
        helen = await house.linked("helen")
        await helen.says("/balance")
        before = await helen.card(containing="Office petty cash")
        await house.as_user("helen").fintransaction.transaction.create(
            type="in", sum=1_000_000, cashbox_id=2, category_id=305
        )
        answer = await helen.presses("Refresh")
        assert "less than a minute" in (answer.text or "")
        assert house.lossy.seen[LIST] == 3
        passed = timedelta(seconds=61)
        answer = await helen.presses("Refresh")
        assert not answer.text
        after = await helen.card(containing="Office petty cash: €1,00")
        assert house.lossy.seen[LIST] == 6
        assert after.id == before.id


async def test_the_sums_of_a_month(house: OpenHouse) -> None:
    """Last month's expenses as the workspace has them, the booking date named, a plot and a workbook."""
    helen = await at_report(house)
    month = first_day(THIS_MONTH, -1)
    await helen.presses(f"‹ {english(month)}")
    card = await helen.card(containing=f"{english(month)}: expenses")
    found = await seen(house, "helen", "out", month, "EUR")
    total = sum(each.sum or 0 for each in found)
    assert f"EUR: €{total:,}" in card.text
    assert "By booking date" in card.text
    fuel = sum(each.sum or 0 for each in found if each.category_id == 102)
    assert f"Fuel €{fuel:,}" in card.text or f"Transport: €{fuel:,}" in card.text
    assert ("Income",) in card.buttons
    assert ("XLSX", "Refresh") in card.buttons


async def test_the_other_kind_and_the_way_back(house: OpenHouse) -> None:
    """One card: months back and forth, income and expenses."""
    helen = await at_report(house)
    before = first_day(THIS_MONTH, -1)
    await helen.presses("Income")
    card = await helen.card(containing=f"{english(THIS_MONTH)}: income")
    total = sum(each.sum or 0 for each in await seen(house, "helen", "in", THIS_MONTH, "EUR"))
    assert f"EUR: €{total:,}" in card.text
    await helen.presses(f"‹ {english(before)}")
    assert (await helen.card(containing=f"{english(before)}: income")).id == card.id
    await helen.presses("Expenses")
    await helen.card(containing=f"{english(before)}: expenses")
    await helen.presses(f"{english(THIS_MONTH)} ›")
    last = await helen.card(containing=f"{english(THIS_MONTH)}: expenses")
    assert not [label for row in last.buttons for label in row if label.endswith("›")]


async def test_the_plot_comes_as_a_picture(house: OpenHouse) -> None:
    """Beside the card, which stays as it is."""
    helen = await at_report(house)
    card = await helen.card(containing=": expenses")
    await helen.presses("Plot")
    await helen.waits(lambda chat: chat.last.photo is not None)
    assert helen.last.photo is not None
    assert Image.open(BytesIO(helen.last.photo)).width == 1080
    assert "expenses, EUR" in helen.last.text
    assert "as of" in helen.last.text
    assert helen.message(card.id).buttons == card.buttons


async def test_the_workbook_has_the_sums_and_the_entries(house: OpenHouse) -> None:
    """As many rows as there are entries; what somebody wrote as a formula is a text."""
    await house.as_user("helen").fintransaction.transaction.create(
        type="out", sum=5, cashbox_id=2, category_id=101, description="=1+1"
    )
    helen = await at_report(house)
    await helen.presses("XLSX")
    await helen.waits(lambda chat: chat.last.document is not None)
    said = helen.last
    assert said.file_name == f"out-{THIS_MONTH:%Y-%m}.xlsx"
    assert said.document is not None
    with zipfile.ZipFile(BytesIO(said.document)) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    texts = "".join(ET.fromstring(parts["xl/sharedStrings.xml"]).itertext())
    assert "=1+1" in texts
    assert "By booking date" in texts
    assert "<f>" not in parts["xl/worksheets/sheet1.xml"] + parts["xl/worksheets/sheet2.xml"]
    count = sum([len(await seen(house, "helen", "out", THIS_MONTH, code)) for code in ("EUR", "RUB")])
    # Two notes, an empty row and the titles stand above.
    assert parts["xl/worksheets/sheet2.xml"].count("<row ") == count + 3


async def test_a_month_by_its_name_and_one_that_does_not_exist(house: OpenHouse) -> None:
    """Words that are no month are answered in words; a month outside of what is known shows the nearest."""
    helen = await house.linked("helen")
    await helen.says("/report 2026-13")
    await helen.card(containing="There is no such month as “2026-13”")
    await helen.says("/report 2001-01")
    card = await helen.card(containing="Nothing is known of January 2001")
    assert not [label for row in card.buttons for label in row if label.startswith("‹")]
    await helen.says(f"/report {first_day(THIS_MONTH, -2):%m.%Y}")
    await helen.card(containing=f"{english(first_day(THIS_MONTH, -2))}: expenses")


async def test_a_month_in_which_nothing_was_booked(house: OpenHouse) -> None:
    """Said in words, with the way on."""
    ahead = first_day(THIS_MONTH, 3)
    if house.keeps_data:
        await house.as_user("helen").fintransaction.transaction.create(
            type="out", sum=5, cashbox_id=2, category_id=101, data={"date": ahead.isoformat()}
        )
    helen = await house.linked("helen")
    await helen.says(f"/report {first_day(THIS_MONTH, 1):%Y-%m}")
    card = await helen.card(containing=": expenses")
    if house.keeps_data:
        assert "Nothing was booked in this month" in card.text
        assert not [label for row in card.buttons for label in row if label in {"Plot", "XLSX"}]
    else:
        assert f"Nothing is known of {english(first_day(THIS_MONTH, 1))}" in card.text


async def test_what_is_booked_from_others_cashboxes_does_not_count(house: OpenHouse) -> None:
    """The storekeeper's report has nothing of the main account."""
    pauline = await at_report(house, "pauline")
    card = await pauline.card(containing=": expenses")
    everything = await house.owner.finance.transaction.list(type="out")
    assert any(each.cashbox_id == 1 for each in everything)
    total = sum(each.sum or 0 for each in await seen(house, "pauline", "out", THIS_MONTH, "EUR"))
    assert f"EUR: €{total:,}" in card.text
    assert "Salaries" not in card.text


async def test_without_a_key_nothing_is_shown(house: OpenHouse) -> None:
    """Where the policy gives the service's key to nobody: said in words, and nothing is read for it."""
    marina = await house.linked("marina", key=False)
    for command in ("/balance", "/report"):
        await marina.says(command)
        await marina.card(containing="I have no key of yours")
    assert house.lossy.seen[LIST] == 0


def turn_of(house: OpenHouse, user_id: str) -> Turn:
    """A turn of a linked person, outside of the bot's loop."""
    with house.desk.db.read() as connection:
        person = people.find(connection, telegram_id(user_id))
    assert person is not None
    number = person.telegram_id
    return Turn(house.desk, number, number, house.desk.texts_of(person), person)


async def test_a_purse_holds_ones_own_cashboxes_alone(house: OpenHouse) -> None:
    """Whatever a dialogue does with it: no entry of another cashbox is in it, nor the other side of a move."""
    await house.linked("pauline")
    found = await purse_of(turn_of(house, "pauline"))
    assert set(found.cashboxes) == {box.id for box in await house.as_user("pauline").finance.transaction.cashbox_list()}
    touched = {number for entry in found.ledger.entries for number in (entry.source, entry.target) if number}
    assert touched
    assert touched <= set(found.cashboxes)
    assert {entry.kind for entry in found.ledger.entries} == {"in", "out", "move"}


async def test_without_a_key_one_sees_ones_own_cashboxes_where_the_policy_allows_it(house: OpenHouse) -> None:
    """The service's key sees all cashboxes; the person sees those of their position, as with a key of their own."""
    house.desk.house = replace(house.desk.house, act_as="see")
    pauline = await house.linked("pauline", key=False)
    await pauline.says("/balance")
    card = await pauline.card(containing="What lies in the cashboxes")
    mine = {box.name for box in await house.as_user("pauline").finance.transaction.cashbox_list()}
    every = {box.name for box in await house.owner.finance.transaction.cashbox_list()}
    assert mine < every
    assert {name for name in every if f"{name}: " in card.text} == mine


async def test_counting_is_shown_while_it_takes_long(house: OpenHouse) -> None:
    """At once, on the card that then shows the sums."""
    helen = await house.linked("helen")
    answered = house.lossy.hold(LIST)
    await helen.says("/report")
    counting = await helen.card(containing="Counting …")
    assert counting.buttons == ()
    answered.set()
    shown = await helen.card(containing=f"{english(THIS_MONTH)}: expenses")
    assert shown.id == counting.id
    assert "Refresh" in shown.buttons[-1]


async def test_failing_to_count_is_said_and_tried_again(house: OpenHouse) -> None:
    """The workspace does not answer: the card does not count for ever, and it is the workspace that is named."""
    helen = await house.linked("helen")
    # A reading is tried four times.
    house.lossy.lose(LIST, 4)
    await helen.says("/balance")
    failed = await helen.card(containing="This could not be counted", timeout=30)
    assert failed.buttons == (("Try again",),)
    await helen.card(containing="The workspace does not answer right now")
    await helen.presses("Try again", on=failed)
    shown = await helen.card(containing="Main account, EUR: €")
    assert shown.id == failed.id


async def test_what_fails_after_the_reading_is_said_too(house: OpenHouse) -> None:
    """No card counts for ever, whatever it is that fails."""
    helen = await house.linked("helen")
    turn = turn_of(house, "helen")
    with pytest.raises(Refusal):
        async with counting(turn, turn.new_card("balance")):
            raise Refusal("no currencies")
    failed = await helen.card(containing="This could not be counted")
    await helen.presses("Try again", on=failed)
    await helen.card(containing="Main account, EUR: €")


@pytest.mark.parametrize("profile", ["standard", "hosted"])
async def test_in_russian(tmp_path: Path, profile: str) -> None:
    """Every line of the cards, the caption and the workbook's titles."""
    async with open_house(tmp_path, language="ru", profile=hosted() if profile == "hosted" else None) as house:
        chat = house.chat("helen")
        await chat.starts(house.invite("helen"))
        await chat.card(containing="Это вы?")
        await chat.presses("Да")
        await chat.card(containing="Подключено")
        await chat.says("/balance")
        balance = await chat.card(containing="Сколько денег в кассах")
        await chat.says("/report")
        report = await chat.card(containing=": расходы")
        await chat.presses("График")
        await chat.waits(lambda chat: chat.last.photo is not None)
        assert ": расходы, EUR · на" in chat.last.text
        await chat.presses("XLSX")
        await chat.waits(lambda chat: chat.last.document is not None)
        assert chat.last.document is not None
        with zipfile.ZipFile(BytesIO(chat.last.document)) as book:
            texts = "".join(ET.fromstring(book.read("xl/sharedStrings.xml")).itertext())
        for words in (balance.text, report.text, texts):
            assert "дате учёта" in words
            assert not [word for word in ("booking", "as of", "Sum", "Total", "expenses", "Currency") if word in words]
