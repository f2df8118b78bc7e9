"""Processes that run automations and may be killed.

victim FOLDER PORT once NAME    one run by hand
victim FOLDER PORT forever      a runner; URL, HOST and the name of its data folder may follow
victim nursery                  imports all once, then makes runners by fork: a line of JSON in (what `forever` takes),
                                a line `born PID` out, and `gone PID STATUS` when one has ended

Their workspace is the test's own server on loopback: a line `<operation> <body>` out, a line of JSON (`data`) back.
What a process has to say goes to stdout, one line each: `ready`, and `<run id> <state>` for each run that ends.
"""

import asyncio
import gc
import importlib
import json
import logging
import os
import selectors
import signal
import sys
from pathlib import Path
from typing import Any

from automations.control import Runner, load_folder
from tests.automations.world import Chat, done
from workspace_api.contract import Call, Unknown


class SocketCaller:
    """Calls the test's server, one connection a call."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def attempt_raw(self, call: Call[Any], /) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(f"{call.name} {json.dumps(call.params.body())}\n".encode())
            line = await reader.readline()
        finally:
            writer.close()
        return done(json.loads(line)) if line else Unknown("the answer was lost")


class Told(logging.Handler):
    """The log of runs, shortened to their ends."""

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage().split()
        if words[0] == "run" and len(words) == 3:
            print(words[1].rstrip(":"), words[2], flush=True)  # noqa: T201 - the test reads it


def tell() -> None:
    """Says on stdout how runs end."""
    for name in ("automations.execution", "automations.runner"):
        logging.getLogger(name).setLevel(logging.INFO)
        logging.getLogger(name).addHandler(Told())


async def forever(folder: Path, port: int, url: str | None = None, host: str = "here", data: str = "data") -> None:
    """A runner until SIGTERM."""
    loaded = load_folder(folder)
    assert not loaded.findings, loaded.findings
    caller, chat = SocketCaller(port), Chat()
    runner = Runner(
        loaded.definitions, caller=caller, messenger=chat, data=folder / data, database_url=url or None, host=host,
        grace_seconds=5.0,
    )  # fmt: skip
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await runner.run_forever(stop, lambda: print("ready", flush=True))  # noqa: T201 - the test reads it


async def once(folder: Path, port: int, name: str) -> None:
    """One run by hand."""
    loaded = load_folder(folder)
    runner = Runner(loaded.definitions, caller=SocketCaller(port), messenger=Chat(), data=folder / "data", host="here")
    await runner.run_once(name)


def nursery() -> None:
    """Makes runners until its stdin ends; nothing is started here that a fork could break."""
    # What a runner imports late is here already.
    for name in ("alembic.command", "dbos", "psycopg", "automations.engine_dbos", "automations.schedule"):
        importlib.import_module(name)
    gc.freeze()
    chooser = selectors.DefaultSelector()
    chooser.register(sys.stdin, selectors.EVENT_READ)
    children = 0
    print("ready", flush=True)  # noqa: T201 - the test reads it
    while True:
        while children and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            children -= 1
            print("gone", *ended, flush=True)  # noqa: T201 - the test reads it
        if not chooser.select(0.05):
            continue
        line = os.read(0, 10_000)
        if not line:
            return
        for words in map(json.loads, line.splitlines()):
            pid = os.fork()
            if pid == 0:
                _live(words)
            children += 1
            print("born", pid, flush=True)  # noqa: T201 - the test reads it


def _live(words: dict[str, Any]) -> None:
    """The life of a child."""
    folder = Path(words.pop("folder"))
    log = os.open(folder / "runners.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 1
    try:
        tell()
        asyncio.run(forever(folder, **words))
        status = 0
    except BaseException:
        logging.getLogger(__name__).exception("a runner has broken off")
    finally:
        os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "nursery":
        nursery()
    else:
        tell()
        words = sys.argv[3:]
        work = once(Path(sys.argv[1]), int(sys.argv[2]), words[1]) if words[0] == "once" else None
        asyncio.run(work or forever(Path(sys.argv[1]), int(sys.argv[2]), *words[1:]))
