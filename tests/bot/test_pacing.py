"""The limits of Telegram, kept beforehand: by a clock that is set by hand."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bot.pacing import BURST, EDIT, GROUP, MINUTE, OVERALL, SECONDS, Pacing
from bot.sandbox.limits import Limits, Pace


def test_a_chat_gets_a_few_at_once_and_then_one_a_second() -> None:
    """Others do not wait with it; after a rest it has its few again."""
    now = [100.0]
    pacing = Pacing(lambda: now[0])
    assert [pacing.take(1) for _ in range(int(BURST))] == [0.0] * int(BURST)
    assert pacing.take(1) == 1.0
    assert pacing.take(1) == 1.0
    assert pacing.take(2) == 0.0
    now[0] += 1.0
    assert [pacing.take(1), pacing.take(1)] == [0.0, 1.0]
    now[0] += 60.0
    assert [pacing.take(1) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]


def test_edits_count_for_less() -> None:
    """Twelve at once, in a private chat."""
    pacing = Pacing(lambda: 5.0)
    assert [pacing.take(1, EDIT) for _ in range(13)] == [0.0] * 12 + [0.25]


def test_a_group_gets_twenty_a_minute() -> None:
    """However slowly they come, the twenty-first waits for the minute's end."""
    now = [0.0]
    pacing = Pacing(lambda: now[0])
    for _ in range(GROUP):
        assert pacing.take(-7) == 0.0
        now[0] += 1.0
    assert pacing.take(-7) == MINUTE - GROUP
    assert pacing.take(-8) == 0.0


def test_all_chats_together_get_thirty_a_second_on_average() -> None:
    """A crowd is answered at once; the next one waits for the first to be ten seconds old."""
    now = [0.0]
    pacing = Pacing(lambda: now[0])
    assert [pacing.take(chat) for chat in range(1, OVERALL + 1)] == [0.0] * OVERALL
    now[0] += 0.25
    assert pacing.take(99) == SECONDS - 0.25


def test_rested_chats_are_forgotten() -> None:
    """Ten thousand people do not stay in memory."""
    now = [0.0]
    pacing = Pacing(lambda: now[0])
    for chat in range(1, 3001):
        now[0] += 1.0
        assert pacing.take(chat) == 0.0
    assert len(pacing._buckets) < 1100  # pyright: ignore[reportPrivateUsage] - nothing else shows it


@given(st.lists(st.tuples(st.floats(0, 0.4), st.sampled_from([1, 2, 3, -1, -2])), max_size=200))
def test_local_telegram_never_refuses_what_is_paced(arrivals: list[tuple[float, int]]) -> None:
    """Its limits are Telegram's: whoever waits as told is not told 429."""
    now = [1000.0]
    pacing, limits = Pacing(lambda: now[0]), Pace(Limits())
    sent: Counter[int] = Counter()
    for pause, chat in arrivals:
        now[0] += pause
        while wait := pacing.take(chat):
            # A clock's seconds are no round numbers: a little later than told.
            now[0] += wait + 0.001
        assert limits.take(1, str(chat), group=chat < 0, now=now[0]) == 0
        sent[chat] += 1
    assert sum(sent.values()) == len(arrivals)
