"""What each page shows: reads, then renders. Called in a thread, for everything here reads tables.

Values of steps and messages are redacted before they get here (scope.py, values.redacted), and every template escapes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from automations.definition import Automation, Definition
from automations.engine import ENDED
from automations.errors import Finding, UnknownAutomation, UnknownRun
from automations.interpret import step_name
from automations.ledger import ACTIVE, LATE, RunLine
from automations.page.choices import choices, may_run
from automations.page.coming import Calendar
from automations.page.past import Past
from automations.page.ports import Seen
from automations.page.sessions import Session
from automations.page.timeline import Row, timeline
from automations.page.words import GLYPHS, Speech
from automations.preview import marked
from automations.values import json_text, redacted

ALIVE = 60.0
"""Seconds: a runner that was heard of later than this ago is not counted on."""
A_PAGE = 50
SOON, LATER = 4, 15
"""Seconds between two looks, while something is under way and while nothing is."""
LONGEST_VALUE = 6000
MOST_NAMES = 2000

BAD = ("failed", "stopped")
MISSED = ("skipped", "lost", "late")
KINDS: Mapping[str, tuple[str, tuple[str, ...] | None]] = {
    "": ("All", None),
    "active": ("Under way", ("asked", "waiting", "running")),
    "parked": ("Parked", ("parked",)),
    "bad": ("Failed or stopped", BAD),
    "done": ("Done", ("done",)),
    "cancelled": ("Cancelled", ("cancelled",)),
    "missed": ("Ticks that did not run", None),
}
"""What the list of runs may be held to."""

WANTED = {"begin": "A runner begins it in a moment.", "cancel": "A runner ends it in a moment."}
GOES_ON = "A runner goes on with it in a moment."

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Looker:
    """Who looks, and at what address; all that a template needs beside what it shows."""

    speech: Speech
    path: str
    query: Mapping[str, str]
    nonce: str
    session: Session | None
    form_secret: str
    guarded: bool
    said: str | None = None

    @property
    def address(self) -> str:
        return self.path + (f"?{urlencode(dict(self.query))}" if self.query else "")


@dataclass(frozen=True, slots=True)
class Tables:
    """What is read: the records, the definitions in force, and what is wrong with the other files."""

    past: Past
    automations: Callable[[], Mapping[str, Automation]]
    findings: Callable[[], Sequence[Finding]]
    alive: Callable[[], Sequence[Seen]]
    zone: str


def render(name: str, looker: Looker, here: str = "", **shown: Any) -> str:
    """A page."""
    speech = looker.speech
    other = "en" if speech.language == "ru" else "ru"
    words: dict[str, Any] = {
        "t": speech.t,
        "n": speech.n,
        "told": speech.told,
        "state_word": speech.state_word,
        "moment": speech.moment,
        "clock": speech.clock,
        "date": speech.date,
        "length": speech.length,
        "age": speech.age,
        "seconds": speech.seconds,
        "took": partial(_took, speech=speech),
        "waits_for": partial(_waits_for, speech=speech),
        "cause_word": partial(_cause, speech=speech),
        "step_word": _step_word,
        "glyph": _glyph,
        "shown": _shown,
        "run_url": run_url,
        "automation_url": automation_url,
        "json": _json,
        "safe": redacted,
    }
    frame = {
        "here": here,
        "language": speech.language,
        "other_language": f"{looker.path}?{urlencode({**looker.query, 'lang': other})}",
        "nonce": looker.nonce,
        "session": looker.session,
        "form_secret": looker.form_secret,
        "guarded": looker.guarded,
        "said": looker.said,
        "refresh": None,
        "now": speech.now,
        "zone": str(speech.zone),
    }
    return TEMPLATES.get_template(name).render({**words, **frame, **shown})


def run_url(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe=':')}"


def automation_url(name: str) -> str:
    return f"/automations/{quote(name)}"


def _json(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value, indent=2)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _took(run: RunLine, speech: Speech) -> str | None:
    if run.begun_at is None:
        return None
    end = datetime.fromisoformat(run.ended_at) if run.ended_at else speech.now
    return speech.length(max(end - datetime.fromisoformat(run.begun_at), timedelta()))


def _waits_for(run: RunLine, speech: Speech) -> str:
    kind = (run.wake_on or "").partition(":")[0]
    until = speech.moment(run.wake_at) if run.wake_at else None
    if kind == "question":
        return (
            speech.t("waits for an answer, until {moment}", moment=until) if until else speech.t("waits for an answer")
        )
    if kind == "run":
        return speech.t("waits for another run")
    return speech.t("waits until {moment}", moment=until or "–")


def _cause(run: RunLine, speech: Speech) -> str:
    cause, by = speech.cause_word(run.cause), run.details.get("by")
    return speech.t("{cause}, {by}", cause=cause, by=by) if by else cause


def _glyph(state: str) -> str:
    return GLYPHS.get(state, "")


def _shown(state: str) -> str:
    """What a state is drawn as; one that is not known is drawn as nothing in particular."""
    return state if state in GLYPHS else "unknown"


def _step_word(row: Row) -> str:
    return row.name.removeprefix("on_failure.").removeprefix("undo ")


# Overview


def overview(tables: Tables, looker: Looker, coming: Calendar) -> str:
    """What runs next, what is under way, what failed, and what waits for people."""
    past, now = tables.past, looker.speech.now
    seen = tables.alive()
    active = past.runs(None, ACTIVE, 15)
    return render(
        "overview.html",
        looker,
        "/",
        refresh=SOON if any(run.state != "parked" for run in active) else LATER,
        alive=[one for one in seen if one.seconds <= ALIVE],
        heard=min((one.seconds for one in seen), default=None),
        count=past.count(now),
        findings=tables.findings(),
        gaps=past.gaps(now)[:10],
        questions=past.questions(),
        incidents=past.incidents(50),
        active=active,
        failures=past.runs(None, BAD, 8),
        days=coming.days,
        often=coming.often,
        left_out=coming.left_out,
        any_tick=any(day.ticks for day in coming.days),
    )


# Automations


@dataclass(frozen=True, slots=True)
class _Card:
    """An automation as it is shown."""

    name: str
    description: str
    triggers: tuple[str, ...]
    people: tuple[str, ...]
    allowed: bool
    writes: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    next: datetime | None
    ticks: tuple[Any, ...]
    strip: Sequence[RunLine]

    @property
    def last(self) -> RunLine | None:
        return self.strip[-1] if self.strip else None


def _card(one: Automation, tables: Tables, now: datetime, strip: Sequence[RunLine], n: int) -> _Card:
    definition = one.definition
    zone = ZoneInfo(tables.zone)
    coming = list(islice(marked(definition.trigger, now, tables.zone), n))
    own = [(tick, mark, tick.at.astimezone(ZoneInfo(tick.zone))) for tick, mark in coming]
    shown = tuple(
        {
            "at": tick.at,
            "local": local if local.utcoffset() != tick.at.astimezone(zone).utcoffset() else None,
            "zone": tick.zone,
            "mark": mark,
        }
        for tick, mark, local in own
    )
    return _Card(
        one.name,
        definition.description,
        tuple(trigger.words(tables.zone) for trigger in definition.trigger),
        tuple(definition.people or ()),
        may_run(definition.people),
        _writes(definition),
        tuple((step_name(index, step), step.kind) for index, step in enumerate(definition.steps)),
        coming[0][0].at if coming else None,
        shown,
        strip,
    )


def _writes(definition: Definition) -> tuple[str, ...]:
    """The steps that change something somewhere."""
    return tuple(step_name(index, step) for index, step in enumerate(definition.steps) if not step.only_reads)


def automations(tables: Tables, looker: Looker) -> str:
    """All of them, or those whose names hold a text."""
    wanted = looker.query.get("q", "").strip().lower()
    known = tables.automations()
    names = [name for name in known if wanted in name]
    start = int(looker.query.get("start", "0")) if looker.query.get("start", "0").isdecimal() else 0
    some = names[start : start + A_PAGE]
    strips = tables.past.strips(some)
    rows = [_card(known[name], tables, looker.speech.now, strips[name], 1) for name in some]

    def at(place: int) -> str:
        return f"/automations?{urlencode({'q': wanted, 'start': place})}"

    return render(
        "automations.html",
        looker,
        "/automations",
        refresh=LATER,
        rows=rows,
        total=len(names),
        wanted=wanted,
        back=looker.address,
        newer=at(max(0, start - A_PAGE)) if start else None,
        older=at(start + A_PAGE) if start + A_PAGE < len(names) else None,
    )


def automation(tables: Tables, looker: Looker, name: str) -> str:
    """One of them. Raises UnknownAutomation."""
    known = tables.automations()
    if name not in known:
        raise UnknownAutomation(name, known)
    strip = tables.past.strips([name])[name]
    row = _card(known[name], tables, looker.speech.now, strip, 10)
    return render("automation.html", looker, "/automations", refresh=LATER, row=row, back=automation_url(name))


# Runs


def runs(tables: Tables, looker: Looker) -> str:
    """Runs, the newest first, or ticks that were not run in time."""
    query = looker.query
    state = query.get("state", "") if query.get("state", "") in KINDS else ""
    name = query.get("automation", "").strip() or None
    before = query.get("before", "")
    shown: dict[str, Any] = {"runs": (), "missed": None}
    last: str | None = None
    if state == "missed":
        shown["missed"] = tables.past.missed(name, MISSED, A_PAGE, before or None)
        if len(shown["missed"]) == A_PAGE:
            last = shown["missed"][-1].tick.strftime("%Y-%m-%dT%H:%M:%SZ")
    else:
        moment, _, run_id = before.partition(" ")
        found = tables.past.runs(name, KINDS[state][1], A_PAGE, (moment, run_id) if before else None)
        shown["runs"] = found
        last = f"{found[-1].asked_at} {found[-1].run_id}" if len(found) == A_PAGE else None
    older = f"/runs?{urlencode({'automation': name or '', 'state': state, 'before': last})}" if last else None
    return render(
        "runs.html",
        looker,
        "/runs",
        refresh=LATER if not before else None,
        automation=name,
        state=state,
        names=list(islice(tables.automations(), MOST_NAMES)),
        kinds=[(value, looker.speech.t(word)) for value, (word, _) in KINDS.items()],
        older=older,
        **shown,
    )


def run(tables: Tables, looker: Looker, run_id: str) -> str:
    """A run. Raises UnknownRun, or EngineUnavailable."""
    past, now = tables.past, looker.speech.now
    line = past.run(run_id)
    if line is None:
        raise UnknownRun(run_id)
    definition, undoing = past.definition(line), past.undoing(line)
    steps = timeline(line, past.steps(run_id), definition, now)
    asked = past.questions_of(run_id)
    due = datetime.fromisoformat(line.tick)
    local = due.astimezone(ZoneInfo(line.zone))
    begun = datetime.fromisoformat(line.begun_at) if line.begun_at else None
    late = begun - due if begun is not None and line.cause == "tick" and begun - due > LATE else None
    wanted = WANTED.get(line.wanted, GOES_ON) if line.wanted else None
    return render(
        "run.html",
        looker,
        "/runs",
        refresh=None if line.state in ENDED and line.wanted is None else SOON,
        run=line,
        local=f"{local:%H:%M}" if local.utcoffset() != due.astimezone(looker.speech.zone).utcoffset() else None,
        late=late,
        wanted=looker.speech.t(wanted) if wanted else None,
        undoing=undoing,
        line_of=steps,
        any_parked=any(piece.parked for row in steps.rows for piece in row.pieces),
        open_questions=[one for one in asked if one.state == "open"],
        answered=[one for one in asked if one.state != "open"],
        offers=choices(line, steps, definition, undoing),
    )
