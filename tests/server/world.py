"""The tests' view of a workspace: people who call operations as over HTTP, and a clock that is set by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from storage import Database
from workspace_api.contract import find
from workspace_api.server.app import create_app
from workspace_api.server.keys import issue_key
from workspace_api.server.profile import Profile

TODAY = date(2026, 11, 21)
ON_SQLITE = pytest.mark.parametrize("world", ["sqlite"], indirect=True)
"""For a test that needs the file: `world` is on PostgreSQL too otherwise."""
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Refused(Exception):
    """What an error envelope said."""

    status: int
    code: str
    sentence: str


@dataclass(frozen=True)
class Person:
    """Somebody with a key."""

    app: Starlette
    key: str | None

    async def send(
        self,
        path: str,
        content: bytes = b"",
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Any request, as bytes."""
        sent = httpx.Headers({"Content-type": "application/json"} | ({} if self.key is None else {"Api-key": self.key}))
        sent.update(headers)
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://workspace") as client:
            return await client.request(
                method,
                path,
                content=content,
                params=query,
                headers=sent,
            )

    async def call(self, operation: str, /, **fields: Any) -> Any:
        """`data` of a success, checked against the contract's record. Raises Refused for an error envelope."""
        return await self.call_with({}, operation, **fields)

    async def call_with(self, headers: Mapping[str, str], operation: str, /, **fields: Any) -> Any:
        """The same with headers of one's own."""
        declared = find(operation)
        names = declared.params.query_fields()
        query = {name: str(fields.pop(name)) for name in list(fields) if name in names}
        response = await self.send(declared.path, encoded(fields), headers=headers, query=query)
        answer = response.json()
        if response.status_code != 200:
            assert set(answer) == {"status", "error", "error_message"}
            assert answer["status"] == "error"
            raise Refused(response.status_code, answer["error"], answer["error_message"])
        assert set(answer) == {"status", "data"}
        assert answer["status"] == "success"
        declared.adapter.validate_python(answer["data"])
        return answer["data"]

    async def refused(self, operation: str, /, **fields: Any) -> Refused:
        """The refusal of a call that must be refused."""
        try:
            data = await self.call(operation, **fields)
        except Refused as refusal:
            return refusal
        raise AssertionError(f"{operation} was not refused: {data}")

    async def request(self, request_id: int) -> dict[str, Any]:
        """One spending request as this person sees it."""
        listed: list[dict[str, Any]] = await self.call("finplan.request.list")
        return next(each for each in listed if each["id"] == request_id)


def encoded(fields: Mapping[str, Any]) -> bytes:
    """The JSON body of the fields."""
    return httpx.Request("POST", "http://workspace", json=dict(fields)).content


@dataclass
class World:
    """The workspace under test."""

    database: Database
    profile: Profile = field(default_factory=Profile)
    now: datetime = NOON
    app: Starlette = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(self.database, profile=self.profile, clock=self.clock)

    def clock(self) -> datetime:
        return self.now

    def passes(self, **time: float) -> None:
        """Moves the clock on."""
        self.now += timedelta(**time)

    def person(self, user_id: str) -> Person:
        """Somebody of the company, with a key of their own."""
        return Person(self.app, issue_key(self.database, user_id, clock=self.clock))

    def owner(self) -> Person:
        """Who holds the project's key."""
        return Person(self.app, issue_key(self.database, owner=True, clock=self.clock))

    def stranger(self, key: str | None = None) -> Person:
        """Somebody without a good key."""
        return Person(self.app, key)
