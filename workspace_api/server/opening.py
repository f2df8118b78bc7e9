"""Opening the workspace's database: where it lies, its tables brought up to date, a company loaded on request."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from storage import Database, migrate, open_database
from workspace_api.server.company_file import Language
from workspace_api.server.sample import load_sample

MIGRATIONS = "workspace_api.server:migrations"
VERSION_TABLE = "server_version"
FILE = "workspace.db"


def database_address(data: Path, database_url: str | None = None) -> str:
    """The URL of the workspace's database: the given one, else a file in the data folder."""
    return database_url or f"sqlite:///{(data / FILE).resolve()}"


def _utc_today() -> date:
    return datetime.now(UTC).date()


def prepare(database: Database, sample: Language | None = None, *, today: Callable[[], date] = _utc_today) -> None:
    """Brings the tables up to date; with `sample`, loads the sample company in that language where nobody is yet."""
    migrate(database, MIGRATIONS, version_table=VERSION_TABLE)
    if sample is not None:
        load_sample(database, sample, today=today())


def open_workspace(data: Path, database_url: str | None = None) -> Database:
    """Opens the workspace's database and brings its tables up to date. The caller closes it."""
    database = open_database(database_address(data, database_url))
    try:
        prepare(database)
    except BaseException:
        database.close()
        raise
    return database
