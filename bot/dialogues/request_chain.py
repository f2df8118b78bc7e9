"""The chain of a request, live: who has decided and how long it took, whose turn it is and since when.

A round begins when the request is created or copied, when its author saves it after a return, and when a save brings
back a block that had accepted already (its sum was changed). Source: part 1, §2.4; the help texts on the chain.
"""

from dataclasses import dataclass, field
from datetime import datetime

from bot.directory import Directory
from bot.texts import Texts
from bot.working_time import in_words, worked
from workspace_api.contract.finplan import Request

ACCEPTS = ("accept", "accept_final")


@dataclass(frozen=True, slots=True)
class Times:
    """When the turn of a block began and ended. `turn`: since when the next block has its turn."""

    turn: datetime | None = None
    done: dict[int, tuple[datetime, datetime]] = field(default_factory=dict[int, tuple[datetime, datetime]])


def times(request: Request) -> Times:
    """What the history tells of the round that runs."""
    need = set(request.need_accept or [])
    turn, saved = request.creation_date, None
    done: dict[int, tuple[datetime, datetime]] = {}
    for entry in request.history or []:
        at = entry.creation_date
        if at is None:
            continue
        if entry.type in {"create", "copy"} or (entry.type == "save" and turn is None):
            turn, done = at, {}
        elif entry.type == "save":
            saved = at
        elif entry.type in ACCEPTS and turn is not None:
            if entry.author_block_id is not None:
                done[entry.author_block_id] = (turn, at)
            turn = at
        elif entry.type == "progress":
            turn, saved, done = None, None, {}
    if need & set(done) and saved is not None:
        return Times(saved)
    return Times(turn, done)


async def following(directory: Directory, request: Request, viewer: str) -> int | None:
    """The block that decides next; None where the workspace does not keep the order of the chain."""
    need, required = request.need_accept or [], request.required_accept or []
    if request.is_need_accept_next:
        mine = set(await directory.blocks_of(viewer)) & set(need)
        if mine:
            return next(block for block in need if block in mine)
    return first_of(request) if required else None


def first_of(request: Request) -> int | None:
    """The block that decides next, as the order of the chain tells it to everybody."""
    need, required = request.need_accept or [], request.required_accept or []
    if len(need) == 1:
        return need[0]
    # The final block stands last in a chain; where it does not, the order says nothing.
    if request.user_final_accept_block is not None and required[-1:] != [request.user_final_accept_block]:
        return None
    return next((block for block in required if block in need), None)


async def chain(
    texts: Texts, directory: Directory, request: Request, viewer: str, now: datetime
) -> list[dict[str, str]]:
    """Who stands where: done, next, later. Each with `mark`, `position`, `names` and `waited` (in words, or empty)."""
    blocks = await directory.blocks()
    need = request.need_accept or []
    required = request.required_accept or []
    known = times(request)
    steps: list[dict[str, str]] = []
    ordered = [block for block in required if block not in need] + [block for block in required if block in need]
    # Those who have decided stand in the order in which they did.
    ordered.sort(key=lambda block: known.done[block][1].timestamp() if block in known.done else float("inf"))
    next_block = await following(directory, request, viewer)
    for number in ordered:
        holders = await directory.holders(number)
        names = ", ".join([texts.t("you") if holder == viewer else await directory.name(holder) for holder in holders])
        block = blocks.get(number)
        is_next = number == next_block and request.status == "progress"
        waited = ""
        if number in known.done and number not in need:
            waited = in_words(texts, worked(*known.done[number], texts.zone))
        elif is_next and known.turn is not None:
            waited = in_words(texts, worked(known.turn, now, texts.zone))
        position = (block.position or block.name or "") if block else ""
        mark = "👉" if is_next else _mark(request, number, known)
        steps.append({"mark": mark, "position": position, "names": names, "waited": waited})
    return steps


def _mark(request: Request, block: int, known: Times) -> str:
    """Accepted, rejected, or not asked: a block that a final acceptance passed over has accepted nothing."""
    if request.status == "reject" and block == request.reject_block_id:
        return "❌"
    need = request.need_accept or []
    settled = request.status in {"accept", "paid"} or bool(need)
    accepted = block in known.done or (not known.done and settled)
    return "✅" if accepted and block not in need else "▫️"
