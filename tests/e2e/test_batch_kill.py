"""kill -9 of the real bot in the middle of a batch: each request is approved once, and each receipt comes."""

import asyncio
import random
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from bot import people, preferences
from bot.sandbox import LocalTelegram, PersonChat, PersonSpec
from bot.vault import Vault
from storage import Database, migrate, open_database
from tests.e2e.processes import started
from tests.sizes import size
from workspace_api import AsyncWorkspace
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import Profile
from workspace_api.server.sample import load_sample
from workspace_api.server.serve import serve_async

TOKEN = "1000000:test-token-for-loopback"
ROUNDS = size(2, 20)
SEED = 20261122
EACH = 6
"""Requests of one batch."""


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_a_batch_survives_kills(tmp_path: Path) -> None:
    """Round for round six requests are marked and approved, and the bot dies meanwhile: one review each, all told."""
    dice = random.Random(SEED)
    data = tmp_path / "data"
    with open_workspace(data) as server, open_database(f"sqlite:///{data}/bot.db") as bot_db:
        load_sample(server, "en", today=datetime.now(UTC).date())
        migrate(bot_db, "bot:migrations", version_table="bot_version")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
        )
        url = await ready
        async with (
            LocalTelegram.start(people=[PersonSpec(id=1001, first_name="Anna")], token=TOKEN, limits=None) as telegram,
            AsyncWorkspace(url, issue_key(server, owner=True)) as owner,
        ):
            settings = {
                "WORKSPACE_URL": url,
                "WORKSPACE_API_KEY": issue_key(server, owner=True),
                "WORKSPACE_DATA": str(data),
                "WORKSPACE_POLL_SECONDS": "60",
                "TELEGRAM_TOKEN": TOKEN,
                "TELEGRAM_API_URL": telegram.url,
            }
            _link(bot_db, Vault(data / "bot.key").seal(issue_key(server, "anna")))
            # What the sample has for Anna is out of the way: each round has requests of its own.
            anna = owner.with_options(api_key=issue_key(server, "anna"))
            await anna.finplan.request.review(request_ids=[1, 2, 3, 4, 5], review_type="accept", block_id=10)
            boris = owner.with_options(api_key=issue_key(server, "boris"))
            for _ in range(ROUNDS):
                made = [await _asked(boris, number) for number in range(EACH)]
                await _killed(tmp_path, settings, telegram.chat(1001), dice)
                found = {request.id: request for request in await owner.finplan.request.list()}
                approvals = {
                    number: [e.author_id for e in found[number].history or [] if e.type == "accept"] for number in made
                }
                assert approvals == {number: ["anna"] for number in made}
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _link(bot_db: Database, sealed: str) -> None:
    """Anna is linked, and a review has shown before that the key is hers: all calls of a batch go out at once."""
    code = bot_db.write_now(lambda c: people.invite(c, "anna", sealed, time.time()))
    with bot_db.read() as connection:
        invitation = people.redeemable(connection, code, time.time())
    assert invitation is not None
    bot_db.write_now(lambda c: people.link(c, invitation.code_hash, 1001, "Anna", "en", time.time()))
    bot_db.write_now(lambda c: people.mark(c, 1001, key_proved=True))
    # Nothing is pushed, so that the card of the batch stays the last message.
    bot_db.write_now(lambda c: preferences.put(c, "anna", "quiet", ["00:00", "23:59"]))


async def _asked(boris: AsyncWorkspace, number: int) -> int:
    saved = await boris.finplan.request.save(
        author_block_id=100, finplan="2026-11-01", name=f"Drill {number}", problem="Needed", sum=340 + number, type=130
    )
    return saved.id or 0


async def _killed(folder: Path, settings: dict[str, str], chat: PersonChat, dice: random.Random) -> None:
    """Marks all and approves; the bot is killed at some moment after the tap, and another one finishes."""
    with started("bot", folder=folder, log="bot.log", **settings) as process:
        await chat.says("/requests")
        await chat.card(containing=f"1 of {EACH}", timeout=60)
        for label in ("More", "Approve several", "Choose all"):
            await chat.waits(partial(_has, label=label), timeout=60)
            await chat.presses(label, timeout=60)
        await chat.waits(partial(_has, label=f"Approve {EACH}"), timeout=60)
        chat.taps(f"Approve {EACH}")
        await asyncio.sleep(dice.uniform(0.0, 0.5))
        process.kill()
    with started("bot", folder=folder, log="bot.log", **settings):
        await chat.waits(lambda chat: f"{EACH} of {EACH} approved" in chat.last.text, timeout=120)


def _has(chat: PersonChat, label: str) -> bool:
    return any(text.startswith(label) for row in chat.buttons for text in row)
