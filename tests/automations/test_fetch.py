"""The one door to other hosts: the list, pinned addresses, redirects, limits."""

import asyncio
import ipaddress
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from automations.steps import fetch
from automations.steps.fetch import NotFetched
from tests.automations.world import Bench, TableCaller

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncGenerator[int]:
    """A server on loopback; the handler is given the request's head."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler((await reader.readuntil(b"\r\n\r\n")).decode(), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def answer(body: bytes, status: str = "200 OK", extra: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}Connection: close\r\n\r\n".encode() + body


async def test_a_listed_address_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, with the host's name, and past the environment's proxies."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    heads: list[str] = []

    async def handler(head: str, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        writer.write(answer(b"rates"))

    async with serving(handler) as port:
        url = f"http://127.0.0.1:{port}/a?b=c"
        assert await fetch.fetch(url, {f"127.0.0.1:{port}"}) == b"rates"
        assert f"Host: 127.0.0.1:{port}\r\n" in heads[0]
        assert heads[0].startswith("GET /a?b=c HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.org/x", "example.org is not on the list of hosts (bank.example, localhost:81)"),
        ("https://bank.example:8443/x", "bank.example:8443 is not on the list"),
        ("https://bank.example.evil.org/x", "is not on the list"),
        ("https://bank.example@evil.org/x", "a name or password"),
        ("ftp://bank.example/x", "is no http or https URL"),
        ("file:///etc/passwd", "is no http or https URL"),
        ("bank.example", "is no http or https URL"),
        ("http://[::1", "is no URL"),
        ("http://bank.example:x/", "is no URL"),
        ("http://127.0.0.1/x", "127.0.0.1 is not on the list"),
    ],
)
async def test_what_is_not_on_the_list_is_not_asked(url: str, told: str) -> None:
    """Before anything is resolved."""

    async def resolver(host: str, port: int) -> str:
        raise AssertionError(f"{host}:{port} was resolved")

    with pytest.raises(NotFetched) as caught:
        await fetch.fetch(url, {"bank.example", "localhost:81"}, resolver=resolver)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.5",
        "169.254.169.254",
        "192.168.1.1",
        "::1",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
        "0.0.0.0",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2002:a00:5::1",
        "2002:808:808::1",
        "::7f00:1",
        "::a00:5",
        "224.0.0.1",
        "ff0e::1",
    ],
)
async def test_a_listed_name_at_a_private_address_is_refused(address: str) -> None:
    """A name may be on the list while its address leads inside."""

    async def resolver(_host: str, _port: int) -> str:
        return address

    with pytest.raises(NotFetched, match="no public address"):
        await fetch.fetch("http://bank.example/", {"bank.example"}, resolver=resolver)


@pytest.mark.parametrize("address", ["64:ff9b::808:808", "2a00:1450::1", "8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    """Those that carry a public IPv4 address too."""
    assert fetch.is_public(ipaddress.ip_address(address))


async def test_a_name_for_loopback_needs_the_address_itself() -> None:
    """`localhost:81` on the list does not open 127.0.0.1."""
    with pytest.raises(NotFetched, match="no public address"):
        await fetch.fetch("http://localhost:81/", {"localhost:81"})


async def test_a_name_that_is_not_there() -> None:
    """Said as such."""

    async def resolver(_host: str, _port: int) -> str:
        raise OSError

    with pytest.raises(NotFetched, match=r"bank\.example cannot be resolved"):
        await fetch.fetch("http://bank.example/", {"bank.example"}, resolver=resolver)


async def test_redirects_are_judged_anew() -> None:
    """Within the list they are followed, off the list they end, and not for ever."""

    async def handler(head: str, writer: asyncio.StreamWriter) -> None:
        path = head.split()[1]
        target = {"/in": "/done", "/out": "http://169.254.169.254/", "/loop": "/loop"}.get(path)
        extra = f"Location: {target}\r\n" if target else ""
        writer.write(answer(b"here", "302 Found" if target else "200 OK", extra))

    async with serving(handler) as port:
        root, hosts = f"http://127.0.0.1:{port}", {f"127.0.0.1:{port}"}
        assert await fetch.fetch(f"{root}/in", hosts) == b"here"
        with pytest.raises(NotFetched, match=r"169\.254\.169\.254 is not on the list"):
            await fetch.fetch(f"{root}/out", hosts)
        with pytest.raises(NotFetched, match="redirects more than 3 times"):
            await fetch.fetch(f"{root}/loop", hosts)


async def test_answers_that_are_none() -> None:
    """An error, a packed body, a broken one, one without end."""

    async def handler(head: str, writer: asyncio.StreamWriter) -> None:
        match head.split()[1]:
            case "/error":
                writer.write(answer(b"no", "503 Busy"))
            case "/packed":
                writer.write(answer(b"x", extra="Content-Encoding: gzip\r\n"))
            case "/broken":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            case _:
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                while True:
                    writer.write(b"x" * 1_000_000)
                    await writer.drain()

    async with serving(handler) as port:
        for path, told in [
            ("error", "answered 503"),
            ("packed", "packed form"),
            ("broken", "cannot be read: RemoteProtocolError"),
            ("endless", "answered more than 8 MB"),
        ]:
            with pytest.raises(NotFetched, match=told):
                await fetch.fetch(f"http://127.0.0.1:{port}/{path}", {f"127.0.0.1:{port}"})


async def test_a_drip_ends_at_the_total_deadline() -> None:
    """A server that sends a little now and then does not hold the run."""
    silence = asyncio.Event()

    async def handler(_head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
        await writer.drain()
        await silence.wait()

    async with serving(handler) as port:
        with pytest.raises(NotFetched, match=r"127\.0\.0\.1 took longer than 0\.2 s"):
            await fetch.fetch(f"http://127.0.0.1:{port}/", {f"127.0.0.1:{port}"}, seconds=0.2)
        silence.set()


async def test_rates_from_a_url(bench: Bench[TableCaller]) -> None:
    """The step reads what is published, and refuses what is too old."""
    document = (Path(__file__).parent / "samples" / "cbr-2022-03-15.xml").read_bytes()

    async def handler(head: str, writer: asyncio.StreamWriter) -> None:
        new = document.replace(b"15.03.2022", b"20.11.2026") if "/new" in head else document
        writer.write(answer(new))

    async with serving(handler) as port:
        bench.hosts.add(f"127.0.0.1:{port}")
        text = f"steps: [{{id: r, rates: {{source: cbr, url: 'http://127.0.0.1:{port}/%s', codes: [USD]}}}}]"
        assert (await bench.run(text % "new"))["state"] == "done"
        assert bench.value("r")[0]["date"] == "2026-11-20"
        assert "older than 10d" in (await bench.run(text % "old"))["message"]
