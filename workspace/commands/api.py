"""workspace call, workspace openapi: the API by the names of its operations."""

import argparse
import json
from typing import Any, Literal, cast, get_args, get_origin

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords, show
from workspace_api import Effect, Workspace, find
from workspace_api.client import error_of
from workspace_api.contract import Done, Operation


def add_call(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "call",
        help="one operation against WORKSPACE_URL",
        description="One operation by its name; prints `data` as JSON. Example: workspace call wiki.article.get id=41",
    )
    command.add_argument("name", metavar="NAME", help="such as finplan.request.list")
    command.add_argument("fields", nargs="*", metavar="field=value", help="lists and maps as JSON")
    command.add_argument("--json", metavar="BODY", help="all fields as one JSON object")
    command.set_defaults(run=call)


def add_openapi(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("openapi", help="the OpenAPI 3.1 document on stdout")
    command.set_defaults(run=openapi)


def call(options: argparse.Namespace) -> int:
    """Sends the call and prints what came; errors go to stderr by way of main."""
    operation = find(options.name)
    made = operation.call(_fields(operation, options.fields, options.json))
    chosen = settings.load()
    with Workspace(chosen.workspace_url, parts.service_key(chosen)) as api:
        outcome = api.attempt_raw(made)
    if not isinstance(outcome, Done):
        raise error_of(operation.name, outcome)
    show(outcome.data.json()["data"])
    return 0


def openapi(_options: argparse.Namespace) -> int:
    """Prints the document."""
    from workspace_api.openapi import document

    show(document())
    return 0


def _fields(operation: Operation[Any], words: list[str], body: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if body is not None:
        try:
            given: object = json.loads(body)
        except ValueError as error:
            raise WrongWords(f"--json holds no JSON: {error}") from None
        if not isinstance(given, dict):
            raise WrongWords("--json takes one object, such as '{\"id\": 7}'")
        fields = cast("dict[str, Any]", given)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise WrongWords(f"{word!r} is no field=value")
        fields[name] = _value(operation, name, value)
    return fields


def _value(operation: Operation[Any], name: str, text: str) -> Any:
    """The text read by the field's declared type: strings and dates as they are, all else as JSON."""
    for python_name, field in operation.params.model_fields.items():
        if name in {python_name, field.serialization_alias} and _is_text(field.annotation):
            return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_text(annotation: Any) -> bool:
    """Whether the type, apart from None, is a string or a set of words."""
    if get_origin(annotation) is Literal:
        return True
    members = [member for member in get_args(annotation) if member is not type(None)]
    if annotation is str:
        return True
    return bool(members) and get_origin(annotation) is not list and all(_is_text(m) for m in members if m != Effect)
