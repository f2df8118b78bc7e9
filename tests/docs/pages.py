"""What the pages of this repository hold: blocks in fences, tables, links, names of files.

blocks_of(page) ─► Block(language, text, line)      table_after(page, heading) ─► the cells of its rows
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "automations/LANGUAGE.md",
    "docs/automations.md",
    "docs/client.md",
    "docs/hosted-workspace.md",
    "docs/money.md",
    "docs/people.md",
    "docs/screens/README.md",
    "deploy/README.md",
)
"""The pages whose every block runs or is checked."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?:\]\(|src=\")([^)\"#]+)")


@dataclass(frozen=True, slots=True)
class Block:
    """One block in fences; `line` is where its first line stands in the page."""

    page: str
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def page_text(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page: str, language: str | None = None) -> list[Block]:
    """The blocks of a page, in order."""
    text = page_text(page)
    found = [Block(page, match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in FENCE.finditer(text)]
    return [block for block in found if language in {None, block.language}]


def all_blocks(language: str) -> list[Block]:
    """The blocks of that language on all pages."""
    return [block for page in PAGES for block in blocks_of(page, language)]


def table_after(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    below = page_text(page).split(f"\n{heading}\n", 1)[1]
    rows = [line for line in below.split("\n## ", 1)[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[2:]]


def links_of(page: str) -> list[str]:
    """Where a page leads to within the repository."""
    return [link for link in LINK.findall(page_text(page)) if "://" not in link]
