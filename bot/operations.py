"""Makes intended calls, once each, and finds out what became of those whose answer was lost.

```
open ─► commit "sending" ─► call with the person's own key ─► Done ─► done
                                                            ├► Refused, NotSent ─► refused
                                                            └► Unknown ─► read back, for ten minutes at the most
                                                                  └► something else is there ─► a person decides
```
Each outcome goes to the intent's dialogue, which shows it; the card, the intent's new state and the line in the audit
are committed together.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial

from markupsafe import escape
from pydantic_core import from_json
from sqlalchemy import Connection

from bot import audit, cards, intents, people, write_lock
from bot.cards import View
from bot.desk import Desk, Refusal, Turn
from bot.dialogue import Dialogue
from bot.intents import CHECKS, HELD, Intent, Settled, State
from bot.vault import VaultError
from workspace_api import AsyncWorkspace, Done, NotSent, Refused, Unknown, WorkspaceError, find

log = logging.getLogger("bot.operations")


STALE = 600.0
"""Seconds after which a call that was asked for and never made is not made any more."""

GATHER = 0.01
"""Seconds between two looks at the table."""

RECHECK = 0.5
"""Seconds between two looks at the table where nothing wakes the loop earlier."""


class Operations:
    """The loop that makes the calls. `lock(telegram_id)` keeps one person's changes in order."""

    def __init__(
        self,
        desk: Desk,
        dialogues: Mapping[str, Dialogue],
        lock: Callable[[int], AbstractAsyncContextManager[object]],
    ) -> None:
        self._desk = desk
        self._dialogues = dialogues
        self._lock = lock
        self._wake = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    def under_way(self) -> list[asyncio.Task[None]]:
        """What is being made or read back at this moment."""
        return list(self._running.values())

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: makes what is due. Starts with what the last process left under way.

        Cancelled, it ends at once; what was being sent is unknown then, and read back by whoever goes on.
        """
        await self._desk.db.write(lambda connection: intents.interrupted(connection, self._desk.now()))
        try:
            await self._until(stop)
            await asyncio.gather(*self._running.values(), return_exceptions=True)
        finally:
            running = self.under_way()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._wake.clear()
            with self._desk.db.read() as connection:
                found = intents.due(connection, self._desk.now())
            for intent in found:
                if intent.id not in self._running:
                    task = asyncio.create_task(self._handle(intent))
                    self._running[intent.id] = task
                    task.add_done_callback(partial(self._ended, intent.id))
            try:
                async with asyncio.timeout(RECHECK):
                    await self._wake.wait()
            except TimeoutError:
                continue
            # A crowd's taps wake this loop for each: one look serves all that came meanwhile.
            await asyncio.sleep(GATHER)

    def _ended(self, intent_id: str, _task: asyncio.Task[None]) -> None:
        self._running.pop(intent_id, None)

    async def _handle(self, intent: Intent) -> None:
        try:
            if intent.state == "open":
                await self._make(intent)
            else:
                await self._read_back(intent)
        except Exception:
            # The loop goes on for everybody else; what may have been sent is unknown from here, never sent again.
            log.exception("intent %s (%s) failed", intent.id, intent.operation)
            now = self._desk.now()
            later = now + CHECKS[min(intent.checks, len(CHECKS) - 1)]
            await self._desk.db.write(lambda connection: intents.put_off(connection, intent.id, now, later))

    async def _make(self, intent: Intent) -> None:
        with self._desk.db.read() as connection:
            person = people.find(connection, intent.telegram_id)
        api = None if person is None else self._api(person, intent)
        words = self._desk.texts(self._desk.house.language if person is None else person.language)
        if api is None or person is None or person.user_id != intent.user_id:
            # Whoever is linked now did not ask for this.
            await self._settle(
                intent,
                "refused",
                Settled("refused", words.t("You were unlinked before it was sent. Nothing was done.")),
                "not linked any more",
            )
            return
        if self._desk.now() - intent.created_at > STALE:
            await self._settle(
                intent,
                "refused",
                Settled("refused", words.t("It could not be sent in time. Nothing was done; do it again.")),
                "too late",
            )
            return
        with self._desk.db.read() as connection:
            sentence = write_lock.locked(connection, self._desk.house)
        if sentence is not None:
            await self._settle(intent, "refused", Settled("refused", words.t(sentence)), "writes are locked")
            return
        call = find(intent.operation).call(intent.body)
        if not await self._begin(intent):
            return
        outcome = await api.with_options(idempotency_key=intent.id).attempt_raw(call)
        if isinstance(outcome, Done):
            data = from_json(outcome.data.body)["data"]
            await self._settle(intent, "done", Settled("done", data=data))
        elif isinstance(outcome, Refused):
            await self._settle(intent, "refused", Settled("refused", outcome.message), outcome.code)
        elif isinstance(outcome, NotSent):
            await self._settle(intent, "refused", Settled("refused", outcome.reason), "not_sent")
        else:
            await self._unknown(intent, outcome)

    def _api(self, person: people.Person, intent: Intent) -> AsyncWorkspace | None:
        """With whose key: the person's own, or the service's where the intent says so and its policy still does."""
        if intent.key_kind == "own":
            return self._desk.api(person)
        return self._desk.service if self._desk.house.act_as == "log" else None

    async def _begin(self, intent: Intent) -> bool:
        """Commits "sending"; false where another process has begun."""
        now = self._desk.now()
        begun: tuple[State, ...] = ("sending", "unknown", "done", "refused", "not_seen", "held")
        return await self._desk.db.write(
            lambda connection: intents.move(connection, intent.id, "sending", now, unless=begun)
        )

    async def _unknown(self, intent: Intent, outcome: Unknown) -> None:
        log.warning("intent %s (%s): outcome unknown: %s", intent.id, intent.operation, outcome.reason)
        due_at = self._desk.now() + CHECKS[0]
        await self._settle(intent, "unknown", Settled("checking", outcome.reason), outcome.reason, due_at=due_at)

    async def _read_back(self, intent: Intent) -> None:
        given_up: State = "held" if intent.operation in HELD else "not_seen"
        with self._desk.db.read() as connection:
            person = people.find(connection, intent.telegram_id)
        if person is None or person.user_id != intent.user_id:
            await self._settle(intent, given_up, Settled("not_seen"), "not linked any more")
            return
        turn = self._turn(person)
        try:
            verdict = await self._dialogues[intent.dialogue].read_back(turn, intent)
        except (WorkspaceError, Refusal, VaultError) as error:
            log.warning("intent %s cannot be read back yet: %s", intent.id, error)
            verdict = intents.Verdict(None)
        if verdict.seen:
            await self._settle(intent, "done", Settled("done", data=verdict.data), "read back")
        elif verdict.decide is not None:
            await self._settle(intent, given_up, Settled("decide", verdict.decide, verdict.data), verdict.decide)
        elif intent.checks + 1 >= len(CHECKS):
            await self._settle(intent, given_up, Settled("not_seen"))
        else:
            if not intent.checks:
                # Where the process died in the middle, the card still says that work is under way.
                await self._settle(intent, "unknown", Settled("checking"), "looked for, not seen yet")
            due_at = self._desk.now() + CHECKS[intent.checks + 1]
            await self._move(intent, "unknown", due_at=due_at, checks=intent.checks + 1)

    def _turn(self, person: people.Person) -> Turn:
        texts = self._desk.texts_of(person)
        return Turn(self._desk, person.telegram_id, person.telegram_id, texts, person)

    async def _move(self, intent: Intent, to: State, *, due_at: float | None = None, checks: int | None = None) -> bool:
        now = self._desk.now()
        return await self._desk.db.write(
            lambda connection: intents.move(connection, intent.id, to, now, due_at=due_at, checks=checks)
        )

    def _line(self, intent: Intent, to: State, settled: Settled, note: str | None) -> audit.Entry:
        return audit.Entry(
            self._desk.now(),
            intent.user_id,
            to,
            audit.subject_of(intent.subject, intent.operation, settled.data),
            intent.telegram_id,
            intent.key_kind,
            intent.operation,
            intent.id,
            before=intent.before,
            after=settled.data,
            note=note or settled.message,
        )

    async def _settle(
        self, intent: Intent, to: State, settled: Settled, note: str | None = None, *, due_at: float | None = None
    ) -> None:
        """Shows the outcome and commits it; a dialogue that cannot show it does not lose it."""
        async with self._lock(intent.telegram_id):
            with self._desk.db.read() as connection:
                person = people.find(connection, intent.telegram_id)
                card = cards.load(connection, intent.card_id)
            turn = self._turn(person) if person is not None else None
            if turn is not None and card is not None:
                turn.chat_id = card.chat_id
                try:
                    await self._dialogues[intent.dialogue].settled(turn, card, intent, settled)
                except (WorkspaceError, Refusal, VaultError) as error:
                    log.warning("intent %s is %s; its card cannot be shown afresh: %s", intent.id, to, error)
                    turn = self._turn(person) if person is not None else turn
                    turn.show(card, View(escape(in_words(turn, settled))))
                except Exception:
                    # Whatever is wrong with the card: what became of the call must not be lost with it.
                    log.exception("intent %s is %s; its card cannot be shown", intent.id, to)
                    turn = self._turn(person) if person is not None else turn
                    turn.show(card, View(escape(in_words(turn, settled))))

            def commit(connection: Connection) -> None:
                moved = intents.move(connection, intent.id, to, self._desk.now(), note=note, due_at=due_at)
                if moved:
                    audit.note(connection, self._line(intent, to, settled, note))
                if moved and turn is not None:
                    turn.write(connection)

            await self._desk.db.write(commit)


def in_words(turn: Turn, settled: Settled) -> str:
    """An outcome as one sentence, for a card that cannot be shown in full now."""
    if settled.kind == "done":
        return turn.t("Done. The workspace does not answer right now, so the details come later.")
    if settled.kind == "refused":
        return turn.t("The workspace refused: %(why)s", why=settled.message)
    if settled.kind == "checking":
        return turn.t("The workspace has not confirmed it yet. I am checking; do not do it again.")
    if settled.kind == "decide":
        return settled.message
    return turn.t("It was not seen in the workspace. Check there before you do it again.")
