"""Ten thousand taps by two approvers on one request: one review, and no tap is ignored."""

import asyncio
from pathlib import Path

import pytest

from bot.sandbox import PersonChat
from tests.bot.house import OpenHouse, open_house
from tests.bot.test_requests import request
from tests.sizes import size

REVIEW = "/finplan/api/request/review"

TAPS = size(1_000, 10_000)

AT_ONCE = 100


async def approvers(house: OpenHouse) -> list[PersonChat]:
    """Anna, and Pauline who holds her position too from now on; both have the same request before them."""
    await house.owner.orgschema.worker.save(block_id=10, user_id="pauline", is_primary=False)
    chats: list[PersonChat] = []
    for name in ("anna", "pauline"):
        chat = await house.linked(name)
        await chat.says("/requests")
        await chat.card(containing="Raised floor for Halden office")
        chats.append(chat)
    return chats


@pytest.mark.slow
@pytest.mark.unmeasured
async def test_ten_thousand_taps_are_one_review(tmp_path: Path) -> None:
    """Half of them each, as fast as they go: one approval in the history, one call, an answer to each tap."""
    async with open_house(tmp_path, poll_seconds=60) as house:
        chats = await approvers(house)
        shown = [chat.last for chat in chats]
        approve = [card.button("Approve").callback_data for card in shown]
        answers = 0
        for _ in range(TAPS // AT_ONCE):
            pressed = [
                chats[number % 2].presses_data(shown[number % 2], approve[number % 2] or "", timeout=60)
                for number in range(AT_ONCE)
            ]
            answers += len(await asyncio.gather(*pressed))
        assert answers == TAPS
        entries = [entry for entry in (await request(house, 1)).history or [] if entry.type == "accept"]
        assert len(entries) == 1
        assert house.lossy.seen[REVIEW] <= 2
