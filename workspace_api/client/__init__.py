"""The one door to HTTP: clients, outcomes, retries, errors.

call ─► exchange (what to send, when to try again) ─► Transport (one message, once) ─► reading ─► outcome
"""

from workspace_api.client.errors import (
    CallFailed,
    CallNotAllowed,
    CallNotSent,
    CallRefused,
    CallUnknown,
    Conflict,
    KeyRejected,
    NotFound,
    PermissionDenied,
    TooManyRequests,
    error_of,
)
from workspace_api.client.events import CallEnded, Drift, Event, Observer
from workspace_api.client.exchange import Options
from workspace_api.client.transport import Answer, AnswerLost, AsyncTransport, Message, NothingSent, Transport
from workspace_api.client.workspace import AsyncWorkspace, Workspace

__all__ = [
    "Answer",
    "AnswerLost",
    "AsyncTransport",
    "AsyncWorkspace",
    "CallEnded",
    "CallFailed",
    "CallNotAllowed",
    "CallNotSent",
    "CallRefused",
    "CallUnknown",
    "Conflict",
    "Drift",
    "Event",
    "KeyRejected",
    "Message",
    "NotFound",
    "NothingSent",
    "Observer",
    "Options",
    "PermissionDenied",
    "TooManyRequests",
    "Transport",
    "Workspace",
    "error_of",
]
