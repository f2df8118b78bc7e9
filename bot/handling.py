"""Handling what people did: updates from the inbox, in order per person, people in parallel, each to its dialogue.

inbox ─► the person's queue ─► Incoming ─► dialogue ─► a turn ─► committed together with the mark that it is done

Whatever fails ends in a sentence for the person; a fault of ours in an incident number, and a line for ops.
"""

import asyncio
import logging
import secrets
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from telegram import Bot, Update

from bot import cards, inbox, ops, people
from bot.budget import is_used_up
from bot.desk import Desk, Refusal, Turn
from bot.dialogues import BY_NAME, edited, route
from bot.dialogues.own_key import in_company, key_was_rejected
from bot.dialogues.questions import asked_in_group
from bot.groups import in_group
from bot.inbox import AlreadyHandled, InOrder
from bot.incoming import Incoming, Left, Said, Tapped
from bot.intents import AlreadyUnderWay
from bot.texts import Texts
from bot.updates import parse
from workspace_api import CallNotSent, CallUnknown, KeyRejected, PermissionDenied, WorkspaceError

log = logging.getLogger("bot.handling")

AT_ONCE = 16
"""How many people are handled at the same time."""

PAUSE = 0.5

GATHER = 0.02
"""Seconds between two looks at the inbox while there is much to do."""

LONGEST_HOLD, MOST_FAILURES = 60.0, 5

FRESH = 2.0
"""Seconds for which a card that was just shown is fresh enough for a tap on an older one."""


class Held(Exception):
    """The updates of one person wait: the first of them cannot be handled now."""


class Handling:
    """The loop over the inbox. `committed` is called after each update, since there may be something to send."""

    def __init__(
        self,
        bot: Bot,
        desk: Desk,
        locks: Callable[[int], AbstractAsyncContextManager[object]],
        committed: Callable[[], None],
    ) -> None:
        self._bot = bot
        self._desk = desk
        self._locks = locks
        self._committed = committed
        self._order = InOrder(desk.now)
        self._wake = asyncio.Event()
        self._queues: dict[int, asyncio.Task[None]] = {}
        self._failures: dict[int, int] = {}
        self._held: dict[int, float] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    def wake(self) -> None:
        """There may be something to handle."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: handles what is in the inbox. Cancelled, it ends at once: another bot goes on with it."""
        try:
            await self._until(stop)
            await asyncio.gather(*self._queues.values(), return_exceptions=True)
        finally:
            queues = list(self._queues.values())
            for task in queues:
                task.cancel()
            await asyncio.gather(*queues, return_exceptions=True)

    async def _until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._wake.clear()
            with self._desk.db.read() as connection:
                waiting = self._order.pending(connection)
            for queue, updates in waiting.items():
                if queue not in self._queues and self._held.get(queue, 0.0) <= self._desk.now():
                    self._queues[queue] = asyncio.create_task(self._handle_queue(queue, updates))
            try:
                async with asyncio.timeout(PAUSE):
                    await self._wake.wait()
            except TimeoutError:
                continue
            if self._queues:
                await asyncio.sleep(GATHER)

    async def _handle_queue(self, queue: int, updates: list[int]) -> None:
        try:
            async with self._places:
                for update_id in updates:
                    async with self._locks(queue):
                        await self._handle_or_hold(queue, update_id)
                    self._committed()
        except Held:
            log.warning("the updates of %s wait", queue)
        finally:
            del self._queues[queue]
            self._wake.set()

    async def _handle_or_hold(self, queue: int, update_id: int) -> None:
        """One update; where even its failure cannot be committed, its person's updates wait a little longer each time.

        An update that keeps failing is set aside, unless it is the database that fails.
        """
        try:
            await self.handle(update_id)
            self._failures.pop(queue, None)
        except Exception as error:
            failures = self._failures.get(queue, 0) + 1
            self._failures[queue] = failures
            self._held[queue] = self._desk.now() + min(LONGEST_HOLD, PAUSE * 2.0**failures)
            log.exception("update %s failed, for the %d. time", update_id, failures)
            if failures >= MOST_FAILURES and not isinstance(error, OperationalError):
                await self._desk.db.write(partial(inbox.park, update_id=update_id, note=type(error).__name__))
                self._failures.pop(queue, None)
                self._held.pop(queue, None)
                return
            raise Held from error

    async def handle(self, update_id: int) -> None:
        """One stored update, to its end: all it changes is committed with the mark that it is done."""
        with self._desk.db.read() as connection:
            raw = inbox.load(connection, update_id)
        if raw is None:
            return
        try:
            update = Update.de_json(raw, self._bot)
            incoming = parse(update)
        except Exception as error:  # noqa: BLE001 - whatever the library cannot read is set aside, the next ones go on
            log.warning("update %s cannot be read: %s", update_id, type(error).__name__)
            await self._desk.db.write(partial(inbox.park, update_id=update_id, note=type(error).__name__))
            return
        turn = None if incoming is None else self._turn(incoming)
        if incoming is not None and turn is not None:
            turn = await self._dispatch(turn, incoming)

        def commit(connection: Connection) -> None:
            if turn is not None:
                _let_in(connection, turn, incoming)
                turn.write(connection)
            inbox.done(connection, update_id)

        try:
            await self._desk.db.write(commit)
        except AlreadyHandled:
            log.info("update %s was handled by another bot", update_id)
        except AlreadyUnderWay:
            assert incoming is not None, "only a turn makes intents"
            again = self._turn(incoming)
            again.toast(again.t("This is already under way."))
            await self._desk.db.write(lambda connection: _finish(connection, again, update_id))

    def _turn(self, incoming: Incoming) -> Turn:
        with self._desk.db.read() as connection:
            person = people.find(connection, incoming.sender.telegram_id)
        if person is not None:
            texts = self._desk.texts_of(person)
        else:
            texts = self._desk.texts(incoming.sender.language or self._desk.house.language)
        return Turn(self._desk, incoming.chat_id, incoming.sender.telegram_id, texts, person, incoming)

    async def _dispatch(self, turn: Turn, incoming: Incoming) -> Turn:
        """Hands the update to its dialogue; a failure is told in words, in a fresh turn that changes nothing else."""
        try:
            await _route(turn, incoming)
        except Refusal as refusal:
            # Said in the person's language already, or a sentence of a part that does not know whom it talks to.
            sentence = str(refusal)
            return self._told(incoming, turn.t(sentence))
        except (CallNotSent, CallUnknown) as error:
            if is_used_up(error):
                words = turn.t(
                    "Too many calls to the workspace this minute. Nothing was changed; try again in a minute."
                )
                return self._told(incoming, words)
            log.warning("the workspace does not answer: %s", error)
            return self._told(
                incoming, turn.t("The workspace does not answer right now. Nothing was changed; try again soon.")
            )
        except KeyRejected:
            asking = self._turn(incoming)
            if await key_was_rejected(asking):
                return asking
            return self._told(incoming, turn.t("The workspace refused the key. Tell your administrator."))
        except PermissionDenied:
            return self._told(incoming, turn.t("You may not do this in the workspace."))
        except WorkspaceError as error:
            log.warning("the workspace refused: %s", error)
            return self._told(
                incoming, turn.t("The workspace refused: %(why)s", why=getattr(error, "message", str(error)))
            )
        except Exception as fault:
            # A fault of ours must end in a sentence for the person and a trace for ops, not in silence.
            incident = secrets.token_hex(3)
            log.exception("incident %s", incident)
            words = turn.t("Something went wrong here. Tell your administrator: incident %(id)s.", id=incident)
            told = self._told(incoming, words)
            told.change(partial(_report, desk=self._desk, incident=incident, what=_place(fault), who=_who(turn)))
            return told
        return turn

    def _told(self, incoming: Incoming, words: str) -> Turn:
        turn = self._turn(incoming)
        if isinstance(incoming, Tapped):
            turn.toast(words, alert=True)
        else:
            turn.say(turn.texts.html("%(words)s", words=words))
        return turn


def _report(connection: Connection, desk: Desk, incident: str, what: str, who: str) -> None:
    """Ops get where it happened and to whom; nothing of what was written, which may be a secret."""

    def words(texts: Texts) -> str:
        return texts.html(
            "🛠 <b>Incident %(id)s</b>: %(what)s, while handling what %(who)s did. The log has the trace.",
            id=incident,
            what=what,
            who=who,
        )

    ops.tell(connection, desk, words, f"incident:{incident}")


def _place(fault: Exception) -> str:
    """`KeyError in expenses.py:120`: the innermost line of ours."""
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "site-packages" not in frame.filename]
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(fault).__name__}{where}"


def _who(turn: Turn) -> str:
    return turn.person.name if turn.person is not None else str(turn.telegram_id)


def _let_in(connection: Connection, turn: Turn, incoming: Incoming | None) -> None:
    """Who writes has let the bot in again, also where Telegram's word of it was missed."""
    if turn.person is not None and turn.person.blocked and not isinstance(incoming, Left):
        people.mark(connection, turn.telegram_id, blocked=False)


def _finish(connection: Connection, turn: Turn, update_id: int) -> None:
    turn.write(connection)
    inbox.done(connection, update_id)


async def _route(turn: Turn, incoming: Incoming) -> None:
    """Which dialogue an update belongs to."""
    if isinstance(incoming, Left):
        turn.change(lambda connection: people.mark(connection, incoming.sender.telegram_id, blocked=incoming.blocked))
        return
    if not incoming.private:
        if isinstance(incoming, Tapped):
            heard = await asked_in_group(turn, incoming)
        else:
            heard = isinstance(incoming, Said) and await in_company(turn, incoming)
        if not heard:
            in_group(turn, incoming)
    elif isinstance(incoming, Tapped):
        await _tap(turn, incoming)
    elif isinstance(incoming, Said):
        await route(turn, incoming)
    else:
        await edited(turn, incoming)


async def _tap(turn: Turn, tap: Tapped) -> None:
    """A button: ours, this person's, and of the card's present version, or it only says why not."""
    with turn.desk.db.read() as connection:
        handle = cards.resolve(connection, tap.handle)
        card = None if handle is None else cards.load(connection, handle.card_id)
    if handle is None or card is None:
        turn.toast(turn.t("This button is out of date. Start anew with a command."))
        return
    if handle.telegram_id != turn.telegram_id or card.chat_id != tap.chat_id:
        turn.toast(turn.t("This button belongs to somebody else."))
        return
    dialogue = BY_NAME[card.dialogue]
    if tap.message_id is not None:
        turn.change(partial(cards.adopt, card_id=card.id, message_id=tap.message_id))
    if turn.person is None and card.dialogue != "start":
        turn.toast(turn.t("You are not linked to the workspace. Ask for an invitation."), alert=True)
        return
    if handle.version != card.version:
        turn.toast(turn.t("The card has changed meanwhile: this is how it stands now."))
        # Who hammers on a button sees what was read a moment ago; the workspace is not asked for each tap.
        if turn.now - card.shown_at > FRESH:
            await dialogue.refresh(turn, card)
        return
    await dialogue.tapped(turn, card, handle.action, dict(handle.args))
