"""What is told to ops: the chats of WORKSPACE_OPS, which are linked people's user ids or chat numbers."""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from bot import outbox, people
from bot.desk import Desk
from bot.texts import Texts


def chats(connection: Connection, ops: Iterable[str], desk: Desk) -> list[tuple[int, Texts]]:
    """Each chat of ops with the texts it is spoken to in; who is not linked is left out."""
    found: list[tuple[int, Texts]] = []
    for name in ops:
        person = people.find_user(connection, name)
        if person is not None:
            found.append((person.telegram_id, desk.texts_of(person)))
        elif name.lstrip("-").isdigit():
            found.append((int(name), desk.texts(desk.house.language)))
    return found


def tell(connection: Connection, desk: Desk, words: Callable[[Texts], str], once: str) -> int:
    """Says it to each of them once, by the key; returns how many heard of it now. `words` gives HTML."""
    told = 0
    for chat_id, texts in chats(connection, desk.house.ops, desk):
        told += outbox.say(connection, chat_id, words(texts), desk.now(), once=f"{once}:{chat_id}")
    return told
