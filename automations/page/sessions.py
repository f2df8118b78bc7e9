"""Who is at the page: a signed cookie, the secret of its forms, and patience with wrong tokens.

```
no token set (loopback alone)   a session for whoever comes, so that forms can be told from those of other pages
token set                       a session for whoever has typed it, with the name that they gave
```
Nothing is stored: with a token the cookie is signed by it, so that it outlives a restart, counts at every replica, and
ends when the token is changed. The secret of forms follows from the session, and only this page can read it.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from automations.ports import Clock

LASTS = timedelta(days=7)
SHORTEST_TOKEN = 16
NOBODY = "page"
"""Who acts where no name was given."""
LONGEST_NAME = 60
FREE = 2
"""Wrong tokens from one address that have no pause after them."""
LONGEST_PAUSE = 60.0
FORGOTTEN = 900.0
"""Seconds after which an address that was wrong is like any other again."""
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody at the page; `name` is what they call themselves, and proves nothing."""

    id: str
    name: str
    until: float

    @property
    def by(self) -> str:
        """Who acts, for the records."""
        return self.name or NOBODY


class Sessions:
    """Opens and reads sessions. `key` signs them where there is no token."""

    def __init__(self, token: str | None, key: bytes, new_id: Callable[[], str], clock: Clock) -> None:
        self._token = token
        self._key = key if token is None else _mac(token.encode(), "sessions of the page")
        self._new_id = new_id
        self._clock = clock

    @property
    def guarded(self) -> bool:
        """Whether a token is asked for."""
        return self._token is not None

    def is_right(self, token: str) -> bool:
        """Compares in constant time."""
        return self._token is not None and hmac.compare_digest(
            sha256(token.encode("utf-8", "surrogateescape")).digest(), sha256(self._token.encode()).digest()
        )

    def open(self, name: str = "") -> Session:
        kept = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:LONGEST_NAME]
        return Session(self._new_id(), kept, (self._clock() + LASTS).timestamp())

    def cookie(self, session: Session) -> str:
        """What the browser keeps."""
        text = json.dumps([session.id, session.name, session.until])
        body = urlsafe_b64encode(text.encode()).decode()
        return f"{body}.{_mac(self._key, body).hex()}"

    def read(self, cookie: str) -> Session | None:
        """The session of a cookie; None where it is not ours, or over."""
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), _mac(self._key, body).hex().encode()):
            return None
        found = Session(*json.loads(urlsafe_b64decode(body)))
        return found if found.until > self._clock().timestamp() else None

    def form_secret(self, session: Session) -> str:
        """What a form of this session brings along; other pages cannot read it."""
        return _mac(self._key, f"form {session.id}").hex()

    def is_form_of(self, session: Session, secret: str) -> bool:
        return hmac.compare_digest(self.form_secret(session).encode(), secret.encode("utf-8", "replace"))


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode("utf-8", "surrogateescape"), "sha256")


@dataclass(slots=True)
class _Wrong:
    times: int
    at: float
    until: float


class Patience:
    """After a few wrong tokens an address waits before the next one is looked at, twice as long each time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, _Wrong] = {}

    def wait(self, address: str) -> float:
        """Seconds until a token from there is looked at; 0 where it is now."""
        known = self._wrong.get(address)
        return max(0.0, known.until - self._clock().timestamp()) if known else 0.0

    def was_wrong(self, address: str) -> None:
        now = self._clock().timestamp()
        known = self._wrong.get(address)
        times = known.times + 1 if known and now - known.at < FORGOTTEN else 1
        pause = min(2.0 ** (times - FREE), LONGEST_PAUSE) if times > FREE else 0.0
        if len(self._wrong) >= MOST_ADDRESSES:
            self._wrong = {name: one for name, one in self._wrong.items() if now - one.at < FORGOTTEN}
            if len(self._wrong) >= MOST_ADDRESSES:
                self._wrong.clear()
        self._wrong[address] = _Wrong(times, now, now + pause)

    def was_right(self, address: str) -> None:
        self._wrong.pop(address, None)
