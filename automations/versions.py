"""Versions of automations: what each said, and from when on. A backfill runs the one of that day."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select

from automations.definition import Automation
from automations.ledger import insert_new
from automations.tables import versions
from automations.triggers import utc_text
from storage import Database


@dataclass(frozen=True, slots=True)
class Version:
    """A definition as data, with the file that it came from."""

    automation: str
    digest: str
    since: str
    file: str
    data: dict[str, Any]


def _version(row: Any) -> Version:
    return Version(row.automation, row.digest, row.since, row.file, json.loads(row.data))


class Versions:
    """Reads and writes the versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enter(self, automations: Sequence[Automation], now: datetime) -> None:
        """Enters those that differ from the version in force."""

        def job(connection: Connection) -> None:
            latest = _latest(connection)
            rows = [
                {
                    "automation": one.name,
                    "since": utc_text(now),
                    "digest": one.digest,
                    "file": str(one.file.resolve()),
                    "data": one.text,
                }
                for one in automations
                if latest.get(one.name) != one.digest
            ]
            insert_new(connection, versions, rows)

        await self._database.write(job)

    def at(self, automation: str, moment: datetime) -> Version | None:
        """The version that was in force then; the first one for earlier moments; None where none was ever entered."""
        own = versions.c.automation == automation
        with self._database.read() as connection:
            then = select(versions).where(own, versions.c.since <= utc_text(moment)).order_by(versions.c.since.desc())
            row = connection.execute(then.limit(1)).first()
            if row is None:
                row = connection.execute(select(versions).where(own).order_by(versions.c.since).limit(1)).first()
        return _version(row) if row else None

    def all_of(self, automation: str) -> list[Version]:
        """All versions of an automation, the first one first."""
        query = select(versions).where(versions.c.automation == automation).order_by(versions.c.since)
        with self._database.read() as connection:
            return [_version(row) for row in connection.execute(query)]

    def of(self, automation: str, digest: str) -> Version | None:
        """A version by its digest."""
        query = select(versions).where(versions.c.automation == automation, versions.c.digest == digest).limit(1)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return _version(row) if row else None

    def newest(self) -> list[Version]:
        """The version in force of every automation that ever was."""
        top = select(versions.c.automation, func.max(versions.c.since).label("since")).group_by(versions.c.automation)
        newest = top.subquery()
        same = and_(versions.c.automation == newest.c.automation, versions.c.since == newest.c.since)
        with self._database.read() as connection:
            return [_version(row) for row in connection.execute(select(versions).join(newest, same))]


def _latest(connection: Connection) -> dict[str, str]:
    rows = connection.execute(select(versions.c.automation, versions.c.digest).order_by(versions.c.since))
    return {row.automation: row.digest for row in rows}
