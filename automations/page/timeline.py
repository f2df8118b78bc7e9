"""A run as bars: one row a step, what it did and how long it waited, laid out between the run's begin and its end.

records of the engine ─► rows (a step, or all items of one) ─► pieces in percent of the width

Time in which nothing was done (a question waited over night) is drawn shorter than it was, so that the steps can be
seen beside it; it never takes more than two thirds of the width.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from automations.definition import Definition
from automations.engine import RecordedStep
from automations.interpret import BEGUN, ON_FAILURE, step_name
from automations.ledger import RunLine
from automations.undo import UNDO
from automations.values import decode, redacted

ITEM = re.compile(r"(?P<stem>.+)\[(?P<first>\d+)(?:-\d+)?\]")
LEAST = 0.7
"""Percent: a piece is never narrower, so that a step of a millisecond is seen."""
WAITED = timedelta(milliseconds=500)
"""A pause between a step's beginning and its work that is shorter is not drawn as waiting."""
MOST_ITEMS = 50
"""Items of one step that are shown one by one."""
IDLE_SHARE = 2.0
"""Idle time takes at most so many times the width of the busy time."""

LONG_IDLE = timedelta(seconds=2)
"""Less is drawn as long as it was."""

NOTHING: Mapping[str, Any] = {}

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar, in percent of the width; `parked` ones are hatched."""

    x: float
    width: float
    parked: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A step. `state`: done, failed, skipped, begun, parked, coming (not come to yet), or never (the run has ended).

    `part`: `steps`, `on_failure` or `undo`. `items`: the first of a for_each, `count` of them in all.
    """

    name: str
    kind: str
    part: str
    state: str
    began: datetime | None
    took: timedelta | None
    waited: timedelta | None
    pieces: tuple[Piece, ...] = ()
    message: str | None = None
    doubtful: bool = False
    gone_on: bool = False
    attempts: int | None = None
    given: Any = None
    value: Any = None
    has_given: bool = False
    has_value: bool = False
    items: "tuple[Row, ...]" = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows, and what their axis goes from and to. `shortened`: idle time is drawn shorter than it was."""

    rows: tuple[Row, ...]
    begin: datetime | None
    end: datetime | None
    shortened: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """One execution of a step, before it is laid out."""

    name: str
    output: Mapping[str, Any]
    state: str
    work: Span | None
    waited: Span | None


def timeline(run: RunLine, records: Sequence[RecordedStep], definition: Definition | None, now: datetime) -> Timeline:
    """What a run has done so far, and what is still to come."""
    steps = _executions(run, records, now)
    busy = [step.work for step in steps if step.work]
    spans = [*busy, *(step.waited for step in steps if step.waited)]
    if run.state in {"running", "parked", "waiting", "asked"} and spans:
        spans.append((now, now))
    begin, end = (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else (None, None)
    place, shortened = _scale(busy, begin, end)
    kinds = _kinds(definition)
    rows: list[Row] = []
    groups: dict[str, list[_Step]] = {}
    for step in steps:
        groups.setdefault(_stem(step.name), []).append(step)
    for stem, members in groups.items():
        rows.append(_row(stem, members, kinds, place))
    return Timeline((*rows, *_to_come(run, rows, kinds, definition)), begin, end, shortened)


def _stem(name: str) -> str:
    found = ITEM.fullmatch(name)
    return found["stem"] if found else name


def _executions(run: RunLine, records: Sequence[RecordedStep], now: datetime) -> list[_Step]:
    begun: dict[str, RecordedStep] = {}
    found: list[_Step] = []
    for record in records:
        if record.name.endswith(BEGUN):
            begun[record.name.removesuffix(BEGUN)] = record
            continue
        before = begun.pop(record.name, None)
        start, end = record.started_at or record.finished_at, record.finished_at or record.started_at
        work = (start, end) if start is not None and end is not None else None
        waited = _between(before.finished_at if before else None, start)
        if "items" in record.output:
            outputs: Sequence[Mapping[str, Any]] = record.output["items"]
            match = ITEM.fullmatch(record.name)
            stem, first = (match["stem"], int(match["first"])) if match else (record.name, 0)
            found += [
                _Step(f"{stem}[{first + i}]", out, str(out["state"]), work, waited) for i, out in enumerate(outputs)
            ]
        else:
            found.append(_Step(record.name, record.output, str(record.output.get("state", "done")), work, waited))
    for name, record in begun.items():
        since = record.finished_at or record.started_at or now
        ended = datetime.fromisoformat(run.ended_at) if run.ended_at else now
        if run.state == "parked":
            found.append(_Step(name, {}, "parked", None, (since, now)))
        else:
            found.append(_Step(name, {}, "begun", (since, max(since, ended)), None))
    return found


def _between(since: datetime | None, until: datetime | None) -> Span | None:
    if since is None or until is None or until - since < WAITED:
        return None
    return since, until


def _scale(
    busy: Sequence[Span], begin: datetime | None, end: datetime | None
) -> tuple[Callable[[datetime], float], bool]:
    """Where a moment is, in percent; and whether idle time is drawn shorter."""
    if begin is None or end is None or end <= begin:
        return (lambda _: 0.0), False
    merged: list[Span] = []
    for start, stop in sorted(busy):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    worked = sum(((stop - start) for start, stop in merged), timedelta())
    idle = (end - begin) - worked
    # Steps of milliseconds beside a night of waiting: the steps share a third of the width all the same.
    worked = max(worked, timedelta(milliseconds=1))
    factor = min(1.0, IDLE_SHARE * (worked / idle)) if idle > LONG_IDLE and merged else 1.0
    marks: list[tuple[datetime, float]] = [(begin, 0.0)]
    for start, stop in merged:
        marks.append((start, marks[-1][1] + (start - marks[-1][0]).total_seconds() * factor))
        marks.append((stop, marks[-1][1] + (stop - start).total_seconds()))
    marks.append((end, marks[-1][1] + (end - marks[-1][0]).total_seconds() * factor))
    whole = marks[-1][1] or 1.0

    def place(moment: datetime) -> float:
        for (start, low), (stop, high) in pairwise(marks):
            if moment <= stop:
                share = (moment - start) / (stop - start) if stop > start else 1.0
                return 100.0 * (low + max(0.0, share) * (high - low)) / whole
        return 100.0

    return place, factor < 1.0


def _pieces(step: _Step, place: Callable[[datetime], float]) -> list[Piece]:
    found: list[Piece] = []
    for span, parked in ((step.waited, True), (step.work, False)):
        if span is not None and not (step.state == "skipped" and not parked):
            left, right = place(span[0]), place(span[1])
            width = max(right - left, LEAST)
            found.append(Piece(round(min(left, 100.0 - width), 2), round(width, 2), parked))
    return found


def _kinds(definition: Definition | None) -> dict[str, str]:
    """What each step is, by its name in the records."""
    if definition is None:
        return {}
    main = {step_name(index, step): step.kind for index, step in enumerate(definition.steps)}
    after = {step_name(index, step, ON_FAILURE): step.kind for index, step in enumerate(definition.on_failure)}
    return main | after


def _part(name: str) -> str:
    return "undo" if name.startswith(UNDO) else "on_failure" if name.startswith(ON_FAILURE) else "steps"


def _row(stem: str, members: Sequence[_Step], kinds: Mapping[str, str], place: Callable[[datetime], float]) -> Row:
    kind, part = kinds.get(stem, ""), _part(stem)
    if len(members) == 1 and members[0].name == stem:
        return _one(members[0], kind, part, place)
    states = [step.state for step in members]
    worst = next((state for state in ("failed", "parked", "begun") if state in states), "done")
    if all(state == "skipped" for state in states):
        worst = "skipped"
    pieces = _joined([piece for step in members for piece in _pieces(step, place)])
    failed: Mapping[str, Any] = next((step.output for step in members if step.state == "failed"), NOTHING)
    return Row(
        name=stem,
        kind=kind,
        part=part,
        state=worst,
        began=min((span[0] for step in members for span in (step.waited, step.work) if span), default=None),
        took=_total(members, parked=False),
        waited=_total(members, parked=True),
        pieces=pieces,
        message=failed.get("message"),
        doubtful=bool(failed.get("doubtful")),
        gone_on=bool(failed.get("gone_on")),
        items=tuple(_one(step, kind, part, place) for step in members[:MOST_ITEMS]),
        count=len(members),
    )


def _total(members: Sequence[_Step], *, parked: bool) -> timedelta | None:
    """Of items that ran together the time counts once."""
    spans = {step.waited if parked else step.work for step in members} - {None}
    lengths = [span[1] - span[0] for span in spans if span is not None]
    return sum(lengths, timedelta()) if lengths else None


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces of one kind that touch become one: a thousand items are one bar."""
    joined: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.parked, piece.x)):
        last = joined[-1] if joined else None
        if last is not None and last.parked == piece.parked and piece.x <= last.x + last.width + LEAST:
            right = max(last.x + last.width, piece.x + piece.width)
            joined[-1] = Piece(last.x, round(right - last.x, 2), last.parked)
        else:
            joined.append(piece)
    return tuple(sorted(joined, key=lambda piece: piece.x))


def _one(step: _Step, kind: str, part: str, place: Callable[[datetime], float]) -> Row:
    output = step.output
    spans = [span for span in (step.waited, step.work) if span]
    return Row(
        name=step.name,
        kind=kind,
        part=part,
        state=step.state,
        began=min((span[0] for span in spans), default=None),
        took=step.work[1] - step.work[0] if step.work else None,
        waited=step.waited[1] - step.waited[0] if step.waited else None,
        pieces=tuple(_pieces(step, place)),
        message=output.get("message"),
        doubtful=bool(output.get("doubtful")),
        gone_on=bool(output.get("gone_on")),
        attempts=output.get("attempts"),
        given=redacted(decode(output["input"])) if "input" in output else None,
        value=redacted(decode(output["value"])) if "value" in output else None,
        has_given="input" in output,
        has_value="value" in output,
    )


def _to_come(run: RunLine, rows: Sequence[Row], kinds: Mapping[str, str], definition: Definition | None) -> list[Row]:
    """The steps that a run has not come to; none for one that is done, or that undoes another."""
    if definition is None or run.state == "done" or run.cause == "undo":
        return []
    there = {row.name for row in rows}
    state = "coming" if run.state in {"asked", "waiting", "running", "parked"} else "never"
    names = [step_name(index, step) for index, step in enumerate(definition.steps)]
    return [Row(name, kinds[name], "steps", state, None, None, None) for name in names if name not in there]
