"""Audit, limits, PINs, closed books, the doctor and its confirmation, from the command line."""

import csv
import io
import json
import re
import stat
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot import audit, facts, intents, preferences, write_lock
from bot.audit import Entry
from bot.differences import CREATE
from bot.intents import Intent
from storage import Database
from tests.e2e.processes import run, started
from workspace import parts, settings
from workspace.commands.confirm import Sight
from workspace.main import main
from workspace_api import Workspace

CANARY = "wk_canary_canary_canary"


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The sample company, served on a free port; its address is in the file url, keys in the files owner and boris."""
    folder = tmp_path_factory.mktemp("company")
    assert run("init", "--sample", folder=folder).returncode == 0
    for name, whose in (("owner", "--owner"), ("boris", "boris")):
        (folder / name).write_text(run("key", "issue", whose, folder=folder).stdout.strip())
    with started("serve", "--port", "0", folder=folder, log="serve.log"):
        until, found = time.monotonic() + 30, None
        while found is None and time.monotonic() < until:
            log = (folder / "serve.log").read_text() if (folder / "serve.log").exists() else ""
            found = re.search(r"listens at (\S+)", log)
            time.sleep(0.05)
        assert found is not None
        (folder / "url").write_text(found[1])
        yield folder


@pytest.fixture
def here(company: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own that uses the company's workspace over HTTP."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKSPACE_URL", (company / "url").read_text())
    monkeypatch.setenv("WORKSPACE_API_KEY", (company / "owner").read_text())
    return tmp_path


@pytest.fixture
def hosted(here: Path, company: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same workspace under an address that is not known to be this machine's."""
    port = (company / "url").read_text().rsplit(":", 1)[1]
    monkeypatch.setenv("WORKSPACE_URL", f"http://0.0.0.0:{port}")
    return here


@pytest.fixture
def db(here: Path) -> Generator[Database]:
    """The bot's database of this installation."""
    with parts.open_bot_database(settings.load()) as opened:
        yield opened


def note(db: Database, subject: str, at: float = 1_790_000_000.0, **more: Any) -> None:
    """A line in the audit, of 21 September 2026 where nothing else is said."""
    db.write_now(
        partial(audit.note, entry=Entry(at, more.pop("user_id", "anna"), more.pop("act", "done"), subject, **more))
    )


def api(company: Path) -> Workspace:
    """The workspace as its owner sees it."""
    return Workspace((company / "url").read_text(), (company / "owner").read_text())


def test_the_audit_is_exported_as_csv(db: Database, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells begin no formula, secrets are hidden, and only the owner of the file may read it."""
    note(db, "request:7", note="=HYPERLINK(evil)", body={"sum": 450, "api_key": "canary", "text": CANARY})
    note(db, "request:8", at=1_780_000_000.0)
    assert main(["audit", "export", "--since", "2026-09-01", "lines.csv"]) == 0
    assert "1 lines are in lines.csv" in capsys.readouterr().err
    written = (here / "lines.csv").read_text()
    assert stat.S_IMODE((here / "lines.csv").stat().st_mode) == 0o600
    (row,) = csv.DictReader(io.StringIO(written))
    assert (row["subject"], row["user_id"]) == ("request:7", "anna")
    assert row["at"].startswith("2026-09-21T")
    assert row["note"] == "'=HYPERLINK(evil)"
    assert json.loads(row["body"])["sum"] == 450
    assert "canary" not in written


def test_the_audit_is_exported_as_json_lines(db: Database, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every line, over more than one page; on standard output where no file is named."""

    def many(connection: Any) -> None:
        for number in range(1500):
            audit.note(connection, Entry(float(number), "anna", "done", f"request:{number}", body={"token": "canary"}))

    db.write_now(many)
    assert main(["audit", "export", "--json"]) == 0
    out = capsys.readouterr().out
    assert [json.loads(line)["subject"] for line in out.splitlines()] == [f"request:{n}" for n in range(1500)]
    assert "canary" not in out
    assert main(["audit", "export", "all.jsonl"]) == 0
    assert len((here / "all.jsonl").read_text().splitlines()) == 1500


def test_an_export_that_cannot_be_written_is_told(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and nothing is left behind."""
    assert main(["audit", "export", "missing/lines.csv"]) == 2
    assert "missing/lines.csv cannot be written" in capsys.readouterr().err
    assert main(["audit", "export", "--since", "yesterday"]) == 2
    assert "write it like 2026-11-01" in capsys.readouterr().err


def test_lines_are_shown_by_number_and_by_name(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    """A bare number may be several things; a name is one."""
    note(db, "request:7", note="a decision", operation="finplan.request.review", key_kind="own")
    note(db, "transaction:7", note="an entry", body={"sum": 450})
    note(db, "person:anna", note="a person", act="pin set")
    assert main(["audit", "show", "7"]) == 0
    out = capsys.readouterr().out
    assert "finplan.request.review\town" in out
    assert "a decision" in out
    assert "an entry" in out
    assert "call: sum: 450" in out
    assert main(["audit", "show", "person:anna"]) == 0
    assert "pin set" in capsys.readouterr().out
    assert main(["audit", "show", "8"]) == 1
    assert "Nothing is known of 8" in capsys.readouterr().err
    assert main(["audit", "show", "eight"]) == 2
    assert "request:7" in capsys.readouterr().err


def test_books_are_closed_and_opened(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    """Up to a day that is over; each change stands in the audit."""
    assert main(["close"]) == 0
    assert main(["close", "2026-10-31"]) == 0
    assert main(["close"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "The books are open",
        "The books are closed up to 2026-10-31, that day included",
        "The books are closed up to 2026-10-31, that day included",
    ]
    with db.read() as connection:
        assert facts.get(connection, "closed_until") == "2026-10-31"
    assert main(["close", "--open"]) == 0
    with db.read() as connection:
        assert facts.get(connection, "closed_until") is None
        assert [entry.act for entry in audit.entries(connection, ["books"])] == ["books closed", "books opened"]


def test_a_limit_is_set_shown_and_taken_back(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the workspace's scale; the house's counts where there is none."""
    monkeypatch.setenv("WORKSPACE_MONEY_SCALE", "2")
    assert main(["limit", "anna"]) == 0
    assert main(["limit", "anna", "10 000,50"]) == 0
    with db.read() as connection:
        assert preferences.get(connection, "anna", "limit") == 1_000_050
    monkeypatch.setenv("WORKSPACE_LIMIT", "5000")
    assert main(["limit", "anna", "--none"]) == 0
    out = capsys.readouterr().out
    assert "anna has no limit, and WORKSPACE_LIMIT is not set" in out
    assert "again above 10,000.50" in out
    assert "WORKSPACE_LIMIT is 5,000" in out
    with db.read() as connection:
        assert preferences.get(connection, "anna", "limit") is None
        assert len(audit.entries(connection, ["person:anna"])) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["close", "soon"], "write it like 2026-10-31"),
        (["close", "2999-01-01"], "is not over yet"),
        (["close", "2026-10-31", "--open"], "Say one of them"),
        (["limit", "anna", "a lot"], "is no sum"),
        (["limit", "anna", "10.5"], "cannot be kept exactly"),
        (["limit", "anna", "NaN"], "is no sum"),
        (["limit", "anna", "5", "--none"], "Say one of them"),
        (["limit", "ana", "5"], "did you mean anna?"),
        (["doctor", "--yes"], "--yes belongs to --confirm"),
    ],
)
def test_wrong_words_are_told(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    """One sentence, exit code 2."""
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_pin_is_reset(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    """The person sets a new one in chat; the audit says that it was reset."""
    db.write_now(lambda connection: preferences.put(connection, "anna", "pin", {"salt": "", "hash": "", "wrong": 5}))
    assert main(["pin", "reset", "anna"]) == 0
    assert main(["pin", "reset", "anna"]) == 0
    out = capsys.readouterr().out
    assert "The PIN of anna is removed" in out
    assert "anna has no PIN" in out
    with db.read() as connection:
        assert preferences.get(connection, "anna", "pin") is None
        assert [entry.act for entry in audit.entries(connection, ["person:anna"])] == ["pin reset"]


def test_differences_are_shown_by_hand(db: Database, company: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A saved entry that is not there: in words, as JSON, and as a finding of the doctor."""
    assert main(["audit", "reconcile"]) == 0
    assert "as it was left" in capsys.readouterr().out
    with api(company) as owner:
        box = owner.finance.transaction.cashbox_list()[0]
    body = {"type": "out", "sum": 450, "cashbox_id": box.id, "category_id": 1, "description": "taxi", "user_id": "anna"}
    now = parts.now().timestamp()
    intent = Intent(intents.new_id(), 1, "anna", 1, "entries", "entry:1", CREATE, body, {}, "open", 0, now)

    def lost(connection: Any) -> None:
        intents.create(connection, intent)
        intents.move(connection, intent.id, "done", now)

    db.write_now(lost)
    assert main(["audit", "reconcile"]) == 1
    assert "Anna Bennett's entry of" in capsys.readouterr().out
    assert main(["audit", "reconcile", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["amount"]) == ("not_there", 450)
    assert main(["doctor"]) == 1
    assert "FAIL  reconciliation: 1 differences. Anna Bennett's entry" in capsys.readouterr().out
    assert main(["audit", "reconcile", "--accept"]) == 1


def test_the_doctor_tells_the_policies(
    here: Path, company: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls, rights, limit, ops, webhook, database, evidence, key: each with its setting."""
    monkeypatch.setenv("WORKSPACE_OPS", "anna,-1001")
    monkeypatch.setenv("WORKSPACE_LIMIT", "10000")
    monkeypatch.setenv("WORKSPACE_ACT_AS", "see")
    monkeypatch.setenv("WORKSPACE_SITES", "12=Halden")
    monkeypatch.setenv("WORKSPACE_CALLS_PER_MINUTE", "30")
    monkeypatch.setenv("WORKSPACE_WEBHOOK_URL", "https://bot.example.com/hook")
    monkeypatch.setenv("WORKSPACE_WEBHOOK_SECRET", "canary-canary-canary")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    for said in (
        "ok    calls: at most 30 a minute",
        "ok    without an own key: people see what the service's key sees, and log nothing",
        "ok    limit: above 10,000 approving and paying ask again",
        "ok    sites: 12 Halden",
        "FAIL  ops: anna, -1001\n      Not linked in chat: workspace invite anna",
        "ok    updates: webhook https://bot.example.com/hook, port 8443",
        "ok    database: SQLite, for one process alone; 0 people are linked",
        "ok    evidence: data/evidence, kept for 1826 days",
        "ok    key kind: key acts as the owner",
        "ok    reconciliation: what the bot did is in the workspace",
        "ok    writing: open",
    ):
        assert said in out, said
    assert "canary" not in out
    monkeypatch.setenv("WORKSPACE_API_KEY", (company / "boris").read_text())
    main(["doctor"])
    assert "key kind: key acts as an employee (it sees" in capsys.readouterr().out


def test_a_hosted_workspace_is_confirmed_by_a_known_transaction(
    hosted: Path, company: Path, db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Locked, shown as the bot would, refused, confirmed; another scale locks again."""
    with api(company) as owner:
        known = owner.finance.transaction.list(type="out")[0]
    assert main(["doctor"]) == 1
    assert "FAIL  writing: Nothing may be written to this workspace yet" in capsys.readouterr().out
    monkeypatch.setenv("WORKSPACE_TIMEZONE", "Europe/Berlin")
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert main(["doctor", "--confirm", str(known.id)]) == 1
    shown = capsys.readouterr()
    assert re.search(rf"Transaction {known.id} \(out\): .*, booked \d+ \w+ 2026 \d\d:\d\d Europe/Berlin", shown.out)
    assert "key acts as the owner (it sees all" in shown.out
    assert "sees 61 people" in shown.out
    assert "Nothing is unlocked" in shown.err
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert main(["doctor", "--confirm", str(known.id)]) == 0
    assert "Confirmed: the bot may write to" in capsys.readouterr().out
    with db.read() as connection:
        assert facts.get(connection, write_lock.FACT)["zone"] == "Europe/Berlin"
        assert [e.act for e in audit.entries(connection, [f"transaction:{known.id}"])] == ["workspace confirmed"]
    assert main(["doctor"]) == 0
    assert "ok    writing: open" in capsys.readouterr().out
    monkeypatch.setenv("WORKSPACE_MONEY_SCALE", "2")
    assert main(["doctor"]) == 1
    assert "The settings of this workspace have changed" in capsys.readouterr().out
    assert main(["doctor", "--confirm", str(known.id), "--yes"]) == 0


def test_what_the_key_sees_is_told_without_guessing() -> None:
    """Owner, employee, or not known where the workspace does not count."""
    assert "acts as the owner (it sees all 412 transactions), sees 63 people" in str(Sight(63, 412, 412))
    assert "acts as an employee (it sees 12 of 412 transactions)" in str(Sight(63, 12, 412))
    assert "of how many is not told" in str(Sight(63, 12, None))


def test_a_transaction_that_the_key_does_not_see_confirms_nothing(
    hosted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names some that it does see."""
    assert main(["doctor", "--confirm", "987654", "--yes"]) == 2
    assert re.search(r"sees no transaction 987654: take one that it does, such as \d+, \d+", capsys.readouterr().err)
