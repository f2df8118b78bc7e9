"""What people ask of automations from other processes: the bot, the ops page, the shell. A runner does what is asked.

answer       answers a question; the run that waits for it is woken
ask_for_run  begins a run of an automation as it is in force
cancel       ends a run: at once where it waits, before its next step where it is under way
resume       goes on with a run that failed or stopped, or from one of its steps on
undo         does the `undo` steps of a finished run
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from automations.definition import definition_of
from automations.engine import ENDED, Cause
from automations.errors import NotResumable, UnknownAutomation, UnknownRun
from automations.ledger import Ledger, LedgerLine, RunLine, end_run
from automations.ports import Clock
from automations.questions import Answered, QuestionLine, Questions
from automations.records import open_ledger
from automations.resuming import refuse_to_resume, undo_line
from automations.tables import runners
from automations.triggers import utc_text
from automations.versions import Version, Versions


@dataclass(frozen=True, slots=True)
class Runnable:
    """An automation that people may run: the words that start it in chat, none where it has no such trigger, and who
    may (user ids and roles); None: those of `@ops`."""

    name: str
    description: str
    chat: tuple[str, ...]
    people: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Alive:
    """A process that runs automations: its name, and how many seconds ago it was last heard of."""

    executor: str
    seconds: float


class Control:
    """Acts on the ledger's database. Close it, or use it as a context manager."""

    def __init__(self, data: Path, database_url: str | None, clock: Clock) -> None:
        self._database = open_ledger(data, database_url)
        self._clock = clock
        self.ledger = Ledger(self._database)
        self._questions = Questions(self._database)
        self._versions = Versions(self._database)

    # Questions

    async def answer(self, key: str, option: str, by: str) -> Answered:
        """Answers a question; the first answer counts. Whether `by` may, is for the caller to know."""
        return await self._questions.answer(key, option, by, self._clock())

    def open_questions(self) -> list[QuestionLine]:
        """The questions that wait for an answer, the oldest first."""
        return self._questions.open()

    def question(self, key: str) -> QuestionLine | None:
        return self._questions.one(key)

    # Runs

    def runnable(self) -> list[Runnable]:
        """The automations in force, by name."""
        found: list[Runnable] = []
        for version in self._versions.newest():
            definition = definition_of(version.data)
            words = tuple(str(word) for word in (getattr(one, "chat", None) for one in definition.trigger) if word)
            people = None if definition.people is None else tuple(definition.people)
            found.append(Runnable(version.automation, definition.description, words, people))
        return sorted(found, key=lambda one: one.name)

    def _in_force(self, name: str) -> Version:
        versions = {version.automation: version for version in self._versions.newest()}
        if name not in versions:
            raise UnknownAutomation(name, versions)
        return versions[name]

    async def ask_for_run(
        self,
        name: str,
        by: str,
        cause: Cause = Cause.MANUAL,
        values: Mapping[str, Any] | None = None,
        once: str | None = None,
    ) -> str:
        """The id of a new run, which a runner takes up. Raises UnknownAutomation.

        `once`: a name of the asking; what is asked for under the same one again is the same run.
        """
        version = self._in_force(name)
        now = self._clock()
        zones = (getattr(one, "timezone", None) for one in definition_of(version.data).trigger)
        zone = next((zone for zone in zones if zone), None) or "UTC"
        details = {"by": by, **({"vars": dict(values)} if values else {})}
        asking = once or f"{now:%Y-%m-%dT%H:%M:%S.%f}Z"
        line = LedgerLine(name, utc_text(now), zone, "due", "", f"{cause.value}-{asking}", cause, details)
        return (await self.ledger.enter(line, version.digest, now, claimed=False)).run_id

    def _run(self, run_id: str) -> RunLine:
        line = self.ledger.run(run_id)
        if line is None:
            raise UnknownRun(run_id)
        return line

    async def cancel(self, run_id: str, by: str) -> None:
        """Ends a run. Raises UnknownRun, or NotResumable where it has ended."""
        line = self._run(run_id)
        if line.state in ENDED:
            raise NotResumable(f"{run_id} is {line.state} already")
        now = self._clock()
        await self._database.write(lambda connection: end_run(connection, run_id, f"by {by}", now))

    async def resume(self, run_id: str, by: str, *, again: bool = False, from_step: str | None = None) -> None:  # noqa: ARG002 - told to the log of whoever calls
        """Goes on with a run. Raises UnknownRun, or NotResumable with what to do."""
        line = self._run(run_id)
        refuse_to_resume(line, again=again, from_step=from_step)
        wanted = f"from:{from_step}" if from_step else "again" if again else "resume"
        if not await self.ledger.want(run_id, wanted, ["done", "failed", "stopped", "cancelled"]):
            raise NotResumable(f"{run_id} is under way")

    async def undo(self, run_id: str, by: str) -> str:
        """The id of the run that undoes another one. Raises UnknownRun or NotResumable."""
        original = self._run(run_id)
        line = undo_line(original, by)
        return (await self.ledger.enter(line, original.digest, self._clock(), claimed=False)).run_id

    def alive(self) -> list[Alive]:
        """The processes that run automations, as far as they have told."""
        now = self._clock().timestamp()
        with self._database.read() as connection:
            rows = connection.execute(select(runners.c.executor, runners.c.beat)).all()
        return sorted((Alive(row.executor, max(0.0, now - row.beat)) for row in rows), key=lambda one: one.seconds)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> "Control":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
