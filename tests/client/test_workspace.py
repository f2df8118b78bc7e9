"""The two clients as they are used: what is sent, views, options, read-only, many callers at once."""

import asyncio
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.client.chaos import Chaos, Peer, answer, hang, refusal, success
from tests.client.conftest import KEY, Caller, Opener
from tests.contract import notation
from workspace_api import (
    AsyncWorkspace,
    Call,
    CallNotAllowed,
    CallNotSent,
    CallRefused,
    CallUnknown,
    Done,
    Effect,
    NotFound,
    NotSent,
    Raw,
    Refused,
    Unknown,
    Workspace,
    calls,
    operations,
)
from workspace_api.client import Answer, CallEnded, Drift, Event, error_of
from workspace_api.contract import InvalidArguments, Operation

READ = calls.company.staff.list()


def some_call(operation: Operation[Any], **more: Any) -> Call[Any]:
    """A call with just the required fields."""
    simple: dict[str, object] = {"int": 1, "float": 1.5, "string": "text"}
    fields: dict[str, object] = {}
    for name, kind in operation.params.model_fields.items():
        if kind.is_required():
            values = notation.field_values(kind)
            fields[name] = values[0] if values else simple.get(notation.field_type(kind), [])
    return operation.call({**fields, **more})


async def test_every_operation_is_posted_whatever_its_label(chaos: Chaos, caller: Caller) -> None:
    """To its path, with the key, as JSON; without parameters there is no body."""
    chaos.script = [success(None)]
    for operation in operations().values():
        await caller.attempt(some_call(operation))
    assert [request.target for request in chaos.received] == [operation.path for operation in operations().values()]
    assert {request.method for request in chaos.received} == {"POST"}
    for request, operation in zip(chaos.received, operations().values(), strict=True):
        assert request.headers["api-key"] == KEY
        assert request.headers["content-type"] == "application/json"
        assert "idempotency-key" not in request.headers
        assert (request.body == b"") == (operation.params.__name__ == "NoParams")


async def test_the_query_parameter_travels_in_the_target(chaos: Chaos, caller: Caller) -> None:
    """And the rest of the task in the body."""
    chaos.script = [success({"id": 1})]
    create: Any = calls.tasks.task.create
    await caller.attempt(create(name="Call Anna", planned_end_date="2026-11-02"))
    (request,) = chaos.received
    path, _, query = request.target.partition("?")
    assert path == "/tasks/api/task/create"
    assert parse_qsl(query) == [("planned_end_date", "2026-11-02 00:00:00")]
    assert request.body == b'{"name":"Call Anna"}'


async def test_a_base_url_may_have_a_path(chaos: Chaos, open_caller: Opener) -> None:
    """With or without a slash at its end."""
    chaos.script = [success([])]
    await open_caller(f"{chaos.url}/ours/").attempt(READ)
    assert chaos.received[0].target == "/ours/company/api/staff/list"


async def test_read_only_refuses_every_write_of_the_registry_before_it_is_sent(
    chaos: Chaos, open_caller: Opener
) -> None:
    """A save is a write with an id and without."""
    chaos.script = [success([])]
    caller = open_caller(chaos.url, read_only=True)
    writes = [operation for operation in operations().values() if operation.effect is not Effect.READ]
    for operation in writes:
        more: dict[str, Any] = {"id": 1} if "id" in operation.params.model_fields else {}
        for call in (some_call(operation), some_call(operation, **more)):
            assert await caller.attempt(call) == NotSent("this client is read-only, and the operation writes")
    with pytest.raises(CallNotAllowed, match="read-only"):
        await caller.perform(some_call(writes[0]))
    assert chaos.received == []
    assert isinstance(await caller.attempt(READ), Done)
    assert len(writes) > 40


async def test_an_idempotency_key_travels_as_a_header(chaos: Chaos, caller: Caller) -> None:
    """For this view of the client alone."""
    chaos.script = [success(True)]
    pay = calls.finplan.request.pay(id=1, request_id=1, payment_sum=5)
    await caller.attempt(pay, idempotency_key="op-17")
    await caller.attempt(pay)
    assert [request.headers.get("idempotency-key") for request in chaos.received] == ["op-17", None]


async def test_options_change_a_view_and_share_the_connection(chaos: Chaos, caller: Caller) -> None:
    """Another key for another person, over the same connection; the first view stays as it was."""
    chaos.script = [success([])]
    await caller.attempt(READ)
    await caller.attempt(READ, api_key="another-key")
    await caller.attempt(READ, retries=5)
    assert [request.headers["api-key"] for request in chaos.received] == [KEY, "another-key", KEY]
    assert {request.connection for request in chaos.received} == {1}


async def test_the_pace_holds_between_all_views(chaos: Chaos, open_caller: Opener) -> None:
    """The starts of two calls are at least so far apart."""
    starts: list[float] = []

    def timed(peer: Peer) -> bool:
        starts.append(monotonic())
        return success([])(peer)

    chaos.script = [timed]
    caller = open_caller(chaos.url, pace=0.15)
    await asyncio.gather(*(caller.attempt(READ, retries=tries) for tries in range(3)))
    gaps = [later - earlier for earlier, later in zip(sorted(starts), sorted(starts)[1:], strict=False)]
    assert min(gaps) > 0.1


def test_the_sync_client_reads_like_the_api(chaos: Chaos) -> None:
    """Payload, raw answer, outcome; a failure raises, or is a value."""
    chaos.script = [success([{"id": 7, "name": "Laser"}])]
    with Workspace(chaos.url, f" {KEY}\n") as api:
        assert api.finplan.request.review(request_ids=[7], review_type="accept", block_id=3)[0].name == "Laser"
        raw = api.raw.finplan.request.list(finplans=["2026-11-01"])
        assert (raw.http_status, raw.headers["content-type"], raw.tries) == (200, "application/json", 1)
        assert raw.json() == {"status": "success", "data": [{"id": 7, "name": "Laser"}]}
        assert raw.data[0].id == 7
        assert raw.seconds > 0
        outcome = api.outcome.finplan.request.list()
        assert isinstance(outcome, Done)
        assert outcome.data[0].id == 7
        assert api.perform(READ)[0].id == 7
        chaos.script = [refusal(404, "not_found", "No such request.")]
        assert api.outcome.finplan.request.list() == Refused("not_found", "No such request.", 404)
        with pytest.raises(NotFound):
            api.raw.finplan.request.list()
    assert chaos.received[0].headers["api-key"] == KEY


async def test_the_async_client_reads_like_the_api(chaos: Chaos) -> None:
    """The same, awaited."""
    chaos.script = [success([{"id": 7, "name": "Laser"}])]
    async with AsyncWorkspace(chaos.url, KEY) as api:
        assert (await api.finplan.request.list())[0].name == "Laser"
        assert (await api.raw.finplan.request.list()).json()["data"][0]["id"] == 7
        outcome = await api.outcome.finplan.request.list()
        assert isinstance(outcome, Done)
        assert outcome.data[0].id == 7
        assert (await api.perform(READ))[0].id == 7
        chaos.script = [refusal(404, "not_found", "No such request.")]
        with pytest.raises(NotFound):
            await api.raw.finplan.request.list()
    await api.aclose()


def test_one_sync_client_serves_many_threads(chaos: Chaos) -> None:
    """Eight threads, each with its own deadline, over no more than eight connections."""
    chaos.script = [answer({"status": "success", "data": [{"id": 5}]})]
    barrier = threading.Barrier(8)
    with Workspace(chaos.url, KEY, timeout=10, retries=0) as api:

        def work(_: int) -> list[int | None]:
            barrier.wait()
            return [api.company.staff.list()[0].id for _ in range(25)]

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [[5] * 25] * 8
    assert len(chaos.received) == 200
    assert len({request.connection for request in chaos.received}) <= 8


def test_a_deadline_is_its_own_thread_s(chaos: Chaos) -> None:
    """A short call that hangs does not cut the long one beside it."""
    waiting, released = threading.Event(), threading.Event()

    def slow(peer: Peer) -> bool:
        waiting.set()
        released.wait()
        return success([{"id": 1}])(peer)

    chaos.script = [slow, hang]
    with Workspace(chaos.url, KEY, timeout=5, retries=0) as api, ThreadPoolExecutor(1) as pool:
        long = pool.submit(api.company.staff.list)
        waiting.wait()
        assert isinstance(api.with_options(timeout=0.2).outcome.company.staff.list(), Unknown)
        released.set()
        assert long.result()[0].id == 1


async def test_many_async_calls_at_once(chaos: Chaos) -> None:
    """All of them get their own answer."""

    def echo(peer: Peer) -> bool:
        return success({"id": int(peer.request.body.split(b":")[1].rstrip(b"}"))})(peer)

    chaos.script = [echo]
    async with AsyncWorkspace(chaos.url, KEY) as api:
        tasks = await asyncio.gather(*(api.tasks.task.get(id=number) for number in range(64)))
    assert [task.id for task in tasks] == list(range(64))


async def test_a_cancelled_call_is_told_as_unknown(chaos: Chaos) -> None:
    """The caller gets its cancellation, the observer what is known: it may have happened."""
    arrived = threading.Event()

    def hold(peer: Peer) -> bool:
        arrived.set()
        return hang(peer)

    chaos.script = [hold]
    seen: list[Event] = []
    async with AsyncWorkspace(chaos.url, KEY, observer=seen.append) as api:
        task = asyncio.create_task(api.finplan.request.pay(id=1, request_id=1, payment_sum=5))
        await asyncio.to_thread(arrived.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [(e.outcome, e.tries) for e in seen if isinstance(e, CallEnded)] == [("Unknown", 1)]


async def test_the_observer_sees_ends_and_drift(chaos: Chaos, open_caller: Opener) -> None:
    """Through the whole client, sync and async."""
    seen: list[Event] = []
    chaos.script = [success({"anna": {"user_id": "anna", "shoe_size": 38}})]
    await open_caller(chaos.url, observer=seen.append).perform(calls.user.profile.list())
    drift = [(e.record, e.field, e.kind) for e in seen if isinstance(e, Drift)]
    ends = [(e.operation, e.effect, e.outcome, e.http_status, e.tries) for e in seen if isinstance(e, CallEnded)]
    assert drift == [("data", "", "map for array"), ("Profile", "shoe_size", "unknown field")]
    assert ends == [("user.profile.list", Effect.READ, "Done", 200, 1)]


def test_any_transport_will_do() -> None:
    """A client over something that is no HTTP at all."""

    class Canned:
        closed = False

        def send(self, message: Any, *, deadline: float, max_bytes: int) -> Answer:
            assert (message.target, max_bytes) == ("/company/api/staff/list", 500)
            assert 6.0 < deadline <= 7.0
            return Answer(200, {}, b'{"status": "success", "data": []}')

        def close(self) -> None:
            self.closed = True

    transport = Canned()
    with Workspace("canned:", KEY, transport=transport, timeout=7.0, max_bytes=500) as api:
        assert api.outcome.company.staff.list() == Done([])
    assert transport.closed


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (NotSent("cannot connect"), CallNotSent),
        (NotSent("this client is read-only, and the operation writes"), CallNotAllowed),
        (Refused("not_found", "No.", 404), NotFound),
        (Refused("odd", "No.", 400, 3.0), CallRefused),
        (Unknown("lost", 502), CallUnknown),
    ],
)
def test_errors_survive_pickling(outcome: Refused | NotSent | Unknown, kind: type[Exception]) -> None:
    """A durable run keeps them."""
    error = error_of("a.b", outcome)
    again = pickle.loads(pickle.dumps(error))
    assert type(error) is type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_raw_answer_shows_no_body() -> None:
    """It may hold passwords."""
    assert repr(Raw(200, {"x": "secret"}, b"secret", 0.25, 1, ["secret"])) == "<Raw 200, 6 bytes, 0.250 s, 1 tries>"


def test_an_unknown_option_names_the_nearest_right_one() -> None:
    """`timeot` is told like a wrong argument of a call, when a client is made and when it is changed."""
    changes: dict[str, Any] = {"timeot": 3}
    with pytest.raises(InvalidArguments, match=r"timeot: no such option; did you mean timeout\?"):
        Workspace("http://127.0.0.1:9", "key", **changes)
    wrong: dict[str, Any] = {"max_byts": 3}
    with (
        Workspace("http://127.0.0.1:9", "key") as api,
        pytest.raises(InvalidArguments, match="did you mean max_bytes"),
    ):
        api.with_options(**wrong)
