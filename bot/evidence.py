"""Pictures of receipts: kept as evidence, each under its hash; which of them were logged, by whom and when.

picture ─► keep() ─► evidence/<sha256>.jpg        fingerprint ─► logged() ─► who has logged this very receipt
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from bot.tables import receipts


@dataclass(frozen=True, slots=True)
class Logged:
    """A receipt that was logged: by whom, as which transaction, when (seconds since 1970)."""

    user_id: str
    transaction_id: int
    card_id: int
    created_at: float


def keep(folder: Path, picture: bytes) -> Path:
    """Stores a picture; the same one twice is one file."""
    place = folder / "evidence"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = place / f"{fingerprint_of(picture)}.jpg"
    if not path.exists():
        written = path.with_suffix(".new")
        written.write_bytes(picture)
        written.chmod(0o600)
        written.replace(path)
    return path


def fingerprint_of(picture: bytes) -> str:
    """What identifies a picture of which nothing could be read."""
    return hashlib.sha256(picture).hexdigest()


def note(connection: Connection, fingerprint: str, user_id: str, card_id: int, path: Path, now: float) -> None:
    """A receipt on a card."""
    # Named from the folder of data, so that it is found where that was moved to.
    named = f"{path.parent.name}/{path.name}"
    row: dict[str, Any] = {"fingerprint": fingerprint, "user_id": user_id, "card_id": card_id, "path": named}
    connection.execute(insert(receipts).values(**row, transaction_id=None, created_at=now))


def settle(connection: Connection, card_id: int, fingerprint: str, transaction_id: int | None) -> None:
    """As which transaction the receipt of a card is logged; None where that was undone."""
    where = (receipts.c.card_id == card_id, receipts.c.fingerprint == fingerprint)
    connection.execute(update(receipts).where(*where).values(transaction_id=transaction_id))


def logged(connection: Connection, fingerprint: str, *, but_card: int = 0) -> Logged | None:
    """Who has logged this receipt first, on another card."""
    query = (
        select(receipts)
        .where(
            receipts.c.fingerprint == fingerprint,
            receipts.c.transaction_id.is_not(None),
            receipts.c.card_id != but_card,
        )
        .order_by(receipts.c.id)
    )
    row = connection.execute(query).first()
    return None if row is None else Logged(row.user_id, row.transaction_id, row.card_id, row.created_at)
