"""One call, without I/O: what to send, when to try again, what came of it.

exchange(call) yields Send and Pause steps and is fed Answers and Faults; the sync and the async client only drive it.

```
NotSent ─────────────► tried again, whatever the effect
Unknown, read ───────► tried again      Unknown, anything else ─► told as it is: the caller reads back first
Refused 429, read ───► tried again after Retry-After
```
Pauses are drawn evenly from nothing to 0.25 s × 2^try (full jitter), at most 8 s, and never cross the deadline.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic_core import to_json

from workspace_api.client.errors import READ_ONLY
from workspace_api.client.events import CallEnded, Observer
from workspace_api.client.reading import read_answer
from workspace_api.client.transport import Answer, AnswerLost, Message, NothingSent
from workspace_api.contract.endpoint import Call, Effect
from workspace_api.contract.outcome import Done, NotSent, Outcome, Raw, Refused, Unknown

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made; `with_options` of a client changes any of these.

    `timeout`    seconds for the whole call, tries and pauses included
    `retries`    how often it may be tried again, where the effect allows
    `max_bytes`  the largest answer, inflated
    `zone`       of dates that come or go without one
    `read_only`  refuses everything but reads, before it is sent
    `pace`       least seconds between the starts of two calls of this client
    `idempotency_key`  sent as a header; the embedded workspace then does the call once at the most
    """

    timeout: float = 30.0
    retries: int = 3
    max_bytes: int = 64_000_000
    zone: tzinfo = UTC
    read_only: bool = False
    pace: float = 0.0
    idempotency_key: str | None = None
    observer: Observer | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Send this, within so many seconds."""

    message: Message
    deadline: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


Reply = Answer | NothingSent | AnswerLost | None
Exchange = Generator[Send | Pause, Reply, Done[Raw[T]] | Refused | NotSent | Unknown]


def message_of(call: Call[Any], options: Options, key: str) -> Message:
    """The message of a call: always POST, wire names, the query parameter in the target."""
    context = {"zone": options.zone}
    fields = call.params.model_fields_set
    body = to_json(call.params.body(context)) if fields else b"{}"
    query = call.params.query(context) if fields else {}
    target = call.operation.path + (f"?{urlencode(query)}" if query else "")
    headers = [("Api-key", key), ("Content-type", "application/json"), ("Accept", "application/json")]
    if options.idempotency_key is not None:
        headers.append(("Idempotency-Key", options.idempotency_key))
    return Message(target, tuple(headers), body)


def exchange(
    call: Call[T], options: Options, key: str, *, clock: Callable[[], float], random: Callable[[], float]
) -> Exchange[T]:
    """Drive with `send(reply)`: an Answer or a fault after Send, None after Pause. Returns the outcome."""
    started = clock()
    tries = 0
    outcome: Done[Raw[T]] | Refused | NotSent | Unknown
    if options.read_only and call.effect is not Effect.READ:
        outcome = NotSent(READ_ONLY)
    else:
        message = message_of(call, options, key)
        while True:
            tries += 1
            reply = yield Send(message, max(0.001, options.timeout - (clock() - started)))
            outcome, again = _judge(call, reply, options, clock() - started, tries)
            pause = _pause(outcome, tries, random)
            if not again or tries > options.retries or clock() - started + pause >= options.timeout:
                break
            yield Pause(pause)
    if options.observer is not None:
        status = outcome.data.http_status if isinstance(outcome, Done) else getattr(outcome, "http_status", None)
        kind = type(outcome).__name__
        options.observer(CallEnded(call.name, call.effect, kind, status, clock() - started, tries))
    return outcome


def _judge(
    call: Call[T], reply: Reply, options: Options, seconds: float, tries: int
) -> tuple[Done[Raw[T]] | Refused | NotSent | Unknown, bool]:
    """The outcome of one try, and whether another one is allowed."""
    reads = call.effect is Effect.READ
    if isinstance(reply, NothingSent):
        return NotSent(str(reply)), not reply.final
    if isinstance(reply, AnswerLost):
        return Unknown(str(reply)), reads and not reply.final
    assert reply is not None, "a Send is answered by an Answer or a fault"
    outcome = read_answer(call.operation, reply, options.zone, options.observer)
    if isinstance(outcome, Done):
        return Done(Raw(reply.http_status, reply.headers, reply.body, seconds, tries, outcome.data)), False
    if isinstance(outcome, Refused):
        told = replace(outcome, retry_after=retry_after(reply.headers))
        return told, reads and outcome.http_status == 429
    # A redirect or a wrong kind of answer is the same again next time; a 5xx or a broken proxy may pass.
    return outcome, reads and reply.http_status >= 500


def _pause(outcome: Outcome[Any], tries: int, random: Callable[[], float]) -> float:
    if isinstance(outcome, Refused) and outcome.retry_after is not None:
        return outcome.retry_after
    longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**tries)
    return random() * longest


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, as a number or as a date; None where there is none that can be read."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    if value:
        from datetime import datetime

        try:
            return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError):
            return None
    return None
