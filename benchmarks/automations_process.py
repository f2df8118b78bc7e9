"""The processes of the automations' benchmarks, each of its own so that none pays for another's work:

python -m benchmarks.automations_process runner FOLDER URL COUNT      as many automations, all due in the same second
python -m benchmarks.automations_process dbos FOLDER URL COUNT        as many workflows of DBOS alone
python -m benchmarks.automations_process scheduler FOLDER URL COUNT   as many jobs of APScheduler alone, nothing kept

Each has three trivial steps; `URL` may be empty, for SQLite in the folder. Prints a line of JSON: `per_second`, and of
the runner `begun` and `ended`, the seconds after its tick of each run.
"""

import asyncio
import json
import logging
import sqlite3
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TEXT = """
name: {name}
trigger: {{every: 1d, anchor: "{anchor}"}}
steps:
  - {{id: one, set: 1}}
  - {{id: two, set: "{{{{ steps.one + 1 }}}}"}}
  - {{id: three, set: "{{{{ steps.two + 1 }}}}"}}
"""
READ_SECONDS = 0.03
"""What one definition may take to be read before it is due."""


async def runner(folder: Path, url: str | None, count: int) -> dict[str, Any]:
    from automations.control import Runner, Watcher
    from automations.definition import read_automation
    from automations.ledger import Ledger
    from automations.records import open_ledger
    from tests.automations.world import Chat, TableCaller

    due = (datetime.now(UTC) + timedelta(seconds=10 + count * READ_SECONDS)).replace(microsecond=0)
    anchor = due.replace(tzinfo=None)
    definitions = [
        read_automation(TEXT.format(name=f"number-{number}", anchor=anchor), folder / f"number-{number}.yaml")
        for number in range(count)
    ]
    stop = asyncio.Event()
    left = count

    class Counting(Watcher):
        async def on_ended(self, run_id: str) -> None:  # noqa: ARG002 - only their number counts
            nonlocal left
            left -= 1
            if not left:
                stop.set()

    def ready() -> None:
        assert datetime.now(UTC) < due, "the machine is too busy: the runs were due before the runner was ready"

    run = Runner(definitions, caller=TableCaller(), messenger=Chat(), data=folder, database_url=url, watcher=Counting())
    await run.run_forever(stop, ready)
    with open_ledger(folder, url) as database:
        runs = Ledger(database).runs(None, count + 1)
    assert len(runs) == count
    assert {one.state for one in runs} == {"done"}
    assert all(one.tick == f"{anchor.isoformat()}Z" for one in runs)

    def after(moment: str | None) -> float:
        return (datetime.fromisoformat(str(moment)) - due).total_seconds()

    ended = [after(one.ended_at) for one in runs]
    return {"per_second": count / max(ended), "begun": [after(one.begun_at) for one in runs], "ended": ended}


async def bare(folder: Path, url: str | None, count: int) -> dict[str, Any]:
    from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

    from automations.old_sqlite import lend_unixepoch

    lend_unixepoch()
    logging.getLogger("dbos").addHandler(logging.NullHandler())
    file = folder / "bare.db"
    if url is None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    config = DBOSConfig(
        name="bare",
        system_database_url=url or f"sqlite:///{file}",
        serializer=DBOSPortableJSONSerializer(),
        log_level="ERROR",
        application_version="1",
        executor_id="one",
    )
    DBOS(config=config)

    @DBOS.workflow(name="three")
    async def three(_number: int) -> int:
        value = 0
        for name in ("one", "two", "three"):

            async def step(before: int = value) -> int:
                return before + 1

            value = await DBOS.run_step_async({"name": name}, step)
        return value

    DBOS.launch()
    began = time.perf_counter()
    handles = [await DBOS.start_workflow_async(three, number) for number in range(count)]
    values = [await handle.get_result() for handle in handles]
    took = time.perf_counter() - began
    assert values == [3] * count
    await asyncio.to_thread(DBOS.destroy)
    return {"per_second": count / took}


async def scheduler(_folder: Path, _url: str | None, count: int) -> dict[str, Any]:
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    finished = asyncio.Event()
    left = count

    async def three() -> None:
        nonlocal left
        sum(1 for _ in range(3))
        left -= 1
        if not left:
            finished.set()

    running: Any = AsyncIOScheduler(timezone=UTC)
    due = datetime.now(UTC) + timedelta(seconds=1 + count / 1000)
    for _ in range(count):
        running.add_job(three, "date", run_date=due, misfire_grace_time=None)
    running.start()
    await finished.wait()
    took = (datetime.now(UTC) - due).total_seconds()
    running.shutdown()
    return {"per_second": count / took}


MODES = {"runner": runner, "dbos": bare, "scheduler": scheduler}


def main(words: list[str]) -> None:
    logging.basicConfig(level=logging.ERROR)
    mode, folder, url, count = words
    Path(folder).mkdir(parents=True, exist_ok=True)
    print(json.dumps(asyncio.run(MODES[mode](Path(folder), url or None, int(count)))))


if __name__ == "__main__":
    main(sys.argv[1:])
