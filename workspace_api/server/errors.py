"""What the embedded workspace answers when it says no.

ApiError                     a code, an HTTP status, one sentence: `{"status": "error", "error": code, …}`
├── InvalidRequest     400   the words are wrong
├── Unauthorized       401   no key, or one that nobody issued
├── PermissionDenied   403   the key is good, its person may not
├── NotFound           404   no such path or record
├── MethodNotAllowed   405   neither POST nor, where the label says GET, GET
├── Conflict           409   the state of the record does not allow it (any more)
├── TooLarge           413   the body is over the limit
├── UnsupportedMedia   415   the body is no JSON by its own header
├── TooManyRequests    429   too many at once
├── NotImplementedYet  501   a documented operation that this workspace does not offer yet
└── Unavailable        503   too slow, or the database is busy
Anything else that is raised becomes 500 internal_error, without its text.
"""

from typing import ClassVar


class ApiError(Exception):
    """A refusal; its text is the sentence that the caller gets."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


class InvalidRequest(ApiError):
    """The words of the request are wrong."""

    code = "invalid_request"
    status = 400


class Unauthorized(ApiError):
    """There is no key, or nobody issued it."""

    code = "unauthorized"
    status = 401


class PermissionDenied(ApiError):
    """The viewer may not do this."""

    code = "permission_denied"
    status = 403


class NotFound(ApiError):
    """There is no such path or record."""

    code = "not_found"
    status = 404


class MethodNotAllowed(ApiError):
    """The operation does not take this method."""

    code = "method_not_allowed"
    status = 405


class Conflict(ApiError):
    """The record's state does not allow it."""

    code = "conflict"
    status = 409


class TooLarge(ApiError):
    """The body is over the limit."""

    code = "too_large"
    status = 413


class UnsupportedMedia(ApiError):
    """The body says of itself that it is no JSON."""

    code = "unsupported_media_type"
    status = 415


class TooManyRequests(ApiError):
    """More at once than this workspace takes."""

    code = "too_many_requests"
    status = 429


class NotImplementedYet(ApiError):
    """Documented, and not offered yet."""

    code = "not_implemented"
    status = 501


class Unavailable(ApiError):
    """Too slow, or the database is busy: whether a write happened is not known."""

    code = "unavailable"
    status = 503
