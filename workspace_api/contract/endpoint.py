"""One declaration of one operation, used by all: Endpoint, Group, Params, Effect, Call.

```
class Requests(Group[Mode]):
    review = Endpoint("/finplan/api/request/review", ReviewRequests, Array[Request], effect=Effect.TRANSITION)
```
A Group is bound to a door (what to do with a call) and to a Mode (what the type checker sees of the result):
`Group[Sync]` answers the payload, `Group[Async]` a coroutine of it, `…Raw` and `…Outcomes` the answer or the outcome,
`Group[Calls]` the call itself as a value. Endpoint takes its keyword types from the parameter model's constructor.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    overload,
)

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined

from workspace_api.contract.errors import InvalidArguments, Problem
from workspace_api.contract.outcome import Outcome, Raw
from workspace_api.contract.problems import problems_of

Label = Literal["GET", "POST"]

IN_QUERY = "query"
"""Metadata of a parameter that travels in the query string."""


class Effect(StrEnum):
    """What a call does to the workspace, which decides what may be tried again after a failure."""

    READ = "read"
    """Changes nothing."""
    REPLACE = "replace"
    """An absolute write by id: doing it twice is doing it once."""
    TRANSITION = "transition"
    """Moves a state: read back before anything else is tried."""
    CREATE = "create"
    """A new effect each time: never repeated by itself once bytes may have left."""
    SAVE = "save"
    """REPLACE where an id is given, CREATE where none is."""


def wire(name: str | None = None, *, default: Any = PydanticUndefined, query: bool = False) -> Any:
    """A parameter whose name on the wire differs (`wire("requestIds")`), or that travels in the query string."""
    field: Any = Field(default, validation_alias=name, serialization_alias=name)
    if query:
        field.metadata.append(IN_QUERY)
    return field


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, wire))
class Params(BaseModel):
    """The parameters of one operation: strict, no unknown fields, `left out` differs from `null`."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        # Left as they are, so that the client can refuse them; the default would send null in their place.
        ser_json_inf_nan="constants",
        validate_by_name=True,
        validate_by_alias=True,
        protected_namespaces=(),
        defer_build=True,
    )

    def body(self, context: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON body: set fields only, by their wire names, without those of the query string."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude=self.query_fields(), context=context
        )

    def query(self, context: Mapping[str, Any] | None = None) -> dict[str, str]:
        """What travels in the query string (only `planned_end_date` of `tasks.task.create`)."""
        names = self.query_fields() & self.model_fields_set
        values = self.model_dump(mode="json", by_alias=True, include=names, context=context) if names else {}
        return {name: str(value) for name, value in values.items() if value is not None}

    @classmethod
    def query_fields(cls) -> set[str]:
        """The names of the parameters that do not go into the body."""
        return set(_query_fields(cls))


@cache
def _query_fields(params: type[Params]) -> frozenset[str]:
    return frozenset(name for name, field in params.model_fields.items() if IN_QUERY in field.metadata)


class NoParams(Params):
    """Takes no parameters; nothing is sent as a body."""


class OpenParams(Params):
    """Takes any JSON fields: the documents do not show this body (part 1, §4.4, §4.5)."""

    model_config = ConfigDict(extra="allow")

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...


class Sync: ...


class Async: ...


class SyncRaw: ...


class AsyncRaw: ...


class SyncOutcomes: ...


class AsyncOutcomes: ...


class Calls: ...


P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Mode = TypeVar("Mode")


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One call as a value: what to do, not yet done. It can be stored as (`name`, `body`, `query`) and made anew."""

    operation: "Operation[T_co]"
    params: Params

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def effect(self) -> Effect:
        """The effect with SAVE resolved by whether an id is given."""
        if self.operation.effect is not Effect.SAVE:
            return self.operation.effect
        return Effect.REPLACE if getattr(self.params, "id", None) is not None else Effect.CREATE


class Door(Protocol):
    """What a group does with a call: send it, send it later, or hand it back."""

    def __call__(self, call: Call[Any], /) -> Any: ...


class Group(Generic[Mode]):
    """Operations that share a path prefix, bound to a door."""

    def __init__(self, door: Door) -> None:
        self._door = door

    @property
    def door(self) -> Door:
        return self._door


class Operation(Generic[T]):
    """What is declared of one operation: path and label as the documents print them, parameters, `data`, effect.

    `name` is its one name (`finplan.request.review`), `python_name` the same with underscores for dashes.
    """

    def __init__(self, path: str, params: type[Params], data: type[T], effect: Effect, label: Label) -> None:
        self.path = path
        self.label: Label = label
        self.effect = effect
        self.params = params
        self.data = data
        module, _, *rest = path.strip("/").split("/")
        self.module = module
        self.name = ".".join((module, *rest))
        self.python_name = ".".join("import_" if p == "import" else p.replace("-", "_") for p in self.name.split("."))

    @cached_property
    def adapter(self) -> TypeAdapter[T]:
        """Checks `data`; built on first use, which keeps the import fast."""
        return TypeAdapter(self.data)

    @property
    def summary(self) -> str:
        """The first line of the parameters' docstring; operations without parameters have their own."""
        return (self.params.__doc__ or "").strip().split("\n")[0]

    def call(self, fields: Mapping[str, object]) -> "Call[T]":
        """A call from fields by their wire or Python names. Raises InvalidArguments, naming each wrong field."""
        try:
            return Call(self, self.params.model_validate(dict(fields)))
        except ValidationError as error:
            raise InvalidArguments(self.name, problems_of(error, self.params)) from None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled and copied by name: there is one of each, with its adapter.
        return _declared, (self.name,)


def _declared(name: str) -> Operation[Any]:
    from workspace_api.contract import find

    return find(name)


class Endpoint(Operation[T], Generic[P, T]):
    """An operation as it stands in a Group: read from a bound group, it is a typed function."""

    def __init__(
        self, path: str, params: Callable[P, Params], data: type[T], *, effect: Effect, label: Label = "GET"
    ) -> None:
        # The model is passed as the callable that makes it, which is what gives the keywords their types.
        super().__init__(path, cast("type[Params]", params), data, effect, label)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Group[Sync], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Group[Async], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, instance: Group[SyncRaw], owner: type) -> Callable[P, Raw[T]]: ...
    @overload
    def __get__(self, instance: Group[AsyncRaw], owner: type) -> Callable[P, Coroutine[Any, Any, Raw[T]]]: ...
    @overload
    def __get__(self, instance: Group[SyncOutcomes], owner: type) -> Callable[P, Outcome[T]]: ...
    @overload
    def __get__(self, instance: Group[AsyncOutcomes], owner: type) -> Callable[P, Coroutine[Any, Any, Outcome[T]]]: ...
    @overload
    def __get__(self, instance: Group[Calls], owner: type) -> Callable[P, Call[T]]: ...
    def __get__(self, instance: Group[Any] | None, owner: type) -> Any:
        if instance is None:
            return self
        door = instance.door

        def operation(*args: Any, **fields: Any) -> Any:
            if args:
                names = ", ".join(self.params.model_fields) or "none"
                raise InvalidArguments(self.name, [Problem((), f"arguments go by name ({names})")])
            return door(self.call(fields))

        return operation
