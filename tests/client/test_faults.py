"""Each fault of a real socket, and the outcome that it is: sync and async alike."""

import asyncio
import gzip
import json
import threading
import tracemalloc
import zlib
from time import monotonic
from typing import Any

import pytest

from tests.client.chaos import (
    Behaviour,
    Chaos,
    Peer,
    answer,
    close_after_body,
    drip_and_hang,
    drip_body,
    drip_headers,
    hang,
    head,
    last_words,
    nobody_accepts,
    nobody_listens,
    raw,
    refusal,
    reset_after_body,
    success,
)
from tests.client.conftest import Caller, Opener
from workspace_api import CallNotSent, CallRefused, CallUnknown, Done, NotSent, Refused, Unknown, calls
from workspace_api.client import Conflict, KeyRejected, NotFound, PermissionDenied, TooManyRequests

READ = calls.company.staff.list()
PAY = calls.finplan.request.pay(id=1, request_id=1, payment_sum=5)
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("call", [READ, PAY], ids=["read", "create"])
async def test_a_refused_connection_is_not_sent(open_caller: Opener, call: Any) -> None:
    """Whatever the effect: no byte has left."""
    with nobody_listens() as url:
        caller = open_caller(url)
        assert await caller.attempt(call) == NotSent("cannot connect to the workspace")
        with pytest.raises(CallNotSent, match="not sent: cannot connect to the workspace"):
            await caller.perform(call)


async def test_a_connection_that_is_not_made_in_time_is_not_sent(open_caller: Opener) -> None:
    """The queue of the listener is full, so that the connection hangs before anything was sent."""
    with nobody_accepts() as url:
        outcome = await open_caller(url).attempt(PAY, timeout=0.4)
    assert outcome == NotSent("no connection to the workspace in time")


async def test_waiting_for_a_free_connection_in_vain_is_not_sent(chaos: Chaos, open_caller: Opener) -> None:
    """The pool's only connection is held by a call that hangs; another one never leaves."""
    held = threading.Event()

    def hold(peer: Peer) -> bool:
        held.set()
        return hang(peer)

    chaos.script = [hold]
    caller = open_caller(chaos.url, connections=1)
    first = asyncio.create_task(caller.attempt(PAY, timeout=2))
    await asyncio.to_thread(held.wait)
    assert isinstance(await caller.attempt(PAY, timeout=0.3), NotSent)
    chaos.over.set()
    assert isinstance(await first, Unknown)
    assert len(chaos.received) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (close_after_body, "connection"),
        (reset_after_body, "connection"),
        (raw(b""), "connection"),
        (raw(b"HTTP/1.1 200"), "connection|exchange"),
        (raw(b"not http at all\r\n\r\n"), "connection|exchange"),
        (raw(head(200, {**JSON, "Content-Length": "100"}) + b'{"status": "suc'), "connection"),
        (raw(head(200, {**JSON, "Transfer-Encoding": "chunked"}) + b"5\r\nabc"), "connection"),
        (raw(head(200, {**JSON, "Transfer-Encoding": "chunked"}) + b"zz\r\nabc\r\n"), "connection"),
        (
            answer(b"<html>Bad Gateway</html>", 502, {"Content-Type": "text/html; charset=x"}),
            "HTTP 502 with text/html in place of JSON",
        ),
        (answer(b"<html>fine</html>", 200, {"Content-Type": "text/html"}), "HTTP 200 with text/html in place of JSON"),
        (answer(b'{"status": "success", "da'), "HTTP 200 with application/json in place of JSON"),
        (answer(b"\xff\xfe"), "in place of JSON"),
        (answer(b""), "in place of JSON"),
        (answer(b"[" * 100_000), "in place of JSON"),
        (answer(b'{"status": "success", "data": NaN}'), "in place of JSON"),
        (answer([1]), "without the envelope"),
        (answer({"data": True}), "without the envelope"),
        (answer({"status": 1, "data": True}), "without the envelope"),
        (answer({"status": "success"}), "not of the documented type"),
        (answer({"status": "success", "data": "seven"}), "not of the documented type"),
        (answer({"status": "success", "data": None}), "not of the documented type"),
        (answer({"status": "success", "data": True}, 201), "HTTP 201 that says success"),
        (answer({"status": "success", "data": True}, 302, {"Location": "/elsewhere"}), "HTTP 302 that says success"),
        (answer({"status": "error", "error": "moved"}, 307, {"Location": "/elsewhere"}), "HTTP 307: moved"),
        (refusal(500, "internal_error", "Something broke."), "HTTP 500: Something broke."),
        (refusal(503, "unavailable", "Later."), "HTTP 503: Later."),
        (raw(head(200, {**JSON, "Content-Encoding": "gzip"}) + b"no gzip"), "compression is broken"),
        (
            raw(head(200, {**JSON, "Content-Encoding": "gzip"}) + gzip.compress(b"{}" * 50)[:-9]),
            "compression is broken",
        ),
        (raw(head(200, {**JSON, "Content-Encoding": "br"}) + b"x"), "was not asked for"),
    ],
)
async def test_everything_else_is_unknown(chaos: Chaos, caller: Caller, fault: Behaviour, reason: str) -> None:
    """It may have happened, and it is not tried again."""
    chaos.script = [fault]
    outcome = await caller.attempt(PAY, retries=3)
    assert isinstance(outcome, Unknown)
    assert any(part in outcome.reason for part in reason.split("|"))
    with pytest.raises(CallUnknown, match="outcome unknown: "):
        await caller.perform(PAY, retries=3)
    assert len(chaos.received) == 2


@pytest.mark.parametrize("fault", [hang, drip_headers, drip_body], ids=["hang", "headers", "body"])
async def test_the_deadline_is_for_the_whole_call(chaos: Chaos, caller: Caller, fault: Behaviour) -> None:
    """An answer that drips byte by byte outlives any timeout of a single read."""
    chaos.script = [fault]
    started = monotonic()
    outcome = await caller.attempt(PAY, timeout=0.4)
    assert isinstance(outcome, Unknown)
    assert 0.3 < monotonic() - started < 1.5


async def test_a_hang_after_a_drip_gets_only_what_is_left(chaos: Chaos, caller: Caller) -> None:
    """Not the whole deadline once more."""
    chaos.script = [drip_and_hang]
    started = monotonic()
    assert isinstance(await caller.attempt(PAY, timeout=1.0), Unknown)
    assert 0.9 < monotonic() - started < 1.45


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "invalid_request", CallRefused),
        (401, "unauthorized", KeyRejected),
        (403, "permission_denied", PermissionDenied),
        (404, "not_found", NotFound),
        (409, "conflict", Conflict),
        (413, "too_large", CallRefused),
        (501, "not_implemented", CallRefused),
        (200, "invalid_request", CallRefused),
    ],
)
async def test_an_error_envelope_is_a_refusal(
    chaos: Chaos, caller: Caller, status: int, code: str, kind: type[CallRefused]
) -> None:
    """With its code, its sentence and its HTTP status, and an exception of its kind."""
    chaos.script = [refusal(status, code, "No, because.")]
    assert await caller.attempt(PAY, retries=3) == Refused(code, "No, because.", status)
    with pytest.raises(kind) as caught:
        await caller.perform(PAY)
    assert type(caught.value) is kind
    assert str(caught.value) == f"finplan.request.pay: refused ({code}): No, because."
    assert (caught.value.code, caught.value.message, caught.value.http_status) == (code, "No, because.", status)


@pytest.mark.parametrize(
    ("envelope", "status", "expected"),
    [
        ({"status": "fail", "error": "No such thing"}, 404, ("not_found", "No such thing")),
        ({"status": "fail", "error": "permission_denied"}, 200, ("permission_denied", "permission_denied")),
        (
            {"status": "fail", "error_message": "user: permission_denied!"},
            400,
            ("permission_denied", "user: permission_denied!"),
        ),
        ({"status": "fail", "error": {"deep": 1}}, 400, ("error", "{'deep': 1}")),
        ({"status": "fail"}, 401, ("unauthorized", "no reason given")),
        ({"status": "fail", "error_message": "a\n\tb\x00c"}, 400, ("error", "a b?c")),
        ({"status": "fail", "error_message": "x" * 9000}, 400, ("error", "x" * 500 + "…")),
    ],
)
async def test_other_workspaces_refuse_in_their_own_words(
    chaos: Chaos, caller: Caller, envelope: Any, status: int, expected: tuple[str, str]
) -> None:
    """`error_message`, else `error`; where that is no code, the HTTP status tells the kind (field-notes.md)."""
    chaos.script = [answer(envelope, status)]
    assert await caller.attempt(PAY) == Refused(*expected, status)


async def test_too_many_requests_carries_the_pause(chaos: Chaos, caller: Caller) -> None:
    """A write is not tried again by itself, so the caller is told when it may."""
    chaos.script = [refusal(429, "too_many_requests", "Slower.", {"Retry-After": "7"})]
    assert await caller.attempt(PAY, retries=3) == Refused("too_many_requests", "Slower.", 429, 7.0)
    with pytest.raises(TooManyRequests) as caught:
        await caller.perform(PAY)
    assert caught.value.retry_after == 7.0
    assert len(chaos.received) == 2


@pytest.mark.parametrize(
    "busy",
    [
        refusal(429, "too_many_requests", "Slower.", {"Retry-After": "0"}),
        refusal(503, "unavailable", "Later.", {"Retry-After": "0"}),
        answer(b"<html>", 502, {"Content-Type": "text/html", "Retry-After": "0"}),
        answer(b"<html>", 429, {"Content-Type": "text/html", "Retry-After": "0"}),
        close_after_body,
    ],
    ids=["429", "503", "502 html", "429 html", "lost"],
)
async def test_a_read_is_tried_again(chaos: Chaos, caller: Caller, busy: Behaviour) -> None:
    """It changes nothing, so it may; the answer tells how many tries it took."""
    chaos.script = [busy, success([{"id": 1}])]
    outcome = await caller.attempt(READ, retries=2)
    assert isinstance(outcome, Done)
    assert (outcome.data.tries, outcome.data.data[0].id) == (2, 1)
    assert len(chaos.received) == 2


@pytest.mark.parametrize("useless", [answer(b"<html>"), answer([1]), answer(b"", 302, {"Location": "/x"})])
async def test_what_would_be_the_same_again_is_not_tried_again(
    chaos: Chaos, caller: Caller, useless: Behaviour
) -> None:
    """A page in place of JSON, a redirect: not even for a read. And no redirect is followed."""
    chaos.script = [useless]
    assert isinstance(await caller.attempt(READ, retries=3), Unknown)
    assert [request.target for request in chaos.received] == ["/company/api/staff/list"]


async def test_the_answer_may_be_so_large_and_no_larger(chaos: Chaos, caller: Caller) -> None:
    """By its announced length, by what really comes, and by what it inflates to; the cap can be raised per call."""
    body = json.dumps({"status": "success", "data": [{"comment": "x" * 5000}]}).encode()
    chunked = (
        head(200, {**JSON, "Transfer-Encoding": "chunked"}) + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    )
    packed = gzip.compress(body)
    for behave in (answer(body), raw(chunked, stay=True), answer(packed, 200, {"Content-Encoding": "gzip"})):
        chaos.script = [behave]
        outcome = await caller.attempt(READ, max_bytes=1000, retries=3)
        assert outcome == Unknown("the answer is larger than 1,000 bytes; raise max_bytes for this call")
        assert isinstance(await caller.attempt(READ, max_bytes=len(body)), Done)
    assert len(packed) < 1000


async def test_a_gzip_bomb_is_not_inflated(chaos: Chaos, caller: Caller) -> None:
    """A hundred megabytes in a hundred kilobytes: what is held stays within the cap."""
    bomb = gzip.compress(b" " * 100_000_000, 9)
    chaos.script = [answer(bomb, 200, {"Content-Encoding": "gzip"})]
    tracemalloc.start()
    outcome = await caller.attempt(READ, max_bytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(outcome, Unknown)
    assert peak < 10_000_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity", "x-gzip", "members"])
async def test_compressed_answers_are_read(chaos: Chaos, caller: Caller, encoding: str) -> None:
    """In the ways that were asked for; a gzip body may have several members."""
    body = json.dumps({"status": "success", "data": [{"id": 5}]}).encode()
    packed = {
        "deflate": zlib.compress(body),
        "identity": body,
        "members": gzip.compress(body[:9]) + gzip.compress(body[9:]),
    }
    sent = packed.get(encoding, gzip.compress(body))
    chaos.script = [answer(sent, 200, {"Content-Encoding": "gzip" if encoding == "members" else encoding})]
    outcome = await caller.attempt(READ)
    assert isinstance(outcome, Done)
    assert (outcome.data.data[0].id, outcome.data.body) == (5, body)


async def test_a_lost_answer_on_a_kept_connection_is_unknown(chaos: Chaos, caller: Caller) -> None:
    """The second request goes out on the first one's connection, is read whole, and is never answered."""
    for lost in (close_after_body, reset_after_body):
        chaos.received.clear()
        chaos.script = [success([]), lost]
        assert isinstance(await caller.attempt(READ), Done)
        assert isinstance(await caller.attempt(PAY, retries=3), Unknown)
        first, second = chaos.received
        assert first.connection == second.connection
        assert second.body == b'{"id":1,"payment_sum":5,"request_id":1}'


async def test_a_connection_that_was_closed_meanwhile_is_replaced(chaos: Chaos, caller: Caller) -> None:
    """The workspace hung up after its answer: the next call finds out, and gets through or says what it knows."""
    chaos.script = [last_words(success([]))]
    assert isinstance(await caller.attempt(READ), Done)
    outcome = await caller.attempt(READ, retries=3)
    assert isinstance(outcome, Done)


@pytest.mark.parametrize("url", ["localhost:9", "ftp://127.0.0.1", "http://127.0.0.1:port", "/nowhere"])
async def test_an_address_that_is_none_is_told(open_caller: Opener, url: str) -> None:
    """Nothing was sent, and another try cannot help."""
    outcome = await open_caller(url).attempt(PAY, retries=3)
    assert outcome == NotSent("the workspace's address is no http:// or https:// URL")
