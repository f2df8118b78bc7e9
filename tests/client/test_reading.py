"""Answers read tolerantly: what differs from the documents is read all the same, and told as drift."""

import gc
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from workspace_api import Done, Outcome, Unknown, find
from workspace_api.client import Answer, Drift, Event
from workspace_api.client.reading import LARGE, read_answer
from workspace_api.contract import Record

MOSCOW = timezone(timedelta(hours=3))


def read(name: str, data: Any, observer: Any = None, zone: Any = MOSCOW) -> Outcome[Any]:
    body = json.dumps({"status": "success", "data": data}).encode()
    return read_answer(find(name), Answer(200, {}, body), zone, observer)


def read_with_drift(name: str, data: Any) -> tuple[Any, list[tuple[str, str, str]]]:
    """The payload, and each drift as (record, field, kind)."""
    seen: list[Event] = []
    outcome = read(name, data, seen.append)
    assert isinstance(outcome, Done)
    return outcome.data, [(e.record, e.field, e.kind) for e in seen if isinstance(e, Drift)]


def test_a_documented_answer_drifts_nowhere() -> None:
    """Nothing to tell."""
    requests, drift = read_with_drift("finplan.request.list", [{"id": 7, "status": "paid", "history": [{"id": 1}]}])
    assert (requests[0].id, requests[0].history[0].id, drift) == (7, 1, [])


def test_unknown_fields_are_kept_and_told() -> None:
    """Custom fields of tasks, fields of inner records."""
    tasks, drift = read_with_drift("tasks.task.list", [{"id": 1, "colour": "red", "relations": [{"weight": 2}]}])
    assert (tasks[0].model_extra, tasks[0].relations[0].model_extra) == ({"colour": "red"}, {"weight": 2})
    assert drift == [("TaskRelation", "weight", "unknown field"), ("Task", "colour", "unknown field")]


def test_unknown_values_are_kept_and_told() -> None:
    """A status that the documents do not name stays a text; an interval stays a number."""
    requests, drift = read_with_drift("finplan.request.list", [{"status": "frozen"}, {"status": None}])
    assert (requests[0].status, drift) == ("frozen", [("Request", "status", "unknown value")])
    kpis, drift = read_with_drift("orgschema.kpi.list", [{"interval_days": 30}, {"interval_days": 7}])
    assert (kpis[0].interval_days, drift) == (30, [("Kpi", "interval_days", "unknown value")])


@pytest.mark.parametrize(
    ("name", "row", "record", "field"),
    [
        ("finplan.request.list", {"sum": "a lot"}, "Request", "sum"),
        ("finplan.request.list", {"sum": 1.5}, "Request", "sum"),
        ("finplan.request.list", {"need_accept": {"0": 1}}, "Request", "need_accept"),
        ("finplan.request.list", {"need_accept": [1, "x", "y"]}, "Request", "need_accept"),
        ("finplan.request.list", {"creation_date": "0000-00-00 00:00:00"}, "Request", "creation_date"),
        ("finplan.request.list", {"creation_date": ""}, "Request", "creation_date"),
        ("finplan.request.list", {"can_edit": "perhaps"}, "Request", "can_edit"),
        ("finplan.request.list", {"history": [{"id": "x", "text": "kept"}]}, "RequestHistory", "id"),
        ("finplan.request.list", {"history": {"1": {"id": 1}}}, "Request", "history"),
        ("tasks.task.list", {"order": {"panel": "x", "other": 5}}, "Task", "order"),
        ("tasks.task.list", {"integration_data": []}, "Task", "integration_data"),
        ("password.password.list", {"current_user_access": 5}, "Password", "current_user_access"),
        ("password.password.list", {"current_user_access": {"can_edit": "perhaps"}}, "Password", "current_user_access"),
        (
            "store.item.list",
            {"usage_history": [{"assign_date": "x"}, {"assign_date": "y"}]},
            "UsageHistory",
            "assign_date",
        ),
    ],
)
def test_a_wrong_type_empties_its_field_and_is_kept_beside(
    name: str, row: dict[str, Any], record: str, field: str
) -> None:
    """The innermost field that can be null; the rest of the record, and of the answer, is read."""
    rows, drift = read_with_drift(name, [{**row, "id": 5}, {"id": 6}])
    assert [one.id for one in rows] == [5, 6]
    assert set(drift) == {(record, field, "wrong type")}
    holder = holder_of(rows[0], record)
    assert getattr(holder, field) is None
    assert f"{field}!" in (holder.model_extra or {})


def holder_of(row: Record, record: str) -> Record:
    """The row itself, or the first record of that name inside it."""
    if type(row).__name__ == record:
        return row
    many: list[list[Record]] = [value for value in vars(row).values() if isinstance(value, list)]
    return next(one for inner in many for one in inner if type(one).__name__ == record)


def test_a_map_for_an_array_is_its_values() -> None:
    """Some workspaces answer profiles as a map by user_id (field-notes.md)."""
    profiles, drift = read_with_drift("user.profile.list", {"anna": {"user_id": "anna"}, "boris": {"user_id": "boris"}})
    assert [profile.user_id for profile in profiles] == ["anna", "boris"]
    assert drift == [("data", "", "map for array")]
    assert read_with_drift("user.profile.list", {}) == ([], [("data", "", "map for array")])


def test_one_for_many_and_many_for_one() -> None:
    """`settings/list` is one object whatever its name says, and may come in an array; a list may come as one."""
    staff, drift = read_with_drift("company.staff.list", {"user_id": "anna"})
    assert ([one.user_id for one in staff], drift) == (["anna"], [("data", "", "one for many")])
    settings, drift = read_with_drift("finplan.settings.list", [{"id": 3}])
    assert (settings.id, drift) == (3, [("data", "", "many for one")])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("finplan.settings.list", [{"id": 3}, {"id": 4}]),
        ("finplan.settings.list", []),
        ("company.staff.list", 5),
        ("company.staff.list", [5]),
        ("company.staff.list", [None]),
        ("company.staff.list", None),
        ("finplan.request.pay", None),
        ("finplan.request.pay", {"id": 1}),
        ("fintransaction.transaction.get.total.count", "many"),
        ("finance.currency.exchange-rate", []),
    ],
)
def test_what_cannot_be_repaired_is_unknown(name: str, data: Any) -> None:
    """And no drift is told of an answer that was not read."""
    seen: list[Event] = []
    assert read(name, data, seen.append) == Unknown("data is not of the documented type", 200)
    assert seen == []


@pytest.mark.parametrize("value", [True, "7", 7, None])
def test_ids_and_flags_come_in_several_types(value: Any) -> None:
    """Ids as texts, texts as numbers, null everywhere: no drift, it is what the notes say."""
    expected = {True: 1, "7": 7, 7: 7, None: None}
    if value is not True:
        staff, drift = read_with_drift("company.staff.list", [{"id": value, "user_id": value, "is_disabled": None}])
        assert (staff[0].id, drift) == (expected[value], [])
        assert staff[0].user_id == (None if value is None else "7")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-12-02 20:59:59", datetime(2025, 12, 2, 20, 59, 59, tzinfo=MOSCOW)),
        ("2025-12-02T20:59:59+05:00", datetime(2025, 12, 2, 15, 59, 59, tzinfo=UTC)),
        ("2025-12-02T20:59:59Z", datetime(2025, 12, 2, 20, 59, 59, tzinfo=UTC)),
        ("2025-12-02", datetime(2025, 12, 2, tzinfo=MOSCOW)),
        ("2025-12-02T20:59:59.125Z", datetime(2025, 12, 2, 20, 59, 59, 125_000, tzinfo=UTC)),
        ("2025-12-02T20:59:59", datetime(2025, 12, 2, 20, 59, 59, tzinfo=MOSCOW)),
    ],
)
def test_every_form_of_a_date_is_read_and_naive_ones_get_the_stated_zone(text: str, moment: datetime) -> None:
    """In records, in records inside them, in single records, and in answers that had to be repaired."""
    many, drift = read_with_drift(
        "finplan.request.list", [{"creation_date": text, "history": [{"creation_date": text}]}]
    )
    assert (many[0].creation_date, many[0].history[0].creation_date, drift) == (moment, moment, [])
    one, _ = read_with_drift("tasks.task.get", {"finish_date": text, "id": "x"})
    assert one.finish_date == moment
    assert one.finish_date.utcoffset() is not None


def test_an_empty_answer_is_fine() -> None:
    """No rows, no plain values to settle."""
    assert read("company.staff.list", []) == Done([])
    assert read("fintransaction.transaction.get.total.count", 5) == Done(5)
    assert read("finance.currency.exchange-rate", 1.5) == Done(1.5)


def test_a_large_answer_leaves_the_collector_as_it_was() -> None:
    """It rests while the records are made, and only where it was at work."""
    rows = [{"comment": "x" * 1000}] * (LARGE // 1000 + 1)
    # What the tests have frozen at their start; a program that freezes is left alone.
    gc.unfreeze()
    assert gc.isenabled()
    assert isinstance(read("company.staff.list", rows), Done)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.disable()
    try:
        assert isinstance(read("company.staff.list", rows), Done)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert isinstance(read("company.staff.list", [*rows, {"id": "x"}]), Done)
    assert gc.isenabled()
