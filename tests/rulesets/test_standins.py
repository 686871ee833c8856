"""Stand-ins do what the functions do that they stand for, value for value and error for error."""

import itertools

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ForeignCallError
from rulelab.rulesets import standins

M = np.arange(24.0).reshape(2, 3, 4) + 1.0


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("f", [np.sum, np.cumsum, lambda r: r[:2], lambda r: np.outer(r, r)])
def test_apply_along_axis(axis, f):
    """Shapes and values for results of every dimension."""
    wanted = np.apply_along_axis(f, axis, M)
    found = standins.apply_along_axis(f, axis, M)
    assert found.shape == wanted.shape and np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("conditions", "pieces"),
    [
        ([0, 1], [2.0, 3.0]),
        ([0], [np.square]),
        ([0, 1], [np.square, 3.0, np.negative]),
        ([1, 0], [lambda v: v * 2, np.square]),
    ],
)
@pytest.mark.parametrize("x", [np.array([0.5, -1.5, 2.0]), np.array(0.5)])
def test_piecewise(x, conditions, pieces):
    """Functions and numbers, with and without one for the rest; a later condition wins."""
    masks = [[x < 1, x > 0][k] for k in conditions]
    found, wanted = standins.piecewise(x, masks, pieces), np.piecewise(x, masks, pieces)
    assert np.array_equal(found, wanted) and np.shape(found) == np.shape(wanted)


def test_fromiter():
    """Items, their count and their type."""
    assert np.array_equal(standins.fromiter(iter([1.0, 2.0, 3.0]), float, 2), [1.0, 2.0])
    assert np.fromiter([1, 2], "f4").dtype == standins.fromiter([1, 2], "f4").dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum([x], "")[0],
        lambda x: np.apply_along_axis(np.sum, 5, np.array([x])),
        lambda x: np.apply_along_axis(np.sum, 0, np.zeros((2, 0)) * x),
        lambda x: np.piecewise(np.array([x]), [[True]], [1.0, 2.0, 3.0]),
        lambda x: np.fromiter([x], float, 3),
        lambda x: np.fromiter([x]),
    ],
)
def test_a_wrong_call_fails_as_without_us(f):
    """The type of the error is the original's, and so are the first words."""
    with pytest.raises(Exception) as wanted:
        f(1.5)
    with pytest.raises(wanted.type) as found:
        rl.gradient(f, 1.5)
    assert str(found.value).split()[:3] == str(wanted.value).split()[:3]


def test_a_refusal_inside_of_a_stand_in_is_at_the_authors_line():
    """No line of the package is shown, and none among the calls that lead there."""

    def through(xs):
        x = np.array(xs)
        return np.sum(np.piecewise(x, [x > 0], [lambda v: np.apply_over_axes(np.sum, v, 0)]))

    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(through, [0.5, -0.5])
    error = caught.value
    places = [error.place, *error.chain]
    assert all(place.filename == __file__ for place in places), places
    assert "_placed" not in str(error) and "_called_with" not in str(error)


def test_sum_of_other_things_than_numbers():
    """Lists, and rows of an array in a list of lists."""
    assert rl.gradient(lambda a, b: sum([[a], [b]], [])[1] * a, 2.0, 3.0) == (3.0, 2.0)
    assert sum(itertools.chain([[1.0]]), []) == standins.sum_([[1.0]], [])
