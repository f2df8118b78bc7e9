"""Each benchmark runs, at a small size; how fast it is is nobody's business here."""

import json

import pytest

from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.measure import SMALL, Benchmark, interleaved


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_it_runs(benchmark: Benchmark) -> None:
    """And measures something."""
    assert benchmark.run(SMALL) > 0


def test_the_table_says_what_was_measured_and_how(capsys: pytest.CaptureFixture[str]) -> None:
    """For people, and with --json for programs."""
    main(["parsing"], SMALL)
    first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["benchmark", "measured", "goal", "met", "how"]
    assert second.startswith("parsing 10,000 requests")
    main(["--json", "parsing"], SMALL)
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["goal"], row["bound"]) == ("parsing 10,000 requests", 1.4, "at most")


def test_a_wrong_name_is_told_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, as for any wrong words."""
    with pytest.raises(SystemExit) as caught:
        main(["speed"])
    assert caught.value.code == 2
    assert "there are: client call, parsing 10,000 requests" in capsys.readouterr().err


def test_a_goal_is_met_up_to_its_bound() -> None:
    """From below, or from above."""
    most = Benchmark("a", lambda _: 1.0, "at most", 1.1, "x", "")
    least = Benchmark("a", lambda _: 1.0, "at least", 0.3, "x", "")
    assert [most.is_met(1.1), most.is_met(1.2), least.is_met(0.3), least.is_met(0.2)] == [True, False, True, False]


def test_ratios_are_taken_pair_by_pair() -> None:
    """Each of ours is set against the one of theirs that ran beside it, and the middle one counts."""
    ours, theirs = iter([2.0, 9.0, 4.0]), iter([1.0, 3.0, 1.0])
    assert interleaved(3, lambda: next(ours), lambda: next(theirs)) == 3.0
