"""The only reader of telegram.Update: what it means for a dialogue.

raw update ─► Update ─► parse(update) ─► Incoming, or None where it concerns nobody here
"""

from telegram import Message, Update, User

from bot.incoming import Edited, Incoming, Left, Said, Sender, Tapped


def _sender(user: User) -> Sender:
    language = (user.language_code or "")[:2].lower()
    return Sender(user.id, user.full_name, user.username, language if language in {"en", "ru"} else None)


def _message(message: Message, kind: type[Said] | type[Edited]) -> Incoming | None:
    """Channels, anonymous admins and other bots write with no person behind them: they are not heard."""
    user = message.from_user
    if user is None or user.is_bot or message.sender_chat is not None:
        return None
    text = message.text or message.caption or ""
    private = message.chat.type == "private"
    at = message.date.timestamp()
    if kind is Edited:
        return Edited(_sender(user), message.chat.id, private, message.message_id, text, _picture(message), at)
    reply = message.reply_to_message.message_id if message.reply_to_message else None
    forwarded = message.forward_origin is not None
    return Said(
        _sender(user), message.chat.id, private, message.message_id, text, reply, _picture(message), forwarded, at
    )


def _picture(message: Message) -> str | None:
    """The file id of the picture in a message: the largest of a photo's sizes, or a file that is a picture."""
    if message.photo:
        return message.photo[-1].file_id
    document = message.document
    return document.file_id if document is not None and (document.mime_type or "").startswith("image/") else None


def parse(update: Update) -> Incoming | None:
    """What this update means for a dialogue."""
    if update.message is not None:
        return _message(update.message, Said)
    if update.edited_message is not None:
        return _message(update.edited_message, Edited)
    query = update.callback_query
    if query is not None and query.message is not None:
        chat = query.message.chat
        sender = _sender(query.from_user)
        return Tapped(sender, chat.id, chat.type == "private", query.id, query.data or "", query.message.message_id)
    member = update.my_chat_member
    if member is not None and member.chat.type == "private":
        blocked = member.new_chat_member.status in {"kicked", "left"}
        return Left(_sender(member.from_user), member.chat.id, True, blocked)
    return None
