"""What the pages say stands in the code: automations, settings, commands, operations, files, links."""

import json
import re
from pathlib import Path

import pytest
import yaml

from automations import sources
from automations.control import load_files
from automations.triggers import EVENTS
from tests.docs.pages import PAGES, ROOT, Block, all_blocks, blocks_of, links_of, page_text, table_after
from workspace import settings
from workspace.main import parser
from workspace_api import operations
from workspace_api.client import Options
from workspace_api.server.handlers import HANDLERS

YAML = all_blocks("yaml")


@pytest.mark.parametrize("block", YAML, ids=str)
def test_a_yaml_block_is_a_valid_automation(block: Block, tmp_path: Path) -> None:
    """What a reader copies passes `workspace automations validate`."""
    file = tmp_path / "copied.yaml"
    file.write_text(block.text)
    assert load_files([file]).findings == ()


def test_there_are_automations_to_check() -> None:
    """The README shows one: the library's own, up to the steps that are left out."""
    (block,) = blocks_of("README.md", "yaml")
    shown = yaml.safe_load(block.text)
    whole = yaml.safe_load(page_text("automations/library/nightly-org-export.yaml"))
    assert shown == {**{key: whole[key] for key in shown}, "steps": whole["steps"][: len(shown["steps"])]}


def test_every_setting_is_told() -> None:
    """The README's table and .env.example name each setting, and no other."""
    told = [row[0].strip("`") for row in table_after("README.md", "## Settings")]
    assert sorted(told) == sorted(settings.NAMES)
    example = re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M)
    assert set(example) | {"TELEGRAM_API_URL"} == set(settings.NAMES)


def test_every_setting_is_told_for_containers() -> None:
    """deploy/env.example names each setting but those that compose.yaml gives itself."""
    told: list[str] = re.findall(r"^#?(WORKSPACE_[A-Z_]+|TELEGRAM_[A-Z_]+)=", page_text("deploy/env.example"), re.M)
    services = yaml.safe_load(page_text("deploy/compose.yaml"))["services"].values()
    given = {name for service in services for name in service.get("environment", {}) if name in settings.NAMES}
    assert len(told) == len(set(told))
    assert set(told) | given | {"TELEGRAM_API_URL"} == set(settings.NAMES)


def test_the_example_of_settings_is_readable(tmp_path: Path) -> None:
    """Copied with every line switched on, but those left empty, it loads."""
    text = (ROOT / ".env.example").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^#(?=[A-Z_]+=)", "", text, flags=re.M))
    loaded = settings.load({}, tmp_path)
    assert (loaded.url, loaded.money_scale, loaded.poll_seconds) == ("https://workspace.example.com", 0, 30.0)
    assert settings.load({}, tmp_path / "elsewhere").url is None


def commands() -> set[str]:
    """The commands that `workspace --help` lists."""
    return set(re.findall(r"^    ([a-z]+)\b", parser().format_help(), re.M))


def test_every_command_is_told() -> None:
    """The README's table names each command, and no other."""
    told = {row[0].strip("`").removeprefix("workspace ") for row in table_after("README.md", "## Commands")}
    assert told == commands()


def test_every_event_is_told() -> None:
    """LANGUAGE.md names each event that a trigger may name, and each of them is looked for."""
    rows = page_text("automations/LANGUAGE.md").split("\n| event | ")[1].split("\n\n")[0].splitlines()[2:]
    told = {name for row in rows for name in re.findall(r"`(\w+\.\w+)`", row.split(" | ")[0])}
    assert told == set(EVENTS) == set(sources.KINDS)


def test_what_is_not_there_is_counted_right() -> None:
    """The number of operations that are served is the number in the README."""
    assert f"serves {len(HANDLERS)} of the {len(operations())} operations" in page_text("README.md").replace(
        "\n  ", " "
    )


def test_every_option_of_the_client_is_told() -> None:
    """docs/client.md's table has each option with its default."""
    told = {row[0].strip("`"): row[1].strip("`") for row in table_after("docs/client.md", "## Options")}
    assert set(told) == set(Options.__slots__)
    for name in ("timeout", "retries", "max_bytes", "read_only", "pace"):
        default: object = getattr(Options(), name)
        assert json.loads(told[name].replace(",", "").lower()) == default


@pytest.mark.parametrize("page", PAGES)
def test_links_and_named_files_are_there(page: str) -> None:
    """Every link within the repository and every file in backticks leads to something."""
    folder = (ROOT / page).parent
    missing = [link for link in links_of(page) if not (folder / link).exists()]
    named = re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|yaml|md|html|po|toml|png|service))`", page_text(page))
    missing += [name for name in named if not (ROOT / name).exists()]
    assert missing == []


def test_the_house_is_drawn_as_it_is() -> None:
    """Every folder of the README's map is there."""
    (drawn,) = blocks_of("README.md", "text")
    above = ""
    for line in drawn.text.splitlines():
        name = line.split()[0]
        above = above if line.startswith("  ") else name
        assert (ROOT / (name if line[0] != " " else above + name)).exists(), line


def test_a_recipe_names_four_files_at_most() -> None:
    """Each recipe of CONTRIBUTING.md has up to four numbered lines, and one or two files in each."""
    recipes = page_text("CONTRIBUTING.md").split("\n## Recipes\n")[1].split("\n## ")[0].split("\n### ")[1:]
    assert len(recipes) >= 6
    for recipe in recipes:
        steps = re.findall(r"^\d\. .*?(?=^\d\. |^$)", recipe, re.M | re.S)
        assert 2 <= len(steps) <= 4, recipe.splitlines()[0]
        assert all("`" in step for step in steps)


def test_every_act_on_automations_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's row of `workspace automations` names each of its commands, and no other."""
    rows = {row[0]: row[1] for row in table_after("README.md", "## Commands")}
    with pytest.raises(SystemExit):
        parser().parse_args(["automations", "--help"])
    there: list[str] = re.findall(r"^    ([a-z]+)\b", capsys.readouterr().out, re.M)
    assert sorted(re.findall(r"`([a-z]+)`", rows["`workspace automations`"])) == sorted(there)
