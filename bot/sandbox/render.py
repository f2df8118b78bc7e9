"""Records -> the Bot API's JSON, as one bot sees them: users, chats, messages, updates."""

from __future__ import annotations

from bot.sandbox.model import Asked, Bot, Chat, Entity, File, Message, Person, Press, Service
from bot.sandbox.wire import Json, as_json
from bot.sandbox.world import ANONYMOUS_ADMIN, World


def person(who: Person) -> Json:
    record: Json = {"id": who.id, "is_bot": False, "first_name": who.first_name}
    if who.last_name:
        record["last_name"] = who.last_name
    if who.username:
        record["username"] = who.username
    record["language_code"] = who.language_code
    return record


def bot_user(bot: Bot) -> Json:
    return {"id": bot.id, "is_bot": True, "first_name": bot.name[""], "username": bot.username}


def me(bot: Bot) -> Json:
    """The answer of getMe."""
    return {
        **bot_user(bot),
        "can_join_groups": True,
        "can_read_all_group_messages": bot.reads_all,
        "supports_inline_queries": True,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


def user(world: World, user_id: int) -> Json:
    if user_id in world.state.bots:
        return bot_user(world.state.bots[user_id])
    if user_id in world.state.people:
        return person(world.state.people[user_id])
    if user_id == ANONYMOUS_ADMIN:
        return {"id": ANONYMOUS_ADMIN, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    return {"id": user_id, "is_bot": False, "first_name": "Deleted Account"}


def chat(world: World, where: Chat) -> Json:
    record: Json = {"id": where.id, "type": where.type}
    if where.person is not None:
        who = world.person(where.person)
        record["first_name"] = who.first_name
        if who.last_name:
            record["last_name"] = who.last_name
        if who.username:
            record["username"] = who.username
    else:
        record["title"] = where.title
    return record


def entities(world: World, found: list[Entity]) -> list[Json]:
    rows: list[Json] = []
    for entity in found:
        row: Json = as_json(entity)
        mentioned = row.pop("user_id", None)
        if mentioned is not None:
            row["user"] = user(world, mentioned)
        rows.append(row)
    return rows


def photo_size(file: File) -> Json:
    return {
        "file_id": file.id,
        "file_unique_id": file.unique_id,
        "file_size": file.size,
        "width": file.width,
        "height": file.height,
    }


def document(file: File) -> Json:
    return {
        "file_id": file.id,
        "file_unique_id": file.unique_id,
        "file_size": file.size,
        "file_name": file.name,
        "mime_type": file.mime,
    }


def message(world: World, where: Chat, said: Message, *, nested: bool = False) -> Json:
    """A message; `nested` leaves out what it replies to, as Telegram does one level down."""
    record: Json = {"message_id": said.id, "date": said.date, "chat": chat(world, where)}
    if said.anonymous:
        record["from"] = user(world, ANONYMOUS_ADMIN)
        record["sender_chat"] = chat(world, where)
    else:
        record["from"] = user(world, said.sender)
    if said.thread is not None:
        record["message_thread_id"] = said.thread
        record["is_topic_message"] = True
    if said.origin is not None:
        record["forward_origin"] = {
            "type": "user",
            "date": said.origin.date,
            "sender_user": user(world, said.origin.sender),
        }
    replied = where.messages.get(said.reply_to) if said.reply_to is not None else None
    if replied is not None and not nested:
        record["reply_to_message"] = message(world, where, replied, nested=True)
    if said.via_bot is not None:
        record["via_bot"] = user(world, said.via_bot)
    if said.edited is not None:
        record["edit_date"] = said.edited
    if said.protected:
        record["has_protected_content"] = True
    if said.album is not None:
        record["media_group_id"] = said.album
    record.update(_content(world, said))
    if said.inline is not None:
        record["reply_markup"] = as_json(said.inline)
    if said.service is not None:
        record.update(_service(world, where, said.service))
    return record


def _content(world: World, said: Message) -> Json:
    record: Json = {}
    if said.photo:
        record["photo"] = [photo_size(world.state.files[file_id]) for file_id in said.photo]
    if said.document is not None:
        record["document"] = document(world.state.files[said.document])
    if said.text:
        name = "caption" if said.has_media else "text"
        record[name] = said.text
        if said.entities:
            record["caption_entities" if said.has_media else "entities"] = entities(world, said.entities)
    return record


def _service(world: World, where: Chat, service: Service) -> Json:
    if service.kind == "group_created":
        return {"supergroup_chat_created" if where.type == "supergroup" else "group_chat_created": True}
    if service.kind == "members_added":
        return {"new_chat_members": [user(world, member) for member in service.members]}
    if service.kind == "member_left":
        return {"left_chat_member": user(world, service.members[0])}
    pinned = where.messages.get(service.message or 0)
    if pinned is None:
        return {"pinned_message": {"message_id": service.message, "date": 0, "chat": chat(world, where)}}
    return {"pinned_message": message(world, where, pinned, nested=True)}


def callback_query(world: World, where: Chat, press: Press, *, inaccessible: bool) -> Json:
    record: Json = {
        "id": press.id,
        "from": user(world, press.person),
        "chat_instance": f"-{abs(where.id)}{press.bot}",
        "data": press.data,
    }
    said = where.messages.get(press.message)
    if said is not None and said.inline_id is not None:
        record["inline_message_id"] = said.inline_id
    elif said is None or inaccessible:
        record["message"] = {"message_id": press.message, "date": 0, "chat": chat(world, where)}
    else:
        record["message"] = message(world, where, said)
    return record


def inline_query(world: World, where: Chat, asked: Asked) -> Json:
    own = where.type == "private" and asked.bot in where.bots
    return {
        "id": asked.id,
        "from": user(world, asked.person),
        "query": asked.query,
        "offset": asked.offset,
        "chat_type": "sender" if own else where.type,
    }


def member(world: World, where: Chat, user_id: int) -> Json:
    """A ChatMember. The first member of a group is its creator."""
    who = user(world, user_id)
    if user_id in world.state.bots:
        present = user_id in where.bots
        if present and user_id in where.admins:
            return {"user": who, "status": "administrator", **_rights()}
        gone = "kicked" if where.type == "private" else "left"
        if gone == "kicked" and where.blocked:
            return {"user": who, "status": "kicked", "until_date": 0}
        return {"user": who, "status": "member" if present else gone}
    if user_id not in where.members:
        return {"user": who, "status": "left"}
    if where.is_group and user_id == where.members[0]:
        return {"user": who, "status": "creator", "is_anonymous": False}
    if user_id in where.admins:
        return {"user": who, "status": "administrator", **_rights()}
    return {"user": who, "status": "member"}


def _rights() -> Json:
    names = (
        "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members",
        "can_promote_members", "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories",
        "can_delete_stories", "can_pin_messages", "can_manage_topics",
    )  # fmt: skip
    return {"can_be_edited": False, "is_anonymous": False, **dict.fromkeys(names, True)}
