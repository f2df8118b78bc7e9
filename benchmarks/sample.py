"""Requests as a workspace answers them: about 1.4 kB of JSON each, with two steps of history."""

import json
from typing import Any


def request_row(number: int) -> dict[str, Any]:
    """One request, all documented fields filled as they mostly are."""
    history = [
        {
            "id": number * 2 + step,
            "request_id": number,
            "author_id": "anna" if step else "clara",
            "author_block_id": 7 + step,
            "type": "accept" if step else "create",
            "text": "",
            "creation_date": f"2026-11-0{step + 1} 10:00:00",
        }
        for step in range(2)
    ]
    flags = ("can_accept", "can_accept_final", "can_edit", "can_paid", "can_progress", "can_reject", "can_remove")
    return {
        "id": number,
        "user_final_accept_block": 3,
        "required_accept": [5, 2, 3],
        "rejected_block": [5, 2, 3],
        "progressed_blocks": [5, 2, 3],
        "need_accept": [2, 3],
        "is_current_user_rejected": False,
        "is_need_accept_next": True,
        "history": history,
        **{flag: place % 2 == 0 for place, flag in enumerate(flags)},
        "finplan": "2026-11-01",
        "sum": 12_000 + number,
        "sum_paid": 0,
        "currency_code": "EUR",
        "name": f"Laser level for crew {number}",
        "type": 14,
        "problem": "The old level drifts by four millimetres over ten metres, and the crew has to check twice.",
        "solution": "Buy a new one from the usual supplier, with a warranty of two years.",
        "economic_justification": "Saves two people an hour a day.",
        "status": "progress",
        "author_id": "clara",
        "author_block_id": 17,
        "last_accept_users": [],
        "last_accept_user_id": "boris",
        "last_accept_block_id": 5,
        "reject_user_id": None,
        "reject_block_id": None,
        "reject_text": None,
        "modification_date": "2026-11-02 10:00:00",
        "creation_date": "2026-11-01 10:00:00",
        "files": [],
    }


def answer_body(rows: int) -> bytes:
    """The answer of `finplan.request.list` with so many requests."""
    return json.dumps({"status": "success", "data": [request_row(number) for number in range(rows)]}).encode()
