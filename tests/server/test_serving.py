"""Real sockets and a real process: announcing, stopping, kill -9 after a payment."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.server.world import TODAY
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import database_address, open_workspace, prepare
from workspace_api.server.profile import Profile
from workspace_api.server.serve import serve, serve_async

LIST = "/finplan/api/request/list"

PROCESS = """
import sys
from pathlib import Path
from workspace_api.server.profile import Profile
from workspace_api.server.serve import serve
serve(data=Path(sys.argv[1]), database_url=None, host="127.0.0.1", port=0, profile=Profile(),
      announce=lambda address: print(address, flush=True))
"""


@pytest.fixture
def data(tmp_path: Path, sample_file: Path) -> Path:
    """A data folder with the sample in it."""
    (tmp_path / "workspace.db").write_bytes(sample_file.read_bytes())
    return tmp_path


def issued(data: Path, user_id: str) -> str:
    with open_workspace(data) as database:
        return issue_key(database, user_id)


async def test_it_serves_beside_other_work_until_cancelled(data: Path) -> None:
    """Over a real port, announced once it listens; a key issued meanwhile by another process counts at once."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
    )
    address = await asyncio.wait_for(ready, 60)
    async with httpx.AsyncClient(base_url=address) as client:
        assert (await client.post(LIST, headers={"Api-key": "wk_none"})).status_code == 401
        key = await asyncio.to_thread(issued, data, "anna")
        answer = await client.post(LIST, headers={"Api-key": key})
        assert answer.status_code == 200
        assert len(answer.json()["data"]) > 5
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def dripped(port: int, first: bytes) -> bytes:
    """What comes back, until the server hangs up, from a request whose headers come a byte at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(first)
    answer = bytearray()

    async def read_on() -> None:
        while part := await reader.read(65536):
            answer.extend(part)

    reading = asyncio.create_task(read_on())
    # A byte that crosses with the hanging up resets the connection.
    with suppress(ConnectionError):
        while not reading.done():
            writer.write(b"x")
            await writer.drain()
            await asyncio.wait({reading}, timeout=0.01)
    with suppress(ConnectionError):
        await reading
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return bytes(answer)


async def test_headers_that_never_end_are_given_up(data: Path) -> None:
    """A drip does not keep a connection, be it the first request on it or a further one."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve_async(
            data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready, header_seconds=0.5
        )
    )
    port = int((await asyncio.wait_for(ready, 60)).rsplit(":", 1)[1])
    whole = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    assert await asyncio.wait_for(dripped(port, b"POST / HTTP/1.1\r\nX-Slow: "), 60) == b""
    second = await asyncio.wait_for(dripped(port, whole + b"POST / HTTP/1.1\r\nX-Slow: "), 60)
    assert second.startswith(b"HTTP/1.1 200 OK")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await asyncio.wait_for(reader.read(), 60) == b"", "a connection that says nothing"
    writer.close()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_slow_body_is_no_slow_header(data: Path) -> None:
    """Once the headers are whole, the deadline of the request counts, and the connection goes on."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve_async(
            data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready, header_seconds=1
        )
    )
    address = await asyncio.wait_for(ready, 60)
    key = await asyncio.to_thread(issued, data, "anna")

    async def body() -> AsyncIterator[bytes]:
        for part in (b'{"fin', b"plans", b'": ', b"[]", b"}"):
            await asyncio.wait({never}, timeout=0.3)
            yield part

    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async with httpx.AsyncClient(base_url=address) as client:
        for content in (body(), b'{"finplans": []}'):
            answer = await client.post(LIST, content=content, headers={"Api-key": key})
            assert answer.json() == {"status": "success", "data": []}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_taken_port_is_said_clearly(data: Path) -> None:
    """With what to do."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
    )
    port = int((await asyncio.wait_for(ready, 60)).rsplit(":", 1)[1])
    with pytest.raises(OSError, match=f"Cannot listen at 127.0.0.1:{port}"):
        await asyncio.to_thread(
            lambda: serve(data=data, database_url=None, host="127.0.0.1", port=port, profile=Profile(), announce=print)
        )
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.slow
def test_a_paid_request_survives_kill_9(data: Path) -> None:
    """What was answered is on the disk: killed right after the answer, started again, it is still paid."""
    lily = issued(data, "lily")
    headers = {"Api-key": lily}
    first = subprocess.Popen([sys.executable, "-c", PROCESS, str(data)], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        address = first.stdout.readline().strip()
        paid = httpx.post(
            f"{address}/finplan/api/request/pay", json={"request_id": 22, "payment_sum": 5}, headers=headers
        )
        assert paid.json() == {"status": "success", "data": True}
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        assert first.stdout is not None
        first.stdout.close()
    second = subprocess.Popen([sys.executable, "-c", PROCESS, str(data)], stdout=subprocess.PIPE, text=True)
    try:
        assert second.stdout is not None
        address = second.stdout.readline().strip()
        found = {each["id"]: each for each in httpx.post(f"{address}{LIST}", headers=headers).json()["data"]}
        assert found[22]["sum_paid"] == 11405
        assert found[22]["history"][-1]["text"] == "5"
    finally:
        second.send_signal(signal.SIGTERM)
        assert second.wait(20) in {0, -signal.SIGTERM}
        assert second.stdout is not None
        second.stdout.close()


def test_a_database_by_url(tmp_path: Path) -> None:
    """The given one, else a file in the data folder; a workspace that cannot be migrated is closed again."""
    assert database_address(tmp_path, "postgresql://x/y") == "postgresql://x/y"
    assert database_address(tmp_path) == f"sqlite:///{tmp_path / 'workspace.db'}"
    with open_workspace(tmp_path) as database:
        prepare(database, "en", today=lambda: TODAY)
    (tmp_path / "broken.db").write_bytes(b"no database" * 1000)
    with pytest.raises(Exception, match="not a database"):
        open_workspace(tmp_path, f"sqlite:///{tmp_path / 'broken.db'}")
