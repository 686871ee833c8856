"""Finite differences are close enough to judge a rule by, and say so when they are not."""

import math

import numpy as np
import pytest

from rulelab.checking import findiff


@pytest.mark.parametrize(
    ("f", "x", "exact"),
    [
        (math.sin, 1.0, math.cos(1.0)),
        (math.exp, -3.0, math.exp(-3.0)),
        (math.log, 1e-3, 1e3),
        (math.sqrt, 2.0, 0.5 / math.sqrt(2)),
        (lambda x: x**3, 0.0, 0.0),
        (lambda x: 1e8 * x, 5.0, 1e8),
        (np.tan, 1.3, 1 / math.cos(1.3) ** 2),
    ],
)
def test_derivatives_are_right_to_nine_digits(f, x, exact):
    """Nine digits, at ordinary points and near the edge of a domain."""
    assert findiff.derivative(f, x).value == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_outside_the_domain_there_is_no_number():
    """A function that raises on both sides gives nan, not a guess."""
    assert math.isnan(findiff.derivative(math.sqrt, -1.0).value)


def test_gradient_has_the_structure_of_the_arguments():
    """Arrays, numbers, dicts and tuples come back in their shape; text and flags give None."""

    def loss(w, p, pair, name, flag):
        return float(np.sum(w**2) * p["a"] + pair[0] * pair[1])

    w_bar, p_bar, pair_bar, name_bar, flag_bar = findiff.gradient(
        loss, np.array([[1.0, 2.0]]), {"a": 3.0}, (2.0, 5.0), "n", True
    )
    np.testing.assert_allclose(w_bar, [[6.0, 12.0]], rtol=1e-9)
    assert p_bar == {"a": pytest.approx(5.0)} and pair_bar == pytest.approx((5.0, 2.0))
    assert name_bar is None and flag_bar is None


def test_an_integer_used_as_an_axis_gets_none():
    """An axis or an index has no derivative; an integer that is computed with has one."""
    assert findiff.gradient(lambda x, axis: float(x.sum(axis=axis)[0]), np.ones((2, 2)), 0)[1] is None
    assert findiff.gradient(lambda n: n * 2.5, 3) == (pytest.approx(2.5),)


def test_a_function_that_writes_to_its_arguments_does_no_harm():
    """Each call gets a fresh copy, and the caller's array stays as it was."""

    def addone(x):
        x += 1
        return float((x**2).sum())

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(findiff.gradient(addone, x)[0], [4.0, 6.0], rtol=1e-9)
    assert x.tolist() == [1.0, 2.0]


def test_complex_arguments_follow_the_convention():
    """The gradient of a real function by z is d/dRe + i d/dIm."""
    assert findiff.gradient(lambda z: abs(z) ** 2, 3 + 4j)[0] == pytest.approx(6 + 8j, rel=1e-9)


def test_a_function_that_is_no_scalar_is_refused():
    """Differences of a vector are not a gradient."""
    with pytest.raises(TypeError, match="need a real scalar"):
        findiff.gradient(lambda x: x, np.ones(2))
