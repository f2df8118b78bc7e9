"""The runner as a real process on a real workspace: ticks by themselves, a kill in the middle, on again after it."""

import json
import re
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.e2e.processes import run, started

pytestmark = pytest.mark.slow

EVERY_SECOND = """\
name: pulse
trigger: {every: 1s}
steps:
  - id: org
    call: orgschema.orgschema.export
  - id: file
    write: "pulse/{{ run.id | replace(':', '-') }}.json"
    content: "{{ steps.org.block | length }}"
"""


def wait_for(what: Callable[[], bool], said: str, seconds: float = 60.0) -> None:
    """Waits for something that another process does."""
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, said
        time.sleep(0.05)


@pytest.fixture
def served(tmp_path: Path) -> Generator[dict[str, str]]:
    """The sample company, served; the settings of a runner on it."""
    assert run("init", "--sample", folder=tmp_path).returncode == 0
    key = run("key", "issue", "--owner", folder=tmp_path).stdout.strip()
    (tmp_path / "automations.d").mkdir()
    (tmp_path / "automations.d" / "pulse.yaml").write_text(EVERY_SECOND)
    with started("serve", "--port", "0", folder=tmp_path, log="serve.log"):
        log = tmp_path / "serve.log"
        wait_for(lambda: log.exists() and "listens at" in log.read_text(), "the workspace did not start")
        found = re.search(r"listens at (\S+)", log.read_text())
        assert found is not None
        yield {"WORKSPACE_URL": found[1], "WORKSPACE_API_KEY": key}


def test_ticks_run_by_themselves_and_go_on_after_a_kill(tmp_path: Path, served: dict[str, str]) -> None:
    """Each tick is one run and one file, before a kill -9 and after the next start."""
    files = tmp_path / "data" / "files" / "pulse"

    def written() -> int:
        return len(list(files.glob("*.json"))) if files.exists() else 0

    with started("run", folder=tmp_path, log="run.log", **served) as process:
        wait_for(lambda: written() >= 2, "no tick ran")
        process.kill()
    before = written()
    with started("run", folder=tmp_path, log="run.log", **served):
        wait_for(lambda: written() >= before + 2, "no tick ran after the kill")
    history = json.loads(run("automations", "history", "--json", "-n", "200", folder=tmp_path, **served).stdout)
    runs = [report["run_id"] for report in history if report["state"] == "done"]
    assert len(runs) == len(set(runs)) >= 4
    assert all(path.read_text().strip() == "36" for path in files.glob("*.json"))


def test_a_run_by_hand_needs_no_runner(tmp_path: Path, served: dict[str, str]) -> None:
    """It runs in the foreground, waits, and is shown with its steps."""
    done = run("automations", "run", "pulse", "--json", folder=tmp_path, **served)
    assert done.returncode == 0, done.stderr
    shown = run("automations", "show", json.loads(done.stdout)["run_id"], folder=tmp_path, **served)
    assert "org\tdone" in shown.stdout
    assert "file\tdone" in shown.stdout
