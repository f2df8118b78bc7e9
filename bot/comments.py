"""Comments on requests: a reply to a card, kept here, since the workspace has no operation for them.

reply to a card ─► take(): kept ─► told to the author, to those who decided and who come next (not the writer)
card ─► lines(): the last three
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, select

from bot import chain, outbox, people
from bot.desk import Desk, Turn
from bot.incoming import Said
from bot.people import Person
from bot.tables import comments
from bot.texts import Texts, short
from workspace_api.contract.finplan import Request

LONGEST = 1000
"""Characters of one comment."""

MOST, HOUR = 20, 3600.0
"""Comments that one person may write within so many seconds: each is a message for several people."""

SHOWN = 3
"""Comments on a card."""

ON_CARD = 300
"""Characters shown of one comment on a card."""


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote; `created_at` in seconds since 1970."""

    id: int
    request_id: int
    user_id: str
    text: str
    created_at: float


async def take(turn: Turn, request: Request, said: Said) -> bool:
    """Keeps the reply to a request's card as a comment and tells who is concerned; false where it is none.

    The request is as the writer sees it now, read with their own key.
    """
    text = said.text.strip()
    if request.id is None or said.forwarded or not (text or said.photo):
        return False
    if not text:
        turn.say(turn.t("A comment is made of words: a picture alone cannot be kept with the request."))
        return True
    if len(text) > LONGEST:
        words = turn.t("A comment holds %(most)d characters, yours has %(count)d.", most=LONGEST, count=len(text))
        turn.say(turn.texts.html("%(words)s", words=words))
        return True
    await turn.still_works_here()
    with turn.desk.db.read() as connection:
        count = _written(connection, turn.known().user_id, turn.now - HOUR)
    if count >= MOST:
        words = turn.t("That is %(count)d comments of yours within an hour: this one was not kept.", count=count)
        turn.say(turn.texts.html("%(words)s", words=words))
        return True
    readers = await concerned(turn.desk, request, but=turn.known().user_id)
    told = [(reader, await _message(turn.desk, reader, request, turn.known().user_id, text)) for reader in readers]
    writer, at = turn.known().user_id, turn.now

    def keep(connection: Connection) -> None:
        row = {"request_id": request.id, "user_id": writer, "text": text, "created_at": at}
        made = connection.execute(insert(comments).values(**row)).inserted_primary_key
        number = made[0] if made is not None else 0
        for reader, message in told:
            outbox.say(connection, reader.telegram_id, message, at, once=f"comment:{number}:{reader.telegram_id}")

    turn.change(keep)
    turn.note("commented", f"request:{request.id}")
    turn.say(await _receipt(turn, request, readers))
    return True


async def concerned(desk: Desk, request: Request, *, but: str) -> list[Person]:
    """The author, who decided in this round, and who comes next; the linked ones, each once, without `but`."""
    parents = {number: block.parent_id for number, block in (await desk.directory.blocks()).items()}
    following = chain.next_block(request, parents)
    users = [request.author_id or "", *chain.reviewers(request)]
    users += [] if following is None else await desk.directory.holders(following)
    with desk.db.read() as connection:
        found = [people.find_user(connection, user) for user in dict.fromkeys(users) if user and user != but]
    return [person for person in found if person is not None and not person.blocked]


async def _message(desk: Desk, reader: Person, request: Request, writer: str, text: str) -> str:
    texts = desk.texts_of(reader)
    head = texts.html(
        "💬 <b>%(who)s</b> about “%(name)s”:", who=await desk.directory.name(writer), name=title(texts, request)
    )
    return f"{head}\n{texts.html('%(text)s', text=text)}"


async def _receipt(turn: Turn, request: Request, readers: list[Person]) -> str:
    """What became of the comment: kept here, and who has it."""
    names = ", ".join([await turn.desk.directory.name(reader.user_id) for reader in readers])
    passed = (
        turn.t("Passed on to %(names)s.", names=names)
        if readers
        else turn.t("Nobody else of those concerned is linked to me, so nobody was told.")
    )
    stays = turn.t("Comments stay here in the chat: the workspace has no place for them.")
    head = turn.t("Comment on “%(name)s” kept.", name=title(turn.texts, request))
    return turn.texts.html("💬 %(head)s %(passed)s\n<i>%(stays)s</i>", head=head, passed=passed, stays=stays)


def title(texts: Texts, request: Request) -> str:
    """What a request is called in a sentence."""
    return short(request.name, 80) or texts.t("Request %(id)s", id=request.id)


def _written(connection: Connection, user_id: str, since: float) -> int:
    """How many comments a person has written since."""
    mine = (comments.c.user_id == user_id, comments.c.created_at > since)
    return int(connection.execute(select(func.count()).select_from(comments).where(*mine)).scalar_one())


def last(connection: Connection, request_id: int, count: int = SHOWN) -> list[Comment]:
    """The newest comments on a request, the oldest of them first."""
    query = select(comments).where(comments.c.request_id == request_id).order_by(comments.c.id.desc()).limit(count)
    rows = connection.execute(query).all()
    return [Comment(row.id, row.request_id, row.user_id, row.text, row.created_at) for row in reversed(rows)]


async def lines(desk: Desk, texts: Texts, request_id: int) -> str:
    """The last comments on a request as HTML lines for its card; empty where there are none."""
    with desk.db.read() as connection:
        found = last(connection, request_id)
    return "\n".join(
        [
            texts.html(
                "💬 %(who)s, %(when)s: %(text)s",
                who=await desk.directory.name(comment.user_id),
                when=texts.moment(datetime.fromtimestamp(comment.created_at, UTC)),
                text=short(comment.text, ON_CARD),
            )
            for comment in found
        ]
    )
