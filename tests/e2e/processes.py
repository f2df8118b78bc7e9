"""Real processes of the product for tests: started with settings of their own, ended by their own id."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def environment(**settings: str) -> dict[str, str]:
    """The environment of a child: nothing of the settings of whoever runs the tests, and no ops page at its one port
    unless it is asked for."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WORKSPACE_", "TELEGRAM_"))}
    return kept | {"PYTHONUNBUFFERED": "1", "WORKSPACE_PAGE": "off"} | settings


def command(*words: str) -> list[str]:
    """The `workspace` command of this interpreter."""
    return [sys.executable, "-c", "import sys; from workspace.main import main; sys.exit(main())", *words]


def run(*words: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run(
        command(*words),
        env=environment(**settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def started(*words: str, folder: Path, log: str, **settings: str) -> Generator[subprocess.Popen[str]]:
    """A long-running command, its output in a file; ended as a service manager would, if it still lives at the end."""
    with (folder / log).open("a") as output:
        process = subprocess.Popen(
            command(*words), env=environment(**settings), cwd=folder, stdout=output, stderr=subprocess.STDOUT, text=True
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
