"""Every operation's parameters go out and come in again the same; every record reads what its types can hold."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract import notation
from tests.contract.generated import fields_of, json_of
from workspace_api.contract import calls, find, operations
from workspace_api.contract.wire import Record

MOSCOW = timezone(timedelta(hours=3))

some = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("name", list(operations()))
@some
@given(data=st.data())
def test_parameters_come_back_as_they_were_sent(name: str, data: st.DataObject) -> None:
    """Fields → Call → body and query as JSON → the server's call of the same operation → equal."""
    operation = find(name)
    sent = operation.call(data.draw(fields_of(operation)))
    body: dict[str, Any] = json.loads(json.dumps(sent.params.body({"zone": UTC})))
    query = sent.params.query({"zone": UTC})
    received = operation.call({**body, **query})
    assert received.params.body({"zone": UTC}) == body
    assert received.params.query({"zone": UTC}) == query
    assert received.params == sent.params
    assert received.params.model_fields_set - {"planned_end_date"} == sent.params.model_fields_set - {
        "planned_end_date"
    }


@pytest.mark.parametrize("record", list(notation.records().values()), ids=lambda record: record.__name__)
@some
@given(data=st.data())
def test_a_record_reads_whatever_its_types_can_hold(record: type[Record], data: st.DataObject) -> None:
    """Null and absence everywhere, ids as texts, every form of a date; unknown fields are kept as they are."""
    value = data.draw(json_of(record))
    read = record.model_validate_json(json.dumps(value))
    extra = {name: inner for name, inner in value.items() if name not in record.model_fields}
    assert (read.model_extra or {}) == extra
    assert {name for name in value if name in record.model_fields} | set(extra) == read.model_fields_set
    assert [name for name in record.model_fields if value.get(name) is None and getattr(read, name) is not None] == []


def test_left_out_differs_from_null() -> None:
    """Only what was given is sent."""
    assert calls.wiki.space.save(title=None, slug="a").params.body() == {"title": None, "slug": "a"}
    assert calls.wiki.space.save().params.body() == {}


def test_quirky_names_keep_their_place_on_the_wire() -> None:
    """camelCase in review and remove, `id` beside `request_id` in pay, the date of task/create in the query."""
    review = calls.finplan.request.review(request_ids=[7], review_type="accept", block_id=3, reject_text="no")
    assert review.params.body() == {"requestIds": [7], "reviewType": "accept", "blockId": 3, "rejectText": "no"}
    assert calls.finplan.request.remove(request_ids=[1]).params.body() == {"requestIds": [1]}
    assert calls.finplan.request.pay(id=1, request_id=1).params.body() == {"id": 1, "request_id": 1}
    task = calls.tasks.task.create(name="a", planned_end_date=datetime(2026, 11, 2, tzinfo=UTC))
    assert task.params.body() == {"name": "a"}
    assert task.params.query() == {"planned_end_date": "2026-11-02 00:00:00"}


@pytest.mark.parametrize(
    ("given_date", "without_offset", "with_offset"),
    [
        (datetime(2026, 11, 1, 9, 30, tzinfo=UTC), "2026-11-01 12:30:00", "2026-11-01T09:30:00+00:00"),
        (datetime(2026, 11, 1, 9, 30), "2026-11-01 09:30:00", "2026-11-01T09:30:00+03:00"),  # noqa: DTZ001 - naive on purpose
        ("2026-11-01", "2026-11-01 00:00:00", "2026-11-01T00:00:00+03:00"),
        ("2026-11-01T09:30:00Z", "2026-11-01 12:30:00", "2026-11-01T09:30:00+00:00"),
        ("2026-11-01 09:30:00.750", "2026-11-01 09:30:00", "2026-11-01T09:30:00+03:00"),
        ("0987-11-01", "0987-11-01 00:00:00", "0987-11-01T00:00:00+03:00"),
    ],
)
def test_dates_are_sent_in_their_two_forms(given_date: Any, without_offset: str, with_offset: str) -> None:
    """In the stated zone where the form has none; a naive date gets the stated zone where the form has one."""
    zone = {"zone": MOSCOW}
    space = find("wiki.space.save").call({"creation_date": given_date})
    rate = find("finance.currency.exchange-rate").call({"date": given_date})
    assert space.params.body(zone) == {"creation_date": without_offset}
    assert rate.params.body(zone) == {"date": with_offset}


def test_dates_of_records_that_are_sent_back_take_the_documented_form() -> None:
    """With the stated zone of the client; a record that is only kept keeps its offset."""
    steps = find("finplan.request.list").adapter.validate_python(
        [{"history": [{"creation_date": "2026-11-01T09:30:00Z"}]}]
    )
    saved = calls.finplan.request.save(id=1, history=steps[0].history)
    assert saved.params.body({"zone": MOSCOW}) == {"id": 1, "history": [{"creation_date": "2026-11-01 12:30:00"}]}
    assert (
        steps[0].model_dump(mode="json", exclude_unset=True)["history"][0]["creation_date"]
        == "2026-11-01T09:30:00+00:00"
    )
    groups = find("finance.report.pnl-grouping").adapter.validate_python(
        [{"children": [{"creation_date": "2026-11-01 09:30:00"}]}]
    )
    stored = calls.finance.report.pnl_store_grouping(groups=groups)
    assert stored.params.body({"zone": MOSCOW})["groups"][0]["children"] == [
        {"creation_date": "2026-11-01T09:30:00+03:00"}
    ]
    assert "2026-11-01T09:30:00" in groups[0].model_dump_json()
