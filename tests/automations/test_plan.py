"""Plans: reads are made, everything else is shown, and what depends on it stays open."""

from datetime import UTC, datetime
from json import dumps
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from automations.control import Plan, Runner, load_folder
from automations.records import open_ledger
from automations.tables import values
from tests.automations.place import Place
from tests.automations.world import Chat, TableCaller

TEXT = """
name: daily
trigger: {cron: "0 2 * * *", timezone: Europe/Moscow}
vars: {codes: [USD, EUR]}
steps:
  - {id: list, call: finplan.request.list}
  - {id: no, if: false, call: finplan.request.list}
  - id: set
    for_each: "{{ vars.codes }}"
    call: fintransaction.exchange.rate.custom.set
    with: {currency_code_from: "{{ item }}", currency_code_to: RUB, date: "{{ tick.date }}", value: 80.5}
  - {id: pay, call: fintransaction.transaction.create, with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}}
  - {id: file, write: "{{ tick.date }}.json", content: "{{ steps.list }}"}
  - {telegram: {to: "@ops", text: "{{ steps.list | length }} requests", file: "{{ tick.date }}.json"}}
  - {telegram: {to: "@ops", text: "paid {{ steps.pay.id }}"}}
  - {id: bad, call: wiki.article.get, with: {id: "{{ tick.date }}"}}
  - {for_each: "{{ steps.bad.list }}", telegram: {to: "@ops", text: "{{ item }}"}}
  - {write: "../{{ tick.date }}.json", content: x}
"""


async def planned(folder: Path, text: str, caller: TableCaller, chat: Chat) -> Plan:
    (folder / "a.yaml").write_text(text)
    loaded = load_folder(folder)
    assert loaded.findings == ()

    def clock() -> datetime:
        return datetime(2026, 11, 21, 12, tzinfo=UTC)

    runner = Runner(loaded.definitions, caller=caller, messenger=chat, data=folder / "data", clock=clock)
    return await runner.plan(loaded.definitions[0].name, 2)


async def test_a_plan_reads_and_does_nothing_else(tmp_path: Path) -> None:
    """Each step with what it read, would do, or waits for; and the next ticks."""
    caller, chat = TableCaller({"finplan.request.list": [{"id": 1, "password": "x"}]}), Chat()
    plan = await planned(tmp_path, TEXT, caller, chat)

    def rate(code: str) -> dict[str, Any]:
        fields = {"currency_code_from": code, "currency_code_to": "RUB", "date": "2026-11-21", "value": 80.5}
        return {"call": "fintransaction.exchange.rate.custom.set", "with": fields}

    payment = {"type": "out", "sum": 5, "category_id": 1, "cashbox_id": 1}
    message = {"telegram": "@ops", "text": "1 requests", "file": "2026-11-21.json"}
    assert [(step.name, step.state, step.value) for step in plan.steps] == [
        ("list", "read", [{"id": 1, "password": "(hidden)"}]),
        ("no", "skipped", None),
        ("set[0]", "would", rate("USD")),
        ("set[1]", "would", rate("EUR")),
        ("pay", "would", {"call": "fintransaction.transaction.create", "with": payment}),
        ("file", "would", {"write": "2026-11-21.json", "bytes": 45}),
        ("telegram_6", "would", message),
        ("telegram_7", "open", None),
        ("bad", "open", None),
        ("telegram_9", "open", None),
        ("write_10", "open", None),
    ]
    told = [step.message for step in plan.steps if step.message]
    assert told[0] == "paid {{ steps.pay.id }}: steps.pay is known only when it is done"
    assert "should be a valid integer" in told[1]
    assert told[2] == "{{ steps.bad.list }}: steps.bad is open"
    assert "would leave the folder" in told[3]
    assert not plan.ok
    assert [tick.tick for tick in plan.ticks] == ["2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"]
    assert plan.to_json()["steps"][1] == {"name": "no", "state": "skipped", "value": None, "message": None}
    compared = ["fintransaction.exchange.rate.custom.list"] * 2
    assert [name for name, _ in caller.calls] == ["finplan.request.list", *compared]
    assert chat.said == {}
    assert not (tmp_path / "data").exists()


async def test_a_plan_whose_vars_have_no_value(tmp_path: Path) -> None:
    """It ends there."""
    text = 'name: n\nvars: {a: "{{ tick.date / 2 }}"}\nsteps: [{call: finplan.request.list}]'
    plan = await planned(tmp_path, text, TableCaller(), Chat())
    assert [(step.name, step.state) for step in plan.steps] == [("vars", "open")]


WRITES = """
name: writes
vars: {parents: [{id: 3, parent: 9}, {id: 4, parent: 2}]}
steps:
  - {call: fintransaction.exchange.rate.custom.set,
     with: {currency_code_from: USD, currency_code_to: RUB, date: "2026-11-21", value: 82.5}}
  - {call: fintransaction.exchange.rate.custom.set,
     with: {currency_code_from: EUR, currency_code_to: RUB, date: "2026-11-21", value: 90}}
  - for_each: "{{ vars.parents }}"
    concurrency: 2
    call: tasks.task.update
    with: {id: "{{ item.id }}", fields: {board_panel_id: "{{ item.parent }}"}}
  - {call: tasks.task.update, with: {id: 3, fields: {name: Sweep}}}
  - {call: tasks.task.remove, with: {id: 4}}
  - {call: tasks.task.create, with: {name: New, board_panel_id: 1}}
  - {call: tasks.task.update, with: {id: 99, fields: {name: Gone}}}
"""


async def test_a_plan_says_what_its_writes_would_change(tmp_path: Path) -> None:
    """Each write against what is there now: fields that differ, moves, new and gone things; and one sentence."""
    tasks = [{"id": 3, "name": "Clean", "board_panel_id": 1}, {"id": 4, "name": "Wash", "board_panel_id": 2}]
    rates = [{"date": "2026-11-20", "value": 81}, {"date": "2026-11-25", "value": 1}]
    caller = TableCaller({"tasks.task.list": tasks, "fintransaction.exchange.rate.custom.list": rates})
    plan = await planned(tmp_path, WRITES, caller, Chat())
    assert [str(change) for change in plan.changes] == [
        "fintransaction.exchange.rate.custom.set USD→RUB: value: 81 → 82.5",
        "fintransaction.exchange.rate.custom.set EUR→RUB: value: 81 → 90.0",
        'tasks.task.update #3 "Clean": board_panel_id: 1 → 9',
        'tasks.task.update #4 "Wash": stays as it is',
        'tasks.task.update #3 "Clean": name: Clean → Sweep',
        'tasks.task.remove #4 "Wash": goes',
        "tasks.task.create: is new (name = New, board_panel_id = 1)",
        "tasks.task.update #99: is written (name = Gone)",
    ]
    assert plan.summary == (
        "2 rates change, 1 task moves, 1 task stays as it is, 1 task changes, 1 task goes, 1 task is new, "
        "1 task is written"
    )
    assert [name for name, _ in caller.calls].count("tasks.task.list") == 1
    assert not any(name.endswith(("set", "update", "remove", "create")) for name, _ in caller.calls)


async def test_a_plan_keeps_nothing(tmp_path: Path) -> None:
    """A diff in it compares with the last run, and leaves what that one kept."""
    place = Place(tmp_path)
    place.has('name: d\nsteps: [{id: list, set: [{id: 1}]}, {id: moved, diff: {value: "{{ steps.list }}"}}]')
    await place.runner().run_once("d")
    plan = await place.runner().plan("d")
    assert [step.state for step in plan.steps] == ["read", "read"]
    assert plan.steps[1].value["first"] is False
    with open_ledger(place.data, None) as database, database.read() as connection:
        assert connection.execute(select(func.count()).select_from(values)).scalar_one() == 1


SAYS = """
name: says
steps:
  - {call: tasks.task.create, with: {name: "{{ secrets.bank }}", board_panel_id: 1}}
  - {telegram: {to: "@ops", text: "It is {{ secrets.bank }}"}}
"""


async def test_a_plan_shows_no_secret(tmp_path: Path) -> None:
    """It is printed, and may stand in the log of whoever tests with it."""
    place = Place(tmp_path)
    place.has(SAYS)
    told = dumps((await place.runner(secrets={"bank": "hunter2-hunter2"}).plan("says")).to_json())
    assert "(secret bank)" in told
    assert "hunter2" not in told
