"""Reading requests: all that one may see, on workspaces that need the planning periods named and on those that do not.

The documents give `request.list` a list of periods and do not say what it answers without one (part 1, §4.3). It is
asked without first; where that answers nothing, the months around today are named.
"""

from datetime import datetime

from workspace_api import AsyncWorkspace
from workspace_api.contract.finplan import Request

BACK, AHEAD = 6, 6
"""Months around today whose requests are looked at where periods have to be named."""


def months(today: datetime, back: int = BACK, ahead: int = AHEAD) -> list[str]:
    """The first days of the months around today, as periods are written."""
    base = today.year * 12 + today.month - 1
    return [f"{number // 12:04d}-{number % 12 + 1:02d}-01" for number in range(base - back, base + ahead + 1)]


async def requests_of(api: AsyncWorkspace, today: datetime) -> list[Request]:
    """All requests that the key's person may see."""
    found = await api.finplan.request.list()
    return found or await api.finplan.request.list(finplans=months(today))


async def request_by_id(api: AsyncWorkspace, request_id: int, finplan: str | None, today: datetime) -> Request | None:
    """One request as the key's person sees it now; there is no operation that reads one alone."""
    found = await api.finplan.request.list(finplans=[finplan]) if finplan else await requests_of(api, today)
    request = next((request for request in found if request.id == request_id), None)
    if request is None and finplan:
        # Its period may have been changed meanwhile.
        return await request_by_id(api, request_id, None, today)
    return request
