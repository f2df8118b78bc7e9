"""When the workspace is polled: the loop around Watch.poll."""

import asyncio
import logging

from bot.desk import Desk
from bot.watch import Watch
from workspace_api import WorkspaceError

log = logging.getLogger("bot.polls")


class Polls:
    """Polls until it is stopped; a poll that fails does not end the next ones."""

    def __init__(self, desk: Desk, watch: Watch, seconds: float) -> None:
        self._desk = desk
        self._watch = watch
        self._seconds = seconds
        self._failing = False
        self._paused = False

    def pause(self) -> None:
        """No polls of its own from here on, such as while a workspace is moved; `Watch.poll` still works."""
        self._paused = True

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: polls."""
        while not stop.is_set():
            try:
                if not self._paused:
                    await self._watch.poll()
                self._failing = False
            except WorkspaceError as error:
                # Told once per outage; the polls go on.
                if not self._failing:
                    log.warning("the workspace cannot be read: %s", error)
                self._failing = True
            except Exception:
                # One bad poll must not end all polling: it is told with its trace, and the next one comes.
                log.exception("a poll failed")
            try:
                async with asyncio.timeout(self._seconds):
                    await stop.wait()
            except TimeoutError:
                continue
