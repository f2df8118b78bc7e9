"""Secrets at rest: sealed with Fernet, the key in a file beside the database (mode 0600), older keys still open.

The first line of the file seals; every line opens. Rotation: put a new key on top, and seal again.
"""

import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class VaultError(Exception):
    """The key file cannot be used; the text says why and what to do."""


class Vault:
    """Seals and opens texts. Its repr shows nothing."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(Fernet.generate_key() + b"\n")
        if path.stat().st_mode & 0o077:
            raise VaultError(f"{path} can be read by others: run chmod 600 {path}")
        try:
            self._fernet = MultiFernet([Fernet(line) for line in path.read_bytes().split()])
        except ValueError:
            raise VaultError(
                f"{path} holds no usable key: restore it from a backup, keys sealed with it are lost otherwise"
            ) from None

    def seal(self, secret: str) -> str:
        """The secret as text that only this key file opens."""
        return self._fernet.encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """The secret again. Raises VaultError where the key file is another one."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise VaultError("a stored key cannot be opened with this key file: invite the person again") from None
