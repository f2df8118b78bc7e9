"""One call, without I/O: what to send, when to try again, what came of it.

exchange(call) yields Send and Pause steps and is fed Answers and Faults; the sync and the async client only drive it.

```
NotSent ─────────────► tried again, whatever the effect
Unknown, read ───────► tried again      Unknown, anything else ─► told as it is: the caller reads back first
429 or 5xx, read ────► tried again, after Retry-After where it is told
```
Pauses are drawn evenly from nothing to 0.25 s × 2^try (full jitter), at most 8 s, and never cross the deadline.
"""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic_core import to_json

from workspace_api.client.body import ACCEPTED
from workspace_api.client.errors import READ_ONLY
from workspace_api.client.events import CallEnded, Observer
from workspace_api.client.reading import read_answer
from workspace_api.client.transport import Answer, AnswerLost, Message, NothingSent
from workspace_api.contract.endpoint import Call, Effect, NoParams
from workspace_api.contract.errors import InvalidArguments, Problem
from workspace_api.contract.outcome import Done, NotSent, Raw, Refused, Unknown
from workspace_api.contract.problems import nearest

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0

LONGEST_TIMEOUT = 86_400
"""Seconds; a socket takes no timeout without end."""


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made; `with_options` of a client changes any of these.

    `timeout`    seconds for the whole call, tries and pauses included
    `retries`    how often it may be tried again, where the effect allows
    `max_bytes`  the largest answer, inflated
    `zone`       of dates that come or go without one
    `read_only`  refuses everything but reads, before it is sent
    `pace`       least seconds between the starts of two tries of this client
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

    def __post_init__(self) -> None:
        """Raises InvalidArguments for what cannot be meant."""
        key = self.idempotency_key
        wrong = (
            (
                "timeout",
                not 0 < self.timeout <= LONGEST_TIMEOUT,
                f"should be above 0, at most {LONGEST_TIMEOUT:,} seconds",
            ),
            ("retries", self.retries < 0, "should be 0 or more"),
            ("max_bytes", self.max_bytes < 1, "should be 1 or more"),
            ("pace", not 0 <= self.pace <= LONGEST_TIMEOUT, "should be 0 or more seconds"),
            ("idempotency_key", key is not None and not fits_header(key), "should be printable ASCII, not empty"),
        )
        problems = [Problem((name,), text) for name, is_wrong, text in wrong if is_wrong]
        if problems:
            raise InvalidArguments("options", problems)


def changed(options: Options, changes: Mapping[str, Any]) -> Options:
    """The options with some of them changed. Raises InvalidArguments that names the nearest right name."""
    known = [field.name for field in fields(Options)]
    strange = [name for name in changes if name not in known]
    if strange:
        hints = {name: nearest(name, known) for name in strange}
        words = {
            name: f"did you mean {near}?" if near else f"the options are {', '.join(known)}"
            for name, near in hints.items()
        }
        raise InvalidArguments("options", [Problem((name,), f"no such option; {words[name]}") for name in strange])
    return replace(options, **changes)


def fits_header(value: str) -> bool:
    """Whether a header can carry a value as it is."""
    return value.isascii() and value.isprintable() and value == value.strip() != ""


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


_HEADERS = (
    ("Content-type", "application/json"),
    ("Accept", "application/json"),
    ("Accept-Encoding", ACCEPTED),
    ("User-Agent", "workspace-assistant"),
)


def message_of(call: Call[Any], options: Options, key: str) -> Message:
    """The message of a call: always POST, wire names, the query parameter in the target, no body without parameters.

    Raises InvalidArguments for a value that JSON cannot hold.
    """
    params = call.params
    target = call.operation.path
    body = b"" if isinstance(params, NoParams) else b"{}"
    if params.model_fields_set:
        context = {"zone": options.zone}
        try:
            body = to_json(params.body(context))
        except (ValueError, RecursionError):
            raise _no_json(call) from None
        # JSON knows no NaN and no Infinity; these two words are rare enough to look closer only where they stand.
        if b"NaN" in body or b"Infinity" in body:
            _check_numbers(call, params.body(context))
        if query := params.query(context):
            target += f"?{urlencode(query)}"
    headers: tuple[tuple[str, str], ...] = (("Api-key", key), *_HEADERS)
    if options.idempotency_key is not None:
        headers = (*headers, ("Idempotency-Key", options.idempotency_key))
    return Message(target, headers, body)


def _check_numbers(call: Call[Any], body: Any) -> None:
    try:
        json.dumps(body, allow_nan=False)
    except ValueError:
        raise _no_json(call) from None


def _no_json(call: Call[Any]) -> InvalidArguments:
    """Names the fields whose values JSON cannot hold: they were left open by the documents, so no type caught them."""
    bad: list[Problem] = []
    for name in call.params.model_fields_set:
        try:
            # Through bytes: a lone surrogate is a str in Python, and no text on the wire.
            value = call.params.model_dump(mode="json", include={name})
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, TypeError, RecursionError):
            bad.append(Problem((name,), "holds a value that JSON cannot hold"))
    return InvalidArguments(call.name, bad)


def no_slots(_pace: float) -> float:
    """For a driver that keeps no pace."""
    return 0.0


def exchange(
    call: Call[T],
    options: Options,
    key: str,
    *,
    clock: Callable[[], float],
    random: Callable[[], float],
    slot: Callable[[float], float] = no_slots,
) -> Exchange[T]:
    """Drive with `send(reply)`: an Answer or a fault after Send, None after Pause. Returns the outcome.

    `slot(pace)` takes the next free start and says how many seconds it is until then. A driver that gives up closes
    the generator, which tells the observer what is known: Unknown once a message may have left.
    """
    started = clock()
    tries = 0
    allowed = call.effect is Effect.READ or not options.read_only
    outcome: Done[Raw[T]] | Refused | NotSent | Unknown = NotSent("cancelled" if allowed else READ_ONLY)
    message = message_of(call, options, key) if allowed else None
    try:
        while message is not None:
            if options.pace and (wait := slot(options.pace)):
                if clock() - started + wait >= options.timeout:
                    # A retry that finds no slot leaves the outcome of the try before it.
                    outcome = outcome if tries else NotSent("the pace of this client left no time for the call")
                    break
                yield Pause(wait)
            tries += 1
            outcome = Unknown("cancelled")
            reply = yield Send(message, max(0.001, options.timeout - (clock() - started)))
            outcome, again, told = _judge(call, reply, options, key, clock() - started, tries)
            pause = random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**tries) if told is None else told
            if not again or tries > options.retries or clock() - started + pause >= options.timeout:
                break
            yield Pause(pause)
        return outcome
    finally:
        if options.observer is not None:
            status = outcome.data.http_status if isinstance(outcome, Done) else getattr(outcome, "http_status", None)
            kind = type(outcome).__name__
            options.observer(CallEnded(call.name, call.effect, kind, status, clock() - started, tries))


def _judge(
    call: Call[T], reply: Reply, options: Options, key: str, seconds: float, tries: int
) -> tuple[Done[Raw[T]] | Refused | NotSent | Unknown, bool, float | None]:
    """The outcome of one try, whether another one is allowed, and the pause that the workspace asked for."""
    reads = call.effect is Effect.READ
    if isinstance(reply, NothingSent):
        return NotSent(str(reply)), not reply.final, None
    if isinstance(reply, AnswerLost):
        return Unknown(str(reply)), reads and not reply.final, None
    assert reply is not None, "a Send is answered by an Answer or a fault"
    outcome = read_answer(call.operation, reply, options.zone, options.observer)
    if isinstance(outcome, Done):
        raw = Raw(reply.http_status, reply.headers, reply.body, seconds, tries, outcome.data)
        return Done(raw), False, None
    told = retry_after(reply.headers)
    if isinstance(outcome, Refused):
        outcome = replace(outcome, message=_without(key, outcome.message), retry_after=told)
        return outcome, reads and outcome.http_status == 429, told
    assert isinstance(outcome, Unknown), "an answer was there, so something was sent"
    # A redirect or a wrong kind of answer is the same again next time; a 5xx or a busy proxy may pass.
    passes = reply.http_status >= 500 or reply.http_status == 429
    return replace(outcome, reason=_without(key, outcome.reason)), reads and passes, told


def _without(key: str, text: str) -> str:
    """A workspace's sentence without the key, which some servers repeat when they refuse it."""
    return text.replace(key, "<key>") if len(key) >= 6 else text


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, as a number or as a date; None where there is none that can be read."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    if value:
        # Rarely needed, and 5 ms of every import.
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError):
            return None
    return None
