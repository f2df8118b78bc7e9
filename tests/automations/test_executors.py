"""Which processes are alive: names held by locked files."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from automations.executors import MOST_RUNNERS, Executors


def test_names_of_processes(tmp_path: Path) -> None:
    """The first free name, which is free again at the end; the dead are those whose file is free."""
    executors = Executors(tmp_path, "here")
    with executors.runner() as one, executors.runner() as two, executors.by_hand("x") as hand:
        assert (one, two, hand) == ("here-runner-0", "here-runner-1", "here-by-hand-x")
        assert executors.is_alive(one)
        assert executors.is_alive(hand)
        with pytest.raises(RuntimeError, match="in use"), executors.by_hand("x"):
            pass
    assert not executors.is_alive("here-runner-0")
    assert not executors.is_alive("here-by-hand-x")
    assert executors.is_alive("elsewhere-runner-0")
    with executors.runner() as again, executors.dead("here-runner-1") as dead:
        assert again == "here-runner-0"
        assert dead
        with executors.runner() as third:
            assert third == "here-runner-2"
    assert not list(tmp_path.glob("*by-hand*"))


def test_a_runner_takes_away_the_files_of_the_killed(tmp_path: Path) -> None:
    """And leaves those of the living."""
    executors = Executors(tmp_path, "here")
    (tmp_path / "here-by-hand-killed.lock").touch()
    with executors.by_hand("alive"), executors.runner():
        assert sorted(path.name for path in tmp_path.iterdir()) == ["here-by-hand-alive.lock", "here-runner-0.lock"]


def test_there_is_an_end_of_names(tmp_path: Path) -> None:
    """As many runners as there are names, and a sentence for one more."""
    executors = Executors(tmp_path, "here")
    with ExitStack() as stack:
        for _ in range(MOST_RUNNERS):
            stack.enter_context(executors.runner())
        with pytest.raises(RuntimeError, match="64 runners work in"), executors.runner():
            pass
