"""A new key for what is sealed: put on top of the key file, everything sealed again, the older keys dropped.

one transaction: the new key on top ─► every sealed key of the database is sealed again ─► committed ─► older lines go

A bot that runs meanwhile reads the file anew before each use. A crash in between leaves both keys in the file, which
opens everything; the next rotation ends what this one began.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, Table, select, text, update

from bot.tables import invitations, people
from bot.vault import Vault, VaultError
from storage import Database

SEALED: tuple[Table, ...] = (people, invitations)
"""Tables with a column `sealed_key`: whoever seals something else adds it here."""


class RotationError(Exception):
    """Not everything could be sealed again; nothing was dropped. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Rotated:
    """How many keys were sealed again, how many no key of the file opens, how many old lines were dropped."""

    sealed: int
    lost: int
    dropped: int


def rotate(db: Database, vault: Vault) -> Rotated:
    """Rotates. Raises RotationError where something was sealed with an old key meanwhile."""

    def seal(connection: Connection) -> tuple[int, int]:
        # Nothing is sealed with an old key after this commit: who seals does so within a write, and holds as well.
        hold(connection, alone=True)
        vault.add_key()
        return _seal_again(connection, vault)

    with vault.alone():
        sealed, lost = db.write_now(seal)
        with db.read() as connection:
            left = [value for value in _all(connection) if not vault.is_newest(value) and _opens(vault, value)]
        if left:
            raise RotationError(f"{len(left)} keys were sealed with an old key meanwhile: run it again")
        return Rotated(sealed, lost, vault.drop_old_keys())


def hold(connection: Connection, *, alone: bool = False) -> None:
    """Called in a write before something is sealed: a rotation under way is waited for, and waits for this write.

    SQLite lets one write at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        names = ", ".join(table.name for table in SEALED)
        mode = "SHARE ROW EXCLUSIVE" if alone else "ROW EXCLUSIVE"
        connection.execute(text(f"LOCK TABLE {names} IN {mode} MODE"))


def _seal_again(connection: Connection, vault: Vault) -> tuple[int, int]:
    sealed = lost = 0
    for table in SEALED:
        (key,) = table.primary_key.columns
        for row in connection.execute(select(key, table.c.sealed_key).where(table.c.sealed_key.is_not(None))).all():
            try:
                secret = vault.open(row[1])
            except VaultError:
                lost += 1
                continue
            connection.execute(update(table).where(key == row[0]).values(sealed_key=vault.seal(secret)))
            sealed += 1
    return sealed, lost


def _all(connection: Connection) -> list[str]:
    queries = [select(table.c.sealed_key).where(table.c.sealed_key.is_not(None)) for table in SEALED]
    return [value for query in queries for value in connection.execute(query).scalars()]


def _opens(vault: Vault, sealed: str) -> bool:
    try:
        vault.open(sealed)
    except VaultError:
        return False
    return True
