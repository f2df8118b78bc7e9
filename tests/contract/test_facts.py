"""The tables of facts themselves: their four counts, and that they agree with one another."""

import re
from collections import Counter
from collections.abc import Iterable

from tests.contract.facts import operations, parameters, records, undefined, values

UNDEFINED_NAMES = {"materialized_path", "request_with_additional_params"}
PLAIN_TYPES = {"int", "float", "string", "bool", "date", "map", "array"}


def repeated(keys: Iterable[object]) -> list[object]:
    return [key for key, times in Counter(keys).items() if times > 1]


def named_types(text: str) -> set[str]:
    """The words of a type that name types, without the member names of an object and without `password.access`."""
    text = text.replace("map[password.access]", "map")
    return set(re.findall(r"\w+(?=$|[\[\],}|+])", text))


def test_there_are_89_operations() -> None:
    """Each path stands once."""
    assert len(operations()) == 89
    assert repeated(fact.path for fact in operations()) == []


def test_there_are_50_records_with_579_fields() -> None:
    """Each field stands once in its record."""
    assert len({fact.record for fact in records()}) == 50
    assert len(records()) == 579
    assert repeated((fact.record, fact.field) for fact in records()) == []


def test_request_bodies_have_306_fields() -> None:
    """The query parameter and the filter's members stand beside the count."""
    assert Counter(fact.where for fact in parameters()) == {"body": 306, "query": 1, "filter": 31}
    assert repeated((fact.path, fact.where, fact.name) for fact in parameters()) == []


def test_every_parameter_belongs_to_an_operation() -> None:
    """No path of parameters.tsv is misspelt."""
    assert {fact.path for fact in parameters()} <= {fact.path for fact in operations()}


def test_every_named_type_is_known() -> None:
    """A type is plain, a record of the table, or one of the two names that the documents never define."""
    types = [fact.type for fact in records()] + [fact.type for fact in parameters()]
    types += [fact.data for fact in operations()]
    known = PLAIN_TYPES | UNDEFINED_NAMES | {fact.record for fact in records()}
    assert {name for text in types for name in named_types(text)} - known == set()


def test_every_cell_holds_one_of_its_columns_words() -> None:
    """Marks and extents are spelt as the row types declare them."""
    assert {fact.label for fact in operations()} == {"GET", "POST"}
    assert {fact.part for fact in operations()} == {"1", "2"}
    assert {fact.required for fact in parameters()} == {"yes", "no"}
    assert {fact.note for fact in records()} == {"", "input", "output"}
    assert {fact.extent for fact in values()} == {"all", "some", "record"}
    assert {fact.shape for fact in undefined()} == {"element", "map", "format", "body"}
    assert {fact.stated for fact in undefined()} == {"yes", "no"}


def test_values_and_open_shapes_stand_at_known_fields() -> None:
    """`where` names a record's field, an operation's field, or a known special place."""
    members = {(fact.path, f"filter.{fact.name}" if fact.where == "filter" else fact.name) for fact in parameters()}
    at_fields = {f"{fact.record}.{fact.field}" for fact in records()} | {f"{path}:{name}" for path, name in members}
    special = {"envelope.status"} | {
        f"{fact.path}:{rest}" for fact in operations() for rest in ("*", "data.org", "data.block")
    }
    places = [fact.where for fact in undefined()] + [fact.where for fact in values()]
    assert set(places) - at_fields - special == set()
    assert repeated(fact.where for fact in undefined()) == []
    assert repeated((fact.where, fact.value) for fact in values()) == []
