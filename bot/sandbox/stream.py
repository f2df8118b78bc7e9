"""The live stream of one person: server-sent events, one per change that they can see.

Each event is JSON with a `kind`: `message` and `edited` (with the whole message), `deleted`, `typing`, `answered`,
`inline`, `chat` (look at the chat list again), `bot` (name, commands), `person`, `faults`.
A page that lost the stream reads everything anew.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from bot.sandbox import view
from bot.sandbox.wire import Json
from bot.sandbox.world import Event, World

# A comment line at least this often (seconds), so that a dead connection is noticed.
HEARTBEAT = 15.0


async def events(world: World, person: int) -> AsyncIterator[bytes]:
    """The stream, until the server closes or the reader goes."""
    queue: asyncio.Queue[Event] = asyncio.Queue()
    silence = world.listen(queue.put_nowait)
    try:
        yield b"retry: 500\n\n: hello\n\n"
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT):
                    event = await queue.get()
            except TimeoutError:
                yield b": still here\n\n"
                continue
            if event.kind == "closing":
                return
            seen = seen_by(world, event, person)
            if seen is not None:
                yield f"data: {json.dumps(seen, ensure_ascii=False)}\n\n".encode()
    finally:
        silence()


def seen_by(world: World, event: Event, person: int) -> Json | None:
    """The event as this person's page gets it; None where it is not for them."""
    if event.kind in {"update", "pressed"}:
        return None
    record: Json = {"kind": event.kind, "chat": event.chat, "message": event.message, "detail": event.detail}
    if event.chat is None:
        return {**record, "bot": event.bot, "person": event.person}
    chat = world.state.chats.get(event.chat)
    if chat is None or person not in chat.members:
        return None
    if event.kind in {"answered", "inline"} and event.person != person:
        return None
    if event.kind == "typing" and event.bot is not None:
        record["name"] = world.sender_name(event.bot)
    if event.kind in {"message", "edited"} and event.message is not None:
        said = chat.messages.get(event.message)
        if said is None:
            return None
        record["message"] = view.message(world, chat, said, person)
        record["keyboard"] = view.keyboard(chat)
    return record
