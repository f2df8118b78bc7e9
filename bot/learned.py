"""What a person means by their words: the category they chose for “coffee”, the cashbox they call @bank.

saved entry ─► note(kind, words, value) ─► a line for each word, and one for all of them, in the table of choices
new entry   ─► meant(kind, words, options) ─► the value that most of the words speak for, or none
"""

import re
from collections.abc import Collection

from sqlalchemy import Connection, insert, select, update

from bot.desk import Turn
from bot.tables import choices

MOST = 6
"""Words of one text that are remembered."""

LONGEST = 40

SMALL = {
    "the", "and", "for", "with", "from", "into", "для", "под", "над", "при", "без", "про", "что", "как", "или",
}  # fmt: skip

MONTH = 30 * 86400.0


def words_of(text: str) -> list[str]:
    """The words that carry meaning, in order, each once."""
    found = [word for word in re.findall(r"[^\W\d_]{3,}", text.casefold()) if word not in SMALL]
    return [word[:LONGEST] for word in dict.fromkeys(found)][:MOST]


def note(turn: Turn, kind: str, text: str, value: int) -> None:
    """Remembers what the words meant, with what else the turn writes."""
    keys = _keys(kind, words_of(text))
    if not keys:
        return

    def change(connection: Connection) -> None:
        for key in keys:
            here = (choices.c.telegram_id == turn.telegram_id, choices.c.kind == key, choices.c.value == value)
            chosen = update(choices).where(*here).values(times=choices.c.times + 1, used_at=turn.now)
            if not connection.execute(chosen).rowcount:
                row = {"telegram_id": turn.telegram_id, "kind": key, "value": value, "times": 1, "used_at": turn.now}
                connection.execute(insert(choices).values(**row))

    turn.change(change)


def meant(turn: Turn, kind: str, text: str, options: Collection[int], *, times: int = 1) -> int | None:
    """What these words meant before, where more than half of them agree; None where they do not, or never did.

    `times`: how often it must have been chosen at least.
    """
    words = words_of(text)
    if not words:
        return None
    keys = _keys(kind, words)
    query = select(choices).where(choices.c.telegram_id == turn.telegram_id, choices.c.kind.in_(keys))
    votes: dict[str, dict[int, float]] = {}
    with turn.desk.db.read() as connection:
        # The latest last: it counts twice, so that a correction is learned at once.
        for row in connection.execute(query.order_by(choices.c.used_at)):
            if row.value in options and row.times >= times:
                weights = votes.setdefault(row.kind, {})
                weights.update({value: weight / 2 for value, weight in weights.items()})
                weights[row.value] = row.times / (1.0 + max(0.0, turn.now - row.used_at) / MONTH)
    whole = _clear(votes.get(keys[-1], {}))
    if whole is not None:
        return whole
    spoken = [_clear(votes.get(key, {})) for key in keys[: len(words)]]
    best = max(set(spoken) - {None}, key=spoken.count, default=None)
    return best if best is not None and 2 * spoken.count(best) > len(words) else None


def _keys(kind: str, words: list[str]) -> list[str]:
    """A key for each word, and the last for all of them together."""
    return [f"{kind}:{word}" for word in words] + ([f"{kind}={' '.join(words)}"] if words else [])


def _clear(weights: dict[int, float]) -> int | None:
    """The value that was chosen at least twice as much as any other."""
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] < 2 * ranked[1][1]):
        return None
    return ranked[0][0]
