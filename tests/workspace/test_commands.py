"""The command line as its users type it: real commands, a real workspace, exit codes and sentences."""

import json
import re
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.processes import run, started
from workspace.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A folder with the sample company, served on a free port; `url` is in the file url."""
    folder = tmp_path_factory.mktemp("company")
    made = run("init", "--sample", folder=folder)
    assert made.returncode == 0, made.stderr
    with started("serve", "--port", "0", folder=folder, log="serve.log"):
        until = time.monotonic() + 30
        found = None
        while found is None and time.monotonic() < until:
            log = (folder / "serve.log").read_text() if (folder / "serve.log").exists() else ""
            found = re.search(r"listens at (\S+)", log)
            time.sleep(0.05)
        assert found is not None
        (folder / "url").write_text(found[1])
        yield folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of somebody who works in that folder with a key of Anna's."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WORKSPACE_URL", (folder / "url").read_text())
    return folder


def key_of(user: str, capsys: pytest.CaptureFixture[str]) -> str:
    """A key, which is all that `key issue` prints."""
    assert main(["key", "issue", *user.split()]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    return printed.strip()


def test_call_prints_data_as_json(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wire names and Python names alike; lists as JSON; the answer's data and nothing else."""
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("anna", capsys))
    assert main(["call", "finplan.request.review", "requestIds=[1]", "reviewType=accept", "block_id=10"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data[0]["need_accept"] == [2, 1, 4]
    assert main(["call", "wiki.article.get", "--json", '{"id": 41}']) == 0
    assert json.loads(capsys.readouterr().out)["id"] == 41


def test_a_refusal_is_a_sentence_and_exit_code_1(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the workspace refuses goes to stderr."""
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("boris", capsys))
    assert main(["call", "finplan.request.review", "request_ids=[2]", "review_type=accept"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("workspace: finplan.request.review: refused")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["call", "finplan.request.reviw"], "did you mean finplan.request.review?"),
        (["call", "finplan.request.review", "requst_ids=[1]"], "did you mean request_ids?"),
        (["call", "wiki.article.get"], "id: is required"),
        (["call", "wiki.article.get", "id"], "is no field=value"),
        (["call", "wiki.article.get", "--json", "[1]"], "takes one object"),
        (["key", "issue"], "Say whose key"),
        (["automations", "validate", "missing.yaml"], "There is no file missing.yaml"),
        (["automations", "run", "nightly"], "nightly"),
    ],
)
def test_wrong_words_are_exit_code_2(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """One sentence that says what would be right."""
    monkeypatch.setenv("WORKSPACE_API_KEY", "unused")
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_revoked_key_is_refused_from_the_next_call_on(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`key revoke` by another process counts at once in the running server."""
    key = key_of("anna", capsys)
    monkeypatch.setenv("WORKSPACE_API_KEY", key)
    assert main(["call", "finance.currency.list"]) == 0
    assert main(["key", "revoke", key]) == 0
    capsys.readouterr()
    assert main(["call", "finance.currency.list"]) == 1
    assert "unauthorized" in capsys.readouterr().err
    assert main(["key", "list"]) == 0
    assert re.search(rf"{key[:10]}…\tanna.*revoked", capsys.readouterr().out)


def test_openapi_has_every_operation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """89 paths, POST, operation ids that are the names."""
    assert main(["openapi"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["paths"]) == 89
    assert document["paths"]["/finplan/api/request/review"]["post"]["operationId"] == "finplan.request.review"


def test_invite_prints_the_bare_code_without_a_token(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the embedded workspace a key of the person is made; the code is good for /start."""
    monkeypatch.delenv("WORKSPACE_URL")
    assert main(["invite", "anna"]) == 0
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}\n", capsys.readouterr().out)
    monkeypatch.setenv("WORKSPACE_URL", (here / "url").read_text())
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("--owner", capsys))
    assert main(["invite", "anna"]) == 0
    assert "--api-key" not in capsys.readouterr().err
    monkeypatch.delenv("WORKSPACE_URL")
    assert main(["invite", "nobody"]) == 1
    assert "There is no user nobody" in capsys.readouterr().err


def test_automations_from_validate_to_show(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is valid, is listed, runs in the foreground, and is found in the history."""
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("--owner", capsys))
    assert main(["automations", "validate"]) == 0
    assert main(["automations", "list", "--json"]) == 0
    capsys.readouterr()
    assert main(["automations", "next", "nightly-org-export", "-n", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["automations", "run", "nightly-org-export", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["state"] == "done"
    assert main(["automations", "history", "--json"]) == 0
    assert report["run_id"] in {run["run_id"] for run in json.loads(capsys.readouterr().out)}
    assert main(["automations", "show", report["run_id"], "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    told = {step["name"]: step["state"] for step in steps}
    assert told | {"org": "done", "file": "done", "picture": "done", "moved": "done"} == told
    assert list(Path("data/files/org").glob("*.json"))
    from automations.control import LIBRARY

    assert main(["automations", "plan", str(LIBRARY / "nightly-org-export.yaml"), "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert [step["state"] for step in planned["steps"]][:3] == ["read", "would", "would"]
    assert len(planned["ticks"]) == 10
    assert main(["automations", "plan", "missing.yaml"]) == 2
    assert main(["automations", "backfill", "x", "2026-11-01", "2026-11-02"]) == 2
    assert "x is no automation" in capsys.readouterr().err


def test_an_automation_that_fails_is_exit_code_1(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A refused call fails the run, and the sentence says which step."""
    (tmp_path / "wrong.yaml").write_text(
        "name: wrong\nsteps:\n  - id: get\n    call: wiki.article.get\n    with: {id: 999999}\n"
    )
    monkeypatch.setenv("WORKSPACE_AUTOMATIONS", str(tmp_path))
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("--owner", capsys))
    assert main(["automations", "run", "wrong"]) == 1
    assert "get" in capsys.readouterr().out


def test_doctor_tells_what_is_well(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a key all is well; without one the line says what to set."""
    monkeypatch.setenv("WORKSPACE_API_KEY", key_of("--owner", capsys))
    assert main(["doctor"]) == 0
    assert "sees 61 active people" in capsys.readouterr().out
    monkeypatch.delenv("WORKSPACE_API_KEY")
    assert main(["doctor"]) == 1
    assert "set WORKSPACE_API_KEY" in capsys.readouterr().out


def test_doctor_tells_what_is_not_reachable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing listens: the remedy is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKSPACE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WORKSPACE_API_KEY", "unused")
    assert main(["doctor"]) == 1
    assert "FAIL  workspace" in capsys.readouterr().out


def test_the_bot_without_a_token_says_how_to_get_one(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, exit code 2."""
    monkeypatch.setenv("WORKSPACE_API_KEY", "unused")
    assert main(["bot"]) == 2
    assert "@BotFather" in capsys.readouterr().err


def test_an_error_of_ours_shows_no_traceback(here: Path) -> None:
    """A port that is taken is told in one line."""
    port = (here / "url").read_text().rsplit(":", 1)[1]
    done = run("serve", "--port", port, folder=here)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Choose another --port" in done.stderr


def test_the_fields_of_an_operation_are_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule behind a field is no word of its type: neither its name nor its insides are shown."""
    assert main(["call", "finplan.request.save", "--help"]) == 0
    assert "  status: progress | accept | reject | paid\n" in capsys.readouterr().out
    assert main(["call", "tasks.task.create", "--help"]) == 0
    told = capsys.readouterr().out
    assert "  finish_date: date\n" in told
    assert "Validator" not in told
