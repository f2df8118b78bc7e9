"""Every Python block of the pages runs: against a workspace on this machine where it names an address."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.pages import Block, all_blocks
from tests.docs.serving import served

ADDRESS = "https://workspace.example.com"

BLOCKS = all_blocks("python")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_python_block_runs(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs by itself, from its own imports, and prints something."""
    text = block.text
    with ExitStack() as stack:
        if ADDRESS in text:
            url, key = stack.enter_context(served(tmp_path))
            monkeypatch.setenv("WORKSPACE_API_KEY", key)
            text = text.replace(ADDRESS, url)
        # As many lines above as on the page, so that a traceback names the page's line.
        code = compile("\n" * (block.line - 1) + text, block.page, "exec")
        exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


def test_there_are_blocks_to_run() -> None:
    """The page about the client shows both clients, and nobody's key."""
    text = "\n".join(block.text for block in BLOCKS)
    assert all(name in text for name in ("Workspace(", "AsyncWorkspace(", "open_workspace(", "open_async_workspace("))
    assert "wk_" not in text
