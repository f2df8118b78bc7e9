"""Runs in memory: conditions, loops, what is recorded, what is tried again, and what never is."""

from decimal import Decimal
from typing import Any

from tests.automations.world import Bench, TableCaller, done
from workspace_api.contract import NotSent, Refused, Unknown

EXPORT = "orgschema.orgschema.export"
LOST = Unknown("the answer was lost")


async def test_values_go_from_step_to_step(bench: Bench[TableCaller]) -> None:
    """`data` arrives as it was received, and `with` is filled from it."""
    bench.caller.answers = {"finplan.request.list": [{"id": 7, "extra": {"a": 1.50}}]}
    result = await bench.run(
        """
steps:
  - id: requests
    call: finplan.request.list
  - call: wiki.article.get
    with: {id: "{{ steps.requests[0].id }}"}
"""
    )
    assert result == {"state": "done"}
    assert bench.value("requests") == [{"id": 7, "extra": {"a": 1.5}}]
    assert bench.caller.calls == [("finplan.request.list", {}), ("wiki.article.get", {"id": 7})]


async def test_the_names_of_a_run(bench: Bench[TableCaller]) -> None:
    """The tick in UTC and in its zone, the run, the automation, and vars that use them."""
    result = await bench.run(
        """
vars: {day: "{{ tick.date }}", n: 2}
steps:
  - id: said
    telegram: {to: "@ops", text: "{{ tick.utc }} {{ tick.local }} {{ vars.day }} {{ run.id }} {{ automation.name }}"}
"""
    )
    assert result == {"state": "done"}
    said = bench.chat.said["test:2026-11-21T02:00:00Z/said"]
    assert said == (
        "@ops",
        "2026-11-21T02:00:00Z 2026-11-21T05:00:00+03:00 2026-11-21 test:2026-11-21T02:00:00Z test",
        None,
    )


async def test_if_skips_and_says_so(bench: Bench[TableCaller]) -> None:
    """A skipped step has `skipped` and nothing else; one that ran has it false, whatever its data says."""
    bench.caller.answers = {EXPORT: {"skipped": True}}
    result = await bench.run(
        f"""
steps:
  - {{id: ran, call: {EXPORT}}}
  - {{id: no, if: false, call: {EXPORT}}}
  - {{id: late, if: "{{{{ steps.no.skipped is false and steps.no.answer == 1 }}}}", call: {EXPORT}}}
  - {{if: "{{{{ not steps.ran.skipped and steps.late.skipped }}}}", telegram: {{to: a, text: b}}}}
  - {{if: "{{{{ steps.no.answer }}}}", call: {EXPORT}}}
"""
    )
    assert result["state"] == "failed"
    assert result["step"] == "call_5"
    assert "'answer'" in result["message"]
    assert [outcome["state"] for _, outcome in bench.journal.records] == [
        "done",
        "skipped",
        "skipped",
        "done",
        "failed",
    ]


async def test_for_each_runs_once_for_each_item(bench: Bench[TableCaller]) -> None:
    """`item` and `loop.index`; an `if` about items chooses among them, another one all or nothing."""
    result = await bench.run(
        """
vars: {codes: [USD, EUR, CNY]}
steps:
  - id: some
    for_each: "{{ vars.codes }}"
    if: "{{ item != 'EUR' }}"
    telegram: {to: "{{ item }}", text: "{{ loop.index }}/{{ loop.length }}"}
  - id: none
    for_each: "{{ vars.codes }}"
    if: "{{ vars.codes | length > 3 }}"
    telegram: {to: x, text: y}
  - id: count
    for_each: ["{{ vars.codes[0] }}", 5]
    telegram: {to: "{{ item }}", text: "{{ steps.some | length }}{{ steps.none.skipped }}"}
"""
    )
    assert result == {"state": "done"}
    assert [(to, text) for to, text, _ in bench.chat.said.values()] == [
        ("USD", "1/3"),
        ("CNY", "3/3"),
        ("USD", "2true"),
        ("5", "2true"),
    ]
    names = [name for name, _ in bench.journal.records]
    assert names == ["some[0]", "some[1]", "some[2]", "none", "count[0]", "count[1]"]


async def test_bad_lists_and_conditions_fail_their_step(bench: Bench[TableCaller]) -> None:
    """What is no list, too long, or has no value."""
    template = (
        "vars: {{a: {{b: 1}}}}\n"
        'steps:\n  - id: s\n    {key}: "{{{{ {value} }}}}"\n{more}    telegram: {{to: a, text: b}}\n'
    )
    cases = [
        ("for_each", "vars.a", "", "for_each should be a list"),
        ("for_each", "vars.a.c", "", "has no attribute 'c'"),
        ("for_each", "range(9999) | list + range(9999) | list", "", "for_each has 19,998 items"),
        ("if", "vars.a.c", "    for_each: [1]\n", "has no attribute 'c'"),
        ("if", "vars.a.c", "", "has no attribute 'c'"),
    ]
    for key, value, more, told in cases:
        result = await bench.run(template.format(key=key, value=value, more=more))
        assert result["state"] == "failed"
        assert result["step"] == "s"
        assert told in result["message"]
    assert bench.chat.said == {}


async def test_vars_that_have_no_value_end_the_run(bench: Bench[TableCaller]) -> None:
    """Before any step."""
    result = await bench.run(f'vars: {{a: "{{{{ tick.date / 2 }}}}"}}\nsteps: [{{call: {EXPORT}}}]')
    assert result["step"] == "vars"
    assert bench.journal.records == []


async def test_decimals_stay_exact_through_the_record(bench: Bench[TableCaller]) -> None:
    """A rate that was recorded and read again is the same decimal, and a number on the wire."""
    (bench.files).mkdir()
    (bench.files / "r.xml").write_text(
        '<ValCurs Date="20.11.2026"><Valute><CharCode>JPY</CharCode><Nominal>100</Nominal>'
        "<Value>52,3701</Value></Valute></ValCurs>"
    )
    text = """
steps:
  - {id: rates, rates: {source: cbr, file: r.xml}}
  - for_each: "{{ steps.rates }}"
    call: fintransaction.exchange.rate.custom.set
    with:
      currency_code_from: "{{ item.base }}"
      currency_code_to: RUB
      date: "{{ item.date }}"
      value: "{{ item.value }}"
  - telegram: {to: a, text: "{{ steps.rates[0].value * 100 }}"}
"""
    await bench.run(text)
    assert bench.value("rates")[0]["value"] == {"$decimal": "0.523701"}
    again = bench.journal.after(1)
    assert (await bench.run(text, again))["state"] == "done"
    assert bench.caller.calls[0][1]["value"] == 0.523701
    assert bench.caller.calls[0] == bench.caller.calls[1]
    assert [text for _, text, _ in bench.chat.said.values()] == ["52.370100"]
    assert Decimal("0.523701") == Decimal(repr(bench.caller.calls[0][1]["value"]))


READ = "steps: [{id: read, call: finplan.request.list}]"
PAY = """
steps:
  - id: pay
    call: fintransaction.transaction.create
    with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}
  - telegram: {to: a, text: "{{ steps.pay.id }}"}
"""


async def test_a_read_is_tried_again(bench: Bench[TableCaller]) -> None:
    """Unknown, not sent, too many requests: with growing waits, and at least as long as was asked for."""
    refused = Refused("too_many_requests", "Slow down", 429, retry_after=7.0)
    bench.caller.answers = {"finplan.request.list": [LOST, NotSent("no route"), refused, done([1])]}
    assert (await bench.run(READ))["state"] == "done"
    assert bench.waits == [2.0, 4.0, 8.0]
    bench.waits.clear()
    bench.caller.answers = {"finplan.request.list": [refused, done([1])]}
    assert (await bench.run(READ))["state"] == "done"
    assert bench.waits == [7.0]


async def test_trying_again_ends(bench: Bench[TableCaller]) -> None:
    """Four attempts, then the run fails with the last reason."""
    bench.caller.answers = {"finplan.request.list": LOST}
    result = await bench.run(READ)
    assert result == {
        "state": "failed",
        "step": "read",
        "message": "finplan.request.list did not get through: the answer was lost (tried 4 times)",
        "remark": "unreachable",
    }
    assert len(bench.caller.calls) == 4
    bench.caller.answers = {"finplan.request.list": Refused("too_many_requests", "Slow down", 429)}
    assert "was refused: Slow down (too_many_requests)" in (await bench.run(READ))["message"]


async def test_a_refusal_is_final(bench: Bench[TableCaller]) -> None:
    """The workspace said no; asking again changes nothing."""
    bench.caller.answers = {"finplan.request.list": Refused("permission_denied", "Not yours", 403)}
    result = await bench.run(READ)
    assert result["message"] == "finplan.request.list was refused: Not yours (permission_denied)"
    assert len(bench.caller.calls) == 1


async def test_a_creation_is_never_repeated_by_itself(bench: Bench[TableCaller]) -> None:
    """An unknown outcome stops the run, and says what to do."""
    bench.caller.answers = {"fintransaction.transaction.create": LOST}
    result = await bench.run(PAY)
    assert result["state"] == "stopped"
    assert result["step"] == "pay"
    assert result["message"].startswith("fintransaction.transaction.create may have gone through (the answer was lost)")
    assert len(bench.caller.calls) == 1


async def test_a_creation_that_did_not_leave_is_tried_again(bench: Bench[TableCaller]) -> None:
    """Nothing has happened, so nothing can happen twice."""
    bench.caller.answers = {"fintransaction.transaction.create": [NotSent("no route"), done({"id": 4})]}
    assert (await bench.run(PAY))["state"] == "done"
    assert len(bench.caller.calls) == 2


async def test_a_creation_under_way_at_a_crash_stops_the_run(bench: Bench[TableCaller]) -> None:
    """The beginning is recorded, the end is not: the next process does not send it."""
    bench.caller.answers = {"fintransaction.transaction.create": {"id": 4}}
    await bench.run(PAY)
    assert [name for name, _ in bench.journal.records] == ["pay begun", "pay", "telegram_2"]
    result = await bench.run(PAY, bench.journal.after(1))
    assert result["state"] == "stopped"
    assert "the runner was stopped while it was under way" in result["message"]
    assert len(bench.caller.calls) == 1


async def test_a_creation_that_is_recorded_is_not_sent_again(bench: Bench[TableCaller]) -> None:
    """The run goes on after it, with its value."""
    bench.caller.answers = {"fintransaction.transaction.create": {"id": 4}}
    await bench.run(PAY)
    assert (await bench.run(PAY, bench.journal.after(2)))["state"] == "done"
    assert len(bench.caller.calls) == 1
    assert [text for _, text, _ in bench.chat.said.values()] == ["4"]


async def test_save_with_an_id_is_repeated_and_without_one_is_not(bench: Bench[TableCaller]) -> None:
    """The effect of `save` depends on what is saved."""
    save = "steps:\n  - id: save\n    call: orgschema.block.save\n    with: {{{fields}}}\n"
    for fields, state in (("id: 5, name: Sales", "done"), ("name: Sales", "stopped")):
        text = save.format(fields=fields)
        await bench.run(text)
        assert (await bench.run(text, bench.journal.after(1)))["state"] == state


async def test_a_skipped_creation_is_not_begun(bench: Bench[TableCaller]) -> None:
    """Only what is to be sent is recorded as begun."""
    await bench.run(PAY.replace("- id: pay", "- id: pay\n    if: false").replace("steps.pay.id", "steps.pay.skipped"))
    assert [name for name, _ in bench.journal.records] == ["pay", "telegram_2"]


async def test_arguments_are_checked_when_they_are_known(bench: Bench[TableCaller]) -> None:
    """A template may give a wrong type; nothing is sent then."""
    text = 'steps: [{id: a, call: wiki.article.get, with: {id: "{{ tick.date }}"}}]'
    assert "wiki.article.get: id: should be a valid integer" in (await bench.run(text))["message"]
    text = 'steps: [{id: a, call: wiki.article.get, with: "{{ tick.date }}"}]'
    assert (await bench.run(text))["message"] == "wiki.article.get: with should be a map of fields"
    assert bench.caller.calls == []


async def test_messages_that_cannot_be_delivered_fail(bench: Bench[TableCaller]) -> None:
    """Nobody of that name, no such file, no text."""
    for message, told in [
        ("to: '@nobody', text: a", "nothing was sent: @nobody is not known to the bot"),
        ("to: a, text: b, file: none.json", "there is no file none.json"),
        ("to: a, text: b, file: ../x.json", "would leave the folder"),
        ('to: a, text: "{{ none }}"', "text should be a text, {{ none }} is null"),
        ('to: a, text: "{{ true }}"', "is true or false"),
        ('to: a, text: "{{ {1: 2} }}"', "is a map"),
    ]:
        result = await bench.run(f"steps: [{{telegram: {{{message}}}}}]")
        assert told in result["message"]
    assert bench.chat.said == {}


async def test_a_message_is_said_once(bench: Bench[TableCaller]) -> None:
    """A telegram step that is done again after a crash has the same key."""
    text = "steps: [{telegram: {to: a, text: b}}]"
    await bench.run(text)
    await bench.run(text, bench.journal.after(0))
    assert len(bench.chat.said) == 1


async def test_a_step_that_breaks_ends_its_run_with_a_sentence(bench: Bench[TableCaller]) -> None:
    """An error that nobody thought of: the run fails, the runner goes on."""

    class Broken:
        async def attempt_raw(self, call: Any, /) -> Any:
            raise KeyError(call.name)

    result = await Bench(bench.files, caller=Broken()).run(READ)
    assert result["message"] == "broke off with KeyError; the log has the place"
