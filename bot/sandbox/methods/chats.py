"""Questions about the bot itself, about chats and their members; leaving a group."""

from __future__ import annotations

from bot.sandbox import render
from bot.sandbox.methods.call import Call
from bot.sandbox.model import Message, Service
from bot.sandbox.refusals import bad, forbidden
from bot.sandbox.wire import Json
from bot.sandbox.world import Event


def get_me(call: Call) -> Json:
    return render.me(call.bot)


def log_out(call: Call) -> bool:
    del call
    return True


def get_chat(call: Call) -> Json:
    chat = call.chat()
    record = render.chat(call.world, chat)
    record.update(
        accent_color_id=abs(chat.id) % 7,
        max_reaction_count=11,
        accepted_gift_types=dict.fromkeys(
            ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
        ),
    )
    if chat.pinned:
        record["pinned_message"] = render.message(call.world, chat, chat.messages[chat.pinned[-1]])
    return record


def get_chat_member(call: Call) -> Json:
    chat = call.chat()
    user_id = call.integer("user_id")
    if user_id is None or user_id not in call.world.state.people.keys() | call.world.state.bots.keys():
        raise bad("user not found")
    return render.member(call.world, chat, user_id)


def get_chat_member_count(call: Call) -> int:
    chat = call.chat()
    return len(chat.members) + len(chat.bots)


def get_chat_administrators(call: Call) -> list[Json]:
    chat = call.chat()
    if not chat.is_group:
        raise bad("there are no administrators in the private chat")
    ids = dict.fromkeys([*chat.members[:1], *chat.admins])
    return [render.member(call.world, chat, user_id) for user_id in ids if user_id != call.bot.id]


def leave_chat(call: Call) -> bool:
    chat = call.chat()
    if not chat.is_group:
        raise bad("chat member status can't be changed in private chats")
    if call.bot.id not in chat.bots:
        raise forbidden(f"bot is not a member of the {chat.type} chat")
    chat.bots.remove(call.bot.id)
    chat.bots_out.append(call.bot.id)
    note = Service(kind="member_left", members=[call.bot.id])
    call.world.post(chat, Message(id=0, sender=call.bot.id, date=int(call.world.clock()), service=note))
    call.world.tell(Event(kind="chat", chat=chat.key))
    return True
