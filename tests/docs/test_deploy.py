"""The files of deploy/ fit together and name what is there. Nothing here needs a container engine."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import ROOT, blocks_of
from workspace import settings
from workspace.main import parser

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))

# What compose's specification knows, as far as it is used here.
TOP = {"name", "services", "volumes", "configs"}
SERVICE = {
    "build", "cap_drop", "command", "configs", "depends_on", "deploy", "env_file", "environment", "expose",
    "healthcheck", "hostname", "image", "init", "logging", "ports", "profiles", "read_only", "restart", "security_opt",
    "shm_size", "stop_grace_period", "tmpfs", "volumes",
}  # fmt: skip


def compose() -> Mapping[str, Any]:
    """compose.yaml as compose reads it: anchors and merges resolved, extensions left out."""
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return {key: value for key, value in whole.items() if not key.startswith("x-")}


def test_compose_is_whole() -> None:
    """Known keys only; volumes, services and the Dockerfile that are named are there."""
    file = compose()
    assert set(file) == TOP
    assert set(file["services"]) == {"workspace", "bot", "proxy", "runner", "database"}
    for service in file["services"].values():
        assert set(service) <= SERVICE
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= set(file["volumes"])
        assert set(service.get("depends_on", {})) <= set(file["services"])
        for config in service.get("configs", ()):
            assert (DEPLOY / file["configs"][config["source"]]["file"]).is_file()
        if "build" in service:
            build = service["build"]
            assert ((DEPLOY / build["context"]).resolve() / build["dockerfile"]).is_file()


def test_compose_runs_commands_that_exist() -> None:
    """Each program's words are the command line's; settings are settings; no secret is written down."""
    file = compose()
    for name in ("workspace", "bot", "runner"):
        service = file["services"][name]
        parser().parse_args([str(word) for word in service["command"]])
        assert set(service["environment"]) <= set(settings.NAMES)
    text = (DEPLOY / "compose.yaml").read_text()
    assert not re.search(r"(PASSWORD|KEY|TOKEN): (?!\$\{)", text)
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (DEPLOY / "env.example").read_text(), re.M))
    assert set(example) - {"POSTGRES_PASSWORD", "WEBHOOK_DOMAIN"} <= set(settings.NAMES)
    assert {example[name] for name in ("POSTGRES_PASSWORD", "WORKSPACE_API_KEY", "TELEGRAM_TOKEN")} == {""}


def test_two_bots_stand_behind_the_proxy() -> None:
    """It passes posts on to the port where they listen, under the domain of the settings; its braces match."""
    file = compose()
    bot, proxy = file["services"]["bot"], file["services"]["proxy"]
    assert bot["deploy"]["replicas"] == 2
    # Each would have to have a name or a port of its own.
    assert not {"container_name", "hostname", "ports"} & set(bot)
    port = settings.load({}, DEPLOY).webhook_port
    assert bot["expose"] == [str(port)]
    caddy = (DEPLOY / "Caddyfile").read_text()
    assert f"dynamic a bot {port} {{" in caddy
    assert set(re.findall(r"\{\$(\w+)\}", caddy)) == set(proxy["environment"])
    assert caddy.count("{") == caddy.count("}")
    blocks = [line for line in caddy.splitlines() if line.endswith("{")]
    assert len(blocks) == sum(line.strip() == "}" for line in caddy.splitlines())


def test_the_ops_page_is_for_this_machine() -> None:
    """In its container it listens to the others with a token that is asked for; outside it is nobody else's."""
    runner = compose()["services"]["runner"]
    given = runner["environment"]
    assert given["WORKSPACE_PAGE_TOKEN"].startswith("${WORKSPACE_PAGE_TOKEN:?")
    page = {"WORKSPACE_PAGE": given["WORKSPACE_PAGE"], "WORKSPACE_PAGE_TOKEN": "a-token-of-somebody"}
    assert settings.load(page, DEPLOY).page == ("0.0.0.0", 8090)
    assert runner["ports"] == ["127.0.0.1:8090:8090"]


def test_the_dockerfile_copies_what_is_there() -> None:
    """Sources exist and pass the ignore file; every package is copied; the last stage is not root and has no secret."""
    text = (DEPLOY / "Dockerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for name in line.split()]
    let_in = re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.M)
    assert set(copied) == set(let_in)
    assert all((ROOT / name).exists() for name in copied)
    packages = re.search(r"^packages = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.M)
    assert packages is not None
    assert set(re.findall(r'"(\w+)"', packages[1])) <= set(copied)
    assert "--require-hashes" in text
    assert re.search(r"^USER (?!0|root)\d", text.split("\nFROM ")[-1], re.M)
    assert not re.search(r"(PASSWORD|API_KEY|TOKEN)", text)
    (words,) = re.findall(r"^CMD \[(.*)\]$", text, re.M)
    parser().parse_args([word.strip(' "') for word in words.split(",")])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_clean(unit: Path) -> None:
    """`systemd-analyze verify` has nothing to say, and the program is one of the commands."""
    ended = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout + ended.stderr) == (0, "")
    (words,) = re.findall(r"^ExecStart=/usr/bin/env workspace (.*)$", unit.read_text(), re.M)
    parser().parse_args(words.split())


def test_the_units_are_alike() -> None:
    """They differ in what they are and run; each is locked in as the others are."""
    assert len(UNITS) == 3
    bodies = {re.sub(r"^(Description|After|ExecStart)=.*\n", "", unit.read_text(), flags=re.M) for unit in UNITS}
    assert len(bodies) == 1


def test_the_page_types_what_exists() -> None:
    """Each `workspace` command of the page's consoles is taken by the command line; each file it copies is there."""
    typed: list[list[str]] = []
    for block in blocks_of("deploy/README.md", "console"):
        found: list[str] = re.findall(
            r"(?:run --rm(?: -T)? (?:workspace|bot|runner)|bin/workspace) ([^)\"\n]+)", block.text
        )
        # What stands in quotes after it is a key.
        typed += [shlex.split(words) + ["key"] * words.endswith("--api-key ") for words in found]
        named: list[str] = re.findall(r"/opt/workspace-assistant/((?!\.venv)\S+)", block.text)
        assert [name for name in named if not list(ROOT.glob(name))] == []
    assert len(typed) >= 7
    for words in typed:
        parser().parse_args(words)
