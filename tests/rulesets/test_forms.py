"""Short floats, arrays that are strided, empty or without an axis: differentiated wherever they are taken."""

import numpy as np
import pytest
from forms import check_forms, usual_points
from numpy.polynomial import chebyshev, polynomial

import rulelab as rl


@pytest.mark.every(31)
@pytest.mark.parametrize("points", usual_points(), ids=str)
def test_each_form_of_arrays(points):
    """The numbers are those of the usual form, and cotangents have the form of their arguments."""
    check_forms(points)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_entries(count):
    """None, one and two: what is NaN or constant has no slope."""
    y = np.arange(1.0, 1.0 + count)
    (of_y,) = rl.gradient(lambda y: np.trapezoid(y), y)
    assert of_y.tolist() == [[], [0.0], [0.5, 0.5]][count]
    of_y, of_x = rl.gradient(lambda y, x: np.trapezoid(y, x), y, y)
    assert of_x.tolist() == [[], [0.0], [-1.5, 1.5]][count] and of_y.shape == y.shape
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if not count else np.errstate():
        assert rl.gradient(lambda y: np.median(y), y)[0].tolist() == [[], [1.0], [0.5, 0.5]][count]


def test_a_number_is_a_series():
    """NumPy's polynomials take it as one of one coefficient; it has a number for a cotangent."""
    series = np.array([1.0, 2.0])
    assert rl.gradient(lambda a: np.sum(polynomial.polyadd(a, series)), 2.0) == (1.0,)
    assert rl.gradient(lambda a: np.sum(chebyshev.chebmul(series, a)), 2.0) == (3.0,)
    assert rl.pushforward(lambda a: np.sum(polynomial.polymul(a, series)), 2.0)(1.0) == 3.0
