"""/requests: the oldest card that waits for me ─┬─(Approve, Reject, Return to work)──► request_decide.py ─► outcome
   ‹ Previous · Next ›                          ├─(Pay)──► request_pay.py
                                                ├─(X-ray)──► what helps to decide ──(‹ Back)──► card
                                                └─(More ›)─┬─(Approve several)──► request_batch.py
                                                           ├─(Filter)──► request_filter.py
                                                           └─(To be paid)──► the cards that I may pay

watch.py pushes new cards, one by one or as one card of news, and edits those that were decided elsewhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot import comments, deputies, intents
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import request_pay
from bot.dialogues.request_batch import Batch
from bot.dialogues.request_decide import DECISIONS, Deciding, gone
from bot.dialogues.request_filter import Filter, Filtering
from bot.dialogues.request_pay import Pay
from bot.dialogues.request_queue import Reading, look, shown
from bot.dialogues.request_view import body, buttons, decisions, last_event, money, on_screen, standing, subject_of
from bot.incoming import Said
from bot.intents import Intent, Settled, Verdict
from bot.texts import sentence, short
from bot.xray import xray
from workspace_api.contract.finplan import Request

REMEMBERED = ("browsing", "queue", "filter")
"""What a card keeps from one request to the next."""

LISTED = 12
"""Requests that a card of news names."""


class Requests(Dialogue):
    """Decisions about requests for money, and their payment."""

    name = "requests"
    commands = (Command("requests", sentence("Requests that wait for my decision")),)

    def __init__(self) -> None:
        self._deciding = Deciding(self.show)
        self._pay = Pay(self.show)
        self._batch = Batch(self._first)
        self._filtering = Filtering(_all_of, self._first)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        reading = await look(turn)
        waiting = reading.to_decide()
        if waiting:
            card = turn.new_card(self.name, live=True, browsing=True)
            await self.show(turn, card, waiting[0], reading=reading)
            return
        words = turn.t("Nothing waits for your decision. New requests come here by themselves.")
        payable = reading.to_pay()
        if not payable:
            turn.say(words)
            return
        rows = ((Button(_to_pay(turn, len(payable)), "queue", {"queue": "to_pay"}),),)
        turn.show(turn.new_card(self.name, browsing=True, screen="empty"), View(words, rows))

    async def show(
        self, turn: Turn, card: Card, request: Request, *, head: str | None = None, reading: Reading | None = None
    ) -> None:
        """The card of a request, from fresh state, with what its viewer may do. `head`: HTML on top, as an outcome."""
        await self._draw(turn, card, request, head=head, reading=reading)

    async def _draw(
        self,
        turn: Turn,
        card: Card,
        request: Request,
        *,
        head: str | None = None,
        reading: Reading | None = None,
        more: bool = False,
    ) -> None:
        assert request.id is not None, "a request without an id cannot be shown"
        reading = await look(turn) if reading is None else reading
        state = {name: card.state[name] for name in REMEMBERED if name in card.state}
        state |= {"request": request.id, "finplan": request.finplan, "standing": standing(request)}
        if head is None and request.status != "progress" and state.get("queue") != "to_pay":
            head = await self._what_happened(turn, request)
        ids = [other.id for other in reading.queue(state)] if state.get("browsing") else []
        notes = [await self._deputised(turn, request, reading)]
        if head is None:
            notes.insert(0, await self._place(turn, request, ids, state))
        rows = [*self._acts(turn, request, reading)]
        if more:
            rows = self._more(turn, reading, state)
        else:
            rows += self._onward(turn, request, ids, state, outcome=head is not None, open_acts=bool(rows))
        text = await body(turn, request, head, notes)
        shown_card = Card(
            card.telegram_id, card.chat_id, self.name, state, subject_of(request.id), True, card.id, card.version,
            card.message_id,
        )  # fmt: skip
        turn.show(shown_card, View(text, tuple(rows)))

    def _acts(self, turn: Turn, request: Request, reading: Reading) -> tuple[tuple[Button, ...], ...]:
        """Decisions, and the payment; a payment that a person has to judge stays within reach of who made it."""
        rows = buttons(turn.texts, decisions(request, list(reading.blocks), reading.user_id))
        with turn.desk.db.read() as connection:
            held = intents.held(connection, request_pay.subject_of(request.id or 0))
        if request.can_paid or (held is not None and held.user_id == turn.known().user_id):
            rows = ((Button(turn.t("Pay"), "pay", style="success"),), *rows)
        return rows

    def _onward(
        self,
        turn: Turn,
        request: Request,
        ids: Sequence[int | None],
        state: Mapping[str, Any],
        *,
        outcome: bool,
        open_acts: bool,
    ) -> list[tuple[Button, ...]]:
        """Where one goes from here: along what waits, to the X-ray, to what is needed less often."""
        rows: list[tuple[Button, ...]] = []
        others = [other for other in ids if other != request.id]
        if request.id in ids and others and not outcome:
            rows.append((Button(turn.t("‹ Previous"), "previous"), Button(turn.t("Next ›"), "next")))
        elif others and outcome:
            label = turn.texts.n("Next (%(count)d waits) ›", "Next (%(count)d wait) ›", len(others))
            rows.append((Button(label, "next", style="primary"),))
        if state.get("filter"):
            rows.append((Button(turn.t("Clear the filter"), "filter_clear"),))
        if open_acts:
            rows.append((Button(turn.t("X-ray"), "xray"), Button(turn.t("More ›"), "more")))
        return rows

    def _more(self, turn: Turn, reading: Reading, state: Mapping[str, Any]) -> list[tuple[Button, ...]]:
        """What is needed less often."""
        to_decide, to_pay = len(reading.to_decide()), len(reading.to_pay())
        paying = state.get("queue") == "to_pay"
        rows = [
            (Button(turn.t("Approve several"), "several"),) if to_decide > 1 and not paying else (),
            (Button(turn.t("Filter"), "filter"),),
            (Button(_to_pay(turn, to_pay), "queue", {"queue": "to_pay"}),) if to_pay and not paying else (),
            (Button(_to_decide(turn, to_decide), "queue", {"queue": "to_decide"}),) if paying and to_decide else (),
            (Button(turn.t("‹ Back"), "back"),),
        ]
        return [row for row in rows if row]

    async def _place(self, turn: Turn, request: Request, ids: Sequence[int | None], state: Mapping[str, Any]) -> str:
        """`1 of 5`, and the filter."""
        said: list[str] = []
        if request.id in ids and len(ids) > 1:
            said.append(turn.t("%(number)d of %(count)d", number=ids.index(request.id) + 1, count=len(ids)))
        narrowed = await Filter.of(state).in_words(turn.texts, turn.desk.directory)
        said += [f"🔎 {narrowed}"] if narrowed else []
        return turn.texts.html("<i>%(place)s</i>", place=" · ".join(said)) if said else ""

    async def _deputised(self, turn: Turn, request: Request, reading: Reading) -> str:
        leave = reading.leave(request)
        if leave is None:
            return ""
        words = await deputies.in_words(turn.desk, turn.texts, leave)
        return turn.texts.html("🌴 <i>%(words)s</i>", words=words)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action in DECISIONS:
            await self._deciding.tapped(turn, card, action, args)
        elif action.startswith("pay"):
            await self._pay.tapped(turn, card, action, args)
        elif action.startswith("several"):
            await self._batch.tapped(turn, card, action, args)
        elif action.startswith("filter"):
            await self._filtering.tapped(turn, card, action, args)
        elif action == "queue":
            await self._first(turn, card.with_state(queue=args["queue"], filter={}))
        elif action in {"next", "previous"}:
            await self._step(turn, card, 1 if action == "next" else -1)
        elif action == "news":
            await self._first(turn, card, among=card.state["news"])
        elif action in {"more", "xray"}:
            await self._look_closer(turn, card, action)
        else:
            await self.refresh(turn, card)

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        if question.startswith("pay"):
            await self._pay.answered(turn, card, question, text)
        elif question.startswith("filter"):
            await self._filtering.answered(turn, card, text)
        else:
            await self._deciding.answered(turn, card, question, text)

    async def replied(self, turn: Turn, card: Card, said: Said) -> bool:
        """A reply to a request's card is a comment on it."""
        if "request" not in card.state:
            return False
        request = await shown(turn, card, await look(turn))
        return request is not None and await comments.take(turn, request, said)

    async def _first(self, turn: Turn, card: Card, among: Sequence[int] = ()) -> None:
        """The first of what the card goes through, or of some of it."""
        reading = await look(turn)
        queue = reading.queue(card.state)
        request = next((request for request in queue if request.id in among), queue[0] if queue else None)
        if request is not None:
            await self._draw(turn, card, request, reading=reading)
            return
        narrowed = bool(card.state.get("filter"))
        words = turn.t("Nothing that waits passes the filter.") if narrowed else turn.t("Nothing else waits for you.")
        rows = (
            (Button(turn.t("Clear the filter"), "filter_clear"), Button(turn.t("Filter"), "filter"))
            if narrowed
            else (),
        )
        turn.show(on_screen(card, "empty"), View(words, rows))

    async def _step(self, turn: Turn, card: Card, by: int) -> None:
        """The next or previous one; after the last comes the first."""
        reading = await look(turn)
        queue = reading.queue(card.state)
        ids = [request.id for request in queue]
        now_at = card.state.get("request")
        if not queue:
            turn.toast(turn.t("Nothing else waits for your decision."))
            await self.refresh(turn, card)
            return
        place = (ids.index(now_at) + by) % len(ids) if now_at in ids else 0
        await self._draw(turn, card, queue[place], reading=reading)

    async def _look_closer(self, turn: Turn, card: Card, action: str) -> None:
        """The card with the buttons that are needed less often, or what helps to decide."""
        reading = await look(turn)
        request = await shown(turn, card, reading)
        if request is None:
            gone(turn, card)
        elif action == "more":
            await self._draw(turn, card, request, reading=reading, more=True)
        else:
            await self._xray(turn, card, request, reading)

    async def _xray(self, turn: Turn, card: Card, request: Request, reading: Reading) -> None:
        found = await xray(turn, request)
        rows = (*self._acts(turn, request, reading), (Button(turn.t("‹ Back"), "back"),))
        # The decision below it is about this very state of the request.
        turn.show(card.with_state(standing=standing(request)), View(found.text, rows))
        if found.picture is not None:
            turn.photo(found.picture, turn.texts.html("%(name)s", name=short(request.name, 100)))

    async def refresh(self, turn: Turn, card: Card) -> None:
        """The card from fresh state; one whose decision is under way stays as it is."""
        screen = card.state.get("screen")
        if screen in {"several", "receipts"}:
            await self._batch.draw(turn, card)
        elif screen == "news":
            await self.news(turn, card, [])
        elif screen == "filter":
            await self._filtering.open(turn, card)
        elif "request" not in card.state:
            await self._first(turn, card)
        elif under_way(turn, card):
            turn.toast(turn.t("This is already under way."))
        else:
            reading = await look(turn)
            request = await shown(turn, card, reading)
            if request is None:
                gone(turn, card)
            else:
                await self._draw(turn, card, request, reading=reading)

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        if intent.operation == request_pay.OPERATION:
            await self._pay.settled(turn, card, intent, settled)
        elif intent.before.get("batch"):
            await self._batch.settled(turn, card, intent, settled)
        else:
            await self._deciding.settled(turn, card, intent, settled)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        if intent.operation == request_pay.OPERATION:
            return await self._pay.read_back(turn, intent)
        return await self._deciding.read_back(turn, intent)

    async def news(self, turn: Turn, card: Card, fresh: Sequence[Request]) -> None:
        """Several that have come to wait, as one card with Show; what stood on it already stays."""
        rows = [dict(row) for row in card.state.get("rows", [])]
        rows += [{"id": r.id, "name": short(r.name, 60), "money": await money(turn, r)} for r in fresh]
        title = turn.texts.n("%(count)d request waits for you:", "%(count)d requests wait for you:", len(rows))
        lines = [turn.texts.html("🔔 <b>%(title)s</b>", title=title)]
        lines += [
            turn.texts.html("• %(name)s · %(money)s", name=row["name"], money=row["money"]) for row in rows[:LISTED]
        ]
        lines += ["…"] if len(rows) > LISTED else []
        news = [row["id"] for row in rows]
        button = Button(turn.t("Show"), "news", style="primary")
        shown_card = on_screen(card, "news").with_state(browsing=True, rows=rows, news=news)
        turn.show(shown_card, View("\n".join(lines), ((button,),)))

    async def decided_elsewhere(self, turn: Turn, card: Card, request: Request) -> None:
        """The subject of a shown card has changed: the card says what happened, by whom and when."""
        await self._draw(turn, card, request, head=await self._what_happened(turn, request))

    async def _what_happened(self, turn: Turn, request: Request) -> str | None:
        """Who did what last, and when, as a headline."""
        who, what, when = await last_event(turn.texts, turn.desk.directory, request)
        return turn.texts.html("ℹ️ <b>%(who)s</b>: %(what)s, %(when)s", who=who, what=what, when=when) if who else None


async def _all_of(turn: Turn, state: Mapping[str, Any]) -> Sequence[Request]:
    """What the filter narrows."""
    return (await look(turn)).queue({**state, "filter": {}})


def _to_pay(turn: Turn, count: int) -> str:
    return turn.t("To be paid (%(count)d) ›", count=count)


def _to_decide(turn: Turn, count: int) -> str:
    return turn.t("Waiting for my decision (%(count)d) ›", count=count)


def under_way(turn: Turn, card: Card) -> bool:
    """Whether an intent of the card is still open."""
    with turn.desk.db.read() as connection:
        found = intents.of_card(connection, card.id)
    return any(intent.state in {"open", "sending", "unknown"} for intent in found)
