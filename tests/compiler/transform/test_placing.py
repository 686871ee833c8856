"""Each line of a pass stands at the place that was told for it, however far away or far apart."""

import types

import pytest

from rulelab.compiler.base.places import Spots
from rulelab.compiler.transform.placing import placed_function, spots_of_lines

LINES = [
    "def f(x):",
    "    y = two * x",
    "    for i in range(3):",
    f"        y = {' + '.join(['y * x'] * 40)}",
    "    def back(y_bar):",
    "        x_bar = y_bar / x",
    "        return x_bar",
    "    return y, back",
]
PLACES = [
    (7, 7, 0, 4),
    (7, 7, 0, 4),
    (912, 915, 0, (1 << 20) + 77),
    (3, 3, 200, 4000),
    (100_000, 100_000, 8, 9),
    (911, 911, 63, 64),
    (1, 1, 0, 0),
    (910, 2910, 5, 6),
    (7, 9, 4, 8),
]


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


@pytest.fixture
def f():
    return placed_function(LINES, "f", {"two": 2.0}, "far.py", PLACES)


def test_every_instruction_is_where_its_line_is(f):
    """As for code of a tree whose nodes have these places."""
    plain = {}
    exec("\n ".join(["def factory(two):", *LINES, "return f"]), plain)
    for ours, other in zip(codes(f.__code__), codes(plain["factory"](2.0).__code__), strict=True):
        assert ours.co_firstlineno == PLACES[other.co_firstlineno - 1][0]
        numbers = [line for line, *_ in other.co_positions()]
        for number, spot in zip(numbers, ours.co_positions(), strict=True):
            if number is not None:
                line, end, column, end_column = PLACES[number - 1]
                assert spot == (line, end, column, end_column)
            else:
                assert spot == (None,) * 4


def test_it_runs_and_tells_its_lines(f):
    """What it computes is what its text says, and an error names the line that was told."""
    value, back = f(1.0)
    assert (value, back(3.0)) == (2.0 * 40**3, 3.0)
    with pytest.raises(ZeroDivisionError) as caught:
        f(0.0)[1](1.0)
    assert caught.traceback[-1].frame.code.raw.co_filename == "far.py"
    trace = caught.tb
    while trace.tb_next:
        trace = trace.tb_next
    assert trace.tb_lineno == 1


def test_lines_of_ours_stand_with_those_before_them():
    """And before the first of the author's at the first line."""
    at = (4, 4, 2, 6)
    assert spots_of_lines([None, at, None], 3, Spots(), range(0)) == [(3, 3, 0, 0), (3, 3, 0, 0), at, at]
