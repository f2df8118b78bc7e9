"""One house a test: on a workspace that follows the documents and on one that behaves as hosted ones may.

The tests of ON_POSTGRESQL run a third time, with everything kept in a PostgreSQL database.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.bot.house import OpenHouse, hosted, open_house

ON_POSTGRESQL = {"test_requests", "test_outcomes", "test_faults", "test_linking", "test_delivery"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which houses a test runs in."""
    if "house" in metafunc.fixturenames:
        also = ["postgresql"] if metafunc.definition.path.stem in ON_POSTGRESQL else []
        metafunc.parametrize("house", ["standard", "hosted", *also], indirect=True)


@pytest.fixture
async def house(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[OpenHouse]:
    """English, with the sample company."""
    profile = hosted() if request.param == "hosted" else None
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    async with open_house(tmp_path, profile=profile, database_url=url) as opened:
        opened.keeps_data = profile is None
        yield opened
