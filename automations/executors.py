"""Which processes run automations, and which of them are dead: one locked file each, in the data folder.

The system frees a lock when its process ends, however it ends: a name whose file is free belongs to nobody alive. A
runner takes the first free of a few fixed names, so that its next start finds its own runs; a run by hand has a name
of its own. The reaper holds a dead process's lock while it hands its runs on, so that nobody starts under that name.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

MOST_RUNNERS = 64
BY_HAND = "-by-hand-"


def _lock(path: Path) -> int | None:
    """The descriptor of a lock that was free, or None."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


class Executors:
    """The names of processes in one data folder; `host` makes them unique where folders are not shared."""

    def __init__(self, folder: Path, host: str) -> None:
        self._folder = folder
        self._host = host

    def _path(self, executor: str) -> Path:
        return self._folder / f"{executor}.lock"

    @contextmanager
    def runner(self) -> Generator[str]:
        """The name of a runner, held as long as the block lasts."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._sweep()
        for number in range(MOST_RUNNERS):
            executor = f"{self._host}-runner-{number}"
            descriptor = _lock(self._path(executor))
            if descriptor is not None:
                try:
                    yield executor
                finally:
                    os.close(descriptor)
                return
        raise RuntimeError(f"{MOST_RUNNERS} runners work in {self._folder} already")

    def _sweep(self) -> None:
        """Takes away the files of runs by hand that were killed: without one, a name of this host is dead too."""
        for path in self._folder.glob(f"{self._host}{BY_HAND}*.lock"):
            with self.dead(path.stem):
                pass

    @contextmanager
    def by_hand(self, unique: str) -> Generator[str]:
        """The name of a process that runs one automation and ends."""
        self._folder.mkdir(parents=True, exist_ok=True)
        executor = f"{self._host}{BY_HAND}{unique}"
        descriptor = _lock(self._path(executor))
        if descriptor is None:
            raise RuntimeError(f"{executor} is in use")
        try:
            yield executor
        finally:
            self._path(executor).unlink(missing_ok=True)
            os.close(descriptor)

    def is_alive(self, executor: str) -> bool:
        """Whether a process of that name runs; one that never locked a file in this folder is not judged."""
        with self.dead(executor) as dead:
            return not dead

    @contextmanager
    def dead(self, executor: str) -> Generator[bool]:
        """Whether a process of that name has died here; while the block lasts, none starts under it."""
        path = self._path(executor)
        # A run by hand that was broken off takes its file away; on this host, no file means nobody.
        descriptor = _lock(path) if path.exists() or executor.startswith(f"{self._host}-") else None
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                if BY_HAND in executor:
                    path.unlink(missing_ok=True)
                os.close(descriptor)
