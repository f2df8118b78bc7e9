"""One house a test, on a workspace that follows the documents and on one that behaves as hosted ones may."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.bot.house import OpenHouse, hosted, open_house


@pytest.fixture(params=["standard", "hosted"])
async def house(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[OpenHouse]:
    """English, with the sample company."""
    profile = hosted() if request.param == "hosted" else None
    async with open_house(tmp_path, profile=profile) as opened:
        opened.keeps_data = profile is None
        yield opened
