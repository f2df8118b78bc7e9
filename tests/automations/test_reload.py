"""Files that change while the runner runs: good ones are taken up, of broken ones the last good version runs on."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from automations import reload
from automations.control import Loaded, load_files, load_folder
from automations.reload import Changed, Findings, Folder, changes, follow
from automations.versions import Version, Versions
from tests.automations.ops import Ops

GOOD = "name: {name}\ndescription: {text}\nsteps: [{{call: orgschema.orgschema.export}}]\n"


@dataclass
class Files:
    """A folder of automations, and what a runner of it has in force."""

    path: Path
    folder: Folder = field(init=False)
    last: Changed | None = None
    read: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.path.mkdir(exist_ok=True)
        self.starts()

    def starts(self, *versions: Version) -> None:
        """A runner starts that has seen nothing yet."""

        def read(path: Path) -> Loaded:
            self.read.append(path.name)
            return load_files([path])

        self.folder = Folder(self.path, versions, read)

    def write(self, name: str, text: str = "first", *, broken: bool = False) -> Path:
        path = self.path / f"{name}.yaml"
        path.write_text("name: [" if broken else GOOD.format(name=name, text=text))
        return path

    def look(self) -> Changed | None:
        found = self.folder.look()
        self.last = found or self.last
        return found

    def in_force(self) -> dict[str, str]:
        """The automations with their descriptions."""
        assert self.last is not None
        return {one.name: one.definition.description for one in self.last.loaded.definitions}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "automations")


def test_a_folder_is_taken_up_as_one(files: Files) -> None:
    """New files, changed ones, removed ones; nothing where nothing has changed."""
    files.write("a")
    files.write("b")
    assert files.look() is not None
    assert files.in_force() == {"a": "first", "b": "first"}
    assert files.look() is None
    files.write("a", "second")
    files.write("c")
    (files.path / "b.yaml").unlink()
    changed = files.look()
    assert changed is not None
    assert files.in_force() == {"a": "second", "c": "first"}
    assert changed.removed == ("b",)


def test_a_broken_file_takes_nothing_down(files: Files) -> None:
    """Its last good version runs on, and says where the file is wrong; mended, the new one is taken up."""
    files.write("a")
    files.write("b")
    files.look()
    path = files.write("a", broken=True)
    files.write("b", "second")
    changed = files.look()
    assert changed is not None
    assert files.in_force() == {"a": "first", "b": "second"}
    assert changed.kept == (path,)
    assert [str(finding).partition(": ")[0] for finding in changed.findings] == [f"{path}:2:1"]
    files.write("a", "mended")
    changed = files.look()
    assert changed is not None
    assert files.in_force() == {"a": "mended", "b": "second"}
    assert (changed.kept, changed.findings) == ((), ())


def test_a_file_that_was_never_good_is_a_finding(files: Files) -> None:
    """The others run."""
    files.write("a", broken=True)
    files.write("b")
    changed = files.look()
    assert changed is not None
    assert (list(files.in_force()), changed.kept, len(changed.findings)) == (["b"], (), 1)


def test_a_broken_file_that_is_removed_stops_its_automation(files: Files) -> None:
    """Keeping the last good version is for files that are there."""
    files.write("a")
    files.look()
    files.write("a", broken=True).unlink()
    changed = files.look()
    assert changed is not None
    assert (files.in_force(), changed.removed) == ({}, ("a",))


async def test_after_a_restart_the_ledger_knows_the_last_good_version(files: Files, ops: Ops) -> None:
    """By the file's name, also in another folder."""
    for text in ("first", "second"):
        files.write("a", text)
        await Versions(ops.database).enter(load_folder(files.path).definitions, ops.now)
        ops.later(hours=1)
    path = files.write("a", broken=True)
    files.starts(*Versions(ops.database).newest())
    changed = files.look()
    assert changed is not None
    assert (files.in_force(), changed.kept) == ({"a": "second"}, (path,))
    assert changed.loaded.definitions[0].file == path


def test_a_name_counts_once(files: Files) -> None:
    """A second file of a name is a finding; what it held before runs on, unless that name is taken too."""
    files.write("a")
    files.write("b")
    files.look()
    (files.path / "b.yaml").write_text(GOOD.format(name="a", text="copied"))
    changed = files.look()
    assert changed is not None
    assert files.in_force() == {"a": "first", "b": "first"}
    assert "is the name of" in changed.findings[0].message
    files.write("a", broken=True)
    files.look()
    assert files.in_force() == {"a": "copied"}


def test_an_unchanged_file_is_not_read_again(files: Files) -> None:
    """Nor one that was written anew with the same content; one whose size and time were kept is read."""
    path = files.write("a")
    files.look()
    before = path.stat()
    files.write("a")
    assert files.look() is None
    assert files.read == ["a.yaml"]
    files.write("a", "fi5st")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    files.look()
    assert files.in_force() == {"a": "fi5st"}
    assert files.read == ["a.yaml", "a.yaml"]


def test_what_lies_beside_is_read_with_the_files(files: Files) -> None:
    """A calendar that changes may make a file wrong or right."""
    files.write("a")
    (files.path / "calendars").mkdir()
    (files.path / "calendars" / "own.yaml").write_text("days: []")
    files.look()
    (files.path / "calendars" / "own.yaml").write_text("days: [2026-11-21]")
    files.look()
    files.look()
    assert files.read == ["a.yaml", "a.yaml"]


def test_a_folder_that_is_gone_stops_nothing(files: Files) -> None:
    """A drive that is not mounted for a while is a finding; everything goes on."""
    path = files.write("a")
    files.look()
    files.path.rename(files.path.with_name("away"))
    changed = files.look()
    assert changed is not None
    assert files.in_force() == {"a": "first"}
    assert "everything goes on as it was" in changed.findings[0].message
    assert files.look() is None
    files.path.with_name("away").rename(files.path)
    changed = files.look()
    assert changed is not None
    assert (changed.findings, list(files.in_force())) == ((), [path.stem])


def test_a_link_that_is_swapped(tmp_path: Path) -> None:
    """As Kubernetes mounts a ConfigMap: `..data` points to another folder from one moment to the next."""
    for release in ("..2026_1", "..2026_2"):
        (tmp_path / release).mkdir()
        (tmp_path / release / "a.yaml").write_text(GOOD.format(name="a", text=release))
    (tmp_path / "..data").symlink_to("..2026_1")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    files = Files(tmp_path)
    files.look()
    (tmp_path / "..tmp").symlink_to("..2026_2")
    (tmp_path / "..tmp").rename(tmp_path / "..data")
    files.look()
    assert files.in_force() == {"a": "..2026_2"}


# What people hear


async def test_a_broken_file_is_told_once(files: Files, each_ops: Ops) -> None:
    """With file, line and column, and once that it is right again, however often it is looked at and changed."""
    ops = each_ops
    findings = Findings(ops.database, ops.notices, ops.words, lambda: ops.now)

    async def look() -> None:
        changed = files.look()
        if changed is not None:
            await findings.tell(changed)
        await ops.notices.deliver()

    files.write("a")
    await look()
    assert ops.said == []
    path = files.write("a", broken=True)
    await look()
    path.write_text("name: {")
    await look()
    assert len(ops.said) == 1
    assert f"{path}:2:1: " in ops.said[0]
    assert ops.heads == ["a.yaml is wrong"]
    assert ops.said[0].endswith("The version before it goes on running. Mend the file, then it is taken up by itself.")
    files.write("a", "mended")
    await look()
    await look()
    assert ops.heads[1:] == ["a.yaml is right again"]
    assert ops.hook.posted[0]["findings"][0]["line"] == 2


async def test_a_file_that_is_wrong_and_then_gone_is_right_nowhere(files: Files, ops: Ops) -> None:
    """Nobody is told that it is mended."""
    findings = Findings(ops.database, ops.notices, ops.words, lambda: ops.now)
    path = files.write("a", broken=True)
    for there in (True, False):
        if not there:
            path.unlink()
        changed = files.look()
        assert changed is not None
        await findings.tell(changed)
    await ops.notices.deliver()
    assert ops.heads == ["a.yaml is wrong"]
    assert "It does not run until it is mended" in ops.said[0]
    assert ops.open() == []


# Following


async def test_following_a_folder(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    """At once, and after each change that is told; the log says what is stopped and what is wrong."""
    told: asyncio.Queue[None] = asyncio.Queue()
    taken: asyncio.Queue[Changed] = asyncio.Queue()

    async def changes(folder: Path) -> AsyncIterator[None]:
        assert folder == files.path
        while True:
            await told.get()
            yield

    stop = asyncio.Event()
    files.write("a")
    following = asyncio.create_task(follow(files.folder, taken.put, stop, changes=changes))
    assert len((await taken.get()).loaded.definitions) == 1
    (files.path / "a.yaml").unlink()
    files.write("b", broken=True)
    told.put_nowait(None)
    changed = await taken.get()
    assert (changed.removed, len(changed.findings)) == (("a",), 1)
    stop.set()
    await following
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]


@pytest.mark.parametrize("how", ["write", "swap the folder", "swap a link", "a calendar"])
async def test_changes_are_told(tmp_path: Path, how: str) -> None:
    """By the system, well before the folder would be looked at anyway."""
    assert reload.LOOK_SECONDS > 10
    target = tmp_path / "first"
    target.mkdir()
    (target / "calendars").mkdir()
    folder = tmp_path / "automations"
    if how == "swap a link":
        folder.symlink_to("first")
    else:
        target.rename(folder)
    watching = changes(folder, settled_ms=10, longest_ms=20)
    waiting = asyncio.ensure_future(anext(watching))

    async def change() -> None:
        # Again and again: nobody says when the watch has begun.
        for number in range(100):
            await asyncio.sleep(0.05)
            if how == "write":
                (folder / "a.yaml").write_text(str(number))
            elif how == "a calendar":
                (folder / "calendars" / "own.yaml").write_text(str(number))
            elif how == "swap a link":
                (tmp_path / "next").symlink_to("first")
                (tmp_path / "next").rename(folder)
            else:
                (tmp_path / "next").mkdir()
                folder.rename(tmp_path / f"old{number}")
                (tmp_path / "next").rename(folder)

    changing = asyncio.ensure_future(change())
    async with asyncio.timeout(10):
        await waiting
    changing.cancel()
    await asyncio.wait([changing])
    await watching.aclose()
