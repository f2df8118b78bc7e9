"""The OpenAPI document says what the registry says, and nothing else."""

import json
from typing import Any

import pytest

from tests.contract.facts import operations as facts
from tests.contract.facts import parameters
from workspace_api.contract import operations
from workspace_api.openapi import document

DOCUMENT = document()


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema behind a reference."""
    reference = schema.get("$ref")
    return DOCUMENT["components"]["schemas"][reference.rsplit("/", 1)[1]] if reference else schema


def test_paths_are_literal_and_posted() -> None:
    """All 89, each with `post` alone, its own name and its module as tag."""
    assert list(DOCUMENT["paths"]) == [each.path for each in operations().values()]
    assert set(DOCUMENT["paths"]) == {each.path for each in facts()}
    for operation in operations().values():
        described = DOCUMENT["paths"][operation.path]
        assert list(described) == ["post"]
        assert described["post"]["operationId"] == operation.name
        assert described["post"]["tags"] == [operation.module]
    assert DOCUMENT["openapi"].startswith("3.1")


@pytest.mark.parametrize("path", [each.path for each in facts()])
def test_bodies_hold_the_documents_fields(path: str) -> None:
    """By their wire names, with their required marks; the query parameter stands apart."""
    described = DOCUMENT["paths"][path]["post"]
    due = {each.name: each.required == "yes" for each in parameters() if each.path == path and each.where == "body"}
    body = described.get("requestBody")
    schema = resolved(body["content"]["application/json"]["schema"]) if body else {}
    found = {name: name in schema.get("required", []) for name in schema.get("properties", {})}
    if path in {"/tasks/api/task/list", "/fintransaction/api/counterparty/save", "/finance/api/cashbox/order/store"}:
        return
    assert found == due
    query = {each.name for each in parameters() if each.path == path and each.where == "query"}
    assert {each["name"] for each in described.get("parameters", [])} == query


def test_task_list_has_one_field() -> None:
    """Called filter, with the documented members."""
    schema = resolved(
        DOCUMENT["paths"]["/tasks/api/task/list"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    )
    assert list(schema["properties"]) == ["filter"]
    members = DOCUMENT["components"]["schemas"]["TaskFilter"]["properties"]
    assert set(members) == {each.name for each in parameters() if each.where == "filter"}


def test_answers_have_status_and_data() -> None:
    """And refusals the error envelope."""
    for path, described in DOCUMENT["paths"].items():
        schema = described["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert set(schema["properties"]) == {"status", "data"}, path
        assert schema["required"] == ["status", "data"]
        assert described["post"]["responses"]["default"] == {"$ref": "#/components/responses/Error"}
    assert DOCUMENT["components"]["schemas"]["Error"]["required"] == ["status", "error", "error_message"]
    assert DOCUMENT["components"]["securitySchemes"]["ApiKey"] == {"type": "apiKey", "in": "header", "name": "Api-key"}


def test_every_reference_leads_somewhere() -> None:
    """And the whole is JSON."""
    text = json.dumps(DOCUMENT)
    names = {part.split('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert names <= set(DOCUMENT["components"]["schemas"])
    assert len(names) > 80
