"""Messages that change: text, caption, media, keyboard, deletion, pinning, reactions."""

from __future__ import annotations

from pydantic import TypeAdapter

from bot.sandbox import render
from bot.sandbox.methods.call import Call
from bot.sandbox.methods.formatting import caption, inline_only, markup, message_text
from bot.sandbox.methods.messages import put_media
from bot.sandbox.model import Chat, Message, Service
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json
from bot.sandbox.world import message_in

_OBJECT: TypeAdapter[Json] = TypeAdapter(Json)
_OBJECTS: TypeAdapter[list[Json]] = TypeAdapter(list[Json])
_IDS: TypeAdapter[list[int]] = TypeAdapter(list[int])
DELETE_WITHIN = 48 * 3600
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


def _target(call: Call) -> tuple[Chat, Message, bool]:
    """The message to edit, and whether it was named as an inline message."""
    inline_id = call.text("inline_message_id")
    if inline_id:
        place = call.world.state.inline_messages.get(inline_id)
        chat = call.world.state.chats.get(place[0]) if place else None
        if place is None or chat is None or place[1] not in chat.messages:
            raise bad("MESSAGE_ID_INVALID")
        message = chat.messages[place[1]]
        if message.via_bot != call.bot.id:
            raise bad("MESSAGE_ID_INVALID")
        return chat, message, True
    chat = call.chat()
    call.world.writable(call.bot, chat)
    message = message_in(chat, call.message_id("message identifier is not specified"), bad("message to edit not found"))
    if message.sender != call.bot.id or message.origin is not None or message.service is not None:
        raise bad("message can't be edited")
    return chat, message, False


def _look(message: Message) -> tuple[object, ...]:
    return message.text, message.entities, message.photo, message.document, message.inline


def _edited(call: Call, found: tuple[Chat, Message, bool], before: tuple[object, ...], *, shown: bool) -> Json | bool:
    chat, message, inline = found
    if _look(message) == before:
        raise bad(NOT_MODIFIED)
    call.world.changed(chat, message, edited=shown)
    return True if inline else render.message(call.world, chat, message)


def edit_message_text(call: Call) -> Json | bool:
    text, entities = message_text(call)
    keyboard = inline_only(markup(call))
    found = _target(call)
    message = found[1]
    if message.has_media:
        raise bad("there is no text in the message to edit")
    before = _look(message)
    message.text, message.entities, message.inline = text, entities, keyboard
    return _edited(call, found, before, shown=True)


def edit_message_caption(call: Call) -> Json | bool:
    text, entities = caption(call)
    keyboard = inline_only(markup(call))
    found = _target(call)
    message = found[1]
    if not message.has_media:
        raise bad("there is no caption in the message to edit")
    before = _look(message)
    message.text, message.entities, message.inline = text, entities, keyboard
    return _edited(call, found, before, shown=True)


def edit_message_media(call: Call) -> Json | bool:
    item = call.parsed("media", _OBJECT, "can't parse media JSON object")
    if item is None:
        raise bad("input media is empty")
    keyboard = inline_only(markup(call))
    found = _target(call)
    message = found[1]
    before = _look(message)
    put_media(call, message, item)
    message.inline = keyboard
    return _edited(call, found, before, shown=True)


def edit_message_reply_markup(call: Call) -> Json | bool:
    keyboard = inline_only(markup(call))
    found = _target(call)
    before = _look(found[1])
    found[1].inline = keyboard
    return _edited(call, found, before, shown=False)


def _deletable(call: Call, chat: Chat, message: Message) -> bool:
    own = message.sender == call.bot.id
    admin = chat.is_group and call.bot.id in chat.admins
    fresh = call.world.clock() - message.date <= DELETE_WITHIN
    return admin or (fresh and (own or not chat.is_group))


def delete_message(call: Call) -> bool:
    chat = call.chat()
    message = message_in(
        chat, call.message_id("message identifier is not specified"), bad("message to delete not found")
    )
    if not _deletable(call, chat, message):
        raise bad(
            "message can't be deleted for everyone" if message.sender == call.bot.id else "message can't be deleted"
        )
    call.world.delete(chat, message.id)
    return True


def delete_messages(call: Call) -> bool:
    """Deletes those that are there; the others are passed over, as Telegram does."""
    chat = call.chat()
    ids = call.parsed("message_ids", _IDS, "can't parse message identifiers JSON object") or []
    if not 1 <= len(ids) <= 100:
        raise bad("message identifiers are not specified" if not ids else "too many message identifiers specified")
    for message_id in ids:
        message = chat.messages.get(message_id)
        if message is not None and _deletable(call, chat, message):
            call.world.delete(chat, message_id)
    return True


def pin_chat_message(call: Call) -> bool:
    chat = call.writable_chat()
    message = message_in(chat, call.message_id("message to pin not found"), bad("message to pin not found"))
    _may_pin(call, chat)
    if message.id not in chat.pinned:
        chat.pinned.append(message.id)
        note = Service(kind="pinned", message=message.id)
        call.world.post(chat, Message(id=0, sender=call.bot.id, date=int(call.world.clock()), service=note))
    return True


def unpin_chat_message(call: Call) -> bool:
    chat = call.writable_chat()
    _may_pin(call, chat)
    wanted = call.integer("message_id") or (chat.pinned[-1] if chat.pinned else None)
    if wanted not in chat.pinned:
        raise bad("message to unpin not found")
    chat.pinned.remove(wanted)
    call.world.changed(chat, chat.messages[wanted], edited=False)
    return True


def unpin_all_chat_messages(call: Call) -> bool:
    chat = call.writable_chat()
    _may_pin(call, chat)
    pinned, chat.pinned = chat.pinned, []
    for message_id in pinned:
        call.world.changed(chat, chat.messages[message_id], edited=False)
    return True


def _may_pin(call: Call, chat: Chat) -> None:
    if chat.is_group and call.bot.id not in chat.admins:
        raise bad("not enough rights to manage pinned messages in the chat")


def set_message_reaction(call: Call) -> bool:
    chat = call.writable_chat()
    refusal = bad("message to react not found")
    message = message_in(chat, call.message_id("message to react not found"), refusal)
    given = call.parsed("reaction", _OBJECTS, "can't parse reaction types JSON object") or []
    emoji = [str(one.get("emoji") or "") for one in given]
    if len(emoji) > 1 or "" in emoji:
        raise bad("REACTIONS_TOO_MANY" if len(emoji) > 1 else "REACTION_INVALID")
    if emoji:
        message.reactions[call.bot.id] = emoji
    else:
        message.reactions.pop(call.bot.id, None)
    call.world.changed(chat, message, edited=False)
    return True
