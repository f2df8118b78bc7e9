"""Undoing a finished run: the last step first, with what each saw and gave; and replay against an edited file."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from automations.definition import read_automation
from automations.errors import NotResumable
from automations.replay import Replay
from tests.automations.place import Place
from tests.automations.world import TableCaller, done
from workspace_api.contract import Refused

HIRE = """
name: hire
vars: {names: [Anna, Boris]}
steps:
  - id: board
    call: tasks.board.list
    with: {ids: [1]}
  - id: tasks
    for_each: "{{ vars.names }}"
    call: tasks.task.create
    with: {name: "Welcome {{ item }}", board_panel_id: "{{ steps.board[0].id }}"}
    undo: {call: tasks.task.remove, with: {id: "{{ value.id }}"}}
  - id: no
    if: false
    call: tasks.task.create
    with: {name: Never}
    undo: {call: tasks.task.remove, with: {id: 0}}
  - id: told
    telegram: {to: "@ops", text: "{{ steps.tasks | length }} tasks"}
    undo:
      - {id: word, set: "{{ steps.tasks | length }}"}
      - {telegram: {to: "@ops", text: "{{ steps.board[0].id }}: {{ steps.word }} taken back for {{ run.id }}"}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    found.has(HIRE)
    answers = {"tasks.board.list": [{"id": 4}], "tasks.task.create": [done({"id": 11}), done({"id": 12})]}
    found.caller = TableCaller(answers)
    return found


async def test_undo_goes_backwards(place: Place) -> None:
    """Items too; what was skipped has nothing to undo; a second undo does nothing more."""
    runner = place.runner()
    report = await runner.run_once("hire")
    assert report.ok
    place.caller.calls.clear()
    undone = await runner.undo(report.run_id, by="anna")
    assert (undone.state, undone.cause, undone.by) == ("done", "undo", "anna")
    removed = [("tasks.task.remove", {"id": 12}), ("tasks.task.remove", {"id": 11})]
    assert place.caller.calls == removed
    assert [text for _, text, _ in place.chat.said.values()] == ["2 tasks", f"4: 2 taken back for {undone.run_id}"]
    again = await runner.undo(report.run_id)
    assert again.run_id == undone.run_id
    assert place.caller.calls == removed
    with pytest.raises(NotResumable, match="only a finished run can be undone"):
        await runner.undo(undone.run_id)


async def test_undo_that_fails_is_resumed(place: Place) -> None:
    """It goes on where it failed, and does not take back twice."""
    runner = place.runner()
    report = await runner.run_once("hire")
    place.caller.answers = {"tasks.task.remove": [done(True), Refused("denied", "not now", 200), done(True)]}
    place.caller.calls.clear()
    undone = await runner.undo(report.run_id)
    assert (undone.state, undone.step) == ("failed", "undo tasks[0] call_1")
    assert (await runner.resume(undone.run_id)).ok
    assert [fields["id"] for _, fields in place.caller.calls] == [12, 11, 11]


async def test_a_run_that_failed_is_undone_as_far_as_it_came(place: Place) -> None:
    """One task was made; that one is taken back."""
    place.caller.answers = {
        "tasks.board.list": [{"id": 4}],
        "tasks.task.create": [done({"id": 11}), Refused("denied", "no", 200)],
    }
    runner = place.runner()
    report = await runner.run_once("hire")
    assert report.state == "failed"
    place.caller.calls.clear()
    assert (await runner.undo(report.run_id)).ok
    assert place.caller.calls == [("tasks.task.remove", {"id": 11})]


async def replayed(place: Place, run_id: str, *changes: tuple[str, str]) -> Replay:
    """The file with those changes, against the recorded run."""
    text = HIRE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    place.caller.calls.clear()
    said = dict(place.chat.said)
    found = await place.runner().replay(read_automation(text, place.folder / "edited.yaml"), run_id)
    assert place.caller.calls == []
    assert place.chat.said == said
    return found


def told(found: Replay, *states: str) -> Sequence[tuple[str, str]]:
    return [(step.name, step.state) for step in found.steps if step.state in states or not states]


async def test_replay(place: Place) -> None:
    """As it was; with another text; with another write; with a question that was not asked; with a step less."""
    run_id = (await place.runner().run_once("hire")).run_id
    same = await replayed(place, run_id)
    assert same.same
    assert told(same) == [
        ("board", "read"), ("tasks[0]", "same"), ("tasks[1]", "same"), ("no", "skipped"), ("told", "same"),
    ]  # fmt: skip

    worded = await replayed(place, run_id, ("{{ steps.tasks | length }} tasks", "{{ steps.tasks[1].id }} is the last"))
    assert (worded.ok, worded.same) == (True, False)
    changed = next(step for step in worded.steps if step.state == "changed")
    assert (changed.name, changed.now["text"], changed.was["text"]) == ("told", "12 is the last", "2 tasks")

    fewer = await replayed(place, run_id, ("[Anna, Boris]", "[Boris]"))
    assert told(fewer, "same", "changed", "gone") == [("tasks[0]", "same"), ("told", "changed"), ("tasks[1]", "gone")]

    asked = await replayed(place, run_id, ("ids: [1]", "ids: [2]"))
    assert not asked.ok
    assert told(asked, "open")[0] == ("board", "open")
    assert "asks what the run did not ask" in asked.steps[0].message

    newer = await replayed(place, run_id, ("if: false", "if: true"))
    assert ("no", "new") in told(newer)
    assert newer.ok
