"""What is in the inbox: one reading with the person's own key, and what of it waits for them.

request.list ─► Reading ─┬─► to decide: what waits for the person, and for those whom they stand in for
                         └─► to pay: accepted, and the person may pay
both through the filter that the card remembers, the oldest first
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot import deputies
from bot.cards import Card
from bot.deputies import Leave
from bot.desk import Turn
from bot.dialogues.request_filter import Filter
from bot.dialogues.request_view import decisions, waits_for_viewer
from bot.periods import request_by_id, requests_of
from workspace_api.contract.finplan import Request

ACCEPTS = ("accept", "accept_final")


@dataclass(frozen=True, slots=True)
class Reading:
    """All that the person may see, by number; `leaves`: requests of those whom they stand in for today."""

    requests: Mapping[int, Request]
    leaves: Mapping[int, Leave] = field(default_factory=dict[int, Leave])
    blocks: tuple[int, ...] = ()
    user_id: str = ""

    def waits(self, request: Request) -> bool:
        """Whether this person's decision is wanted, in their own right or as a deputy."""
        mine = waits_for_viewer(request) and request.author_id != self.user_id
        return mine or self.leave(request) is not None

    def leave(self, request: Request) -> Leave | None:
        """For whom this person may decide here as a deputy: their own key says that they may, and it is not theirs."""
        leave = self.leaves.get(request.id or 0)
        possible = decisions(request, list(self.blocks), self.user_id)
        return leave if leave is not None and set(ACCEPTS) & set(possible) else None

    def to_decide(self) -> list[Request]:
        """What waits for this person, the oldest first."""
        return sorted((r for r in self.requests.values() if self.waits(r)), key=_age)

    def to_pay(self) -> list[Request]:
        """What this person may pay, the oldest first."""
        found = (r for r in self.requests.values() if r.status == "accept" and r.can_paid)
        return sorted(found, key=_age)

    def queue(self, state: Mapping[str, Any]) -> list[Request]:
        """What a card with this state goes through: one of the two, filtered."""
        found = self.to_pay() if state.get("queue") == "to_pay" else self.to_decide()
        return [request for request in found if Filter.of(state).admits(request)]


def _age(request: Request) -> tuple[str, int]:
    return (request.creation_date.isoformat() if request.creation_date else "", request.id or 0)


async def look(turn: Turn, *, fresh: bool = False) -> Reading:
    """Reads with the person's own key; `fresh` for a decision: the blocks that they hold are read again too."""
    user_id = turn.known().user_id
    found = await requests_of(turn.api(), turn.today)
    blocks = await turn.desk.directory.blocks_of(user_id, fresh=fresh)
    with turn.desk.db.read() as connection:
        leaves = deputies.stood_in_for(connection, user_id, deputies.today(turn.desk))
    return Reading({r.id: r for r in found if r.id is not None}, leaves, tuple(blocks), user_id)


async def shown(turn: Turn, card: Card, reading: Reading) -> Request | None:
    """The card's request as it is now; one of a period that the reading leaves out is looked for there."""
    number, period = int(card.state["request"]), card.state.get("finplan")
    request = reading.requests.get(number)
    return request if request is not None else await request_by_id(turn.api(), number, period, turn.today)
