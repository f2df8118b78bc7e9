"""One house a test: on a workspace that follows the documents and on one that behaves as hosted ones may.

Those of OF_THE_CHAT run on the first alone. The tests of ON_POSTGRESQL run once more, with everything kept in a
PostgreSQL database.
"""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.bot.house import OpenHouse, fill, hosted, open_house
from tests.postgres import Cluster

ON_POSTGRESQL = {"test_requests", "test_outcomes", "test_faults", "test_linking", "test_delivery"}

OF_THE_CHAT = {"test_admission", "test_delivery", "test_delivery_faults", "test_groups", "test_menu", "test_settings"}
"""What these look at is the bot's and Telegram's: how the workspace behaves makes no difference there."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which houses a test runs in."""
    if "house" in metafunc.fixturenames:
        also = ["postgresql"] if metafunc.definition.path.stem in ON_POSTGRESQL else []
        hosts = [] if metafunc.definition.path.stem in OF_THE_CHAT else ["hosted"]
        metafunc.parametrize("house", ["standard", *hosts, *also], indirect=True)


@pytest.fixture(scope="session")
def filled(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with the sample company in it, which nobody is connected to."""
    name = cluster.database()
    fill(tmp_path_factory.mktemp("filled"), cluster.url(name))
    return name


@pytest.fixture
def filled_url(cluster: Cluster, filled: str) -> Generator[str]:
    """The address of a copy of it, of the test's own."""
    with cluster.fresh(template=filled) as url:
        yield url


@pytest.fixture
async def house(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[OpenHouse]:
    """English, with the sample company."""
    profile = hosted() if request.param == "hosted" else None
    url = request.getfixturevalue("filled_url") if request.param == "postgresql" else None
    async with open_house(tmp_path, profile=profile, database_url=url) as opened:
        opened.keeps_data = profile is None
        yield opened
