"""One unit of work: a connection, the moment, and what handlers ask of the database all the time.

A handler is a plain function `(tx, viewer, params) -> data`. It reads and writes through `tx`, decides by `rules/`, and
raises an ApiError to say no, which undoes what it wrote.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any

import orjson
from sqlalchemy import BindParameter, ColumnElement, Connection, Executable, Insert, Select, Table, bindparam, select

from workspace_api.server import schema
from workspace_api.server.errors import NotFound
from workspace_api.server.moments import stored
from workspace_api.server.rules import finplan
from workspace_api.server.rules.access import Viewer
from workspace_api.server.rules.structure import Structure, positions_of

Row = dict[str, Any]


@dataclass
class Tx:
    """One read or write transaction, as handlers see it."""

    connection: Connection
    moment: datetime

    @cached_property
    def now(self) -> str:
        """The moment as it is kept."""
        return stored(self.moment)

    def rows(self, query: Executable, **values: Any) -> list[Row]:
        """All rows, by column name. `values` are those of the query's bound parameters."""
        result = self.connection.execute(query, values)
        # Plain strings: the names of columns are a kind of their own, which JSON writers refuse as keys.
        names = [str(name) for name in result.keys()]  # noqa: SIM118 - a result is no mapping
        return [dict(zip(names, row, strict=True)) for row in result]

    def row(self, query: Executable, **values: Any) -> Row | None:
        """The first row, if there is one."""
        rows = self.rows(query, **values)
        return rows[0] if rows else None

    def run(self, statement: Executable) -> int:
        """Runs an update or delete; answers how many rows it met."""
        return self.connection.execute(statement).rowcount

    def insert(self, table: Table, values: Mapping[str, Any]) -> int:
        """Adds a row and answers its id."""
        key = self.connection.execute(_insert(table), dict(values)).inserted_primary_key
        assert key is not None
        return int(key[0])

    def one(self, table: Table, row_id: int, what: str, *, lock: bool = False) -> Row:
        """The row of that id. `lock` holds it until the end of a write. Raises NotFound: "There is no {what} 7."."""
        row = self.row(_by_id(table, lock), row_id=row_id)
        if row is None:
            raise NotFound(f"There is no {what} {row_id}.")
        return row

    @cached_property
    def structure(self) -> Structure:
        """The structure as it is now; see `changed_structure` for writers."""
        return load_structure(self)

    def changed_structure(self) -> None:
        """Forgets the structure, after a handler has changed it."""
        self.__dict__.pop("structure", None)

    @cached_property
    def planning(self) -> finplan.Settings:
        """The settings of financial planning."""
        row = self.row(select(schema.finplan_settings).order_by(schema.finplan_settings.c.id).limit(1))
        if row is None:
            return finplan.Settings()
        return finplan.Settings(tuple(loads(row["manager_blocks"])), tuple(loads(row["skip_blocks"])))


Handler = Callable[[Tx, Viewer, Any], object]
"""What serves one operation. The parameters' own type is the operation's, which a table of handlers cannot state."""


def loads(text: str) -> Any:
    """A JSON column's value; its shape is its writer's."""
    return orjson.loads(text)


def dumps(value: object) -> str:
    """What a JSON column keeps."""
    return orjson.dumps(value).decode()


def models(values: Iterable[Any] | None) -> list[Row]:
    """Records that came as parameters, as plain maps of what was given."""
    return [value.model_dump(mode="json", exclude_unset=True) for value in values or ()]


def given(params: Any, names: Iterable[str]) -> Row:
    """The fields among `names` that the caller set to something: left out and null both leave a record as it is."""
    return {
        name: value
        for name in names
        if name in params.model_fields_set and (value := getattr(params, name)) is not None
    }


# Building a statement costs more than running it: those of every call are built once.


@cache
def _insert(table: Table) -> Insert:
    return table.insert()


@cache
def _by_id(table: Table, lock: bool) -> Select[Any]:
    query = select(table).where(table.c.id == bindparam("row_id"))
    return query.with_for_update() if lock else query


def active_users(now: str | BindParameter[str]) -> ColumnElement[bool]:
    """The condition that a row of `users` is a person who still works here."""
    table = schema.users.c
    return (
        table.is_disabled.is_(False)
        & table.is_deleted.is_(False)
        & (table.firing_date.is_(None) | (table.firing_date > now))
    )


_PARENTS = select(schema.blocks.c.id, schema.blocks.c.parent_id).order_by(schema.blocks.c.id)
_POSITIONS = (
    select(schema.workers.c.user_id, schema.workers.c.block_id, schema.workers.c.is_primary)
    .join(schema.users, schema.users.c.user_id == schema.workers.c.user_id)
    .where(schema.workers.c.is_deleted.is_(False), active_users(bindparam("now")))
    .order_by(schema.workers.c.id)
)


def load_structure(tx: Tx) -> Structure:
    """Blocks with their parents, and the active people in them."""
    parents = {row[0]: row[1] for row in tx.connection.execute(_PARENTS)}
    assignments = tx.connection.execute(_POSITIONS, {"now": tx.now})
    return Structure(parents, positions_of((row[0], row[1], row[2]) for row in assignments))


def main_currency(tx: Tx) -> str:
    """The company's own currency: the one marked so, else the first."""
    table = schema.currencies.c
    code = tx.connection.execute(select(table.code).order_by(table.is_main.desc(), table.id).limit(1)).scalar()
    if code is None:
        raise NotFound("The company has no currency: load one with `workspace init`.")
    return str(code)
