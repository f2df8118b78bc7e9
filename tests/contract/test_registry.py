"""The registry against the table of facts, in both directions: what is declared is documented, and the other way.

Both sides are written as plain dictionaries in one notation (notation.py) and compared whole. The only differences
allowed stand in DIFFERENCES, each with its reason.
"""

from collections import Counter

from tests.contract import facts, notation
from workspace_api.contract import find, operations

DIFFERENCES: dict[str, tuple[str, str, str]] = {
    # where: (what the facts say, what the registry says, why)
    "/finplan/api/request/copy:requests": (
        "array[request_with_additional_params]",
        "array[map]",
        "the documents call the element a record and show no field of it: an object whose members are open",
    ),
    "/tasks/api/task/update:fields": (
        "array",
        "map|array[map]",
        "an array by the documents, a map by every working client (field-notes.md): both are taken, a map is sent",
    ),
    "/tasks/api/task/update/multi:fields": ("array", "map|array[map]", "as task/update"),
}

ANONYMOUS = {
    "ChecklistCount",
    "CreatedTask",
    "ImportCheck",
    "ParentTask",
    "PlanItem",
    "PlanStatus",
    "StructureExport",
}
"""Records that the documents show without a name."""

OPEN_WHEN_SENT = {
    "/finplan/api/request/save:status": "a request that was read goes back whole, its unknown status included",
}


def plain(text: str) -> str:
    """A type of the facts without the names of things that the documents never define."""
    return text.replace("map[password.access]", "map").replace("materialized_path", "?")


def allowed(where: str, declared: str) -> str:
    """What the facts must say at `where`, given that the registry says `declared`."""
    stated, differs, _ = DIFFERENCES.get(where, ("", "", ""))
    return stated if declared == differs else declared


def test_the_operations_are_the_documented_ones() -> None:
    """The same 89 paths, labels and payloads, module after module."""
    stated = {fact.path: (fact.label, plain(fact.data)) for fact in facts.operations()}
    declared = {o.path: (o.label, notation.written(o.data)) for o in operations().values()}
    assert declared == stated
    assert len(declared) == 89
    modules = [fact.path.split("/")[1] for fact in facts.operations()]
    assert list(dict.fromkeys(o.module for o in operations().values())) == list(dict.fromkeys(modules))


def test_the_request_fields_are_the_documented_ones() -> None:
    """306 in bodies, one in a query, 31 in the filter: wire names, types, required marks, places."""
    stated = {
        (fact.path, fact.where, fact.name): (
            "..." if fact.where == "body" and fact.type == "{...}" else plain(fact.type),
            fact.required == "yes",
        )
        for fact in facts.parameters()
    }
    declared = {
        (o.path, where, name): (
            "..."
            if (o.name, name) == ("tasks.task.list", "filter")
            else allowed(f"{o.path}:{name}", notation.field_type(field)),
            field.is_required(),
        )
        for o, where, name, field in notation.parameter_places()
    }
    assert declared == stated
    assert Counter(where for _, where, _ in declared) == {"body": 306, "query": 1, "filter": 31}


def test_the_records_are_the_documented_ones() -> None:
    """50 records with 579 fields, and no record beside them but the ones that the documents show without a name."""
    stated = {(fact.record, fact.field): plain(fact.type) for fact in facts.records()}
    found = notation.records()
    declared = {
        (name, field): notation.field_type(kind)
        for name, record in found.items()
        if name in notation.NAMED
        for field, kind in record.model_fields.items()
    }
    assert declared == stated
    assert len(declared) == 579
    assert set(found) - notation.NAMED == ANONYMOUS
    assert len(found) - len(ANONYMOUS) == 50


def test_no_field_of_a_record_is_required() -> None:
    """A workspace may leave any field out."""
    required = [(n, f) for n, r in notation.records().items() for f, k in r.model_fields.items() if k.is_required()]
    assert required == []


def test_named_values_are_known() -> None:
    """Values whose whole list is stated stand in the type; open lists stay plain texts."""
    stated: dict[str, tuple[str, ...]] = {}
    for fact in facts.values():
        if fact.extent != "some":
            stated[fact.where] = (*stated.get(fact.where, ()), fact.value)
    declared = {
        f"{name}.{field}": notation.field_values(kind)
        for name, record in notation.records().items()
        for field, kind in record.model_fields.items()
    } | {f"{o.path}:{name}": notation.field_values(field) for o, _, name, field in notation.parameter_places()}
    assert {where: values for where, values in declared.items() if values} == stated


def test_named_values_are_closed_where_they_are_sent() -> None:
    """A wrong value is refused before anything leaves, but for the ones that say why not."""
    still_open = {
        f"{o.path}:{name}"
        for o, _, name, field in notation.parameter_places()
        if notation.field_values(field) and not notation.is_closed(field)
    }
    assert still_open == set(OPEN_WHEN_SENT)


def test_open_shapes_are_typed_undocumented_by_name() -> None:
    """Where the documents leave a shape open the type says Undocumented, and nowhere else."""
    declared = {
        f"{name}.{field}"
        for name, record in notation.records().items()
        if name in notation.NAMED
        for field, kind in record.model_fields.items()
        if notation.is_open(kind)
    }
    for o, where, name, field in notation.parameter_places():
        if notation.is_open(field):
            declared.add(f"{o.path}:filter.{name}" if where == "filter" else f"{o.path}:{name}")
    export = find("orgschema.orgschema.export")
    declared |= {f"{export.path}:data.{f}" for f, k in export.data.model_fields.items() if notation.is_open(k)}
    declared |= {f"{o.path}:*" for o in operations().values() if o.params.model_config.get("extra") == "allow"}
    stated = {fact.where for fact in facts.undefined()}
    assert declared == stated


def test_dates_take_the_form_of_their_module() -> None:
    """With an offset in finance and fintransaction, without one everywhere else (part 1, §2.1)."""
    records = notation.records()
    wrong = [
        (name, field)
        for name, record in records.items()
        for field, kind in record.model_fields.items()
        if notation.date_forms(kind) - {record.__module__.endswith(("finance", "fintransaction"))}
    ]
    wrong += [
        (o.path, name)
        for o, _, name, field in notation.parameter_places()
        if notation.date_forms(field) - {o.module in ("finance", "fintransaction")}
    ]
    assert wrong == []


def test_every_difference_is_still_one() -> None:
    """The table of differences holds nothing that has become true meanwhile."""
    stated = {f"{fact.path}:{fact.name}": fact.type for fact in facts.parameters()}
    assert {where: stated[where] for where in DIFFERENCES} == {where: d[0] for where, d in DIFFERENCES.items()}
    assert all(said != declared for said, declared, _ in DIFFERENCES.values())
