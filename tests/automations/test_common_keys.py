"""The keys that every step may have: unless, retry, timeout, continue_on_error, concurrency; and on_failure."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.automations.world import Bench, TableCaller, done
from workspace_api.contract import Call, NotSent, Refused, Unknown

LOST = Unknown("the answer was lost")
BUSY = Refused("too_many", "slow down", 429, retry_after=7.0)


@pytest.fixture
def bench(tmp_path: Path) -> Bench[TableCaller]:
    return Bench(tmp_path / "files", TableCaller())


async def test_unless_is_if_turned_around(bench: Bench[TableCaller]) -> None:
    """Alone, with `if`, and for each item."""
    await bench.run(
        """
        vars: {numbers: [1, 2, 3]}
        steps:
          - {id: a, unless: true, call: finplan.request.list}
          - {id: b, if: true, unless: "{{ steps.a.skipped }}", call: finplan.request.list}
          - {id: c, for_each: "{{ vars.numbers }}", unless: "{{ item == 2 }}", set: "{{ item }}"}
          - {id: d, set: [{value: "{{ steps.a.skipped }}"}, "{{ steps.b.skipped }}", "{{ steps.c }}"]}
        """
    )
    assert bench.value("d") == [{"value": True}, True, [1, 3]]
    assert bench.caller.calls == []


async def test_the_example_of_a_gate_that_was_skipped(bench: Bench[TableCaller]) -> None:
    """A skipped step has `skipped` and no other value; `and` does not look further."""
    result = await bench.run(
        """
        steps:
          - {id: gate, if: false, call: finplan.request.list}
          - id: set
            unless: "{{ steps.gate.skipped is false and steps.gate.answer == 'Skip' }}"
            set: 1
        """
    )
    assert result == {"state": "done"}
    assert bench.value("set") == 1


async def test_retry_says_how_often_and_how_long(bench: Bench[TableCaller]) -> None:
    """The automation's, and a step's own in place of it; what the other side asks for counts where it is longer."""
    text = """
        retry: {attempts: 2, backoff: 10s}
        steps:
          - {id: a, call: finplan.request.list}
          - {id: b, retry: {attempts: 3, backoff: 1s}, call: orgschema.block.list}
    """
    bench.caller.answers = {
        "finplan.request.list": [LOST, done([1])],
        "orgschema.block.list": [BUSY, LOST, done([2])],
    }
    assert await bench.run(text) == {"state": "done"}
    assert bench.waits == [20.0, 7.0, 4.0]
    bench.caller.answers = {"finplan.request.list": [LOST, LOST, done([1])]}
    assert (await bench.run(text))["message"].endswith("(tried 2 times)")


async def test_what_may_have_happened_is_never_tried_again(bench: Bench[TableCaller]) -> None:
    """Whatever `retry` and `continue_on_error` say."""
    bench.caller.answers = {"finplan.request.pay": LOST}
    result = await bench.run(
        """
        retry: {attempts: 9}
        steps:
          - {call: finplan.request.pay, with: {id: 1, payment_sum: 5}, continue_on_error: true}
          - {call: finplan.request.list}
        """
    )
    assert result["state"] == "stopped"
    assert [name for name, _ in bench.caller.calls] == ["finplan.request.pay"]


async def test_a_creation_that_was_not_sent_is_tried_again(bench: Bench[TableCaller]) -> None:
    """Nothing has left the machine."""
    bench.caller.answers = {"finplan.request.pay": [NotSent("refused"), done(True)]}
    result = await bench.run("steps: [{call: finplan.request.pay, with: {id: 1, payment_sum: 5}}]")
    assert result == {"state": "done"}


async def test_continue_on_error_keeps_the_failure(bench: Bench[TableCaller]) -> None:
    """`failed` and `message` say so; with for_each the others run, and the list has all."""
    bench.caller.answers = {"finplan.request.list": Refused("denied", "not yours", 200)}
    result = await bench.run(
        """
        steps:
          - {id: a, call: finplan.request.list, continue_on_error: true}
          - {id: b, for_each: [1, 0, 4], set: "{{ 8 / item }}", continue_on_error: true}
          - {id: c, call: orgschema.block.list, continue_on_error: true}
          - id: told
            set: ["{{ steps.a.failed }}", "{{ steps.a.message }}", "{{ steps.b.failed }}", "{{ steps.c.failed }}",
                  "{{ steps.b | length }}"]
        """
    )
    assert result == {"state": "done"}
    assert bench.value("told") == [True, "finplan.request.list was refused: not yours (denied)", True, False, 3]


async def test_items_that_run_together_are_recorded_together(bench: Bench[TableCaller]) -> None:
    """Their values are in the order of the items; a failure fails the step, and names the item."""
    text = """
        steps:
          - {id: b, for_each: [1, 2, 4, 0, 5], concurrency: 2, set: "{{ 8 // item }}"}
    """
    result = await bench.run(text)
    assert (result["state"], result["step"]) == ("failed", "b[2-3]")
    assert [name for name, _ in bench.journal.records] == ["b[0-1]", "b[2-3]"]
    await bench.run(text.rstrip().replace("0, 5", "8, 5") + "\n          - {id: all, set: '{{ steps.b }}'}\n")
    assert bench.value("all") == [8, 4, 2, 1, 1]


class SlowCaller(TableCaller):
    """Never answers."""

    async def attempt_raw(self, call: Call[Any], /) -> Any:
        self.calls.append((call.name, {}))
        await asyncio.Event().wait()


async def test_a_step_that_takes_too_long_fails(tmp_path: Path) -> None:
    """One that only reads fails; one that may have happened stops the run."""
    bench = Bench(tmp_path / "files", SlowCaller())
    text = "steps: [{id: a, timeout: 1s, call: finplan.request.list}]"
    result = await bench.run(text)
    assert (result["state"], result["message"]) == ("failed", "was not done within its own timeout")
    text = "timeout: 2s\nsteps: [{id: a, call: finplan.request.pay, with: {id: 1, payment_sum: 5}}]"
    result = await bench.run(text)
    assert result["state"] == "stopped"
    assert "within the automation's timeout, and may have happened" in result["message"]


async def test_on_failure_comes_after_a_failure_alone(bench: Bench[TableCaller]) -> None:
    """With where and why; what fails there is told too, and the run stays failed."""
    text = """
        vars: {by: 0}
        steps: [{id: a, set: "{{ 1 / vars.by }}"}]
        on_failure:
          - {telegram: {to: "@ops", text: "{{ automation.name }} failed at {{ failure.step }}: {{ failure.message }}"}}
          - {id: how, set: "{{ failure.state }}"}
          - {telegram: {to: "@nobody", text: "{{ steps.how }}"}}
    """
    result = await bench.run(text)
    assert (result["state"], result["step"]) == ("failed", "a")
    assert result["message"].endswith(
        "(and then on_failure.telegram_3 failed: nothing was sent: @nobody is not known to the bot)"
    )
    assert [text for _, text, _ in bench.chat.said.values()] == [
        "test failed at a: {{ 1 / vars.by }}: division by zero"
    ]
    bench.chat.said.clear()
    assert await bench.run(text.replace("by: 0", "by: 1")) == {"state": "done"}
    assert bench.chat.said == {}


async def test_a_secret_of_an_earlier_go_is_hidden_too(bench: Bench[TableCaller]) -> None:
    """A run that is taken up again has not used it yet, and the workspace says it all the same."""
    bench.secrets = {"bank": "very-secret-word"}
    text = """
        steps:
          - {id: a, set: "{{ secrets.bank }}"}
          - {id: b, call: finplan.request.list}
    """
    bench.caller.answers = {"finplan.request.list": ["very-secret-word"]}
    await bench.run(text)
    await bench.run(text, bench.journal.after(1))
    assert "very-secret-word" not in str(bench.journal.records)
    assert bench.value("b") == ["(secret bank)"]


async def test_a_second_failure_is_told_too(bench: Bench[TableCaller]) -> None:
    """After a run was resumed and failed again; a crash in between tells the first one once."""
    bench.caller.answers = {"finplan.request.list": Refused("denied", "no", 200)}
    text = """
        steps: [{id: a, call: finplan.request.list}]
        on_failure: [{telegram: {to: "@ops", text: "{{ failure.message }}"}}]
    """
    await bench.run(text)
    await bench.run(text, bench.journal.after(1))
    assert len(bench.chat.said) == 1
    bench.now += timedelta(minutes=1)
    await bench.run(text, bench.journal.after(0))
    assert len(bench.chat.said) == 2
