"""What all tests may ask for, and what holds for all of them.

- Nobody is trusted over TLS unless a test says whom: every server here is the tests' own. Reading the machine's
  certificates, anew for each client, would be a tenth of the time of all tests.
- Files lie in memory where the machine has room for it: a test waits for no disk.
- The long ones begin first, spread over the processes, so that none runs alone at the end.
- Coverage is measured where a test runs the first way. On the second profile or database it runs the same lines again,
  and of a process that is killed nothing is kept: measuring there would only cost.
"""

import gc
import os
import shutil
import sys
from collections.abc import Generator
from itertools import chain
from pathlib import Path

import pytest
from coverage import Coverage

from tests.postgres import cluster, postgres_url

__all__ = ["cluster", "postgres_url"]

# A folder without certificates. Children inherit it.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# The HTTP library looks for this optional package at each request; that it is not there is looked up once.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - so the language says "not there"

MEMORY, ROOM = Path("/dev/shm"), 2 * 2**30

REPEATED = {"hosted", "postgresql"}
"""Parameters of a test that runs without them too."""

OF_CHILDREN = "COVERAGE_PROCESS_CONFIG"
"""Tells child processes to measure."""


def pytest_configure() -> None:
    """Before the first temporary folder is made, here and in the processes that xdist starts."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each process is given a row of neighbours at first: at the head of each row stands its share of the slow ones."""
    for item in items:
        if REPEATED & set(map(str, _parameters(item))):
            item.add_marker("unmeasured")
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = iter([item for item in items if not item.get_closest_marker("slow")])
    rows: list[list[pytest.Item]] = []
    for place in range(processes):
        row = slow[place::processes]
        length = (place + 1) * len(items) // processes - place * len(items) // processes
        rows.append(row + [item for _, item in zip(range(length - len(row)), quick, strict=False)])
    items[:] = [*chain(*rows), *quick]


def pytest_collection_finish() -> None:
    """What is there now stays: looking through it again and again would cost."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measures nothing, here and in children, while a test runs that is marked `unmeasured`."""
    measuring = Coverage.current() if item.get_closest_marker("unmeasured") else None
    if measuring is None:
        return (yield)
    children = os.environ.pop(OF_CHILDREN, None)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()
        if children is not None:
            os.environ[OF_CHILDREN] = children


def _parameters(item: pytest.Item) -> tuple[object, ...]:
    return (
        tuple(item.callspec.params.values()) if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    )
