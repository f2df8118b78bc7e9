"""A workspace with the sample company for each test: made once, copied, served in process.

On SQLite a file is copied, on PostgreSQL a database; each test that asks for `world` runs on both, unless it is
marked `sqlite`.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage import open_database
from tests.postgres import Cluster
from tests.server.world import TODAY, World
from workspace_api.server.opening import prepare


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The English sample in a closed SQLite file."""
    path = tmp_path_factory.mktemp("sample") / "workspace.db"
    with open_database(f"sqlite:///{path}") as database:
        prepare(database, "en", today=lambda: TODAY)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture(scope="session")
def sample_database(cluster: Cluster) -> str:
    """The same in a closed database of the test server: its name."""
    name = cluster.database()
    with open_database(cluster.url(name)) as database:
        prepare(database, "en", today=lambda: TODAY)
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A workspace of the test's own."""
    if request.param == "sqlite":
        path = tmp_path / "workspace.db"
        shutil.copy(request.getfixturevalue("sample_file"), path)
        with open_database(f"sqlite:///{path}") as database:
            yield World(database)
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with (
        cluster.fresh(template=request.getfixturevalue("sample_database")) as url,
        open_database(url) as database,
    ):
        yield World(database)
