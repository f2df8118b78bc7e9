"""Entries as values: what is kept of them, what goes on the wire, on which day they are booked."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cards import Card
from bot.desk import Desk, House, Turn
from bot.dialogues.entry_draft import (
    Draft,
    booked_on,
    changing,
    deleting,
    drafts_of,
    from_transaction,
    saving,
    says_the_same,
    with_draft,
    with_drafts,
)
from bot.learned import words_of
from bot.texts import Texts
from bot.vault import Vault
from storage import open_database
from workspace_api import AsyncWorkspace
from workspace_api.contract.finance import Transaction

NUMBERS = st.none() | st.integers(1, 10**12)
WORDS = st.none() | st.text(max_size=20)

DRAFTS = st.builds(
    Draft,
    kind=st.sampled_from(["in", "out", "move"]),
    amount=NUMBERS,
    exact=WORDS,
    cashbox=NUMBERS,
    into=NUMBERS,
    arriving=NUMBERS,
    category=NUMBERS,
    description=WORDS,
    site=NUMBERS,
    transaction=NUMBERS,
    again=st.booleans(),
    standing=st.sampled_from(["draft", "saving", "saved", "checking", "dropped"]),
)


@pytest.fixture
def turn(tmp_path: Path) -> Turn:
    """A turn of somebody in Vladivostok."""
    house = House(UTC, "en", 0, lambda: datetime(2026, 11, 21, 12, tzinfo=UTC))
    with open_database(f"sqlite:///{tmp_path}/bot.db") as db:
        desk = Desk(db, AsyncWorkspace("http://127.0.0.1:9", "key"), Vault(tmp_path / "bot.key"), house)
        return Turn(desk, 1, 1, Texts("en", ZoneInfo("Asia/Vladivostok")))


@given(drafts=st.lists(DRAFTS, min_size=1, max_size=4), changed=DRAFTS)
def test_a_card_keeps_its_entries(drafts: list[Draft], changed: Draft) -> None:
    """All that is known comes back from the card's state; changing one leaves the others."""
    card = with_drafts(Card(1, 1, "entries", {}), drafts)
    assert drafts_of(card) == drafts
    assert drafts_of(with_draft(card, 0, changed)) == [changed, *drafts[1:]]


def test_an_expense_on_the_wire() -> None:
    """One sum and one cashbox; the day and the exact sum in `data`."""
    draft = Draft(amount=13, exact="12.50", cashbox=2, category=101, description="taxi", day="2026-11-20", site=12)
    assert saving(draft, "anna").params.body() == {
        "type": "out", "sum": 13, "cashbox_id": 2, "category_id": 101, "description": "taxi", "user_id": "anna",
        "project_id": 12, "data": {"source": "chat", "date": "2026-11-20", "exact": "12.50"},
    }  # fmt: skip


def test_a_move_on_the_wire() -> None:
    """Two sums and two cashboxes; within one currency the sums are the same."""
    draft = Draft(kind="move", amount=100, cashbox=2, into=5, category=400)
    body = saving(draft, "anna").params.body()
    assert (body["sum_charge"], body["sum_topup"], body["cashbox_id_charge"], body["cashbox_id_topup"]) == (
        100,
        100,
        2,
        5,
    )
    other = Draft(kind="move", amount=100, arriving=9400, cashbox=2, into=5, category=400)
    assert saving(other, "anna").params.body()["sum_topup"] == 9400
    assert "sum" not in body


def test_a_change_keeps_what_the_data_holds() -> None:
    """The operation id stays; an exact sum that is not true any more goes."""
    before = Transaction(id=7, data={"operation_id": "abc", "exact": "12.50", "source": "chat"})
    draft = Draft(amount=14, cashbox=2, category=101, transaction=7, standing="saved")
    body = changing(draft, before).params.body()
    assert body["id"] == 7
    assert body["data"] == {"operation_id": "abc", "source": "chat"}
    assert deleting(draft).params.body() == {"ids": [7], "type": "out"}


def test_what_was_asked_for_is_recognised() -> None:
    """Every field that all workspaces keep counts; another sum, text or site is another entry."""
    draft = Draft(amount=13, cashbox=2, category=101, description="taxi", site=12)
    body = saving(draft, "anna").params.body()
    there = Transaction(id=7, sum=13, cashbox_id=2, category_id=101, description="taxi", project_id=12)
    assert says_the_same(there, body)
    for name, value in (("sum", 14), ("cashbox_id", 3), ("category_id", 1), ("description", "x"), ("project_id", 1)):
        assert not says_the_same(there.model_copy(update={name: value}), body)


def test_the_day_of_a_booking(turn: Turn) -> None:
    """A day without a time is that day everywhere; a moment is the person's day."""
    assert booked_on(datetime(2026, 11, 20, tzinfo=UTC), turn) == "2026-11-20"
    assert booked_on(datetime(2026, 11, 20, 20, 30, tzinfo=UTC), turn) == "2026-11-21"
    assert booked_on(None, turn) is None


def test_a_saved_entry_is_read(turn: Turn) -> None:
    """As the workspace has it: both sides of a move, the exact sum, the day."""
    moved = Transaction(
        id=7, sum_charge=100, sum_topup=9400, cashbox_id_charge=2, cashbox_id_topup=5, category_id=400,
        report_date=datetime(2026, 11, 20, tzinfo=UTC), data={"exact": "99.50"},
    )  # fmt: skip
    draft = from_transaction(moved, "move", turn)
    assert (draft.amount, draft.arriving, draft.cashbox, draft.into) == (100, 9400, 2, 5)
    assert (draft.exact, draft.booked, draft.transaction, draft.standing) == ("99.50", "2026-11-20", 7, "saved")


def test_words_that_carry_meaning() -> None:
    """Short and small words are not learned, and of a long text only the first ones."""
    assert words_of("Coffee for the crew, coffee!") == ["coffee", "crew"]
    assert words_of("кофе для Ани № 45") == ["кофе", "ани"]
    assert len(words_of(" ".join(f"word{chr(97 + n)}" for n in range(20)))) == 6
