"""The shell blocks of a page as one session of bash: one folder, one environment, one block after another.

Lines that clone or install are left out (SKIPPED); `make X` becomes make's dry run, so the target must exist. What runs
for long (LONG) is started, waited for until it says that it is there, and stopped at the end; free ports take the place
of fixed ones, and from then on the session's workspace is the one that was started.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.docs.demo import clean_environment
from tests.docs.pages import ROOT, Block

SKIPPED = ("git clone", "python3 -m venv", ". .venv/bin/activate", "pip install")
"""Beginnings of lines that the machine of the tests has done already."""

LONG: Mapping[str, tuple[str, ...]] = {
    "make demo": (
        "export WORKSPACE_DATA=$PWD/demo-data",
        "background 'automations show' workspace demo --port 0 --chat-port 0",
        "reached",
    ),
    "workspace serve": ("background 'listens at' workspace serve --port 0", "reached"),
    "workspace up": ("background 'automations wait' workspace up",),
}
"""Command → what the session does in its place."""

PRELUDE = r"""
set -euo pipefail
started=()
stop() { for pid in "${started[@]}"; do kill -TERM "$pid" 2>/dev/null || true; wait "$pid" || true; done; }
trap stop EXIT
# background WORDS COMMAND…: starts it and waits until it says these words; what it said is in $said
background() {
  local words=$1 log="$PWD/log-${#started[@]}"; shift
  "$@" >"$log" 2>&1 & local pid=$!; started+=("$pid")
  until grep -q "$words" "$log"; do
    kill -0 "$pid" 2>/dev/null || { cat "$log" >&2; return 1; }
    sleep 0.1
  done
  said=$(cat "$log")
}
# The workspace that was started last, by its address and a key of its owner.
reached() {
  WORKSPACE_API_KEY=$(workspace key issue --owner)
  WORKSPACE_URL=$(grep -om1 'http://127.0.0.1:[0-9]*' <<<"$said")
  export WORKSPACE_API_KEY WORKSPACE_URL
}
"""


def lines_of(line: str) -> list[str]:
    """What the session does for one line of a page."""
    command = line.partition("  #")[0].strip()
    dry = f"{command.replace('make', f'make -n -C {ROOT}', 1)} >/dev/null"
    if command in LONG:
        return [dry] * command.startswith("make ") + list(LONG[command])
    if command.startswith("make "):
        return [dry]
    return [] if command.startswith(SKIPPED) else [line]


def run_session(
    blocks: Sequence[Block], folder: Path, before: str = "", *, data: Path | None = None, **settings: str
) -> str:
    """Runs the blocks in a folder, after the lines `before`; returns what they print. Fails with all that was said."""
    script = [PRELUDE, before]
    for block in blocks:
        script.append(f"echo '== {block}'")
        script += [made for line in block.text.splitlines() for made in lines_of(line)]
    environment = clean_environment(data or folder / "data", PYTHONPATH=str(ROOT), **settings)
    ended = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout
