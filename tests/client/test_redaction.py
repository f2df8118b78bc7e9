"""The key, and what is sent, stand in no text that somebody may store: reprs, errors, causes, events, debug logs."""

import logging
import pickle
import traceback
from typing import Any

import pytest

from tests.client.chaos import (
    Behaviour,
    Chaos,
    answer,
    close_after_body,
    hang,
    nobody_listens,
    refusal,
    reset_after_body,
    success,
)
from tests.client.conftest import KEY, Caller, Opener
from workspace_api import AsyncWorkspace, CallFailed, InvalidArguments, Workspace, calls
from workspace_api.client import Event, Message
from workspace_api.client.exchange import Options, Send, message_of

SECRET = "a-secret-in-the-body"
CALL = calls.password.password.save(login="anna", password=SECRET, category_id=1)
DATED = calls.tasks.task.create(name=SECRET, planned_end_date="2026-11-01")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - texts are taken, too

FAULTS: dict[str, Behaviour] = {
    "lost": close_after_body,
    "reset": reset_after_body,
    "hang": hang,
    "html": answer(f"<html>{KEY}</html>".encode(), 502, {"Content-Type": f"text/html-{KEY}"}),
    "unauthorized": refusal(401, "unauthorized", f"The key {KEY} is unknown."),
    "broken": refusal(500, "internal_error", f"KeyError: {KEY}"),
    "as code": refusal(400, KEY, "no"),
    "redirect": answer(b"", 302, {"Location": f"/?key={KEY}"}),
    "wrong type": success([]),
}


def everything_about(error: BaseException) -> str:
    """Text, repr, arguments, members and causes of an error, as a log or a pickle would keep them."""
    lines = [str(error), repr(error), repr(error.args), repr(vars(error)), *traceback.format_exception(error)]
    lines += [everything_about(inner) for inner in (error.__cause__, error.__context__) if inner is not None]
    return "\n".join([*lines, repr(pickle.dumps(error))])


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.parametrize("call", [CALL, DATED], ids=["password", "task"])
async def test_no_failure_tells_the_key_or_the_body(
    chaos: Chaos, open_caller: Opener, caplog: pytest.LogCaptureFixture, fault: str, call: Any
) -> None:
    """Even where the workspace itself repeats the key, and with every logger at DEBUG."""
    seen: list[Event] = []
    chaos.script = [FAULTS[fault]]
    caller = open_caller(chaos.url, observer=seen.append)
    with caplog.at_level(logging.DEBUG), pytest.raises(CallFailed) as caught:
        await caller.perform(call, timeout=0.4)
    # httpcore tells the headers of an answer: what the workspace writes there is its own doing.
    logged = [line for line in caplog.text.splitlines() if "receive_response_headers.complete" not in line]
    told = "\n".join([everything_about(caught.value), *logged, repr(seen)])
    assert KEY not in told
    assert SECRET not in told
    assert chaos.received[0].headers["api-key"] == KEY


async def test_no_success_is_logged_with_the_key(
    chaos: Chaos, caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    """httpcore, aiohttp and asyncio at DEBUG tell of connections, not of what goes over them."""
    chaos.script = [success({"id": 1})]
    with caplog.at_level(logging.DEBUG):
        outcome = await caller.attempt(CALL)
    assert KEY not in caplog.text + repr(outcome)
    assert SECRET not in caplog.text + repr(outcome)


async def test_a_refused_connection_tells_no_key(open_caller: Opener) -> None:
    """The same where nothing was sent."""
    with nobody_listens() as url, pytest.raises(CallFailed) as caught:
        await open_caller(url).perform(CALL)
    assert KEY not in everything_about(caught.value)


@pytest.mark.parametrize("client", [Workspace, AsyncWorkspace])
def test_a_client_shows_its_address_alone(client: type[Workspace] | type[AsyncWorkspace]) -> None:
    """No key, and of the address no user and no password."""
    api = client("https://user:hunter2@workspace.example.com/path", KEY)
    told = f"{api!r} {api} {api.options} {vars(api)}"
    assert repr(api) == f"<{client.__name__} https://workspace.example.com/path>"
    assert KEY not in told


def test_a_message_shows_neither_headers_nor_body() -> None:
    """Nor does the step that carries it."""
    message = message_of(CALL, Options(idempotency_key="once"), KEY)
    told = f"{message!r} {message} {Send(message, 1.0)}"
    assert f"{message!r}" == f"<Message /password/api/password/save of {len(message.body)} bytes>"
    assert KEY not in told
    assert SECRET not in told
    assert isinstance(message, Message)


@pytest.mark.parametrize("client", [Workspace, AsyncWorkspace])
def test_a_client_cannot_be_stored(client: type[Workspace] | type[AsyncWorkspace]) -> None:
    """Its key would be stored with it."""
    with pytest.raises(TypeError, match="holds connections and a key: open one where it is needed"):
        pickle.dumps(client("http://127.0.0.1:9", KEY))


@pytest.mark.parametrize("client", [Workspace, AsyncWorkspace])
def test_a_key_that_no_header_can_carry_is_told_without_it(client: type[Workspace] | type[AsyncWorkspace]) -> None:
    """A key pasted with a line in the middle, or in another alphabet."""
    for key in (f"{KEY}\r\nX: y", f"{KEY}-ключ", f"{KEY}\x00"):
        with pytest.raises(InvalidArguments) as caught:
            client("http://127.0.0.1:9", key)
        assert str(caught.value) == "workspace: api_key: holds characters that no key has: copy it again"
        assert KEY not in everything_about(caught.value)
