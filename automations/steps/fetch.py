"""The one door to other hosts: requests to listed hosts, with every way out of the list closed.

url ─► host on the list? ─► resolved once ─► address public? ─► connect to that address ─► redirect? from the start
                                                                                       └─► whole body, within limits

A private or loopback address is taken only where the list names that very address and port. Proxies of the
environment are not used, and certificates are checked against the host's name although the address is connected to.
Only a GET follows redirects, never from https to http; the request's own headers stay with the host they were for.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from automations.errors import AutomationError

SECONDS = 30.0
CONNECT_SECONDS = 10.0
LARGEST_BYTES = 8 * 1024 * 1024
MOST_REDIRECTS = 3
PORTS = {"https": 443, "http": 80}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may be otherwise a moment later."""
CARRIERS = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
"""Networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052) and the old IPv4-compatible form (RFC 4291)."""
ANYWHERE = frozenset({"accept", "accept-language"})
"""Headers that may follow a redirect to another host."""

Resolver = Callable[[str, int], Awaitable[str]]
"""Host and port to one address."""


class NotFetched(AutomationError):
    """There is no answer that could be used; the text says why, without the query of the URL.

    `arrived`: whether the request may have arrived. `passing`: whether it may go better a moment later, not sooner
    than `retry_after` seconds.
    """

    def __init__(
        self, message: str, *, arrived: bool = False, passing: bool = False, retry_after: float | None = None
    ) -> None:
        self.arrived = arrived
        self.passing = passing
        self.retry_after = retry_after
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent. Its headers may hold secrets."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def retry_after(self) -> float | None:
        """Seconds that the other side asks for; a date is read against the answer's own."""
        text = self.headers.get("retry-after", "").strip()
        if text.isdecimal() and len(text) < 10:
            return float(text)
        try:
            wait = parsedate_to_datetime(text) - parsedate_to_datetime(self.headers.get("date", ""))
        except (ValueError, TypeError):
            return None
        return max(wait.total_seconds(), 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query."""

    @property
    def name(self) -> str:
        """`https://host`, with the port where it is not the usual one."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if PORTS[self.scheme] == self.port else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """Host and path, without the query."""
        return self.name + self.path.partition("?")[0]


async def resolve(host: str, port: int) -> str:
    """The first address of a host, by the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return str(found[0][4][0])


def target_of(url: str) -> Target:
    """Where a URL leads. Raises NotFetched for what is no URL, or one that is never asked."""
    shown = url.partition("?")[0][:100]
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise NotFetched(f"{_without_name(shown)!r} is no URL") from None
    host = (parts.hostname or "").rstrip(".").lower()
    if parts.username is not None or parts.password is not None:
        raise NotFetched("a URL with a name or password in it is not fetched")
    if parts.scheme not in PORTS or not host:
        raise NotFetched(f"{_without_name(shown)!r} is no http or https URL")
    return Target(parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def _without_name(url: str) -> str:
    """Without what may be a password before an @."""
    before, at, after = url.rpartition("@")
    return f"{before.partition('//')[0]}//…@{after}" if at else url


def _listed(url: str, hosts: Collection[str]) -> Target:
    target = target_of(url)
    usual = PORTS[target.scheme] == target.port
    exact = f"{target.host}:{target.port}"
    if exact not in hosts and not (target.host in hosts and usual):
        listed = ", ".join(sorted(hosts)) or "none"
        shown = target.host if target.port in PORTS.values() else exact
        raise NotFetched(f"{shown} is not on the list of hosts ({listed})")
    return target


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


async def _address(target: Target, hosts: Collection[str], resolver: Resolver, *, inside: bool) -> str:
    try:
        found = await resolver(target.host, target.port)
    except OSError:
        raise NotFetched(f"{target.host} cannot be resolved", passing=True) from None
    address = ipaddress.ip_address(found.partition("%")[0])
    literal = target.host.strip("[]") == str(address) and f"{target.host}:{target.port}" in hosts
    if not is_public(address) and not literal and not inside:
        raise NotFetched(f"{target.host} resolves to {address}, which is no public address")
    return str(address)


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """The authorities whose certificates count; read once, because reading them takes longer than most answers."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)


async def _exchange(request: Request, target: Target, address: str, largest: int) -> Answer:
    """Sends a request to that address alone."""
    import httpx

    shown = f"[{address}]" if ":" in address else address
    headers = {"User-Agent": "workspace-assistant", **request.headers}
    # identity: a small answer cannot unfold into a large one.
    headers |= {"Host": target.authority, "Accept-Encoding": "identity"}
    extensions = {"sni_hostname": target.host}
    limits = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(verify=_trusted(), trust_env=False, follow_redirects=False, timeout=limits) as client:
        url = f"{target.scheme}://{shown}:{target.port}{target.path}"
        async with client.stream(
            request.method, url, headers=headers, content=request.body, extensions=extensions
        ) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NotFetched(f"{target.name} answered in a packed form that was not asked for", arrived=True)
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > largest:
                    raise NotFetched(f"{target.name} answered more than {largest // 1024 // 1024} MB", arrived=True)
            return Answer(response.status_code, dict(response.headers), bytes(body))


async def _asked(request: Request, target: Target, address: str, largest: int) -> Answer:
    """The same, with the library's errors told apart by whether the request may have arrived."""
    import httpx

    try:
        return await _exchange(request, target, address, largest)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        # Nothing is written before a connection stands, its encryption included.
        raise NotFetched(f"{target.host} cannot be reached: {type(error).__name__}", passing=True) from None
    except (httpx.InvalidURL, httpx.LocalProtocolError, httpx.UnsupportedProtocol):
        raise NotFetched(f"a request to {target.host} has a form that HTTP does not allow") from None
    except httpx.HTTPError as error:
        told = f"{target.host} cannot be read: {type(error).__name__}"
        raise NotFetched(told, arrived=True, passing=True) from None


def onward(request: Request, target: Target, location: str) -> Request:
    """The request that a redirect asks for. Raises NotFetched where it leads from https to http, or to no URL."""
    try:
        url = urljoin(request.url, location)
    except ValueError:
        raise NotFetched(f"{target.name} sends on to what is no URL", arrived=True) from None
    if target.scheme == "https" and not url.startswith("https:"):
        raise NotFetched(f"{target.name} sends on to an address without https", arrived=True)
    try:
        same = target_of(url).name == target.name
    except NotFetched as error:
        raise NotFetched(f"{target.name} sends on, and {error}", arrived=True) from None
    headers = {name: value for name, value in request.headers.items() if same or name.lower() in ANYWHERE}
    return replace(request, url=url, headers=headers)


async def send(
    request: Request,
    hosts: Collection[str],
    *,
    resolver: Resolver = resolve,
    seconds: float = SECONDS,
    largest: int = LARGEST_BYTES,
    inside: bool = False,
) -> Answer:
    """The answer to a request, whatever its status. Raises NotFetched.

    A redirect of a GET is followed; of others it is the answer. `inside`: the host may be in the house's own network,
    because whoever runs this has written the address, and no file of an automation.
    """
    host = ""
    sending = False
    try:
        async with asyncio.timeout(seconds):
            for _ in range(MOST_REDIRECTS + 1):
                target = _listed(request.url, hosts)
                host = target.host
                address = await _address(target, hosts, resolver, inside=inside)
                sending = True
                answer = await _asked(request, target, address, largest)
                location = answer.headers.get("location")
                if location is None or answer.status not in REDIRECTS or request.method != "GET":
                    return answer
                request = onward(request, target, location)
    except TimeoutError:
        raise NotFetched(f"{host} took longer than {seconds:g} s", arrived=sending, passing=True) from None
    raise NotFetched(f"{host} redirects more than {MOST_REDIRECTS} times", arrived=True)


async def fetch(url: str, hosts: Collection[str], *, resolver: Resolver = resolve, seconds: float = SECONDS) -> bytes:
    """The body of a document. Raises NotFetched."""
    answer = await send(Request(url), hosts, resolver=resolver, seconds=seconds)
    if answer.status != 200:
        told = f"{target_of(url).name} answered {answer.status}"
        raise NotFetched(told, arrived=True, passing=answer.status in PASSING, retry_after=answer.retry_after)
    return answer.body
