"""What a text fills of a request's form, and what its fields may be."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from bot.dialogues.request_form_text import (
    before,
    changed,
    missing,
    months_ahead,
    named,
    near,
    on_wire,
    same,
    save_call,
    search,
    sum_in,
    usable,
)
from workspace_api.contract.finance import TransactionCategory
from workspace_api.contract.finplan import Request

TODAY = date(2026, 11, 21)
CODES = {"EUR": 1, "USD": 2}


@pytest.mark.parametrize(
    ("text", "amount", "currency", "words"),
    [
        ("12000 raised floor", "12000", None, "raised floor"),
        ("raised flooring 12 000", "12000", None, "raised flooring"),
        ("two lamps for 3 rooms, 70", "70", None, "two lamps for 3 rooms"),
        ("1 200,50 usd hotel yesterday", "1200.50", "USD", "hotel yesterday"),
        ("transfer station repair 900 eur", "900", "EUR", "transfer station repair"),
        ("стенд на выставку 14к", "14000", None, "стенд на выставку"),
        ("boots by 1 December 300", "300", None, "boots by 1 December"),
    ],
)
def test_a_sum_and_the_words(text: str, amount: str, currency: str | None, words: str) -> None:
    """The sum goes, all other words stay: also those that mean something in an expense."""
    found = sum_in(text, TODAY, CODES)
    assert found is not None
    assert (found.amount, found.currency, found.words) == (Decimal(amount), currency, words)


@pytest.mark.parametrize("text", ["", "raised floor", "0", "room 101", "20.12.2026"])
def test_no_sum(text: str) -> None:
    """A number that names a thing or a day is no sum."""
    assert sum_in(text, TODAY, CODES) is None


def test_sums_on_the_wire() -> None:
    """Kept as they are, or offered on either side; nothing is no sum."""
    assert (on_wire(Decimal("12.5"), 2), on_wire(Decimal("12.5"), 0)) == (1250, None)
    assert near(Decimal("12.5"), 0) == (12, 13)
    assert near(Decimal("0.4"), 0) == (1,)


def test_names_begin_with_a_capital() -> None:
    """Spaces are single, the rest is as it was written."""
    assert named("  raised   floor of IKEA ") == "Raised floor of IKEA"
    assert named("") == ""


def test_steps_in_order() -> None:
    """What has no answer yet is asked; an empty answer is one."""
    assert missing({"name": "x", "sum": 1, "author_block_id": 1, "type": None}) == "finplan"
    assert before("type", ("name", "sum")) == "sum"
    assert before("name", ("name", "sum")) is None


def test_months() -> None:
    """This month and three more, over the end of the year."""
    found = months_ahead(datetime(2026, 11, 21, tzinfo=UTC))
    assert found == ["2026-11-01", "2026-12-01", "2027-01-01", "2027-02-01"]


def category(
    number: int, block: int | None = None, kind: str = "out", *, archived: bool = False
) -> TransactionCategory:
    return TransactionCategory.model_validate(
        {
            "id": number,
            "name": f"Category {number}",
            "block_id": block,
            "transaction_type": kind,
            "is_archived": archived,
        }
    )


def test_categories_of_a_position() -> None:
    """Everybody's, one's own and those of the blocks over it; neither income, nor archived, nor another branch's."""
    parents = {1: None, 2: 1, 3: 1, 10: 2}
    known = [
        category(1),
        category(2, 2),
        category(3, 3),
        category(4, kind="in"),
        category(5, archived=True),
        category(6, 10),
    ]
    found = usable({one.id or 0: one for one in known}, 10, parents)
    assert sorted(found) == [1, 2, 6]
    assert sorted(usable({one.id or 0: one for one in known}, 2, parents)) == [1, 2]


def test_search_finds_a_part_and_a_likeness() -> None:
    """A part of a word, and a word with a typing error."""
    names = {1: category(1), 2: category(2)}
    names = {
        n: c.model_copy(update={"name": name})
        for (n, c), name in zip(names.items(), ("Workwear", "Hotels"), strict=True)
    }
    assert search("wear", names)[0] == 1
    assert search("hotel", names) == [2]
    assert search("  ", names) == []


def test_the_call_leaves_out_what_is_empty() -> None:
    """A new request sends no empty texts; an edited one does, so that a text can be taken away."""
    draft = {"name": "x", "sum": 5, "author_block_id": 1, "type": None, "economic_justification": ""}
    assert save_call(draft).params.model_dump(exclude_unset=True) == {"name": "x", "sum": 5, "author_block_id": 1}
    sent = save_call(draft, 7).params.model_dump(exclude_unset=True)
    assert sent == {"id": 7, "name": "x", "sum": 5, "author_block_id": 1, "economic_justification": ""}


def test_what_an_edit_changes() -> None:
    """Only the fields that differ."""
    assert changed({"name": "x", "sum": 5}, {"name": "x", "sum": 4, "type": 3}) == {"sum": 5}


def test_the_same_request() -> None:
    """By name, sum and month, whatever spaces a workspace keeps."""
    request = Request(name="Two  lamps ", sum=70, finplan="2026-11-01")
    assert same(request, "Two lamps", 70, "2026-11")
    assert not same(request, "Two lamps", 71, "2026-11-01")
    assert not same(request, "Two lamps", 70, "2026-12-01")
