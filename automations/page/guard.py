"""The wall around the page: only hosts that are ours, only forms of our own pages, only our own script.

A Host header that names another host is refused, since a name of somebody else's may lead here (DNS rebinding); an
address of digits cannot, so where the page listens to others too any such address is taken. What changes something
must come from a page of this very origin. Every answer carries a strict Content-Security-Policy.
"""

import ipaddress
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NONCE = "page_nonce"
"""Under which an answer's nonce stands in its scope."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # `no-referrer` would take the Origin from our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def policy(nonce: str) -> str:
    """What the browser may load and run: nothing but what this answer brings."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A host of digits; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a host means this machine alone."""
    found = address(host)
    return host == "localhost" or (found is not None and found.is_loopback)


class Guard:
    """ASGI middleware. `hosts`: the names under which the page is reached, besides this machine's own;
    `addresses`: any address of digits is taken too; `exempt`: lets a request through that shows a token itself."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        addresses: bool,
        new_nonce: Callable[[], str],
        exempt: Callable[[Scope], bool],
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._addresses = addresses
        self._new_nonce = new_nonce
        self._exempt = exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        nonce = scope[NONCE] = self._new_nonce()

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy(nonce)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = None if self._exempt(scope) else self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await PlainTextResponse(refusal, 403)(scope, receive, sealed)
            return
        await self._app(scope, receive, sealed)

    def _is_ours(self, host: str) -> bool:
        return is_loopback(host) or host in self._hosts or (self._addresses and address(host) is not None)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            name = ""
        if not self._is_ours(name):
            return "This page is not served under that name: set WORKSPACE_PAGE_URL to the address that people use."
        if method in {"GET", "HEAD"}:
            return None
        # Browsers send it with every form; what has none comes from no browser that could be held to a page.
        if urlsplit(headers.get("origin", "")).netloc.lower() != host.lower():
            return "This page takes nothing from pages of other origins."
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "This page takes nothing from pages of other origins."
        return None
