"""/vacation: who stands in? ──(name)──► until when? ──(days)──► sure? ──(Yes)──► on leave ──(I am back)──► ended

During the leave the approver is not pushed; the deputy gets what the workspace lets them decide (bot/deputies.py).
Both are told in words at the naming, also where the rights do not reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from rapidfuzz import fuzz
from sqlalchemy import Connection

from bot import access, days_of_leave, deputies, outbox, people
from bot.cards import Button, Card, View
from bot.deputies import OBSTACLES, Leave, day_in_words
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.request_queue import ACCEPTS, look
from bot.dialogues.request_view import decisions
from bot.directory import is_active
from bot.people import Person
from bot.texts import Texts, sentence

OFFERED = 6
"""People offered at once."""

ALIKE = 70.0
"""How much of a typed name must be found in a person's, from 0 to 100."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of all the requests that wait the deputy may decide; `same`: they hold one of the same positions."""

    may: int
    all: int
    same: bool

    def to_the_absent(self, texts: Texts, name: str) -> str:
        """What the person who goes is told of it."""
        if self.may < self.all:
            return texts.t(
                "Of the requests that wait now (%(all)d) the workspace lets %(name)s decide %(may)d. "
                "Of the others you both are told.",
                all=self.all,
                name=name,
                may=self.may,
            )
        if self.all:
            return texts.t("The workspace lets %(name)s decide all that waits now.", name=name)
        if self.same:
            return texts.t("%(name)s holds the same position, so the workspace lets them decide.", name=name)
        return texts.t(
            "%(name)s does not hold your position. What the workspace lets them decide comes to them; "
            "of all else you both are told.",
            name=name,
        )

    def to_the_deputy(self, texts: Texts) -> str:
        """What the deputy is told of it."""
        if self.may < self.all:
            return texts.t(
                "Of the requests that wait now (%(all)d) the workspace lets you decide %(may)d. "
                "Of the others you both are told.",
                all=self.all,
                may=self.may,
            )
        return texts.t("The requests come to you here. You decide with your own key, and both names are noted.")


class Vacation(Dialogue):
    """Leave, and who stands in."""

    name = "vacation"
    commands = (Command("vacation", sentence("I am away: who decides for me")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        turn.api()
        card = turn.new_card(self.name)
        leave = self._leave(turn)
        if leave is not None:
            await self._show_leave(turn, card, leave)
        else:
            await self._ask_who(turn, card, words)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "who":
            await self._ask_who(turn, card, "")
        elif action == "when":
            await self._ask_when(turn, card.with_state(deputy=args.get("deputy") or card.state["deputy"]))
        elif action == "days":
            first, last = date.fromisoformat(args["first"]), date.fromisoformat(args["last"])
            await self._ask_sure(turn, card, first, last)
        elif action == "begin":
            await self._begin(turn, card)
        elif action == "end":
            await self._end(turn, card, int(args["leave"]))
        else:
            turn.show(card, View(turn.t("All right, nothing was changed.")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        if question == "who":
            await self._ask_who(turn, card, text)
            return
        found = days_of_leave.parse(text, deputies.today(turn.desk))
        if found is None:
            await self._ask_when(turn, card, turn.t("I did not find days from today on in this."))
        else:
            await self._ask_sure(turn, card, *found)

    async def refresh(self, turn: Turn, card: Card) -> None:
        leave = self._leave(turn)
        if leave is not None:
            await self._show_leave(turn, card, leave)
        else:
            await self._ask_who(turn, card, "")

    async def abandoned(self, turn: Turn, card: Card) -> None:
        """A command ended the question."""
        turn.show(card, View(turn.t("All right, nothing was changed.")))

    def _leave(self, turn: Turn) -> Leave | None:
        with turn.desk.db.read() as connection:
            return deputies.of(connection, turn.known().user_id, deputies.today(turn.desk))

    async def _ask_who(self, turn: Turn, card: Card, words: str) -> None:
        """Offers those who can stand in: the likeliest first, or those whose name is like what was typed."""
        today = deputies.today(turn.desk)
        able = [person for person in self._linked(turn) if await self._obstacle(turn, person, today, today) is None]
        names = {person.user_id: await turn.desk.directory.name(person.user_id) for person in able}
        found = _alike(words, names) if words else await self._nearest(turn, list(names))
        question = turn.t("Who decides for you while you are away? Choose, or write a name.")
        note = ""
        if words and not found:
            note = await self._why_nobody(turn, words, today)
        elif not names:
            note = turn.t("Nobody who could stand in is linked to me with a key of their own.")
        rows = [(Button(names[user], "when", {"deputy": user}),) for user in found[:OFFERED]]
        rows.append((Button(turn.t("Cancel"), "cancel"),))
        turn.show(card, View(_lines(turn, question, note), tuple(rows)), expect="who")

    async def _why_nobody(self, turn: Turn, words: str, today: date) -> str:
        """Why the person whose name was typed is not offered."""
        profiles = await turn.desk.directory.people()
        names = {user: profile.user_name or profile.name or user for user, profile in profiles.items()}
        found = _alike(words, names)
        if not found:
            return turn.t("Nobody is called like “%(words)s”.", words=words[:40])
        reason = await self._obstacle(turn, found[0], today, today) or "unlinked"
        return turn.t(OBSTACLES[reason], name=names[found[0]])

    def _linked(self, turn: Turn) -> list[Person]:
        with turn.desk.db.read() as connection:
            return people.everyone(connection)

    async def _obstacle(self, turn: Turn, deputy: Person | str, first: date, last: date) -> str | None:
        user = deputy if isinstance(deputy, str) else deputy.user_id
        with turn.desk.db.read() as connection:
            person = people.find_user(connection, user) if isinstance(deputy, str) else deputy
            leaves = deputies.open_ones(connection, deputies.today(turn.desk))
        active = is_active((await turn.desk.directory.people()).get(user), deputies.today(turn.desk).isoformat())
        linked = {user: person} if person is not None else {}
        return deputies.obstacle(turn.known().user_id, user, linked, active, leaves, first, last)

    async def _nearest(self, turn: Turn, users: Sequence[str]) -> list[str]:
        """Who holds one of the same blocks comes first, then those of the block above, then the others by name."""
        mine = await turn.desk.directory.blocks_of(turn.known().user_id)
        blocks = await turn.desk.directory.blocks()
        above = {blocks[block].parent_id for block in mine if block in blocks}
        rank: dict[str, int] = {}
        for user in users:
            theirs = set(await turn.desk.directory.blocks_of(user))
            rank[user] = 0 if theirs & set(mine) else 1 if theirs & above else 2
        return sorted(users, key=lambda user: (rank[user], user))

    async def _ask_when(self, turn: Turn, card: Card, note: str = "") -> None:
        today = deputies.today(turn.desk)
        choices = (
            (turn.t("This week"), days_of_leave.week(today)),
            (turn.t("Two weeks"), days_of_leave.two_weeks(today)),
        )
        rows = [
            (
                Button(
                    f"{words} ({_days(turn, first, last)})",
                    "days",
                    {"first": first.isoformat(), "last": last.isoformat()},
                ),
            )
            for words, (first, last) in choices
        ]
        rows.append((Button(turn.t("‹ Back"), "who"),))
        question = turn.t("From when until when? Choose, or write for example 1.12–14.12.")
        turn.show(card, View(_lines(turn, question, note), tuple(rows)), expect="when")

    async def _ask_sure(self, turn: Turn, card: Card, first: date, last: date) -> None:
        """All of it once more, with how far the deputy's rights reach."""
        deputy = str(card.state["deputy"])
        reason = await self._obstacle(turn, deputy, first, last)
        name = await turn.desk.directory.name(deputy)
        if reason is not None:
            await self._ask_when(turn, card, turn.t(OBSTACLES[reason], name=name))
            return
        question = turn.t(
            "%(name)s decides for you, %(days)s. You are not pushed in these days.",
            name=name,
            days=_days(turn, first, last),
        )
        rows = (
            (Button(turn.t("Yes, so be it"), "begin", style="success"),),
            (Button(turn.t("‹ Back"), "when"),),
        )
        reach = (await self._reach(turn, deputy)).to_the_absent(turn.texts, name)
        shown = card.with_state(first=first.isoformat(), last=last.isoformat())
        turn.show(shown, View(_lines(turn, question, reach), rows))

    async def _reach(self, turn: Turn, deputy: str) -> Reach:
        """How far the deputy's rights reach: judged by what waits now, read with the deputy's own key."""
        with turn.desk.db.read() as connection:
            person = people.find_user(connection, deputy)
        assert person is not None, "who is not linked cannot be named"
        waiting = (await look(turn)).to_decide()
        reading = await look(Turn(turn.desk, person.telegram_id, person.telegram_id, turn.texts, person))
        may = 0
        for request in waiting:
            seen = reading.requests.get(request.id or 0)
            possible = {} if seen is None else decisions(seen, list(reading.blocks), reading.user_id)
            may += bool(set(ACCEPTS) & set(possible)) and request.author_id != deputy
        mine = set(await turn.desk.directory.blocks_of(turn.known().user_id))
        return Reach(may, len(waiting), bool(mine & set(reading.blocks)))

    async def _begin(self, turn: Turn, card: Card) -> None:
        """Checks afresh, notes the leave, and tells the deputy."""
        await access.still_works_here(turn)
        person, deputy = turn.known(), str(card.state["deputy"])
        first, last = date.fromisoformat(card.state["first"]), date.fromisoformat(card.state["last"])
        reason = await self._obstacle(turn, deputy, first, last)
        name = await turn.desk.directory.name(deputy)
        if reason is not None or last < deputies.today(turn.desk):
            words = turn.t("These days have passed.") if reason is None else turn.t(OBSTACLES[reason], name=name)
            await self._ask_when(turn, card, words)
            return
        turn.change(lambda connection: deputies.begin(connection, person.user_id, deputy, first, last, turn.now))
        days = {"deputy": deputy, "first": first.isoformat(), "last": last.isoformat()}
        turn.note("leave", f"person:{person.user_id}", after=days, note=f"{deputy} decides for {person.user_id}")
        await self._tell(turn, deputy, first, last)
        head = turn.t("%(name)s decides for you, %(days)s.", name=name, days=_days(turn, first, last))
        said = turn.t("%(name)s has been told. /vacation ends it.", name=name)
        turn.show(card, View(_lines(turn, "✅ " + head, said)))

    async def _tell(self, turn: Turn, deputy: str, first: date, last: date) -> None:
        """The deputy, in their own language."""
        with turn.desk.db.read() as connection:
            person = people.find_user(connection, deputy)
        if person is None:
            return
        there = Turn(turn.desk, person.telegram_id, person.telegram_id, turn.desk.texts_of(person), person)
        away = await turn.desk.directory.name(turn.known().user_id)
        words = there.t("You stand in for %(name)s, %(days)s.", name=away, days=_days(there, first, last))
        reach = (await self._reach(turn, deputy)).to_the_deputy(there.texts)
        _say(turn, person, f"🌴 {_lines(there, words, reach)}")

    async def _show_leave(self, turn: Turn, card: Card, leave: Leave) -> None:
        name = await turn.desk.directory.name(leave.deputy_id)
        words = turn.t(
            "%(name)s decides for you, %(days)s.", name=name, days=_days(turn, leave.first_day, leave.last_day)
        )
        running = leave.on(deputies.today(turn.desk))
        label = turn.t("I am back") if running else turn.t("Cancel the leave")
        rows = ((Button(label, "end", {"leave": leave.id}, style="primary"),),)
        turn.show(card, View(_lines(turn, "🌴 " + words, ""), rows))

    async def _end(self, turn: Turn, card: Card, number: int) -> None:
        await turn.still_works_here()
        leave = self._leave(turn)
        if leave is None or leave.id != number:
            turn.show(card, View(turn.t("This leave is over already.")))
            return
        turn.change(lambda connection: deputies.end(connection, number, turn.now))
        turn.note("back", f"person:{leave.user_id}", before={"deputy": leave.deputy_id}, note="leave ended")
        with turn.desk.db.read() as connection:
            deputy = people.find_user(connection, leave.deputy_id)
        if deputy is not None:
            there = turn.desk.texts_of(deputy)
            name = await turn.desk.directory.name(leave.user_id)
            words = there.t("%(name)s decides again. You do not stand in any more.", name=name)
            _say(turn, deputy, there.html("🌴 %(words)s", words=words))
        turn.show(card, View(turn.t("Welcome back. What waits for your decision comes to you again.")))


def _say(turn: Turn, person: Person, html: str) -> None:
    def say(connection: Connection) -> None:
        outbox.say(connection, person.telegram_id, html, turn.now)

    turn.change(say)


def _days(turn: Turn, first: date, last: date) -> str:
    """`21 Nov 2026 – 30 Nov 2026`"""
    return (
        day_in_words(turn.texts, first)
        if first == last
        else " – ".join(day_in_words(turn.texts, day) for day in (first, last))
    )


def _lines(turn: Turn, words: str, note: str) -> str:
    """The sentence in bold, a note below it."""
    text = turn.texts.html("<b>%(words)s</b>", words=words)
    return text + ("\n\n" + turn.texts.html("%(note)s", note=note) if note else "")


def _alike(words: str, names: dict[str, str]) -> list[str]:
    """The user ids whose names are like the words, the likeliest first."""
    typed = words.casefold().strip()
    marks = {user: fuzz.partial_ratio(typed, name.casefold()) for user, name in names.items()}
    return sorted((user for user in names if marks[user] >= ALIKE), key=lambda user: (-marks[user], names[user]))
