"""The TCP connections of the server, so that a fault can cut one: the client sees it closed without an answer."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Address
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connections:
    """Open connections by the client's address."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], asyncio.Transport] = {}

    def drop(self, client: Address | None) -> None:
        """Cuts the connection of this client at once."""
        transport = self._open.get((client.host, client.port)) if client is not None else None
        if transport is not None:
            transport.abort()

    def protocol(self) -> type[H11Protocol]:
        """uvicorn's protocol that notes its connections here."""
        open_ = self._open

        class Noted(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its base
                super().connection_made(transport)
                if self.client is not None:
                    open_[self.client] = transport

            def connection_lost(self, exc: Exception | None) -> None:
                if self.client is not None:
                    open_.pop(self.client, None)
                super().connection_lost(exc)

        return Noted
