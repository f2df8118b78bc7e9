"""A runner that is stopped for a while and wakes up: what it had under way was taken over, and it repeats nothing.

Two real processes on one PostgreSQL, each on a machine of its own. The time that makes the sleeper dead is not waited
for: its last beat is set back.
"""

import asyncio
import signal
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import update

from automations.control import Control, Records, load_folder
from automations.records import open_ledger
from automations.tables import runners
from automations.versions import Versions
from storage import Database
from tests.automations.test_kill import CREATES, Workspace, told, victim, workspace

pytestmark = pytest.mark.slow

__all__ = ["workspace"]

PAY = "fintransaction.transaction.create"


def now() -> datetime:
    return datetime.now(UTC)


def set_back(database: Database) -> None:
    """Lets the last beat of the first machine be a minute ago."""
    own = runners.c.executor == "one-runner-0"
    job = update(runners).where(own).values(beat=runners.c.beat - 60)
    assert database.write_now(lambda connection: connection.execute(job).rowcount) == 1


@pytest.mark.parametrize(
    ("paused_in", "state"),
    [
        pytest.param("orgschema.block.list", "done", id="before the payment"),
        pytest.param(PAY, "stopped", id="in the payment"),
    ],
)
async def test_who_wakes_up_repeats_nothing(
    tmp_path: Path, workspace: Workspace, postgres_url: str, paused_in: str, state: str
) -> None:
    """One payment, whoever makes it; the sleeper records nothing more, and runs on under a new life."""
    (tmp_path / "creates.yaml").write_text(CREATES)
    workspace.held = {paused_in}
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_ledger(tmp_path, postgres_url))
        await Versions(database).enter(list(load_folder(tmp_path).definitions), now())
        sleeper = await stack.enter_async_context(
            victim(tmp_path, workspace, "forever", postgres_url, "one", "data-one")
        )
        await told(sleeper, "ready")
        control = stack.enter_context(Control(tmp_path, postgres_url, now))
        run_id = await control.ask_for_run("creates", "anna")
        async with asyncio.timeout(60):
            await workspace.arrived.wait()
        sleeper.send_signal(signal.SIGSTOP)
        workspace.held.clear()
        set_back(database)
        other = await stack.enter_async_context(victim(tmp_path, workspace, "forever", postgres_url, "two", "data-two"))
        assert await told(other, run_id) == f"{run_id} {state}"
        before = list(workspace.calls)

        workspace.release.set()
        sleeper.send_signal(signal.SIGCONT)
        await told(sleeper, "ready")
        assert workspace.calls == before
        assert before.count(PAY) == 1
        assert {one.executor for one in control.alive()} == {"one-runner-0", "two-runner-0"}
        for process in (sleeper, other):
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    with Records(tmp_path, postgres_url) as records:
        assert records.show(run_id).run.state == state
