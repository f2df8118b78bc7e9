"""What Prometheus collects: counted from the tables, cheap to ask for, guarded, and what the Grafana board asks for."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, insert

from automations.ledger import LedgerLine, exact_text
from automations.metrics import NAMES, PREFIX, Metrics
from automations.records import open_ledger
from automations.tables import incidents, runs
from tests.automations.page_world import TOKEN, House

NOON = datetime(2026, 11, 23, 9, tzinfo=UTC)
DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """At noon, and nothing has run."""
    return House(tmp_path, now=NOON)


Found = Mapping[tuple[str, ...], float]


def read(text: str) -> Found:
    """The samples by name and label values, as Prometheus itself reads them."""
    return {
        (sample.name.removeprefix(PREFIX), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def enters(house: House, *rows: tuple[str, str, str, float, float | None, float | None]) -> None:
    """Runs: id, automation, state; seconds after noon of its tick, its begin and its end."""

    def moment(seconds: float | None) -> str | None:
        return None if seconds is None else exact_text(NOON + timedelta(seconds=seconds))

    def job(connection: Connection) -> None:
        for run_id, automation, state, tick, begun, ended in rows:
            connection.execute(runs.delete().where(runs.c.run_id == run_id))
            fields = {"run_id": run_id, "automation": automation, "digest": "", "zone": "UTC", "cause": "tick"}
            at = (NOON + timedelta(seconds=tick)).strftime("%Y-%m-%dT%H:%M:%SZ")
            moments = {"tick": at, "asked_at": at, "begun_at": moment(begun), "ended_at": moment(ended)}
            connection.execute(insert(runs).values(**fields, **moments, details="{}", state=state))

    with open_ledger(house.data, None) as database:
        await database.write(job)


def asked(metrics: Metrics) -> Found:
    return read(metrics.exposed()[0].decode())


async def test_what_the_tables_hold(house: House) -> None:
    """Runs, ticks, parked, questions, incidents, runners, and when each last ran well."""
    await enters(
        house,
        ("a:1", "a", "done", -500, -500, -400),
        ("a:2", "a", "done", -300, -300, -200),
        ("a:3", "a", "failed", -100, -100, -50),
        ("b:1", "b", "parked", -100, -100, None),
    )
    await house.ledger(LedgerLine("a", "2026-11-23T08:00:00Z", "UTC", "lost", "too old"), at=NOON)
    await house.beats(timedelta(seconds=7))
    incident = {
        "cause": "x",
        "automation": "a",
        "message": "m",
        "opened_at": "",
        "last_at": "",
        "times": 1,
        "details": "",
    }
    with open_ledger(house.data, None) as database:
        await database.write(lambda connection: connection.execute(insert(incidents).values(**incident)))
        found = asked(Metrics(database, house.automations, house.clock))
    assert found["runs", "a", "done"] == 2
    assert found["runs", "b", "parked"] == found["runs_parked",] == 1
    assert found["ticks", "lost"] == 1
    assert (found["questions_open",], found["incidents_open",]) == (0, 1)
    assert found["runner_beat_age_seconds", "here-runner-0"] == pytest.approx(7, abs=0.01)
    assert found["last_success_timestamp_seconds", "a"] == (NOON - timedelta(seconds=200)).timestamp()
    assert ("last_success_timestamp_seconds", "b") not in found
    assert found["loaded",] == 5


async def test_what_ends_is_added_up_once(house: House) -> None:
    """Nothing from before it looked; each ending once however often it is asked for; a resumed run ends twice."""
    await enters(house, ("a:0", "a", "done", -100, -100, -1))
    with open_ledger(house.data, None) as database:
        metrics = Metrics(database, house.automations, house.clock)
        assert ("runs_ended_total", "a", "done") not in asked(metrics)
        await enters(house, ("a:1", "a", "failed", 1, 4, 5), ("a:2", "a", "done", 2, 2, 6))
        house.now = NOON + timedelta(seconds=10)
        first = asked(metrics)
        assert first["runs_ended_total", "a", "failed"] == first["runs_ended_total", "a", "done"] == 1
        assert (first["lateness_seconds_count",], first["lateness_seconds_sum",]) == (2, 3)
        assert (first["lateness_seconds_bucket", "2.0"], first["lateness_seconds_bucket", "5.0"]) == (1, 2)
        assert first["run_duration_seconds_sum",] == 5
        await enters(house, ("a:1", "a", "done", 1, 4, 12), ("a:3", "a", "done", 3, 5, 5.5))
        for later in (20, 40, 400):
            house.now = NOON + timedelta(seconds=later)
            found = asked(metrics)
        assert found["runs_ended_total", "a", "done"] == 3
        assert found["runs_ended_total", "a", "failed"] == 1
        assert found["lateness_seconds_count",] == 3
        assert found["last_success_timestamp_seconds", "a"] == (NOON + timedelta(seconds=12)).timestamp()


async def test_asked_often_it_counts_once(house: House) -> None:
    """Within five seconds the same answer is given again."""
    with open_ledger(house.data, None) as database:
        metrics = Metrics(database, house.automations, house.clock)
        asked(metrics)
        await enters(house, ("a:1", "a", "done", 1, 1, 2))
        house.now = NOON + timedelta(seconds=4)
        assert ("runs", "a", "done") not in asked(metrics)
        house.now = NOON + timedelta(seconds=6)
        assert asked(metrics)["runs", "a", "done"] == 1


async def test_a_real_run_is_counted(house: House) -> None:
    """From the runner's own tables, by the address that Prometheus asks."""
    house.now = None
    async with house.visited() as visitor:
        await visitor.opens("/metrics")
        await house.runner().run_once("nightly-org-export")
        house.now = datetime.now(UTC) + timedelta(seconds=6)
        found = read(await visitor.opens("/metrics"))
        assert found["runs", "nightly-org-export", "done"] == 1
        assert found["runs_ended_total", "nightly-org-export", "done"] == 1
        assert visitor.headers["content-type"].startswith("text/plain; version=0.0.4")
        await visitor.opens("/metrics", host="evil.example")
        assert visitor.status == 403


async def test_the_metrics_are_guarded(house: House) -> None:
    """By the token as a bearer's, under whatever name; wrong ones make one wait as at the door."""
    async with house.visited("0.0.0.0", token=TOKEN) as visitor:
        right = {"authorization": f"Bearer {TOKEN}"}
        await visitor.opens("/metrics", host="10.1.2.3:8090")
        assert visitor.status == 401
        await visitor.opens("/metrics", **right, host="runner:8090")
        assert (visitor.status, "workspace_automation_loaded" in visitor.text) == (200, True)
        await visitor.opens("/", **right, host="runner:8090")
        assert visitor.status == 403
        for _ in range(3):
            await visitor.opens("/metrics", authorization="Bearer wrong", host="10.1.2.3")
            assert visitor.status == 401
        await visitor.opens("/metrics", **right, host="10.1.2.3")
        assert visitor.status == 401
        house.now = NOON + timedelta(seconds=3)
        await visitor.opens("/metrics", **right, host="10.1.2.3")
        assert visitor.status == 200


async def test_the_board_and_the_rules_ask_for_what_there_is(house: House) -> None:
    """Every metric and label that Grafana's board and Prometheus's rules name is exposed."""
    await enters(house, ("a:1", "a", "done", 1, 1, 2))
    await house.ledger(LedgerLine("a", "2026-11-23T08:00:00Z", "UTC", "lost", ""), at=NOON)
    await house.beats(timedelta(seconds=7))
    house.now = NOON + timedelta(seconds=10)
    with open_ledger(house.data, None) as database:
        metrics = Metrics(database, house.automations, lambda: NOON)
        await enters(house, ("a:2", "a", "done", 1, 1, 3))
        text = metrics.exposed()[0].decode()
    families = list(text_string_to_metric_families(text))
    assert {family.name.removeprefix(PREFIX) for family in families} == set(NAMES)
    labels = {sample.name: set(sample.labels) for family in families for sample in family.samples}
    board = json.loads((DEPLOY / "grafana/automations.json").read_text())
    rules = yaml.safe_load((DEPLOY / "prometheus/automations.yaml").read_text())
    asked_for = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked_for += [variable["query"]["query"] for variable in board["templating"]["list"] if variable["type"] == "query"]
    asked_for += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    assert len(board["panels"]) > 10
    for expression in asked_for:
        named = re.findall(rf"({PREFIX}\w+)(?:\{{([^}}]*)\}})?", expression)
        assert named
        for name, selector in named:
            assert name in labels, expression
            assert set(re.findall(r"(\w+)=~?\"", selector)) <= labels[name], expression


async def test_the_cost_has_a_bound(house: House) -> None:
    """Of many endings one look adds up some, the next ones the rest; none is forgotten or counted twice."""
    with open_ledger(house.data, None) as database:
        metrics = Metrics(database, house.automations, house.clock, most=50)
        row = {"digest": "", "zone": "UTC", "cause": "tick", "details": "{}", "state": "done", "automation": "a"}
        at = {"tick": "2026-11-23T09:00:00Z", "asked_at": "2026-11-23T09:00:00Z"}
        many = [
            {
                **row, **at, "run_id": f"a:{number}", "begun_at": exact_text(NOON + timedelta(milliseconds=number)),
                "ended_at": exact_text(NOON + timedelta(milliseconds=number // 3)),
            }
            for number in range(105)
        ]  # fmt: skip
        await database.write(lambda connection: connection.execute(insert(runs), many))
        counts: list[float] = []
        for look in range(1, 6):
            house.now = NOON + timedelta(seconds=look * 10)
            counts.append(asked(metrics)["runs_ended_total", "a", "done"])
        assert counts == [50, 100, 105, 105, 105]
