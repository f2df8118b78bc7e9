"""Who and what there is: people, blocks, categories, cashboxes, currencies, kept for ten minutes.

Read with the service key for all (names are no secret inside a company), cashboxes with the person's own key, since
each sees their own. What decides about rights is never read from here.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar, cast

from workspace_api import AsyncWorkspace
from workspace_api.contract.finance import Cashbox, Currency, TransactionCategory
from workspace_api.contract.orgschema import Block, Worker
from workspace_api.contract.user import Profile

T = TypeVar("T")

KEPT = 600.0
"""Seconds that a dictionary is kept."""


def is_active(profile: Profile | None, today: str) -> bool:
    """Whether a person works here: not disabled, not deleted, not dismissed by today (an ISO date)."""
    if profile is None or profile.is_disabled or profile.is_deleted:
        return False
    return profile.firing_date is None or profile.firing_date.date().isoformat() > today


class Directory:
    """The dictionaries of one workspace."""

    def __init__(self, service: AsyncWorkspace, clock: Callable[[], float]) -> None:
        self._service = service
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    async def _keep(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        found = self._kept.get(key)
        if found is not None and self._clock() - found[0] < KEPT:
            return cast("T", found[1])
        value = await read()
        self._kept[key] = (self._clock(), value)
        return value

    def forget(self) -> None:
        """Reads everything afresh from now on."""
        self._kept.clear()

    async def people(self, *, fresh: bool = False) -> dict[str, Profile]:
        """Profiles by user id; `fresh` for a decision about a person."""
        if fresh:
            self._kept.pop("people", None)

        async def read() -> dict[str, Profile]:
            profiles = await self._service.user.profile.list()
            return {profile.user_id: profile for profile in profiles if profile.user_id is not None}

        return await self._keep("people", read)

    async def blocks(self) -> dict[int, Block]:
        """Blocks of the structure by id."""

        async def read() -> dict[int, Block]:
            return {block.id: block for block in await self._service.orgschema.block.list() if block.id is not None}

        return await self._keep("blocks", read)

    async def workers(self) -> list[Worker]:
        """Who holds which block."""
        return await self._keep("workers", self._service.orgschema.worker.list_active)

    async def blocks_of(self, user_id: str, *, fresh: bool = False) -> list[int]:
        """The blocks a person holds, the primary one first; `fresh` for a decision."""
        if fresh:
            self._kept.pop("workers", None)
        mine = [worker for worker in await self.workers() if worker.user_id == user_id and not worker.is_deleted]
        mine.sort(key=lambda worker: not worker.is_primary)
        return [worker.block_id for worker in mine if worker.block_id is not None]

    async def holders(self, block_id: int) -> list[str]:
        """Who holds a block."""
        return [w.user_id for w in await self.workers() if w.block_id == block_id and w.user_id and not w.is_deleted]

    async def categories(self) -> dict[int, TransactionCategory]:
        """Categories of transactions by id, archived ones included."""

        async def read() -> dict[int, TransactionCategory]:
            return {c.id: c for c in await self._service.fintransaction.category.list() if c.id is not None}

        return await self._keep("categories", read)

    async def currencies(self) -> dict[str, Currency]:
        """Currencies by code."""

        async def read() -> dict[str, Currency]:
            return {c.code: c for c in await self._service.finance.currency.list() if c.code is not None}

        return await self._keep("currencies", read)

    async def cashboxes(self, user_id: str, api: AsyncWorkspace, *, archived: bool = False) -> dict[int, Cashbox]:
        """The cashboxes that a person may use, by id; `archived`: those too that take nothing new.

        What the service's key sees is kept apart from what the person's own key does.
        """

        async def read() -> dict[int, Cashbox]:
            return {c.id: c for c in await api.finance.transaction.cashbox_list() if c.id is not None}

        found = await self._keep(("cashboxes", user_id, api is self._service), read)
        return {number: box for number, box in found.items() if archived or not box.is_archived}

    async def name(self, user_id: str | None) -> str:
        """A person's name, or the bare id where there is no profile."""
        profile = (await self.people()).get(user_id or "")
        return (profile.user_name or profile.name if profile else None) or user_id or "?"
