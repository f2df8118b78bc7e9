"""A year of transactions from a few habits, the same for the same seed and day.

A habit names its days (`on`: weekdays 1 to 7 for day and week, days of the month for month). On each of them there are
`times` transactions, each of a whole amount within `sum`, a multiple of `round`. A move credits sum × `rate`.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from workspace_api.server.company_shape import PatternPart, Text

DAYS = 365
OPEN, CLOSE = 9 * 60, 17 * 60 + 45


@dataclass(frozen=True, slots=True)
class Happened:
    """One transaction that a habit makes, at a local moment."""

    habit: PatternPart
    moment: datetime
    sum: int
    sum_topup: int
    description: Text


def expand(habits: Sequence[PatternPart], today: date, seed: int) -> list[Happened]:
    """Everything that the habits make in the year before `today`, in the order of time."""
    made = [each for place, habit in enumerate(habits) for each in _one(habit, today, random.Random(f"{seed}:{place}"))]  # noqa: S311 - a sample, no secret
    return sorted(made, key=lambda each: each.moment)


def _one(habit: PatternPart, today: date, dice: random.Random) -> Iterator[Happened]:
    for back in range(DAYS, 0, -1):
        day = today - timedelta(days=back)
        number = day.day if habit.every == "month" else day.isoweekday()
        if number not in habit.on:
            continue
        for _ in range(dice.randint(*habit.times)):
            low, high = habit.sum
            amount = dice.randint(-(-low // habit.round), high // habit.round) * habit.round
            minute = dice.randrange(OPEN, CLOSE)
            moment = datetime.combine(day, time(minute // 60, minute % 60))
            yield Happened(habit, moment, amount, max(1, round(amount * habit.rate)), dice.choice(habit.description))
