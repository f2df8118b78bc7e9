"""A company from a file: what it needs, and how it says what is wrong and where."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from storage import open_database
from tests.server.world import TODAY, World
from workspace_api.server.company_file import CompanyFileError, load_company, read_company
from workspace_api.server.opening import prepare

SMALL: dict[str, Any] = {
    "company": {"name": "Acme"},
    "blocks": [{"id": 2, "parent_id": 1, "name": "Shop"}, {"id": 1, "name": "Top"}],
    "users": [
        {"user_id": "ada", "user_name": "Ada", "blocks": [1]},
        {"user_id": "bob", "user_name": {"en": "Bob", "ru": "Боб"}, "blocks": [2], "hiring_date": "-30d"},
    ],
    "currencies": [{"id": 1, "code": "EUR", "name": "Euro"}],
    "cashboxes": [{"id": 1, "currency_code": "EUR", "key": "till", "name": "Till", "opening_balance": 100}],
    "categories": [{"id": 1, "transaction_type": "out", "name": "All"}],
    "finplan_settings": {"manager_blocks": [1]},
}
REQUEST: dict[str, Any] = {
    "id": 1, "finplan": "0m", "sum": 10, "type": 1, "author_id": "bob", "author_block_id": 2, "created": "-3d 09:00",
    "state": "accept", "name": "Pens", "approved_by": [{"user_id": "ada", "date": "-2d 09:00"}],
}  # fmt: skip


def written(folder: Path, name: str = "acme.json", **sections: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(SMALL | sections), encoding="utf-8")
    return path


async def test_a_small_company_loads(tmp_path: Path) -> None:
    """JSON or YAML; what is left out is empty; dates without quotes are dates."""
    yaml = tmp_path / "more.yaml"
    yaml.write_text(
        "rates:\n  - {currency_code_from: EUR, currency_code_to: EUR, date: 2026-01-02, value: 1}\n"
        "transactions:\n"
        "  - {type: out, category_id: 1, user_id: bob, cashbox_id: 1, sum: 5, date: 2026-11-01 10:30:00}\n",
        encoding="utf-8",
    )
    with open_database(f"sqlite:///{tmp_path / 'w.db'}") as database:
        prepare(database)
        load_company(database, [written(tmp_path, requests=[REQUEST]), yaml], "ru", TODAY)
        world = World(database)
        bob = world.person("bob")
        [request] = await bob.call("finplan.request.list")
        assert (request["status"], request["finplan"], request["currency_code"]) == ("accept", "2026-11-01", "EUR")
        [expense] = await bob.call("finance.transaction.list", type="out")
        assert expense["report_date"] == "2026-11-01T10:30:00+00:00"
        names = {each["user_id"]: each["user_name"] for each in await bob.call("user.profile.list")}
        assert names == {"ada": "Ada", "bob": "Боб"}
        assert (await world.owner().call("tasks.task.create", name="x"))["owner_user_id"] == "ada"
        with pytest.raises(CompanyFileError, match="has a company already"):
            load_company(database, [written(tmp_path)], "en", TODAY)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"users": [{"user_id": "ada"}]}, "acme.json: users[0].user_name: is required"),
    ({"users": []}, "acme.json: users"),
    ({"usres": []}, "did you mean users"),
    (
        {"users": [{"user_id": "a", "user_name": "A", "blocks": [9]}]},
        "acme.json: users[0].blocks[0]: there is no block 9",
    ),
    ({"blocks": [{"id": 1, "name": "x", "parent_id": 7}]}, "acme.json: blocks[0].parent_id: there is no block 7"),
    ({"finplan_settings": {"skip_blocks": [7]}}, "acme.json: finplan_settings.skip_blocks[0]: there is no block 7"),
    (
        {"cashboxes": [{"id": 1, "currency_code": "XXX", "key": "k", "name": "n"}]},
        "cashboxes[0].currency_code: there is no currency XXX",
    ),
    (
        {"rates": [{"currency_code_from": "a", "currency_code_to": "b", "date": "soon", "value": 1}]},
        "acme.json: rates[0].date",
    ),
    (
        {
            "transactions": [
                {"type": "in", "category_id": 1, "user_id": "bob", "date": "-1d", "cashbox_id": 1, "sum": 1}
            ]
        },
        "transactions[0].category_id: there is no in category 1",
    ),
    ({"requests": [{**REQUEST, "author_id": "eve"}]}, "requests[0].author_id: there is no user eve"),
    (
        {"tasks": [{"id": 1, "name": "x", "owner_user_id": "eve", "created": "-1d"}]},
        "tasks[0]: there is no user eve",
    ),
]


@pytest.mark.parametrize(("sections", "sentence"), WRONG)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, sections: dict[str, Any], sentence: str) -> None:
    """File, path in it, and the fault."""
    with pytest.raises(CompanyFileError) as error:
        read_company([written(tmp_path, **sections)])
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"state": "paid"}, "requests[0]: state: paid was written, the steps lead to accept"),
        ({"state": "progress"}, "requests[0]: state"),
        ({"approved_by": [{"user_id": "bob", "date": "-2d"}]}, "requests[0]: approved_by[0]: Nobody reviews their own"),
        ({"payments": [{"user_id": "ada", "date": "-1d", "sum": 11}]}, "requests[0]: payments[0]"),
        ({"sum": 0}, "requests[0]: created"),
        ({"state": "returned", "approved_by": []}, "requests[0]: state: returned was written"),
    ],
)
def test_steps_that_the_rules_refuse_are_named(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    """And nothing is loaded."""
    with open_database(f"sqlite:///{tmp_path / 'w.db'}") as database:
        prepare(database)
        with pytest.raises(CompanyFileError) as error:
            load_company(database, [written(tmp_path, requests=[REQUEST | change])], "en", TODAY)
        assert sentence in str(error.value)
        load_company(database, [written(tmp_path)], "en", TODAY)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, no text, no YAML, no sections, the same section twice, a time zone that is none."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("company: {name: Acme\nblocks: []\n", encoding="utf-8")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    scalar = tmp_path / "scalar.yaml"
    scalar.write_text("just words", encoding="utf-8")
    cut = tmp_path / "cut.json"
    cut.write_text("{", encoding="utf-8")
    for files, sentence in (
        ([tmp_path / "none.yaml"], "none.yaml: cannot be read: No such file"),
        ([broken], "broken.yaml:2:"),
        ([binary], "binary.yaml: is no UTF-8"),
        ([scalar], "scalar.yaml: must hold sections"),
        ([cut], "cut.json: cannot be read"),
        ([written(tmp_path), written(tmp_path, "b.json")], "b.json: company: stands in acme.json too"),
    ):
        with pytest.raises(CompanyFileError) as error:
            read_company(files)
        assert sentence in str(error.value)
    with open_database(f"sqlite:///{tmp_path / 'w.db'}") as database:
        prepare(database)
        with pytest.raises(CompanyFileError, match="there is no time zone 'Mars/Base'"):
            load_company(
                database, [written(tmp_path, company={"name": "A", "timezone": "Mars/Base"})], "en", date(2026, 1, 1)
            )
