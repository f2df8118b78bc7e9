"""Fixtures of the automations' tests."""

from pathlib import Path

import pytest

from tests.automations.world import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run automations in memory; files go below tmp_path/files."""
    return Bench(tmp_path / "files")
