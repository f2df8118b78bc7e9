"""A runner that is looked after, with its real engine: failures told, events seen, files followed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from automations.care import Care, Ways
from automations.control import Runner
from tests.automations.place import Place, running, until
from workspace_api.contract import Refused

EXPORT = "name: export\ntrigger: {every: 1d}\nsteps: [{id: org, call: orgschema.orgschema.export}]\n"
PAINT = """name: paint
trigger: {event: request.created, if: "{{ event.sum > 1000 }}"}
steps: [{telegram: {to: anna, text: "{{ event.title }}: {{ event.sum }}"}}]
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder."""
    return Place(tmp_path)


def looked_after(place: Place, **options: Any) -> Runner:
    """A runner that follows its folder."""
    ways = Ways(page_url="https://ops.example.com", poll_seconds=0.05)
    care = Care(ways, place.chat, place.caller, place.clock, place.folder)
    runner = place.runner(watcher=care, **options)
    care.replace = runner.replace
    return runner


def heard(place: Place) -> list[str]:
    """What was said in chat."""
    return [text for _, text, _ in place.chat.said.values()]


async def test_a_failure_is_told_and_an_event_is_run(place: Place) -> None:
    """The whole way: a run that fails and works again; a request that comes, and one that is too small."""
    place.has(EXPORT, PAINT)
    refused = Refused("permission_denied", "no rights", 403)
    place.caller.answers = {"orgschema.orgschema.export": refused, "finplan.request.list": []}
    async with running(looked_after(place)):
        with place.control() as control:
            run = await control.ask_for_run("export", "boris")
            await until(lambda: bool(heard(place)))
            assert heard(place)[0].startswith("export failed at org\n")
            assert "https://ops.example.com/runs/export%3A" in heard(place)[0]
            place.caller.answers = {
                "finplan.request.list": [{"id": 1, "sum": 5}, {"id": 2, "name": "Paint", "sum": 5000}]
            }
            await control.resume(run, "boris")
            await until(lambda: len(heard(place)) == 3)
    assert {text.partition("\n")[0] for text in heard(place)[1:]} == {"export works again", "Paint: 5000"}
    assert place.ledger("paint")[0][1] == "started"


async def test_a_file_that_was_broken_over_a_restart_runs_on(place: Place) -> None:
    """Its last good version is in force before anything is due: what was missed is run, and ops hear of the file."""
    place.has(EXPORT)
    place.now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    async with running(looked_after(place)):
        pass
    runner = looked_after(place)
    (place.folder / "0.yaml").write_text(EXPORT + "stpes: []\n")
    await runner.replace([])
    place.now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    async with running(runner):
        await until(lambda: len(heard(place)) == 1 and ("2026-11-21T00:00:00Z", "late") in place.ledger("export"))
        assert heard(place)[0].startswith("0.yaml is wrong\n")
        assert "0.yaml:4:1: stpes: " in heard(place)[0]
        place.has(EXPORT.replace("1d", "2d"))
        await until(lambda: len(heard(place)) == 2)
    assert heard(place)[1] == "0.yaml is right again"
    assert runner.automations["export"].definition.trigger[0].words("UTC").startswith("every 2d")
