"""Files that change while the runner runs: the whole folder is read and checked, then taken up as one.

```
a change in the folder, or of it ─► look ─► each file that differs is read ─┬─ right ─► the new version
(told, or looked for now and then)                                          ├─ wrong ─► its last good version
                                                                            └─ gone ──► its automation stops
                                    ─► Changed ─► the callback, and ops hear of files that are wrong, once
```
The last good version comes from memory, and after a restart from the versions in the ledger, by the file's name. A file
counts as unchanged while its times, size and number are, or its content is. Where folders are swapped as a whole, by a
rename or by a link as Kubernetes does with a ConfigMap, the folder's parent tells of it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import Connection, select

from automations.control import ENDINGS, Loaded, load_files
from automations.definition import Automation, definition_of
from automations.errors import Finding
from automations.incidents import close_incident, enter_incident, incident_of
from automations.notices import Notice, Notices
from automations.ports import Clock
from automations.tables import incidents
from automations.versions import Version
from automations.words import Words
from storage import Database

log = logging.getLogger(__name__)

SETTLED_MS, LONGEST_MS = 500, 3000
"""A folder is looked at when it has been still for so long, or has been changing for so long: editors and copies write
in several goes."""
LOOK_SECONDS = 15.0
"""How often the folder is looked at where nothing tells of changes: on network drives, say."""
MOST_FINDINGS = 5

Stamp = tuple[int, int, int, int]
"""Both times, size and number of a file."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The automations that are to be in force now. `kept`: files that are wrong, whose last good version is among them;
    `findings`: all that is wrong; `removed`: automations that were in force and are not any more."""

    loaded: Loaded
    kept: tuple[Path, ...]
    findings: tuple[Finding, ...]
    removed: tuple[str, ...]


@dataclass(slots=True)
class _File:
    """A file as it was last read, and its last good version."""

    stamp: Stamp
    digest: str
    read: Loaded
    good: Automation | None = None


@dataclass(slots=True)
class Folder:
    """The YAML files of one folder, read as they change. `versions`: those in force in the ledger, newest of each."""

    path: Path
    versions: Sequence[Version] = ()
    read_file: Callable[[Path], Loaded] = lambda path: load_files([path])
    _files: dict[Path, _File] = field(default_factory=dict[Path, _File])
    _beside: Mapping[Path, Stamp] | None = None
    _names: frozenset[str] = frozenset()
    _told: tuple[object, ...] | None = None
    _away: bool = False

    def again(self) -> None:
        """Lets the next look tell what it finds, also where nothing has changed: it was not taken up."""
        self._told = None

    def look(self) -> Changed | None:
        """What is to be in force, where that differs from the last look; None where nothing has changed.

        Reads only files that differ. A folder that cannot be listed is a finding, and all goes on as it was.
        """
        try:
            entries = sorted(self.path.iterdir(), key=lambda path: path.name)
            found = dict.fromkeys(path for path in entries if path.suffix in ENDINGS)
            beside = self._stamps_beside(path for path in entries if path not in found)
        except OSError as error:
            why = f"cannot be read, so that everything goes on as it was: {error.strerror}"
            return self._as_it_was(Finding(str(self.path), 1, 1, "", why))
        anew = self._beside is not None and beside != self._beside
        self._beside = beside
        gone = [path for path in self._files if path not in found]
        for path in gone:
            del self._files[path]
        differ = [path for path in found if self._read(path, anew=anew)]
        return self._judged() if gone or differ or self._told is None or self._away else None

    def _stamps_beside(self, entries: Iterable[Path]) -> dict[Path, Stamp]:
        """What automations may take from beside their files: calendars, templates."""
        found: dict[Path, Stamp] = {}
        for path in entries:
            if path.name.startswith("."):
                continue
            for one in sorted(path.iterdir()) if path.is_dir() else [path]:
                stamp = _stamp(one)
                if stamp is not None:
                    found[one] = stamp
        return found

    def _read(self, path: Path, *, anew: bool) -> bool:
        """Reads a file that differs; whether it does."""
        known, stamp = self._files.get(path), _stamp(path)
        if known is not None and stamp == known.stamp and not anew:
            return False
        digest = _digest(path)
        if known is not None and digest == known.digest and not anew:
            known.stamp = stamp or known.stamp
            return False
        read = self.read_file(path)
        good = known.good if known else None if read.definitions else self._from_versions(path)
        self._files[path] = _File(stamp or (0, 0, 0, 0), digest, read, good)
        return True

    def _from_versions(self, path: Path) -> Automation | None:
        """The version of a file that was in force before this process started."""
        for version in sorted(self.versions, key=lambda version: version.since, reverse=True):
            if Path(version.file).name == path.name:
                try:
                    return Automation(definition_of(version.data), path, version.data)
                except ValidationError:
                    return None
        return None

    def _judged(self) -> Changed | None:
        """Puts together what is in force: good files first, then what is kept of the others; a name counts once."""
        automations: dict[str, Automation] = {}
        findings: list[Finding] = []
        wrong: list[Path] = []
        for path, one in self._files.items():
            if one.read.definitions and one.read.definitions[0].name not in automations:
                one.good = one.read.definitions[0]
                automations[one.good.name] = one.good
            elif one.read.definitions:
                name = one.read.definitions[0].name
                other = automations[name].file
                findings.append(
                    Finding(str(path), 1, 1, "name", f"{name} is the name of {other} too: each needs its own")
                )
                wrong.append(path)
            else:
                findings.extend(one.read.findings)
                wrong.append(path)
        kept: list[Path] = []
        for path in wrong:
            good = self._files[path].good
            if good is not None and automations.setdefault(good.name, good) is good:
                kept.append(path)
        self._away = False
        definitions = tuple(sorted(automations.values(), key=lambda one: one.name))
        return self._changed(Loaded(definitions, tuple(sorted(findings))), tuple(kept))

    def _changed(self, loaded: Loaded, kept: tuple[Path, ...]) -> Changed | None:
        told = (tuple((one.digest, one.file) for one in loaded.definitions), kept, loaded.findings)
        if told == self._told:
            return None
        self._told = told
        names = frozenset(one.name for one in loaded.definitions)
        removed, self._names = tuple(sorted(self._names - names)), names
        return Changed(loaded, kept, loaded.findings, removed)

    def _as_it_was(self, finding: Finding) -> Changed | None:
        self._away = True
        good = {one.good.name: one.good for one in self._files.values() if one.good is not None}
        for version in self.versions if not self._files else ():
            try:
                good[version.automation] = Automation(definition_of(version.data), Path(version.file), version.data)
            except ValidationError:
                continue
        definitions = tuple(sorted(good.values(), key=lambda one: one.name))
        return self._changed(Loaded(definitions, (finding,)), (self.path,) if definitions else ())


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.errno}"


class Findings:
    """Tells ops of files that are wrong: each once, and once that it is right again."""

    def __init__(self, database: Database, notices: Notices, words: Words, clock: Clock) -> None:
        self._database = database
        self._notices = notices
        self._words = words
        self._clock = clock

    async def tell(self, changed: Changed) -> None:
        """Tells of what a look has found."""
        wrong: dict[str, list[Finding]] = {}
        for finding in changed.findings:
            wrong.setdefault(finding.file, []).append(finding)
        there = {str(one.file) for one in changed.loaded.definitions}
        kept = {str(path) for path in changed.kept}
        now = self._clock()

        def job(connection: Connection) -> None:
            for file, findings in wrong.items():
                lines = [str(finding) for finding in findings]
                incident, new = enter_incident(connection, _cause(file), now, message=lines[0])
                if new:
                    more = [f"… +{len(lines) - MOST_FINDINGS}"] if len(lines) > MOST_FINDINGS else []
                    goes_on = self._words.say("broken_kept" if file in kept else "broken_new")
                    text = "\n".join([*lines[:MOST_FINDINGS], *more, goes_on])
                    subject = self._words.say("broken", file=Path(file).name)
                    data = {"findings": [finding.to_json() for finding in findings[:MOST_FINDINGS]]}
                    self._notices.enter(connection, Notice(incident.key("broken"), "broken", subject, text, data), now)
            still = (incidents.c.cause.like("file:%"), incidents.c.closed_at.is_(None))
            for row in connection.execute(select(incidents).where(*still)).all():
                incident = incident_of(row)
                files = {_cause(file): file for file in there}
                if incident.cause in {_cause(file) for file in wrong} or not close_incident(connection, incident, now):
                    continue
                if incident.cause in files:
                    subject = self._words.say("mended", file=Path(files[incident.cause]).name)
                    notice = Notice(incident.key("recovered"), "recovered", subject)
                    self._notices.enter(connection, notice, now)

        await self._database.write(job)


def _cause(file: str) -> str:
    """By the file's name and folder, cut to what the column takes."""
    return f"file:{file[-150:]}"


Changes = Callable[[Path], AsyncIterator[object]]
"""Yields whenever something may have changed in a folder, or of it."""


async def changes(folder: Path, *, settled_ms: int = SETTLED_MS, longest_ms: int = LONGEST_MS) -> AsyncGenerator[None]:
    """Yields after each change, and every LOOK_SECONDS where nothing tells of any."""
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] - one of its types is another library's

    def of_folder(_: object, path: str) -> bool:
        return Path(path).parent != folder.parent or Path(path).name == folder.name

    while True:
        # Anew each time: after a swap there is another folder behind the path.
        paths = [path for path in (folder, folder.parent, *_below(folder)) if path.is_dir()]
        try:
            async for _ in awatch(
                *paths,
                watch_filter=of_folder,
                debounce=longest_ms,
                step=settled_ms,
                rust_timeout=int(LOOK_SECONDS * 1000),
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            ):
                break
        except (OSError, RuntimeError) as error:
            # No more watches are to be had, or the folder has gone in between.
            log.debug("changes of files are looked for, not told: %s", error)
            await asyncio.sleep(LOOK_SECONDS)
        yield None


def _below(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


TakenUp = Callable[[Changed], Awaitable[None]]
"""Told what is to be in force."""


async def look_at(folder: Folder, taken_up: TakenUp) -> None:
    """One look: tells `taken_up` and the log what has changed. What could not be taken up is told again next time."""
    changed = await asyncio.to_thread(folder.look)
    if changed is None:
        return
    for name in changed.removed:
        log.warning("%s is stopped: its file is gone, or says another name", name)
    for finding in changed.findings:
        log.error("%s", finding)
    try:
        await taken_up(changed)
    except Exception:  # a database that is away for a while must not end the following
        log.exception("what has changed in %s could not be taken up; trying again", folder.path)
        folder.again()


async def follow(folder: Folder, taken_up: TakenUp, stop: asyncio.Event, *, changes: Changes = changes) -> None:
    """Looks at a folder at once and after each change, until `stop` is set."""

    async def looks() -> None:
        await look_at(folder, taken_up)
        async for _ in changes(folder.path):
            await look_at(folder, taken_up)

    tasks = [asyncio.create_task(looks()), asyncio.create_task(stop.wait())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
