"""One house a test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.bot.house import OpenHouse, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    """The standard workspace, English."""
    async with open_house(tmp_path) as opened:
        yield opened
