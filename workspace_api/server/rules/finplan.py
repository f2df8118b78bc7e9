"""The rules of spending requests, as functions over values.

```
progress ──accept (each block of the chain in turn)──► … ──last one, or accept_final──► accept ──pay…──► paid
    │  └──progress (return to work)──► progress, round closed ──author saves──► progress, chain anew
    └──reject (with a text)──► reject
```
Each `can_*` flag is the very function that enforces it: a function `why_not_*` answers None where the viewer may, else
the refusal, and the flag is its absence. Source: part 1, §2.4 and §4.3; the help texts for what these leave open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workspace_api.server.errors import ApiError, Conflict, InvalidRequest, PermissionDenied
from workspace_api.server.rules.access import Viewer, is_finance
from workspace_api.server.rules.structure import Structure

Review = Literal["accept", "accept_final", "reject", "progress"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Who approves after the line of management, in order, and which blocks stand in no chain."""

    manager_blocks: tuple[int, ...] = ()
    skip_blocks: tuple[int, ...] = ()

    @property
    def final_block(self) -> int | None:
        """The block of the final acceptance, and of the payers."""
        return self.manager_blocks[-1] if self.manager_blocks else None


@dataclass(frozen=True, slots=True)
class RequestState:
    """What the rules look at of a request. `chain` and `accepted` belong to the round that runs while `is_open`."""

    id: int
    author_id: str
    author_block_id: int
    status: str
    sum: int
    sum_paid: int
    chain: tuple[int, ...]
    accepted: tuple[int, ...]
    final_block_id: int | None
    is_open: bool


def review_chain(author_id: str, author_block: int, structure: Structure, settings: Settings) -> tuple[int, ...]:
    """The blocks that approve, in order: the line of management from the author's block up, then the manager blocks.

    Skipped blocks drop out, and those that nobody but the author could act for; a block that stands in both approves
    once, the author's own never.
    """
    candidates = (*structure.above(author_block), *settings.manager_blocks)
    left_out = {author_block, *settings.skip_blocks}
    return tuple(dict.fromkeys(b for b in candidates if b not in left_out and _can_act(b, author_id, structure)))


def _can_act(block: int, author_id: str, structure: Structure) -> bool:
    """Somebody active holds the block who is not the author: nobody approves their own request."""
    return bool(structure.holders.get(block, frozenset()) - {author_id})


def final_block(chain: Sequence[int], settings: Settings) -> int | None:
    """The block that may accept finally at once: the last manager block, where it stands in the chain.

    None where it does not (it is the author's own, or vacant): then the last of the chain gives the final acceptance,
    in its turn.
    """
    return settings.final_block if settings.final_block in chain else None


def need_accept(request: RequestState, structure: Structure) -> tuple[int, ...]:
    """The blocks whose approval is still needed, in the chain's order; blocks that fell vacant meanwhile drop out."""
    if request.status != "progress" or not request.is_open:
        return ()
    return tuple(b for b in request.chain if b not in request.accepted and _can_act(b, request.author_id, structure))


def _not_running(request: RequestState, structure: Structure) -> ApiError | None:
    if request.status != "progress":
        return Conflict(f"Request {request.id} is no longer under review: its status is {request.status}.")
    if not need_accept(request, structure):
        return Conflict(f"Request {request.id} waits for its author to save it; its approval starts anew then.")
    return None


def acting_block(
    request: RequestState, review: Review, viewer: Viewer, structure: Structure, block_id: int | None = None
) -> int | ApiError:
    """The block in whose name the viewer may do this, or why they may not. `block_id` is the one the viewer names."""
    stopped = _not_running(request, structure)
    if stopped is not None:
        return stopped
    if viewer.user_id == request.author_id:
        return PermissionDenied("Nobody reviews their own request.")
    mine = structure.blocks_of(viewer.user_id)
    if block_id is not None and block_id not in mine:
        return PermissionDenied(f"You do not hold block {block_id}.")
    asked = mine if block_id is None else (block_id,)
    waiting = need_accept(request, structure)
    if review == "accept":
        able = [b for b in waiting[:1] if b in asked]
    elif review == "accept_final":
        able = [b for b in _final_now(request, waiting) if b in asked]
    else:
        able = [b for b in waiting if b in asked]
    if able:
        return able[0]
    done = [b for b in asked if b in request.accepted]
    if done and review == "accept":
        return Conflict(f"Block {done[0]} has accepted request {request.id} already.")
    if review == "accept_final":
        return PermissionDenied(
            f"The final acceptance of request {request.id} belongs to block {shown_final_block(request)}."
        )
    return PermissionDenied(f"Request {request.id} waits for block {waiting[0]}, which you do not hold.")


def _final_now(request: RequestState, waiting: Sequence[int]) -> Sequence[int]:
    """Who may accept finally now: the final block at once, without waiting; else the last one left, in its turn."""
    final = request.final_block_id
    if final is None:
        return waiting if len(waiting) == 1 else ()
    return (final,) if final in waiting or final in request.accepted else ()


def shown_final_block(request: RequestState) -> int | None:
    """The block that stands last: what the record calls `user_final_accept_block`."""
    return request.final_block_id or (request.chain[-1] if request.chain else None)


def why_not_review(
    request: RequestState, review: Review, viewer: Viewer, structure: Structure, block_id: int | None = None
) -> ApiError | None:
    """None where the viewer may."""
    able = acting_block(request, review, viewer, structure, block_id)
    return able if isinstance(able, ApiError) else None


def may_edit_at_all(request: RequestState, viewer: Viewer, structure: Structure) -> bool:
    """The author, and whoever stands over the author's block."""
    return viewer.user_id == request.author_id or structure.is_above(viewer.user_id, request.author_block_id)


def why_not_edit(request: RequestState, viewer: Viewer, structure: Structure) -> ApiError | None:
    """The author and their superiors, as long as the request is in progress."""
    if not may_edit_at_all(request, viewer, structure):
        return PermissionDenied(f"Request {request.id} is edited by its author and their superiors.")
    if request.status != "progress":
        return Conflict(f"Request {request.id} can no longer be edited: its status is {request.status}.")
    return None


def why_not_remove(request: RequestState, viewer: Viewer, structure: Structure) -> ApiError | None:
    """Who may edit, as long as no money is promised: in progress or rejected."""
    if not may_edit_at_all(request, viewer, structure):
        return PermissionDenied(f"Request {request.id} is removed by its author and their superiors.")
    if request.status not in {"progress", "reject"}:
        return Conflict(f"Request {request.id} can no longer be removed: its status is {request.status}.")
    return None


def why_not_pay(
    request: RequestState, viewer: Viewer, structure: Structure, settings: Settings, amount: int = 1
) -> ApiError | None:
    """Finance, while the request is accepted, never more than what is left."""
    if not is_finance(viewer, settings.final_block, structure):
        return PermissionDenied("Requests are paid by finance: the block of the final acceptance and those under it.")
    if request.status == "paid":
        return Conflict(f"Request {request.id} is paid already.")
    if request.status != "accept":
        return Conflict(f"Request {request.id} cannot be paid: its status is {request.status}, not accept.")
    left = request.sum - request.sum_paid
    if amount > left:
        return Conflict(f"Request {request.id} has {left} left to pay, less than {amount}.")
    return None


def why_not_see(request: RequestState, viewer: Viewer, structure: Structure, settings: Settings) -> ApiError | None:
    """The author, their superiors, who stands in the chain, finance."""
    mine = structure.blocks_of(viewer.user_id)
    if (
        viewer.user_id == request.author_id
        or is_finance(viewer, settings.final_block, structure)
        or any(block in request.chain for block in mine)
        or structure.is_above(viewer.user_id, request.author_block_id)
        or structure.is_superior(viewer.user_id, request.author_id)
    ):
        return None
    return PermissionDenied(f"Request {request.id} is not yours to see.")


def payment(request: RequestState, full: bool | None, amount: int | None) -> int:
    """How much a call to pay means. Raises InvalidRequest where it means nothing or two things."""
    left = request.sum - request.sum_paid
    if full:
        if amount is not None and amount != left:
            raise InvalidRequest(f"full_payment means {left}, payment_sum says {amount}: send one of the two.")
        return left
    if amount is None:
        raise InvalidRequest("Say how much: full_payment true, or payment_sum.")
    if amount <= 0:
        raise InvalidRequest("payment_sum must be above zero.")
    return amount


@dataclass(frozen=True, slots=True)
class AfterReview:
    """What a review makes of the request."""

    status: str
    accepted: tuple[int, ...]
    is_open: bool


def after_review(request: RequestState, review: Review, block: int, structure: Structure) -> AfterReview:
    """The state after an allowed review in the name of `block`."""
    if review == "reject":
        return AfterReview("reject", request.accepted, is_open=False)
    if review == "progress":
        return AfterReview("progress", (), is_open=False)
    accepted = tuple(dict.fromkeys((*request.accepted, block)))
    waiting = [b for b in need_accept(request, structure) if b != block]
    if review == "accept_final" or not waiting:
        return AfterReview("accept", accepted, is_open=False)
    return AfterReview("progress", accepted, is_open=True)
