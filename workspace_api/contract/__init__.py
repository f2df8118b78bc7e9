"""What the API documents say, once: records, parameters, operations. No I/O.

Api                  the ten modules as groups, bound to a door (endpoint.py)
operations()         all 89 operations by name, found by walking the groups: there is no second list
find(name)           one operation by its wire name, its Python name or its path
calls                makes calls as values: `calls.finplan.request.review(request_ids=[7], …)`
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, get_origin, get_type_hints

from workspace_api.contract.company import Company
from workspace_api.contract.endpoint import Call, Calls, Effect, Endpoint, Group, Mode, Operation, Params
from workspace_api.contract.errors import InvalidArguments, Problem, UnknownOperation, WorkspaceError
from workspace_api.contract.finance import Finance
from workspace_api.contract.finplan import Finplan
from workspace_api.contract.fintransaction import Fintransaction
from workspace_api.contract.orgschema import Orgschema
from workspace_api.contract.outcome import Done, NotSent, Outcome, Raw, Refused, Unknown
from workspace_api.contract.password import PasswordStorage
from workspace_api.contract.problems import nearest
from workspace_api.contract.store import Store
from workspace_api.contract.tasks import TaskModule
from workspace_api.contract.user import User
from workspace_api.contract.wiki import Wiki
from workspace_api.contract.wire import Record

__all__ = [
    "Api",
    "Call",
    "Done",
    "Effect",
    "InvalidArguments",
    "NotSent",
    "Operation",
    "Outcome",
    "Params",
    "Problem",
    "Raw",
    "Record",
    "Refused",
    "Unknown",
    "UnknownOperation",
    "WorkspaceError",
    "calls",
    "find",
    "nearest",
    "operations",
]


class Api(Group[Mode]):
    """The ten modules (part 1, §1)."""

    @cached_property
    def orgschema(self) -> Orgschema[Mode]:
        return Orgschema(self.door)

    @cached_property
    def finplan(self) -> Finplan[Mode]:
        return Finplan(self.door)

    @cached_property
    def finance(self) -> Finance[Mode]:
        return Finance(self.door)

    @cached_property
    def fintransaction(self) -> Fintransaction[Mode]:
        return Fintransaction(self.door)

    @cached_property
    def wiki(self) -> Wiki[Mode]:
        return Wiki(self.door)

    @cached_property
    def store(self) -> Store[Mode]:
        return Store(self.door)

    @cached_property
    def password(self) -> PasswordStorage[Mode]:
        return PasswordStorage(self.door)

    @cached_property
    def user(self) -> User[Mode]:
        return User(self.door)

    @cached_property
    def company(self) -> Company[Mode]:
        return Company(self.door)

    @cached_property
    def tasks(self) -> TaskModule[Mode]:
        return TaskModule(self.door)


def _endpoints(group: type[Any]) -> Iterator[Operation[Any]]:
    for attribute in vars(group).values():
        if isinstance(attribute, Endpoint):
            yield attribute  # pyright: ignore[reportUnknownVariableType] - its type parameters are not known here
        elif isinstance(attribute, cached_property):
            member: Any = get_type_hints(attribute.func)["return"]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] - as above
            yield from _endpoints(get_origin(member))


@cache
def operations() -> Mapping[str, Operation[Any]]:
    """Every operation by its wire name, module after module as in the documents."""
    return MappingProxyType({operation.name: operation for operation in _endpoints(Api)})


@cache
def _names() -> Mapping[str, Operation[Any]]:
    found: dict[str, Operation[Any]] = {}
    for operation in operations().values():
        found |= {operation.path: operation, operation.python_name: operation, operation.name: operation}
    return found


def find(name: str) -> Operation[Any]:
    """The operation of that wire name, Python name or path. Raises UnknownOperation with the nearest right name."""
    operation = _names().get(name)
    if operation is None:
        raise UnknownOperation(name, nearest(name, operations()))
    return operation


calls: Api[Calls] = Api(lambda call: call)
"""The ten modules bound to a door that hands the call back: for a call that is stored before it is sent."""
