"""A workspace with the sample company for each test: made once, copied as a file, served in process."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage import open_database
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


@pytest.fixture
def world(sample_file: Path, tmp_path: Path) -> Iterator[World]:
    """A workspace of the test's own."""
    path = tmp_path / "workspace.db"
    shutil.copy(sample_file, path)
    with open_database(f"sqlite:///{path}") as database:
        yield World(database)
