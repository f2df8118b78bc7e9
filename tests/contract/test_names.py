"""One name for one operation: wire name, Python name and path find it; a wrong name finds the nearest right one."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract import notation
from workspace_api.contract import Api, Call, Operation, UnknownOperation, calls, find, nearest, operations

NAMES = list(operations())


@pytest.mark.parametrize("name", NAMES)
def test_three_names_find_one_operation(name: str) -> None:
    """Wire name, Python name and path."""
    operation = operations()[name]
    assert find(operation.name) is find(operation.python_name) is find(operation.path) is operation


def test_a_name_is_the_path_without_api() -> None:
    """Dashes stay in the name and become underscores in Python; `import` gets one at its end."""
    assert find("/orgschema/api/orgschema/list-versions").name == "orgschema.orgschema.list-versions"
    assert find("orgschema.orgschema.list-versions").python_name == "orgschema.orgschema.list_versions"
    assert find("orgschema.orgschema.import").python_name == "orgschema.orgschema.import_"
    assert find("fintransaction.transaction.get.total.count").path == "/fintransaction/api/transaction/get/total/count"


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_a_typed_method(name: str) -> None:
    """Walking the attributes from Api along the Python name ends at something that makes its Call."""
    seen: list[Call[Any]] = []
    api = Api[Any](seen.append)
    member: Any = api
    for part in find(name).python_name.split("."):
        member = getattr(member, part)
    required = [f for f, k in find(name).params.model_fields.items() if k.is_required()]
    make: Callable[..., Any] = member
    make(**{field: sample(find(name), field) for field in required})
    assert [call.operation for call in seen] == [find(name)]


def sample(operation: Operation[Any], field: str) -> object:
    """Some value that fits a required field."""
    kind = operation.params.model_fields[field]
    simple: dict[str, object] = {"int": 1, "float": 1.5, "string": "text"}
    values = notation.field_values(kind)
    return values[0] if values else simple.get(notation.field_type(kind), [])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("finplan.request.reviw", "finplan.request.review"),
        ("finplan.requests.list", "finplan.request.list"),
        ("/finplan/api/request/reviw", "finplan.request.review"),
        ("tasks.task.updat", "tasks.task.update"),
        ("orgschema.worker.listactive", "orgschema.worker.list-active"),
    ],
)
def test_a_wrong_name_suggests_the_nearest(wrong: str, right: str) -> None:
    """In one sentence that holds both names."""
    with pytest.raises(UnknownOperation) as caught:
        find(wrong)
    assert (caught.value.name, caught.value.nearest) == (wrong, right)
    assert str(caught.value) == f"{wrong} is no operation; did you mean {right}?"


def test_a_name_that_is_near_to_none_gets_no_suggestion() -> None:
    """A wild guess helps nobody."""
    with pytest.raises(UnknownOperation, match=r"^zzz is no operation$"):
        find("zzz")
    assert nearest("zzz", NAMES) is None


def test_an_update_is_an_operation_and_a_prefix() -> None:
    """`tasks.task.update` and `tasks.task.update.multi`, likewise remove."""
    assert calls.tasks.task.update(id=1, fields={}).name == "tasks.task.update"
    assert calls.tasks.task.update.multi(task_ids=[1], fields={}).name == "tasks.task.update.multi"
    assert calls.tasks.task.remove(id=1).name == "tasks.task.remove"
    assert calls.tasks.task.remove.multi(ids=[1]).name == "tasks.task.remove.multi"


def test_a_call_crosses_processes_by_its_operation_s_name() -> None:
    """Pickled and copied, it keeps the one operation there is."""
    call = calls.finplan.request.pay(id=1, request_id=1, payment_sum=5)
    for again in (pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        assert again == call
        assert again.operation is call.operation


def test_an_operation_shows_its_name_and_summary() -> None:
    """For people who look at it in a shell."""
    operation = find("finplan.request.pay")
    assert repr(operation) == "<Endpoint finplan.request.pay>"
    assert operation.summary.startswith("Pay a request")
    assert all(o.summary for o in operations().values())
