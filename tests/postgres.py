"""PostgreSQL for tests: Debian's own, a cluster per test process, a database per test.

```
cluster (session) ─► initdb ─► postgres, on a socket in a folder of its own, durable only as long as the tests run
   ├─ database()              an empty database
   └─ database(template=…)    a copy of one that was filled once, such as the sample company's
```
Where the tests run as root the server runs as Debian's user `postgres`, since it refuses to be root.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

ROOT = Path("/usr/lib/postgresql")
MISSING = "PostgreSQL is not installed: apt-get install postgresql"

# Nothing here has to survive a power cut; a small server starts faster and leaves the memory to the tests.
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "max_wal_size": "128MB",
    "autovacuum": "off",
    "timezone": "Pacific/Auckland",  # far from UTC, so that a moment that leans on the server's zone shows
}


def programs() -> Path | None:
    """The folder of initdb and postgres, of the newest version; None where the package is missing."""
    found = [path.parent for path in ROOT.glob("*/bin/postgres") if (path.parent / "initdb").exists()]
    return max(found, key=lambda path: int(path.parent.name), default=None)


@dataclass(frozen=True)
class Cluster:
    """A running server, reached through the socket in its folder."""

    folder: Path
    binaries: Path

    def restart(self) -> None:
        """As after a crash of the server: every connection breaks."""
        words = ("-m", "immediate", "-w", "restart")
        _run(self.folder, self.binaries / "pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", *words)

    def url(self, name: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """A statement outside of any transaction, such as CREATE DATABASE. The words are the tests' own."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def database(self, *, template: str = "template0") -> str:
        """The name of a fresh database; `template` is the name of a closed one that it begins as a copy of."""
        name = f"test_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return name

    def drop(self, name: str) -> None:
        """Removes a database, also where somebody is still connected."""
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    @contextmanager
    def fresh(self, *, template: str = "template0") -> Generator[str]:
        """The address of a database that is gone afterwards."""
        name = self.database(template=template)
        try:
            yield self.url(name)
        finally:
            self.drop(name)


def _account() -> str | None:
    """Whom the server runs as: postgres where we are root, else ourselves."""
    return "postgres" if os.geteuid() == 0 else None


def _run(folder: Path, *words: str | Path) -> None:
    done = subprocess.run(words, user=_account(), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed: {done.stdout[-1000:]}{done.stderr[-1000:]}")


@contextmanager
def open_cluster() -> Generator[Cluster]:
    """A server of one's own, stopped and removed at the end. Skips the test where the package is missing."""
    binaries = programs()
    if binaries is None:
        pytest.skip(MISSING)
    # Short, since a socket's path has at most 107 bytes; not below pytest's folders, which are closed to others.
    folder = Path(tempfile.mkdtemp(prefix="wa-pg-"))
    if (account := _account()) is not None:
        owner = pwd.getpwnam(account)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data, log = folder / "data", folder / "log"
    try:
        words = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
        _run(folder, binaries / "initdb", "-D", data, *words)
        options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        _run(folder, binaries / "pg_ctl", "-D", data, "-l", log, "-w", "-o", f"-k {folder} {options}", "start")
        try:
            yield Cluster(folder, binaries)
        finally:
            # By the pid that the server wrote into its folder.
            _run(folder, binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Generator[Cluster]:
    """The server of this test process."""
    with open_cluster() as opened:
        yield opened


@pytest.fixture
def postgres_url(cluster: Cluster) -> Generator[str]:
    """The address of an empty database of the test's own."""
    with cluster.fresh() as url:
        yield url
