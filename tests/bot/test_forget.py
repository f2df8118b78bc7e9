"""What is kept of a person is listed, and erased: theirs alone, all of it, but for the evidence."""

import json
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Connection, Float, Insert, Integer, Table, insert, select

from bot import forget, tables
from storage import Database
from tests.bot.bot_db import db as db  # noqa: PLC0414 - a fixture, found by its name

ANNA, BORIS, OLD = 1001, 1003, 1009

PERSONAL = {"user_id", "telegram_id", "chat_id", "queue", "deputy_id"}


def value_of(column: Column[Any], user_id: str, account: int, number: int) -> Any:
    """Something that fits into a column, and is this person's where the column names a person."""
    if column.name in {"user_id", "deputy_id"}:
        return user_id
    if column.name in {"telegram_id", "chat_id", "queue"}:
        return account
    if column.name == "state":
        return "done"
    if isinstance(column.type, Boolean):
        return False
    if isinstance(column.type, BigInteger | Integer):
        return number
    return 0.0 if isinstance(column.type, Float) else f"{{}}{number}" if column.primary_key else "{}"


def fill(db: Database, user_id: str, account: int, number: int) -> None:
    """A row of this person in every table that has something of people."""
    for table in tables.metadata.sorted_tables:
        if PERSONAL & set(table.columns.keys()):
            row = {
                column.name: value_of(column, user_id, account, number)
                for column in table.columns
                if not (column.nullable and column.name not in PERSONAL)
            }
            if table is tables.inbox:
                row["payload"] = json.dumps({"message": {"text": f"of {user_id}"}})
            if table is tables.pending_links:
                row["code_hash"] = f"{{}}{number}"
            statement = insert(table).values(**row)
            db.write_now(partial(_execute, statement=statement))


def _execute(connection: Connection, statement: Insert) -> None:
    connection.execute(statement)


def of(db: Database, table: Table, user_id: str, account: int) -> int:
    """How many rows of a table are this person's."""
    with db.read() as connection:
        rows = connection.execute(select(table)).mappings().all()
    return sum(1 for row in rows if {user_id, account} & {row.get(name) for name in PERSONAL})


def test_all_of_a_person_goes_and_nothing_of_another(db: Database) -> None:
    """Every table that names a person is either emptied of them or named as evidence."""
    fill(db, "anna", ANNA, 1)
    fill(db, "boris", BORIS, 2)
    listed = db.write_now(lambda c: forget.kept(c, "anna"))
    stays = db.write_now(lambda c: forget.evidence(c, "anna"))
    erased, files = db.write_now(lambda c: forget.erase(c, "anna"))
    assert erased == listed
    assert files == []
    left = {table.name for table in tables.metadata.sorted_tables if of(db, table, "anna", ANNA)}
    assert left == {"audit", "inbox"}
    assert list(stays) == ["audit"]
    for table in tables.metadata.sorted_tables:
        if PERSONAL & set(table.columns.keys()):
            assert of(db, table, "boris", BORIS) == 1, table.name
    with db.read() as connection:
        payloads = set(connection.execute(select(tables.inbox.c.payload)).scalars())
    assert payloads == {"{}", json.dumps({"message": {"text": "of boris"}})}
    assert db.write_now(lambda c: forget.kept(c, "anna")) == {}


def test_evidence_of_money_stays(db: Database) -> None:
    """Calls that moved money, receipts of entries, and calls whose outcome is open."""
    fill(db, "anna", ANNA, 1)

    def change(connection: Any) -> None:
        connection.execute(tables.intents.update().values(operation="finplan.request.pay"))
        connection.execute(tables.receipts.update().values(transaction_id=42, path="evidence/1.jpg"))

    db.write_now(change)
    assert db.write_now(lambda c: forget.evidence(c, "anna")) == {"audit": 1, "calls with money": 1, "receipts": 1}
    db.write_now(lambda c: c.execute(tables.intents.update().values(operation="tasks.task.create", state="unknown")))
    assert "calls whose outcome is open" in db.write_now(lambda c: forget.evidence(c, "anna"))
    _, files = db.write_now(lambda c: forget.erase(c, "anna"))
    assert files == []
    assert of(db, tables.intents, "anna", ANNA) == 1
    assert of(db, tables.receipts, "anna", ANNA) == 1


def test_files_go_with_their_messages(db: Database) -> None:
    """What was sent to the chat, and pictures that became no entry; a picture that is evidence too stays."""
    fill(db, "anna", ANNA, 1)

    def change(connection: Any) -> None:
        connection.execute(tables.outbox.update().values(payload=json.dumps({"file": "/data/outgoing/a/report.xlsx"})))
        connection.execute(tables.receipts.update().values(path="evidence/1.jpg"))

    db.write_now(change)
    _, files = db.write_now(lambda c: forget.erase(c, "anna"))
    assert sorted(map(str, files)) == ["/data/outgoing/a/report.xlsx", "evidence/1.jpg"]


def test_one_who_was_unlinked_before_is_found_by_the_audit(db: Database) -> None:
    """The account is named by the audit; one that is somebody else's now is left alone."""
    fill(db, "anna", ANNA, 1)
    db.write_now(lambda c: c.execute(tables.people.delete()))
    assert db.write_now(lambda c: forget.telegram_ids(c, "anna")) == {ANNA}
    fill(db, "boris", BORIS, 2)
    db.write_now(lambda c: c.execute(tables.people.update().values(telegram_id=ANNA)))
    assert db.write_now(lambda c: forget.telegram_ids(c, "anna")) == set()
    db.write_now(lambda c: forget.erase(c, "anna"))
    assert of(db, tables.cards, "boris", ANNA) == 1


def test_nothing_is_kept_of_a_stranger(db: Database) -> None:
    """Nobody's rows are nobody's."""
    fill(db, "boris", BORIS, 2)
    assert db.write_now(lambda c: forget.kept(c, "anna")) == {}
    assert db.write_now(lambda c: forget.evidence(c, "anna")) == {}
