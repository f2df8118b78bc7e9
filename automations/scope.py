"""The names that templates see, and the hiding of secrets in whatever is recorded.

tick      utc, local, date, zone    run      id, cause, by
automation name                     event    what an event brought; empty for other causes
secrets   by name, from the environment or a file; a name that is not there is an error
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from json import dumps
from typing import Any
from zoneinfo import ZoneInfo

from automations.engine import Ticket
from automations.secrets import Secrets, spellings
from automations.shapes import is_list, is_map
from automations.values import DECIMAL, encode

LARGEST_INPUT = 16_000
"""Characters of JSON of what a step was about to do that are recorded as they are."""


class Hiding:
    """Puts `(secret name)` in place of secrets that one run has used, wherever they turn up."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets
        self._used: dict[str, str] = {}

    def text(self, text: str) -> str:
        # The longest first: a secret may be a part of another.
        for value in sorted(self._used, key=len, reverse=True):
            text = text.replace(value, f"(secret {self._used[value]})")
        return text

    def hide(self, value: Any) -> Any:
        """A value of JSON, keys included, without secrets."""
        if not self._used:
            return value
        if isinstance(value, str):
            return self.text(value)
        if is_list(value):
            return [self.hide(item) for item in value]
        if is_map(value):
            if DECIMAL in value:
                return value
            return {self.text(key): self.hide(item) for key, item in value.items()}
        if isinstance(value, (int, float)) and str(value) in self._used:
            return self.text(str(value))
        return value

    def told(self, inputs: Mapping[str, Any]) -> Any:
        """What a step was about to do, for the record: hidden, and cut where it is long."""
        hidden = self.hide(encode(inputs))
        text = dumps(hidden, sort_keys=True, ensure_ascii=False)
        if len(text) <= LARGEST_INPUT:
            return hidden
        return {"cut": text[:2000], "characters": len(text), "sha256": sha256(text.encode()).hexdigest()}

    def used(self, name: str) -> str:
        """A secret that is about to be used. Raises KeyError."""
        value = self._secrets[name]
        for spelling in spellings(value):
            self._used[spelling] = name
        return value

    def expect(self, names: Collection[str | None]) -> None:
        """Secrets that may turn up, used or not; those that are not there are told when they are used."""
        for name in names:
            if name is not None and name in self._secrets:
                with suppress(KeyError):
                    self.used(name)

    def why_missing(self, name: str) -> str:
        """What to say of a secret that is not there."""
        if isinstance(self._secrets, Secrets):
            return self._secrets.why_missing(name)
        return f"there is no secret {name}"

    def __contains__(self, name: object) -> bool:
        return name in self._secrets


class Watched(Mapping[str, str]):
    """Secrets that remember which of them were used."""

    def __init__(self, hiding: Hiding) -> None:
        self._hiding = hiding

    def __getitem__(self, name: str) -> str:
        return self._hiding.used(name)

    def __contains__(self, name: object) -> bool:
        return name in self._hiding

    def hidden(self, text: str) -> str:
        """The text with `(secret name)` in place of those that were used."""
        return self._hiding.text(text)

    def why_missing(self, name: str) -> str:
        """What an expression says that names a secret which is not there."""
        return self._hiding.why_missing(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def names_of(ticket: Ticket, hiding: Hiding) -> dict[str, Any]:
    """The names that are there from the start of a run."""
    local = datetime.fromisoformat(ticket.tick).astimezone(ZoneInfo(ticket.zone))
    return {
        "tick": {
            "utc": ticket.tick,
            "local": local.isoformat(),
            "date": local.date().isoformat(),
            "zone": ticket.zone,
        },
        "run": {"id": ticket.run_id, "cause": ticket.cause, "by": ticket.details.get("by") or ""},
        "automation": {"name": ticket.automation},
        "event": ticket.details.get("event", {}),
        "secrets": Watched(hiding),
    }
