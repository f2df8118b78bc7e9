"""Paying a request, on its card:

Pay ─┬─(In full)──────────────────────┬─► [above the limit: type the sum] ─► [PIN] ─► working ─► paid, with who and when
     ├─(Another sum)─► sum ─► (Pay …)─┘                                         └─► unknown: reading back, ten minutes
     └─ held: an earlier payment nobody can vouch for ─┬─(It was not paid)─► released ─► Pay
                                                       └─(It was paid)─► settled
Nothing is paid that was not on the card: sum, currency and what is paid are read again right before the call. At most
one payment of a request is open, over all people; it is sent once, and one whose outcome cannot be found is held.
"""

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, Protocol

from sqlalchemy import Connection

from bot import access, audit, intents, people
from bot.cards import Button, Card, View
from bot.desk import Intended, Refusal, Turn
from bot.dialogues.own_key import delete_at_once
from bot.incoming import Said
from bot.intents import Intent, Settled, Verdict
from bot.money_text import parse
from bot.periods import request_by_id
from bot.sums import NotRepresentable, to_wire
from bot.texts import sentence
from workspace_api import calls
from workspace_api.contract.finplan import Request, RequestHistory

OPERATION = "finplan.request.pay"

VERDICTS = {
    "elsewhere": sentence("Paid, maybe by somebody else: the history does not name you. Look at it before you go on."),
    "conflict": sentence("The paid sum has moved by another amount than yours. Look at it before you go on."),
}


class Show(Protocol):
    """Draws the card of a request (dialogues/requests.py)."""

    def __call__(self, turn: Turn, card: Card, request: Request, *, head: str | None = None) -> Awaitable[None]: ...


def subject_of(request_id: int) -> str:
    """What has at most one open payment: the request, whoever pays it."""
    return f"request:{request_id}"


class Pay:
    """The payment screens; `show` draws the card again where they end."""

    def __init__(self, show: Show) -> None:
        self._show = show

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        """The actions that begin with `pay`."""
        request = await self._payable(turn, card)
        if request is None:
            return
        if action == "pay":
            await self._choose(turn, card, request)
        elif action == "pay_sum":
            question = turn.t("How much do you pay? Write the sum.")
            await self._ask(turn, card, request, question, "pay_sum")
        elif action == "pay_go":
            await self._next_step(turn, card, request, int(args["amount"]), ())
        elif action in {"pay_release", "pay_settle"}:
            await self._judge(turn, card, request, action, bool(args.get("sure")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        """The questions that begin with `pay`: a sum, the sum again, the PIN."""
        if question == "pay_pin" and isinstance(turn.incoming, Said):
            # In a commit of its own: it goes whatever comes of this turn.
            await delete_at_once(turn, turn.incoming.message_id)
        request = await self._payable(turn, card)
        if request is None:
            return
        if question == "pay_sum":
            await self._sum(turn, card, request, text)
            return
        paying = card.state["paying"]
        amount, passed = int(paying["amount"]), tuple(paying["passed"])
        if question == "pay_amount":
            if access.is_amount(text, amount, turn.desk.house.scale):
                await self._next_step(turn, card, request, amount, (*passed, "amount"))
            else:
                await self._ask_amount(turn, card, request, turn.t("This is another sum. Nothing was paid."))
        elif access.pin_state(turn).is_locked:
            await self._ask_pin(turn, card, request)
        elif await access.check_pin(turn, text):
            await self._next_step(turn, card, request, amount, (*passed, "pin"))
        else:
            await self._ask_pin(turn, card, request, turn.t("This is not your PIN. Nothing was paid."))

    async def _payable(self, turn: Turn, card: Card) -> Request | None:
        """The request with the person's own key, if they may pay it now; else the card says why not."""
        request = await request_by_id(turn.api(), card.state["request"], card.state.get("finplan"), turn.today)
        if request is None:
            gone = turn.t("This request no longer exists, or you may not see it any more.")
            turn.show(card, View(turn.texts.html("%(gone)s", gone=gone)))
            return None
        held = self._held(turn, request)
        if not request.can_paid and (held is None or held.user_id != turn.known().user_id):
            why = turn.t("This is not for you to pay now.")
            if request.status == "paid":
                why = turn.t("This is paid already.")
            turn.toast(why, alert=True)
            await self._show(turn, card, request)
            return None
        return request

    def _held(self, turn: Turn, request: Request) -> Intent | None:
        assert request.id is not None, "it was found by its id"
        with turn.desk.db.read() as connection:
            return intents.held(connection, subject_of(request.id))

    async def _choose(self, turn: Turn, card: Card, request: Request) -> None:
        held = self._held(turn, request)
        if held is not None:
            await self._judging(turn, card, request, held)
            return
        left = _left(request)
        money = await self._money(turn, request, left)
        rows = (
            (Button(turn.t("Pay in full: %(money)s", money=money), "pay_go", {"amount": left}, style="success"),),
            (Button(turn.t("Another sum"), "pay_sum"),),
            (Button(turn.t("‹ Back"), "back"),),
        )
        question = turn.t("How much do you pay?")
        shown = card.with_state(paying={"seen": _seen(request), "amount": left, "passed": []})
        turn.show(shown, View(await self._text(turn, request, question), rows))

    async def _sum(self, turn: Turn, card: Card, request: Request, text: str) -> None:
        """A part of what is left."""
        entry = parse(text, turn.today.date(), await turn.desk.directory.currencies())
        words = ""
        amount = 0
        if entry is None:
            words = turn.t("I see no sum above zero there. Write a number, such as 450.")
        elif entry.currency is not None and entry.currency != request.currency_code:
            words = turn.t("This request is in %(code)s.", code=request.currency_code)
        else:
            try:
                amount = to_wire(entry.amount, turn.desk.house.scale)
            except NotRepresentable:
                words = turn.t("The workspace cannot keep this sum to the cent. Write another one.")
            if amount > _left(request):
                words = turn.t("Only %(money)s is left to pay.", money=await self._money(turn, request, _left(request)))
        if words:
            await self._ask(turn, card, request, words, "pay_sum")
            return
        money = await self._money(turn, request, amount)
        rows = (
            (Button(turn.t("Pay %(money)s", money=money), "pay_go", {"amount": amount}, style="success"),),
            (Button(turn.t("‹ Back"), "pay"),),
        )
        question = turn.t("Pay %(money)s of this request?", money=money)
        turn.show(card, View(await self._text(turn, request, question), rows))

    async def _next_step(self, turn: Turn, card: Card, request: Request, amount: int, passed: tuple[str, ...]) -> None:
        """Asks for what is still to be confirmed, then pays."""
        if "paying" not in card.state:
            await self._choose(turn, card, request)
            return
        seen = card.state["paying"]["seen"]
        card = card.with_state(paying={"seen": seen, "amount": amount, "passed": list(passed)})
        # With what is paid already: a sum in parts is still the sum.
        for step in access.steps(turn, amount + (request.sum_paid or 0), paying=True):
            if step not in passed:
                await (self._ask_amount if step == "amount" else self._ask_pin)(turn, card, request)
                return
        await self._pay(turn, card, request, amount)

    async def _ask_amount(self, turn: Turn, card: Card, request: Request, words: str = "") -> None:
        money = await self._money(turn, request, int(card.state["paying"]["amount"]))
        question = turn.t("This is above your limit. To pay %(money)s, type the sum.", money=money)
        await self._ask(turn, card, request, f"{words} {question}".strip(), "pay_amount")

    async def _ask_pin(self, turn: Turn, card: Card, request: Request, words: str = "") -> None:
        if access.pin_state(turn).is_locked:
            locked = turn.t("Your PIN is locked after five wrong tries. Ask your administrator to reset it.")
            # Still asked for: a PIN that is typed after all is taken out of the chat, and is no expense.
            rows = ((Button(turn.t("‹ Back"), "back"),),)
            turn.show(card, View(await self._text(turn, request, locked), rows), expect="pay_pin")
            return
        money = await self._money(turn, request, int(card.state["paying"]["amount"]))
        question = turn.t("To pay %(money)s, write your PIN. The message is deleted at once.", money=money)
        await self._ask(turn, card, request, f"{words} {question}".strip(), "pay_pin")

    async def _ask(self, turn: Turn, card: Card, request: Request, question: str, expect: str) -> None:
        rows = ((Button(turn.t("‹ Back"), "pay"),),)
        turn.show(card, View(await self._text(turn, request, question), rows), expect=expect)

    async def _pay(self, turn: Turn, card: Card, request: Request, amount: int) -> None:
        """Checks everything afresh, then commits to the call."""
        await turn.still_works_here()
        assert request.id is not None, "it was found by its id"
        seen = card.state["paying"]["seen"]
        if seen != _seen(request):
            turn.toast(turn.t("The request has changed since you saw it. Look at it again, then pay."), alert=True)
            await self._show(turn, card, request)
            return
        if not 0 < amount <= _left(request):
            money = await self._money(turn, request, _left(request))
            raise Refusal(turn.t("Only %(money)s is left to pay.", money=money))
        # Both ways of saying the whole sum, so that a workspace that checks them refuses where they no longer agree.
        full = {"full_payment": True} if amount == _left(request) else {}
        call = calls.finplan.request.pay(id=request.id, request_id=request.id, payment_sum=amount, **full)
        before = {
            "sum": request.sum,
            "sum_paid": request.sum_paid or 0,
            "history": len(request.history or []),
            "amount": amount,
        }
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t("Paying …"))
        turn.show(
            card,
            View(await self._text(turn, request, None, head)),
            intend=Intended(call, subject_of(request.id), before),
        )

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """The outcome of a payment, in words."""
        request = await request_by_id(turn.api(), int(intent.body["request_id"]), None, turn.today)
        if request is None:
            raise Refusal("the request is not to be seen any more")
        money = await self._money(turn, request, int(intent.before["amount"]))
        if settled.kind == "checking":
            words = turn.t("The payment may have gone through. Do not pay again. I am checking.")
            head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
            turn.show(card, View(await self._text(turn, request, None, head)))
        elif settled.kind == "done":
            await self._show(turn, card, request, head=await self._confirmed(turn, request, intent, money))
        elif settled.kind == "refused":
            words = turn.t("Not paid. The workspace refused: %(why)s", why=settled.message)
            await self._show(turn, card, request, head=turn.texts.html("⛔ <b>%(words)s</b>", words=words))
        else:
            await self._judging(turn, card, request, intent, settled.message)

    async def _confirmed(self, turn: Turn, request: Request, intent: Intent, money: str) -> str:
        """Paid, as the workspace's own record tells it."""
        person = turn.known()
        news = _payments(request, intent)
        mine = next((entry for entry in news if entry.author_id == person.user_id), None)
        if mine is not None and not person.key_proved:
            turn.change(lambda connection: people.mark(connection, person.telegram_id, key_proved=True))
        if news and mine is None and not person.key_proved:
            turn.change(lambda connection: people.mark(connection, person.telegram_id, sealed_key=None))
            who = await turn.desk.directory.name(news[0].author_id)
            words = turn.t(
                "The workspace noted this under the name of %(who)s. "
                "Your key is not your own: ask for a new invitation.",
                who=who,
            )
            return turn.texts.html("⛔ <b>%(words)s</b>", words=words)
        if (request.sum_paid or 0) - int(intent.before["sum_paid"]) != intent.before["amount"]:
            words = turn.t("The workspace said that it is paid, yet the paid sum is another one. Check it there.")
            return turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
        when = turn.texts.moment(mine.creation_date if mine and mine.creation_date else turn.today)
        said = turn.t("%(money)s paid by you", money=money)
        return turn.texts.html("✅ <b>%(said)s</b>, %(when)s", said=said, when=when)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Whether a payment whose answer was lost went through: what is paid now, and who the history names."""
        request = await request_by_id(turn.api(), int(intent.body["request_id"]), None, turn.today)
        if request is None:
            return Verdict(None)
        moved = (request.sum_paid or 0) - int(intent.before["sum_paid"])
        if moved == 0:
            return Verdict(False)
        if moved != intent.before["amount"]:
            return Verdict(None, decide="conflict")
        if [entry.author_id for entry in _payments(request, intent)] == [intent.user_id]:
            return Verdict(True, True)
        return Verdict(None, decide="elsewhere")

    async def _judging(self, turn: Turn, card: Card, request: Request, intent: Intent, verdict: str = "") -> None:
        """A payment that is held: what is known, and two ways to go on."""
        money = await self._money(turn, request, int(intent.before["amount"]))
        words = [
            turn.t(
                "A payment of %(money)s by %(who)s, %(when)s, was not confirmed. Do not pay again before it is clear.",
                money=money,
                who=await turn.desk.directory.name(intent.user_id),
                when=turn.texts.moment(datetime.fromtimestamp(intent.created_at, UTC)),
            )
        ]
        moved = (request.sum_paid or 0) - int(intent.before["sum_paid"])
        if verdict in VERDICTS:
            words.append(turn.t(VERDICTS[verdict]))
        elif moved == 0:
            words.append(turn.t("It was not seen in the workspace for ten minutes."))
        paid = await self._money(turn, request, request.sum_paid or 0)
        before = await self._money(turn, request, int(intent.before["sum_paid"]))
        words.append(turn.t("Paid before: %(before)s, paid now: %(now)s.", before=before, now=paid))
        rows = (
            (Button(turn.t("It was not paid"), "pay_release"),),
            (Button(turn.t("It was paid"), "pay_settle"),),
            (Button(turn.t("‹ Back"), "back"),),
        )
        head = turn.texts.html("⚠️ <b>%(words)s</b>", words=" ".join(words))
        turn.show(card, View(await self._text(turn, request, None, head), rows))

    async def _judge(self, turn: Turn, card: Card, request: Request, action: str, sure: bool) -> None:
        """A person has looked: released, so that it can be paid, or settled as paid."""
        held = self._held(turn, request)
        if held is None:
            turn.toast(turn.t("This has been settled meanwhile."))
            await self._show(turn, card, request)
            return
        if not sure:
            label = turn.t("Yes, it was not paid") if action == "pay_release" else turn.t("Yes, it was paid")
            question = turn.t("Have you looked in the workspace and at the bank?")
            rows = (
                (Button(label, action, {"sure": True}, style="danger"),),
                (Button(turn.t("‹ Back"), "pay"),),
            )
            turn.show(card, View(await self._text(turn, request, question), rows))
            return
        await turn.still_works_here()
        released = action == "pay_release"
        turn.change(lambda connection: _settle(connection, held, released, turn))
        turn.note("released" if released else "settled", subject_of(request.id or 0), before=held.before)
        words = turn.t("Released: it can be paid again.") if released else turn.t("Noted as paid.")
        await self._show(turn, card, request, head=turn.texts.html("ℹ️ <b>%(words)s</b>", words=words))

    async def _money(self, turn: Turn, request: Request, amount: int) -> str:
        currency = (await turn.desk.directory.currencies()).get(request.currency_code or "")
        return turn.texts.money(amount, currency, request.currency_code)

    async def _text(self, turn: Turn, request: Request, question: str | None, head: str | None = None) -> str:
        return turn.texts.render(
            "pay.html",
            head=head,
            name=request.name or turn.t("Request %(id)s", id=request.id),
            sum=await self._money(turn, request, request.sum or 0),
            paid=await self._money(turn, request, request.sum_paid) if request.sum_paid else None,
            left=await self._money(turn, request, _left(request)) if request.sum_paid else None,
            author=await turn.desk.directory.name(request.author_id),
            question=question,
        )


def _left(request: Request) -> int:
    return (request.sum or 0) - (request.sum_paid or 0)


def _seen(request: Request) -> list[Any]:
    """What must not have changed between the card and the payment."""
    return [request.sum, request.currency_code, request.sum_paid or 0, request.status]


def _payments(request: Request, intent: Intent) -> list[RequestHistory]:
    """The payments that the history has beyond what stood there before; one whose text is another sum is not ours."""
    news = [entry for entry in (request.history or [])[int(intent.before["history"]) :] if entry.type == "pay"]
    amount = str(intent.before["amount"])
    return [entry for entry in news if not (entry.text or "").isdigit() or entry.text == amount]


def _settle(connection: Connection, held: Intent, released: bool, turn: Turn) -> None:
    state: intents.State = "not_seen" if released else "done"
    moved = intents.move(connection, held.id, state, turn.now, unless=("done", "refused", "not_seen"), note="judged")
    if moved:
        audit.note(
            connection,
            audit.Entry(
                turn.now,
                turn.known().user_id,
                state,
                subject_of(int(held.body["request_id"])),
                turn.telegram_id,
                held.key_kind,
                held.operation,
                held.id,
                note="judged by a person",
            ),
        )
