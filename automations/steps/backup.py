"""`backup`: a copy of this installation's own SQLite databases, whole and consistent, while they are in use.

```yaml
- backup: {to: "backups/{{ tick.date }}", keep: 14}
```
to      a folder below the folder of files; into it come those of DATABASES that there are
keep    how many folders beside it are kept, the newest by name; older ones are removed (14)

Each copy is checked before an older one goes. Keys and key files are not in it: keep those elsewhere. What is kept in
PostgreSQL is backed up by PostgreSQL's own tools: then this step says so and fails. Its value is
`{path, files, bytes}`.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from automations.errors import Path as Place
from automations.errors import StepFailed
from automations.expressions import is_template
from automations.fields import Model
from automations.steps.base import Given, Step
from automations.steps.files import UnsafePath, parts_of

DATABASES = ("workspace.db", "bot.db", "automations.db", "automations-engine.db")


class Backup(Model):
    """Where to, and how many are kept."""

    to: str
    keep: Annotated[int, Field(ge=1, le=1000)] = 14


def _copied(source: Path, target: Path) -> int:
    """One database, checked. Raises sqlite3.Error or OSError."""
    target.touch(mode=0o600)
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy, pages=2000)
        found = copy.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(f"the copy is not whole: {found}")
    return target.stat().st_size


def _kept(folder: Path, keep: int) -> None:
    """Removes all but the newest backups beside the one that was made: folders that hold nothing but databases."""
    others = sorted(
        path
        for path in folder.parent.iterdir()
        if path.is_dir() and not path.is_symlink() and {item.name for item in path.iterdir()} <= set(DATABASES)
    )
    for path in others[:-keep]:
        if path != folder:
            shutil.rmtree(path)


class BackupStep(Step):
    """Copies the databases of this installation."""

    kind: ClassVar[str] = "backup"

    backup: Backup

    def findings(self) -> Iterator[tuple[Place, str]]:
        if not is_template(self.backup.to):
            try:
                if len(parts_of(self.backup.to)) < 2:
                    yield ("backup", "to"), "needs a folder of its own around it, such as backups/{{ tick.date }}"
            except UnsafePath as error:
                yield ("backup", "to"), str(error)

    def _folder(self, given: Given) -> tuple[str, Path, list[Path]]:
        name = given.text(self.backup.to, "to")
        try:
            parts = parts_of(name)
        except UnsafePath as error:
            raise StepFailed(str(error)) from None
        if len(parts) < 2:
            raise StepFailed(f"{name} needs a folder of its own around it, such as backups/2026-11-21")
        data = given.tools.files.parent
        found = [data / database for database in DATABASES if (data / database).exists()]
        if not found:
            raise StepFailed(
                "there is no SQLite database to copy: what PostgreSQL keeps is backed up by pg_dump or pg_basebackup"
            )
        folder = given.tools.files.joinpath(*parts)
        if any(path.is_symlink() for path in (folder, *folder.parents) if given.tools.files in path.parents):
            raise StepFailed(f"{name} is a link, or lies behind one")
        return name, folder, found

    async def intent(self, given: Given) -> dict[str, Any]:
        name, _, found = self._folder(given)
        return {"backup": name, "files": [path.name for path in found]}

    async def run(self, given: Given) -> Any:
        name, folder, found = self._folder(given)
        given.tell(backup=name, files=[path.name for path in found])
        try:
            size = await asyncio.to_thread(self._made, folder, found)
        except (sqlite3.Error, OSError) as error:
            raise StepFailed(f"{name} cannot be made: {error}") from None
        return {"path": name, "files": [path.name for path in found], "bytes": size}

    def _made(self, folder: Path, found: list[Path]) -> int:
        if folder.exists() and not {item.name for item in folder.iterdir()} <= set(DATABASES):
            raise StepFailed(f"{folder.name} holds other files, which would be lost: name a folder of its own")
        draft = folder.with_name(f".{folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True, mode=0o700)
        try:
            size = sum(_copied(path, draft / path.name) for path in found)
            shutil.rmtree(folder, ignore_errors=True)
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        _kept(folder, self.backup.keep)
        return size
