"""What the comparison of two commits promises: turns, one verdict for all runs, no time of what is wrong."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import commits  # noqa: E402


class FakeSide:
    """A side whose calls take a known time."""

    def __init__(self, seconds, value=1.0):
        self.seconds, self.value, self.asked = seconds, value, 0

    def ask(self, word, row, loops=1):
        if word == "value":
            return self.value
        self.asked += 1
        return self.seconds * loops


class NoShuffle:
    def shuffle(self, order):
        pass


def test_a_row_is_slower_only_if_every_run_says_so():
    """One run of five that does not see the difference, or sees less than is told apart, makes it none."""
    assert commits.verdict([1.2, 1.1, 1.3, 1.05, 1.04]) == "slower"
    assert commits.verdict([1.2, 1.1, 1.3, 1.01, 1.04]) == ""
    assert commits.verdict([0.9, 0.8, 0.9, 0.97, 0.9]) == "faster"
    assert commits.verdict([0.9, 0.8, 0.9, 1.2, 0.9]) == ""


def test_both_sides_make_the_same_calls_in_blocks_that_are_long_enough():
    """The ratio is that of the calls, the seconds are those of one call before."""
    pair = FakeSide(1e-4), FakeSide(2e-4)
    ratio, seconds = commits.ratio_of(pair, "row", 3, NoShuffle())
    assert ratio == pytest.approx(2.0) and seconds == pytest.approx(1e-4)
    assert pair[0].asked == pair[1].asked
    assert commits.calls_in_block(pair, "row") * 2e-4 >= commits.BLOCK


def test_what_fails_or_differs_is_not_timed():
    """A side that fails is named, and two that disagree; rounding is no disagreement."""
    pair = FakeSide(1.0, {"failure": "ValueError: no"}), FakeSide(1.0)
    assert commits.failure_of(pair, "row") == "before: ValueError: no"
    assert commits.failure_of((FakeSide(1.0), FakeSide(1.0, 2.0)), "row") == "the two give different numbers"
    assert commits.failure_of((FakeSide(1.0, [1.0, None]), FakeSide(1.0, [1.0 + 1e-15, None])), "row") is None
    assert not commits.same([1.0, None], [1.0, 0.0]) and not commits.same([1.0], [1.0, 2.0])


def test_a_process_serves_the_rows():
    """The names, a value and a block, each by one line; a row that fails says why."""
    with commits.sides([commits.TREE]) as (side,):
        names = side.ask("names")
        assert "mse 30: gradient" in names and "network: first gradient" in names
        assert side.ask("value", "one float by rule: gradient") == [3.0]
        assert side.ask("block", "one float by rule: gradient", 3) > 0.0
        assert side.ask("value", "none of this name")["failure"].startswith("KeyError")
