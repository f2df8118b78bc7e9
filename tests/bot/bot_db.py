"""The bot's empty database for tests without a house: on SQLite, and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import Database, migrate, open_database


@pytest.fixture(params=["sqlite", "postgresql"])
def db(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Migrated, closed at the end; import it by name."""
    on_postgresql = request.param == "postgresql"
    url = str(request.getfixturevalue("postgres_url")) if on_postgresql else f"sqlite:///{tmp_path}/bot.db"
    with open_database(url) as opened:
        migrate(opened, "bot:migrations", version_table="bot_version")
        yield opened


__all__ = ["db"]
