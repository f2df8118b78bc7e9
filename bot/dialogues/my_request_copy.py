"""Copying requests: last month's own ones with check marks, or one into another month ──(Copy)──► a line for each.

Every request is a call of its own, so there is no partial outcome; all are committed to at once, and the lines follow
from the outcomes, whenever they come.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from bot import followed, intents
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogues.my_request_calls import COPY, copies_of, copying, mine
from bot.dialogues.my_request_view import in_short, money
from bot.dialogues.request_form_text import months_ahead
from bot.dialogues.request_form_view import state
from bot.intents import Intent, Settled
from bot.periods import months
from bot.texts import short
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

PAGE = 8

WORDS_OF = {"open": "checking", "sending": "checking", "unknown": "checking"}
"""What a card says of a call in one of these states; the others are called as they are."""


def _last_month(turn: Turn, own: Iterable[Request]) -> list[Request]:
    last = months(turn.today, 1, 0)[0]
    return sorted((r for r in own if (r.finplan or "")[:7] == last[:7]), key=lambda request: request.id or 0)


class CopyScreens:
    """The screens of copying; they live on cards of `my_requests`."""

    async def choose(self, turn: Turn, card: Card, chosen: list[int] | None = None, page: int = 0) -> None:
        """Last month's own requests, those checked that were not rejected and are not copied yet."""
        own = await mine(turn, own=True)
        period = months(turn.today, 0, 0)[0]
        sources = _last_month(turn, own)
        copied = {r.id for r in sources if r.id is not None and copies_of(r.id, period, own)}
        if chosen is None:
            chosen = [r.id for r in sources if r.id is not None and r.id not in copied and r.status != "reject"]
        rows: list[tuple[Button, ...]] = []
        for request in sources[page * PAGE : (page + 1) * PAGE]:
            mark = "☑" if request.id in chosen else "☐"
            label = f"{mark} {short(request.name, 40)} · {await money(turn, request, request.sum)}"
            if request.id in copied:
                label = f"{label} · " + turn.t("copied already")
            rows.append((Button(label, "check", {"request": request.id}),))
        turning = [Button("‹", "check", {"page": page - 1})] if page else []
        turning += [Button("›", "check", {"page": page + 1})] if len(sources) > (page + 1) * PAGE else []
        rows.append(tuple(turning))
        months_of = {"last": turn.texts.month(months(turn.today, 1, 0)[0]), "this": turn.texts.month(period)}
        if sources:
            words = turn.t("Your requests of %(last)s. The checked ones are copied into %(this)s.", **months_of)
            rows.append(
                (Button(turn.t("All"), "check", {"all": True}), Button(turn.t("None"), "check", {"all": False}))
            )
        else:
            words = turn.t("You have no requests of %(last)s to copy.", last=months_of["last"])
        if chosen:
            label = turn.texts.n("Copy %(count)d request", "Copy %(count)d requests", len(chosen))
            rows.append((Button(label, "copy_now", style="success"),))
        rows.append((Button(turn.t("‹ My requests"), "list"),))
        shown = replace(card, state=state(card, "copy", chosen=chosen, page=page), subject=None, live=False)
        turn.show(shown, View(turn.texts.html("🗂 %(words)s", words=words), tuple(row for row in rows if row)))

    def this_month(self, turn: Turn) -> str:
        """The period into which last month's requests are copied."""
        return months(turn.today, 0, 0)[0]

    async def where(self, turn: Turn, card: Card, request: Request) -> None:
        """Into which month one request is copied."""
        rows = [(Button(turn.texts.month(p), "copy_to", {"period": p}),) for p in months_ahead(turn.today)]
        question = turn.t("Into which month is it copied? The copy starts anew, with an approval of its own.")
        text = turn.texts.html("<b>%(what)s</b>\n\n%(question)s", what=await in_short(turn, request), question=question)
        turn.show(card, View(text, (*rows, (Button(turn.t("‹ Back"), "look"),))))

    async def check(self, turn: Turn, card: Card, args: Mapping[str, Any]) -> None:
        """A check mark set or taken, all of them, or another page."""
        chosen, page = list(card.state["chosen"]), int(args.get("page", card.state["page"]))
        if "all" in args:
            sources = _last_month(turn, await mine(turn, own=True))
            chosen = [r.id for r in sources if r.id is not None] if args["all"] else []
        elif "request" in args:
            number = int(args["request"])
            chosen = [n for n in chosen if n != number] if number in chosen else sorted([*chosen, number])
        await self.choose(turn, card, chosen, page)

    async def send(self, turn: Turn, card: Card, sources: list[int], period: str) -> None:
        """Commits to one call for each of the requests; those that a card of old has sent in vain may be among them."""
        await turn.still_works_here()
        own = await mine(turn, own=True)
        wanted = [request for request in own if request.id in sources]
        lines = {str(r.id): {"what": await in_short(turn, r), "kind": "checking"} for r in wanted}
        fresh = [r for r in wanted if not await self._arrived(turn, card, r, period, own, lines)]
        shown = replace(
            card, state=state(card, "copying", period=period, lines={**_lines(card), **lines}), subject=None, live=False
        )
        if not wanted:
            turn.toast(turn.t("None of these requests can be found any more."), alert=True)
            await self.choose(turn, card)
            return
        self._show(turn, shown, [copying(turn, request, period, own) for request in sorted(fresh, key=_number)])

    async def _arrived(
        self, turn: Turn, card: Card, request: Request, period: str, own: list[Request], lines: dict[str, Any]
    ) -> bool:
        """Whether an earlier try that was given up has made its copy after all."""
        with turn.desk.db.read() as connection:
            tried = [i for i in intents.of_card(connection, card.id) if i.operation == COPY] if card.id else []
        for intent in tried:
            if intent.before["source"] != request.id or intent.body["finplan"] != period:
                continue
            late = [c for c in copies_of(request.id or 0, period, own) if c.id not in intent.before["known"]]
            if late:
                lines[str(request.id)] |= {"kind": "done", "copy": late[0].id}
                return True
        return False

    def _show(self, turn: Turn, card: Card, calls: Any = ()) -> None:
        """A line for each request, and what can be done when all are settled."""
        lines = _lines(card)
        period = turn.texts.month(card.state["period"])
        head = turn.texts.html("🗂 <b>%(words)s</b>", words=turn.t("Copying into %(month)s", month=period))
        text = "\n".join(
            [head, "", *[_line(turn, line) for _, line in sorted(lines.items(), key=lambda one: int(one[0]))]]
        )
        rows: list[tuple[Button, ...]] = []
        if all(line["kind"] != "checking" for line in lines.values()):
            failed = [number for number, line in lines.items() if line["kind"] != "done"]
            if failed:
                label = turn.texts.n("Try %(count)d again", "Try %(count)d again", len(failed))
                rows.append((Button(label, "copy_again"),))
            rows.append((Button(turn.t("‹ My requests"), "list"),))
        turn.show(card, View(text, tuple(rows)), intend=tuple(calls))

    async def again(self, turn: Turn, card: Card) -> None:
        """The ones that failed once more."""
        failed = [int(number) for number, line in _lines(card).items() if line["kind"] != "done"]
        await self.send(turn, card, failed, card.state["period"])

    async def refresh(self, turn: Turn, card: Card) -> None:
        """The lines from what became of the calls, also where an outcome could not be shown when it came."""
        if card.state["screen"] == "copy":
            await self.choose(turn, card, list(card.state["chosen"]), int(card.state["page"]))
            return
        with turn.desk.db.read() as connection:
            made = [i for i in intents.of_card(connection, card.id) if i.operation == COPY]
        lines = _lines(card)
        for intent in made:
            line = lines.get(str(intent.before["source"]))
            if line is not None and line["kind"] == "checking":
                line["kind"] = WORDS_OF.get(intent.state, intent.state)
        self._show(turn, card.with_state(lines=lines))

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """One of the calls has its outcome; the person may have gone to another screen meanwhile."""
        source = str(intent.before["source"])
        number = int(settled.data[0]["id"]) if settled.kind == "done" else None
        if number is not None:
            await self._known(turn, number)
        lines = _lines(card)
        if card.state.get("screen") != "copying" or source not in lines:
            if settled.kind != "checking":
                turn.say(
                    _line(turn, {"what": f"#{source}", "kind": settled.kind, "why": settled.message, "copy": number})
                )
            return
        lines[source] |= {"kind": settled.kind, "why": settled.message, "copy": number}
        self._show(turn, card.with_state(lines=lines))

    async def _known(self, turn: Turn, number: int) -> None:
        """The copy is known to its author as it is now: what comes after is told."""
        try:
            made = next((request for request in await mine(turn) if request.id == number), None)
        except WorkspaceError:
            return
        if made is not None:
            copy = made

            def note(connection: Connection) -> None:
                followed.note(connection, copy, turn.now)

            turn.change(note)


def _number(request: Request) -> int:
    return request.id or 0


def _lines(card: Card) -> dict[str, Any]:
    return {number: dict(line) for number, line in card.state.get("lines", {}).items()}


def _line(turn: Turn, line: Mapping[str, Any]) -> str:
    """One request and what became of its copy, as HTML."""
    if line["kind"] == "done" and line.get("copy"):
        said = "✅ " + turn.t("copied, no. %(id)s", id=line["copy"])
    elif line["kind"] == "done":
        said = "✅ " + turn.t("the copy is made")
    elif line["kind"] == "refused":
        said = "⛔ " + turn.t("refused: %(why)s", why=line.get("why") or "?")
    elif line["kind"] == "checking":
        said = "⏳ " + turn.t("being copied; do not do it again")
    else:
        said = "⚠️ " + turn.t("not seen in the workspace")
    return turn.texts.html("%(what)s\n   %(said)s", what=line["what"], said=said)
