"""The error tree of the API layer. Catch WorkspaceError in one place; no error holds a key, a body or a URL's query.

WorkspaceError
├── UnknownOperation          contract: no such operation
├── InvalidArguments          contract: the fields do not fit; nothing was sent
└── CallFailed                the call named `operation` did not end well
    ├── CallNotSent           nothing left this machine; trying again is safe
    │   └── CallNotAllowed    refused here: the client is read-only
    ├── CallRefused           the workspace said no (`code`, `message`, `http_status`)
    │   ├── KeyRejected       401 unauthorized, or a wrong kind of key
    │   ├── PermissionDenied  permission_denied
    │   ├── NotFound          not_found
    │   ├── Conflict          conflict: something changed meanwhile
    │   └── TooManyRequests   too_many_requests (`retry_after` seconds, where told)
    └── CallUnknown           it may or may not have happened: read back before anything else
"""

from typing import Any

from workspace_api.contract.errors import InvalidArguments, Problem, UnknownOperation, WorkspaceError
from workspace_api.contract.outcome import NotSent, Refused, Unknown

__all__ = [
    "CallFailed",
    "CallNotAllowed",
    "CallNotSent",
    "CallRefused",
    "CallUnknown",
    "Conflict",
    "InvalidArguments",
    "KeyRejected",
    "NotFound",
    "PermissionDenied",
    "Problem",
    "TooManyRequests",
    "UnknownOperation",
    "WorkspaceError",
    "error_of",
]


class CallFailed(WorkspaceError):
    """A call that did not end as Done."""

    def __init__(self, operation: str, sentence: str) -> None:
        self.operation = operation
        super().__init__(f"{operation}: {sentence}")


class CallNotSent(CallFailed):
    """Nothing left this machine; trying again is safe."""

    def __init__(self, operation: str, outcome: NotSent) -> None:
        self.reason = outcome.reason
        super().__init__(operation, f"not sent: {outcome.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operation, NotSent(self.reason))


class CallNotAllowed(CallNotSent):
    """This client only reads; the call would have written."""


class CallRefused(CallFailed):
    """The workspace said no."""

    def __init__(self, operation: str, outcome: Refused) -> None:
        self.code = outcome.code
        self.message = outcome.message
        self.http_status = outcome.http_status
        self.retry_after = outcome.retry_after
        super().__init__(operation, f"refused ({outcome.code}): {outcome.message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operation, Refused(self.code, self.message, self.http_status, self.retry_after))


class KeyRejected(CallRefused):
    """The key is missing, unknown, revoked or of the wrong kind."""


class PermissionDenied(CallRefused):
    """The key's person may not do this."""


class NotFound(CallRefused):
    """There is no such thing, or the key's person may not see it."""


class Conflict(CallRefused):
    """Something changed meanwhile: read afresh and decide again."""


class TooManyRequests(CallRefused):
    """The workspace asks for a pause."""


class CallUnknown(CallFailed):
    """The call may have taken effect: read back before anything else."""

    def __init__(self, operation: str, outcome: Unknown) -> None:
        self.reason = outcome.reason
        self.http_status = outcome.http_status
        super().__init__(operation, f"outcome unknown: {outcome.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operation, Unknown(self.reason, self.http_status))


_BY_CODE: dict[str, type[CallRefused]] = {
    "unauthorized": KeyRejected,
    "permission_denied": PermissionDenied,
    "not_found": NotFound,
    "conflict": Conflict,
    "too_many_requests": TooManyRequests,
}


def error_of(operation: str, outcome: Refused | NotSent | Unknown) -> CallFailed:
    """The exception that stands for an outcome other than Done."""
    if isinstance(outcome, Refused):
        return _BY_CODE.get(outcome.code, CallRefused)(operation, outcome)
    if isinstance(outcome, NotSent):
        kind = CallNotAllowed if outcome.reason == READ_ONLY else CallNotSent
        return kind(operation, outcome)
    return CallUnknown(operation, outcome)


READ_ONLY = "this client is read-only, and the operation writes"
