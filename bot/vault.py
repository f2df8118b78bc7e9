"""Secrets at rest: sealed with Fernet, the key in a file beside the database (mode 0600), older keys still open.

The first line of the file seals; every line opens. Rotation, by `workspace people rotate-key`:

add_key() ─► a new line on top ─► everything is sealed again, in one transaction ─► drop_old_keys()

A running bot sees a changed file by itself: the file is looked at before each use.
"""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class VaultError(Exception):
    """The key file cannot be used; the text says why and what to do."""


class Vault:
    """Seals and opens texts. Its repr shows nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(Fernet.generate_key() + b"\n")
        self._keys: list[Fernet] = []
        self._seen: tuple[int, ...] | None = None
        self._look()

    def _look(self) -> None:
        """Reads the file where it has changed since it was read."""
        try:
            status = self._path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
            if seen == self._seen:
                return
            if status.st_mode & 0o077:
                raise VaultError(f"{self._path} can be read by others: run chmod 600 {self._path}")
            lines = self._path.read_bytes().split()
        except FileNotFoundError:
            raise VaultError(f"{self._path} is gone: restore it from a backup") from None
        try:
            keys = [Fernet(line) for line in lines]
            if not keys:
                raise ValueError
        except ValueError:
            raise VaultError(
                f"{self._path} holds no usable key: restore it from a backup, keys sealed with it are lost otherwise"
            ) from None
        self._keys, self._seen = keys, seen

    def seal(self, secret: str) -> str:
        """The secret as text that only this key file opens."""
        self._look()
        return self._keys[0].encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """The secret again. Raises VaultError where the key file is another one."""
        self._look()
        try:
            return MultiFernet(self._keys).decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise VaultError("a stored key cannot be opened with this key file: invite the person again") from None

    def is_newest(self, sealed: str) -> bool:
        """Whether the first line alone opens it: then the older lines are not needed for it."""
        self._look()
        try:
            self._keys[0].decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    @contextmanager
    def alone(self) -> Generator[None]:
        """One rotation at a time: a second one could drop what the first has just sealed with."""
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise VaultError(f"{self._path} is being rotated by another command: wait for it") from None
        finally:
            os.close(folder)

    def add_key(self) -> None:
        """A new key on top; the older ones still open."""
        self._look()
        self._write([Fernet.generate_key(), *self._path.read_bytes().split()])

    def drop_old_keys(self) -> int:
        """Keeps the first line alone; returns how many were dropped. What they sealed cannot be opened any more."""
        lines = self._path.read_bytes().split()
        self._write(lines[:1])
        return len(lines) - 1

    def _write(self, lines: list[bytes]) -> None:
        """Replaces the file in one step, so that a crash leaves the old one or the new one."""
        descriptor, name = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(b"".join(line + b"\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._look()
