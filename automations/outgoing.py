"""Requests to addresses that the operator has set: webhooks of notices, the heartbeat.

They go through the one door to other hosts, with the address's own host as the only one on the list; it may be in the
house's own network.
"""

import json
from collections.abc import Mapping
from typing import Any

from automations.notices import NotDelivered
from automations.steps.fetch import NotFetched, Request, send, target_of

SECONDS = 20.0
LARGEST_BYTES = 64 * 1024


async def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Posts JSON. Raises NotDelivered unless it was taken (2xx); redirects are not followed."""
    data = json.dumps(body, ensure_ascii=False).encode()
    await _asked(Request(url, "POST", {"Content-Type": "application/json", **headers}, data))


async def get(url: str) -> None:
    """Asks for an address. Raises NotDelivered unless it answers well."""
    await _asked(Request(url))


async def _asked(request: Request) -> None:
    try:
        target = target_of(request.url)
        hosts = {f"{target.host}:{target.port}"}
        answer = await send(request, hosts, seconds=SECONDS, largest=LARGEST_BYTES, inside=True)
    except NotFetched as error:
        raise NotDelivered(str(error)) from None
    if not 200 <= answer.status < 300:
        # The path of such an address is often its secret.
        raise NotDelivered(f"{target.name} answered {answer.status}")
