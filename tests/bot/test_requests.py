"""Decisions in chat: the oldest card at once, one tap approves, one review whatever happens."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.bot.house import OpenHouse, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    async with open_house(tmp_path) as opened:
        yield opened


async def reviews(house: OpenHouse, request_id: int, kind: str) -> list[str | None]:
    """Who did this to the request, as its history tells."""
    found = {request.id: request for request in await house.owner.finplan.request.list()}
    return [entry.author_id for entry in found[request_id].history or [] if entry.type == kind]


async def test_one_tap_approves_and_the_card_says_so(house: OpenHouse) -> None:
    """/requests shows the oldest card with a count; Approve is one review under the person's own name."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    print(card.html)
    print(card.buttons)
    assert card.buttons[0][0] == "Approve"
    await anna.presses("Approve")
    done = await anna.card(containing="Approved by you")
    print(done.html, done.buttons)
    assert done.id == card.id
