"""Ticks at their time: the only place that imports APScheduler, which fires and does nothing more.

APScheduler's own cron triggers are not used (theirs is no cron): its times come from triggers.py. Its jobs never run
either: the executor hands on the times at which they were due, all of them, however late the loop was.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from automations.ports import Clock
from automations.triggers import AnyTrigger, Tick, ticks

if TYPE_CHECKING:

    class BaseTrigger:
        """APScheduler has no types; this is what is used of it."""

    class BaseExecutor:
        def __init__(self) -> None: ...
        def _run_job_success(self, job_id: str, events: list[Any]) -> None: ...

else:
    from apscheduler.executors.base import BaseExecutor
    from apscheduler.triggers.base import BaseTrigger

log = logging.getLogger(__name__)

Due = Callable[[str, Tick], None]
"""Told the name of an automation and its tick, on the loop's thread."""


class _Times(BaseTrigger):
    """The times of an automation, from its own triggers."""

    def __init__(self, triggers: Sequence[AnyTrigger], zone: str) -> None:
        self.triggers = triggers
        self.zone = zone

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        try:
            tick = next(ticks(self.triggers, previous_fire_time or now, self.zone), None)
        except Exception:  # an exception here would end the ticks of all automations
            log.exception("the times of a trigger cannot be told: it comes no more until it is loaded anew")
            return None
        return tick.at if tick else None

    def tick(self, at: datetime) -> Tick:
        """The tick of a time that was given here, with its trigger's zone."""
        return next(ticks(self.triggers, at - timedelta(seconds=1), self.zone))


class _Executor(BaseExecutor):
    """Hands on when jobs were due, and says at once that they are done."""

    def __init__(self, due: Due) -> None:
        super().__init__()
        self._due = due

    def _do_submit_job(self, job: Any, run_times: Sequence[datetime]) -> None:
        for at in run_times:
            self._due(job.id, job.trigger.tick(at.astimezone(UTC)))
        self._run_job_success(job.id, [])


def _never() -> None:
    """The function of every job: APScheduler wants one."""


def _now() -> datetime:
    return datetime.now(UTC)


class Schedule:
    """Calls `due` for every tick of what was added, from its start to its stop, on the running loop."""

    def __init__(self, due: Due, clock: Clock = _now) -> None:
        from apscheduler.jobstores.memory import MemoryJobStore
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._due = due
        self._clock = clock
        self._jobs: dict[str, Any] = {}
        self._scheduler: Any = AsyncIOScheduler(
            timezone=UTC, jobstores={"default": MemoryJobStore()}, executors={"default": _Executor(due)}
        )

    def add(self, name: str, triggers: Sequence[AnyTrigger], zone: str, after: datetime) -> None:
        """Ticks of an automation from the first after a moment; those gone by come at once. One of that name that is
        there is replaced."""
        self.remove(name)
        first = next(ticks(triggers, after, zone), None)
        if first is not None:
            self._jobs[name] = self._scheduler.add_job(
                _never,
                trigger=_Times(triggers, zone),
                id=name,
                next_run_time=first.at,
                misfire_grace_time=None,
                coalesce=False,
                max_instances=1,
            )

    def replace(self, name: str, triggers: Sequence[AnyTrigger], zone: str, after: datetime) -> None:
        """The same as `add`, said of an automation that has changed."""
        self.add(name, triggers, zone, after)

    def remove(self, name: str) -> None:
        """No more ticks of an automation. Those whose time has come and that the loop was too busy for are handed on
        first: a change of its file loses none."""
        from apscheduler.jobstores.base import JobLookupError

        job = self._jobs.pop(name, None)
        if job is None:
            return
        try:
            self._scheduler.remove_job(name)
        except JobLookupError:
            return  # its last tick has come
        now = self._clock()
        coming = ticks(job.trigger.triggers, job.next_run_time - timedelta(seconds=1), job.trigger.zone)
        for tick in takewhile(lambda tick: tick.at <= now, coming):
            self._due(name, tick)

    def look(self) -> None:
        """Looks at the clock anew: it may have been set, or the machine may have slept, which timers do not notice."""
        self._scheduler.wakeup()

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        self._scheduler.shutdown(wait=False)
