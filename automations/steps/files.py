"""Files below one folder and never outside: checked names, no links followed, whole files or none.

The folder itself may be a link (it is ours); nothing below it may be one. Every part of a path is opened from its
parent's descriptor without following links, so that a link put in between cannot lead out.
"""

import os
import secrets
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST_PART = 200
DEEPEST = 12
LARGEST_BYTES = 64 * 1024 * 1024


class UnsafePath(ValueError):
    """The name is none that may be used below the folder."""


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a relative path. Raises UnsafePath with what is wrong."""
    parts = tuple(name.split("/"))
    if not name.strip() or name.startswith("/"):
        raise UnsafePath(f"{name!r} is no path below the folder of files: write a relative one, such as org/today.json")
    for part in parts:
        if part in {"", ".", ".."} or part.startswith("~"):
            raise UnsafePath(f"{name!r} would leave the folder of files, or has an empty part")
        if "\\" in part or any(ord(letter) < 32 or ord(letter) == 127 for letter in part):
            raise UnsafePath(f"{name!r} holds a character that no file name should have")
        if len(part.encode()) > LONGEST_PART:
            raise UnsafePath(f"{part[:40]}… is longer than {LONGEST_PART} bytes")
    if len(parts) > DEEPEST:
        raise UnsafePath(f"{name!r} is deeper than {DEEPEST} folders")
    return parts


@contextmanager
def _folder(root: Path, parts: tuple[str, ...], *, make: bool) -> Generator[int]:
    """The descriptor of `root/parts`, reached without following a link."""
    if make:
        root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=descriptor)
            try:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            except NotADirectoryError:
                raise UnsafePath(f"{part} is a link or a file where a folder should be") from None
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_link(name: str, folder: int) -> None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePath(f"{name} is a link or no plain file")


def replace_file(root: Path, name: str, content: bytes) -> Path:
    """Writes a file whole, durably, in place of an older one. Raises UnsafePath or OSError."""
    *folders, last = parts_of(name)
    with _folder(root, tuple(folders), make=True) as folder:
        _refuse_link(last, folder)
        draft = f".{secrets.token_hex(8)}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, last, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(draft, dir_fd=folder)
            raise
        os.fsync(folder)
    return root.joinpath(*folders, last)


def read_first(roots: Sequence[Path], name: str, largest: int = LARGEST_BYTES) -> bytes:
    """Reads a plain file below the first folder that has it. Raises UnsafePath, or OSError where there is none."""
    for root in roots[:-1]:
        with suppress(FileNotFoundError):
            return read_file(root, name, largest)
    return read_file(roots[-1], name, largest)


def read_file(root: Path, name: str, largest: int = LARGEST_BYTES) -> bytes:
    """Reads a plain file. Raises UnsafePath, or OSError where there is none."""
    *folders, last = parts_of(name)
    with _folder(root, tuple(folders), make=False) as folder:
        _refuse_link(last, folder)
        with os.fdopen(os.open(last, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder), "rb") as file:
            content = file.read(largest + 1)
    if len(content) > largest:
        size = f"{largest // 1024 // 1024} MB" if largest >= 1024 * 1024 else f"{largest // 1024} KB"
        raise UnsafePath(f"{name} is larger than {size}")
    return content


def inside(root: Path, name: str) -> Path:
    """The path of an existing plain file below the folder. Raises UnsafePath."""
    *folders, last = parts_of(name)
    try:
        with _folder(root, tuple(folders), make=False) as folder:
            _refuse_link(last, folder)
            os.stat(last, dir_fd=folder)
    except FileNotFoundError:
        raise UnsafePath(f"there is no file {name} below the folder of files") from None
    return root.joinpath(*folders, last)
