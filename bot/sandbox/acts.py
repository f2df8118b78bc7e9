"""What people do: write, send files, edit, press, ask inline, react, block, make groups. Each act becomes updates.

Pure functions over the world; the tests' driver and the chat page's endpoints both call these.
"""

from __future__ import annotations

import re

from bot.sandbox import render
from bot.sandbox.html_text import detect, units
from bot.sandbox.methods.call import Upload
from bot.sandbox.methods.files import store_document, store_photo
from bot.sandbox.methods.formatting import CAPTION_LIMIT, TEXT_LIMIT, format_text, read_markup
from bot.sandbox.model import Asked, Bot, Button, Chat, InlineKeyboard, Message, Person, Press, Service
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json
from bot.sandbox.world import Event, World, message_in


def say(
    world: World,
    chat: Chat,
    person: int,
    text: str,
    *,
    reply_to: int | None = None,
    thread: int | None = None,
    anonymous: bool = False,
) -> Message:
    """A text message, at most 4096 UTF-16 code units. `anonymous`: an administrator who writes as the group."""
    return _post(world, chat, _words(world, chat, person, text, TEXT_LIMIT, reply_to, thread, anonymous))


def send_photo(
    world: World, chat: Chat, person: int, upload: Upload, caption: str = "", *, reply_to: int | None = None
) -> Message:
    message = _words(world, chat, person, caption, CAPTION_LIMIT, reply_to, None, False, empty=True)
    message.photo = store_photo(world, upload)
    return _post(world, chat, message)


def send_document(
    world: World, chat: Chat, person: int, upload: Upload, caption: str = "", *, reply_to: int | None = None
) -> Message:
    message = _words(world, chat, person, caption, CAPTION_LIMIT, reply_to, None, False, empty=True)
    message.document = store_document(world, upload)
    return _post(world, chat, message)


def start(world: World, chat: Chat, person: int, payload: str = "") -> Message:
    """The START button, with the payload of a deep link: up to 64 characters of A-Z a-z 0-9 _ -."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,64}", payload):
        raise bad("START_PARAM_INVALID: a start payload is up to 64 characters of A-Z, a-z, 0-9, _ and -")
    chat.blocked = False
    return say(world, chat, person, f"/start {payload}" if payload else "/start")


def _member(chat: Chat, person: int) -> None:
    if person not in chat.members:
        raise bad(f"person {person} is not in the chat {chat.key}")


def _words(
    world: World,
    chat: Chat,
    person: int,
    text: str,
    limit: int,
    reply_to: int | None,
    thread: int | None,
    anonymous: bool,
    *,
    empty: bool = False,
) -> Message:
    _member(chat, person)
    if chat.blocked:
        raise bad("you blocked this bot; unblock it to write")
    if anonymous and not chat.is_group:
        raise bad("only in a group can somebody write anonymously")
    words = text.strip().encode("utf-8", "replace").decode()
    if not words and not empty:
        raise bad("message text is empty")
    if units(words) > limit:
        raise bad("message is too long")
    if reply_to is not None:
        message_in(chat, reply_to, bad("message to be replied not found"))
    return Message(
        id=0, sender=person, date=world.message_date(), text=words, entities=detect(words, []),
        reply_to=reply_to, thread=thread, anonymous=anonymous,
    )  # fmt: skip


def _post(world: World, chat: Chat, message: Message) -> Message:
    chat.started = True
    world.post(chat, message)
    _hand_out(world, chat, message, "message")
    return message


def _hand_out(world: World, chat: Chat, message: Message, kind: str) -> None:
    """The update for every bot that may see this message."""
    for bot in _bots(world, chat):
        if sees(bot, chat, message):
            world.queue(bot, kind, render.message(world, chat, message))


def _bots(world: World, chat: Chat) -> list[Bot]:
    return [world.state.bots[bot_id] for bot_id in chat.bots if bot_id in world.state.bots]


def sees(bot: Bot, chat: Chat, message: Message) -> bool:
    """Telegram's privacy mode: in a group a bot sees what is meant for it, unless it is an administrator."""
    if not chat.is_group or bot.reads_all or bot.id in chat.admins:
        return True
    if message.service is not None or message.via_bot == bot.id:
        return True
    replied = chat.messages.get(message.reply_to) if message.reply_to is not None else None
    if replied is not None and replied.sender == bot.id:
        return True
    name = f"@{bot.username}".lower()
    raw = message.text.encode("utf-16-le")
    for entity in message.entities:
        word = raw[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le", "replace").lower()
        if entity.type == "mention" and word == name:
            return True
        if entity.type == "bot_command" and ("@" not in word or word.endswith(name)):
            return True
    return False


def edit(world: World, chat: Chat, person: int, message_id: int, text: str) -> Message:
    """New words for one's own message (or its caption); the bot gets `edited_message`."""
    message = _own(chat, person, message_id)
    words = text.strip()
    if not words and not message.has_media:
        raise bad("message text is empty")
    if units(words) > (CAPTION_LIMIT if message.has_media else TEXT_LIMIT):
        raise bad("message is too long")
    if words == message.text:
        return message
    message.text, message.entities = words, detect(words, [])
    world.changed(chat, message)
    _hand_out(world, chat, message, "edited_message")
    return message


def delete(world: World, chat: Chat, person: int, message_id: int) -> None:
    """Removes a message from the chat; a bot is not told, as at Telegram."""
    _member(chat, person)
    message = message_in(chat, message_id, bad("message to delete not found"))
    if chat.is_group and message.sender != person:
        raise bad("message can't be deleted")
    world.delete(chat, message_id)


def _own(chat: Chat, person: int, message_id: int) -> Message:
    message = message_in(chat, message_id, bad("message to edit not found"))
    if message.sender != person or message.service is not None or message.origin is not None:
        raise bad("message can't be edited")
    return message


def press(world: World, chat: Chat, person: int, message_id: int, data: str) -> Press:
    """A press on a button with `callback_data`. The message may be gone or changed: then the press is stale."""
    _member(chat, person)
    message = chat.messages.get(message_id)
    owner = (message.via_bot or message.sender) if message is not None else chat.bots[0] if chat.bots else 0
    if owner not in world.state.bots or chat.blocked:
        raise bad("BOT_RESPONSE_TIMEOUT: the bot of this message is not here")
    pressed = Press(
        id=str(int.from_bytes(world.new_id().encode()[:7], "big")), bot=owner, person=person, chat=chat.key,
        message=message_id, data=data, asked=world.clock(),
    )  # fmt: skip
    world.state.presses[pressed.id] = pressed
    _forget_oldest(world.state.presses)
    body = render.callback_query(world, chat, pressed, inaccessible=world.delivery.inaccessible)
    world.tell(Event(kind="pressed", chat=chat.key, message=message_id, person=person, detail={"press": pressed.id}))
    world.queue(world.state.bots[owner], "callback_query", body)
    return pressed


def _forget_oldest(kept: dict[str, Press], most: int = 1000) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]


def ask_inline(world: World, chat: Chat, person: int, bot_id: int, query: str, offset: str = "") -> Asked:
    """An inline query (`@bot words`) typed in this chat."""
    _member(chat, person)
    bot = world.state.bots.get(bot_id)
    if bot is None:
        raise bad(f"there is no bot {bot_id} in Local Telegram")
    asked = Asked(
        id=str(int.from_bytes(world.new_id().encode()[:7], "big")), bot=bot_id, person=person, chat=chat.key,
        query=query[:256], offset=offset, asked=world.clock(),
    )  # fmt: skip
    world.state.asked[asked.id] = asked
    while len(world.state.asked) > 200:
        del world.state.asked[next(iter(world.state.asked))]
    world.queue(bot, "inline_query", render.inline_query(world, chat, asked))
    return asked


def choose_inline(world: World, asked: Asked, result_id: str) -> Message:
    """Sends a result of an answered inline query into the chat, as the person, via the bot."""
    chat, bot = world.chat(asked.chat), world.state.bots[asked.bot]
    result = next((one for one in asked.results or [] if one["id"] == result_id), None)
    if result is None:
        raise bad("RESULT_ID_INVALID")
    content: Json = result["input_message_content"]
    text, entities = format_text(str(content["message_text"]), str(content.get("parse_mode") or ""), None)
    keyboard = read_markup(result.get("reply_markup"))
    message = Message(
        id=0, sender=asked.person, date=world.message_date(), text=text, entities=entities, via_bot=bot.id,
        inline=keyboard if isinstance(keyboard, InlineKeyboard) else None,
    )  # fmt: skip
    chosen: Json = {"result_id": result_id, "from": render.user(world, asked.person), "query": asked.query}
    if message.inline is not None:
        message.inline_id = world.new_id()
        chosen["inline_message_id"] = message.inline_id
    _post(world, chat, message)
    if message.inline_id is not None:
        world.state.inline_messages[message.inline_id] = (chat.key, message.id)
    world.queue(bot, "chosen_inline_result", chosen)
    return message


def react(world: World, chat: Chat, person: int, message_id: int, emoji: str | None) -> None:
    """A reaction to a message, or none any more; only bots that asked for reactions are told."""
    _member(chat, person)
    message = message_in(chat, message_id, bad("message to react not found"))
    old = [{"type": "emoji", "emoji": one} for one in message.reactions.pop(person, [])]
    if emoji:
        message.reactions[person] = [emoji]
    world.changed(chat, message, edited=False)
    body: Json = {
        "chat": render.chat(world, chat), "message_id": message_id, "user": render.user(world, person),
        "date": int(world.clock()), "old_reaction": old,
        "new_reaction": [{"type": "emoji", "emoji": emoji}] if emoji else [],
    }  # fmt: skip
    for bot in _bots(world, chat):
        world.queue(bot, "message_reaction", body)


def block(world: World, chat: Chat, *, blocked: bool) -> None:
    """Blocks the bot of a private chat, or lets it in again; it is told by `my_chat_member`."""
    if chat.is_group or chat.person is None:
        raise bad("only a private chat can be blocked")
    if chat.blocked == blocked:
        return
    bot = world.state.bots[chat.bots[0]]
    before = render.member(world, chat, bot.id)
    chat.blocked = blocked
    world.tell(Event(kind="chat", chat=chat.key))
    _own_membership(world, chat, bot, chat.person, before)


def _own_membership(world: World, chat: Chat, bot: Bot, by: int, before: Json) -> None:
    body: Json = {
        "chat": render.chat(world, chat), "from": render.user(world, by), "date": int(world.clock()),
        "old_chat_member": before, "new_chat_member": render.member(world, chat, bot.id),
    }  # fmt: skip
    world.queue(bot, "my_chat_member", body)


def create_group(
    world: World, title: str, members: list[int], *, bots: list[int] | None = None, bot_is_admin: bool = False
) -> Chat:
    """A group made by its first member, with these bots (default: all) in it."""
    if not members or not title.strip():
        raise bad("a group needs a title and at least one person")
    people: list[Person] = [world.person(member) for member in dict.fromkeys(members)]
    inside = list(world.state.bots) if bots is None else bots
    group_id = -(1_001_000_000_000 + world.state.next_group)
    world.state.next_group += 1
    chat = Chat(
        key=str(group_id), id=group_id, type="supergroup", title=title.strip()[:128],
        members=[person.id for person in people], admins=list(inside) if bot_is_admin else [],
        bots=list(inside), started=True,
    )  # fmt: skip
    world.state.chats[chat.key] = chat
    world.tell(Event(kind="chat", chat=chat.key))
    for bot in _bots(world, chat):
        before: Json = {"user": render.bot_user(bot), "status": "left"}
        _own_membership(world, chat, bot, people[0].id, before)
    created = Service(kind="group_created", title=chat.title)
    _post(world, chat, Message(id=0, sender=people[0].id, date=world.message_date(), service=created))
    return chat


def add_member(world: World, chat: Chat, by: int, person: int) -> None:
    """One more person in a group."""
    _member(chat, by)
    if not chat.is_group:
        raise bad("only a group takes more people")
    world.person(person)
    if person not in chat.members:
        chat.members.append(person)
        note = Service(kind="members_added", members=[person])
        _post(world, chat, Message(id=0, sender=by, date=world.message_date(), service=note))
        world.tell(Event(kind="chat", chat=chat.key))


def remove_bot(world: World, chat: Chat, by: int, bot_id: int) -> None:
    """A person takes a bot out of the group."""
    _member(chat, by)
    if not chat.is_group or bot_id not in chat.bots:
        raise bad("this bot is not in the group")
    bot = world.state.bots[bot_id]
    before = render.member(world, chat, bot_id)
    chat.bots.remove(bot_id)
    chat.bots_out.append(bot_id)
    _own_membership(world, chat, bot, by, before)
    note = Service(kind="member_left", members=[bot_id])
    _post(world, chat, Message(id=0, sender=by, date=world.message_date(), service=note))
    world.tell(Event(kind="chat", chat=chat.key))


def read(world: World, chat: Chat, person: int) -> None:
    """Everything in the chat counts as read by this person."""
    _member(chat, person)
    newest = chat.next_message - 1
    if chat.read.get(person, 0) < newest:
        chat.read[person] = newest
        world.tell(Event(kind="chat", chat=chat.key, person=person))


def find_button(chat: Chat, label: str, message: int | None = None) -> tuple[Message, Button] | None:
    """The first button whose label begins with `label`, on the newest message that has one (or on that message)."""
    for said in reversed(chat.messages.values()):
        if said.inline is None or message not in {None, said.id}:
            continue
        for row in said.inline.inline_keyboard:
            for button in row:
                if button.text.startswith(label):
                    return said, button
    return None
