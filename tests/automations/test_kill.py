"""kill -9 of real processes in the middle of runs: what is finished is not repeated, what is doubtful is not either.

The workspace is a server of the test's own, which counts calls and holds back answers, so that the moment of the kill
is exact: the call has arrived, its answer has not left.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from automations.control import Records
from automations.engine_dbos import DbosHistory
from automations.ledger import Ledger
from automations.records import engine_url, open_ledger

pytestmark = pytest.mark.slow


@dataclass
class Workspace:
    """Counts calls; those named in `held` wait for `release`, and `arrived` tells that one waits."""

    port: int = 0
    calls: list[str] = field(default_factory=list[str])
    held: set[str] = field(default_factory=set[str])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readline()).decode().split()[0]
        self.calls.append(name)
        if name in self.held:
            self.arrived.set()
            await self.release.wait()
        writer.write(json.dumps({"id": len(self.calls), "name": name}).encode() + b"\n")
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    """The server, on a port of its own."""
    served = Workspace()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    served.release.set()
    server.close()


@asynccontextmanager
async def victim(folder: Path, workspace: Workspace, mode: str, *words: str) -> AsyncGenerator[Process]:
    """A process of victim.py, killed at the end at the latest."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.automations.victim", folder, str(workspace.port), mode, *words, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def told(process: Process, words: str) -> str:
    """The first line of a process's output with those words in it."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for line in process.stdout:
            if words in line.decode():
                return line.decode().strip()
    raise AssertionError(f"the process ended without saying {words}")


async def kill_at(workspace: Workspace, process: Process, operation: str) -> None:
    """Kills the process while that call is under way."""
    async with asyncio.timeout(60):
        await workspace.arrived.wait()
    assert workspace.calls[-1] == operation
    process.kill()
    await process.wait()
    workspace.held.clear()
    workspace.release.set()


READS = """
name: reads
steps:
  - {id: first, call: orgschema.block.list}
  - {id: file, write: first.json, content: "{{ steps.first }}"}
  - {id: second, call: orgschema.worker.list}
  - {id: third, call: finplan.request.list}
  - {id: all, write: all.json, content: ["{{ steps.first }}", "{{ steps.second }}", "{{ steps.third }}"]}
"""

CREATES = """
name: creates
steps:
  - {id: first, call: orgschema.block.list}
  - {id: pay, call: fintransaction.transaction.create, with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}}
  - {id: last, call: finplan.request.list}
"""

EACH = """
name: each
steps:
  - {id: some, for_each: [1, 2], call: orgschema.block.list}
  - {id: third, call: orgschema.worker.list}
"""


async def due_soon(folder: Path, seconds: int) -> str:
    """An automation with one tick, so many seconds from now; a runner that is later than that catches it up."""
    now = datetime.now(UTC)
    anchor = (now + timedelta(seconds=seconds)).replace(microsecond=0, tzinfo=None)
    (folder / "each.yaml").write_text(EACH + f'trigger: {{every: 1d, anchor: "{anchor}"}}\n')
    (folder / "data").mkdir()
    with open_ledger(folder / "data", None) as database:
        await Ledger(database).considered({"each": {"every": "1d", "anchor": str(anchor)}}, now)
    return f"{anchor.isoformat()}Z"


async def test_a_run_goes_on_after_its_last_finished_step(tmp_path: Path, workspace: Workspace) -> None:
    """Killed in the second read: the next runner repeats that read and nothing before it."""
    (tmp_path / "reads.yaml").write_text(READS)
    workspace.held = {"orgschema.worker.list"}
    async with victim(tmp_path, workspace, "once", "reads") as process:
        await kill_at(workspace, process, "orgschema.worker.list")
    async with victim(tmp_path, workspace, "forever") as process:
        line = await told(process, "reads:manual")
    assert line.endswith(" done")
    assert workspace.calls == [
        "orgschema.block.list",
        "orgschema.worker.list",
        "orgschema.worker.list",
        "finplan.request.list",
    ]
    values = json.loads((tmp_path / "data/files/all.json").read_text())
    assert [value["id"] for value in values] == [1, 3, 4]


async def test_a_creation_under_way_is_not_repeated(tmp_path: Path, workspace: Workspace) -> None:
    """Killed while the payment is out: the next runner stops the run and asks; who says so gets it done again."""
    (tmp_path / "creates.yaml").write_text(CREATES)
    workspace.held = {"fintransaction.transaction.create"}
    async with victim(tmp_path, workspace, "once", "creates") as process:
        await kill_at(workspace, process, "fintransaction.transaction.create")
    async with victim(tmp_path, workspace, "forever") as process:
        line = await told(process, "creates:manual")
        process.terminate()
        assert await process.wait() == 0
    assert line.endswith(" stopped")
    assert workspace.calls == ["orgschema.block.list", "fintransaction.transaction.create"]
    with Records(tmp_path / "data", None) as records:
        report = records.history("creates")[0]
        steps = records.show(report.run_id).steps
    assert (report.state, report.step) == ("stopped", "pay")
    assert report.message is not None
    assert "look in the workspace first" in report.message
    assert [(step.name, step.state) for step in steps] == [("first", "done"), ("pay", "failed")]


async def test_a_tick_that_was_running_goes_on_with_the_next_start(tmp_path: Path, workspace: Workspace) -> None:
    """The runner itself is killed in a tick's run; its next start takes the run up, and does not run the tick twice."""
    tick = await due_soon(tmp_path, seconds=3)
    workspace.held = {"orgschema.worker.list"}
    async with victim(tmp_path, workspace, "forever") as process:
        await told(process, "ready")
        await kill_at(workspace, process, "orgschema.worker.list")
    async with victim(tmp_path, workspace, "forever") as process:
        line = await told(process, "each:")
        process.terminate()
        assert await process.wait() == 0
    assert line == f"each:{tick} done"
    assert workspace.calls == ["orgschema.block.list"] * 2 + ["orgschema.worker.list"] * 2


async def test_two_runners_run_a_tick_once(tmp_path: Path, workspace: Workspace) -> None:
    """Both fire; the run's id makes one run of it. When the one that has it dies, the other takes it over."""
    await due_soon(tmp_path, seconds=5)
    workspace.held = {"orgschema.worker.list"}
    async with AsyncExitStack() as stack:
        runners: dict[str | None, Process] = {}
        for name in ("here-runner-0", "here-runner-1"):
            runners[name] = await stack.enter_async_context(victim(tmp_path, workspace, "forever"))
            await told(runners[name], "ready")
        async with asyncio.timeout(60):
            await workspace.arrived.wait()
        history = DbosHistory(engine_url(tmp_path / "data", None))
        under_way = history.under_way()
        history.close()
        assert len(under_way) == 1
        doomed = runners.pop(under_way[0].executor)
        await kill_at(workspace, doomed, "orgschema.worker.list")
        line = await told(next(iter(runners.values())), "each:")
    assert line.endswith(" done")
    assert workspace.calls == ["orgschema.block.list"] * 2 + ["orgschema.worker.list"] * 2
