"""New messages from a bot: text, photo, document, album, forwarded, copied; and the typing line."""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError

from bot.sandbox import render
from bot.sandbox.methods.call import Call
from bot.sandbox.methods.files import media, media_param
from bot.sandbox.methods.formatting import caption, checked_caption, format_text, markup, message_text
from bot.sandbox.model import Chat, Entity, InlineKeyboard, Markup, Message, Origin
from bot.sandbox.refusals import bad, too_many
from bot.sandbox.wire import Json
from bot.sandbox.world import Event, message_in

_OBJECT: TypeAdapter[Json] = TypeAdapter(Json)
_OBJECTS: TypeAdapter[list[Json]] = TypeAdapter(list[Json])
_ENTITIES: TypeAdapter[list[Entity] | None] = TypeAdapter(list[Entity] | None)
ACTIONS = frozenset({
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
    "upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
})  # fmt: skip


def _replied(call: Call, chat: Chat) -> int | None:
    """The id of the message that this one replies to."""
    given = call.parsed("reply_parameters", _OBJECT, "can't parse reply parameters JSON object") or {}
    wanted = given.get("message_id") or call.integer("reply_to_message_id")
    if not wanted:
        return None
    if wanted in chat.messages:
        return int(wanted)
    if given.get("allow_sending_without_reply") or call.flag("allow_sending_without_reply"):
        return None
    raise bad("message to be replied not found")


def _pace(call: Call, chat: Chat, messages: int = 1) -> None:
    world = call.world
    wait = world.pace.take(call.bot.id, chat.key, group=chat.is_group, now=world.clock(), messages=messages)
    if wait:
        raise too_many(wait)


def _draft(call: Call, chat: Chat, found: Markup | None = None) -> Message:
    """A message of this call, without its content."""
    inline = found if isinstance(found, InlineKeyboard) else None
    return Message(
        id=0,
        sender=call.bot.id,
        date=int(call.world.clock()),
        inline=inline,
        reply_markup=None if isinstance(found, InlineKeyboard) else found,
        reply_to=_replied(call, chat),
        thread=call.integer("message_thread_id"),
        protected=call.flag("protect_content"),
        silent=call.flag("disable_notification"),
    )


def _send(call: Call, chat: Chat, draft: Message) -> Json:
    _pace(call, chat)
    return render.message(call.world, chat, call.world.post(chat, draft))


def send_message(call: Call) -> Json:
    text, entities = message_text(call)
    found = markup(call)
    chat = call.writable_chat()
    draft = _draft(call, chat, found)
    draft.text, draft.entities = text, entities
    return _send(call, chat, draft)


def send_photo(call: Call) -> Json:
    text, entities = caption(call)
    found = markup(call)
    chat = call.writable_chat()
    draft = _draft(call, chat, found)
    draft.photo, draft.text, draft.entities = media_param(call, "photo"), text, entities
    return _send(call, chat, draft)


def send_document(call: Call) -> Json:
    text, entities = caption(call)
    found = markup(call)
    chat = call.writable_chat()
    draft = _draft(call, chat, found)
    draft.document, draft.text, draft.entities = media_param(call, "document")[0], text, entities
    return _send(call, chat, draft)


def send_media_group(call: Call) -> list[Json]:
    items = call.parsed("media", _OBJECTS, "can't parse media JSON object") or []
    if not 2 <= len(items) <= 10:
        raise bad("media group must include 2-10 items" if items else "there are no messages to send")
    chat = call.writable_chat()
    album = call.world.new_id()
    drafts: list[Message] = []
    for item in items:
        draft = _draft(call, chat)
        put_media(call, draft, item)
        draft.album = album
        drafts.append(draft)
    if any(draft.document for draft in drafts) and any(draft.photo for draft in drafts):
        raise bad("document can't be mixed with other media types")
    _pace(call, chat, len(drafts))
    return [render.message(call.world, chat, call.world.post(chat, draft)) for draft in drafts]


def put_media(call: Call, message: Message, item: Json) -> None:
    """An InputMedia object becomes the content of the message."""
    kind = item.get("type")
    if kind not in {"photo", "document"}:
        raise bad(f"media of type {kind} is not implemented in Local Telegram")
    ids = media(call, str(kind), item.get("media"), call.uploads)
    try:
        given = _ENTITIES.validate_python(item.get("caption_entities"))
    except ValidationError:
        raise bad("can't parse entities: caption_entities must be an array of MessageEntity") from None
    source, mode = str(item.get("caption") or ""), str(item.get("parse_mode") or "")
    message.text, message.entities = checked_caption(format_text(source, mode, given))
    message.photo = ids if kind == "photo" else []
    message.document = ids[0] if kind == "document" else None


def _source(call: Call, refusal: str) -> tuple[Chat, Message]:
    """The message that is to be forwarded or copied."""
    chat = call.chat("from_chat_id")
    message = message_in(chat, call.message_id(refusal), bad(refusal))
    if message.protected or message.service is not None:
        raise bad("message has protected content and can't be forwarded" if message.protected else refusal)
    return chat, message


def forward_message(call: Call) -> Json:
    _, source = _source(call, "message to forward not found")
    chat = call.writable_chat()
    draft = _draft(call, chat)
    draft.text, draft.entities = source.text, list(source.entities)
    draft.photo, draft.document = list(source.photo), source.document
    draft.origin = source.origin or Origin(sender=source.sender, date=source.date)
    return _send(call, chat, draft)


def copy_message(call: Call) -> Json:
    _, source = _source(call, "message to copy not found")
    found = markup(call)
    chat = call.writable_chat()
    draft = _draft(call, chat, found)
    draft.text, draft.entities = source.text, list(source.entities)
    draft.photo, draft.document = list(source.photo), source.document
    if "caption" in call.params and source.has_media:
        draft.text, draft.entities = caption(call)
    _pace(call, chat)
    return {"message_id": call.world.post(chat, draft).id}


def send_chat_action(call: Call) -> bool:
    action = call.text("action")
    if action not in ACTIONS:
        raise bad("wrong parameter action in request")
    chat = call.writable_chat()
    call.world.tell(Event(kind="typing", chat=chat.key, bot=call.bot.id, detail={"action": action}))
    return True
