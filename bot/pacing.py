"""How fast the bot may speak: Telegram's limits, kept beforehand, so that 429 stays the exception.

a chat      a few at once, then one a second (an edit counts for a quarter)      waited for by the chat alone
a group     20 in any minute, edits included
all chats   300 in any ten seconds: 30 a second, with room for a crowd            whoever comes first goes first
"""

from collections import deque
from collections.abc import Callable

BURST, PER_SECOND = 3.0, 1.0
"""A private chat takes about one new message a second, and a few at once."""

EDIT = 0.25
"""What an edit counts for: Telegram is more patient with those, and says 429 where it is not."""

GROUP, MINUTE = 20, 60.0
OVERALL, SECONDS = 300, 10.0
"""Thirty a second is Telegram's word for broadcasts. Two hundred people who ask at once are answered at once; what
Telegram finds too much of it waits for its retry_after."""

MANY = 1000
"""Chats of which the pace is remembered before those that have rested are forgotten."""


class Window:
    """At most so many in any so many seconds."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._taken: deque[float] = deque()

    def left(self) -> float:
        """The seconds until there is a place; 0.0 where there is one."""
        now = self._clock()
        while self._taken and self._taken[0] <= now - self._seconds:
            self._taken.popleft()
        return 0.0 if len(self._taken) < self._most else self._taken[0] + self._seconds - now

    def take(self) -> None:
        """Takes the place that there is."""
        self._taken.append(self._clock())


class Pacing:
    """How long a chat has to wait before its next message. Groups have negative numbers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[int, tuple[float, float]] = {}
        self._groups: dict[int, Window] = {}
        self._overall = Window(OVERALL, SECONDS, clock)

    def take(self, chat_id: int, cost: float = 1.0) -> float:
        """Takes a place if there is one now: 0.0; else the seconds after which to ask again."""
        tokens = self._tokens(chat_id)
        windows = [self._overall]
        if chat_id < 0:
            windows.append(self._groups.setdefault(chat_id, Window(GROUP, MINUTE, self._clock)))
        wait = max(0.0, (cost - tokens) / PER_SECOND, *(window.left() for window in windows))
        if wait > 0.0:
            return wait
        for window in windows:
            window.take()
        self._buckets[chat_id] = (tokens - cost, self._clock())
        return 0.0

    def _tokens(self, chat_id: int) -> float:
        now = self._clock()
        if len(self._buckets) > MANY:
            rested = [chat for chat, (_, at) in self._buckets.items() if at < now - MINUTE]
            for chat in rested:
                del self._buckets[chat]
                self._groups.pop(chat, None)
        tokens, at = self._buckets.get(chat_id, (BURST, now))
        return min(BURST, tokens + (now - at) * PER_SECOND)
