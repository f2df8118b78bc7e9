"""How a bot gets its updates: the queue behind getUpdates, and webhooks. Waiting and sending are done elsewhere.

An update stays in the queue until the bot asks for a later one (`offset`), or its webhook has answered 2xx.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from bot.sandbox.methods.call import Call
from bot.sandbox.model import Bot, Update, Webhook
from bot.sandbox.refusals import bad, conflict
from bot.sandbox.wire import Json
from bot.sandbox.world import Event, World

_NAMES: TypeAdapter[list[str]] = TypeAdapter(list[str])


def wire_update(update: Update) -> Json:
    return {"update_id": update.id, update.kind: update.body}


def begin_polling(call: Call) -> tuple[int, int, float]:
    """Checks a getUpdates call and acknowledges what its offset says; answers offset, limit and timeout (seconds)."""
    if call.bot.webhook is not None:
        raise conflict(
            "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
        )
    offset = call.integer("offset", 0) or 0
    limit = min(max(call.integer("limit") or 100, 1), 100)
    timeout = min(max(call.integer("timeout") or 0, 0), 50)
    _allow(call)
    if offset < 0:
        call.bot.updates[:] = call.bot.updates[offset:]
    else:
        call.bot.updates[:] = [update for update in call.bot.updates if update.id >= offset]
    return offset, limit, float(timeout)


def batch(world: World, bot: Bot, limit: int) -> list[Json]:
    """The updates to answer now, as the delivery faults have it: repeated, or in the wrong order."""
    now = world.clock()
    ready = [wire_update(update) for update in bot.updates if update.due <= now][:limit]
    if world.delivery.twice:
        ready = [update for update in ready for _ in range(2)]
    if world.delivery.out_of_order:
        ready.reverse()
    return ready


def next_due(world: World, bot: Bot) -> float | None:
    """Seconds until a held-back update may go; None where nothing is held back."""
    if not bot.updates:
        return None
    return max(0.0, min(update.due for update in bot.updates) - world.clock())


def _allow(call: Call) -> None:
    names = call.parsed("allowed_updates", _NAMES, "can't parse allowed_updates: must be a JSON array of strings")
    if names is not None:
        call.bot.allowed = names or None


def _loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def set_webhook(call: Call) -> bool:
    url = call.text("url")
    if not url:
        return delete_webhook(call)
    if urlsplit(url).scheme not in {"http", "https"}:
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    if not _loopback(url):
        raise bad("bad webhook: Local Telegram delivers to loopback addresses only")
    secret = call.text("secret_token")
    if secret and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
        raise bad("secret token contains unallowed characters")
    most = call.integer("max_connections", 40) or 40
    _allow(call)
    if call.flag("drop_pending_updates"):
        call.bot.updates.clear()
    call.bot.webhook = Webhook(url=url, secret=secret or None, max_connections=most)
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def delete_webhook(call: Call) -> bool:
    if call.flag("drop_pending_updates"):
        call.bot.updates.clear()
    call.bot.webhook = None
    call.world.tell(Event(kind="bot", bot=call.bot.id))
    return True


def get_webhook_info(call: Call) -> Json:
    hook = call.bot.webhook
    record: Json = {
        "url": hook.url if hook else "",
        "has_custom_certificate": False,
        "pending_update_count": len(call.bot.updates),
    }
    if hook is not None:
        record["max_connections"] = hook.max_connections
        if hook.last_error is not None:
            record["last_error_message"], record["last_error_date"] = hook.last_error, hook.last_error_date
    if call.bot.allowed:
        record["allowed_updates"] = call.bot.allowed
    return record
