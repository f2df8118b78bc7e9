"""Fixtures of the automations' tests."""

from pathlib import Path

import pytest

from tests.automations.world import Bench, TableCaller


@pytest.fixture
def bench(tmp_path: Path) -> Bench[TableCaller]:
    """A place to run automations in memory; files go below tmp_path/files."""
    return Bench(tmp_path / "files", TableCaller())
