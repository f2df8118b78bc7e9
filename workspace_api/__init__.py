"""The typed API layer of the Workspace Business API: 89 operations, sync and async.

from workspace_api import Workspace

with Workspace("https://workspace.example.com", api_key) as api:
    for request in api.finplan.request.list(finplans=["2026-11-01"]):
        print(request.name, request.sum)
"""

from workspace_api.client import (
    AsyncWorkspace,
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
    Workspace,
)
from workspace_api.contract import (
    Call,
    Done,
    Effect,
    InvalidArguments,
    NotSent,
    Outcome,
    Raw,
    Refused,
    Unknown,
    UnknownOperation,
    WorkspaceError,
    calls,
    find,
    operations,
)

__all__ = [
    "AsyncWorkspace",
    "Call",
    "CallFailed",
    "CallNotAllowed",
    "CallNotSent",
    "CallRefused",
    "CallUnknown",
    "Conflict",
    "Done",
    "Effect",
    "InvalidArguments",
    "KeyRejected",
    "NotFound",
    "NotSent",
    "Outcome",
    "PermissionDenied",
    "Raw",
    "Refused",
    "TooManyRequests",
    "Unknown",
    "UnknownOperation",
    "Workspace",
    "WorkspaceError",
    "calls",
    "find",
    "operations",
]
