"""Whose turn a request is, since when, and who approved it before. Values in, values out.

A request climbs the line of management from its author's block up, then the manager blocks (field notes, financial
planning); a workspace may hand the blocks out in another order, so the line is read from the structure.

history:  create ── accept (10) ── accept (2) ──────────────► now
steps:    10 done   2 done         1 next, waits since the last accept       4 later
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workspace_api.contract.finplan import Request, RequestHistory

Standing = Literal["done", "next", "later", "rejected", "spared"]
"""`spared`: was never asked, since the round ended without it."""

APPROVALS = ("accept", "accept_final")

REVIEWS = (*APPROVALS, "reject", "progress")


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the chain. `since`: when its turn began; `at`: when it decided, and `by` whom (a user id)."""

    block: int
    standing: Standing
    since: datetime | None = None
    at: datetime | None = None
    by: str | None = None


def ordered(request: Request, parents: Mapping[int, int | None]) -> list[int]:
    """The blocks that approve, in their order: the author's line upwards, then the others, the final one last."""
    required = list(dict.fromkeys(request.required_accept or request.need_accept or []))
    line = [block for block in above(request.author_block_id, parents) if block in required]
    final = request.user_final_accept_block
    rest = [block for block in required if block not in line]
    return [*line, *sorted(rest, key=lambda block: block == final)]


def above(block: int | None, parents: Mapping[int, int | None]) -> list[int]:
    """The blocks over this one, nearest first; ends where a damaged tree turns in a circle."""
    found: list[int] = []
    current = parents.get(block) if block is not None else None
    while current is not None and current not in found and current != block:
        found.append(current)
        current = parents.get(current)
    return found


def next_block(request: Request, parents: Mapping[int, int | None]) -> int | None:
    """The block whose turn it is; None where the round is over, or the request is back with its author."""
    if request.status != "progress":
        return None
    need = request.need_accept or []
    return next((block for block in ordered(request, parents) if block in need), None)


def returned(request: Request) -> bool:
    """Whether it is back with its author, who has to save it."""
    return request.status == "progress" and not request.need_accept


def this_round(request: Request) -> list[RequestHistory]:
    """The entries of the round that runs or ran last, with the one that began it.

    A round begins with the creation, and with the save after a return to work. A changed sum begins one too, which
    shows in that somebody who had approved is asked again.
    """
    history, need = request.history or [], request.need_accept or []
    begin, anew = 0, False
    for place, entry in enumerate(history):
        if entry.type in {"create", "copy"} or (anew and entry.type == "save"):
            begin, anew = place, False
        elif entry.type == "progress" or (entry.type in APPROVALS and entry.author_block_id in need):
            anew = True
    return list(history[begin:])


def steps(request: Request, parents: Mapping[int, int | None]) -> list[Step]:
    """The chain as it stands."""
    blocks = ordered(request, parents)
    entries = this_round(request)
    need = request.need_accept or []
    began = entries[0].creation_date if entries else request.creation_date
    approvals = {e.author_block_id: e for e in entries if e.type in APPROVALS and e.author_block_id not in need}
    found: list[Step] = []
    for block in sorted(blocks, key=lambda block: block in need):
        entry = approvals.get(block)
        if entry is not None:
            found.append(Step(block, "done", began, entry.creation_date, entry.author_id))
            began = entry.creation_date or began
        elif request.status == "reject" and block == request.reject_block_id:
            found.append(Step(block, "rejected", began, None, request.reject_user_id))
        elif block not in need:
            # Approved before the history began, or never asked: a final acceptance does not wait for the rest.
            found.append(Step(block, "done" if request.status == "progress" and need else "spared"))
        elif request.status == "progress" and all(step.standing != "next" for step in found):
            found.append(Step(block, "next", began))
        else:
            found.append(Step(block, "later"))
    return found


def reviewers(request: Request) -> list[str]:
    """Who has decided something about it in this round, as user ids: approved, rejected or returned it."""
    return list(dict.fromkeys(e.author_id for e in this_round(request) if e.type in REVIEWS and e.author_id))
