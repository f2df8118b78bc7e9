"""The ledger: every time that an automation was due, what became of it, and every run.

```
tick, event ─► due ─► dispatch ─┬─► started, late ─► run: asked ─► waiting ─► running ─┬─► done, failed, stopped …
                                ├─► skipped, with the reason     ▲                     └─► parked ─┐
                                └─► lost: too old                └── woken by an answer, a time or a run
```
A tick is in the ledger before its run is asked for, and the run before the engine knows it, each in one transaction: a
process that dies in between leaves it where the next one finds it, and the run's id makes asking twice harmless.
questions.py has what runs ask of people, and versions.py the versions of definitions.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select, text, update

from automations.engine import ENDED, Cause, RunState
from automations.lines import (
    Dispatched,
    LedgerLine,
    Order,
    Rule,
    RunLine,
    enter_runs,
    exact_text,
    insert_new,
    line_of,
    new_run,
    run_of,
    wake,
)
from automations.tables import metadata, questions, runs, schedules, ticks
from automations.triggers import utc_text
from storage import Database

__all__ = [
    "ACTIVE", "CHILD", "Dispatched", "Ledger", "LedgerLine", "Order", "Rule", "RunLine", "end_run", "enter",
    "enter_runs", "exact_text", "insert_new", "metadata", "new_run", "wake",
]  # fmt: skip

LATE = timedelta(seconds=60)
"""A run that is asked for later than this after its tick is late."""
GONE = timedelta(minutes=5)
"""How long a tick waits for a runner that knows its automation: another one may have read a newer file already."""
CLAIM = timedelta(seconds=20)
"""How long a runner that has claimed an order is left to carry it out, before another one takes it up."""
DISPATCH_LOCK = 0x7469_636B
"""The key of PostgreSQL's advisory lock under which ticks are dispatched: one process at a time."""
NOTHING_WANTED = {"wanted": None, "claimed_at": None, "wake_at": None, "wake_on": None}
CHILD = ":run-"
"""What the id of a run has in it that another run asked for, and waits for."""
MOST_ORDERS = 500
"""Orders that one look takes."""
ACTIVE = ("asked", "waiting", "running", "parked")


class Ledger:
    """Reads and writes the ledger."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # Ticks

    async def considered(self, triggers: Mapping[str, Any], now: datetime) -> dict[str, datetime]:
        """The moments up to which automations' ticks are in the ledger. A new or changed trigger begins now: it missed
        nothing."""
        texts = {name: json.dumps(trigger, sort_keys=True) for name, trigger in triggers.items()}
        moment = utc_text(now)

        def job(connection: Connection) -> dict[str, str]:
            rows = connection.execute(select(schedules)).all()
            known = {row.automation: row for row in rows}
            new = [
                {"automation": name, "trigger": trigger, "considered": moment}
                for name, trigger in texts.items()
                if name not in known
            ]
            insert_new(connection, schedules, new)
            for name, trigger in texts.items():
                if name in known and known[name].trigger != trigger:
                    own = schedules.c.automation == name
                    connection.execute(update(schedules).where(own).values(trigger=trigger, considered=moment))
            return {
                name: known[name].considered if name in known and known[name].trigger == trigger else moment
                for name, trigger in texts.items()
            }

        found = await self.database.write(job)
        return {name: datetime.fromisoformat(text) for name, text in found.items()}

    async def record(self, lines: Sequence[LedgerLine], now: datetime) -> None:
        """Enters ticks, and that their automations' ticks up to the newest of them are entered."""
        if lines:
            await self.database.write(lambda connection: enter(connection, lines, now))

    async def settle(self, lines: Sequence[LedgerLine], state: str, reason: str = "") -> None:
        """Says of due ticks what became of them."""

        def job(connection: Connection) -> None:
            for line in lines:
                _settle(connection, line, state, reason)

        if lines:
            await self.database.write(job)

    def due(self) -> list[LedgerLine]:
        """Ticks whose runs have not been asked for."""
        return self._lines(select(ticks).where(ticks.c.state == "due").order_by(ticks.c.tick))

    def has_due(self) -> bool:
        """Whether there are any."""
        with self.database.read() as connection:
            return connection.execute(select(ticks.c.tick).where(ticks.c.state == "due").limit(1)).first() is not None

    def newest(self, automation: str | None, limit: int, states: Collection[str] | None = None) -> list[LedgerLine]:
        """The newest lines first."""
        query = select(ticks).order_by(ticks.c.tick.desc()).limit(limit)
        if automation is not None:
            query = query.where(ticks.c.automation == automation)
        return self._lines(query if states is None else query.where(ticks.c.state.in_(list(states))))

    def _lines(self, query: Any) -> list[LedgerLine]:
        with self.database.read() as connection:
            return [line_of(row) for row in connection.execute(query)]

    async def dispatch(self, rules: Mapping[str, Rule], now: datetime) -> Dispatched:
        """Settles due ticks, each by its automation's rule, and enters the runs that come of them, claimed by us."""
        return await self.database.write(lambda connection: _dispatch(connection, rules, now))

    # Runs

    async def enter(self, line: LedgerLine, digest: str, now: datetime, *, claimed: bool) -> RunLine:
        """Enters one run. `claimed`: this process begins it itself."""
        run = new_run(line, digest, now)
        await self.database.write(lambda connection: enter_runs(connection, [run], utc_text(now) if claimed else None))
        return run

    def run(self, run_id: str) -> RunLine | None:
        with self.database.read() as connection:
            row = connection.execute(select(runs).where(runs.c.run_id == run_id)).first()
        return run_of(row) if row else None

    def runs(
        self,
        automation: str | None = None,
        limit: int = 20,
        states: Collection[str] | None = None,
        before: str | None = None,
    ) -> list[RunLine]:
        """The newest runs first; `before`: asked for before that moment."""
        query = select(runs).order_by(runs.c.asked_at.desc(), runs.c.run_id.desc()).limit(limit)
        if automation is not None:
            query = query.where(runs.c.automation == automation)
        if states is not None:
            query = query.where(runs.c.state.in_(list(states)))
        if before is not None:
            query = query.where(runs.c.asked_at < before)
        with self.database.read() as connection:
            return [run_of(row) for row in connection.execute(query)]

    async def orders(self, now: datetime, mine: Callable[[RunLine], bool] | None = None) -> list[Order]:
        """What is wanted of runs and claimed by nobody, of all runs or of those that are mine; claims it."""
        free = (runs.c.claimed_at.is_(None)) | (runs.c.claimed_at < utc_text(now - CLAIM))
        conditions = (runs.c.wanted.is_not(None), runs.c.wanted != "cancel", free)

        def job(connection: Connection) -> list[Order]:
            query = select(runs).where(*conditions).order_by(runs.c.asked_at).limit(MOST_ORDERS)
            rows = connection.execute(query.with_for_update(skip_locked=True)).all()
            found = [Order(line, str(line.wanted)) for line in map(run_of, rows) if mine is None or mine(line)]
            ids = [order.run.run_id for order in found]
            connection.execute(update(runs).where(runs.c.run_id.in_(ids)).values(claimed_at=utc_text(now)))
            return found

        with self.database.read() as connection:
            some = connection.execute(select(runs.c.run_id).where(*conditions).limit(1)).first()
        return await self.database.write(job) if some else []

    async def carried_out(self, orders: Sequence[Order]) -> None:
        """Says that orders were carried out; one that has been followed by another meanwhile stays."""
        ids = [order.run.run_id for order in orders]
        if not ids:
            return

        def job(connection: Connection) -> None:
            for wanted in {order.wanted for order in orders}:
                some = [order.run.run_id for order in orders if order.wanted == wanted]
                same = (runs.c.run_id.in_(some), runs.c.wanted == wanted, runs.c.claimed_at.is_not(None))
                asked = (*same, runs.c.state == "asked")
                connection.execute(update(runs).where(*asked).values(state="waiting"))
                connection.execute(update(runs).where(*same).values(wanted=None, claimed_at=None))

        await self.database.write(job)

    async def put_back(self, orders: Sequence[Order]) -> None:
        """Lets go of orders that could not be carried out yet: the next look takes them up."""
        ids = [order.run.run_id for order in orders]
        if ids:
            own = (runs.c.run_id.in_(ids), runs.c.wanted.is_not(None))
            values = update(runs).where(*own).values(claimed_at=None)
            await self.database.write(lambda connection: connection.execute(values).rowcount)

    async def began(self, run_id: str, now: datetime) -> bool:
        """Says that a run is under way. False where it was cancelled, or is to be: then it is not to go on."""
        own = runs.c.run_id == run_id
        begun = {"state": "running", "begun_at": func.coalesce(runs.c.begun_at, exact_text(now))} | NOTHING_WANTED

        def job(connection: Connection) -> bool:
            free = (own, runs.c.state != "cancelled", (runs.c.wanted.is_(None)) | (runs.c.wanted != "cancel"))
            return connection.execute(update(runs).where(*free).values(begun)).rowcount == 1

        return await self.database.write(job)

    def to_cancel(self, run_ids: Collection[str]) -> set[str]:
        """Which of these runs are to end before their next step."""
        query = select(runs.c.run_id).where(runs.c.run_id.in_(list(run_ids)), runs.c.wanted == "cancel")
        with self.database.read() as connection:
            return {row.run_id for row in connection.execute(query)}

    async def ended(self, run_id: str, result: Mapping[str, Any], now: datetime) -> None:
        """Says how a go of a run ended: well, badly, or parked; wakes the run that waits for it."""
        await self.database.write(lambda connection: _ended(connection, run_id, result, now))

    async def wake_due(self, now: datetime) -> None:
        """Asks for the parked runs whose time has come."""
        come = runs.c.wake_at <= utc_text(now)
        with self.database.read() as connection:
            some = connection.execute(select(runs.c.run_id).where(runs.c.state == "parked", come).limit(1)).first()
        if some:
            await self.database.write(lambda connection: wake(connection, come))

    async def want(self, run_id: str, wanted: str, states: Collection[str]) -> bool:
        """Asks for a run in one of these states to be gone on with; false where it is in none of them."""

        def job(connection: Connection) -> bool:
            own = (runs.c.run_id == run_id, runs.c.state.in_(list(states)))
            values = NOTHING_WANTED | {"wanted": wanted, "state": "asked", "ended_at": None, "noticed_at": None}
            return connection.execute(update(runs).where(*own).values(values)).rowcount == 1

        return await self.database.write(job)


def enter(connection: Connection, lines: Sequence[LedgerLine], now: datetime) -> None:
    """Enters lines, and up to where their automations' ticks are entered."""
    rows = [
        {
            "automation": line.automation,
            "occasion": line.occasion or line.tick,
            "tick": line.tick,
            "zone": line.zone,
            "cause": line.cause,
            "state": line.state,
            "reason": line.reason,
            "details": json.dumps(dict(line.details)),
            "recorded_at": utc_text(now),
        }
        for line in lines
    ]
    insert_new(connection, ticks, rows)
    timed = [line for line in lines if line.cause == Cause.TICK]
    newest = {line.automation: line.tick for line in sorted(timed, key=lambda line: line.tick)}
    for automation, tick in newest.items():
        older = (schedules.c.automation == automation) & (schedules.c.considered < tick)
        connection.execute(update(schedules).where(older).values(considered=tick))


def _settle(connection: Connection, line: LedgerLine, state: str, reason: str) -> None:
    there = (
        ticks.c.automation == line.automation,
        ticks.c.occasion == (line.occasion or line.tick),
        ticks.c.state == "due",
    )
    connection.execute(update(ticks).where(*there).values(state=state, reason=reason))


def _dispatch(connection: Connection, rules: Mapping[str, Rule], now: datetime) -> Dispatched:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": DISPATCH_LOCK})
    due = [
        line_of(row) for row in connection.execute(select(ticks).where(ticks.c.state == "due").order_by(ticks.c.tick))
    ]
    under_way: dict[str, list[str]] = {}
    if due:
        query = select(runs.c.automation, runs.c.run_id).where(runs.c.state.in_(ACTIVE), runs.c.cause != Cause.UNDO)
        for row in connection.execute(query):
            under_way.setdefault(row.automation, []).append(row.run_id)
    newest = {line.automation: line for line in due}
    begin: list[RunLine] = []
    cancel: list[str] = []
    waiting = 0
    for line in due:
        rule = rules.get(line.automation)
        if rule is not None and rule.overlap == "restart" and newest[line.automation] is not line:
            _settle(connection, line, "skipped", "a newer tick takes its place")
            continue
        others = under_way.setdefault(line.automation, [])
        if rule is None and now - datetime.fromisoformat(line.tick) < GONE:
            waiting += 1
            continue
        if rule is None:
            _settle(connection, line, "skipped", "its automation is gone")
            continue
        # What was missed and is caught up is not dropped again: it waits its turn.
        if others and rule.overlap == "skip" and not line.reason:
            _settle(connection, line, "skipped", f"the run before was still under way ({others[-1]})")
            continue
        if others and rule.overlap == "restart":
            cancel += _end(connection, others, "a newer run takes its place", now)
            others[:] = [run_id for run_id in others if run_id not in cancel]
        if others and (rule.overlap != "parallel" or len(others) >= rule.at_once):
            waiting += 1
            continue
        late = bool(line.reason) or now - datetime.fromisoformat(line.tick) > LATE
        reason = line.reason or (f"asked for at {utc_text(now)}" if late else "")
        _settle(connection, line, "late" if late else "started", reason)
        begin.append(new_run(line, rule.digest, now))
        others.append(line.run_id)
    enter_runs(connection, begin, utc_text(now))
    return Dispatched(tuple(begin), tuple(cancel), waiting)


def _end(connection: Connection, run_ids: Collection[str], why: str, now: datetime) -> list[str]:
    """Ends runs: at once those that hold nothing, whose ids are returned; the others are asked to, and end before their
    next step."""
    ids = runs.c.run_id.in_(list(run_ids))
    idle = (ids, runs.c.state.in_(["asked", "waiting", "parked"]))
    ended = [row.run_id for row in connection.execute(select(runs.c.run_id).where(*idle).with_for_update())]
    values = {"state": "cancelled", "message": why, "ended_at": exact_text(now)} | NOTHING_WANTED
    connection.execute(update(runs).where(*idle).values(values))
    running = (ids, runs.c.state == "running")
    connection.execute(update(runs).where(*running).values(wanted="cancel", message=why))
    for run_id in ended:
        _let_go(connection, run_id)
    return ended


def end_run(connection: Connection, run_id: str, why: str, now: datetime) -> None:
    """Ends a run, or asks it to end before its next step."""
    _end(connection, [run_id], why, now)


def _let_go(connection: Connection, run_id: str, state: str = RunState.CANCELLED) -> None:
    """What waited for a run that has ended: the run that asked for it goes on, its questions are withdrawn."""
    # Nobody waits for others; a run that ended well has asked all that it wanted to. Two statements less for most.
    if CHILD in run_id:
        wake(connection, runs.c.wake_on == f"run:{run_id}")
    if state == RunState.DONE:
        return
    still = (questions.c.run_id == run_id, questions.c.state == "open")
    connection.execute(update(questions).where(*still).values(state="withdrawn"))


def _ended(connection: Connection, run_id: str, result: Mapping[str, Any], now: datetime) -> None:
    state = str(result["state"])
    own = (runs.c.run_id == run_id, runs.c.state != "cancelled")
    values: dict[str, Any] = {"state": state, "step": result.get("step"), "remark": result.get("remark")}
    if state != RunState.CANCELLED:
        values["message"] = result.get("message")
    if state == RunState.PARKED:
        # Asked to end while its last step began to wait: nobody would look at that wish again.
        to_end = (own[0], runs.c.state == "running", runs.c.wanted == "cancel")
        ending = {"state": "cancelled", "ended_at": exact_text(now)} | NOTHING_WANTED
        if connection.execute(update(runs).where(*to_end).values(ending)).rowcount:
            _let_go(connection, run_id)
            return
        until, on = result.get("until"), result.get("on")
        at = utc_text(datetime.fromisoformat(until) + timedelta(milliseconds=999)) if until else None
        connection.execute(update(runs).where(*own).values(**values, wake_at=at, wake_on=on))
        if on is not None and _has_come(connection, on):
            wake(connection, runs.c.run_id == run_id)
        return
    connection.execute(update(runs).where(*own).values(values | {"ended_at": exact_text(now)} | NOTHING_WANTED))
    if state in ENDED:
        _let_go(connection, run_id, state)


def _has_come(connection: Connection, on: str) -> bool:
    """Whether what a run is about to wait for came before it was parked.

    What comes in this very moment in another process is waited for, by its lock: it does not see yet that we wait.
    """
    kind, _, name = on.partition(":")
    if kind == "question":
        asked = select(questions.c.state).where(questions.c.key == name).with_for_update(read=True)
        row = connection.execute(asked).first()
        return row is not None and row.state != "open"
    row = connection.execute(select(runs.c.state).where(runs.c.run_id == name).with_for_update(read=True)).first()
    return row is not None and row.state in ENDED
