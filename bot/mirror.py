"""What is known of the workspace's transactions, kept in memory and marked with the moment of its reading.

```
Mirror.ledger() ─► read not long ago? ─yes─► the Ledger as it is
                         └─no─► one reading (in, out, move) with the service key, whoever else asks waits for it
Ledger.within(cashboxes of a person) ─► only what happened in these ─► balances, sums by category, sums by month
```
Nothing is filtered by the workspace: some ignore filters and grouping, and all answer everything (nothing is paged).
No one is shown a Ledger that was not narrowed to the cashboxes that they may see.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from workspace_api import AsyncWorkspace, WorkspaceError
from workspace_api.contract.finance import Cashbox, Transaction, TransactionCategory
from workspace_api.contract.wire import TransactionType

log = logging.getLogger("bot.mirror")

KEPT = 900.0
"""Seconds for which a reading is good enough."""

ASKED = 60.0
"""Seconds for which it is good enough for somebody who asks for a newer one."""

PATIENCE = 30.0
"""Seconds after a failed reading in which no other one is tried while there is an older one to show."""

LONGEST_WORDS = 200
"""Characters kept of a description."""

KINDS: tuple[TransactionType, ...] = ("in", "out", "move")


@dataclass(frozen=True, slots=True)
class Entry:
    """One transaction: `paid` left the cashbox `source`, `received` came into the cashbox `target`.

    Income has no source, an expense no target. `day` is the booking date in the house's zone.
    """

    id: int
    kind: TransactionType
    day: date
    source: int | None
    paid: int
    target: int | None
    received: int
    category: int | None
    user_id: str | None
    words: str

    @property
    def amount(self) -> int:
        """What an expense or an income is about; of a move what left."""
        return self.received if self.kind == "in" else self.paid

    @property
    def cashbox(self) -> int | None:
        """Where an expense or an income happened; of a move where it left."""
        return self.target if self.kind == "in" else self.source


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries, and when (seconds since 1970) their reading began."""

    as_of: float
    entries: tuple[Entry, ...]

    def within(self, cashboxes: Collection[int]) -> "Ledger":
        """What touches one of these cashboxes. The other side of a move is there as a number, without its money."""
        return Ledger(self.as_of, tuple(entry for entry in map(_narrow(cashboxes), self.entries) if entry is not None))


def _narrow(cashboxes: Collection[int]) -> Callable[[Entry], Entry | None]:
    known = frozenset(cashboxes)

    def narrowed(entry: Entry) -> Entry | None:
        source = entry.source if entry.source in known else None
        target = entry.target if entry.target in known else None
        if source is None and target is None:
            return None
        if source == entry.source and target == entry.target:
            return entry
        return Entry(
            id=entry.id,
            kind=entry.kind,
            day=entry.day,
            source=source,
            paid=entry.paid if source is not None else 0,
            target=target,
            received=entry.received if target is not None else 0,
            category=entry.category,
            user_id=entry.user_id,
            words=entry.words,
        )

    return narrowed


class Mirror:
    """The newest Ledger of one workspace, read when it is asked for. `zone`: of the booking dates."""

    def __init__(self, service: AsyncWorkspace, clock: Callable[[], float], zone: tzinfo) -> None:
        self._service = service
        self._clock = clock
        self._zone = zone
        self._reading = asyncio.Lock()
        self._ledger: Ledger | None = None
        self._failed_at: float | None = None

    def known(self, *, at_most: float = KEPT) -> Ledger | None:
        """The last reading where it is at most so many seconds old; asks nobody."""
        ledger = self._ledger
        return ledger if ledger is not None and self._clock() - ledger.as_of < at_most else None

    async def ledger(self, *, at_most: float = KEPT) -> Ledger:
        """All that is known, read anew where that is older than `at_most` seconds (never below ASKED).

        Where the reading fails the older one is given: its `as_of` says so. Raises WorkspaceError where there is none.
        """
        at_most = max(at_most, ASKED)
        async with self._reading:
            known = self.known(at_most=at_most)
            if known is not None:
                return known
            just_failed = self._failed_at is not None and self._clock() - self._failed_at < PATIENCE
            if self._ledger is not None and just_failed:
                return self._ledger
            try:
                self._ledger = await self._read()
            except WorkspaceError as error:
                self._failed_at = self._clock()
                if self._ledger is None:
                    raise
                log.warning("the transactions cannot be read, older ones are shown: %s", error)
            return self._ledger

    async def _read(self) -> Ledger:
        as_of = self._clock()
        entries: list[Entry] = []
        seen: dict[str, str] = {}
        for kind in KINDS:
            for transaction in await self._service.finance.transaction.list(type=kind):
                entry = compact(kind, transaction, self._zone, seen)
                if entry is not None:
                    entries.append(entry)
        entries.sort(key=lambda entry: (entry.day, entry.id))
        return Ledger(as_of, tuple(entries))


def compact(kind: TransactionType, record: Transaction, zone: tzinfo, seen: dict[str, str]) -> Entry | None:
    """A transaction as it is kept; None for what is deleted or says too little. `seen` keeps equal texts once."""
    moment = record.report_date or record.creation_date
    if record.id is None or record.delete_date is not None or moment is None:
        return None
    source = target = None
    paid = received = 0
    if kind == "move":
        source, target = record.cashbox_id_charge, record.cashbox_id_topup
        paid, received = record.sum_charge or 0, record.sum_topup or 0
    elif kind == "in":
        target, received = record.cashbox_id, record.sum or 0
    else:
        source, paid = record.cashbox_id, record.sum or 0
    words = (record.description or "")[:LONGEST_WORDS]
    user_id = record.user_id
    return Entry(
        id=record.id,
        kind=kind,
        day=local_day(moment, zone),
        source=source,
        paid=paid,
        target=target,
        received=received,
        category=record.category_id,
        user_id=None if user_id is None else seen.setdefault(user_id, user_id),
        words=seen.setdefault(words, words),
    )


def local_day(moment: datetime, zone: tzinfo) -> date:
    """The day of a moment in a zone: midnight in Moscow is 21:00 the day before on the wire of some workspaces."""
    return moment.astimezone(zone).date() if moment.tzinfo is not None else moment.date()


def balances(ledger: Ledger, cashboxes: Mapping[int, Cashbox], on: date, zone: tzinfo) -> dict[int, int]:
    """What lay in each cashbox at the end of a day: the opening balance, and all that came and went until then.

    An opening balance counts from its date on (part 1, §2.5: the date on which it falls in the Balance report).
    """
    found: dict[int, int] = {}
    for number, cashbox in cashboxes.items():
        since = cashbox.opening_balance_date
        counts = cashbox.is_add_opening_balance is not False and (since is None or local_day(since, zone) <= on)
        found[number] = (cashbox.opening_balance or 0) if counts else 0
    for entry in ledger.entries:
        if entry.day > on:
            continue
        if entry.source in found:
            found[entry.source] -= entry.paid
        if entry.target in found:
            found[entry.target] += entry.received
    return found


def first_day(day: date, months: int = 0) -> date:
    """The first day of the month that lies `months` after the day's own. Raises ValueError beyond the calendar."""
    number = day.year * 12 + day.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def in_month(ledger: Ledger, month: date, kind: TransactionType) -> Iterator[Entry]:
    """Entries of a kind that are booked in the month that begins with this day."""
    following = first_day(month, 1)
    return (entry for entry in ledger.entries if entry.kind == kind and month <= entry.day < following)


def by_category(entries: Iterator[Entry]) -> dict[int | None, int]:
    """Sums by category, the largest first; None is what has no category. Of one currency, or they mean nothing."""
    found: dict[int | None, int] = {}
    for entry in entries:
        found[entry.category] = found.get(entry.category, 0) + entry.amount
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def family(category: int, categories: Mapping[int, TransactionCategory]) -> frozenset[int]:
    """A category and all below it."""
    found = {category}
    while True:
        more = {number for number, known in categories.items() if known.parent_id in found} - found
        if not more:
            return frozenset(found)
        found |= more


def top(category: int | None, categories: Mapping[int, TransactionCategory]) -> int | None:
    """The uppermost category over this one; a ring of parents ends where it began."""
    seen: set[int] = set()
    while category is not None and category not in seen:
        seen.add(category)
        parent = categories[category].parent_id if category in categories else None
        if parent is None or parent not in categories:
            return category
        category = parent
    return category


def spent(
    ledger: Ledger, month: date, kind: TransactionType, categories: Collection[int], cashboxes: Collection[int]
) -> int:
    """The sum of a month in these categories and cashboxes."""
    return sum(
        entry.amount
        for entry in in_month(ledger, month, kind)
        if entry.category in categories and entry.cashbox in cashboxes
    )
