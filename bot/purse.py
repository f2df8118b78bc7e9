"""What one person may see of the company's money: their cashboxes, and what the mirror knows of these alone.

purse_of(turn) ─► the cashboxes that the person may use ─► the Ledger within them ─► Purse: balances, months, currencies

Who has no own key sees with the service's where its policy lets them (WORKSPACE_ACT_AS); the cashboxes are then those
whose access list names one of the person's blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

from bot.desk import Turn
from bot.mirror import KEPT, Ledger, balances
from workspace_api.contract.finance import Cashbox


@dataclass(frozen=True, slots=True)
class Purse:
    """Cashboxes that a person may see and what happened in them. `today`: in the house's zone, as the booking days."""

    ledger: Ledger
    cashboxes: Mapping[int, Cashbox]
    today: date
    zone: tzinfo

    @property
    def as_of(self) -> datetime:
        """When the transactions were read."""
        return datetime.fromtimestamp(self.ledger.as_of, UTC)

    @property
    def currencies(self) -> list[str]:
        """The codes of the cashboxes' currencies, that of the most cashboxes first."""
        codes = [cashbox.currency_code or "" for cashbox in self.cashboxes.values()]
        return sorted(set(codes), key=lambda code: (-codes.count(code), code))

    def of_currency(self, code: str | None) -> dict[int, Cashbox]:
        """The cashboxes of a currency, in the workspace's order."""
        found = [(number, box) for number, box in self.cashboxes.items() if (box.currency_code or "") == (code or "")]
        return dict(sorted(found, key=lambda pair: (pair[1].order is None, pair[1].order or 0, pair[0])))

    def balances(self) -> dict[int, int]:
        """What lies in each cashbox."""
        return balances(self.ledger, self.cashboxes, self.today, self.zone)


async def purse_of(turn: Turn, *, at_most: float = KEPT) -> Purse:
    """The person's Purse from a reading that is at most so many seconds old. Refuses where nothing may be seen."""
    desk = turn.desk
    cashboxes = await cashboxes_of(turn)
    ledger = await desk.mirror.ledger(at_most=at_most)
    today = datetime.fromtimestamp(turn.now, desk.house.zone).date()
    return Purse(ledger.within(cashboxes), cashboxes, today, desk.house.zone)


async def cashboxes_of(turn: Turn) -> dict[int, Cashbox]:
    """The cashboxes that the person may see, by id."""
    directory, person = turn.desk.directory, turn.known()
    found = await directory.cashboxes(person.user_id, turn.api_to("see"))
    if turn.key_kind == "own":
        return found
    parents = {number: block.parent_id for number, block in (await directory.blocks()).items()}
    mine = await directory.blocks_of(person.user_id)
    return {number: cashbox for number, cashbox in found.items() if may_use(cashbox, mine, parents)}


def may_use(cashbox: Cashbox, mine: Sequence[int], parents: Mapping[int, int | None]) -> bool:
    """Whether the access list names one of the blocks, or one over (`nested`) or under it (`parents`).

    No list means everybody (part 1, §2.2 and §2.5).
    """
    for item in cashbox.access_blocks or ():
        block = item.block_id
        if block is None:
            continue
        if block in mine:
            return True
        if item.nested and any(block in _above(own, parents) for own in mine):
            return True
        if item.parents and any(upper in mine for upper in _above(block, parents)):
            return True
    return not cashbox.access_blocks


def _above(block: int, parents: Mapping[int, int | None]) -> list[int]:
    found: list[int] = []
    above = parents.get(block)
    while above is not None and above not in found:
        found.append(above)
        above = parents.get(above)
    return found
