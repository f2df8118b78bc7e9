"""Answers kept under an Idempotency-Key: the same key and request get the same answer, and nothing happens twice.

Kept for 30 days, for each API key apart, in the transaction of the effect. A refusal is not kept: it had no effect.
"""

from datetime import timedelta

from sqlalchemy import delete, select

from workspace_api.server.errors import Conflict, InvalidRequest
from workspace_api.server.moments import stored
from workspace_api.server.schema import kept_answers
from workspace_api.server.tx import Tx

DAYS = 30
LENGTH = 255


def check_key(key: str | None) -> str | None:
    """The key of the header, if it can be one."""
    if key is None:
        return None
    if not 1 <= len(key) <= LENGTH or not key.isascii() or not key.isprintable():
        raise InvalidRequest(f"Idempotency-Key must be 1 to {LENGTH} printable ASCII characters.")
    return key


def earlier_answer(tx: Tx, key_id: int, key: str, digest: str) -> bytes | None:
    """What was answered to this request before. Raises Conflict where the key stands for another request."""
    table = kept_answers.c
    oldest = stored(tx.moment - timedelta(days=DAYS))
    tx.run(delete(kept_answers).where(table.creation_date < oldest))
    row = tx.row(select(kept_answers).where(table.key_id == key_id, table.idempotency_key == key))
    if row is None:
        return None
    if row["request_hash"] != digest:
        raise Conflict("This Idempotency-Key was used for another request: take a new one.")
    return bytes(row["answer"])


def keep(tx: Tx, key_id: int, key: str, digest: str, answer: bytes) -> None:
    """Keeps the answer beside its effect."""
    tx.connection.execute(
        kept_answers.insert().values(
            key_id=key_id, idempotency_key=key, request_hash=digest, answer=answer, creation_date=tx.now
        )
    )
