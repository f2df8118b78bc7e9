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
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

ROOT = Path("/usr/lib/postgresql")
MISSING = "PostgreSQL is not installed: apt-get install postgresql"

# Nothing here has to survive a power cut; a small server starts faster and leaves the memory to the tests.
SETTINGS = {
    "listen_addresses": "",
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


class Cluster:
    """A server in a folder of its own, reached through the socket there."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder = folder
        self._binaries = binaries
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it takes connections."""
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        # Where the tests are killed, and end nothing themselves, the server ends with them.
        with_us = ["setpriv", "--pdeathsig", "QUIT"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*with_us, self._binaries / "postgres", "-D", self.folder / "data", "-k", self.folder, *settings],
                user=_account(),
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        for _ in range(600):
            if self._process.poll() is not None:
                break
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise RuntimeError(f"PostgreSQL does not start: {(self.folder / 'log').read_text()[-2000:]}")

    def stop(self) -> None:
        """At once, as by a crash, and by its pid."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(30)

    def restart(self) -> None:
        """As after a crash of the server: every connection breaks."""
        self.stop()
        self.start()

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


@contextmanager
def open_cluster() -> Generator[Cluster]:
    """A server of one's own, stopped and removed at the end. Skips the test where the package is missing."""
    binaries = programs()
    if binaries is None:
        pytest.skip(MISSING)
    # Short, since a socket's path has at most 107 bytes; not below pytest's folders, which are closed to others.
    folder = Path(tempfile.mkdtemp(prefix="wa-pg-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    account = _account()
    if account is not None:
        owner = pwd.getpwnam(account)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    opened = Cluster(folder, binaries)
    try:
        words = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
        made = subprocess.run(
            [binaries / "initdb", "-D", folder / "data", *words],
            user=account,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed: {made.stdout[-1000:]}{made.stderr[-1000:]}")
        opened.start()
        yield opened
    finally:
        opened.stop()
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
