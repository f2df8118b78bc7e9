"""What the chat page shows, as JSON: chats with their last line, messages with their looks, commands, people.

This is the page's own format (documented in `http_people`), close to the Bot API's where that is handy.
"""

from __future__ import annotations

from bot.sandbox import render
from bot.sandbox.methods.commands import commands_for, in_language
from bot.sandbox.model import Bot, Chat, Message, Person, ReplyKeyboard
from bot.sandbox.wire import Json, as_json
from bot.sandbox.world import World


def person(who: Person) -> Json:
    return {**render.person(who), "name": who.name}


def bot(of: Bot, language: str) -> Json:
    return {
        "id": of.id,
        "name": in_language(of.name, language),
        "username": of.username,
        "description": in_language(of.description, language),
    }


def title(world: World, chat: Chat, viewer: int) -> str:
    """A group's title; a private chat is called after the bot."""
    if chat.title is not None:
        return chat.title
    language = world.person(viewer).language_code
    return in_language(world.state.bots[chat.bots[0]].name, language)


def message(world: World, chat: Chat, said: Message, viewer: int) -> Json:
    record: Json = {
        "id": said.id,
        "revision": said.revision,
        "sender": said.sender,
        "name": chat.title if said.anonymous else world.sender_name(said.sender),
        "bot": said.sender in world.state.bots,
        "mine": said.sender == viewer,
        "date": said.date,
        "text": said.text,
        "entities": render.entities(world, said.entities),
    }
    if said.edited is not None:
        record["edited"] = said.edited
    if said.photo:
        file = world.state.files[said.photo[-1]]
        record["photo"] = {"id": file.id, "width": file.width, "height": file.height, "name": file.name}
    if said.document is not None:
        file = world.state.files[said.document]
        record["document"] = {"id": file.id, "name": file.name, "size": file.size, "mime": file.mime}
    if said.inline is not None:
        record["inline"] = as_json(said.inline.inline_keyboard)
        record["asks"] = said.via_bot or said.sender
    if said.reply_to is not None:
        record["reply_to"] = _quote(world, chat, said.reply_to)
    if said.via_bot is not None:
        record["via"] = world.state.bots[said.via_bot].username
    if said.origin is not None:
        record["forwarded"] = world.sender_name(said.origin.sender)
    if said.album is not None:
        record["album"] = said.album
    if said.service is not None:
        names = [world.sender_name(member) for member in said.service.members]
        record["service"] = {**as_json(said.service), "names": names}
    if said.reactions:
        record["reactions"] = [{"by": who, "emoji": emoji} for who, all_ in said.reactions.items() for emoji in all_]
    return record


def _quote(world: World, chat: Chat, message_id: int) -> Json:
    said = chat.messages.get(message_id)
    if said is None:
        return {"id": message_id, "sender": 0, "name": "", "text": ""}
    text = said.text or ("" if not said.document else world.state.files[said.document].name)
    return {
        "id": message_id,
        "sender": said.sender,
        "name": chat.title if said.anonymous else world.sender_name(said.sender),
        "text": text[:120],
        "photo": bool(said.photo),
    }


def chat_row(world: World, chat: Chat, viewer: int) -> Json:
    """A line of the chat list."""
    last = next(reversed(chat.messages.values()), None)
    seen = chat.read.get(viewer, 0)
    unread = sum(1 for said in chat.messages.values() if said.id > seen and said.sender != viewer)
    return {
        "key": chat.key,
        "id": chat.id,
        "type": chat.type,
        "title": title(world, chat, viewer),
        "started": chat.started,
        "blocked": chat.blocked,
        "unread": unread,
        "last": message(world, chat, last, viewer) if last is not None else None,
        "members": len(chat.members) + len(chat.bots),
    }


def chat_page(world: World, chat: Chat, viewer: int) -> Json:
    """A whole chat, as its page needs it."""
    who = world.person(viewer)
    bots = [world.state.bots[bot_id] for bot_id in chat.bots]
    menu: list[Json] = []
    for one in bots:
        found = commands_for(one, chat, viewer, who.language_code)
        menu += [{**as_json(command), "bot": one.username} for command in found]
    pinned = chat.messages[chat.pinned[-1]] if chat.pinned else None
    return {
        **chat_row(world, chat, viewer),
        "messages": [message(world, chat, said, viewer) for said in chat.messages.values()],
        "commands": menu,
        "bots": [bot(one, who.language_code) for one in bots],
        "people": [person(world.person(member)) for member in chat.members],
        "keyboard": keyboard(chat),
        "pinned": message(world, chat, pinned, viewer) if pinned is not None else None,
        "revision": world.state.revision,
    }


def keyboard(chat: Chat) -> Json | None:
    """The reply keyboard that counts now: of the newest message that brought or removed one.

    A one-time keyboard is gone once somebody has written after it; so is a forced reply.
    """
    answered = False
    for said in reversed(chat.messages.values()):
        found = said.reply_markup
        if found is not None:
            once = not isinstance(found, ReplyKeyboard) or bool(found.one_time_keyboard)
            return None if answered and once else {**as_json(found), "message": said.id}
        answered = answered or said.sender not in chat.bots
    return None
