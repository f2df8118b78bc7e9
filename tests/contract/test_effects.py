"""Every operation's effect, by the verb that ends its name (safety.md): the label and the method say nothing."""

import pytest

from workspace_api.contract import Effect, calls, find, operations

BY_VERB = {
    "list": Effect.READ,
    "list-active": Effect.READ,
    "list-versions": Effect.READ,
    "get": Effect.READ,
    "get-questions": Effect.READ,
    "versions": Effect.READ,
    "export": Effect.READ,
    "count": Effect.READ,
    "cashbox-list": Effect.READ,
    "exchange-rate": Effect.READ,
    "pnl-grouping": Effect.READ,
    "import-validate-data": Effect.READ,
    "save": Effect.SAVE,
    "save-question": Effect.SAVE,
    "edit-employee": Effect.SAVE,
    "delete": Effect.REPLACE,
    "remove": Effect.REPLACE,
    "archive": Effect.REPLACE,
    "update": Effect.REPLACE,
    "multi": Effect.REPLACE,
    "set": Effect.REPLACE,
    "store": Effect.REPLACE,
    "pnl-store-grouping": Effect.REPLACE,
    "import": Effect.REPLACE,
    "install-version": Effect.REPLACE,
    "create": Effect.CREATE,
    "copy": Effect.CREATE,
    "pay": Effect.CREATE,
    "review": Effect.TRANSITION,
}


def test_every_operation_declares_the_effect_of_its_verb() -> None:
    """A new verb fails here until somebody has thought about what may be tried again."""
    assert {o.name: o.effect for o in operations().values()} == {
        o.name: BY_VERB[o.name.rsplit(".", 1)[1]] for o in operations().values()
    }


def test_every_verb_of_the_table_is_in_use() -> None:
    """The table names no verb that no operation has."""
    assert {o.name.rsplit(".", 1)[1] for o in operations().values()} == set(BY_VERB)


@pytest.mark.parametrize("name", [o.name for o in operations().values() if o.effect is Effect.SAVE])
def test_a_save_replaces_with_an_id_and_creates_without(name: str) -> None:
    """The effect of the call itself decides, and `kpi/data/save` has no id to replace by."""
    operation = find(name)
    required = {
        f: 1 if k.annotation is int else "common" for f, k in operation.params.model_fields.items() if k.is_required()
    }
    assert operation.call(required).effect is Effect.CREATE
    if name != "orgschema.kpi.data.save":
        assert operation.call({**required, "id": 5}).effect is Effect.REPLACE


def test_another_effect_stays_whatever_the_id() -> None:
    """Only SAVE looks at the id."""
    assert calls.tasks.task.create(id=5).effect is Effect.CREATE
    assert calls.finplan.request.review(id=5).effect is Effect.TRANSITION
