"""Reads what was due and what ran, from any process, while a runner runs or none does."""

from collections.abc import Collection
from pathlib import Path

from automations.engine import RunHistory
from automations.engine_dbos import DbosHistory
from automations.errors import UnknownRun
from automations.ledger import Ledger
from automations.moved import refuse_where_moved
from automations.questions import Questions
from automations.reports import RunDetail, RunReport, run_detail, run_report, skipped_report
from storage import Database, migrate, open_database


def engine_url(data: Path, database_url: str | None) -> str:
    """Where the engine keeps runs."""
    return database_url or f"sqlite:///{(data / 'automations-engine.db').resolve()}"


def open_ledger(data: Path, database_url: str | None) -> Database:
    """Opens the database of the ledger and brings it up to date. Raises EngineUnavailable where it was moved away."""
    if database_url is None:
        refuse_where_moved(data)
    database = open_database(database_url or f"sqlite:///{(data / 'automations.db').resolve()}")
    try:
        migrate(database, "automations:migrations", version_table="automations_version")
    except BaseException:
        database.close()
        raise
    return database


class Records:
    """The past of automations. Close it, or use it as a context manager."""

    def __init__(self, data: Path, database_url: str | None) -> None:
        self.database = open_ledger(data, database_url)
        self.ledger = Ledger(self.database)
        self.questions = Questions(self.database)
        self.engine: RunHistory = self.engine_history(data, database_url)

    @staticmethod
    def engine_history(data: Path, database_url: str | None) -> RunHistory:
        """What the engine has recorded."""
        return DbosHistory(engine_url(data, database_url))

    def history(
        self, name: str | None = None, limit: int = 20, states: Collection[str] | None = None, before: str | None = None
    ) -> list[RunReport]:
        """The newest runs, and ticks that were skipped or lost, newest first."""
        left = ["skipped", "lost"] if states is None else [state for state in states if state in {"skipped", "lost"}]
        lines = [skipped_report(line) for line in self.ledger.newest(name, limit, left)] if left else []
        reports = [run_report(run) for run in self.ledger.runs(name, limit, states, before)]
        return sorted([*reports, *lines], key=lambda report: (report.tick, report.run_id), reverse=True)[:limit]

    def show(self, run_id: str) -> RunDetail:
        """A run with its steps. Raises UnknownRun."""
        run = self.ledger.run(run_id)
        if run is None:
            raise UnknownRun(run_id)
        return run_detail(run, self.engine.steps(run_id))

    def close(self) -> None:
        self.engine.close()
        self.database.close()

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
