"""Questions that runs ask of people, and their answers.

open ─┬─► answered   the first answer that comes; the run is woken in the same transaction
      ├─► expired    at the deadline: the default is the answer       ─► open again, where the run is gone on with
      └─► withdrawn  the run has ended without it                     ─►   and there is time
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, select, update

from automations.ledger import insert_new, wake
from automations.ports import Answer, Question
from automations.tables import questions, runs
from automations.triggers import utc_text
from storage import Database


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question as it is kept; moments are texts in UTC."""

    key: str
    run_id: str
    automation: str
    asked_of: str
    text: str
    options: tuple[str, ...]
    default: str | None
    asked_at: str
    deadline: str | None
    state: str
    answer: str | None
    answered_by: str | None
    answered_at: str | None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "options": list(self.options)}


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of an answer.

    `taken`: it counts · `before`: somebody was quicker, `option` and `by` say who · `late`: the time is over ·
    `gone`: there is no such question, or its run has ended · `no option`: it is none of the options.
    """

    state: Literal["taken", "before", "late", "gone", "no option"]
    option: str | None = None
    by: str = ""
    at: str = ""


def _line(row: Any) -> QuestionLine:
    values: dict[str, Any] = {name: getattr(row, name) for name in QuestionLine.__slots__}
    values["options"] = tuple(json.loads(row.options))
    return QuestionLine(**values)


class Questions:
    """Reads and writes questions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, run_id: str, to: str, question: Question, now: datetime) -> QuestionLine:
        """Keeps a question, unless it is there, and gives it as it is kept; past its deadline it is closed.

        One that was closed without an answer is open again where there is time: its run was gone on with.
        """
        row = {
            "key": question.key,
            "run_id": run_id,
            "automation": question.automation,
            "asked_of": to,
            "text": question.text,
            "options": json.dumps(question.options),
            "default": question.default,
            "asked_at": utc_text(now),
            "deadline": utc_text(question.deadline) if question.deadline else None,
            "state": "open",
        }

        def job(connection: Connection) -> QuestionLine:
            insert_new(connection, questions, [row])
            own = questions.c.key == question.key
            unanswered = questions.c.state.in_(["withdrawn", "expired"])
            if question.deadline is None or now < question.deadline:
                anew = {**row, "answer": None, "answered_at": None}
                connection.execute(update(questions).where(own, unanswered).values(anew))
            if question.deadline is not None and now >= question.deadline:
                late = {"state": "expired", "answer": questions.c.default, "answered_at": utc_text(now)}
                connection.execute(update(questions).where(own, questions.c.state == "open").values(late))
            return _line(connection.execute(select(questions).where(own)).one())

        return await self._database.write(job)

    async def answer(self, key: str, option: str, by: str, now: datetime) -> Answered:
        """Answers a question; the first answer counts."""

        def job(connection: Connection) -> Answered:
            own = questions.c.key == key
            row = connection.execute(select(questions).where(own).with_for_update()).first()
            if row is None or row.state == "withdrawn":
                return Answered("gone")
            if row.state == "answered":
                return Answered("before", row.answer, row.answered_by or "", row.answered_at or "")
            if row.state == "expired" or (row.deadline is not None and utc_text(now) >= row.deadline):
                return Answered("late", row.default)
            if option not in json.loads(row.options):
                return Answered("no option")
            at = utc_text(now)
            given = {"state": "answered", "answer": option, "answered_by": by, "answered_at": at}
            connection.execute(update(questions).where(own).values(given))
            wake(connection, runs.c.wake_on == f"question:{key}")
            return Answered("taken", option, by, at)

        return await self._database.write(job)

    def open(self) -> list[QuestionLine]:
        """The questions that wait for an answer, the oldest first."""
        query = select(questions).where(questions.c.state == "open").order_by(questions.c.asked_at)
        with self._database.read() as connection:
            return [_line(row) for row in connection.execute(query)]

    def of_run(self, run_id: str) -> list[QuestionLine]:
        query = select(questions).where(questions.c.run_id == run_id).order_by(questions.c.asked_at)
        with self._database.read() as connection:
            return [_line(row) for row in connection.execute(query)]

    def one(self, key: str) -> QuestionLine | None:
        with self._database.read() as connection:
            row = connection.execute(select(questions).where(questions.c.key == key)).first()
        return _line(row) if row else None


def answer_of(line: QuestionLine) -> Answer | None:
    """What a question that is kept has come to; None while it is open."""
    if line.state == "open":
        return None
    timed_out = line.state != "answered"
    return Answer(line.answer, line.answered_by or "", line.answered_at or "", timed_out)
