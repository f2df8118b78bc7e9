"""A process that runs automations and may be killed: `victim FOLDER PORT once NAME`, or `forever`.

Its workspace is the test's own server on loopback: a line `<operation>` out, a line of JSON (`data`) back. What the
process has to say goes to stdout, one line each: `ready`, and `<run id> <state>` for each run that ends.
"""

import asyncio
import json
import logging
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
    """The runner's own log, shortened to the ends of runs."""

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage().split()
        if words[0] == "run" and len(words) == 3:
            print(words[1].rstrip(":"), words[2], flush=True)  # noqa: T201 - the test reads it


async def main(folder: Path, port: int, mode: str, name: str) -> None:
    loaded = load_folder(folder)
    runner = Runner(loaded.definitions, caller=SocketCaller(port), messenger=Chat(), data=folder / "data", host="here")
    if mode == "once":
        await runner.run_once(name)
        return
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await runner.run_forever(stop, lambda: print("ready", flush=True))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    logging.getLogger("automations.runner").setLevel(logging.INFO)
    logging.getLogger("automations.runner").addHandler(Told())
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
