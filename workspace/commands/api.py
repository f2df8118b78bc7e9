"""workspace call, workspace openapi: the API by the names of its operations."""

import argparse
import json
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords, show
from workspace_api import Effect, Workspace, find
from workspace_api.client import error_of
from workspace_api.contract import Done, Operation
from workspace_api.contract.wire import OneOf


def add_call(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "call",
        help="one operation against WORKSPACE_URL",
        description="One operation by its name; prints `data` as JSON. Example: workspace call wiki.article.get id=41",
        epilog="workspace call NAME --help shows the fields of that operation.",
        add_help=False,
    )
    command.add_argument("-h", "--help", action="store_true", help="this help, or the fields of NAME")
    command.add_argument("name", metavar="NAME", nargs="?", help="such as finplan.request.list")
    command.add_argument("fields", nargs="*", metavar="field=value", help="lists and maps as JSON")
    command.add_argument("--json", metavar="BODY", help="all fields as one JSON object")
    command.set_defaults(run=call, usage=command.format_help)


def add_openapi(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("openapi", help="the OpenAPI 3.1 document on stdout")
    command.set_defaults(run=openapi)


def call(options: argparse.Namespace) -> int:
    """Sends the call and prints what came; errors go to stderr by way of main."""
    if options.name is None:
        if not options.help:
            raise WrongWords("Say which operation: workspace call NAME [field=value ...]")
        print(options.usage(), end="")
        return 0
    operation = find(options.name)
    if options.help:
        print(_described(operation))
        return 0
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


def _described(operation: Operation[Any]) -> str:
    """An operation in a few lines, from its declaration."""
    lines = [f"{operation.name}: {operation.summary}", f"effect: {operation.effect}"]
    for name, field in operation.params.model_fields.items():
        wire = f" ({field.serialization_alias})" if field.serialization_alias else ""
        required = ", required" if field.is_required() else ""
        lines.append(f"  {name}{wire}: {_type_words(field.annotation)}{required}")
    return "\n".join(lines)


def _type_words(annotation: Any) -> str:
    """A type in the words of the documents."""
    if get_origin(annotation) is Literal:
        return " | ".join(str(value) for value in get_args(annotation))
    if get_origin(annotation) is Annotated:
        base, *rules = get_args(annotation)
        choices = next((rule.values for rule in rules if isinstance(rule, OneOf)), ())
        return " | ".join(str(choice) for choice in choices) or _type_words(base)
    members = [_type_words(member) for member in get_args(annotation) if member is not type(None)]
    if get_origin(annotation) is list:
        return f"list of {members[0]}"
    if get_origin(annotation) is dict:
        return "map"
    if members:
        return " | ".join(dict.fromkeys(members))
    return {"str": "text", "datetime": "date", "Any": "any"}.get(getattr(annotation, "__name__", ""), "") or str(
        getattr(annotation, "__name__", annotation)
    )


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
