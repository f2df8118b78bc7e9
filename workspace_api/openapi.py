"""The OpenAPI 3.1 document, made from the registry: there is no second list of anything.

document() ─► paths: one literal path for each operation, `post` alone, its parameters by their wire names
           ─► components: the records, the error, the security scheme
Needs the contract alone, so that `workspace openapi` works in the base install.
"""

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from workspace_api.contract import Operation, operations
from workspace_api.contract.endpoint import NoParams

REFERENCE = "#/components/schemas/{model}"

ERROR_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["status", "error", "error_message"],
    "properties": {
        "status": {"type": "string", "const": "error"},
        "error": {"type": "string", "description": "A code, such as permission_denied."},
        "error_message": {"type": "string", "description": "One sentence: what is wrong and what to do."},
    },
}

TITLE = "Workspace Business API"
VERSION = "1.0.0"


def document() -> dict[str, Any]:
    """The whole document as plain JSON values."""
    found = operations()
    schemas = _component_schemas(found)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": VERSION,
            "description": "JSON over HTTP. Every call is a POST with the header Api-key; "
            "an answer is an object with `status` and `data`.",
        },
        "servers": [{"url": "/"}],
        "security": [{"ApiKey": []}],
        "tags": [{"name": module} for module in dict.fromkeys(operation.module for operation in found.values())],
        "paths": {operation.path: {"post": _operation(operation, schemas)} for operation in found.values()},
        "components": {
            "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "Api-key"}},
            "schemas": {**schemas, "Error": dict(ERROR_SCHEMA)},
            "responses": {
                "Error": {
                    "description": "The workspace says no.",
                    "content": {"application/json": {"schema": {"$ref": REFERENCE.format(model="Error")}}},
                }
            },
        },
    }


def _component_schemas(found: Mapping[str, Operation[Any]]) -> dict[str, Any]:
    """The schemas of all parameters, by their wire names, and of the records that these hold."""
    inputs: list[tuple[type[Any], JsonSchemaMode]] = [(operation.params, "validation") for operation in found.values()]
    _, made = models_json_schema(list(dict.fromkeys(inputs)), by_alias=True, ref_template=REFERENCE)
    schemas: dict[str, Any] = dict(made.get("$defs", {}))
    for operation in found.values():
        data = operation.adapter.json_schema(by_alias=True, ref_template=REFERENCE)
        for name, schema in data.pop("$defs", {}).items():
            schemas.setdefault(name, schema)
    return dict(sorted(schemas.items()))


def _operation(operation: Operation[Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    data = operation.adapter.json_schema(by_alias=True, ref_template=REFERENCE)
    data.pop("$defs", None)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.module],
        "summary": _summary(operation),
        "x-effect": operation.effect.value,
        "responses": {
            "200": {
                "description": "Done.",
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "required": ["status", "data"],
                            "properties": {"status": {"type": "string", "const": "success"}, "data": data},
                        }
                    }
                },
            },
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    query = operation.params.query_fields()
    if operation.params is not NoParams:
        described["requestBody"] = _body(operation, schemas, query)
    if query:
        described["parameters"] = _query(operation, schemas, query)
    return described


def _summary(operation: Operation[Any]) -> str:
    """The parameters' own line; operations without parameters say their name."""
    return operation.name if operation.params is NoParams else operation.summary


def _body(operation: Operation[Any], schemas: Mapping[str, Any], query: set[str]) -> dict[str, Any]:
    model = operation.params.__name__
    schema: dict[str, Any] = {"$ref": REFERENCE.format(model=model)}
    required: list[str] = schemas[model].get("required", [])
    if query:
        # The component holds all parameters; the body leaves those of the query string out.
        properties = {name: value for name, value in schemas[model]["properties"].items() if name not in query}
        schema = {"type": "object", "additionalProperties": False, "properties": properties}
        if required:
            schema["required"] = [name for name in required if name not in query]
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _query(operation: Operation[Any], schemas: Mapping[str, Any], query: set[str]) -> list[dict[str, Any]]:
    model = schemas[operation.params.__name__]
    return [
        {
            "name": name,
            "in": "query",
            "required": name in model.get("required", []),
            "schema": value,
        }
        for name, value in model["properties"].items()
        if name in query
    ]
