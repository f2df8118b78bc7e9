"""The wall around the server: only the own machine, only the own page, and no script but our own.

A Host header that is not a loopback name is refused (DNS rebinding), and so is what another origin's page sends: it
may link to the page itself, and nothing else.
Every answer carries a strict Content-Security-Policy.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = _refusal(scope["path"], Headers(scope=scope))
        if refusal is not None:
            await PlainTextResponse(refusal, 403)(scope, receive, sealed)
            return
        await self._app(scope, receive, sealed)


def _refusal(path: str, headers: Headers) -> str | None:
    host = headers.get("host", "")
    if not is_loopback(urlsplit(f"//{host}").hostname or ""):
        return "Local Telegram answers on this machine only: open it as http://127.0.0.1 or http://localhost."
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return "Local Telegram takes nothing from pages of other origins."
    # A frame or a link of another page would otherwise call the Bot API, whose methods take GET.
    is_link_to_page = (
        path == "/" and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} and not is_link_to_page:
        return "Local Telegram takes nothing from pages of other origins."
    return None
