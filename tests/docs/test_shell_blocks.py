"""Every shell block of the pages runs, as a reader would type it."""

import json
import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, all_blocks, blocks_of, table_after
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

LINKED = """
python - <<'END'
from bot import people
from workspace import parts, settings

now = parts.now().timestamp()
with parts.open_bot_database(settings.load()) as database:
    code = database.write_now(lambda c: people.invite(c, user_id="anna", sealed_key=None, now=now, lifetime=60.0))
    with database.read() as connection:
        invitation = people.redeemable(connection, code, now)
    database.write_now(lambda c: people.link(c, invitation.code_hash, 1001, "Anna Bennett", "en", now))
END
"""
"""Anna is linked."""


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
    lines = {
        name.strip()
        for row in table_after("docs/hosted-workspace.md", "## 3. Look before you start")
        for name in row[0].split(",")
    }
    checked = set(re.findall(r"^(?:ok|FAIL)  +([^:\n]+):", said, re.M))
    assert {"writing", "calls"} <= checked <= lines, "the page tells each line of doctor"
    assert "?start=" in said


def test_every_shell_block_is_run() -> None:
    """A page that gets shell blocks gets a test: these are the pages that have some."""
    tested = {
        "README.md", "docs/automations.md", "docs/hosted-workspace.md", "docs/client.md", "docs/money.md",
        "docs/people.md", "CONTRIBUTING.md", "deploy/README.md",
    }  # fmt: skip
    assert {block.page for block in all_blocks("sh")} <= tested <= set(PAGES)


@pytest.mark.parametrize("page", ["docs/client.md"])
def test_a_page_that_only_installs(page: str, tmp_path: Path) -> None:
    """Nothing but clone, venv and pip stands in its blocks; the recipe itself is the base package's own test."""
    assert run_session(blocks_of(page, "sh"), tmp_path).count("==") == len(blocks_of(page, "sh"))


@pytest.mark.slow
def test_money(tmp_path: Path) -> None:
    """Closing, limits, PIN, reconciliation and audit say how things stand, on a hosted workspace."""
    said = run_session(blocks_of("docs/money.md", "sh"), tmp_path, HOSTED)
    assert said.count("The books are closed up to 2026-10-31") == 2
    assert said.count("anna: approving and paying ask again above 10,000") == 2
    assert "marina has no PIN" in said
    assert (tmp_path / "audit.csv").read_text(encoding="utf-8-sig").startswith('"id"')


@pytest.mark.slow
def test_people(tmp_path: Path) -> None:
    """Anna is invited and linked, everybody else gets a printed link, and nothing is kept of her in the end."""
    blocks = blocks_of("docs/people.md", "sh")
    said = run_session([block for block in blocks if "forget" not in block.text], tmp_path, HOSTED + LINKED)
    assert "?start=" in said
    assert "1 linked, 61 invited" in said
    assert len((tmp_path / "links.csv").read_text(encoding="utf-8-sig").splitlines()) == 61
    assert "<svg" in (tmp_path / "links.html").read_text()
    assert "anna is unlinked" in said
    (tmp_path / "again").mkdir()
    said = run_session([block for block in blocks if "forget" in block.text], tmp_path / "again", HOSTED + LINKED)
    assert "Erased of anna:" in said


@pytest.mark.slow
def test_automations(tmp_path: Path) -> None:
    """What is looked at before anything runs: the ready-made ones are valid, the schema is one, nights are foretold."""
    said = run_session(blocks_of("docs/automations.md", "sh"), tmp_path)
    assert f"{len(list((ROOT / 'automations/library').glob('*.yaml')))} valid" in said
    assert said.count(" 02:00 +03:00 Europe/Moscow") == 30
    schema = json.loads((tmp_path / "automations.schema.json").read_text())
    assert {"name", "steps"} <= set(schema["properties"])


@pytest.mark.slow
def test_contributing(tmp_path: Path) -> None:
    """The checks of CONTRIBUTING.md run on the part of the house that they name."""
    said = run_session(blocks_of("CONTRIBUTING.md", "sh"), ROOT, data=tmp_path)
    assert "Contracts: " in said
    assert "0 broken" in said
