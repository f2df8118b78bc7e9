"""How much a bot may send: the limits as a value, and the pace that is kept against them.

`Pace.take` is asked before each new message; it answers the seconds to wait, 0 when the message may go and counts.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Telegram's published limits; a private chat may burst a little before its rate of messages a second counts."""

    private_per_second: float = 1.0
    private_burst: int = 3
    group_per_minute: int = 20
    overall_per_second: int = 30


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


@dataclass(slots=True)
class Pace:
    """What was sent lately, per bot. Without limits everything may go."""

    limits: Limits | None
    _private: dict[tuple[int, str], _Bucket] = field(default_factory=dict[tuple[int, str], _Bucket])
    _group: defaultdict[tuple[int, str], deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _overall: defaultdict[int, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def take(self, bot: int, chat: str, *, group: bool, now: float, messages: int = 1) -> int:
        """Whole seconds to wait before `messages` may go to this chat; 0 means they are counted as sent."""
        if self.limits is None:
            return 0
        overall = self._overall[bot]
        window = self._group[bot, chat]
        bucket = self._private.setdefault((bot, chat), _Bucket(self.limits.private_burst, now))
        waits = [_window_wait(overall, self.limits.overall_per_second, 1.0, now, messages)]
        if group:
            waits.append(_window_wait(window, self.limits.group_per_minute, 60.0, now, messages))
        else:
            waits.append(self._bucket_wait(bucket, now, messages))
        wait = max(waits)
        if wait > 0:
            return max(1, math.ceil(wait))
        overall.extend([now] * messages)
        if group:
            window.extend([now] * messages)
        else:
            bucket.tokens -= messages
        return 0

    def _bucket_wait(self, bucket: _Bucket, now: float, messages: int) -> float:
        assert self.limits is not None
        rate = self.limits.private_per_second
        bucket.tokens = min(self.limits.private_burst, bucket.tokens + (now - bucket.at) * rate)
        bucket.at = now
        # An album larger than the burst may still go once the bucket is full.
        needed = min(messages, self.limits.private_burst)
        return max(0.0, (needed - bucket.tokens) / rate)


def _window_wait(sent: deque[float], most: int, seconds: float, now: float, messages: int) -> float:
    while sent and sent[0] <= now - seconds:
        sent.popleft()
    over = len(sent) + messages - most
    if over <= 0 or not sent:
        return 0.0
    return sent[min(over, len(sent)) - 1] + seconds - now
