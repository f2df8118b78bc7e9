"""The bot's people from the command line: batches of invitations, who is linked, unlinking, forgetting, rotation."""

import asyncio
import csv
import json
import re
import sqlite3
import stat
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from bot import admission, people
from bot.incoming import Sender
from bot.sandbox import LocalTelegram, PersonSpec
from bot.vault import Vault
from storage import Database, open_database
from tests.e2e.processes import run, started
from workspace.main import main

TOKEN = "2000000:test-token-for-loopback"


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The sample company, served on a free port; its address is in the file url, the owner's key in the file key."""
    folder = tmp_path_factory.mktemp("people")
    assert run("init", "--sample", folder=folder).returncode == 0
    (folder / "key").write_text(run("key", "issue", "--owner", folder=folder).stdout.strip())
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
    """An installation of its own, with a hosted workspace: it knows the address and a key, and issues none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKSPACE_URL", (company / "url").read_text())
    monkeypatch.setenv("WORKSPACE_API_KEY", (company / "key").read_text())
    return tmp_path


@pytest.fixture
async def named(here: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Path]:
    """The same with a bot whose name Telegram tells."""
    spec = PersonSpec(id=1, first_name="Anna")
    async with LocalTelegram.start(people=[spec], token=TOKEN, bot_username="acme_bot") as telegram:
        monkeypatch.setenv("TELEGRAM_TOKEN", TOKEN)
        monkeypatch.setenv("TELEGRAM_API_URL", telegram.url)
        yield here


def database(folder: Path) -> Database:
    return open_database(f"sqlite:///{folder}/data/bot.db")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def code_of(link: str) -> str:
    return link.rpartition("start")[2].lstrip("= ")


def links(folder: Path, user_id: str, telegram_id: int, key: str | None = None) -> None:
    """Links a person as the bot would."""
    with database(folder) as db:
        vault = Vault(folder / "data" / "bot.key")
        sealed = None if key is None else vault.seal(key)
        code = db.write_now(lambda c: people.invite(c, user_id, sealed, time.time()))
        found = db.write_now(lambda c: people.redeemable(c, code, time.time()))
        assert found is not None
        db.write_now(lambda c: people.link(c, found.code_hash, telegram_id, user_id.title(), "en", time.time()))


def asks(folder: Path, code: str, sender: Sender) -> int:
    """Somebody presses “Yes, that's me” on the link of a batch; returns the number of the question."""
    with database(folder) as db:
        found = db.write_now(lambda c: people.redeemable(c, code, time.time()))
        assert found is not None
        asked, pending = db.write_now(lambda c: admission.ask(c, found.code_hash, sender, "en", time.time()))
        assert asked == "asked"
        assert pending is not None
        return pending.id


async def test_a_batch_is_a_table_and_a_page(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everybody who works here and is not linked; private files; a QR code a card; what to do next on stderr."""
    await asyncio.to_thread(main, ["people"])
    links(named, "anna", 1)
    done = await asyncio.to_thread(main, ["invite", "--all", "--csv", "all.csv", "--page", "all.html", "--days", "3"])
    assert done == 0
    said = capsys.readouterr()
    assert "60 to invite, 1 linked already" in said.err
    assert "workspace people confirm" in said.err
    rows = rows_of(named / "all.csv")
    assert list(rows[0]) == ["user_id", "name", "position", "link", "expires", "telegram_hint"]
    assert len(rows) == 60
    assert {"anna", "arthur", "nina"}.isdisjoint(row["user_id"] for row in rows), "linked, disabled, deleted"
    marina = next(row for row in rows if row["user_id"] == "marina")
    assert (marina["name"], marina["position"]) == ("Marina Holt", "Finance Director")
    assert marina["telegram_hint"] == "marina_local"
    assert re.fullmatch(r"https://t\.me/acme_bot\?start=[\w-]{22}", marina["link"])
    html = (named / "all.html").read_text()
    assert html.count("<article>") == html.count("<svg") == 60
    assert marina["link"] in html
    assert "<script" not in html
    assert not re.search(r"(src|href)=", html)
    for name in ("all.csv", "all.html"):
        assert stat.S_IMODE((named / name).stat().st_mode) == 0o600
    with database(named) as db, db.read() as connection:
        found = people.redeemable(connection, code_of(marina["link"]), time.time())
        late = people.redeemable(connection, code_of(marina["link"]), time.time() + 3 * people.DAY + 60)
    assert found is not None
    assert found.confirm
    assert found.profile
    assert late is None


async def test_a_page_needs_the_name_of_the_bot(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A QR code without an address leads nowhere; a table has the words for /start instead."""
    assert await asyncio.to_thread(main, ["invite", "--all", "--page", "all.html"]) == 2
    assert "set TELEGRAM_TOKEN" in capsys.readouterr().err
    assert not (here / "all.html").exists()
    assert await asyncio.to_thread(main, ["invite", "--all", "--csv", "all.csv"]) == 0
    assert all(re.fullmatch(r"/start [\w-]{22}", row["link"]) for row in rows_of(here / "all.csv"))


def test_a_file_that_is_there_is_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is overwritten, and nobody is invited where a link could not be written."""
    (here / "all.csv").write_text("mine")
    assert main(["invite", "--all", "--csv", "all.csv"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (here / "all.csv").read_text() == "mine"
    assert main(["people", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["invited"] == []


def test_a_dry_run_invites_nobody(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says whom, and changes nothing."""
    assert main(["invite", "--all", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 61
    assert "marina\tMarina Holt\tFinance Director\tmarina_local" in lines
    assert main(["people", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["invited"] == []


def test_inviting_again_leaves_alone_who_waits(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second batch replaces open links, says so, and does not take the place of one who waits for an admin."""
    assert main(["invite", "--all", "--csv", "first.csv"]) == 0
    first = {row["user_id"]: code_of(row["link"]) for row in rows_of(here / "first.csv")}
    asks(here, first["marina"], Sender(1002, "Marina H", "marinah", "en"))
    capsys.readouterr()
    assert main(["invite", "--all", "--csv", "second.csv"]) == 0
    said = capsys.readouterr().err
    assert "60 to invite" in said
    assert "1 waiting for confirmation" in said
    assert "earlier links that stop working: 60" in said
    assert "marina" not in {row["user_id"] for row in rows_of(here / "second.csv")}
    with database(here) as db, db.read() as connection:
        assert people.redeemable(connection, first["boris"], time.time()) is None
        assert people.redeemable(connection, first["marina"], time.time()) is not None


def test_formulas_in_names_are_written_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name or a hint that a spreadsheet would run, and HTML in it, stay what they are: text."""
    from datetime import UTC, datetime

    from bot.invitation_page import Invited, page
    from bot.texts import Texts
    from workspace.commands import invitations

    evil = Invited(
        "=cmd|'/c calc'!A1", "<script>alert(1)</script>", "+1", "https://t.me/b?start=x", datetime.now(UTC), "@x"
    )
    path = tmp_path / "out.csv"
    with path.open("w", newline="") as file:
        invitations.write_table(file, [evil])
    row = rows_of(path)[0]
    assert row["user_id"].startswith("'=")
    assert row["position"] == "'+1"
    assert row["telegram_hint"] == "'@x"
    html = "".join(page(Texts("ru", UTC), [evil]))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "Отсканируйте" in html


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["invite"], "Say whom"),
        (["invite", "--all"], "Say where the links go"),
        (["invite", "anna", "--all", "--csv", "x.csv"], "leave USER_ID"),
        (["invite", "anna", "--csv", "x.csv"], "go with --all"),
        (["invite", "anna", "--days", "0"], "from 1 to 90"),
        (["people", "confirm", "7"], "Nobody waits with the number 7"),
        (["unlink", "anna"], "anna is not linked"),
    ],
)
def test_wrong_words(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    """One sentence that says what would be right."""
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_one_link_for_days_needs_an_admin_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An hour by default, bound by the code; days, bound by an admin."""
    for words, confirm in ((["invite", "anna"], False), (["invite", "boris", "--days", "2"], True)):
        assert main(words) == 0
        code = capsys.readouterr().out.strip()
        with database(here) as db, db.read() as connection:
            found = people.redeemable(connection, code, time.time())
        assert found is not None
        assert found.confirm is confirm


def test_people_are_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Linked with their kind of key, invited, and waiting with the hint."""
    assert main(["invite", "marina", "--days", "2"]) == 0
    code = capsys.readouterr().out.strip()
    links(here, "anna", 1001, "wk_annas")
    links(here, "boris", 1003)
    with database(here) as db:
        db.write_now(lambda c: people.mark(c, 1001, key_proved=True))
        db.write_now(lambda c: people.mark(c, 1003, blocked=True))
    number = asks(here, code, Sender(1002, "Ma\x1brina", "Marina_Local", "en"))
    assert main(["people", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(one["user_id"], one["key"], one["state"]) for one in found["linked"]} == {
        ("anna", "own proved", ""),
        ("boris", "none", "blocked the bot"),
    }
    assert [(one["user_id"], one["state"]) for one in found["invited"]] == [("marina", "waits for confirmation")]
    assert [(one["id"], one["name"], one["hint"]) for one in found["waiting"]] == [(number, "Marina Holt", "same")]
    assert main(["people"]) == 0
    table = capsys.readouterr().out
    assert "2 linked, 1 invited, 1 waiting for confirmation" in table
    assert "own proved" in table
    assert "Ma?rina (@Marina_Local)" in table
    assert "\x1b" not in table


def test_confirming_and_refusing_from_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Confirm links and tells; refuse ends the link; either is done once."""
    numbers: dict[str, int] = {}
    for number, user_id in ((1002, "marina"), (1003, "boris")):
        assert main(["invite", user_id, "--days", "2"]) == 0
        numbers[user_id] = asks(here, capsys.readouterr().out.strip(), Sender(number, user_id, None, "en"))
    assert main(["people", "confirm", str(numbers["marina"])]) == 0
    assert "is linked as marina" in capsys.readouterr().out
    assert main(["people", "refuse", str(numbers["boris"])]) == 0
    assert main(["people", "confirm", str(numbers["boris"])]) == 2
    capsys.readouterr()
    assert main(["people", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["user_id"], one["telegram_id"], one["name"]) for one in found["linked"]] == [
        ("marina", 1002, "Marina Holt")
    ]
    assert (found["invited"], found["waiting"]) == ([], [])


def test_unlinking_forgets_the_key_and_tells(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The link and the key are gone from the disk; the words wait for the bot to say them."""
    assert main(["people"]) == 0
    links(here, "anna", 1001, "wk_annas")
    with database(here) as db, db.read() as connection:
        person = people.find(connection, 1001)
        assert person is not None
        sealed = str(person.sealed_key)
    assert main(["unlink", "ana"]) == 2
    assert "did you mean anna?" in capsys.readouterr().err
    assert main(["unlink", "anna"]) == 0
    assert not [path for path in (here / "data").iterdir() if path.is_file() and sealed.encode() in path.read_bytes()]
    with sqlite3.connect(here / "data" / "bot.db") as connection:
        said = connection.execute("SELECT payload FROM outbox WHERE state = 'due'").fetchall()
    assert "unlinked this chat" in said[0][0]


def test_forgetting_lists_first_and_erases_with_yes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by table; the evidence stays, and it says for how long."""
    assert main(["people"]) == 0
    links(here, "anna", 1001, "wk_annas")
    from bot import audit, preferences

    with database(here) as db:
        db.write_now(lambda c: preferences.put(c, "anna", "batch", True))
        db.write_now(lambda c: audit.note(c, audit.Entry(time.time(), "anna", "done", "request:7", 1001)))
    capsys.readouterr()
    assert main(["forget", "anna"]) == 0
    listed = capsys.readouterr().out
    assert re.search(r"1  link\n", listed)
    assert re.search(r"1  preferences\n", listed)
    assert re.search(r"1  audit of money\n", listed)
    assert "1826 days for what concerns money" in listed
    assert "workspace forget anna --yes" in listed
    assert main(["forget", "anna", "--yes"]) == 0
    capsys.readouterr()
    assert main(["forget", "anna"]) == 0
    left = capsys.readouterr().out
    assert "Nothing to erase of anna" in left
    assert "audit of money" in left
    assert main(["people", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["linked"] == []
    assert main(["forget", "nobody"]) == 0
    assert "Nothing is kept of nobody" in capsys.readouterr().out


def test_rotating_the_key_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything opens with the new key alone; what no key opens is told, and the exit code says so."""
    assert main(["invite", "boris", "--api-key", "wk_of_boris"]) == 0
    links(here, "anna", 1001, "wk_annas")
    path = here / "data" / "bot.key"
    old = path.read_bytes().split()
    running = Vault(path)
    assert main(["people", "rotate-key"]) == 0
    assert "Keys sealed with a new key: 2; old keys dropped: 1" in capsys.readouterr().out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_bytes().split()) == 1
    assert not set(old) & set(path.read_bytes().split())
    with database(here) as db, db.read() as connection:
        person = people.find(connection, 1001)
    assert person is not None
    assert person.sealed_key is not None
    assert running.open(person.sealed_key) == "wk_annas", "a running bot needs no restart"
    with database(here) as db:
        foreign = Fernet(Fernet.generate_key()).encrypt(b"x").decode()
        db.write_now(lambda c: people.mark(c, 1001, sealed_key=foreign))
    assert main(["people", "rotate-key"]) == 1
    assert "1 could not be opened" in capsys.readouterr().err
