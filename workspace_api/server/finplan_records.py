"""Requests between their rows and their records: the state that the rules judge, the record that a viewer gets."""

from collections.abc import Sequence

from sqlalchemy import select

from workspace_api.server.errors import Conflict, NotFound
from workspace_api.server.rules import finplan as rules
from workspace_api.server.rules.access import Viewer
from workspace_api.server.schema import request_history, requests
from workspace_api.server.tx import Row, Tx, dumps, loads


def find(tx: Tx, request_id: int, *, lock: bool = False) -> Row:
    """The row of a request that was not removed."""
    row = tx.one(requests, request_id, "request", lock=lock)
    if row["removal_date"] is not None:
        raise NotFound(f"There is no request {request_id}.")
    return row


def state_of(row: Row) -> rules.RequestState:
    """What the rules look at."""
    return rules.RequestState(
        id=row["id"],
        author_id=row["author_id"],
        author_block_id=row["author_block_id"],
        status=row["status"],
        sum=row["sum"],
        sum_paid=row["sum_paid"],
        chain=tuple(loads(row["chain"])),
        accepted=tuple(loads(row["accepted"])),
        final_block_id=row["final_block_id"],
        is_open=row["is_open"],
    )


def new_round(tx: Tx, author_id: str, block: int) -> Row:
    """The columns of a request whose chain starts now. Raises Conflict where nobody could approve."""
    chain = rules.review_chain(author_id, block, tx.structure, tx.planning)
    if not chain:
        raise Conflict(
            "Nobody could approve this request: no block stands over its author's. Name more manager_blocks in the "
            "planning settings."
        )
    return {
        "chain": dumps(chain),
        "accepted": "[]",
        "final_block_id": rules.final_block(chain, tx.planning),
        "is_open": True,
        "last_accept_user_id": None,
        "last_accept_block_id": None,
    }


def own_block(tx: Tx, viewer: Viewer) -> int | None:
    """The viewer's primary block."""
    mine = tx.structure.blocks_of(viewer.user_id)
    return mine[0] if mine else None


def note(tx: Tx, request_id: int, viewer: Viewer, block: int | None, kind: str, text: str) -> None:
    """Writes a line of history."""
    tx.connection.execute(
        request_history.insert().values(
            request_id=request_id,
            author_id=viewer.user_id,
            author_block_id=block,
            type=kind,
            text=text,
            creation_date=tx.now,
        )
    )


_SHOWN = (
    "id", "finplan", "sum", "sum_paid", "currency_code", "name", "type", "problem", "solution",
    "economic_justification", "status", "author_id", "author_block_id", "last_accept_user_id", "last_accept_block_id",
    "reject_user_id", "reject_block_id", "reject_text", "modification_date", "creation_date",
)  # fmt: skip


def answers(tx: Tx, rows: Sequence[Row], viewer: Viewer) -> list[Row]:
    """The records of the rows, in their order, with the viewer's flags."""
    history: dict[int, list[Row]] = {row["id"]: [] for row in rows}
    for part in range(0, len(rows), 500):
        ids = [row["id"] for row in rows[part : part + 500]]
        lines = select(request_history).where(request_history.c.request_id.in_(ids)).order_by(request_history.c.id)
        for line in tx.rows(lines):
            history[line["request_id"]].append(dict(line))
    return [_answer(tx, row, viewer, history[row["id"]]) for row in rows]


def _answer(tx: Tx, row: Row, viewer: Viewer, history: list[Row]) -> Row:
    state, structure = state_of(row), tx.structure
    waiting = rules.need_accept(state, structure)

    def may(review: rules.Review) -> bool:
        return rules.why_not_review(state, review, viewer, structure) is None

    can_accept = may("accept")
    last = row["last_accept_user_id"]
    return {
        **{name: row[name] for name in _SHOWN},
        "user_final_accept_block": rules.shown_final_block(state),
        "required_accept": list(state.chain),
        "rejected_block": list(waiting),
        "progressed_blocks": list(waiting),
        "need_accept": list(waiting),
        "is_current_user_rejected": row["reject_user_id"] == viewer.user_id,
        "is_need_accept_next": can_accept,
        "history": history,
        "can_accept": can_accept,
        "can_accept_final": may("accept_final"),
        "can_edit": rules.why_not_edit(state, viewer, structure) is None,
        "can_paid": rules.why_not_pay(state, viewer, structure, tx.planning) is None,
        "can_progress": may("progress"),
        "can_reject": may("reject"),
        "can_remove": rules.why_not_remove(state, viewer, structure) is None,
        "last_accept_users": [] if last is None else [last],
        "files": loads(row["files"]),
    }
