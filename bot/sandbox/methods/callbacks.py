"""Answers to what people do: pressed buttons and inline queries."""

from __future__ import annotations

from pydantic import TypeAdapter

from bot.sandbox.html_text import units
from bot.sandbox.methods.call import Call
from bot.sandbox.methods.formatting import TEXT_LIMIT, format_text, inline_only, read_markup
from bot.sandbox.model import Answer
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json
from bot.sandbox.world import Event

_RESULTS: TypeAdapter[list[Json]] = TypeAdapter(list[Json])
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


def answer_callback_query(call: Call) -> bool:
    text = call.text("text")
    if units(text) > 200:
        raise bad("MESSAGE_TOO_LONG")
    press = call.world.press(call.text("callback_query_id"), call.bot)
    if press is None:
        raise bad(TOO_OLD)
    press.answer = Answer(text=text, show_alert=call.flag("show_alert"), url=call.text("url") or None)
    detail: Json = {
        "press": press.id, "text": text, "show_alert": press.answer.show_alert, "url": press.answer.url,
    }  # fmt: skip
    call.world.tell(Event(kind="answered", chat=press.chat, message=press.message, person=press.person, detail=detail))
    return True


def answer_inline_query(call: Call) -> bool:
    results = call.parsed("results", _RESULTS, "can't parse inline query results JSON object")
    if results is None:
        raise bad("results are empty")
    if len(results) > 50:
        raise bad("RESULTS_TOO_MUCH")
    seen: set[str] = set()
    for result in results:
        _check(result)
        if result["id"] in seen:
            raise bad("RESULT_ID_DUPLICATE")
        seen.add(result["id"])
    asked = call.world.inline_query(call.text("inline_query_id"), call.bot)
    if asked is None:
        raise bad(TOO_OLD)
    asked.results, asked.next_offset = results, call.text("next_offset")
    call.world.tell(Event(kind="inline", chat=asked.chat, person=asked.person, detail={"query": asked.id}))
    return True


def _check(result: Json) -> None:
    """Refuses a result that could not be sent when somebody chooses it."""
    identity = result.get("id")
    if not isinstance(identity, str) or not 1 <= len(identity.encode("utf-8", "replace")) <= 64:
        raise bad("RESULT_ID_INVALID")
    if result.get("type") != "article":
        raise bad(f"inline result of type {result.get('type')} is not implemented in Local Telegram")
    if not result.get("title"):
        raise bad("article title is empty")
    content: Json = result.get("input_message_content") or {}
    if "message_text" not in content:
        raise bad("input message content is not specified or not implemented in Local Telegram")
    text, _ = format_text(str(content.get("message_text") or ""), str(content.get("parse_mode") or ""), None)
    if not text:
        raise bad("message text is empty")
    if units(text) > TEXT_LIMIT:
        raise bad("message is too long")
    inline_only(read_markup(result.get("reply_markup")))
