"""The mirror of the transactions: what it reads, how often, what each person sees of it, and what it adds up to."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mirror import (
    ASKED,
    KEPT,
    PATIENCE,
    Entry,
    Ledger,
    Mirror,
    balances,
    by_category,
    compact,
    family,
    first_day,
    in_month,
    spent,
    top,
)
from tests.bot.house import OpenHouse
from tests.bot.lossy import Lossy
from workspace_api import WorkspaceError
from workspace_api.contract.finance import Cashbox, Transaction, TransactionCategory
from workspace_api.contract.wire import TransactionType

LIST = "/finance/api/transaction/list"
MONTH = date(2026, 11, 1)
DAY = date(2026, 11, 10)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def entry(
    number: int,
    kind: TransactionType = "out",
    amount: int = 100,
    *,
    source: int | None = None,
    target: int | None = None,
    received: int | None = None,
    day: date = DAY,
    category: int | None = 101,
) -> Entry:
    """An entry; an expense from cashbox 1 or an income into it where nothing else is said."""
    if source is None and target is None:
        source, target = (None, 1) if kind == "in" else (1, None)
    paid = amount if source is not None else 0
    came = (received if received is not None else amount) if target is not None else 0
    return Entry(number, kind, day, source, paid, target, came, category, "anna", "")


def ledger(*entries: Entry) -> Ledger:
    return Ledger(0.0, entries)


def boxes(**opening: int) -> dict[int, Cashbox]:
    """Cashboxes by number, such as `b1=500`."""
    return {int(name[1:]): Cashbox(id=int(name[1:]), opening_balance=amount) for name, amount in opening.items()}


# Sums


def test_a_balance_is_opening_and_in_less_out_and_moves() -> None:
    """A move takes from one cashbox and gives to the other, each in its own currency."""
    moved = entry(3, "move", 200, source=1, target=2, received=180)
    found = balances(ledger(entry(1, "in", 1000), entry(2, "out", 300), moved), boxes(b1=50, b2=0), DAY, UTC)
    assert found == {1: 550, 2: 180}


def test_what_is_booked_later_does_not_count_yet() -> None:
    """The end of the day counts, the next day does not."""
    later = entry(2, amount=70, day=DAY + timedelta(days=1))
    assert balances(ledger(entry(1, amount=30), later), boxes(b1=100), DAY, UTC) == {1: 70}


@pytest.mark.parametrize(("since", "left"), [(DAY, 500), (DAY + timedelta(days=1), 0), (None, 500)])
def test_an_opening_balance_counts_from_its_date(since: date | None, left: int) -> None:
    """On that date it falls into the balance, not before."""
    opened = None if since is None else datetime(since.year, since.month, since.day, 23, 0, tzinfo=UTC)
    box = Cashbox(id=1, opening_balance=500, opening_balance_date=opened)
    assert balances(ledger(), {1: box}, DAY, UTC) == {1: left}


def test_an_opening_balance_that_is_not_given_does_not_count() -> None:
    """`is_add_opening_balance` says so; where a workspace says null, the sum speaks for itself."""
    assert balances(ledger(), {1: Cashbox(id=1, opening_balance=5, is_add_opening_balance=False)}, DAY, UTC) == {1: 0}
    assert balances(ledger(), {1: Cashbox(id=1, opening_balance=5, is_add_opening_balance=None)}, DAY, UTC) == {1: 5}


@given(
    st.lists(
        st.tuples(st.sampled_from(("in", "out", "move")), st.integers(1, 10**9), st.integers(1, 3), st.integers(1, 3))
    )
)
def test_no_money_is_made_or_lost(drawn: list[tuple[TransactionType, int, int, int]]) -> None:
    """Over all cashboxes of one currency: what came less what went, whatever was moved around."""
    made = [
        entry(number, kind, amount, source=None if kind == "in" else one, target=None if kind == "out" else other)
        for number, (kind, amount, one, other) in enumerate(drawn)
    ]
    total = sum(amount if kind == "in" else -amount for kind, amount, _, _ in drawn if kind != "move")
    assert sum(balances(ledger(*made), boxes(b1=0, b2=0, b3=0), DAY, UTC).values()) == total


def test_sums_by_category_are_of_one_kind_and_month() -> None:
    """The largest first; income and other months apart."""
    all_of_it = ledger(
        entry(1, amount=10, day=date(2026, 10, 31)),
        entry(2, amount=20, day=date(2026, 11, 1)),
        entry(3, amount=5, day=date(2026, 11, 30), category=102),
        entry(4, amount=100, category=103),
        entry(5, amount=7, category=None),
        entry(6, "in", 999),
        entry(7, amount=50, day=date(2026, 12, 1)),
    )
    assert list(by_category(in_month(all_of_it, MONTH, "out")).items()) == [(103, 100), (101, 20), (None, 7), (102, 5)]
    assert by_category(in_month(all_of_it, MONTH, "in")) == {101: 999}
    assert spent(all_of_it, MONTH, "out", {101, 102}, {1}) == 25
    assert spent(all_of_it, MONTH, "out", {101, 102}, {2}) == 0


def test_the_tree_of_categories() -> None:
    """A category and all below it; the uppermost above it; a ring ends."""
    parents = {1: None, 2: 1, 3: 2, 4: None, 5: 6, 6: 5, 7: 99}
    tree = {number: TransactionCategory(id=number, parent_id=parent) for number, parent in parents.items()}
    assert family(1, tree) == {1, 2, 3}
    assert family(3, tree) == {3}
    assert [top(number, tree) for number in (1, 3, 4, 7, None, 1000)] == [1, 1, 4, 7, None, 1000]
    assert top(5, tree) in {5, 6}
    assert family(5, tree) == {5, 6}


@pytest.mark.parametrize(
    ("months", "first"),
    [(0, date(2026, 11, 1)), (1, date(2026, 12, 1)), (2, date(2027, 1, 1)), (-11, date(2025, 12, 1))],
)
def test_months(months: int, first: date) -> None:
    """Over the turn of the year, both ways."""
    assert first_day(DAY, months) == first


# What a person sees


def test_a_view_holds_only_what_touches_ones_cashboxes() -> None:
    """Of a move to elsewhere one sees what left, not what the other cashbox got."""
    moved = entry(3, "move", 200, source=1, target=9, received=18_000)
    seen = ledger(entry(1), entry(2, source=9), moved).within({1})
    assert [each.id for each in seen.entries] == [1, 3]
    assert seen.entries[1] == entry(3, "move", 200, source=1)
    assert seen.within(()).entries == ()
    came = entry(4, "move", 200, source=9, target=1, received=180)
    assert ledger(came).within({1}).entries == (Entry(4, "move", DAY, None, 0, 1, 180, 101, "anna", ""),)


@given(
    st.lists(
        st.tuples(st.sampled_from(("in", "out", "move")), st.integers(1, 10**6), st.integers(1, 4), st.integers(1, 4))
    ),
    st.sets(st.integers(1, 4)),
)
def test_a_view_keeps_ones_own_balances_and_nothing_else(
    drawn: list[tuple[TransactionType, int, int, int]], mine: set[int]
) -> None:
    """The balances of one's own cashboxes are those of the whole; other cashboxes do not occur."""
    made = ledger(
        *(
            entry(number, kind, amount, source=None if kind == "in" else one, target=None if kind == "out" else other)
            for number, (kind, amount, one, other) in enumerate(drawn)
        )
    )
    seen = made.within(mine)
    own = {number: Cashbox(id=number) for number in mine}
    assert balances(seen, own, DAY, UTC) == balances(made, own, DAY, UTC)
    assert {number for each in seen.entries for number in (each.source, each.target) if number} <= mine


# Reading


def test_what_is_kept_of_a_transaction() -> None:
    """The booking date, else that of its making; nothing of a deleted one, which some workspaces still list."""
    made, booked = datetime(2026, 11, 9, tzinfo=UTC), datetime(2026, 11, 10, tzinfo=UTC)
    record = Transaction(id=1, sum=100, cashbox_id=1, category_id=101, user_id="anna", creation_date=made)
    assert compact("out", record, UTC, {}) == entry(1, day=made.date())
    assert compact("out", record.model_copy(update={"report_date": booked}), UTC, {}) == entry(1)
    assert compact("out", record.model_copy(update={"delete_date": booked}), UTC, {}) is None
    assert compact("out", record.model_copy(update={"creation_date": None}), UTC, {}) is None


@contextmanager
def mirrored(house: OpenHouse) -> Generator[tuple[Mirror, Lossy, Clock]]:
    """A mirror with a clock of its own, whose calls are tried once."""
    clock = Clock()
    yield Mirror(house.owner.with_options(retries=0), clock, UTC), house.lossy, clock


async def test_it_knows_what_the_workspace_knows(house: OpenHouse) -> None:
    """Of each kind as many as there are, the deleted ones left out, ordered by day."""
    with mirrored(house) as (mirror, _, clock):
        known = await mirror.ledger()
        assert known.as_of == clock.now
        for kind in ("in", "out", "move"):
            there = await house.owner.finance.transaction.list(type=kind)
            assert len(there) > 10
            assert {each.id for each in known.entries if each.kind == kind} == {each.id for each in there}
        assert [each.day for each in known.entries] == sorted(each.day for each in known.entries)


async def test_a_deleted_one_is_gone_after_the_next_reading(house: OpenHouse) -> None:
    """And a new one is there."""
    with mirrored(house) as (mirror, _, clock):
        first = await mirror.ledger()
        gone = next(each.id for each in first.entries if each.kind == "out")
        await house.owner.fintransaction.transaction.delete(ids=[gone], type="out")
        made = await house.owner.fintransaction.transaction.create(type="in", sum=5, cashbox_id=2, category_id=305)
        clock.now += KEPT
        ids = {each.id for each in (await mirror.ledger()).entries}
        assert gone not in ids
        assert made.id in ids


async def test_it_reads_at_most_every_fifteen_minutes(house: OpenHouse) -> None:
    """Three calls a reading; who asks for a newer one gets it after a minute."""
    with mirrored(house) as (mirror, lossy, clock):
        assert mirror.known() is None
        await mirror.ledger()
        clock.now += KEPT - 1
        assert mirror.known() is not None
        await mirror.ledger()
        assert lossy.seen[LIST] == 3
        await mirror.ledger(at_most=ASKED)
        assert lossy.seen[LIST] == 6
        clock.now += ASKED - 1
        await mirror.ledger(at_most=0)
        assert lossy.seen[LIST] == 6
        clock.now += KEPT
        assert mirror.known() is None
        await mirror.ledger()
        assert lossy.seen[LIST] == 9


async def test_two_who_ask_at_once_wait_for_one_reading(house: OpenHouse) -> None:
    """Never more than one at a time; one who gives up does not spoil it for the others."""
    with mirrored(house) as (mirror, lossy, _):
        asked = [asyncio.create_task(mirror.ledger()) for _ in range(5)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert all(each is found[1] for each in found[1:])
        assert isinstance(found[1], Ledger)
        # The one that gave up may have asked for the first list.
        assert lossy.seen[LIST] in {3, 4}


async def test_where_the_reading_fails_the_older_one_is_shown(house: OpenHouse) -> None:
    """With its own moment; without an older one it is an error. The workspace is left in peace for a while."""
    with mirrored(house) as (mirror, lossy, clock):
        lossy.lose(LIST)
        with pytest.raises(WorkspaceError):
            await mirror.ledger()
        first = await mirror.ledger()
        clock.now += KEPT
        lossy.lose(LIST)
        assert await mirror.ledger() is first
        calls = lossy.seen[LIST]
        clock.now += PATIENCE - 1
        assert await mirror.ledger() is first
        assert lossy.seen[LIST] == calls
        clock.now += 1
        assert (await mirror.ledger()).as_of == clock.now


async def test_a_booking_day_is_one_of_the_house(house: OpenHouse) -> None:
    """Midnight in Moscow is the evening before on the wire."""
    made = await house.owner.fintransaction.transaction.create(
        type="in", sum=5, cashbox_id=2, category_id=305, data={"date": "2026-11-10T21:30:00+00:00"}
    )
    known = await Mirror(house.owner, Clock(), timezone(timedelta(hours=3))).ledger()
    day = next(each.day for each in known.entries if each.id == made.id)
    assert day == (made.report_date or datetime.now(UTC)).astimezone(timezone(timedelta(hours=3))).date()
    if house.keeps_data:
        assert day == date(2026, 11, 11)
