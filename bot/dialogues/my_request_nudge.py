"""Remind: whoever's turn a request is, or stands in for them, gets a message with its name, once a day an author."""

from datetime import UTC, datetime

from sqlalchemy import Connection, select

from bot import chain, deputies, outbox, people, preferences, quiet
from bot.comments import title
from bot.deputies import Leave
from bot.desk import Turn
from bot.dialogues.my_request_view import parents_of
from bot.people import Person
from bot.tables import outbox as outbox_table
from bot.working_time import in_words, worked
from workspace_api.contract.finplan import Request


async def nudge(turn: Turn, request: Request) -> None:
    """Reminds the holders of the block whose turn it is, and says on the tap what became of it."""
    await turn.still_works_here()
    parents = await parents_of(turn.desk.directory)
    block = chain.next_block(request, parents)
    if block is None:
        turn.toast(turn.t("Nobody's decision is awaited now."), alert=True)
        return
    asked = await _asked(turn, block)
    with turn.desk.db.read() as connection:
        found = [(people.find_user(connection, user), leave) for user, leave in asked.items()]
    linked = {person: leave for person, leave in found if person is not None and not person.blocked}
    if not linked:
        names = ", ".join([await turn.desk.directory.name(user) for user in asked]) or "?"
        words = turn.t("%(names)s: not linked to me, so I cannot remind them. Write to them yourself.", names=names)
        turn.toast(words, alert=True)
        return
    awake = [person for person in linked if not _is_quiet(turn, person)]
    if not awake:
        names = ", ".join([await turn.desk.directory.name(person.user_id) for person in linked])
        turn.toast(
            turn.t("%(names)s: quiet hours now, so I do not disturb. Remind them later.", names=names), alert=True
        )
        return
    fresh = [person for person in awake if not _reminded(turn, person)]
    names = ", ".join([await turn.desk.directory.name(person.user_id) for person in fresh or awake])
    if not fresh:
        turn.toast(turn.t("You have reminded %(names)s today already.", names=names), alert=True)
        return
    since = next((step.since for step in chain.steps(request, parents) if step.standing == "next"), None)
    for person in fresh:
        _remind(turn, person, await _message(turn, person, request, since, linked[person]))
    turn.note("reminded", f"request:{request.id}", note=", ".join(person.user_id for person in fresh))
    turn.toast(turn.t("Reminded: %(names)s.", names=names), alert=True)


def _key(turn: Turn, person: Person) -> str:
    # By the house's calendar: one's own zone is a setting, and would be another day at will.
    return f"nudge:{turn.known().user_id}:{person.user_id}:{deputies.today(turn.desk).isoformat()}"


def _reminded(turn: Turn, person: Person) -> bool:
    query = select(outbox_table.c.id).where(outbox_table.c.once == _key(turn, person))
    with turn.desk.db.read() as connection:
        return connection.execute(query).first() is not None


def _is_quiet(turn: Turn, person: Person) -> bool:
    with turn.desk.db.read() as connection:
        hours = quiet.window(preferences.get(connection, person.user_id, "quiet"))
    zone = turn.desk.texts_of(person).zone
    return quiet.is_quiet(hours, datetime.fromtimestamp(turn.now, UTC).astimezone(zone))


def _remind(turn: Turn, person: Person, html: str) -> None:
    def change(connection: Connection) -> None:
        outbox.say(connection, person.telegram_id, html, turn.now, once=_key(turn, person))

    turn.change(change)


async def _asked(turn: Turn, block: int) -> dict[str, Leave | None]:
    """Whose decision it is: the holders of the block, or who stands in for them, with the leave that it is for."""
    today = deputies.today(turn.desk)
    with turn.desk.db.read() as connection:
        leaves = {leave.user_id: leave for leave in deputies.open_ones(connection, today) if leave.on(today)}
    found: dict[str, Leave | None] = {}
    for holder in await turn.desk.directory.holders(block):
        leave = leaves.get(holder)
        user = holder if leave is None else leave.deputy_id
        if user != turn.known().user_id:
            found[user] = leave
    return found


async def _message(turn: Turn, person: Person, request: Request, since: datetime | None, leave: Leave | None) -> str:
    """In the approver's language: who reminds, of what, and how long it has waited."""
    desk, texts = turn.desk, turn.desk.texts_of(person)
    currency = (await desk.directory.currencies()).get(request.currency_code or "")
    lines = [
        texts.html(
            "🔔 <b>%(who)s</b> reminds you of “%(name)s”, %(money)s.",
            who=await desk.directory.name(turn.known().user_id),
            name=title(texts, request),
            money=texts.money(request.sum, currency, request.currency_code),
        )
    ]
    if leave is not None:
        lines.append(texts.html("<i>%(leave)s</i>", leave=await deputies.in_words(desk, texts, leave)))
    if since is not None:
        long = in_words(texts, worked(since, datetime.fromtimestamp(turn.now, UTC), texts.zone))
        lines.append(texts.html("It has waited for you %(long)s.", long=long))
    lines.append(texts.t("/requests shows what waits for your decision."))
    return "\n".join(lines)
