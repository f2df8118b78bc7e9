"""Secrets by name, for templates as `secrets.<name>`: from the environment, or a file each.

WORKSPACE_SECRET_BANK_KEY=…        is secrets.bank_key
<WORKSPACE_SECRETS>/bank_key       is secrets.bank_key too, one line end at its end cut off

A name is a small letter, then small letters, digits and `_`. Files are read when they are asked for, so that one that
was replaced counts from the next run on. A file that others may read or change is refused, unless it is mounted: then
whoever mounted it has decided. Links may point within the folder only, as those of a mounted Kubernetes secret do.
"""

import os
import re
import stat
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from json import dumps
from pathlib import Path
from urllib.parse import quote, quote_plus

from automations.errors import did_you_mean

PREFIX = "WORKSPACE_SECRET_"
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
LARGEST = 64 * 1024
"""Bytes of a secret."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MOUNTED = "..data"
"""The link by which Kubernetes swaps a mounted secret as a whole."""


SHORTEST = 6
"""Characters. A shorter secret could not be hidden: it would be found in places that have nothing to do with it."""


class NoSecret(KeyError):
    """There is no secret of that name, or its file cannot be used; the sentence says what to do."""

    def __str__(self) -> str:
        return str(self.args[0])


class Secrets(Mapping[str, str]):
    """Secret values by name, looked up at each use. Shows no value in its text."""

    def __init__(self, environment: Mapping[str, str], folder: Path | None) -> None:
        self._environment = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(PREFIX) and NAME.fullmatch(name.removeprefix(PREFIX).lower())
        }
        self._folder = folder

    def __getitem__(self, name: str) -> str:
        """The value; a file wins over the environment. Raises NoSecret."""
        file = self._file(name)
        if file is None and name not in self._environment:
            raise NoSecret(self.why_missing(name))
        value = _read(file, name) if file is not None else self._environment[name]
        if len(value) < SHORTEST:
            raise NoSecret(f"secret {name} has less than {SHORTEST} characters, which could not be hidden in records")
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._environment or self._file(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._environment, *self._files()}))

    def __len__(self) -> int:
        return len({*self._environment, *self._files()})

    def __repr__(self) -> str:
        return f"<Secrets {', '.join(self) or 'none'}>"

    def why_missing(self, name: str) -> str:
        """What to say of a name that is not there."""
        if not NAME.fullmatch(name):
            return f"secrets.{name} cannot be: a name is made of small letters, digits and _"
        hint = did_you_mean(name, self)
        told = f"set {PREFIX}{name.upper()}, or put a file {name} into the folder of WORKSPACE_SECRETS"
        return f"there is no secret {name}{hint or f'; {told}'}"

    def _file(self, name: str) -> Path | None:
        if self._folder is None or not NAME.fullmatch(name):
            return None
        file = self._folder / name
        return file if file.is_symlink() or file.exists() else None

    def _files(self) -> list[str]:
        if self._folder is None:
            return []
        try:
            return [file.name for file in self._folder.iterdir() if NAME.fullmatch(file.name) and file.is_file()]
        except OSError:
            return []


def spellings(value: str) -> list[str]:
    """A secret as it may stand in texts: as it is, within JSON, within an address, and in Base64."""
    raw = value.encode()
    found = [
        value,
        value.strip(),
        repr(value)[1:-1],
        dumps(value)[1:-1],
        dumps(value, ensure_ascii=False)[1:-1],
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        b64encode(raw).decode(),
        urlsafe_b64encode(raw).decode(),
        value.upper(),
        value.lower(),
        *(line.strip() for line in value.splitlines()),
    ]
    return [spelling for spelling in dict.fromkeys(found) if len(spelling) >= SHORTEST]


def _read(file: Path, name: str) -> str:
    where = f"the file of secret {name}"
    try:
        folder, real = file.parent.resolve(), file.resolve()
        if not real.is_relative_to(folder):
            raise NoSecret(f"{where} is a link to outside of its folder: put the file itself there")
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as opened:  # noqa: PTH123 - the very file that was looked at
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NoSecret(f"{where} is no file")
            if status.st_mode & OTHERS and not _is_mounted(descriptor, folder):
                raise NoSecret(f"{where} is open to others: chmod 600 it")
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise NoSecret(f"{where} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise NoSecret(f"{where} is larger than {LARGEST // 1024} KB")
    try:
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise NoSecret(f"{where} is no text in UTF-8") from None


def _is_mounted(descriptor: int, folder: Path) -> bool:
    """Whether the file comes with a mount: read-only, or laid out as Kubernetes does."""
    return bool(os.fstatvfs(descriptor).f_flag & os.ST_RDONLY) or (folder / MOUNTED).is_symlink()


def load_secrets(environment: Mapping[str, str], folder: Path | None) -> Secrets:
    """The secrets of an installation; `folder` is that of WORKSPACE_SECRETS."""
    return Secrets(environment, folder)
