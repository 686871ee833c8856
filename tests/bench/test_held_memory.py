"""What a pullback keeps alive is found, counted once, and given to the line that made it."""

import sys
import tracemalloc

import numpy as np
import pytest

from rulelab.bench.held_memory import memory_held_by

PAIR = sys.getsizeof((1000, 0.5))  # 56 bytes, and 64 from Python 3.14 on

def line_of(function, offset):
    return function.__code__.co_filename, function.__code__.co_firstlineno + offset


def keeps(x):
    kept = np.exp(x)
    dropped = np.sin(kept)
    value = float(np.sum(dropped))
    more = [kept, kept[1:]]

    def back(y_bar):
        return np.zeros(100_000) + y_bar * more[0][0]

    return value, back


def test_only_what_the_pullback_reaches_counts():
    """An array that was made and dropped does not, nor does the argument; a view counts with what it views,
    once.
    """
    x = np.ones(10_000)
    lines = {line_of(keeps, n) for n in range(1, 9)}
    found = memory_held_by(lambda: keeps(x), 1.0, lines)
    assert 80_000 <= found.within[line_of(keeps, 1)] < 80_500
    assert found.within[line_of(keeps, 2)] == 0
    assert 80_000 <= found.total < 82_000
    assert 800_000 <= found.peak < 2_500_000


def test_what_a_line_calls_counts_at_the_line():
    """As far out as it goes; at each line once, also in a recursion."""

    def outer(x):
        return keeps(x)

    def again(x, n):
        return outer(x) if n == 0 else again(x, n - 1)

    lines = {line_of(outer, 1), line_of(again, 1), line_of(keeps, 1)}
    found = memory_held_by(lambda: again(np.ones(10_000), 5), 1.0, lines)
    assert found.within[line_of(keeps, 1)] >= 80_000
    assert found.within[line_of(outer, 1)] == found.within[line_of(again, 1)] <= found.total < 82_000


def test_numbers_and_tuples_of_a_tape_count():
    """Small objects too, which CPython takes from its free lists."""

    def taped(n):
        tape = []
        for i in range(n):
            tape.append((i + 1000, i * 0.5))
        return 0.0, lambda y_bar: tape

    found = memory_held_by(lambda: taped(300), 1.0, {line_of(taped, 3)})
    # Each time a tuple of two, an int and a float, and their place in the list. Another thread may drop a
    # float meanwhile, whose place is taken by one of ours and was never traced.
    assert 297 * (PAIR + 28 + 24) <= found.within[line_of(taped, 3)] <= 300 * (PAIR + 32 + 24)
    assert found.total < 300 * (PAIR + 32 + 24 + 2 * 8) + 2_000


@pytest.mark.slow
def test_a_long_tape_is_counted_as_well():
    """By what is left at all, when there are too many objects to look at each."""

    def taped(x, n):
        kept = np.exp(x)
        dropped = [np.sin(kept) for _ in range(3)]
        del dropped
        tape = []
        for i in range(n):
            tape.append((i + 1000, i * 0.5))
        return 0.0, lambda y_bar: (tape, kept)

    lines = {line_of(taped, n) for n in range(1, 8)}
    found = memory_held_by(lambda: taped(np.ones(10_000), 20_000), 1.0, lines)
    exact = 20_000 * (8 + PAIR + 32 + 24)
    assert abs(found.within[line_of(taped, 6)] - exact) < 0.03 * exact
    assert 80_000 <= found.within[line_of(taped, 1)] < 81_000 and found.within[line_of(taped, 2)] < 1_000
    assert abs(found.total - exact - 80_000) < 0.04 * exact


def test_somebody_elses_tracing_is_left_alone():
    """It goes on after, and is not begun for good where there was none."""
    memory_held_by(lambda: keeps(np.ones(10)), 1.0, set())
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        memory_held_by(lambda: keeps(np.ones(10)), 1.0, set())
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
