"""/why 42: request, entry, task and question of that number ──(‹ ›)──► further pages ──(Another number)──► number ──► …

Who did what and when, with which kind of key, by which call, before and after, from the audit; then what the workspace
itself tells. Shown to whoever may see the thing with their own key, to ops, and one's own acts to oneself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from bot import audit, questions, roles
from bot.audit import Entry
from bot.audit_text import flat, outcome
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.request_view import EVENTS
from bot.periods import request_by_id
from bot.texts import sentence, short, split
from workspace_api import AsyncWorkspace, CallRefused
from workspace_api.contract.finance import Transaction
from workspace_api.contract.wire import TransactionType

KINDS: tuple[TransactionType, ...] = ("in", "out", "move")

PAGE = 3000
"""UTF-16 units of one page."""

TITLES = {
    "request": sentence("Request %(id)s"),
    "transaction": sentence("Entry %(id)s"),
    "task": sentence("Task %(id)s"),
    "question": sentence("Question %(id)s"),
}

ACTS = {
    "asked": sentence("asked for"),
    "done": sentence("done"),
    "refused": sentence("refused"),
    "unknown": sentence("outcome unknown"),
    "not_seen": sentence("not seen"),
    "held": sentence("held for a person to judge"),
    "released": sentence("released"),
    "settled": sentence("settled"),
    "commented": sentence("commented on it"),
    "reminded": sentence("reminded who decides"),
    "logged again": sentence("logged the same receipt again"),
    "deputy": sentence("decides as a deputy"),
    "deputy_cannot": sentence("may not decide as a deputy"),
    "escalated": sentence("told one level up"),
    "answered": sentence("answered"),
    "ran": sentence("started it"),
}
"""What the audit calls the steps of a call; other words are the dialogues' own and shown as they are."""

KEYS = {"own": sentence("own key"), "service": sentence("the service's key")}


@dataclass(frozen=True, slots=True)
class Thing:
    """What is shown of a request, an entry, a task or a question: its name, and lines of its history (HTML)."""

    name: str
    history: tuple[str, ...]


class Why(Dialogue):
    """The audit of one number."""

    name = "why"
    commands = (Command("why", sentence("Who did what with a request, an entry or a task")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        await self._number(turn, turn.new_card(self.name), words)

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._number(turn, card, text)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "page":
            await self._show(turn, card.with_state(page=int(args["page"])))
        elif action == "another":
            self._ask(turn, card)
        elif action == "back":
            await self._show(turn, card)
        else:
            turn.show(card.with_state(number=None), View(turn.t("Closed.")))

    async def refresh(self, turn: Turn, card: Card) -> None:
        if card.state.get("number") is None:
            turn.show(card, View(turn.t("Closed.")))
        else:
            await self._show(turn, card)

    async def _number(self, turn: Turn, card: Card, words: str) -> None:
        number = words.strip().lstrip("#№").strip()
        if number.isascii() and number.isdigit() and len(number) < 16:
            await self._show(turn, card.with_state(number=int(number), page=0))
        else:
            self._ask(turn, card)

    def _ask(self, turn: Turn, card: Card) -> None:
        question = turn.t("Which number? Write that of a request, an entry or a task, such as 42.")
        back = Button(turn.t("‹ Back"), "back") if card.state.get("number") is not None else None
        rows = ((back or Button(turn.t("Close"), "close"),),)
        turn.show(card, View(turn.texts.html("🔎 <b>%(question)s</b>", question=question), rows), expect="number")

    async def _show(self, turn: Turn, card: Card) -> None:
        number, page = int(card.state["number"]), int(card.state.get("page", 0))
        sections = [section for kind in TITLES for section in await self._section(turn, kind, number)]
        if not sections:
            words = turn.t("Nothing that you may see has the number %(number)s.", number=number)
            sections = [turn.texts.html("%(words)s", words=words)]
        pages = split("\n\n".join(sections), PAGE)
        page = min(page, len(pages) - 1)
        turning = [
            Button("‹", "page", {"page": page - 1}) if page > 0 else None,
            Button("›", "page", {"page": page + 1}) if page + 1 < len(pages) else None,
        ]
        rows = (
            tuple(button for button in turning if button is not None),
            (Button(turn.t("Another number"), "another"), Button(turn.t("Close"), "close")),
        )
        turn.show(card.with_state(page=page), View(pages[page], rows))

    async def _section(self, turn: Turn, kind: str, number: int) -> list[str]:
        """One thing: its name, the audit's lines, the workspace's own; nothing where it is not to be seen."""
        with turn.desk.db.read() as connection:
            kept = audit.entries(connection, [f"{kind}:{number}"])
        lines = about(kind, number, kept)
        thing = await _thing(turn, _reader(turn), kind, number)
        if thing is None and not _is_ops(turn):
            # It is gone, or not theirs to see: what they did with it themselves is theirs to know.
            calls = {e.intent_id for e in lines if e.user_id == turn.known().user_id and e.intent_id is not None}
            lines = [e for e in lines if e.user_id == turn.known().user_id or e.intent_id in calls]
        if thing is None and not lines:
            return []
        title = turn.t(TITLES[kind], id=number) + (f": {thing.name}" if thing is not None and thing.name else "")
        parts = [turn.texts.html("<b>%(title)s</b>", title=title)]
        parts += [await _line(turn, entry) for entry in lines]
        if not lines:
            parts.append(turn.texts.html("<i>%(words)s</i>", words=turn.t("Nothing was done with it in this chat.")))
        if thing is None:
            words = turn.t("It is no longer in the workspace, or not to be seen with this key.")
            parts.append(turn.texts.html("<i>%(words)s</i>", words=words))
        elif thing.history:
            parts.append(turn.texts.html("\n<b>%(title)s</b>", title=turn.t("The workspace's own history")))
            parts += thing.history
        return ["\n".join(parts)]


def about(kind: str, number: int, entries: Sequence[Entry]) -> list[Entry]:
    """The lines that really are about this thing: a call that names or made another number is not."""
    named: dict[str, set[int]] = {}
    for entry in entries:
        if entry.intent_id is not None and (found := _named(kind, entry)):
            named.setdefault(entry.intent_id, set()).update(found)
    return [e for e in entries if e.intent_id is None or number in named.get(e.intent_id, {number})]


def _named(kind: str, entry: Entry) -> set[int]:
    """The numbers of this kind that a line's call was about, as far as it says."""
    own = {"request": "finplan.request.", "transaction": "fintransaction.", "task": "tasks.task."}[kind]
    found: list[Any] = []
    if (entry.operation or "").startswith(own):
        body, after = _fields(entry.body), _fields(entry.after)
        found += [body.get("id"), body.get("request_id"), after.get("id")]
        found += [*(body.get("requestIds") or ()), *(body.get("ids") or ())]
    return {int(number) for number in found if isinstance(number, int | str) and str(number).isdigit()}


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_ops(turn: Turn) -> bool:
    return turn.known().user_id in turn.desk.house.ops


def _reader(turn: Turn) -> AsyncWorkspace:
    """With their own key; ops without one see what the service sees."""
    if turn.known().sealed_key is None and _is_ops(turn):
        return turn.desk.service
    return turn.api()


async def _line(turn: Turn, entry: Entry) -> str:
    """One line of the audit, with what it holds below it."""
    who = await turn.desk.directory.name(entry.user_id)
    said = turn.t(ACTS.get(entry.act, entry.act))
    key = turn.t(KEYS[entry.key_kind]) if entry.key_kind in KEYS else ""
    when = turn.texts.moment(datetime.fromtimestamp(entry.at, UTC))
    head = turn.texts.html("• %(when)s <b>%(who)s</b>: %(said)s", when=when, who=who, said=said)
    details = [f"{entry.operation}, {key}" if entry.operation and key else entry.operation or key]
    details += [short(entry.note, 300)]
    # What was read before stands with the asking; with the outcome it would be said twice.
    before = entry.before if entry.act == "asked" or entry.intent_id is None else None
    for words, text in (
        (turn.t("call"), flat(entry.body or {})),
        (turn.t("before"), flat(before or {})),
        (turn.t("after"), outcome(entry.after) if entry.after else ""),
    ):
        details.append(f"{words}: {text}" if text else "")
    below = [turn.texts.html("   <i>%(detail)s</i>", detail=detail) for detail in details if detail]
    return "\n".join([head, *below])


async def _thing(turn: Turn, api: AsyncWorkspace, kind: str, number: int) -> Thing | None:
    """What this key sees of it now."""
    if kind == "question":
        return _question(turn, number)
    if kind == "request":
        return await _request(turn, api, number)
    return await (_transaction if kind == "transaction" else _task)(turn, api, number)


def _question(turn: Turn, number: int) -> Thing | None:
    """What an automation asked, for those whom it asked, and for ops."""
    with turn.desk.db.read() as connection:
        asked = questions.load(connection, number)
        if asked is None:
            return None
        seen = _is_ops(turn) or roles.is_meant(connection, turn.known(), asked.names, turn.desk.house)
    return Thing(short(f"{asked.automation}: {asked.text}", 300), ()) if seen else None


async def _request(turn: Turn, api: AsyncWorkspace, number: int) -> Thing | None:
    request = await request_by_id(api, number, None, turn.today)
    if request is None:
        return None
    currency = (await turn.desk.directory.currencies()).get(request.currency_code or "")
    money = turn.texts.money(request.sum, currency, request.currency_code)
    lines = [
        await _event(
            turn,
            entry.creation_date,
            entry.author_id,
            turn.t(EVENTS.get(entry.type or "", entry.type or "")),
            entry.text,
        )
        for entry in request.history or []
    ]
    return Thing(", ".join(part for part in (request.name, money) if part), tuple(lines))


async def _transaction(turn: Turn, api: AsyncWorkspace, number: int) -> Thing | None:
    found: Transaction | None = None
    for kind in KINDS:
        listed = await api.finance.transaction.list(type=kind)
        found = found or next((t for t in listed if t.id == number), None)
    if found is None:
        return None
    box_id = found.cashbox_id or found.cashbox_id_charge
    box = next((box for box in await api.finance.transaction.cashbox_list() if box.id == box_id), None)
    code = None if box is None else box.currency_code
    currency = (await turn.desk.directory.currencies()).get(code or "")
    amount = found.sum if found.sum is not None else found.sum_charge
    name = ", ".join(
        part
        for part in (turn.texts.money(amount, currency, code), box.name if box else None, short(found.description, 100))
        if part
    )
    lines = [await _event(turn, found.creation_date, found.user_id, turn.t("created"), None)]
    if found.update_date is not None and found.update_date != found.creation_date:
        lines.append(await _event(turn, found.update_date, None, turn.t("changed"), None))
    return Thing(name, tuple(lines))


async def _task(turn: Turn, api: AsyncWorkspace, number: int) -> Thing | None:
    try:
        task = await api.tasks.task.get(id=number)
    except CallRefused:
        # No such task, or not for this key: which of the two is not for everybody to know.
        return None
    lines = [await _event(turn, task.creation_date, task.owner_user_id, turn.t("created"), None)]
    if task.close_date is not None:
        lines.append(await _event(turn, task.close_date, None, turn.t("closed"), None))
    return Thing(short(task.name, 100), tuple(lines))


async def _event(turn: Turn, at: datetime | None, user_id: str | None, what: str, text: str | None) -> str:
    """A line of the workspace's own history; who did it where it tells."""
    who = f"{await turn.desk.directory.name(user_id)}: " if user_id is not None else ""
    said = f"{who}{what}" + (f" ({short(text, 200)})" if text else "")
    return turn.texts.html("• %(when)s %(said)s", when=turn.texts.moment(at), said=said)
