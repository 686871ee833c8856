"""Values that a library gives itself, beside the Python code that is differentiated."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.rulesets.given_values import as_given, for_lapack, unmoved


def test_the_value_is_the_librarys_and_the_slope_that_of_the_formula():
    """In both modes, and in the second order."""
    f = lambda x: as_given(np.float64(0.3), x**3)
    assert rl.withgradient(f, 2.0) == (0.3, (12.0,))
    assert rl.pushforward(f, 2.0)(1.0) == 12.0
    assert rl.grad(lambda x: rl.grad(f)(x))(2.0) == pytest.approx(12.0)


def test_what_does_not_move_has_zeros_for_cotangents():
    """In the form of each argument, whether the value has numbers or not."""
    x, y = np.zeros((3, 0)), np.ones(2, np.float32)
    f = lambda x, y: unmoved(lambda x, y: np.sum(x) + 1.0, x, y)
    x_bar, y_bar = rl.gradient(f, x, y)
    assert x_bar.shape == (3, 0) and y_bar.tolist() == [0.0, 0.0] and y_bar.dtype == np.float32
    assert rl.pushforward(f, x, y)(x, y) == 0.0


@pytest.mark.parametrize(
    ("kind", "wide"), [("e", "f"), ("f", "f"), ("d", "d"), ("g", "d"), ("F", "F"), ("G", "D"), ("l", "d")]
)
def test_lapack_has_four_kinds_of_numbers(kind, wide):
    """What it has comes as it is; other numbers are brought into one of these."""
    x = np.ones(2, kind)
    found = for_lapack(x)
    assert found.dtype == np.dtype(wide) and (found is x) is (kind in "fdFD")
    if kind != "l":
        (bar,) = rl.gradient(lambda x: np.sum(np.real(for_lapack(x) ** 2)), x)
        assert bar.dtype == x.dtype and bar.tolist() == [2.0, 2.0]
