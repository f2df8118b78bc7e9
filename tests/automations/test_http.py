"""`http`: what is sent, what comes back, and what may be sent again, each against a real socket."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from automations.errors import InvalidAutomation, StepFailed
from automations.steps import Given
from automations.steps.fetch import Answer, NotFetched, Request, onward, send, target_of
from automations.steps.http import HttpStep
from automations.steps.pick import picked
from tests.automations.test_fetch import answer
from tests.automations.world import Bench, TableCaller, automation

Replying = Callable[["Heard", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Heard:
    """A request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Host:
    """A server on loopback that reads whole requests, remembers them, and replies as it is told."""

    reply: Replying
    port: int = 0
    heard: list[Heard] = field(default_factory=list[Heard])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (text.partition(":") for text in rest)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.heard.append(Heard(line, headers, body))
            await self.reply(self.heard[-1], writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def host(reply: Replying) -> AsyncGenerator[Host]:
    one = Host(reply)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    async with server:
        one.port = server.sockets[0].getsockname()[1]
        yield one


def saying(body: bytes, status: str = "200 OK", extra: str = "Content-Type: application/json\r\n") -> Replying:
    """A reply that is the same each time."""

    async def reply(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(body, status, extra))

    return reply


async def closing(_heard: Heard, _writer: asyncio.StreamWriter) -> None:
    """Takes the request and says nothing."""


async def sent(bench: Bench[TableCaller], one: Host, keys: str, path: str = "/orders") -> dict[str, Any]:
    """The result of a run with one request to a host."""
    bench.hosts.add(f"127.0.0.1:{one.port}")
    return await bench.run(f'steps: [{{id: x, http: {{url: "http://127.0.0.1:{one.port}{path}", {keys}}}}}]')


async def test_a_get_gives_what_came(bench: Bench[TableCaller]) -> None:
    """Status, a few headers, and the body as what it says it is."""
    extra = "Content-Type: application/json; charset=utf-8\r\nETag: a1\r\nSet-Cookie: s=1\r\n"
    async with host(saying(b'{"items": [{"id": 7, "sum": 1.5}]}', extra=extra)) as one:
        assert await sent(bench, one, "headers: {Accept: application/json}", "/orders?state=new") == {"state": "done"}
    assert bench.value("x") == {
        "status": 200,
        "headers": {"content-type": "application/json; charset=utf-8", "etag": "a1"},
        "body": {"items": [{"id": 7, "sum": 1.5}]},
    }
    assert one.heard[0].line == "GET /orders?state=new HTTP/1.1"
    assert one.heard[0].headers["host"] == f"127.0.0.1:{one.port}"
    assert one.heard[0].headers["accept"] == "application/json"
    assert one.heard[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("keys", "kind", "body"),
    [
        ('json: {a: [1, "{{ 1 + 1 }}"], name: "Отдел"}', "application/json", '{"a": [1, 2], "name": "Отдел"}'),
        ("json: null", "application/json", "null"),
        ('body: "{{ tick.date }}"', "text/plain; charset=utf-8", "2026-11-21"),
        ('form: {a: [1, 2], b: "x & y", c: null}', "application/x-www-form-urlencoded", "a=1&a=2&b=x+%26+y"),
        ("headers: {content-type: text/csv}, body: 'a;b'", "text/csv", "a;b"),
    ],
)  # fmt: skip
async def test_bodies(bench: Bench[TableCaller], keys: str, kind: str, body: str) -> None:
    """Each form has its type; one that the file names stands."""
    async with host(saying(b"{}", "201 Created")) as one:
        assert await sent(bench, one, f"method: POST, {keys}") == {"state": "done"}
    assert one.heard[0].line == "POST /orders HTTP/1.1"
    assert one.heard[0].headers["content-type"] == kind
    assert one.heard[0].body.decode() == body
    assert "idempotency-key" not in one.heard[0].headers


@pytest.mark.parametrize(
    ("expect", "kind", "body", "value"),
    [
        ("", "application/json", b"", None),
        ("", "application/problem+json", b"[1]", [1]),
        ("", "text/plain; charset=windows-1251", "да".encode("cp1251"), "да"),
        ("", "text/plain; charset=idna", b"a\xff", "a\ufffd"),
        ("expect: json", "text/html", b'{"a": 1}', {"a": 1}),
        ("expect: text", "application/json", b'{"a": 1}', '{"a": 1}'),
        ("pick: 'a[?b].{id: id}'", "application/json", b'{"a": [{"id": 1, "b": true}, {"id": 2}]}', [{"id": 1}]),
        ("pick: nothing.here", "application/json", b"{}", None),
    ],
)  # fmt: skip
async def test_what_a_body_is(bench: Bench[TableCaller], expect: str, kind: str, body: bytes, value: Any) -> None:
    """By its type, or as the file says, and the part that is wanted."""
    async with host(saying(body, extra=f"Content-Type: {kind}\r\n")) as one:
        assert await sent(bench, one, expect) == {"state": "done"}
    assert bench.value("x")["body"] == value


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>", "its body is no JSON: Expecting value in line 1, column 1"),
        (b'{"a": NaN}', "its body holds NaN, which is no number"),
        (b'{"a": 1e999}', "its body holds 1e999, which is no number"),
        (b"1" * 5000, "its body holds a number that is too long"),
        (b"[" * 100_000, "its body is nested deeper than 100 levels"),
        (b"[" * 150 + b"]" * 150, "its body is nested deeper than 100 levels"),
        (b'"\\ud800"', "its body holds half a character (a lone surrogate)"),
        (b"\xff", "its body line 1 is not UTF-8"),
    ],
)
async def test_bodies_that_are_no_json(bench: Bench[TableCaller], body: bytes, told: str) -> None:
    """A read fails; a creation that answered so may have happened, and stops the run."""
    async with host(saying(body)) as one:
        result = await sent(bench, one, "")
        assert (result["state"], told in result["message"]) == ("failed", True), result
        result = await sent(bench, one, "method: POST")
        assert (result["state"], told in result["message"]) == ("stopped", True), result


async def test_an_idempotent_request_has_one_key(bench: Bench[TableCaller]) -> None:
    """The same at each try of this step of this run; then it is tried again as a read is."""
    replies = [closing, saying(b"{}", "503 Busy"), saying(b"{}")]

    async def reply(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await replies.pop(0)(heard, writer)

    async with host(reply) as one:
        assert await sent(bench, one, "method: POST, json: {a: 1}, idempotent: true") == {"state": "done"}
    keys = [heard.headers["idempotency-key"] for heard in one.heard]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len(keys[0]) == 40


LOST: dict[str, Replying] = {
    "the connection is closed": closing,
    "half an answer": lambda _heard, writer: _write(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    "no HTTP": lambda _heard, writer: _write(writer, b"hello\r\n\r\n"),
    "packed": saying(b"x", extra="Content-Encoding: gzip\r\n"),
    "an error of the server": saying(b"no", "502 Bad Gateway", ""),
    "a redirect": saying(b"", "307 Temporary Redirect", "Location: /elsewhere\r\n"),
    "another good status": saying(b"", "202 Accepted", ""),
}


async def _write(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(content)


@pytest.mark.parametrize("name", LOST)
async def test_a_lost_answer_stops_the_run(bench: Bench[TableCaller], name: str) -> None:
    """Whatever became of the answer: the request went out once, and is not sent again."""
    async with host(LOST[name]) as one:
        result = await sent(bench, one, "method: POST, status: [200, 201], json: {a: 1}", "/pay?token=abc")
    assert result["state"] == "stopped"
    assert f"POST http://127.0.0.1:{one.port}/pay may have gone through (" in result["message"]
    assert "abc" not in result["message"]
    assert len(one.heard) == 1


@pytest.mark.parametrize("name", ["the connection is closed", "half an answer", "an error of the server"])
async def test_a_read_is_tried_again(bench: Bench[TableCaller], name: str) -> None:
    """Four times, and then it fails."""
    async with host(LOST[name]) as one:
        result = await sent(bench, one, "method: GET")
    assert result["state"] == "failed"
    assert "(tried 4 times)" in result["message"]
    assert len(one.heard) == 4


async def test_nobody_there_is_not_sent(bench: Bench[TableCaller]) -> None:
    """A refused connection: nothing has left, so that a creation is tried again too."""
    async with host(closing) as one:
        pass
    result = await sent(bench, one, "method: POST, json: {}")
    assert result["state"] == "failed"
    assert "127.0.0.1 cannot be reached: ConnectError (tried 4 times)" in result["message"]
    assert len(bench.waits) == 3


@pytest.mark.parametrize(("status", "tries"), [("404 Not Found", 1), ("409 Conflict", 1), ("429 Too Many", 4)])
async def test_a_refusal_is_told(bench: Bench[TableCaller], status: str, tries: int) -> None:
    """With what it says; a creation is not repeated, and has not happened."""
    extra = "Content-Type: application/json\r\nRetry-After: 7\r\n"
    async with host(saying(b'{"error": "no such\\u0000 order"}', status, extra)) as one:
        result = await sent(bench, one, "method: POST")
        assert result["state"] == "failed"
        assert f'/orders answered {status[:3]}: {{"error": "no such\\u0000 order"}}' in result["message"]
        assert len(one.heard) == 1
        await sent(bench, one, "method: PUT, idempotent: true")
    assert len(one.heard) == 1 + tries
    assert bench.waits == [7.0] * (tries - 1) or min(bench.waits, default=7.0) >= 7.0


@pytest.mark.parametrize(
    ("retry", "date", "seconds"),
    [
        ("7", "", 7.0),
        ("Sat, 21 Nov 2026 02:00:30 GMT", "Sat, 21 Nov 2026 02:00:00 GMT", 30.0),
        ("Sat, 21 Nov 2026 01:00:00 GMT", "Sat, 21 Nov 2026 02:00:00 GMT", 0.0),
        ("Sat, 21 Nov 2026 02:00:30 GMT", "", None),
        ("soon", "", None),
        ("9" * 400, "", None),
        ("-5", "", None),
    ],
)
def test_retry_after(retry: str, date: str, seconds: float | None) -> None:
    """Seconds, or a date against the answer's own; what is neither is nothing."""
    assert Answer(429, {"retry-after": retry, "date": date}, b"").retry_after == seconds


async def test_a_creation_that_was_under_way_is_not_sent_again(bench: Bench[TableCaller]) -> None:
    """The process died in the middle of it: the run stops and asks."""
    async with host(saying(b"{}")) as one:
        await sent(bench, one, "method: POST")
        text = f'steps: [{{id: x, http: {{url: "http://127.0.0.1:{one.port}/orders", method: POST}}}}]'
        result = await bench.run(text, bench.journal.after(1))
        assert result["state"] == "stopped"
        assert "the runner was stopped while it was under way" in result["message"]
        assert len(one.heard) == 1


async def test_redirects_of_a_get(bench: Bench[TableCaller]) -> None:
    """Followed within the list; the file's own headers stay with the host they were for."""
    async with host(saying(b"{}")) as other:

        async def reply(heard: Heard, writer: asyncio.StreamWriter) -> None:
            path = heard.line.split()[1]
            to = {"/here": "/there", "/away": f"http://127.0.0.1:{other.port}/", "/meta": "http://169.254.169.254/"}
            extra = f"Location: {to[path]}\r\n" if path in to else ""
            writer.write(answer(b"", "302 Found" if extra else "200 OK", extra))

        async with host(reply) as one:
            bench.hosts.add(f"127.0.0.1:{other.port}")
            keys = 'headers: {X-Api-Key: "{{ vars.k }}", Accept: text/plain}'
            for path in ("/here", "/away", "/meta", "/name"):
                bench.hosts.add(f"127.0.0.1:{one.port}")
                url = f"http://127.0.0.1:{one.port}{path}"
                result = await bench.run(f'vars: {{k: abcdefgh}}\nsteps: [{{http: {{url: "{url}", {keys}}}}}]')
                if path == "/meta":
                    assert "169.254.169.254 is not on the list" in result["message"]
                    assert "tried" not in result["message"]
                else:
                    assert result == {"state": "done"}
    assert [heard.headers["x-api-key"] for heard in one.heard] == ["abcdefgh"] * 5
    assert "x-api-key" not in other.heard[0].headers
    assert other.heard[0].headers["accept"] == "text/plain"


@pytest.mark.parametrize(
    "location", ["http://bank.example/", "ftp://bank.example/", "http://a:b@bank.example/", "https://[::1"]
)
def test_redirects_that_are_not_followed(location: str) -> None:
    """Off https, off the list, to what is no address, with a name in it."""

    asked = Request("https://bank.example/x", headers={"Authorization": "s"})
    with pytest.raises(NotFetched):
        onward(asked, target_of(asked.url), location)


def test_a_redirect_without_a_scheme() -> None:
    """It keeps https, and leaves the headers behind."""
    asked = Request("https://bank.example/x", headers={"Authorization": "s"})
    assert onward(asked, target_of(asked.url), "//other.example/y") == Request("https://other.example/y")
    assert onward(asked, target_of(asked.url), "y") == Request("https://bank.example/y", headers=asked.headers)


async def test_a_drip_ends_at_the_total_deadline() -> None:
    """A little now and then does not hold the run; what was asked may have arrived."""
    silence = asyncio.Event()

    async def reply(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
        await writer.drain()
        await silence.wait()

    async with host(reply) as one:
        request = Request(f"http://127.0.0.1:{one.port}/", "POST")
        with pytest.raises(NotFetched, match=r"took longer than 0\.2 s") as caught:
            await send(request, {f"127.0.0.1:{one.port}"}, seconds=0.2)
        silence.set()
    assert caught.value.arrived
    assert caught.value.passing


def own_certificate(folder: Path) -> ssl.SSLContext:
    """A server's side of encryption with a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC)).not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
    made = made.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
    certificate = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "both.pem").write_bytes(secret + certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "both.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    """Nothing is sent to a host that cannot show that it is the one."""
    one = Host(saying(b"{}"))
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0, ssl=own_certificate(tmp_path))
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NotFetched, match=r"127\.0\.0\.1 cannot be reached: ConnectError") as caught:
            await send(Request(f"https://127.0.0.1:{port}/", "POST"), {f"127.0.0.1:{port}"})
    assert not caught.value.arrived
    assert one.heard == []


async def test_too_large_an_answer() -> None:
    """It is cut off at the limit."""
    async with host(saying(b"x" * 3_000_000)) as one:
        with pytest.raises(NotFetched, match="answered more than 1 MB") as caught:
            await send(Request(f"http://127.0.0.1:{one.port}/"), {f"127.0.0.1:{one.port}"}, largest=1024 * 1024)
    assert caught.value.arrived
    assert not caught.value.passing


async def test_what_is_not_on_the_list_is_not_asked(bench: Bench[TableCaller]) -> None:
    """Also where a template makes the address; its query is not told."""
    result = await bench.run('steps: [{http: {url: "https://{{ tick.date }}.example/a?key=abc", method: POST}}]')
    assert result["state"] == "failed"
    assert "2026-11-21.example is not on the list of hosts (none)" in result["message"]
    assert "abc" not in result["message"]


async def test_secrets_are_nowhere(bench: Bench[TableCaller]) -> None:
    """Not in the record, not in what is shown, not in a message; they are in the request alone."""
    bench.secrets = {"shop": "s3cret-value"}
    async with host(saying(b'"you sent s3cret-value"', "403 Forbidden")) as one:
        bench.hosts.add(f"127.0.0.1:{one.port}")
        text = f"""
steps:
  - id: x
    http:
      url: "http://127.0.0.1:{one.port}/bot{{{{ secrets.shop }}}}/send?key={{{{ secrets.shop }}}}"
      method: POST
      headers: {{Authorization: "Bearer {{{{ secrets.shop }}}}", X-Plain: p}}
      json: {{password: x, note: "{{{{ secrets.shop }}}}"}}
"""
        result = await bench.run(text)
    assert one.heard[0].headers["authorization"] == "Bearer s3cret-value"
    assert one.heard[0].line == "POST /bots3cret-value/send?key=s3cret-value HTTP/1.1"
    assert one.heard[0].json == {"password": "x", "note": "s3cret-value"}
    assert "s3cret" not in json.dumps([result, bench.journal.records])
    shown = bench.journal.records[-1][1]["input"]
    assert shown == {
        "http": "POST",
        "host": f"127.0.0.1:{one.port}",
        "path": "/bot(secret shop)/send",
        "headers": {"Authorization": "(hidden)", "X-Plain": "p"},
        "json": {"password": "(hidden)", "note": "(secret shop)"},
    }


async def test_a_plan_shows_without_secrets(bench: Bench[TableCaller]) -> None:
    """What it would send: method, host and path; nothing is sent."""
    bench.secrets = {"shop": "s3cret-value"}
    text = 'steps: [{http: {url: "https://a.example/{{ secrets.shop }}?q={{ secrets.shop }}", method: DELETE}}]'
    one = automation(text, bench.files.parent)
    step = one.definition.steps[0]
    assert isinstance(step, HttpStep)
    given = Given(bench.tools(), {"secrets": bench.secrets}, "run/http_1", bench.files, date(2026, 11, 21))
    assert await step.intent(given) == {"http": "DELETE", "host": "a.example", "path": "/(secret shop)"}


BAD = {
    "{url: 'ftp://a/x'}": "http.url: 'ftp://a/x' is no http or https URL",
    "{url: 'https://a:pw@b.example/'}": "http.url: a URL with a name or password in it is not fetched",
    "{url: 'a.example/{{ tick.date }}'}": "http.url: should begin with https:// or http://",
    "{url: 'https://[::1/pw'}": "http.url: 'https://[::1/pw' is no URL",
    "{url: 'https://a/', method: HEAD}": "http.method: should be GET or POST or PUT or PATCH or DELETE",
    "{url: 'https://a/', json: {}}": "http.json: a GET has no body: say which method, such as POST",
    "{url: 'https://a/', method: POST, json: {}, form: {}}": "http.form: give one body: json or form",
    "{url: 'https://a/', idempotent: true}": "http.idempotent: a GET is repeatable without it: leave it out",
    "{url: 'https://a/', headers: {Host: b}}": "http.headers.Host: belongs to the connection: leave it out",
    "{url: 'https://a/', headers: {'a b': c}}": "http.headers.a b: is no name for a header",
    '{url: "https://a/", headers: {a: "b\\r\\nc: d"}}': "http.headers.a: holds a character that no header may have",
    "{url: 'https://a/', headers: {a: b, A: b}}": "http.headers.A: is given twice: capitals do not count",
    "{url: 'https://a/', headers: {Cookie: a=b}}": "http.headers.Cookie: a secret does not belong into the file",
    "{url: 'https://a/', headers: {X-Api-Key: abc}}": "http.headers.X-Api-Key: a secret does not belong into the file",
    "{url: 'https://a/', headers: {a: 5}}": "http.headers.a: should be a text: put quotes around it",
    "{url: 'https://a/', status: [99]}": "http.status[0]: should be greater than or equal to 200",
    "{url: 'https://a/', expect: xml}": "http.expect: should be json or text",
    "{url: 'https://a/', pick: 'a['}": "http.pick: is no JMESPath: ",
    "{url: 'https://a/', pick: '" + "[@, @] | " * 10 + "@'}": "http.pick: names what it picks from more than 200 times",
    "{url: 'https://a/', pick: '" + "!" * 999 + "a'}": "http.pick: is nested too deeply",
    "{url: 'https://a/', pick: '" + "a" * 1001 + "'}": "http.pick: is longer than 1,000 characters",
    "{url: 'https://a/', urll: x}": "http.urll: no such key; did you mean url?",
    "{method: POST}": "http.url: is required",
}  # fmt: skip


@pytest.mark.parametrize("given", BAD)
def test_bad_files(given: str) -> None:
    """Each is told when the file is loaded, at its place."""
    with pytest.raises(InvalidAutomation) as caught:
        automation(f"steps: [{{http: {given}}}]")
    assert f"steps[0].{BAD[given]}" in str(caught.value)


async def test_headers_made_of_templates_are_judged_when_sent(bench: Bench[TableCaller]) -> None:
    """A line end in a value would be a header of its own."""
    async with host(saying(b"{}")) as one:
        result = await sent(bench, one, "headers: {a: \"{{ 'b\\r\\nc' }}\"}")
    assert "headers.a holds a character that no header may have" in result["message"]
    assert one.heard == []


def test_a_pick_that_does_not_fit() -> None:
    """Types that a function does not take."""
    with pytest.raises(StepFailed, match="pick: "):
        picked("sum(a)", {"a": ["x"]})
    assert picked("{a: b, b: [c, d]}", {"b": 1, "c": 2, "d": 3}) == {"a": 1, "b": [2, 3]}
