"""DBOS's clock on an SQLite that does not know subseconds."""

import sqlite3
from contextlib import closing

from sqlalchemy import create_engine, text

from automations.old_sqlite import lend_unixepoch, unixepoch


def test_the_lent_function_gives_subseconds() -> None:
    """Through SQL, as a column's default asks for it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("unixepoch", -1, unixepoch(lambda: 12.5))
        assert connection.execute("SELECT unixepoch('subsec') * 1000, unixepoch()").fetchone() == (12500.0, 12)


def test_connections_of_this_process_have_it() -> None:
    """After lending, every new connection answers, whatever SQLite is beneath; lending twice is lending once."""
    lend_unixepoch((3, 40, 1))
    lend_unixepoch((3, 40, 1))
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT unixepoch('subsec') > 1700000000")).scalar() == 1
    engine.dispose()
