"""What a request brings: its form, the address to go back to, and its own address without what only comes along."""

import asyncio
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import ClientDisconnect, Request

BODY_LIMIT = 64_000
BODY_SECONDS = 15.0


def without(request: Request) -> str:
    """The address that was asked for, without what only comes along."""
    pairs = [(key, value) for key, value in request.query_params.items() if key not in {"token", "lang", "said"}]
    return request.url.path + (f"?{urlencode(pairs)}" if pairs else "")


def local(address: str) -> str:
    """An address of this page; its first page for any other."""
    parts = urlsplit(address) if address.isprintable() else urlsplit("/")
    ours = address.startswith("/") and not address.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return address if ours else "/"


async def form_of(request: Request) -> Mapping[str, str]:
    """The fields of a form; none where it is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > BODY_LIMIT:
                    return {}
    except (TimeoutError, ClientDisconnect):
        return {}
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError:
        return {}
