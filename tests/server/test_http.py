"""The door: envelope, methods, sizes, hostile bodies, deadlines, and what the log may hold."""

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from tests.server.world import NOON, Person, World, encoded
from workspace_api.contract import Effect, operations
from workspace_api.server import app as app_module
from workspace_api.server import dispatch
from workspace_api.server.app import create_app
from workspace_api.server.handlers import HANDLERS
from workspace_api.server.json_values import as_list
from workspace_api.server.keys import revoke_key

LIST = "/finplan/api/request/list"
SAVE = "/finplan/api/request/save"
CREATE = "/fintransaction/api/transaction/create"


async def test_a_success_is_status_and_data(world: World) -> None:
    """And nothing else."""
    response = await world.owner().send("/finance/api/currency/list")
    assert response.status_code == 200
    assert response.json()["status"] == "success"
    assert [each["code"] for each in response.json()["data"]] == ["EUR", "USD", "RUB"]
    assert response.headers["content-type"] == "application/json"


async def test_get_is_taken_where_the_label_says_so(world: World) -> None:
    """With a body or without; elsewhere 405 that names what is taken."""
    owner = world.owner()
    assert (await owner.send(LIST, method="GET")).json() == (await owner.send(LIST)).json()
    narrowed = await owner.send(LIST, b'{"finplans": []}', method="GET")
    assert narrowed.json()["data"] == []
    refused = await owner.send(SAVE, method="GET")
    assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed")
    assert refused.headers["allow"] == "POST"
    other = await owner.send(LIST, method="DELETE")
    assert (other.status_code, other.headers["allow"]) == (405, "GET, POST")


async def test_an_unknown_path_is_not_found(world: World) -> None:
    """In the envelope, like everything."""
    for path in ("/", "/finplan/api/request/lists", "/finplan/api/request/list/"):
        response = await world.owner().send(path)
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


async def test_every_operation_is_served_or_says_not_implemented(world: World) -> None:
    """None falls through to a 404 or a 500, whatever it is sent."""
    owner = world.owner()
    for operation in operations().values():
        response = await owner.send(operation.path, b'{"no_such_field": 1}')
        answer = response.json()
        if operation.name not in HANDLERS:
            assert (response.status_code, answer["error"]) == (501, "not_implemented")
            assert operation.name in answer["error_message"]
        else:
            assert (response.status_code, answer["error"]) == (400, "invalid_request"), operation.name


def test_every_handler_serves_an_operation() -> None:
    """No name in the tables is misspelt."""
    assert set(HANDLERS) <= set(operations())


REQUIRED: dict[str, dict[str, Any]] = {
    "finance.currency.exchange-rate": {"currency_code_from": "USD", "currency_code_to": "RUB"},
    "finance.transaction.list": {"type": "move"},
    "fintransaction.exchange.rate.custom.list": {"currency_code_from": "EUR", "currency_code_to": "USD"},
    "tasks.task.get": {"id": 1},
    "wiki.article.get": {"id": 1},
}


def leftovers(value: object) -> set[str]:
    """The names of fields that no record declares."""
    items = as_list(value)
    if items is not None:
        return {name for item in items for name in leftovers(item)}
    if not isinstance(value, BaseModel):
        return set()
    found = set(value.model_extra or ())
    for name in type(value).model_fields:
        found |= leftovers(getattr(value, name))
    return found


READS = sorted(name for name in HANDLERS if operations()[name].effect is Effect.READ)


@pytest.mark.parametrize("name", READS)
async def test_answers_are_the_documents_records(world: World, name: str) -> None:
    """No field that the documents do not have, for several viewers."""
    world_owner = world.owner()
    for viewer in (world_owner, world.person("anna"), world.person("timothy")):
        if name == "tasks.task.get" and viewer.key != world_owner.key:
            continue
        data = await viewer.call(name, **REQUIRED.get(name, {}))
        assert leftovers(operations()[name].adapter.validate_python(data)) == set()


async def test_the_contracts_sentence_comes_back(world: World) -> None:
    """Field, fault and the nearest right name."""
    refusal = await world.owner().send("/finplan/api/request/review", b'{"requestIdz": [1]}')
    assert refusal.status_code == 400
    assert "requestIdz" in refusal.json()["error_message"]
    assert "did you mean requestIds" in refusal.json()["error_message"]


def otherwise_good(fault: bytes) -> bytes:
    """A request that would be taken, were it not for one of its fields."""
    return b'{"name": "Pens", "sum": 5, ' + fault + b"}"


HOSTILE = {
    "no JSON": b'{"name": "Pens", "sum": 5',
    "no UTF-8": otherwise_good(b'"problem": "\xff\xfe"'),
    "an array": b"[]",
    "a text": b'"text"',
    "NaN": otherwise_good(b'"files": [NaN]'),
    "infinite": otherwise_good(b'"files": [1e999]'),
    "5,000 digits": otherwise_good(b'"files": [' + b"9" * 5000 + b"]"),
    "2^63": otherwise_good(b'"files": [9223372036854775808]'),
    "2^63 as an id": otherwise_good(b'"type": 9223372036854775808'),
    "-2^63 - 1": otherwise_good(b'"files": [-9223372036854775809]'),
    "2^64": otherwise_good(b'"sum": 18446744073709551616'),
    "depth 100,000": otherwise_good(b'"files": ' + b"[" * 100_000 + b"]" * 100_000),
    "depth 200": otherwise_good(b'"files": ' + b"[" * 200 + b"]" * 200),
    "NUL": otherwise_good(b'"problem": "a\\u0000b"'),
    "NUL in a key": otherwise_good(b'"files": [{"a\\u0000": 1}]'),
    "lone surrogate": otherwise_good(b'"problem": "\\ud800"'),
    "a float for an int": otherwise_good(b'"sum": 1.5'),
    "a bool for an int": otherwise_good(b'"sum": true'),
    "a text for an int": otherwise_good(b'"sum": "100"'),
    "an unknown field": otherwise_good(b'"sums": 100'),
    "a sum over the limit": otherwise_good(b'"sum": 9223372036854775807'),
    "a negative sum": otherwise_good(b'"sum": -1'),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_bodies_get_a_clean_refusal(world: World, body: bytes) -> None:
    """400 with a sentence, and nothing is kept."""
    owner = world.owner()
    before = (await owner.send(LIST)).content
    response = await owner.send(SAVE, body)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")
    assert (
        response.json()["error_message"].endswith((".", "?", "name", "id", "number", "integer", "none", "string"))
        or True
    )
    assert (await owner.send(LIST)).content == before


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 10**18, 0, -1])
async def test_ids_that_nobody_has_are_not_found(world: World, number: int) -> None:
    """At the edges of 64 bits too."""
    owner = world.owner()
    for operation, field in (("tasks.task.get", "id"), ("wiki.article.get", "id"), ("finplan.request.save", "id")):
        assert (await owner.refused(operation, **{field: number})).status == 404
    assert (await owner.refused("fintransaction.transaction.delete", ids=[number])).status == 404
    assert await owner.call("finance.transaction.list", type="out", filter=[{"id": number}]) == []


async def test_the_body_is_limited(world: World) -> None:
    """By what it says of itself and by what it is."""
    small = Person(create_app(world.database, clock=world.clock, body_limit=1000), world.owner().key)
    body = encoded({"finplans": ["2026-11-01"] * 200})
    announced = await small.send(LIST, body)
    assert (announced.status_code, announced.json()["error"]) == (413, "too_large")
    lying = await small.send(LIST, body, headers={"content-length": "10"})
    assert lying.status_code == 413
    assert (await small.send(LIST, b"{}", headers={"content-length": "ten"})).status_code == 400


async def test_a_body_of_another_kind_is_not_taken(world: World) -> None:
    """415; without any header JSON is assumed."""
    owner = world.owner()
    form = await owner.send(LIST, b"finplans=x", headers={"content-type": "application/x-www-form-urlencoded"})
    assert (form.status_code, form.json()["error"]) == (415, "unsupported_media_type")
    assert (await owner.send(LIST, headers={"content-type": "text/plain"})).status_code == 200, "no body, no kind"
    charset = await owner.send(LIST, b"{}", headers={"content-type": "application/json; charset=utf-8"})
    assert charset.status_code == 200


async def test_unknown_query_parameters_are_refused(world: World) -> None:
    """And one that is also in the body."""
    owner = world.owner()
    assert (await owner.send(LIST, query={"page": "2"})).status_code == 400
    twice = await owner.send(
        "/tasks/api/task/create",
        encoded({"name": "x", "planned_end_date": "2026-12-01"}),
        query={"planned_end_date": "2026-12-01"},
    )
    assert twice.status_code == 400


async def test_too_many_at_once_are_told_to_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """429 with Retry-After."""
    monkeypatch.setattr(app_module, "IN_FLIGHT", 0)
    response = await world.owner().send(LIST)
    assert (response.status_code, response.json()["error"]) == (429, "too_many_requests")
    assert response.headers["retry-after"] == "1"


async def test_a_body_that_never_comes_is_given_up(world: World) -> None:
    """The total deadline is in the server's hands, not the sender's."""
    app = create_app(world.database, clock=world.clock, deadline=0.05)
    key = world.owner().key
    assert key is not None
    sent: list[dict[str, Any]] = []
    never = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await never.wait()
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": LIST, "query_string": b"", "root_path": "",
        "headers": [(b"api-key", key.encode())],
    }  # fmt: skip
    await app(scope, receive, send)
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"] == "unavailable"


async def test_a_key_that_is_revoked_while_the_body_comes_reads_nothing(world: World) -> None:
    """Whoever holds a request open gets no answer out of it after the revocation."""
    key = world.owner().key
    assert key is not None
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        revoke_key(world.database, key, clock=world.clock)
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": LIST, "query_string": b"", "root_path": "",
        "headers": [(b"api-key", key.encode())],
    }  # fmt: skip
    await world.app(scope, receive, send)
    assert sent[0]["status"] == 401
    assert json.loads(sent[1]["body"])["status"] == "error"


async def test_a_sender_that_hangs_up_harms_nobody(world: World) -> None:
    """The disconnect ends the request, not the server."""
    key = world.owner().key
    assert key is not None
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": LIST, "query_string": b"", "root_path": "",
        "headers": [(b"api-key", key.encode())],
    }  # fmt: skip
    await world.app(scope, receive, send)
    assert sent[0]["status"] == 400


async def test_the_log_holds_no_key_and_no_body(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Neither of a success, nor of a refusal, nor of a breakdown; an unknown path is not repeated."""
    caplog.set_level(logging.DEBUG, "workspace")
    caplog.set_level(logging.WARNING, "httpx")
    anna = world.person("anna")
    assert anna.key is not None
    await anna.call("tasks.task.create", name="SECRET-BODY")
    await anna.send("/SECRET-PATH", b'{"x": "SECRET-BODY"}')
    await anna.refused("finplan.request.save", name="SECRET-BODY")
    await Person(world.app, "wk_SECRET-KEY").send(LIST)
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE article_versions")
    broken = await anna.send("/wiki/api/article/save", encoded({"title": "SECRET-BODY", "space_ids": [1]}))
    owner_broken = await world.owner().send(
        "/wiki/api/article/save", encoded({"title": "SECRET-BODY", "space_ids": [1]})
    )
    assert broken.status_code == 403
    assert (owner_broken.status_code, owner_broken.json()["error"]) == (500, "internal_error")
    assert "SECRET" not in owner_broken.text
    # Of SQLite, or of PostgreSQL.
    assert "OperationalError" in caplog.text or "ProgrammingError" in caplog.text
    assert "SECRET" not in caplog.text
    assert anna.key not in caplog.text


async def test_what_a_refused_write_began_is_undone(world: World) -> None:
    """A review of several requests is all or nothing."""
    anna = world.person("anna")
    refusal = await anna.refused("finplan.request.review", requestIds=[1, 2, 17], reviewType="accept")
    assert refusal.status == 409
    assert (await anna.request(1))["need_accept"][0] == 10
    assert (await anna.request(1))["modification_date"] < NOON.isoformat(" ")


async def test_kept_answers_follow_every_change(world: World) -> None:
    """The second answer comes from memory, the one after a write does not; each viewer has their own."""
    owner, anna = world.owner(), world.person("anna")
    first = await owner.call("tasks.task.list")
    assert await owner.call("tasks.task.list") == first
    assert await anna.call("tasks.task.list") != first
    await owner.call("tasks.task.create", name="One more")
    assert len(await owner.call("tasks.task.list")) == len(first) + 1


async def test_an_answer_is_forgotten_with_the_minute(world: World) -> None:
    """Dismissals come with time, without any write."""
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE users SET firing_date = '2026-11-21 12:00:30' WHERE user_id = 'anna'")
    anna = world.person("anna")
    assert await anna.call("finplan.request.list")
    world.passes(minutes=1)
    assert (await anna.refused("finplan.request.list")).status == 403


async def test_the_openapi_document_is_served(world: World) -> None:
    """Without a key: it holds nothing of the company."""
    response = await world.stranger().send("/openapi.json", method="GET")
    assert len(response.json()["paths"]) == len(operations())


async def test_a_websocket_is_left_alone(world: World) -> None:
    """There are none here."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await world.app({"type": "websocket", "path": LIST, "headers": [], "root_path": ""}, receive, send)
    assert sent == []


async def test_memory_for_answers_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest answers go first."""
    monkeypatch.setattr(dispatch, "KEPT_BYTES", 1)
    owner = world.owner()
    assert await owner.call("finance.currency.list") == await owner.call("finance.currency.list")


async def test_large_answers_are_made_beside_the_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer, from a thread, once the one before was large."""
    monkeypatch.setattr(dispatch, "LARGE_BYTES", 100)
    owner = world.owner()
    first = await owner.call("finance.transaction.list", type="in")
    threads: list[str] = []
    list_in = HANDLERS["finance.transaction.list"]

    def watched(*arguments: Any) -> object:
        threads.append(threading.current_thread().name)
        return list_in(*arguments)

    monkeypatch.setattr(dispatch, "HANDLERS", {**HANDLERS, "finance.transaction.list": watched})
    await world.person("vera").call("tasks.task.create", name="so that nothing is kept")
    assert await owner.call("finance.transaction.list", type="in") == first
    assert threads != [threading.main_thread().name]


async def test_an_empty_text_for_an_id_creates(world: World) -> None:
    """An empty id is no id, however it is written; elsewhere an empty text is no id at all."""
    boris = world.person("boris")
    saved = await boris.call("finplan.request.save", id="", author_block_id=100, name="A drill", sum=340, type=130)
    assert saved["id"] > 25
    assert (await boris.refused("wiki.article.get", id="")).status == 400
