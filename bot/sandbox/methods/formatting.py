"""The text of a call with its formatting, and its keyboard: read, checked and refused as Telegram does."""

from __future__ import annotations

import re
from typing import TypeAlias

from pydantic import TypeAdapter

from bot.sandbox.html_text import detect, parse, trim, units
from bot.sandbox.methods.call import Call
from bot.sandbox.model import Button, Entity, InlineKeyboard, Key, Markup, ReplyKeyboard
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
BUTTON_LIMIT = 100
_STYLES = frozenset({"primary", "success", "danger"})

Formatted: TypeAlias = tuple[str, list[Entity]]

_MARKUP: TypeAdapter[Markup] = TypeAdapter(Markup)
_ROWS: TypeAdapter[Json] = TypeAdapter(Json)
_KEYS: TypeAdapter[list[list[Key | str]]] = TypeAdapter(list[list[Key | str]])
_ENTITIES: TypeAdapter[list[Entity]] = TypeAdapter(list[Entity])


def formatted(call: Call, name: str, *, entities: str) -> Formatted:
    """Text (or caption) and entities of a call, without limits; the parse mode decides how it is read."""
    return format_text(
        call.text(name),
        call.text("parse_mode"),
        call.parsed(entities, _ENTITIES, "can't parse entities: entities must be an array of MessageEntity"),
    )


def format_text(source: str, mode: str, given: list[Entity] | None) -> Formatted:
    """Source text to text and entities; explicit entities count only without a parse mode."""
    if mode.lower() == "html":
        text, found = parse(source)
    elif not mode:
        size = units(source)
        text, found = source, [e for e in given or [] if e.offset >= 0 and e.length > 0 and e.offset + e.length <= size]
    elif mode.lower() in {"markdown", "markdownv2"}:
        raise bad(f"can't parse entities: {mode} is not implemented in Local Telegram, use HTML")
    else:
        raise bad("unsupported parse_mode")
    text, found = trim(text, found)
    return text, detect(text, found)


def message_text(call: Call) -> Formatted:
    """The text of a message: not empty, at most 4096 UTF-16 code units after parsing."""
    text, entities = formatted(call, "text", entities="entities")
    if not text:
        raise bad("message text is empty")
    if units(text) > TEXT_LIMIT:
        raise bad("message is too long")
    return text, entities


def caption(call: Call) -> Formatted:
    """A caption: may be empty, at most 1024 UTF-16 code units after parsing."""
    return checked_caption(formatted(call, "caption", entities="caption_entities"))


def checked_caption(found: Formatted) -> Formatted:
    if units(found[0]) > CAPTION_LIMIT:
        raise bad("message caption is too long")
    return found


def markup(call: Call) -> Markup | None:
    """The `reply_markup` of a call; an empty inline keyboard counts as none."""
    value = call.parsed("reply_markup", _ROWS, "can't parse reply keyboard markup JSON object")
    return read_markup(value)


def read_markup(value: Json | None) -> Markup | None:
    """Markup JSON -> a checked keyboard."""
    if not value:
        return None
    try:
        if "keyboard" in value:
            # A key may be written as its bare text.
            rows = _KEYS.validate_python(value["keyboard"])
            value = {
                **value,
                "keyboard": [[Key(text=key) if isinstance(key, str) else key for key in row] for row in rows],
            }
        found = _MARKUP.validate_python(value)
    except ValueError:
        raise bad("can't parse reply keyboard markup JSON object") from None
    if isinstance(found, InlineKeyboard):
        _check_inline(found)
        return found if any(found.inline_keyboard) else None
    if isinstance(found, ReplyKeyboard):
        _check_keys(found)
    return found


def inline_only(found: Markup | None) -> InlineKeyboard | None:
    """For edits: only an inline keyboard can stand below a message that is there already."""
    if found is not None and not isinstance(found, InlineKeyboard):
        raise bad("inline keyboard expected")
    return found


def _check_inline(keyboard: InlineKeyboard) -> None:
    if sum(len(row) for row in keyboard.inline_keyboard) > BUTTON_LIMIT:
        raise bad("reply markup is too long")
    for row in keyboard.inline_keyboard:
        for button in row:
            _check_button(button)


def _check_button(button: Button) -> None:
    _check_face(button)
    actions = (
        button.url, button.callback_data, button.switch_inline_query,
        button.switch_inline_query_current_chat, button.copy_text, button.web_app,
    )  # fmt: skip
    given = sum(action is not None for action in actions)
    if given == 0:
        raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if given > 1:
        raise bad("can't parse inline keyboard button: a button has exactly one action")
    if button.callback_data is not None and not 1 <= len(button.callback_data.encode("utf-8", "replace")) <= 64:
        raise bad("BUTTON_DATA_INVALID")
    if button.url is not None and not re.match(r"(?i)(https?://[^\s/]+|tg://\S+|ton://\S+)", button.url):
        raise bad(f"inline keyboard button URL '{button.url}' is invalid: Wrong HTTP URL")
    if button.copy_text is not None and not 1 <= units(button.copy_text.text) <= 256:
        raise bad("BUTTON_COPY_TEXT_INVALID")


def _check_face(button: Button | Key) -> None:
    if not button.text.strip():
        raise bad("can't parse keyboard button: text of a button must be non-empty")
    if button.style is not None and button.style not in _STYLES:
        raise bad(f"invalid button style specified: {button.style}")


def _check_keys(keyboard: ReplyKeyboard) -> None:
    if sum(len(row) for row in keyboard.keyboard) > 300:
        raise bad("reply markup is too long")
    for row in keyboard.keyboard:
        for key in row:
            _check_face(key)
