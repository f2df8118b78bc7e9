"""What Local Telegram refuses, in the words a bot will meet at Telegram.

A method raises `Refused`; the HTTP layer turns it into `{"ok": false, "error_code", "description", "parameters"}`.
What people do on the chat page is refused through the same type.
"""

from __future__ import annotations

from bot.sandbox.wire import Json


class Refused(Exception):
    """A refusal: HTTP status, Telegram's description, and optional `parameters` such as `retry_after` (seconds)."""

    def __init__(self, status: int, description: str, parameters: Json | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters

    def body(self) -> Json:
        """The answer's JSON body."""
        body: Json = {"ok": False, "error_code": self.status, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def bad(reason: str) -> Refused:
    """400: the request itself is wrong."""
    return Refused(400, f"Bad Request: {reason}")


def forbidden(reason: str) -> Refused:
    """403: the bot may not do this to this chat."""
    return Refused(403, f"Forbidden: {reason}")


def conflict(reason: str) -> Refused:
    """409: somebody else reads the updates."""
    return Refused(409, f"Conflict: {reason}")


def unauthorized() -> Refused:
    """401: no such token."""
    return Refused(401, "Unauthorized")


def too_many(seconds: int) -> Refused:
    """429 with the number of whole seconds to wait."""
    return Refused(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


def not_here(method: str) -> Refused:
    """404 for a method that Telegram has and this program has not."""
    return Refused(404, f"Not Found: not implemented in Local Telegram: {method}")


def unknown_method() -> Refused:
    """404 for a method that nobody has."""
    return Refused(404, "Not Found")
