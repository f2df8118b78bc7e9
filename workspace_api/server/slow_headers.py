"""uvicorn's protocol with a deadline for headers: it has none of its own, and one byte now and then keeps it waiting.

connection, or the first bytes of a further request ─► the deadline runs ─► headers whole: it ends
                                                                         └► too late: the connection is closed
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0


def within(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol that closes a connection whose headers are not whole after so many seconds."""

    class Hasty(HttpToolsProtocol):
        """Bytes of a body arm nothing: its deadline is the request's."""

        _deadline: asyncio.TimerHandle | None = None
        _in_body = False
        _has_asked = False

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its base
            super().connection_made(transport)
            self._arm()

        def data_received(self, data: bytes) -> None:
            if not self._in_body:
                self._arm()
            super().data_received(data)

        def on_message_begin(self) -> None:
            self._arm()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._disarm()
            self._in_body = self._has_asked = True
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._in_body = False
            super().on_message_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def _arm(self) -> None:
            if self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self._too_late)

        def _disarm(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _too_late(self) -> None:
            self._deadline = None
            if self._has_asked and not self.cycle.response_complete:
                # An earlier request of this connection is still being answered.
                self._arm()
            else:
                self.transport.close()

    return Hasty
