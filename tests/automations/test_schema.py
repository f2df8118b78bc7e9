"""The JSON Schema for editors: it takes what the language takes, and refuses what a schema can know."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from automations.control import LIBRARY
from automations.definition import read_automation
from automations.schema import schema
from automations.steps import KINDS
from automations.triggers import TRIGGERS
from automations.yaml_source import read_source
from tests.automations.bad.row import Row
from tests.automations.bad.shape_rows import SHAPE, TRIGGER
from tests.automations.bad.step_rows import STEPS
from tests.automations.bad.template_rows import BLIND
from workspace_api.contract import operations

LANGUAGE = Path(__file__).parents[2] / "automations" / "LANGUAGE.md"
FILES = sorted(LIBRARY.glob("*.yaml"))
ROWS = [*SHAPE.items(), *TRIGGER.items(), *STEPS.items()]


def blocks() -> list[str]:
    """The YAML blocks of the documentation that are whole files."""
    return [block.partition("\n```")[0] for block in LANGUAGE.read_text().split("```yaml\n")[1:]]


@cache
def validator() -> Any:
    return Draft202012Validator(schema())


def objections(data: Any) -> list[str]:
    """What the schema has against a file."""
    errors: Iterator[Any] = validator().iter_errors(data)
    return [f"{error.json_path}: {error.message[:300]}" for error in errors]


def of(text: str | bytes) -> Any:
    return read_source(text, "n.yaml").data


def test_it_is_a_schema() -> None:
    """By the rules of its dialect."""
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_library_passes(file: Path) -> None:
    """Every ready-made automation."""
    assert objections(of(file.read_bytes())) == []


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.split("\n")[0])
def test_the_documentation_is_right(block: str) -> None:
    """Every block of YAML in LANGUAGE.md is an automation that loads, and passes."""
    read_automation(block, LIBRARY / "documentation.yaml")
    assert objections(of(block)) == []


def test_the_documentation_has_every_word() -> None:
    """Each step, trigger, filter and key of the language stands in LANGUAGE.md."""
    from automations.definition import Definition
    from automations.language import filter_names
    from automations.steps.base import Step

    text = LANGUAGE.read_text()
    keys = [field.alias or name for model in (Definition, Step) for name, field in model.model_fields.items()]
    words = {*KINDS, *TRIGGERS, *filter_names(), *keys}
    assert sorted(word for word in words if f"`{word}" not in text and f"{word}:" not in text) == []


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_a_bad_shape_is_refused_where_a_schema_can_know(name: str, row: Row) -> None:
    """The table of bad files says which ones it cannot know; that list is kept honest too."""
    assert (objections(of(row.text)) == []) is (name in BLIND)


@pytest.mark.parametrize("operation", operations().values(), ids=lambda operation: operation.name)
def test_each_operation_is_known_by_both_its_names(operation: Any) -> None:
    """By the name on the wire and by Python's; a field that it does not have is refused."""
    for name in (operation.name, operation.python_name):
        step: dict[str, Any] = {"call": name, "with": "{{ vars.fields }}"}
        assert objections({"name": "n", "steps": [step]}) == []
        if operation.params.model_config.get("extra") != "allow":
            step["with"] = {"zzz": 1}
            assert objections({"name": "n", "steps": [step]}) != []


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"requestIds": [1], "reviewType": "accept"}, True),
        ({"request_ids": [1], "review_type": "accept"}, True),
        ({"request_ids": "{{ steps.ids }}", "review_type": "{{ vars.kind }}"}, True),
        ({"request_ids": ["{{ item.id }}", 7], "review_type": "accept"}, True),
        ({"request_ids": ["seven"], "review_type": "accept"}, False),
        ({"request_ids": [1], "review_type": "acept"}, False),
        ({"request_ids": [1], "review_typ": "accept"}, False),
    ],
)
def test_fields_have_their_types_or_a_template(fields: dict[str, Any], right: bool) -> None:
    """Wire and Python names; a template may stand for any value."""
    found = objections({"name": "n", "steps": [{"call": "finplan.request.review", "with": fields}]})
    assert (found == []) is right


def test_every_word_is_explained() -> None:
    """Steps and triggers have words and examples, and so has each common key."""
    definitions = schema()["$defs"]
    for kind in ("step", "trigger"):
        for choice in definitions[kind]["allOf"]:
            assert definitions[choice["then"]["$ref"].rpartition("/")[2]]["description"]
    call = definitions["CallStep"]
    assert call["examples"]
    assert len(call["properties"]["call"]["enumDescriptions"]) == len(call["properties"]["call"]["enum"]) >= 89
    for key in ("id", "if", "unless", "for_each", "concurrency", "retry", "timeout", "continue_on_error", "undo"):
        assert call["properties"][key]["description"]


def test_the_examples_of_each_step_are_right() -> None:
    """What an editor offers can be used as it is."""
    definitions = schema()["$defs"]
    for choice in definitions["step"]["allOf"]:
        step = definitions[choice["then"]["$ref"].rpartition("/")[2]]
        assert step["examples"], choice
        for example in step["examples"]:
            assert objections({"name": "n", "steps": [example]}) == []
