"""A transport into an ASGI application in the same process: no port, the same bytes.

The async one runs the application on the caller's loop; the sync one on a loop in a thread of its own.
"""

import asyncio
import threading
from typing import Any

import httpx

from workspace_api.client.httpx_transport import exchange_over, request_of
from workspace_api.client.transport import Answer, AnswerLost, Message

BASE = "http://embedded"


class AsgiTransport:
    """Async, for one application."""

    def __init__(self, app: Any) -> None:
        # ASGI applications have no common type; what this one is, its maker knows.
        self._http = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        try:
            async with asyncio.timeout(deadline):
                return await exchange_over(self._http, request_of(BASE, message, deadline), max_bytes)
        except TimeoutError:
            raise AnswerLost(f"no whole answer within {deadline:.3g} s") from None
        except (httpx.HTTPError, OSError, ValueError) as error:
            raise AnswerLost(f"the exchange failed ({type(error).__name__})") from None

    async def close(self) -> None:
        await self._http.aclose()


class SyncAsgiTransport:
    """The same for programs without an event loop, from any thread."""

    def __init__(self, app: Any) -> None:
        self._inner = AsgiTransport(app)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="embedded-workspace", daemon=True)
        self._thread.start()

    def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        sending = self._inner.send(message, deadline=deadline, max_bytes=max_bytes)
        return asyncio.run_coroutine_threadsafe(sending, self._loop).result()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._inner.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
