"""Secrets: where they come from, and that none is ever recorded, said or shown."""

import logging
import os
from json import dumps
from pathlib import Path
from typing import Any

import pytest

from automations.expressions import ExpressionFailed, evaluate
from automations.scope import Hiding, Watched
from automations.secrets import NoSecret, Secrets, load_secrets, spellings
from tests.automations.world import Bench, TableCaller

KEY = 'k"ey/päss+0815\tX'
"""It looks different in JSON, in an address and in Base64."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "secrets"
    place.mkdir(mode=0o700)
    return place


def put(folder: Path, name: str, content: bytes, mode: int = 0o600) -> Path:
    file = folder / name
    file.write_bytes(content)
    file.chmod(mode)
    return file


def refusal(secrets: Secrets, name: str) -> str:
    with pytest.raises(NoSecret) as caught:
        secrets[name]
    return str(caught.value)


def test_the_environment_gives_secrets() -> None:
    """WORKSPACE_SECRET_BANK_KEY is secrets.bank_key; nothing else of the environment is one."""
    secrets = load_secrets({"WORKSPACE_SECRET_BANK_KEY": "hunter22", "PATH": "/bin", "WORKSPACE_SECRET_": "x"}, None)
    assert list(secrets) == ["bank_key"]
    assert secrets["bank_key"] == "hunter22"
    assert len(secrets) == 1
    assert "path" not in secrets
    assert repr(secrets) == "<Secrets bank_key>"


def test_a_file_is_a_secret_and_wins(folder: Path) -> None:
    """One file each, one line end cut off; a replaced one counts at the next look."""
    put(folder, "bank_key", b"from the file\r\n")
    put(folder, "Other", b"no name of a secret")
    secrets = load_secrets({"WORKSPACE_SECRET_BANK_KEY": "from the environment"}, folder)
    assert list(secrets) == ["bank_key"]
    assert secrets["bank_key"] == "from the file"
    put(folder, "bank_key", b"rotated today\n\n")
    assert secrets["bank_key"] == "rotated today\n"
    (folder / "bank_key").unlink()
    assert secrets["bank_key"] == "from the environment"


def test_what_is_no_secret_is_told(folder: Path) -> None:
    """Each refusal says what to do, and none shows a value."""
    put(folder, "open", b"readable by all", 0o644)
    put(folder, "short", b"1234\n")
    put(folder, "large", b"x" * 70_000)
    put(folder, "bytes", b"\xff\xfe\xff\xfe\xff\xfe")
    (folder / "away").symlink_to("/etc/passwd")
    (folder / "dead").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe", 0o600)
    secrets = load_secrets({}, folder)
    assert refusal(secrets, "open") == "the file of secret open is open to others: chmod 600 it"
    assert refusal(secrets, "short") == "secret short has less than 6 characters, which could not be hidden in records"
    assert refusal(secrets, "large") == "the file of secret large is larger than 64 KB"
    assert refusal(secrets, "bytes") == "the file of secret bytes is no text in UTF-8"
    assert (
        refusal(secrets, "away")
        == "the file of secret away is a link to outside of its folder: put the file itself there"
    )
    assert refusal(secrets, "dead") == "the file of secret dead cannot be read: No such file or directory"
    assert refusal(secrets, "pipe") == "the file of secret pipe is no file"
    assert refusal(secrets, "opem") == "there is no secret opem; did you mean open?"
    assert refusal(secrets, "zzz") == (
        "there is no secret zzz; set WORKSPACE_SECRET_ZZZ, or put a file zzz into the folder of WORKSPACE_SECRETS"
    )
    assert refusal(secrets, "../x") == "secrets.../x cannot be: a name is made of small letters, digits and _"
    assert list(load_secrets({}, folder / "none")) == []


def test_a_mounted_secret_of_kubernetes_is_read(folder: Path) -> None:
    """Its files are links through `..data`, open to the group that the mount says."""
    (folder / "..2026_11_21").mkdir()
    put(folder / "..2026_11_21", "bank_key", b"mounted here", 0o644)
    (folder / "..data").symlink_to("..2026_11_21")
    (folder / "bank_key").symlink_to("..data/bank_key")
    secrets = load_secrets({}, folder)
    assert list(secrets) == ["bank_key"]
    assert secrets["bank_key"] == "mounted here"


def test_an_expression_says_which_secret_is_missing(folder: Path) -> None:
    """The sentence is the same as anywhere else; whether one is there can be asked."""
    put(folder, "open", b"readable by all", 0o644)
    scope = {"secrets": Watched(Hiding(load_secrets({"WORKSPACE_SECRET_BANK": "hunter22"}, folder)))}
    for text, told in (
        ("{{ secrets.bnk }}", "there is no secret bnk; did you mean bank?"),
        ("{{ secrets['bnk'] }}", "there is no secret bnk; did you mean bank?"),
        ("x {{ secrets.open }}", "the file of secret open is open to others: chmod 600 it"),
    ):
        with pytest.raises(ExpressionFailed) as caught:
            evaluate(text, scope)
        assert str(caught.value).endswith(told)
    assert evaluate("{{ secrets.bnk is defined }}", scope) is False
    assert evaluate("{{ secrets.bank is defined }}", scope) is True
    assert evaluate("{{ secrets }}", scope) == {}


def shows(what: Any) -> str:
    return what if isinstance(what, str) else dumps(what, ensure_ascii=False, default=str)


LIST = "fintransaction.exchange.rate.custom.list"
USES = {
    "a field of a call": """
      call: fintransaction.exchange.rate.custom.list
      with: {currency_code_from: "{{ secrets.bank }}", currency_code_to: RUB}""",
    "all fields of a call": """
      call: fintransaction.exchange.rate.custom.list
      with: "{{ {'currency_code_from': secrets.bank, 'currency_code_to': 'RUB'} }}" """,
    "a field that is not there": """
      call: fintransaction.exchange.rate.custom.list
      with: "{{ {secrets.bank: 1} }}" """,
    "a message": """
      telegram: {to: "@ops", text: "the key is {{ secrets.bank }} {{ {'k': secrets.bank} | tojson }}"}""",
    "an addressee": """
      telegram: {to: "{{ secrets.bank }}", text: "hi"}""",
    "a path": """
      write: "{{ secrets.bank }}"
      content: x""",
    "a wrong type": """
      write: a.txt
      content: "{{ {secrets.bank: 1}[secrets.bank ~ 'x'] }}" """,
    "an address": """
      telegram: {to: "@ops", text: "https://bank/?key={{ secrets.bank | urlencode }}"}""",
    "a list of items": """
      for_each: ["{{ secrets.bank }}"]
      telegram: {to: "@ops", text: "{{ item }}"}""",
}


@pytest.mark.parametrize("use", USES)
async def test_no_secret_is_ever_recorded(tmp_path: Path, caplog: pytest.LogCaptureFixture, use: str) -> None:
    """What a step does with a secret, it does; the journal, the result and the log have its name alone."""
    caplog.set_level(logging.DEBUG)
    bench = Bench(tmp_path / "files", TableCaller({LIST: [{"value": KEY, "note": f"<{KEY}>"}]}))
    bench.secrets = load_secrets({"WORKSPACE_SECRET_BANK": KEY}, None)
    result = await bench.run("steps:\n    - id: a" + USES[use])
    told = [*bench.journal.records, result, caplog.text, repr(bench.secrets)]
    for spelling in spellings(KEY):
        for part in told:
            assert spelling not in shows(part)
    assert "(secret bank)" in shows([bench.journal.records, result])


async def test_the_secret_itself_is_what_is_sent(tmp_path: Path) -> None:
    """Hiding is for records: the workspace and the chat get the value."""
    bench = Bench(tmp_path / "files", TableCaller())
    bench.secrets = load_secrets({"WORKSPACE_SECRET_BANK": KEY}, None)
    await bench.run("steps:\n    - id: a" + USES["a message"])
    assert [text.startswith(f"the key is {KEY} ") for _, text, _ in bench.chat.said.values()] == [True]


def test_hiding_knows_the_longest_first_and_leaves_decimals() -> None:
    """A secret that begins with another is hidden whole; an exact number stays one."""
    hiding = Hiding({"short": "hunter2", "long": "hunter2-and-more", "number": "123456"})
    for name in ("short", "long", "number"):
        hiding.used(name)
    value = {"a": ["hunter2-and-more", 123456, 7], "hunter2": {"$decimal": "0.123456"}}
    assert hiding.hide(value) == {
        "a": ["(secret long)", "(secret number)", 7],
        "(secret short)": {"$decimal": "0.123456"},
    }
