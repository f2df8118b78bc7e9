"""/run: which automation? ──(one)──► what it does ──(Run it)──► under way ─► done, failed, … (the card follows)
/run rates: the one of that name or word at once

Listed and run is what this person may run: those who are named by an automation as its people, else those of @ops.
A run is asked for under the name of the tapped button, so that a tap that is handled twice runs it once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot import roles
from bot.cards import Button, Card, View
from bot.desk import Desk, Refusal, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.questions import control_of
from bot.incoming import Tapped
from bot.texts import Texts, sentence, short
from workspace_api.contract import nearest

if TYPE_CHECKING:
    from automations.acts import Runnable
    from automations.ledger import RunLine

DIALOGUE = "automations"

PAGE = 8
"""Automations on one page of the list."""

ENDED = ("done", "failed", "stopped", "cancelled")

STATES = {
    "asked": sentence("⏳ Waits for a runner"),
    "waiting": sentence("⏳ Waits for a runner"),
    "running": sentence("⏳ Is running"),
    "parked": sentence("⏸ Waits for another run"),
    "done": sentence("✅ Done"),
    "failed": sentence("❌ Failed"),
    "stopped": sentence("🛑 Stopped: somebody has to look what has happened"),
    "cancelled": sentence("🚫 Cancelled"),
}
"""What the card of a run says of its state."""


class Automations(Dialogue):
    """Automations that people start from the chat."""

    name = DIALOGUE
    commands = (Command("run", sentence("Start an automation")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        card = turn.new_card(self.name)
        mine = await _mine(turn)
        if not words:
            self._list(turn, card, mine, 0)
            return
        found = _named(mine, words)
        if found is None:
            near = nearest(words.lower(), [name for one in mine for name in (one.name, *one.chat)])
            text = turn.texts.html("There is no automation “%(words)s” that you may run.", words=short(words, 60))
            hint = turn.texts.html(" Did you mean %(name)s?", name=near) if near else ""
            turn.say(text + hint)
        else:
            self._confirm(turn, card, found)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "page":
            self._list(turn, card, await _mine(turn), int(args["page"]))
        elif action == "choose":
            self._confirm(turn, card, await self._one(turn, str(args["name"])))
        elif action == "run":
            await self._run(turn, card, str(args["name"]))
        else:
            turn.show(card, View(turn.t("All right, nothing was started.")))

    async def refresh(self, turn: Turn, card: Card) -> None:
        run_id = card.state.get("run")
        if run_id is not None:
            show_run(turn, card, await line_of(turn.desk, str(run_id)))
        elif "name" in card.state:
            self._confirm(turn, card, await self._one(turn, str(card.state["name"])))
        else:
            self._list(turn, card, await _mine(turn), 0)

    async def _one(self, turn: Turn, name: str) -> "Runnable":
        """The automation, which this person may run. Raises Refusal."""
        found = next((one for one in await _mine(turn) if one.name == name), None)
        if found is None:
            raise Refusal(turn.t("You may not run %(name)s any more, or it is gone.", name=name))
        return found

    def _list(self, turn: Turn, card: Card, mine: "Sequence[Runnable]", page: int) -> None:
        if not mine:
            turn.show(card, View(turn.t("There is no automation that you may run.")))
            return
        page = min(page, (len(mine) - 1) // PAGE)
        shown = mine[page * PAGE : (page + 1) * PAGE]
        lines = [turn.texts.html("▶️ <b>%(question)s</b>", question=turn.t("Which automation?"))]
        lines += [
            turn.texts.html("• <b>%(name)s</b>: %(does)s", name=one.name, does=short(one.description, 120))
            for one in shown
            if one.description
        ]
        rows = [(Button(one.chat[0] if one.chat else one.name, "choose", {"name": one.name}),) for one in shown]
        turning = [Button("‹", "page", {"page": page - 1})] if page else []
        turning += [Button("›", "page", {"page": page + 1})] if (page + 1) * PAGE < len(mine) else []
        view = View("\n".join(lines), (*rows, tuple(turning), (Button(turn.t("Cancel"), "cancel"),)))
        turn.show(card.with_state(page=page), view)

    def _confirm(self, turn: Turn, card: Card, one: "Runnable") -> None:
        does = one.description.strip() or turn.t("Its file does not describe what it does.")
        text = turn.texts.html(
            "▶️ <b>%(name)s</b>\n%(does)s\n\n%(question)s",
            name=one.name,
            does=short(does, 2000),
            question=turn.t("Run it now?"),
        )
        rows = (
            (Button(turn.t("Run it"), "run", {"name": one.name}, style="success"),),
            (Button(turn.t("‹ Back"), "page", {"page": card.state.get("page", 0)}), Button(turn.t("Cancel"), "cancel")),
        )
        turn.show(card.with_state(name=one.name), View(text, rows))

    async def _run(self, turn: Turn, card: Card, name: str) -> None:
        from automations.engine import Cause

        await turn.still_works_here()
        one = await self._one(turn, name)
        tap = turn.incoming
        assert isinstance(tap, Tapped), "only a tap begins a run"
        run_id = await control_of(turn).ask_for_run(one.name, turn.known().user_id, Cause.CHAT, once=tap.handle)
        turn.note("ran", f"run:{run_id}", note=one.name)
        asked = replace(card, state={"name": one.name, "run": run_id}, subject=f"run:{run_id}")
        show_run(turn, asked, await line_of(turn.desk, run_id))


async def _mine(turn: Turn) -> "list[Runnable]":
    """What this person may run as things stand now, those with a word of their own in chat first."""
    known = await asyncio.to_thread(control_of(turn).runnable)
    groups = {one.people for one in known}
    with turn.desk.db.read() as connection:
        # Thousands of automations name few groups of people.
        may = {
            group: roles.is_meant(connection, turn.known(), group or (roles.OPS,), turn.desk.house) for group in groups
        }
    return sorted((one for one in known if may[one.people]), key=lambda one: (not one.chat, one.name))


def _named(mine: "Sequence[Runnable]", words: str) -> "Runnable | None":
    """The automation of that name, else the one that has this word in chat."""
    said = " ".join(words.lower().split())
    by_word = [one for one in mine if said in {" ".join(word.lower().split()) for word in one.chat}]
    return next((one for one in mine if one.name == said), by_word[0] if len(by_word) == 1 else None)


async def line_of(desk: Desk, run_id: str) -> "RunLine | None":
    """What the ledger knows of a run; None where it is gone."""
    assert desk.automations is not None, "only asked where there are automations"
    return await asyncio.to_thread(desk.automations.ledger.run, run_id)


def show_run(turn: Turn, card: Card, line: "RunLine | None") -> None:
    """The card of a run as it stands; once it has ended the card follows it no more."""
    state = _state(line)
    shown = replace(card.with_state(shown=standing(line)), live=state not in ENDED)
    turn.show(shown, View(_told(turn.texts, str(card.state["name"]), line)))


def standing(line: "RunLine | None") -> str:
    """What the card of a run depends on: another text means that it is to be shown anew."""
    return _state(line) if line is None else f"{_state(line)} {line.wake_on or line.wake_at or ''}"


def _state(line: "RunLine | None") -> str:
    return "cancelled" if line is None else line.state


def _told(texts: Texts, name: str, line: "RunLine | None") -> str:
    """What a run has come to, as HTML."""
    state = _state(line)
    lines = [texts.html("▶️ <b>%(name)s</b>", name=name), _words(texts, state, line)]
    if line is not None and state in {"failed", "stopped"}:
        where = f"{line.step}: " if line.step else ""
        lines.append(texts.html("%(why)s", why=short(f"{where}{line.message or ''}", 1500)))
    if line is not None and state in ENDED:
        lines.append(texts.html("<i>%(run)s</i>", run=line.run_id))
    return "\n".join(lines)


def _words(texts: Texts, state: str, line: "RunLine | None") -> str:
    if state == "parked" and line is not None and (line.wake_on or "").startswith("question:"):
        return texts.t("⏸ Waits for an answer")
    if state == "parked" and line is not None and line.wake_on is None and line.wake_at is not None:
        return texts.t("⏸ Waits until %(when)s", when=texts.moment(datetime.fromisoformat(line.wake_at)))
    ended = None if line is None or line.ended_at is None else datetime.fromisoformat(line.ended_at)
    said = texts.t(STATES.get(state, state))
    return f"{said}, {texts.moment(ended)}" if state in ENDED and ended is not None else said
