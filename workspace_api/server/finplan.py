"""finplan: spending requests and the settings of their approval (part 1, §4.3). The rules are in rules/finplan.py.

Every step moves one row by compare-and-set: the row is locked, judged as it stands, changed where it still stands so,
and a line of history is written in the same transaction.
"""

from collections.abc import Mapping

from sqlalchemy import case, select, update

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.finplan import (
    CopyRequests,
    ListRequests,
    PayRequest,
    RemoveRequests,
    ReviewRequests,
    SaveFinplanSettings,
    SaveRequest,
)
from workspace_api.server import finplan_records as records
from workspace_api.server import finplan_settings as settings
from workspace_api.server.errors import Conflict, InvalidRequest, PermissionDenied
from workspace_api.server.fintransaction_categories import usable
from workspace_api.server.json_values import as_id
from workspace_api.server.moments import day
from workspace_api.server.rules import finplan as rules
from workspace_api.server.rules.access import Viewer, may_use_category
from workspace_api.server.rules.money import check_sum
from workspace_api.server.schema import requests
from workspace_api.server.tx import Handler, Row, Tx, dumps, main_currency

MOST_AT_ONCE = 500
"""How many requests one call may name."""


def list_requests(tx: Tx, viewer: Viewer, params: ListRequests) -> list[Row]:
    """The requests of the periods, or of all periods, as far as the viewer may see them; the newest first."""
    query = select(requests).where(requests.c.removal_date.is_(None)).order_by(requests.c.id.desc())
    if params.finplans is not None:
        query = query.where(requests.c.finplan.in_([day(period, "finplans") for period in params.finplans]))
    rows = [
        row
        for row in tx.rows(query)
        if rules.why_not_see(records.state_of(row), viewer, tx.structure, tx.planning) is None
    ]
    return records.answers(tx, rows, viewer)


def review(tx: Tx, viewer: Viewer, params: ReviewRequests) -> list[Row]:
    """Reviews all the requests, or none where one of them refuses."""
    kind = params.review_type
    if kind is None:
        raise InvalidRequest("reviewType is required: accept, accept_final, reject or progress.")
    ids = _ids(params.request_ids, params.id)
    text = (params.reject_text or "").strip()
    if kind == "reject" and not text:
        raise InvalidRequest("Rejecting needs a reason: send rejectText.")
    for request_id in ids:
        _review(tx, viewer, request_id, kind, text, params.block_id)
    return records.answers(tx, [records.find(tx, request_id) for request_id in ids], viewer)


def _review(tx: Tx, viewer: Viewer, request_id: int, kind: rules.Review, text: str, block_id: int | None) -> None:
    row = records.find(tx, request_id, lock=True)
    state = records.state_of(row)
    block = rules.acting_block(state, kind, viewer, tx.structure, block_id)
    if not isinstance(block, int):
        raise block
    after = rules.after_review(state, kind, block, tx.structure)
    values: Row = {
        "status": after.status,
        "accepted": dumps(after.accepted),
        "is_open": after.is_open,
        "modification_date": tx.now,
    }
    if kind in {"accept", "accept_final"}:
        values |= {"last_accept_user_id": viewer.user_id, "last_accept_block_id": block}
    elif kind == "reject":
        values |= {"reject_user_id": viewer.user_id, "reject_block_id": block, "reject_text": text}
    same = (requests.c.status == row["status"]) & (requests.c.accepted == row["accepted"]) & requests.c.is_open
    if tx.run(update(requests).where(requests.c.id == request_id, same).values(**values)) != 1:
        raise Conflict(f"Request {request_id} was reviewed by somebody else at the same moment: read it again.")
    records.note(tx, request_id, viewer, block, kind, text)


def pay(tx: Tx, viewer: Viewer, params: PayRequest) -> bool:
    """Raises `sum_paid`; a payment that reaches `sum` sets `paid`. No transaction is made: no cashbox is named."""
    if params.id is not None and params.request_id is not None and params.id != params.request_id:
        raise InvalidRequest(f"id says {params.id}, request_id says {params.request_id}: name one request.")
    request_id = params.id if params.id is not None else params.request_id
    if request_id is None:
        raise InvalidRequest("Name the request: request_id.")
    state = records.state_of(records.find(tx, request_id, lock=True))
    refusal = rules.why_not_pay(state, viewer, tx.structure, tx.planning)
    if refusal is not None:
        raise refusal
    amount = rules.payment(state, params.full_payment, params.payment_sum)
    refusal = rules.why_not_pay(state, viewer, tx.structure, tx.planning, amount)
    if refusal is not None:
        raise refusal
    table = requests.c
    paid = table.sum_paid + amount
    moved = tx.run(
        update(requests)
        .where(table.id == request_id, table.status == "accept", paid <= table.sum)
        .values(sum_paid=paid, status=case((paid == table.sum, "paid"), else_=table.status), modification_date=tx.now)
    )
    if moved != 1:
        raise Conflict(f"Request {request_id} was paid by somebody else at the same moment: read it again.")
    records.note(tx, request_id, viewer, records.own_block(tx, viewer), "pay", str(amount))
    return True


def save(tx: Tx, viewer: Viewer, params: SaveRequest) -> Row:
    """Creates a request and starts its chain, or changes one in progress.

    `status`, `history` and `can_edit` are taken and left alone. A changed sum or block starts the chain anew, and so
    does the author's save of a request that was returned to work.
    """
    row = create(tx, viewer, params) if params.id is None else _change(tx, viewer, params, params.id)
    return records.answers(tx, [row], viewer)[0]


def create(tx: Tx, viewer: Viewer, params: SaveRequest, *, numbered: int | None = None) -> Row:
    """A new request with its chain. `numbered` gives its id, for a company that is loaded from a file."""
    block = params.author_block_id
    if block is None:
        block = records.own_block(tx, viewer)
    if block is None:
        raise InvalidRequest("You hold no block: a request needs author_block_id.")
    if not (params.name or "").strip():
        raise InvalidRequest("A request needs a name.")
    if params.sum is None:
        raise InvalidRequest("A request needs a sum.")
    values = _written(params)
    values.setdefault("finplan", f"{tx.now[:7]}-01")
    values |= {
        "author_id": viewer.user_id,
        "author_block_id": block,
        "currency_code": main_currency(tx),
        "status": "progress",
        "creation_date": tx.now,
        "modification_date": tx.now,
    }
    _check_block(tx, viewer.user_id, block)
    _check_category(tx, values.get("type"), block)
    values |= records.new_round(tx, viewer.user_id, block)
    if numbered is not None:
        values["id"] = numbered
    request_id = tx.insert(requests, values)
    records.note(tx, request_id, viewer, block, "create", "")
    return records.find(tx, request_id)


def _change(tx: Tx, viewer: Viewer, params: SaveRequest, request_id: int) -> Row:
    row = records.find(tx, request_id, lock=True)
    state = records.state_of(row)
    refusal = rules.why_not_edit(state, viewer, tx.structure)
    if refusal is not None:
        raise refusal
    values = _written(params)
    block = params.author_block_id if params.author_block_id is not None else row["author_block_id"]
    if block != row["author_block_id"]:
        _check_block(tx, row["author_id"], block)
        values["author_block_id"] = block
    if values.get("type", row["type"]) != row["type"] or block != row["author_block_id"]:
        _check_category(tx, values.get("type", row["type"]), block)
    resubmitted = not state.is_open and viewer.user_id == state.author_id
    moved = values.get("sum", row["sum"]) != row["sum"] or block != row["author_block_id"]
    if resubmitted or (moved and state.is_open):
        values |= records.new_round(tx, row["author_id"], block)
    values["modification_date"] = tx.now
    same = (
        (requests.c.status == row["status"])
        & (requests.c.accepted == row["accepted"])
        & (requests.c.modification_date == row["modification_date"])
    )
    if tx.run(update(requests).where(requests.c.id == request_id, same).values(**values)) != 1:
        raise Conflict(f"Request {request_id} was changed by somebody else at the same moment: read it again.")
    records.note(tx, request_id, viewer, records.own_block(tx, viewer), "save", "")
    return records.find(tx, request_id)


def _written(params: SaveRequest) -> Row:
    """The columns that the caller gave; what belongs to the workspace alone is left out."""
    values: Row = {}
    for name in ("name", "problem", "solution", "economic_justification", "sum", "type"):
        value = getattr(params, name)
        if value is not None:
            values[name] = value
    if "name" in values and not values["name"].strip():
        raise InvalidRequest("A request needs a name.")
    if "sum" in values:
        check_sum(values["sum"], "sum")
    if params.finplan is not None:
        values["finplan"] = day(params.finplan, "finplan")
    if params.files is not None:
        values["files"] = dumps(params.files)
    return values


def _check_block(tx: Tx, author_id: str, block: int) -> None:
    if block not in tx.structure.parents:
        raise InvalidRequest(f"There is no block {block}.")
    if block not in tx.structure.blocks_of(author_id) and not tx.structure.is_above(author_id, block):
        raise PermissionDenied(f"Block {block} is neither {author_id}'s own nor under it: a request comes from there.")


def _check_category(tx: Tx, category_id: int | None, block: int) -> None:
    if category_id is None:
        return
    category = usable(tx, category_id, "out")
    if not may_use_category(category["block_id"], (block,), tx.structure):
        raise PermissionDenied(f"Category {category_id} belongs to block {category['block_id']}: not over yours.")


def copy(tx: Tx, viewer: Viewer, params: CopyRequests) -> list[Row]:
    """Copies start clean, in the name of who copies: their block, a chain of its own, nothing approved or paid."""
    if params.finplan is None:
        raise InvalidRequest("Name the period of the copies: finplan, such as 2026-12-01.")
    period = day(params.finplan, "finplan")
    ids = _ids([_id_of(item) for item in params.requests or ()], None)
    made = [_copy(tx, viewer, request_id, period) for request_id in ids]
    return records.answers(tx, made, viewer)


def _id_of(item: Mapping[str, object]) -> int:
    found = as_id(item.get("id"))
    if found is None:
        raise InvalidRequest("Each of requests must be an object with the id of a request.")
    return found


def _copy(tx: Tx, viewer: Viewer, request_id: int, period: str) -> Row:
    row = records.find(tx, request_id)
    refusal = rules.why_not_see(records.state_of(row), viewer, tx.structure, tx.planning)
    if refusal is not None:
        raise refusal
    mine = tx.structure.blocks_of(viewer.user_id)
    if not mine:
        raise PermissionDenied("You hold no block: a copy would have no author's block.")
    block = row["author_block_id"] if row["author_block_id"] in mine else mine[0]
    kept = ("name", "sum", "currency_code", "type", "problem", "solution", "economic_justification", "files")
    _check_category(tx, row["type"], block)
    values = {name: row[name] for name in kept} | {
        "finplan": period,
        "author_id": viewer.user_id,
        "author_block_id": block,
        "status": "progress",
        "creation_date": tx.now,
        "modification_date": tx.now,
        **records.new_round(tx, viewer.user_id, block),
    }
    copy_id = tx.insert(requests, values)
    records.note(tx, copy_id, viewer, block, "copy", f"#{request_id}")
    return records.find(tx, copy_id)


def remove(tx: Tx, viewer: Viewer, params: RemoveRequests) -> bool:
    """Removes all the requests, or none where one of them refuses. They stay in the database, out of sight."""
    for request_id in _ids(params.request_ids, None):
        row = records.find(tx, request_id, lock=True)
        refusal = rules.why_not_remove(records.state_of(row), viewer, tx.structure)
        if refusal is not None:
            raise refusal
        same = requests.c.removal_date.is_(None) & (requests.c.status == row["status"])
        if tx.run(update(requests).where(requests.c.id == request_id, same).values(removal_date=tx.now)) != 1:
            raise Conflict(f"Request {request_id} was changed by somebody else at the same moment: read it again.")
    return True


def _ids(several: list[int] | None, single: int | None) -> list[int]:
    """The requests that a call names, each once, in order. `id` alone names one, beside `requestIds` none."""
    ids = list(dict.fromkeys(several or ()))
    if single is not None and not ids:
        ids = [single]
    elif single is not None and single not in ids:
        raise InvalidRequest(f"id says {single}, which is not among requestIds: leave id out.")
    if not ids:
        raise InvalidRequest("Name at least one request.")
    if len(ids) > MOST_AT_ONCE:
        raise InvalidRequest(f"{len(ids)} requests at once are too many: at most {MOST_AT_ONCE}.")
    return ids


def list_settings(tx: Tx, _viewer: Viewer, _params: NoParams) -> Row:
    """The one settings object."""
    return settings.current(tx)


def save_settings(tx: Tx, viewer: Viewer, params: SaveFinplanSettings) -> bool:
    """Changes what is given. Rounds under way keep the chain that they started with."""
    settings.save(tx, viewer, params)
    return True


HANDLERS: Mapping[str, Handler] = {
    "finplan.request.list": list_requests,
    "finplan.request.review": review,
    "finplan.request.pay": pay,
    "finplan.request.save": save,
    "finplan.request.copy": copy,
    "finplan.request.remove": remove,
    "finplan.settings.list": list_settings,
    "finplan.settings.save": save_settings,
}
