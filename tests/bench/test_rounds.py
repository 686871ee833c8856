"""Rounds are fair: mixed, of equal length, from many depths, whole or not at all."""

import sys

import numpy as np

from rulelab.bench.rounds import BLOCKS, DEPTHS, Rounds


def entered(clock, *thunks, wanted=5, seconds=None):
    rounds = Rounds(wanted, seconds, np.random.default_rng(0), clock)
    for number, thunk in enumerate(thunks):
        rounds.enter(f"call {number}", thunk)
    return rounds


def test_each_round_has_four_blocks_of_each(steady):
    """They are short, and the fastest of them is the time of the round."""
    rounds = entered(steady, steady.taking(1e-5), steady.taking(2e-5))
    pieces = list(rounds.pieces())
    assert rounds.whole == 5 and len(pieces) == 2 * (3 + 5 * BLOCKS)
    assert [len(blocks) for blocks in rounds.contestants[0].runs] == [BLOCKS] * 5
    assert np.allclose(rounds.contestants[0].best_of_rounds(), 1e-5)


def test_slow_calls_have_one_block_a_round(steady):
    """What takes 20 ms is not called four times where once will do."""
    rounds = entered(steady, steady.taking(2e-2), steady.taking(1e-5))
    pieces = list(rounds.pieces())
    assert [len(blocks) for one in rounds.contestants for blocks in one.runs] == [1] * 10
    assert pieces[-1].done == pieces[-1].total == 2 * (3 + 5)


def test_calls_of_about_the_same_time_get_blocks_of_the_same_length(steady):
    """Else what every block costs beside its calls would weigh on one more than on the other."""
    rounds = entered(steady, steady.taking(4.9e-6), steady.taking(5.3e-6), steady.taking(1e-3))
    list(rounds.pieces())
    assert [one.loops for one in rounds.contestants] == [200, 200, 1]


def test_an_interruption_while_calibrating_does_not_make_blocks_too_short(simulated):
    """A fast call that was held up once is not taken for a slow one."""
    clock = simulated(bursts=0.3)
    rounds = entered(clock, clock.taking(1e-6))
    clock.bursts = 0.0
    list(rounds.pieces())
    assert rounds.contestants[0].loops >= 500


def test_a_round_counts_when_it_is_whole(steady):
    """Stopped in the middle of the third round there are two."""
    rounds = entered(steady, steady.taking(1e-5), steady.taking(1e-5))
    pieces = rounds.pieces()
    for _ in range(2 * (3 + 2 * BLOCKS) + 5):
        next(pieces)
    assert rounds.whole == 2


def test_the_limit_of_time_ends_the_rounds(steady):
    """After the round in which it is spent, and never before the first is whole."""
    call = steady.taking(1e-3)
    assert len(list(entered(steady, call, wanted=100, seconds=0.0).pieces())) == 3 + BLOCKS
    limited = entered(steady, call, wanted=100, seconds=10.5 * BLOCKS * 1e-3)
    list(limited.pieces())
    assert limited.whole == 11


def test_rounds_are_counted_of_those_that_will_be_reached(steady):
    """Not of the most that one may ask for, where the time is over long before."""
    call = steady.taking(1e-3)
    said = [piece.doing for piece in entered(steady, call, wanted=100_000, seconds=0.2).pieces()]
    assert "round 2" in said and not any("100,000" in one for one in said)
    said = [piece.doing for piece in entered(steady, call, wanted=3, seconds=100.0).pieces()]
    assert "round 3 of 3" in said


def test_blocks_start_from_many_depths(steady):
    """Where code lies in memory seen from the stack does not decide who is faster."""
    depths = set()

    def deep():
        frame, depth = sys._getframe(), 0
        while frame is not None:
            frame, depth = frame.f_back, depth + 1
        depths.add(depth)
        steady.now += 1e-3

    rounds = entered(steady, deep, wanted=60)
    ready = [next(pieces := rounds.pieces()) for _ in range(1)]
    depths.clear()
    list(pieces)
    assert ready and max(depths) - min(depths) >= DEPTHS - 2 and len(depths) > DEPTHS // 2
