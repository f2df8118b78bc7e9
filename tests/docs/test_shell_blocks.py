"""Every shell block of the pages runs, as a reader would type it."""

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, all_blocks, blocks_of
from tests.docs.shell import run_session

HOSTED = r"""
WORKSPACE_DATA=$PWD/theirs workspace init --sample >/dev/null
ANNAS_KEY=$(WORKSPACE_DATA=$PWD/theirs workspace key issue anna)
export WORKSPACE_API_KEY=$(WORKSPACE_DATA=$PWD/theirs workspace key issue --owner) ANNAS_KEY
background 'listens at' env WORKSPACE_DATA=$PWD/theirs python -m tests.docs.hosted
export WORKSPACE_URL=$(grep -o 'http:.*' <<<"$said")
export TELEGRAM_TOKEN=1000000:local-telegram-needs-no-secret
background 'Local Telegram:' python -m bot.sandbox --port 0 --token $TELEGRAM_TOKEN --data $PWD/telegram
export TELEGRAM_API_URL=$(grep -o 'http:.*' <<<"$said")
"""
"""A hosted workspace and a Telegram, both on this machine."""


@pytest.mark.slow
def test_the_readme(tmp_path: Path) -> None:
    """The two commands, the tour's second terminal, the embedded workspace and what is asked of it."""
    said = run_session(blocks_of("README.md", "sh"), tmp_path)
    assert "org	done" in said
    assert "A new drill" in said
    assert "Raised floor for Halden office" in said
    assert (tmp_path / "demo-data" / "files" / "org").is_dir()


@pytest.mark.slow
def test_the_hosted_workspace(tmp_path: Path) -> None:
    """doctor finds nothing wrong, Anna is invited with her key, bot and runner start: on a hosted workspace."""
    (block,) = blocks_of("docs/hosted-workspace.md", "ini")
    (tmp_path / ".env").write_text(block.text)
    said = run_session(blocks_of("docs/hosted-workspace.md", "sh"), tmp_path, HOSTED)
    assert "service key: sees 61 active people" in said
    assert "?start=" in said


def test_every_shell_block_is_run() -> None:
    """A page that gets shell blocks gets a test: these are the pages that have some."""
    tested = {"README.md", "docs/hosted-workspace.md", "docs/client.md", "CONTRIBUTING.md", "deploy/README.md"}
    assert {block.page for block in all_blocks("sh")} <= tested <= set(PAGES)


@pytest.mark.parametrize("page", ["docs/client.md"])
def test_a_page_that_only_installs(page: str, tmp_path: Path) -> None:
    """Nothing but clone, venv and pip stands in its blocks; the recipe itself is the base package's own test."""
    assert run_session(blocks_of(page, "sh"), tmp_path).count("==") == len(blocks_of(page, "sh"))


@pytest.mark.slow
def test_contributing(tmp_path: Path) -> None:
    """The checks of CONTRIBUTING.md run on the part of the house that they name."""
    said = run_session(blocks_of("CONTRIBUTING.md", "sh"), ROOT, data=tmp_path)
    assert "Contracts: " in said
    assert "0 broken" in said
