"""Local Telegram: the Bot API over HTTP on loopback, people to chat as, and a chat page in the browser.

world (state) <- acts (what people do) <- people (the tests' driver), http_people (the page's endpoints)
              <- methods (what bots do) <- http_bot (the Bot API), polling and webhook (updates out)
server puts these together; `python -m bot.sandbox` and `serve` run it. What Telegram refuses is refused here.
"""

from bot.sandbox.faults import Fault
from bot.sandbox.limits import Limits
from bot.sandbox.model import Answer
from bot.sandbox.people import ChatMessage, Group, LocalTelegram, NothingCame, PersonChat
from bot.sandbox.server import PersonSpec, serve

__all__ = [
    "Answer",
    "ChatMessage",
    "Fault",
    "Group",
    "Limits",
    "LocalTelegram",
    "NothingCame",
    "PersonChat",
    "PersonSpec",
    "serve",
]
