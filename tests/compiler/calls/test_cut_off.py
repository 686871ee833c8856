"""np.piecewise and np.apply_along_axis where NumPy holds the results as whole numbers."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.errors import NotDifferentiableError


@pytest.mark.parametrize("x", [np.array([1, 2, 3]), np.array([True, False, True])])
def test_piecewise_of_whole_numbers_is_constant(x):
    def f(k):
        return np.sum(np.piecewise(x, [x > 0], [lambda v: v * k, k])) + k * k

    assert rl.withgradient(f, 1.3) == (f(1.3), (2.6,))
    assert jvp(f, (1.3,), (1.0,)) == (f(1.3), 2.6)


@pytest.mark.parametrize("x", [3, np.int64(3), np.array(3), np.array([3])])
def test_piecewise_of_a_single_whole_number_is_constant_where_it_is_cut_off(x):
    """The value is that of a step, in both modes."""

    def f(k):
        return np.sum(np.piecewise(x, [x > 0], [lambda v: v * k, k])) + k * k

    assert rl.withgradient(f, 1.3) == (f(1.3), (2.6,))
    assert jvp(f, (1.3,), (1.0,)) == (f(1.3), 2.6)
    assert rl.hessian(f, 1.3) == 2.0


def test_piecewise_of_an_argument_without_a_decimal_point():
    """Where nothing is cut off, it has the slope of the piece, as `v * v` has."""

    def whole(v):
        return np.piecewise(v, [v < 0, v >= 0], [lambda v: -v, lambda v: v * v * v])

    def cut(v):
        return np.piecewise(v, [v < 0, v >= 0], [lambda v: -v, lambda v: v * v * 1.5])

    assert rl.gradient(whole, 3) == (27.0,) and jvp(whole, (3,), (1.0,)) == (27, 27.0)
    assert rl.gradient(cut, 3) == (None,) and jvp(cut, (3,), (1.0,)) == (13, 0.0)


def test_results_that_the_first_makes_whole_numbers():
    x = np.array([[0.3, -1.2], [0.9, 1.7]])

    def f(x):
        return np.sum(np.apply_along_axis(lambda row: 1 if row[0] < 0.5 else row[0] * 2, 1, x))

    with pytest.raises(NotDifferentiableError, match="int64"):
        rl.gradient(f, x)
    with pytest.raises(NotDifferentiableError, match="int64"):
        jvp(f, (x,), (x,))
