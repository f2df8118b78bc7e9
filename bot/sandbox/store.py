"""The local world on disk: `world.json`, replaced as a whole, and one file per blob. Writes are gathered a little."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.sandbox.model import State
from bot.sandbox.world import Event, World

_STATE: TypeAdapter[State] = TypeAdapter(State)
FILE = "world.json"
# Changes within this many seconds are written together.
GATHER = 0.3


def load_state(folder: Path) -> State:
    """The state that was kept in this folder; a new one where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    if not path.exists():
        return State()
    try:
        return _STATE.validate_json(path.read_bytes())
    except ValidationError as error:
        reason = error.errors()[0]
        raise ValueError(f"{path} cannot be read ({reason['msg']}): move it away to begin anew") from None


def write_atomically(path: Path, content: bytes) -> None:
    """All or nothing, also when the machine stops in between."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


class FolderBlobs:
    """The bytes of files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, path: str, content: bytes) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)

    def get(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()


class Keeper:
    """Writes the world's state down a moment after each change, and at the end."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world = world
        self._path = folder / FILE
        self._changed = asyncio.Event()
        # The people of this start are new; a folder that cannot be written shows at once.
        self._changed.set()
        self._closing = asyncio.Event()
        self._silence = world.listen(self._note)
        self._task = asyncio.create_task(self._keep(), name="local telegram's store")

    def _note(self, event: Event) -> None:
        if event.kind != "typing":
            self._changed.set()

    async def _keep(self) -> None:
        while not self._closing.is_set():
            await self._changed.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GATHER):
                    await self._closing.wait()
            self._changed.clear()
            # The state is read here, in the loop, and only the writing leaves it.
            await asyncio.to_thread(write_atomically, self._path, _STATE.dump_json(self._world.state))

    async def close(self) -> None:
        """Writes the last state and ends."""
        self._silence()
        self._closing.set()
        self._changed.set()
        await self._task
