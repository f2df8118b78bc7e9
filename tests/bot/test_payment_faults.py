"""A thousand payments, a fault at every step of them: none is made twice, none is lost, each is settled or shown.

The bot's process dies at any moment too: its loop is cancelled wherever it stands, and a new one takes over. The
workspace is a hosted one: it knows no idempotency, so that a payment which is sent twice is paid twice.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from bot import intents, people
from bot.assistant import Locks
from bot.cards import load
from bot.desk import Desk, House, Turn
from bot.dialogues import BY_NAME
from bot.operations import Operations
from bot.people import Person
from bot.periods import requests_of
from bot.tables import cards
from bot.tables import intents as intents_table
from bot.vault import Vault
from storage import migrate, open_database
from tests.bot.house import hosted
from tests.bot.lossy import Lossy, open_lossy
from tests.sizes import size
from workspace_api import AsyncWorkspace
from workspace_api.contract.finplan import Request
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.sample import load_sample
from workspace_api.server.serve import serve_async

PAY = "/finplan/api/request/pay"

PAYMENTS, AT_ONCE = size(160, 1000), 40

OPEN = ("open", "sending", "unknown")


@dataclass
class Clock:
    """The time, which can be put forward."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Till:
    """The bot's side of paying, without Telegram: dialogue, intents, the loop that makes the calls."""

    desk: Desk
    lossy: Lossy
    owner: AsyncWorkspace
    api: AsyncWorkspace
    clock: Clock
    marina: Person
    operations: Operations = field(init=False)
    _stop: asyncio.Event = field(init=False)
    _loop: asyncio.Task[None] = field(init=False)

    def starts(self) -> None:
        """A process begins."""
        self.operations = Operations(self.desk, BY_NAME, Locks())
        self._stop = asyncio.Event()
        self._loop = asyncio.create_task(self.operations.run(self._stop))

    async def dies(self) -> None:
        """The process is gone, wherever each of its calls stands: nothing is told to anybody."""
        running = [self._loop, *self.operations.under_way()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def turn(self) -> Turn:
        return Turn(self.desk, 1002, 1002, self.desk.texts("en"), self.marina)

    async def asks_for(self, request: Request, amount: int) -> None:
        """What two taps do: the choice, then the sum."""
        pay = BY_NAME["requests"]
        turn = self.turn()
        card = turn.new_card("requests", request=request.id, finplan=request.finplan, subject=f"request:{request.id}")
        await pay.tapped(turn, card, "pay", {})
        await self.desk.db.write(turn.write)
        with self.desk.db.read() as connection:
            mine = select(cards.c.id).where(cards.c.subject == card.subject).order_by(cards.c.id.desc()).limit(1)
            shown = load(connection, connection.execute(mine).scalar_one())
        assert shown is not None
        turn = self.turn()
        await pay.tapped(turn, shown, "pay_go", {"amount": amount})
        await self.desk.db.write(turn.write)
        self.operations.wake()

    def states(self) -> Counter[str]:
        with self.desk.db.read() as connection:
            return Counter(connection.execute(select(intents_table.c.state)).scalars())

    async def settles(self) -> None:
        """Until nothing is open; the time of waiting for the next reading is passed over."""
        while (left := sum(self.states()[state] for state in OPEN)) and left:
            self.clock.ahead += timedelta(seconds=61)
            self.operations.wake()
            await asyncio.sleep(0.05)


@asynccontextmanager
async def open_till(folder: Path) -> AsyncGenerator[Till]:
    data = folder / "data"
    data.mkdir()
    clock = Clock()
    with open_workspace(data, None) as server:
        load_sample(server, "en", today=datetime.now(UTC).date())
        owner_key, key = issue_key(server, owner=True), issue_key(server, "marina")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=hosted(), ready=ready)
        )
        try:
            async with open_lossy(await ready) as lossy, AsyncWorkspace(lossy.url, owner_key, retries=8) as owner:
                with open_database(f"sqlite:///{folder}/bot.db") as db:
                    migrate(db, "bot:migrations", version_table="bot_version")
                    vault = Vault(folder / "bot.key")
                    desk = Desk(db, owner, vault, House(UTC, "en", 0, clock, folder=folder, workspace_url=lossy.url))
                    code = db.write_now(lambda c: people.invite(c, "marina", vault.seal(key), desk.now()))
                    with db.read() as connection:
                        invitation = people.redeemable(connection, code, desk.now())
                    assert invitation is not None
                    db.write_now(lambda c: people.link(c, invitation.code_hash, 1002, "Marina Holt", "en", desk.now()))
                    with db.read() as connection:
                        marina = people.find(connection, 1002)
                    assert marina is not None
                    till = Till(desk, lossy, owner, owner.with_options(api_key=key), clock, marina)
                    till.starts()
                    yield till
                    await till.dies()
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def accepted(till: Till, count: int) -> list[int]:
    """Requests that are accepted, each of a sum that many payments fit into."""
    numbers: list[int] = []
    for number in range(count):
        made = await till.owner.finplan.request.save(name=f"Order {number}", sum=100_000, author_block_id=10)
        await till.api.finplan.request.review(request_ids=[made.id or 0], review_type="accept_final")
        numbers.append(made.id or 0)
    return numbers


def faults(till: Till) -> dict[str, Callable[[], None]]:
    """What can go wrong with one payment; each is used up by one call."""
    return {
        "nothing": lambda: None,
        "lost before it arrives": partial(till.lossy.swallow, PAY),
        "lost after it was paid": partial(till.lossy.lose, PAY),
        "a page instead of the answer": partial(till.lossy.garble, PAY),
    }


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_a_thousand_payments_through_every_fault(tmp_path: Path) -> None:
    """What the workspace has as paid is what the bot says was paid, and every payment has reached it once at most."""
    chance = random.Random(20261121)
    async with open_till(tmp_path) as till:
        numbers = await accepted(till, AT_ONCE)
        expected: Counter[int] = Counter()
        for round_number in range(PAYMENTS // AT_ONCE):
            by_number = {request.id: request for request in await requests_of(till.api, datetime.now(UTC))}
            kinds = [chance.choice(list(faults(till).values())) for _ in numbers]
            for order in kinds:
                order()
            asked = [till.asks_for(by_number[number], chance.randint(1, 40)) for number in numbers]
            await asyncio.gather(*asked)
            if round_number % 2:
                # The process dies in the middle of the round, and another one begins.
                await asyncio.sleep(chance.random() * 0.15)
                await till.dies()
                till.starts()
            await till.settles()
            till.lossy.heals()
            await judge(till)
            assert not [state for state in till.states() if state in {*OPEN, "held"}]
        with till.desk.db.read() as connection:
            rows = connection.execute(select(intents_table.c.subject, intents_table.c.state, intents_table.c.before))
            made = [(int(row.subject.split(":")[1]), row.state, row.before) for row in rows]
        assert len(made) == PAYMENTS
        for number, state, before in made:
            if state == "done":
                expected[number] += int(json.loads(before)["amount"])
        now = {request.id: request for request in await requests_of(till.owner, datetime.now(UTC))}
        assert {number: now[number].sum_paid for number in numbers} == {number: expected[number] for number in numbers}
        # Every fault has struck, and each kind of end was come to.
        assert {"done", "not_seen"} <= {state for _, state, _ in made}
        paid = sum(entry.type == "pay" for number in numbers for entry in now[number].history or [])
        assert paid == sum(state == "done" for _, state, _ in made)


async def judge(till: Till) -> None:
    """A person looks at each payment that is held, in the workspace, and says what is so."""
    requests = BY_NAME["requests"]
    now = {request.id: request for request in await requests_of(till.api, datetime.now(UTC))}
    with till.desk.db.read() as connection:
        held = [
            intents.held(connection, subject)
            for subject in connection.execute(
                select(intents_table.c.subject).where(intents_table.c.state == "held")
            ).scalars()
        ]
    for intent in held:
        assert intent is not None
        request = now[int(intent.body["request_id"])]
        moved = (request.sum_paid or 0) - intent.before["sum_paid"]
        assert moved in {0, intent.before["amount"]}, "nobody else pays here"
        action = "pay_settle" if moved else "pay_release"
        turn = till.turn()
        card = turn.new_card("requests", request=request.id, finplan=request.finplan)
        await requests.tapped(turn, card, action, {"sure": True})
        await till.desk.db.write(turn.write)
