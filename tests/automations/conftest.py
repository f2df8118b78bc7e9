"""Fixtures of the automations' tests."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.automations.ops import Ops, ledger_of
from tests.automations.world import Bench, TableCaller


@pytest.fixture
def bench(tmp_path: Path) -> Bench[TableCaller]:
    """A place to run automations in memory; files go below tmp_path/files."""
    return Bench(tmp_path / "files", TableCaller())


@pytest.fixture
def ops(tmp_path: Path) -> Generator[Ops]:
    """People of ops, and an empty ledger on SQLite."""
    with ledger_of(tmp_path) as database:
        yield Ops(database)


@pytest.fixture(params=["sqlite", "postgresql"])
def each_ops(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Ops]:
    """The same on each database."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    with ledger_of(tmp_path, url) as database:
        yield Ops(database)
