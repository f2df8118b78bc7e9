"""Whom a message is for: names as they are, managers and holders from the structure, nobody in words."""

from pathlib import Path
from typing import Any

import pytest

from automations.errors import InvalidAutomation, StepFailed
from automations.steps.recipients import Structure, findings
from tests.automations.world import Bench, Chat, TableCaller, automation, done
from workspace_api.contract import NotSent

BLOCKS: list[dict[str, Any]] = [
    {"id": 1, "parent_id": None},
    {"id": 10, "parent_id": 1},
    {"id": 11, "parent_id": 10},
    {"id": 12, "parent_id": 11},
    {"id": 20, "parent_id": 1},
    {"id": 30, "parent_id": 31},
    {"id": 31, "parent_id": 30},
]


def worker(user_id: str | None, block: int, **more: Any) -> dict[str, Any]:
    return {"user_id": user_id, "block_id": block, **more}


WORKERS = [
    worker("olga", 1),
    worker("anna", 10),
    worker("pauline", 10, is_primary=True),
    worker("anna", 11, is_primary=True),
    worker("boris", 12),
    worker("zoe", 12, is_deleted=True),
    worker("marina", 12, is_primary=False),
    worker("marina", 20, is_primary=True),
    worker(None, 20),
    worker("round", 30),
]

STRUCTURE = Structure(BLOCKS, WORKERS)


@pytest.mark.parametrize(
    ("user_id", "managers"),
    [
        ("boris", ["anna"]),
        ("anna", ["pauline"]),
        ("pauline", ["olga"]),
        ("marina", ["olga"]),
    ],
)
def test_a_manager_is_who_holds_the_block_above(user_id: str, managers: list[str]) -> None:
    """The nearest that somebody else holds, from one's primary block; all who hold it."""
    assert STRUCTURE.managers(user_id) == managers


def test_all_holders_are_meant_and_a_vacant_block_is_passed_over() -> None:
    """Boris's own line when nobody holds the block above."""
    without_anna = Structure(BLOCKS, [one for one in WORKERS if one != worker("anna", 11, is_primary=True)])
    assert without_anna.managers("boris") == ["pauline", "anna"]
    assert STRUCTURE.holders("10") == ["pauline", "anna"]


@pytest.mark.parametrize(
    ("user_id", "told"),
    [("olga", "nobody is above olga"), ("round", "nobody is above round"), ("zoe", "zoe holds no block")],
)
def test_nobody_is_told_in_words(user_id: str, told: str) -> None:
    """The top, a circle in a damaged tree, one who has left."""
    with pytest.raises(StepFailed, match=told):
        STRUCTURE.managers(user_id)


@pytest.mark.parametrize(("block", "told"), [("31", "nobody holds block 31"), ("7", "there is no block 7")])
def test_a_block_without_a_holder(block: str, told: str) -> None:
    """It is not gone up from: that very position was named."""
    with pytest.raises(StepFailed, match=told):
        STRUCTURE.holders(block)


@pytest.mark.parametrize(
    "to",
    [
        "anna",
        "@ops",
        "-100123, 1001 , @finance",
        "manager_of(boris), holder_of(10)",
        "manager_of( {{ item.author_id }} )",
        "{{ vars.everybody }}",
        "{{ item.a }}, {{ item.b | default(', ') }}",
        "{% if item %}anna{% endif %}",
        "anna@example.com",
    ],
)
def test_these_are_recipients(to: str) -> None:
    assert list(findings(to)) == []


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("manger_of(boris)", "manger_of is no function; did you mean manager_of?"),
        ("boss({{ item }})", "boss is no function; there are manager_of and holder_of"),
        ("manager_of()", "manager_of() should name a person"),
        ("holder_of( )", "should name a block"),
        ("manager_of(boris", "manager_of(boris is no recipient"),
        ("anna boris", "parted by commas"),
        (" , ", "names nobody"),
        ("", "names nobody"),
    ],
)
def test_these_are_none(to: str, told: str) -> None:
    """Found when the file is loaded."""
    assert any(told in found for found in findings(to))
    with pytest.raises(InvalidAutomation) as error:
        automation(f"steps: [{{telegram: {{to: '{to}', text: a}}, for_each: [1]}}]")
    assert error.value.findings[0].place == "steps[0].telegram.to"


SAY = """
vars: {author: boris, both: [anna, "@ops", anna]}
steps: [{id: say, telegram: {to: "%s", text: Look}}]
"""


async def test_recipients_are_read_when_the_step_comes(bench: Bench[TableCaller]) -> None:
    """From the workspace, with one reading of the structure; each person once."""
    bench.caller.answers = {"orgschema.block.list": BLOCKS, "orgschema.worker.list-active": WORKERS}
    await bench.run(SAY % "manager_of({{ vars.author }}), holder_of(10), @finance, -100123")
    assert bench.value("say") == {"to": "anna, pauline, @finance, -100123", "text": "Look"}
    assert [name for name, _ in bench.caller.calls] == ["orgschema.block.list", "orgschema.worker.list-active"]
    assert [to for to, *_ in bench.chat.said.values()] == ["anna, pauline, @finance, -100123"]


async def test_plain_names_ask_nobody(bench: Bench[TableCaller]) -> None:
    """A list is as good as commas."""
    await bench.run(SAY % "{{ vars.both }}")
    assert bench.value("say")["to"] == "anna, @ops"
    assert bench.caller.calls == []


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("{{ [] }}", "names nobody"),
        ("{{ none }}", "does not"),
        ("manager_of({{ none }})", "should name a person"),
        ("@nobody", "nothing was sent: @nobody is not known to the bot"),
        ("{{ 'manger_of(x)' }}", "did you mean manager_of?"),
    ],
)
async def test_nobody_fails_the_step(bench: Bench[TableCaller], to: str, told: str) -> None:
    """At the time of the step, in words."""
    result = await bench.run(SAY % to)
    assert result["state"] == "failed"
    assert told in result["message"]


async def test_a_workspace_that_does_not_answer_is_asked_again(bench: Bench[TableCaller]) -> None:
    """As a call is."""
    bench.caller.answers = {
        "orgschema.block.list": [NotSent("refused"), NotSent("refused"), done(BLOCKS)],
        "orgschema.worker.list-active": WORKERS,
    }
    assert (await bench.run(SAY % "manager_of(boris)"))["state"] == "done"
    assert len(bench.waits) == 2


class Gallery(Chat):
    """Remembers which files were shown as pictures."""

    photos: list[Path]

    async def say(self, to: str, text: str, *, file: Path | None = None, photo: bool = False, key: str) -> None:
        await super().say(to, text, file=file, photo=photo, key=key)
        self.photos += [file] if photo and file is not None else []


@pytest.mark.parametrize(
    ("key", "name", "photo"), [("photo", "a.png", True), ("photo", "a.svg", False), ("file", "a.png", False)]
)
async def test_a_picture_is_shown_and_a_document_sent(
    bench: Bench[TableCaller], key: str, name: str, photo: bool
) -> None:
    """An SVG is sent as a document: no chat shows one."""
    bench.chat = gallery = Gallery()
    gallery.photos = []
    bench.files.mkdir()
    (bench.files / name).write_text("x")
    await bench.run(f"steps: [{{id: say, telegram: {{to: anna, text: Look, {key}: {name}}}}}]")
    assert bench.value("say") == {"to": "anna", "text": "Look"}
    [(_, said, file)] = gallery.said.values()
    assert (said, file) == ("Look", bench.files / name)
    assert gallery.photos == ([file] if photo else [])
