"""A served sample company for a sync test: the embedded workspace on a loop in a thread of its own, on a free port."""

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.profile import Profile
from workspace_api.server.sample import load_sample
from workspace_api.server.serve import serve_async


@contextmanager
def served(data: Path) -> Generator[tuple[str, str]]:
    """The address and the owner's key."""
    with open_workspace(data, None) as database:
        load_sample(database, "en", today=datetime.now(UTC).date())
        key = issue_key(database, owner=True)
    listening: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(data, listening)))
    thread.start()
    try:
        url, loop, task = listening.result(timeout=30)
        try:
            yield url, key
        finally:
            loop.call_soon_threadsafe(task.cancel)
    finally:
        thread.join()


async def _serve(data: Path, listening: "Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Task[None]]]") -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[str] = loop.create_future()
    serving = serve_async(data=data, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
    task = asyncio.create_task(serving)
    try:
        task.add_done_callback(lambda _: ready.cancel())
        listening.set_result((await ready, loop, task))
        with suppress(asyncio.CancelledError):
            await task
    except BaseException as error:
        if not listening.done():
            listening.set_exception(error)
        raise
