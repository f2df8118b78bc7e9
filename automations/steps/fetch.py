"""The one door to other hosts: a GET of a listed host, with every way out of the list closed.

url ─► host on the list? ─► resolved once ─► address public? ─► connect to that address ─► redirect? from the start
                                                                                       └─► whole body, within limits

A private or loopback address is taken only where the list names that very address and port. Proxies of the
environment are not used, and certificates are checked against the host's name although the address is connected to.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from automations.errors import AutomationError

SECONDS = 30.0
LARGEST_BYTES = 8 * 1024 * 1024
MOST_REDIRECTS = 3
PORTS = {"https": 443, "http": 80}
CARRIERS = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
"""Networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052) and the old IPv4-compatible form (RFC 4291)."""

Resolver = Callable[[str, int], Awaitable[str]]
"""Host and port to one address."""


class NotFetched(AutomationError):
    """The document was not fetched; the text says why, without the query of the URL."""


@dataclass(frozen=True, slots=True)
class _Target:
    scheme: str
    host: str
    port: int
    path: str

    @property
    def name(self) -> str:
        return f"{self.scheme}://{self.host}{'' if PORTS[self.scheme] == self.port else f':{self.port}'}"


async def resolve(host: str, port: int) -> str:
    """The first address of a host, by the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return str(found[0][4][0])


def _target(url: str, hosts: Collection[str]) -> _Target:
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise NotFetched(f"{url[:100]!r} is no URL") from None
    host = (parts.hostname or "").rstrip(".").lower()
    if parts.scheme not in PORTS or not host:
        raise NotFetched(f"{url[:100]!r} is no http or https URL")
    if parts.username or parts.password:
        raise NotFetched("a URL with a name or password in it is not fetched")
    exact = f"{host}:{port}"
    if exact not in hosts and not (host in hosts and PORTS[parts.scheme] == port):
        listed = ", ".join(sorted(hosts)) or "none"
        raise NotFetched(f"{exact if port not in PORTS.values() else host} is not on the list of hosts ({listed})")
    return _Target(parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is outside. One that carries an IPv4 address (NAT64, …) leads to where that one does.

    6to4 is given up by everybody, and Python's versions differ on it: such an address is none of ours to fetch from.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address.sixtofour is not None or not address.is_global or address.is_multicast:
        return False
    carries = any(address in network for network in CARRIERS)
    return not carries or is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))


async def _address(target: _Target, hosts: Collection[str], resolver: Resolver) -> str:
    try:
        found = await resolver(target.host, target.port)
    except OSError:
        raise NotFetched(f"{target.host} cannot be resolved") from None
    address = ipaddress.ip_address(found.partition("%")[0])
    literal = target.host.strip("[]") == str(address) and f"{target.host}:{target.port}" in hosts
    if not is_public(address) and not literal:
        raise NotFetched(f"{target.host} resolves to {address}, which is no public address")
    return str(address)


async def _get(target: _Target, address: str) -> tuple[int, str | None, bytes]:
    """Status, location, body. Connects to the address alone."""
    import httpx

    shown = f"[{address}]" if ":" in address else address
    headers = {"Host": target.host if PORTS[target.scheme] == target.port else f"{target.host}:{target.port}"}
    extensions = {"sni_hostname": target.host}
    # identity: a small answer cannot unfold into a large one.
    headers |= {"Accept-Encoding": "identity", "User-Agent": "workspace-assistant"}
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=SECONDS) as client:
        url = f"{target.scheme}://{shown}:{target.port}{target.path}"
        async with client.stream("GET", url, headers=headers, extensions=extensions) as response:
            if "content-encoding" in response.headers and response.headers["content-encoding"] != "identity":
                raise NotFetched(f"{target.name} answered in a packed form that was not asked for")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > LARGEST_BYTES:
                    raise NotFetched(f"{target.name} answered more than {LARGEST_BYTES // 1024 // 1024} MB")
            return response.status_code, response.headers.get("location"), bytes(body)


async def fetch(url: str, hosts: Collection[str], *, resolver: Resolver = resolve, seconds: float = SECONDS) -> bytes:
    """The body of a document. Raises NotFetched."""
    import httpx

    try:
        async with asyncio.timeout(seconds):
            for _ in range(MOST_REDIRECTS + 1):
                target = _target(url, hosts)
                status, location, body = await _get(target, await _address(target, hosts, resolver))
                if location is not None and status in {301, 302, 303, 307, 308}:
                    url = urljoin(url, location)
                    if target.scheme == "https" and not url.startswith("https:"):
                        raise NotFetched(f"{target.name} sends on to an address without https")
                elif status == 200:
                    return body
                else:
                    raise NotFetched(f"{target.name} answered {status}")
    except TimeoutError:
        raise NotFetched(f"{urlsplit(url).hostname} took longer than {seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotFetched(f"{urlsplit(url).hostname} cannot be read: {type(error).__name__}") from None
    raise NotFetched(f"{urlsplit(url).hostname} redirects more than {MOST_REDIRECTS} times")
