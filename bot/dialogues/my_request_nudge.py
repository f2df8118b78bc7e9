"""Remind: whoever's turn a request is gets a message with its name, once a day from one author."""

from datetime import UTC, datetime

from sqlalchemy import Connection, select

from bot import chain, outbox, people, preferences, quiet
from bot.comments import title
from bot.desk import Desk, Turn
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
    holders = await turn.desk.directory.holders(block)
    with turn.desk.db.read() as connection:
        found = [people.find_user(connection, holder) for holder in holders if holder != turn.known().user_id]
    linked = [person for person in found if person is not None and not person.blocked]
    if not linked:
        names = ", ".join([await turn.desk.directory.name(holder) for holder in holders]) or "?"
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
        _remind(turn, person, await _message(turn.desk, turn, person, request, since))
    turn.note("reminded", f"request:{request.id}", note=", ".join(person.user_id for person in fresh))
    turn.toast(turn.t("Reminded: %(names)s.", names=names), alert=True)


def _key(turn: Turn, person: Person) -> str:
    return f"nudge:{turn.known().user_id}:{person.user_id}:{turn.today.date().isoformat()}"


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


async def _message(desk: Desk, turn: Turn, person: Person, request: Request, since: datetime | None) -> str:
    """In the approver's language: who reminds, of what, and how long it has waited."""
    texts = desk.texts_of(person)
    currency = (await desk.directory.currencies()).get(request.currency_code or "")
    lines = [
        texts.html(
            "🔔 <b>%(who)s</b> reminds you of “%(name)s”, %(money)s.",
            who=await desk.directory.name(turn.known().user_id),
            name=title(texts, request),
            money=texts.money(request.sum, currency, request.currency_code),
        )
    ]
    if since is not None:
        long = in_words(texts, worked(since, datetime.fromtimestamp(turn.now, UTC), texts.zone))
        lines.append(texts.html("It has waited for you %(long)s.", long=long))
    lines.append(texts.t("/requests shows what waits for your decision."))
    return "\n".join(lines)
