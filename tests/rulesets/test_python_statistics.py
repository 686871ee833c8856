"""Rules of the statistics module at their check points, and where the formulas have corners."""

import statistics

import pytest
from rule_points import at_each, by_rule, check

import rulelab as rl
from rulelab.rulesets.python_statistics import TABLE


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rule(points):
    """Value, shapes, linearity and finite differences at every check point."""
    at_each(points, check)


@pytest.mark.parametrize("f", [statistics.stdev, statistics.pstdev])
def test_a_deviation_of_zero_has_the_derivative_zero(f):
    """All items equal: no division by the deviation."""
    assert rl.gradient(f, [2.0, 2.0, 2.0]) == ([0.0, 0.0, 0.0],)


def test_an_iterator_is_read():
    """The functions take any iterable, also inside a pass."""
    assert rl.gradient(lambda xs: statistics.mean(map(lambda v: v * v, xs)), [1.0, 3.0]) == ([1.0, 3.0],)


def test_pythons_own_error_for_no_data():
    """`statistics.StatisticsError` with its own words."""
    with pytest.raises(statistics.StatisticsError, match="at least one data point"):
        rl.gradient(lambda xs: statistics.mean(xs[:0]), [1.0])
