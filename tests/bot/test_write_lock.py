"""Writes to a hosted workspace wait for its owner's word, and again after what was confirmed has changed."""

from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot import write_lock
from bot.desk import House
from bot.texts import translations
from storage import Database, migrate, open_database
from tests.bot.house import open_house

HOSTED = House(
    ZoneInfo("Europe/Berlin"), "en", 2, lambda: datetime.now(UTC), workspace_url="https://workspace.example.com"
)


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    """An empty database of the bot."""
    with open_database(f"sqlite:///{tmp_path}/bot.db") as opened:
        migrate(opened, "bot:migrations", version_table="bot_version")
        yield opened


def why(db: Database, house: House) -> str | None:
    """Why nothing may be written."""
    with db.read() as connection:
        return write_lock.locked(connection, house)


def test_a_hosted_workspace_is_locked_until_it_is_confirmed(db: Database) -> None:
    """Then it is open, as long as scale, zone and address are those that were confirmed."""
    assert why(db, HOSTED) == write_lock.NEVER
    db.write_now(lambda connection: write_lock.confirm(connection, HOSTED, 42, 63, 1.0))
    assert why(db, HOSTED) is None
    assert why(db, replace(HOSTED, workspace_url="https://workspace.example.com/")) is None
    for changed in (
        replace(HOSTED, scale=0),
        replace(HOSTED, zone=UTC),
        replace(HOSTED, workspace_url="https://other.example.com"),
    ):
        assert why(db, changed) == write_lock.CHANGED


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:9", "http://[::1]:8080", ""])
def test_a_workspace_on_this_machine_is_not_locked(db: Database, url: str) -> None:
    """Whatever its scale."""
    assert why(db, replace(HOSTED, workspace_url=url)) is None


def test_the_embedded_workspace_is_not_locked_wherever_it_runs(db: Database) -> None:
    """Such as in a container of its own."""
    assert why(db, replace(HOSTED, workspace_url="http://workspace:8080", embedded=True)) is None
    assert why(db, replace(HOSTED, workspace_url="http://workspace:8080")) is not None


async def test_a_locked_workspace_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    """An approval says why; the request stays as it was."""
    async with open_house(tmp_path, workspace_url="https://workspace.example.com", poll_seconds=60) as house:
        anna = await house.linked("anna")
        await anna.says("/requests")
        await anna.card(containing="1 of 5")
        await anna.presses("Approve")
        await anna.card(containing="your administrator has to confirm how it keeps money")
        request = next(r for r in await house.requests() if r.id == 1)
        assert [entry.type for entry in request.history or []].count("accept") == 0


def test_the_reasons_are_said_in_russian_too() -> None:
    """They are handed on as they are, so the tests of sentences do not see them where they are said."""
    for sentence in (write_lock.NEVER, write_lock.CHANGED):
        assert translations("ru").gettext(sentence) != sentence
