"""What Prometheus collects: computed from the tables when it asks, in any process that serves the page.

```
state of the tables   counted by an index, or one row each: runs, ticks, parked, questions, incidents, runners
what has ended        read on from where the last look stopped, and added up: endings, durations, lateness of begins
```
All processes tell of the same tables: a board takes the largest of them (`max`), not their sum. What is added up begins
at 0 when a process starts, as counters do.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sqlalchemy import Connection, func, select

from automations.definition import Automation
from automations.ledger import exact_text
from automations.ports import Clock
from automations.tables import incidents, questions, runners, runs, ticks
from storage import Database

PREFIX = "workspace_automation_"
AGAIN = 5.0
"""Seconds within which the same answer is given again, however often it is asked for."""
MOST_ENDED = 5000
"""Runs that one look adds up; the next one goes on from there."""
OVERLAP = timedelta(seconds=30)
"""A run is committed a little after the moment of its end: so far back is looked again."""
LATENESS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
DURATION = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 86400.0)

NAMES: Mapping[str, str] = {
    "runs": "Runs in the records, by automation and state.",
    "runs_ended": "Runs that have ended since this process looks, by automation and state.",
    "run_duration_seconds": "From a run's begin to its end, time in which it was parked included.",
    "lateness_seconds": "From a tick to the begin of its run.",
    "ticks": "Ticks and events in the ledger, by what became of them.",
    "runs_parked": "Runs that wait for an answer, a time or another run.",
    "questions_open": "Questions that wait for an answer.",
    "incidents_open": "Outages that are not over.",
    "runner_beat_age_seconds": "How long ago each runner was last heard of.",
    "last_success_timestamp_seconds": "When each automation last ran well.",
    "loaded": "Automations in force.",
}
"""The metrics by their names, without what all names begin with."""


class _Tally:
    """A histogram that is added to."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        place = next((i for i, bound in enumerate(self._bounds) if value <= bound), len(self._bounds))
        self._counts[place] += 1
        self._sum += value

    def family(self, name: str) -> HistogramMetricFamily:
        family = HistogramMetricFamily(PREFIX + name, NAMES[name])
        buckets: list[tuple[str, float]] = []
        so_far = 0
        for bound, count in zip((*(str(bound) for bound in self._bounds), "+Inf"), self._counts, strict=True):
            so_far += count
            buckets.append((bound, so_far))
        family.add_metric([], buckets, self._sum)
        return family


class _Ended:
    """What has ended since this process looks."""

    def __init__(self, since: datetime, most: int) -> None:
        self._most = most
        self._start = self._since = since
        self._seen: dict[tuple[str, str], str] = {}
        self.counts: dict[tuple[str, str], int] = {}
        self.duration, self.lateness = _Tally(DURATION), _Tally(LATENESS)
        self._begun: dict[tuple[str, str], str] = {}
        self._begun_since = since

    def read_on(self, connection: Connection) -> list[Any]:
        """Adds what has ended, and what has begun, since the last look; gives the rows that have ended."""
        ended = self._new(connection, runs.c.ended_at, self._since, self._seen)
        for row in ended:
            self.counts[row.automation, row.state] = self.counts.get((row.automation, row.state), 0) + 1
            if row.begun_at:
                self.duration.add(_between(row.begun_at, row.ended_at))
        if ended:
            self._since = max(self._since, datetime.fromisoformat(ended[-1].ended_at))
        self._seen = _lately(self._seen, self._since)
        begun = self._new(connection, runs.c.begun_at, self._begun_since, self._begun)
        for row in begun:
            if row.cause == "tick":
                self.lateness.add(_between(row.tick, row.begun_at))
        if begun:
            self._begun_since = max(self._begun_since, datetime.fromisoformat(begun[-1].begun_at))
        self._begun = _lately(self._begun, self._begun_since)
        return ended

    def _new(self, connection: Connection, column: Any, since: datetime, seen: dict[tuple[str, str], str]) -> list[Any]:
        after = exact_text(max(self._start, since - OVERLAP))
        query = select(runs).where(column >= after).order_by(column).limit(self._most + len(seen))
        found: list[Any] = []
        for row in connection.execute(query):
            moment = str(getattr(row, column.key))
            if (row.run_id, moment) not in seen:
                seen[row.run_id, moment] = moment
                found.append(row)
        return found


def _lately(seen: dict[tuple[str, str], str], since: datetime) -> dict[tuple[str, str], str]:
    """What may come up again in the next look."""
    after = exact_text(since - OVERLAP)
    return {key: moment for key, moment in seen.items() if moment >= after}


def _between(since: str, until: str) -> float:
    return max(0.0, (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())


class Metrics:
    """The metrics of one installation, in a registry of their own. Called from any thread, one at a time."""

    def __init__(
        self,
        database: Database,
        automations: Callable[[], Mapping[str, Automation]],
        clock: Clock,
        most: int = MOST_ENDED,
    ) -> None:
        self._database = database
        self._automations = automations
        self._clock = clock
        self._lock = threading.Lock()
        self._ended = _Ended(clock(), most)
        self._last_success: dict[str, float] | None = None
        self._told: tuple[float, bytes] | None = None
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def exposed(self) -> tuple[bytes, str]:
        """The answer to Prometheus, and its content type."""
        with self._lock:
            now = self._clock().timestamp()
            if self._told is None or not 0 <= now - self._told[0] < AGAIN:
                self._told = (now, generate_latest(self._registry))
            return self._told[1], CONTENT_TYPE_PLAIN_0_0_4

    def describe(self) -> Iterator[Metric]:
        """Nothing beforehand: the registry would otherwise collect everything once to learn the names."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """All metrics, now."""
        now = self._clock()
        with self._database.read() as connection:
            by_state = connection.execute(
                select(runs.c.automation, runs.c.state, func.count()).group_by(runs.c.state, runs.c.automation)
            ).all()
            lines = connection.execute(select(ticks.c.state, func.count()).group_by(ticks.c.state)).all()
            beats = connection.execute(select(runners.c.executor, runners.c.beat)).all()
            asked = connection.execute(
                select(func.count()).select_from(questions).where(questions.c.state == "open")
            ).scalar_one()
            outages = connection.execute(
                select(func.count()).select_from(incidents).where(incidents.c.closed_at.is_(None))
            ).scalar_one()
            successes = self._successes(connection)
        yield _gauge("runs", ("automation", "state"), [((row[0], row[1]), row[2]) for row in by_state])
        yield _gauge("ticks", ("state",), [((row[0],), row[1]) for row in lines])
        yield _gauge("runs_parked", (), [((), sum(row[2] for row in by_state if row[1] == "parked"))])
        yield _gauge("questions_open", (), [((), asked)])
        yield _gauge("incidents_open", (), [((), outages)])
        ages = [((row.executor,), max(0.0, now.timestamp() - row.beat)) for row in beats]
        yield _gauge("runner_beat_age_seconds", ("runner",), ages)
        yield _gauge("last_success_timestamp_seconds", ("automation",), [((name,), at) for name, at in successes])
        yield _gauge("loaded", (), [((), len(self._automations()))])
        endings = CounterMetricFamily(PREFIX + "runs_ended", NAMES["runs_ended"], labels=["automation", "state"])
        for (automation, state), count in sorted(self._ended.counts.items()):
            endings.add_metric([automation, state], count)
        yield endings
        yield self._ended.duration.family("run_duration_seconds")
        yield self._ended.lateness.family("lateness_seconds")

    def _successes(self, connection: Connection) -> list[tuple[str, float]]:
        """When each automation last ran well: read from all runs once, then from those that have ended since."""
        rows = self._ended.read_on(connection)
        if self._last_success is None:
            done = select(runs.c.automation, func.max(runs.c.ended_at)).where(runs.c.state == "done")
            found = connection.execute(done.group_by(runs.c.automation)).all()
            self._last_success = {row[0]: datetime.fromisoformat(row[1]).timestamp() for row in found if row[1]}
        for row in rows:
            if row.state == "done":
                self._last_success[row.automation] = datetime.fromisoformat(row.ended_at).timestamp()
        return sorted(self._last_success.items())


def _gauge(name: str, labels: tuple[str, ...], values: Sequence[tuple[tuple[str, ...], float]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, NAMES[name], labels=labels)
    for own, value in values:
        family.add_metric(own, value)
    return family
