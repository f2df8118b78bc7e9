"""A bot's face: its commands per scope and language, its menu button, name and descriptions."""

from __future__ import annotations

import re

from pydantic import TypeAdapter

from bot.sandbox.html_text import units
from bot.sandbox.methods.call import Call
from bot.sandbox.model import Bot, Chat, Command, CommandList
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json, as_json
from bot.sandbox.world import Event

_OBJECT: TypeAdapter[Json] = TypeAdapter(Json)
_COMMANDS: TypeAdapter[list[Command]] = TypeAdapter(list[Command])
SCOPES = frozenset({
    "default", "all_private_chats", "all_group_chats", "all_chat_administrators",
    "chat", "chat_administrators", "chat_member",
})  # fmt: skip


def _scope(call: Call) -> Json:
    scope = call.parsed("scope", _OBJECT, "can't parse BotCommandScope JSON object") or {"type": "default"}
    kind = scope.get("type")
    if kind not in SCOPES:
        raise bad("can't parse BotCommandScope: unsupported type specified")
    if kind not in {"chat", "chat_administrators", "chat_member"}:
        return {"type": kind}
    try:
        chat_id = int(scope.get("chat_id", ""))
        user_id = int(scope.get("user_id", "")) if kind == "chat_member" else None
    except (TypeError, ValueError):
        raise bad("chat not found") from None
    call.world.chat_for(call.bot, chat_id)
    return {"type": kind, "chat_id": chat_id, **({"user_id": user_id} if user_id is not None else {})}


def _language(call: Call) -> str:
    language = call.text("language_code")
    if language and not re.fullmatch(r"[a-z]{2}", language):
        raise bad("LANG_CODE_INVALID")
    return language


def _without(bot: Bot, scope: Json, language: str) -> list[CommandList]:
    return [kept for kept in bot.commands if (kept.scope, kept.language) != (scope, language)]


def set_my_commands(call: Call) -> bool:
    commands = call.parsed("commands", _COMMANDS, "can't parse commands: must be an array of BotCommand")
    if commands is None:
        raise bad("can't parse commands: must be an array of BotCommand")
    if len(commands) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    checked: list[Command] = []
    for command in commands:
        name = command.command.strip().removeprefix("/")
        if not re.fullmatch(r"[a-z0-9_]{1,32}", name):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= units(command.description.strip()) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        checked.append(Command(command=name, description=command.description.strip()))
    scope, language = _scope(call), _language(call)
    call.bot.commands = _without(call.bot, scope, language)
    if checked:
        call.bot.commands.append(CommandList(scope=scope, language=language, commands=checked))
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def get_my_commands(call: Call) -> list[Json]:
    key = _scope(call), _language(call)
    for kept in call.bot.commands:
        if (kept.scope, kept.language) == key:
            return [as_json(command) for command in kept.commands]
    return []


def delete_my_commands(call: Call) -> bool:
    call.bot.commands = _without(call.bot, _scope(call), _language(call))
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def commands_for(bot: Bot, chat: Chat, person: int, language: str) -> list[Command]:
    """The commands this person sees in this chat: the narrowest scope first, in each their language first."""
    scopes: list[Json] = []
    if chat.is_group:
        admin = person in chat.admins or (chat.members[:1] == [person])
        scopes.append({"type": "chat_member", "chat_id": chat.id, "user_id": person})
        if admin:
            scopes.append({"type": "chat_administrators", "chat_id": chat.id})
        scopes.append({"type": "chat", "chat_id": chat.id})
        if admin:
            scopes.append({"type": "all_chat_administrators"})
        scopes.append({"type": "all_group_chats"})
    else:
        scopes += [{"type": "chat", "chat_id": chat.id}, {"type": "all_private_chats"}]
    scopes.append({"type": "default"})
    for scope in scopes:
        for wanted in (language.partition("-")[0], ""):
            for kept in bot.commands:
                if kept.scope == scope and kept.language == wanted:
                    return kept.commands
    return []


def set_chat_menu_button(call: Call) -> bool:
    button = call.parsed("menu_button", _OBJECT, "can't parse menu button JSON object") or {"type": "default"}
    if button.get("type") not in {"commands", "web_app", "default"}:
        raise bad("can't parse MenuButton: unsupported type specified")
    if call.text("chat_id"):
        call.chat().menu_button = button
    else:
        call.bot.menu_button = button
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def get_chat_menu_button(call: Call) -> Json:
    own = call.chat().menu_button if call.text("chat_id") else None
    return own or call.bot.menu_button


def _set_text(call: Call, texts: dict[str, str], name: str, limit: int, refusal: str) -> bool:
    value, language = call.text(name).strip(), _language(call)
    if units(value) > limit or (name == "name" and not value and not language):
        raise bad(refusal)
    if value:
        texts[language] = value
    else:
        texts.pop(language, None)
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def set_my_name(call: Call) -> bool:
    return _set_text(call, call.bot.name, "name", 64, "BOT_TITLE_INVALID")


def set_my_description(call: Call) -> bool:
    return _set_text(call, call.bot.description, "description", 512, "BOT_DESCRIPTION_INVALID")


def set_my_short_description(call: Call) -> bool:
    return _set_text(call, call.bot.short_description, "short_description", 120, "BOT_SHORT_DESCRIPTION_INVALID")


def in_language(texts: dict[str, str], language: str) -> str:
    """The text in this language, else the default one."""
    return texts.get(language.partition("-")[0]) or texts.get("", "")


def get_my_name(call: Call) -> Json:
    return {"name": in_language(call.bot.name, _language(call))}


def get_my_description(call: Call) -> Json:
    return {"description": in_language(call.bot.description, _language(call))}


def get_my_short_description(call: Call) -> Json:
    return {"short_description": in_language(call.bot.short_description, _language(call))}
