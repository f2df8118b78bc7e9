"""What a run keeps beside its journal, on the ledger's database: questions, values of diffs, runs of others."""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select

from automations.definition import Automation
from automations.engine import Cause, RunHistory
from automations.errors import StepFailed, did_you_mean
from automations.ledger import CHILD, Ledger, LedgerLine, exact_text, insert_new
from automations.ports import Answer, Clock, Messenger, Question
from automations.questions import Questions, answer_of
from automations.tables import runs, values
from automations.triggers import utc_text
from automations.values import decode, encode

DEEPEST = 5
"""Runs of runs: how far one automation may run another that runs another."""


class LedgerDesk:
    """The Desk of ports.py. `find` gives the automation of a name as it is now, `names` all of them."""

    def __init__(
        self,
        ledger: Ledger,
        history: RunHistory,
        messenger: Messenger,
        clock: Clock,
        automations: Callable[[], Mapping[str, Automation]],
        zone: str,
    ) -> None:
        self._ledger = ledger
        self._history = history
        self._messenger = messenger
        self._clock = clock
        self._automations = automations
        self._zone = zone
        self._questions = Questions(ledger.database)

    async def ask(self, run_id: str, to: str, question: Question) -> Answer | None:
        line = await self._questions.keep(run_id, to, question, self._clock())
        answer = answer_of(line)
        if answer is None:
            # After it is kept: an answer that comes at once finds the question. A second one is not delivered.
            await self._messenger.ask(to, question)
        return answer

    async def asked_of(self, key: str) -> str | None:
        line = self._questions.one(key)
        return line.asked_of if line is not None and line.state in {"open", "answered"} else None

    async def last_value(self, automation: str, name: str, run_id: str) -> tuple[bool, Any]:
        query = (
            select(values.c.value)
            .join(runs, runs.c.run_id == values.c.run_id)
            .where(values.c.automation == automation, values.c.name == name)
            .where(values.c.run_id != run_id, runs.c.state == "done")
            .order_by(values.c.kept_at.desc())
            .limit(1)
        )
        with self._ledger.database.read() as connection:
            row = connection.execute(query).first()
        return (False, None) if row is None else (True, decode(json.loads(row.value)))

    async def keep_value(self, automation: str, name: str, run_id: str, value: Any) -> None:
        text = json.dumps(encode(value), ensure_ascii=False)
        moment = exact_text(self._clock())
        row = {"automation": automation, "name": name, "run_id": run_id, "value": text, "kept_at": moment}

        def job(connection: Connection) -> None:
            own = (values.c.automation == automation, values.c.name == name, values.c.run_id == run_id)
            connection.execute(values.delete().where(*own))
            insert_new(connection, values, [row])
            # The last few are enough: the newest of a run that ended well counts.
            older = select(values.c.run_id).where(*own[:2]).order_by(values.c.kept_at.desc()).offset(20)
            connection.execute(values.delete().where(*own[:2], values.c.run_id.in_(older.scalar_subquery())))

        await self._ledger.database.write(job)

    async def run_child(
        self, automation: str, parent: str, step: str, values: Mapping[str, Any]
    ) -> tuple[str, str, str | None]:
        # Of one length however deep runs run each other; the same each time this step asks.
        run_id = f"{automation}{CHILD}{sha256(step.encode()).hexdigest()[:20]}"
        line = self._ledger.run(run_id)
        if line is None:
            known = self._automations()
            if automation not in known:
                raise StepFailed(f"{automation} is no automation here{did_you_mean(automation, known)}")
            chain = self._chain(parent)
            if automation in chain or len(chain) > DEEPEST:
                raise StepFailed(f"runs run each other: {' → '.join([*reversed(chain), automation])}")
            now = self._clock()
            details = {"vars": encode(values), "parent": parent}
            occasion = run_id.removeprefix(f"{automation}:")
            due = LedgerLine(automation, utc_text(now), self._zone, "due", "", occasion, Cause.RUN, details)
            await self._ledger.enter(due, known[automation].digest, now, claimed=False)
            line = self._ledger.run(run_id)
        assert line is not None
        return run_id, line.state, line.message

    def _chain(self, run_id: str) -> list[str]:
        """The automations that wait for this run, itself first."""
        chain: list[str] = []
        parent: str | None = run_id
        while parent is not None and len(chain) <= DEEPEST:
            line = self._ledger.run(parent)
            if line is None:
                break
            chain.append(line.automation)
            parent = line.details.get("parent")
        return chain

    async def recorded(self, run_id: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        return [(record.name, record.output) for record in self._history.steps(run_id)]


class NothingKept:
    """The desk of a plan where nothing has run yet."""

    async def ask(self, run_id: str, to: str, question: Question) -> Answer | None:  # noqa: ARG002 - the shape of a Desk
        return None

    async def asked_of(self, key: str) -> str | None:  # noqa: ARG002 - the same
        return None

    async def last_value(self, automation: str, name: str, run_id: str) -> tuple[bool, Any]:  # noqa: ARG002 - the same
        return False, None

    async def keep_value(self, automation: str, name: str, run_id: str, value: Any) -> None:
        """A plan keeps nothing."""

    async def run_child(
        self,
        automation: str,
        parent: str,  # noqa: ARG002 - the same
        step: str,  # noqa: ARG002 - the same
        values: Mapping[str, Any],  # noqa: ARG002 - the same
    ) -> tuple[str, str, str | None]:
        raise StepFailed(f"{automation} is not run by a plan")

    async def recorded(self, run_id: str) -> Sequence[tuple[str, Mapping[str, Any]]]:  # noqa: ARG002 - the same
        return []


class Looking(NothingKept):
    """The desk of a plan: it sees what earlier runs have kept, and keeps nothing itself."""

    def __init__(self, past: LedgerDesk) -> None:
        self._past = past

    async def last_value(self, automation: str, name: str, run_id: str) -> tuple[bool, Any]:
        return await self._past.last_value(automation, name, run_id)
