"""Wrong arguments: found before anything is sent, in sentences that say where and what, and never repeat a value."""

import pickle
from typing import Any

import pytest

from workspace_api.contract import InvalidArguments, Problem, WorkspaceError, calls, find

CANARY = "sk-canary-4711"


def problems(name: str, fields: dict[str, Any]) -> str:
    """The sentence without the operation's name."""
    with pytest.raises(InvalidArguments) as caught:
        find(name).call(fields)
    assert caught.value.operation == find(name).name
    assert str(caught.value).startswith(f"{caught.value.operation}: ")
    return str(caught.value).removeprefix(f"{caught.value.operation}: ")


@pytest.mark.parametrize(
    ("name", "fields", "sentence"),
    [
        ("finplan.request.review", {"requestIDs": [1]}, "requestIDs: no such field; did you mean requestIds?"),
        ("finplan.request.review", {"request_idz": [1]}, "request_idz: no such field; did you mean request_ids?"),
        ("tasks.task.list", {"filter": {"serch": "x"}}, "filter.serch: no such field; did you mean search?"),
        ("tasks.task.list", {"filter": {"id": ["a"]}}, "filter.id[0]: should be a valid integer"),
        (
            "tasks.task.list",
            {"filter": {"start_date": ["2026-01-01"]}},
            "filter.start_date: should have at least 2 items, not 1",
        ),
        ("tasks.task.get", {}, "id: is required"),
        ("tasks.task.get", {"id": True}, "id: should be a valid integer"),
        ("tasks.task.get", {"id": 1.0}, "id: should be a valid integer"),
        ("tasks.task.update", {"id": 1, "fields": 5}, "fields: should be a valid dictionary or a valid list"),
        (
            "tasks.task.update",
            {"id": 1, "fields": [5]},
            "fields: should be a valid dictionary; fields[0]: should be a valid dictionary",
        ),
        ("tasks.task.create", {"order": {"panel": "x"}}, "order.panel: should be a valid integer"),
        ("company.staff.list", {"x": 1}, "x: no such field; there are none"),
        ("user.schedule.delete", {"zzz": 1, "id": 1}, "zzz: no such field; the fields are id"),
        (
            "finplan.request.review",
            {"request_ids": [1], "requestIds": [1]},
            "request_ids: is given twice, by its Python and by its wire name",
        ),
        (
            "finplan.request.review",
            {"reviewType": "no"},
            "reviewType: should be 'accept', 'accept_final', 'reject' or 'progress'",
        ),
        ("orgschema.kpi.save", {"interval_days": 3}, "interval_days: should be 1 or 7"),
        (
            "wiki.space.save",
            {"creation_date": 5},
            "creation_date: is no date: write 2026-11-01, 2026-11-01 09:30:00 or 2026-11-01T09:30:00+03:00",
        ),
        (
            "wiki.article.save",
            {"content_blocks": [{"id": "x"}]},
            "content_blocks[0].id: should be a valid integer, unable to parse string as an integer",
        ),
        (
            "fintransaction.exchange.rate.custom.set",
            {"currency_code_from": "EUR", "currency_code_to": "USD", "date": "", "value": float("nan")},
            "value: should be a finite number",
        ),
    ],
)
def test_the_sentence_names_the_field_and_what_to_do(name: str, fields: dict[str, Any], sentence: str) -> None:
    """One clear sentence for each wrong field."""
    assert problems(name, fields) == sentence


def test_all_wrong_fields_are_told_at_once() -> None:
    """In the order in which the operation declares them."""
    with pytest.raises(InvalidArguments) as caught:
        find("tasks.task.remove").call({"is_edit_further": "x", "wat": 1})
    assert [problem.place for problem in caught.value.problems] == ["id", "is_edit_further", "wat"]


def test_arguments_go_by_name() -> None:
    """A positional argument is told the names, not a Python internal."""
    get: Any = calls.tasks.task.get
    with pytest.raises(InvalidArguments, match=r"^tasks.task.get: arguments go by name \(id\)$"):
        get(7)
    staff: Any = calls.company.staff.list
    with pytest.raises(InvalidArguments, match="none"):
        staff(7)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("password.password.save", {"login": [CANARY], "password": {"p": CANARY}, "category_id": CANARY}),
        ("password.category.save", {"type": CANARY, "name": 5, "encrypted_sample_password": [CANARY]}),
        ("tasks.task.update", {"id": CANARY, "fields": CANARY}),
        ("tasks.task.list", {"filter": CANARY}),
        ("wiki.space.save", {"creation_date": CANARY, "access": [{"id": CANARY, "nested": CANARY}]}),
        ("password.password.save", {"login": "a", "password": "b", "category_id": 1, "access": CANARY}),
        ("finance.report.pnl-store-grouping", {"groups": [{"children": [{"creation_date": CANARY}]}]}),
    ],
)
def test_no_value_is_repeated(name: str, fields: dict[str, Any]) -> None:
    """Arguments may be secret: neither the text, nor the repr, nor the chain of causes holds one."""
    with pytest.raises(InvalidArguments) as caught:
        find(name).call(fields)
    error = caught.value
    assert CANARY not in f"{error} {error!r} {error.problems}"
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_passwords_stand_in_no_repr() -> None:
    """Neither of a call nor of a record that came back."""
    call = calls.password.password.save(login=CANARY, password=CANARY, category_id=1)
    record = find("password.password.list").adapter.validate_python([{"password": CANARY, "login": CANARY}])
    category = find("password.category.list").adapter.validate_python([{"encrypted_sample_password": CANARY}])
    assert CANARY not in f"{call} {record} {category}"
    assert CANARY in str(call.params.body())


def test_errors_survive_pickling() -> None:
    """A durable run keeps them, a worker process hands them over."""
    with pytest.raises(WorkspaceError) as unknown:
        find("finplan.request.reviw")
    with pytest.raises(WorkspaceError) as invalid:
        calls.tasks.task.list(filter=7)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - wrong on purpose
    for error in (unknown.value, invalid.value):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_problem_of_the_whole_has_no_place() -> None:
    """Its text stands alone."""
    assert (
        str(InvalidArguments("a.b", [Problem((), "no"), Problem(("c", 0, "d"), "never")])) == "a.b: no; c[0].d: never"
    )


def test_bodies_that_the_documents_do_not_show_take_any_fields() -> None:
    """Counterparties and the order of the cashboxes: nobody can say which field is wrong."""
    call = calls.fintransaction.counterparty.save(id=5, name="Ada")
    assert call.params.body() == {"id": 5, "name": "Ada"}
    assert find("finance.cashbox.order.store").call({"ids": [2, 1]}).params.body() == {"ids": [2, 1]}
