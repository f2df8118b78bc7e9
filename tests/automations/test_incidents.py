"""One incident for each outage: told when it opens, counted, reminded of, told when it is over."""

import asyncio
from pathlib import Path

import pytest

from automations.definition import read_automation
from automations.ledger import Ledger
from tests.automations.ops import Hook, Ops, ledger_of
from tests.automations.world import Bench, Chat, TableCaller
from workspace_api.contract import NotSent, Unknown

EXPORT = "name: export\nsteps: [{id: org, call: orgschema.orgschema.export}]"
RATES = "name: rates\nsteps: [{id: org, call: orgschema.orgschema.export}]"


async def test_an_outage_is_told_once(each_ops: Ops) -> None:
    """The first failure tells, the later ones count, the first good run says for how long it was."""
    ops = each_ops
    ops.has(EXPORT)
    run = await ops.fails("export")
    await ops.look()
    (told,) = ops.said
    assert told == (
        f"export failed at org\nno such block\nRun: {run}\n"
        f"To go on from there: workspace automations resume {run}\nMore: https://ops.example.com/runs/{run}"
    )
    for _ in range(2):
        ops.later(hours=1)
        await ops.fails("export")
        await ops.look()
    assert len(ops.said) == 1
    await ops.ends("export", tick=ops.now.replace(minute=30))
    await ops.look()
    await ops.look()
    assert ops.said[1:] == ["export works again\nFailures: 3, for 2 h."]
    assert ops.open() == []
    assert [body["kind"] for body in ops.hook.posted] == ["failed", "recovered"]


async def test_a_good_run_says_nothing(ops: Ops) -> None:
    """Neither does one that was cancelled, nor one that another automation asked for: that one fails itself."""
    ops.has(EXPORT)
    await ops.ends("export")
    await ops.ends("export", "cancelled", tick=ops.now.replace(hour=1))
    await ops.fails("export", tick=ops.now.replace(hour=2), cause="run")
    await ops.look()
    assert ops.said == []


async def test_an_end_is_counted_once(ops: Ops) -> None:
    """However often it is looked at; a run that was resumed and fails again is another end."""
    run = await ops.fails("export")
    ops.has(EXPORT)
    await ops.look()
    await ops.look()
    assert ops.count("failed:export") == 1
    ops.later(minutes=1)
    assert await Ledger(ops.database).want(run, "resume", ["failed"])
    await ops.look()
    assert ops.count("failed:export") == 1
    await ops.set(run, state="failed", ended_at="2026-11-21T09:01:00.000Z")
    await ops.look()
    assert ops.count("failed:export") == 2
    assert len(ops.said) == 1


async def test_an_undo_that_is_done_ends_no_outage(ops: Ops) -> None:
    """It is no sign that the automation runs well again."""
    ops.has(EXPORT)
    await ops.fails("export")
    await ops.look()
    ops.later(hours=1)
    await ops.ends("export", cause="undo")
    await ops.look()
    assert ops.open() == ["failed:export"]


async def test_a_stopped_run_is_told_apart(ops: Ops) -> None:
    """Somebody has to decide, also while the automation fails for other reasons, and after it works again."""
    ops.has(EXPORT)
    await ops.fails("export")
    await ops.look()
    ops.later(hours=1)
    run = await ops.ends("export", "stopped", step="pay", message="it may have gone through")
    await ops.look()
    assert ops.heads == ["export failed at org", "export stopped at pay and waits for a decision"]
    assert f"resume {run} --again" in ops.said[1]
    ops.later(hours=1)
    await ops.ends("export")
    await ops.look()
    assert ops.open() == []
    assert ops.said[-1].endswith(f"Still to be decided: {run}")


async def test_a_workspace_that_does_not_answer_is_one_incident(each_ops: Ops) -> None:
    """Whatever fails because of it; it is over when one of those works again, and says which ones failed."""
    ops = each_ops
    ops.has(EXPORT, RATES)
    for name in ("export", "rates", "export"):
        await ops.fails(name, "orgschema.orgschema.export did not get through: refused", remark="unreachable")
        await ops.look()
        ops.later(minutes=20)
    await ops.ends("other")
    await ops.look()
    assert ops.heads == ["The workspace does not answer"]
    assert ops.open() == ["workspace"]
    await ops.ends("rates")
    await ops.look()
    assert ops.heads[1:] == ["The workspace answers again"]
    assert "Failures: 3, for 1 h." in ops.said[1]
    assert "export, rates" in ops.said[1]


@pytest.mark.parametrize("answer", [NotSent("refused"), Unknown("HTTP 502", 502)])
async def test_a_run_says_that_the_workspace_did_not_answer(
    bench: Bench[TableCaller], answer: NotSent | Unknown
) -> None:
    """A failed read is known by its remark, and so is an on_failure that has said so itself."""
    bench.caller.answers = {"orgschema.orgschema.export": answer}
    result = await bench.run("retry: {attempts: 2}\nsteps: [{id: org, call: orgschema.orgschema.export}]")
    assert result["remark"] == "unreachable"
    result = await bench.run(
        "steps: [{id: org, call: orgschema.orgschema.export}]\n"
        'on_failure: [{telegram: {to: "@ops", text: "{{ failure.step }}"}}]'
    )
    assert result["remark"] == "unreachable said"


async def test_an_automation_that_says_so_itself_is_not_spoken_over(ops: Ops) -> None:
    """Its own on_failure takes the place of the message in chat, not of the webhook."""
    ops.has(EXPORT)
    await ops.fails("export", remark="said")
    await ops.look()
    assert ops.said == []
    assert len(ops.hook.posted) == 1
    ops.later(hours=1)
    await ops.fails("export")
    await ops.look()
    assert ops.heads == ["export failed at org"]


async def test_what_lasts_is_told_again_each_day(ops: Ops) -> None:
    """Once a day, until it works."""
    ops.has(EXPORT)
    await ops.fails("export")
    for _ in range(50):
        await ops.look()
        ops.later(hours=1)
    assert ops.heads == ["export failed at org", *["export still does not work"] * 2]
    assert "Since 21 Nov, 12:00; failures: 1. The last one: no such block" in ops.said[1]


async def test_an_automation_that_is_gone_has_no_outage(ops: Ops) -> None:
    """Nobody is reminded of it."""
    ops.has(EXPORT)
    await ops.fails("export")
    await ops.look()
    ops.has(RATES)
    ops.later(days=2)
    await ops.look()
    assert ops.open() == []
    assert len(ops.said) == 1


async def test_replicas_tell_once(each_ops: Ops) -> None:
    """Three of them that look at the same moment, with failures of their own."""
    first = each_ops
    url = None if first.database.is_sqlite else first.database.engine.url.render_as_string(hide_password=False)
    folder = first.database.path.parent if first.database.path else Path()
    with ledger_of(folder, url) as second, ledger_of(folder, url) as third:
        replicas = [first, *(Ops(one, first.chat, first.hook) for one in (second, third))]
        for one in replicas:
            one.has(EXPORT)
        for hour in range(6):
            await first.fails("export", tick=first.now.replace(hour=hour))
        await asyncio.gather(*(one.look() for one in replicas))
        assert first.count("failed:export") == 6
        first.now = replicas[1].now = replicas[2].now = first.now.replace(hour=12)
        await first.ends("export")
        await asyncio.gather(*(one.look() for one in replicas))
    assert first.heads == ["export failed at org", "export works again"]
    assert [body["kind"] for body in first.hook.posted] == ["failed", "recovered"]


async def test_what_was_decided_is_told_after_a_crash(ops: Ops) -> None:
    """A process that dies between deciding and telling leaves the notice for the next one."""
    ops.has(EXPORT)
    await ops.fails("export")
    await ops.incidents.catch_up(ops.now)
    heir = Ops(ops.database, Chat(), Hook())
    heir.has(EXPORT)
    await heir.look()
    assert heir.heads == ["export failed at org"]
    assert len(heir.hook.posted) == 1


async def test_in_russian(ops: Ops) -> None:
    """By the installation's language."""
    ours = Ops(ops.database, language="ru")
    ours.has(EXPORT)
    await ours.fails("export")
    await ours.look()
    ours.later(hours=3)
    await ours.ends("export")
    await ours.look()
    assert ours.heads == ["export: сбой на шаге org", "export: снова работает"]
    assert ours.said[1].endswith("Сбоев: 1, продолжалось 3 ч.")


def test_the_samples_are_automations() -> None:
    """Their names are those that the tests use."""
    assert [read_automation(text, Path("x.yaml")).name for text in (EXPORT, RATES)] == ["export", "rates"]
