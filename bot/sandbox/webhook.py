"""Webhooks: updates are posted to the bot, in order, until each is answered with 2xx.

One task per bot with a webhook. The secret goes into `X-Telegram-Bot-Api-Secret-Token`; an answer that names a `method`
is carried out as a call. aiohttp does the posting: no proxies, no redirects.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import cast

import aiohttp

from bot.sandbox.methods import perform
from bot.sandbox.methods.call import Call
from bot.sandbox.methods.updates import batch, next_due
from bot.sandbox.model import Bot, Webhook
from bot.sandbox.refusals import Refused
from bot.sandbox.wire import Json
from bot.sandbox.world import Event, World

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 -- the name of a header


class Webhooks:
    """Sends updates to webhooks while it is open. `retry_after`: seconds before each further try, the last repeats."""

    def __init__(self, world: World, retry_after: Sequence[float] = (0.5, 1, 2, 5, 10, 30)) -> None:
        self._world = world
        self._retry_after = retry_after
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._silence = world.listen(self._note)
        self._wake: dict[int, asyncio.Event] = {}
        for bot in world.state.bots.values():
            self._begin(bot)

    async def close(self) -> None:
        self._silence()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _note(self, event: Event) -> None:
        if event.bot is None or event.kind not in {"bot", "update"}:
            return
        self._begin(self._world.state.bots[event.bot])
        if event.bot in self._wake:
            self._wake[event.bot].set()

    def _begin(self, bot: Bot) -> None:
        task = self._tasks.get(bot.id)
        if bot.webhook is not None and (task is None or task.done()):
            self._wake[bot.id] = asyncio.Event()
            self._tasks[bot.id] = asyncio.create_task(self._deliver(bot), name=f"webhook of bot {bot.id}")

    async def _deliver(self, bot: Bot) -> None:
        wake = self._wake[bot.id]
        failures = 0
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30), trust_env=False) as session:
            while (hook := bot.webhook) is not None:
                wake.clear()
                due = next_due(self._world, bot)
                ready = batch(self._world, bot, 2) if due is not None and due <= 0 else []
                if not ready:
                    await self._sleep(wake, due)
                    continue
                error = await self._post(session, bot, hook, ready[0])
                if error is None and self._world.delivery.twice:
                    await self._post(session, bot, hook, ready[0])
                if error is None:
                    failures = 0
                    bot.updates[:] = [update for update in bot.updates if update.id != ready[0]["update_id"]]
                    hook.last_error = hook.last_error_date = None
                    continue
                hook.last_error, hook.last_error_date = error, int(self._world.clock())
                pause = self._retry_after[min(failures, len(self._retry_after) - 1)]
                failures += 1
                await self._sleep_for(hook, bot, pause)

    async def _sleep(self, wake: asyncio.Event, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await wake.wait()
        except TimeoutError:
            return

    async def _sleep_for(self, hook: Webhook, bot: Bot, seconds: float) -> None:
        """A pause after a failure that ends early when the webhook is set anew."""
        end = asyncio.get_running_loop().time() + seconds
        while bot.webhook is hook and (left := end - asyncio.get_running_loop().time()) > 0:
            self._wake[bot.id].clear()
            await self._sleep(self._wake[bot.id], left)

    async def _post(self, session: aiohttp.ClientSession, bot: Bot, hook: Webhook, update: Json) -> str | None:
        """Posts one update; answers None when it was taken, else the error's words."""
        headers = {"Content-Type": "application/json"}
        if hook.secret:
            headers[SECRET_HEADER] = hook.secret
        body = json.dumps(update, ensure_ascii=False).encode()
        try:
            async with session.post(hook.url, data=body, headers=headers, allow_redirects=False) as answer:
                content = await answer.content.read(2**20)
                if not 200 <= answer.status < 300:
                    return f"Wrong response from the webhook: {answer.status} {answer.reason}"
        except (aiohttp.ClientError, TimeoutError) as error:
            return f"Connection failed: {type(error).__name__}"
        self._call_back(bot, content)
        return None

    def _call_back(self, bot: Bot, content: bytes) -> None:
        """Carries out a call that stands in the answer; nobody reads its result, as at Telegram."""
        try:
            given = json.loads(content or b"null")
        except ValueError:
            return
        if not isinstance(given, dict) or "method" not in given:
            return
        # The answer's JSON is the call: an open object.
        params = cast("Json", given)
        try:
            perform(Call(world=self._world, bot=bot, method=str(params["method"]), params=params))
        except Refused:
            return
