"""The tables after all migrations are those of tables.py; what an older version kept is there afterwards."""

import sqlite3
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from automations.ledger import Ledger, LedgerLine
from automations.records import open_ledger
from automations.tables import metadata

FIRST = """
CREATE TABLE automation_schedules (automation VARCHAR(80) PRIMARY KEY, trigger TEXT NOT NULL,
    considered VARCHAR(20) NOT NULL);
CREATE TABLE automation_ticks (automation VARCHAR(80), tick VARCHAR(20), zone VARCHAR(60) NOT NULL,
    state VARCHAR(10) NOT NULL, reason TEXT NOT NULL, recorded_at VARCHAR(20) NOT NULL, PRIMARY KEY (automation, tick));
CREATE INDEX ix_automation_ticks_state ON automation_ticks (state);
CREATE TABLE automations_version (version_num VARCHAR(32) PRIMARY KEY);
INSERT INTO automations_version VALUES ('0001');
INSERT INTO automation_ticks VALUES ('a', '2026-11-20T02:00:00Z', 'UTC', 'skipped', 'too old', '2026-11-20T03:00:00Z');
"""


def test_migrations_make_the_tables(tmp_path: Path) -> None:
    """Nothing is left for a migration to do."""
    with open_ledger(tmp_path, None) as database, database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "automations_version"})
        assert compare_metadata(context, metadata) == []


def test_an_older_ledger_is_taken_along(tmp_path: Path) -> None:
    """Its ticks become lines of the ledger as it is now."""
    with sqlite3.connect(tmp_path / "automations.db") as old:
        old.executescript(FIRST)
    with open_ledger(tmp_path, None) as database:
        assert Ledger(database).newest(None, 10) == [
            LedgerLine("a", "2026-11-20T02:00:00Z", "UTC", "skipped", "too old", "2026-11-20T02:00:00Z")
        ]
