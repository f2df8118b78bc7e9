"""Requests of a company file, played through the real rules on their past days: state, chain and history agree."""

from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from workspace_api.contract.finplan import PayRequest, ReviewRequests, SaveRequest
from workspace_api.server import finplan
from workspace_api.server.company_shape import RequestPart, StepPart, Text
from workspace_api.server.errors import ApiError
from workspace_api.server.finplan_records import find
from workspace_api.server.rules.access import Viewer
from workspace_api.server.rules.finplan import Review
from workspace_api.server.tx import Tx

STATUS = {"progress": "progress", "returned": "progress", "accept": "accept", "partly_paid": "accept"}
"""State of a file → status of the record, where the two words differ or a state means more."""


class Calendar(Protocol):
    """What a replay asks of the file's calendar."""

    def moment(self, text: str) -> datetime: ...

    def month(self, text: str) -> str: ...

    def words(self, text: Text | None) -> str: ...


def replay(connection: Connection, part: RequestPart, calendar: Calendar) -> None:
    """Creates the request and takes its steps. Raises ValueError where the rules refuse, or another state comes out."""

    def at(moment: str) -> Tx:
        return Tx(connection, calendar.moment(moment))

    def review(step: StepPart, kind: Review, text: Text = "") -> None:
        params = ReviewRequests(request_ids=[part.id], review_type=kind, reject_text=calendar.words(text))
        finplan.review(at(step.date), Viewer(step.user_id), params)

    words = SaveRequest(
        author_block_id=part.author_block_id,
        name=calendar.words(part.name),
        problem=calendar.words(part.problem),
        solution=calendar.words(part.solution),
        economic_justification=calendar.words(part.economic_justification),
        finplan=calendar.month(part.finplan),
        sum=part.sum,
        type=part.type,
    )
    place = "created"
    try:
        finplan.create(at(part.created), Viewer(part.author_id), words, numbered=part.id)
        accepted = part.state in {"accept", "partly_paid", "paid"}
        for number, step in enumerate(part.approved_by):
            place = f"approved_by[{number}]"
            last = accepted and number == len(part.approved_by) - 1
            review(step, "accept_final" if last else "accept")
        if part.returned_by is not None:
            place = "returned_by"
            review(part.returned_by, "progress", part.text)
        if part.rejected_by is not None:
            place = "rejected_by"
            review(part.rejected_by, "reject", part.reject_text)
        for number, payment in enumerate(part.payments):
            place = f"payments[{number}]"
            paid = PayRequest(request_id=part.id, payment_sum=payment.sum)
            finplan.pay(at(payment.date), Viewer(payment.user_id), paid)
    except ApiError as refusal:
        raise ValueError(f"{place}: {refusal.sentence}") from None
    row = find(at(part.created), part.id)
    due = STATUS.get(part.state, part.state)
    waits_for_author = row["status"] == "progress" and not row["is_open"]
    if row["status"] != due or waits_for_author != (part.state == "returned"):
        raise ValueError(f"state: {part.state} was written, the steps lead to {row['status']}")
