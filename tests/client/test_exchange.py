"""The exchange without I/O: what is tried again, with which pauses, and that nothing crosses the deadline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from workspace_api import Call, Done, Effect, InvalidArguments, NotSent, Outcome, Raw, Refused, Unknown, calls
from workspace_api.client import Answer, AnswerLost, CallEnded, Event, NothingSent, Options
from workspace_api.client.exchange import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    Exchange,
    Pause,
    Reply,
    Send,
    exchange,
    retry_after,
)

READ = calls.company.staff.list()
BY_EFFECT: dict[Effect, Call[Any]] = {
    Effect.READ: READ,
    Effect.REPLACE: calls.tasks.task.remove(id=1),
    Effect.TRANSITION: calls.finplan.request.review(request_ids=[1], review_type="accept"),
    Effect.CREATE: calls.finplan.request.pay(id=1, request_id=1, payment_sum=5),
}
WRITES = [effect for effect in BY_EFFECT if effect is not Effect.READ]
REFUSED = NothingSent("refused")
LOST = AnswerLost("lost")
EMPTY = Answer(200, {}, b'{"status": "success", "data": []}')


def envelope(status: int, code: str = "too_many_requests", **headers: str) -> Answer:
    return Answer(status, headers, f'{{"status": "error", "error": "{code}"}}'.encode())


@dataclass
class Driven:
    """One exchange, driven by a script of replies, in a time that only its steps move."""

    replies: Sequence[Reply]
    random: Callable[[], float] = lambda: 1.0
    takes: float = 0.1
    now: float = 100.0
    pauses: list[float] = field(default_factory=list[float])
    deadlines: list[float] = field(default_factory=list[float])

    def run(self, call: Call[Any], slot: Callable[[float], float] | None = None, **options: Any) -> Any:
        more: dict[str, Any] = {} if slot is None else {"slot": slot}
        steps: Exchange[Any] = exchange(
            call, Options(**options), "key", clock=lambda: self.now, random=self.random, **more
        )
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Send):
                    self.deadlines.append(step.deadline)
                    self.now += min(self.takes, step.deadline)
                    reply, *self.replies = self.replies
                else:
                    assert isinstance(step, Pause)
                    self.pauses.append(step.seconds)
                    self.now += step.seconds
                    reply = None
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("effect", list(BY_EFFECT))
def test_what_was_not_sent_is_tried_again_whatever_the_effect(effect: Effect) -> None:
    """No byte has left, so nothing can have happened."""
    driven = Driven([REFUSED, REFUSED, REFUSED])
    assert driven.run(BY_EFFECT[effect], retries=2) == NotSent("refused")
    assert driven.replies == []


@pytest.mark.parametrize("fault", [LOST, envelope(503), envelope(429), Answer(502, {}, b"<html>")])
@pytest.mark.parametrize("effect", WRITES)
def test_a_write_is_never_tried_again_once_bytes_may_have_left(effect: Effect, fault: Reply) -> None:
    """It may have happened: the caller reads back first."""
    outcome = Driven([fault]).run(BY_EFFECT[effect], retries=9)
    assert isinstance(outcome, Unknown | Refused)


def test_a_write_that_left_at_its_second_try_is_unknown() -> None:
    """The first try was not sent, the second may have arrived."""
    assert Driven([REFUSED, LOST]).run(BY_EFFECT[Effect.CREATE], retries=9) == Unknown("lost")


@pytest.mark.parametrize("fault", [LOST, envelope(500), envelope(429), Answer(502, {}, b"<html>"), REFUSED])
def test_a_read_is_tried_again_as_often_as_allowed(fault: Reply) -> None:
    """And then told as it is."""
    driven = Driven([fault, fault, EMPTY])
    outcome: Outcome[Raw[Any]] = driven.run(READ, retries=2)
    assert isinstance(outcome, Done)
    assert outcome.data.tries == 3
    assert not isinstance(Driven([fault, fault, EMPTY]).run(READ, retries=1), Done)


@pytest.mark.parametrize(
    "fault",
    [NothingSent("no", final=True), AnswerLost("no", final=True), envelope(400), envelope(501, "not_implemented")],
)
def test_what_cannot_get_better_is_not_tried_again(fault: Reply) -> None:
    """A wrong address, too large an answer, a refusal."""
    assert not isinstance(Driven([fault, EMPTY]).run(READ, retries=9), Done)


def test_pauses_are_drawn_evenly_from_a_doubling_span() -> None:
    """Full jitter: from nothing to 0.25 s × 2^try, at most 8 s."""
    driven = Driven([LOST] * 8 + [EMPTY])
    driven.run(READ, retries=8, timeout=1000)
    spans = [min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries) for tries in range(1, 9)]
    assert driven.pauses == spans
    assert spans[0] == 0.5
    assert spans[-1] == 8.0
    low = Driven([LOST, EMPTY], random=lambda: 0.25)
    low.run(READ)
    assert low.pauses == [0.125]


def test_no_pause_crosses_the_deadline() -> None:
    """Rather than sleeping into it, the call ends with what is known."""
    driven = Driven([LOST, LOST, LOST, LOST], takes=1.0)
    assert driven.run(READ, retries=9, timeout=4.0) == Unknown("lost")
    assert driven.deadlines == [4.0, 2.5, 0.5]
    assert driven.pauses == [0.5, 1.0]
    assert driven.now == 104.0


def test_each_try_gets_the_time_that_is_left() -> None:
    """The deadline is for all tries together, and never nothing at all."""
    driven = Driven([REFUSED, EMPTY], takes=0.75, random=lambda: 0.5)
    driven.run(READ, timeout=2.0)
    assert driven.deadlines == [2.0, 1.0]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(status: int) -> None:
    """In place of the drawn pause, and only where it ends before the deadline."""
    driven = Driven([envelope(status, **{"retry-after": "3"}), EMPTY])
    assert isinstance(driven.run(READ), Done)
    assert driven.pauses == [3.0]
    late = Driven([envelope(status, **{"retry-after": "30"})])
    assert not isinstance(late.run(READ, timeout=10), Done)
    assert late.pauses == []


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("²", None),
        ("1.5", None),
        ("9" * 400, float("inf")),
        ("Mon, 99 Nov 2026 00:00:00 GMT", None),
        ("Sat, 01 Jan 2000 00:00:00 GMT", 0.0),
        ("Sat, 01 Jan 2000 00:00:00 -0000", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """What cannot be read counts as not told."""
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({}) is None


def test_retry_after_reads_a_date_to_come() -> None:
    """As seconds from now."""
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    seconds = retry_after({"retry-after": moment})
    assert seconds is not None
    assert 50 < seconds <= 60


def test_the_pace_takes_its_time_from_the_call() -> None:
    """A slot in the future is waited for, and leaves the try what is left."""
    driven = Driven([EMPTY])
    assert isinstance(driven.run(READ, slot=lambda pace: pace * 2, pace=0.5, timeout=5.0), Done)
    assert driven.pauses == [1.0]
    assert driven.deadlines == [4.0]


def test_a_slot_after_the_deadline_is_not_waited_for() -> None:
    """Nothing was sent; a retry without a slot leaves the outcome of the try before it."""
    driven = Driven([])
    outcome = driven.run(READ, slot=lambda _: 9.0, pace=9.0, timeout=5.0)
    assert outcome == NotSent("the pace of this client left no time for the call")
    waits = iter([0.0, 9.0])
    assert Driven([LOST]).run(READ, slot=lambda _: next(waits), pace=9.0, timeout=5.0) == Unknown("lost")


def test_every_end_is_told_to_the_observer() -> None:
    """One event a call, with its tries and its time."""
    seen: list[Event] = []
    Driven([LOST, EMPTY]).run(READ, observer=seen.append)
    Driven([envelope(409, "conflict")]).run(BY_EFFECT[Effect.CREATE], observer=seen.append)
    Driven([]).run(BY_EFFECT[Effect.CREATE], observer=seen.append, read_only=True)
    ended = [event for event in seen if isinstance(event, CallEnded)]
    assert [(e.operation, e.effect, e.outcome, e.http_status, e.tries) for e in ended] == [
        ("company.staff.list", Effect.READ, "Done", 200, 2),
        ("finplan.request.pay", Effect.CREATE, "Refused", 409, 1),
        ("finplan.request.pay", Effect.CREATE, "NotSent", None, 0),
    ]
    assert ended[0].seconds == pytest.approx(0.7)


def test_a_call_that_is_given_up_is_told_as_unknown() -> None:
    """Closed after Send, it may have happened; closed in the pause before, it was not sent."""
    seen: list[Event] = []
    for pace in (0.0, 1.0):
        steps = exchange(
            READ,
            Options(observer=seen.append, pace=pace),
            "key",
            clock=lambda: 0.0,
            random=lambda: 0.0,
            slot=lambda wait: wait,
        )
        next(steps)
        steps.close()
    assert [event.outcome for event in seen if isinstance(event, CallEnded)] == ["Unknown", "NotSent"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"timeout": 0}, "timeout: should be above 0, at most 86,400 seconds"),
        ({"timeout": float("nan")}, "timeout: should be above 0, at most 86,400 seconds"),
        ({"timeout": float("inf")}, "timeout: should be above 0, at most 86,400 seconds"),
        ({"retries": -1}, "retries: should be 0 or more"),
        ({"max_bytes": 0}, "max_bytes: should be 1 or more"),
        ({"pace": -1}, "pace: should be 0 or more seconds"),
        ({"idempotency_key": "a\r\nb"}, "idempotency_key: should be printable ASCII, not empty"),
        ({"idempotency_key": ""}, "idempotency_key: should be printable ASCII, not empty"),
        ({"idempotency_key": "ключ"}, "idempotency_key: should be printable ASCII, not empty"),
    ],
)
def test_options_that_cannot_be_meant_are_told(options: dict[str, Any], sentence: str) -> None:
    """Before any call is made with them."""
    with pytest.raises(InvalidArguments) as caught:
        Options(**options)
    assert str(caught.value) == f"options: {sentence}"


@pytest.mark.parametrize("value", [object(), {"a": float("nan")}, [float("inf")], "\ud800", {"deep": {"er": "\udfff"}}])
def test_a_value_that_json_cannot_hold_is_told_before_sending(value: Any) -> None:
    """Where the documents leave the type open, nothing else catches it; the sentence names the field."""
    call = calls.tasks.task.create(name="a", path=value)
    with pytest.raises(InvalidArguments, match=r"^tasks.task.create: path: holds a value that JSON cannot hold$"):
        Driven([]).run(call)


def test_words_that_look_like_no_number_are_sent() -> None:
    """A task may well be called NaN."""
    assert isinstance(Driven([LOST]).run(calls.tasks.task.create(name="NaN to Infinity")), Unknown)
