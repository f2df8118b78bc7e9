"""The two API documents as tables of facts, taken from their text alone, independent of the declared contract.

operations.tsv, parameters.tsv, records.tsv, values.tsv, undefined.tsv → one frozen row type each → tuples in the
documents' order. A test compares them with the contract in both directions. A file opens with `#` lines that state
its counting rule or its columns, then one header line, then tab-separated rows.

Notation of a type:
    int float string bool date map array       as the documents' notation has them (part 1, §2.1)
    array[T]   map[K]V                         elements of type T; keys of type K and values of type V
    map[password.access]                       a map whose values have that undefined shape
    {a int, b int}                             an object without a name, with these members
    {...}                                      an object whose members are rows of their own (where=filter)
    A|B                                        the documents state both forms in different places
    A+{...}                                    record A with these further members
    materialized_path, request_with_additional_params    named by the documents, never defined
    CamelCase                                  a record of records.tsv
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class OperationFact:
    """One operation: path, printed label (GET, POST), where it stands, type of its payload (§4 of both parts)."""

    path: str
    label: str
    part: str
    section: str
    data: str


@dataclass(frozen=True)
class ParameterFact:
    """One field that a request may carry, under its wire name (§4 of both parts).

    `required` is yes or no; `where` is body, query or filter.
    """

    path: str
    name: str
    type: str
    required: str
    where: str


@dataclass(frozen=True)
class RecordFact:
    """One field of a record; `note` (input, output) where it is for one direction only (§2 of both parts)."""

    record: str
    field: str
    type: str
    note: str


@dataclass(frozen=True)
class ValueFact:
    """One value that the documents name for a field; extent is all, some or record (see the file)."""

    where: str
    value: str
    extent: str


@dataclass(frozen=True)
class UndefinedFact:
    """One place that the documents leave open (§2.6 of both parts, and what they pass over).

    `shape` is element, map, format or body; `stated` is yes where they say so, no where they are silent.
    """

    where: str
    shape: str
    stated: str


Fact = TypeVar("Fact", OperationFact, ParameterFact, RecordFact, ValueFact, UndefinedFact)


def operations() -> tuple[OperationFact, ...]:
    """All 89 operations."""
    return _rows("operations.tsv", OperationFact)


def parameters() -> tuple[ParameterFact, ...]:
    """All request fields: 306 of bodies, one of a query, and the members of the `task/list` filter."""
    return _rows("parameters.tsv", ParameterFact)


def records() -> tuple[RecordFact, ...]:
    """All 579 fields of the 50 records."""
    return _rows("records.tsv", RecordFact)


def values() -> tuple[ValueFact, ...]:
    """All values that the documents name."""
    return _rows("values.tsv", ValueFact)


def undefined() -> tuple[UndefinedFact, ...]:
    """All places whose shape is left open."""
    return _rows("undefined.tsv", UndefinedFact)


def _rows(file: str, kind: type[Fact]) -> tuple[Fact, ...]:
    lines = [line for line in (FOLDER / file).read_text("utf-8").splitlines() if not line.startswith("#")]
    columns = [column.name for column in fields(kind)]
    header, *rows = [line.split("\t") for line in lines]
    if header != columns:
        raise ValueError(f"{file}: the header line is {header}, it must be {columns}")
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{file}: the row {row} has {len(row)} cells, it must have {len(columns)}")
    return tuple(kind(*row) for row in rows)
