"""The rules for functions that reduce or accumulate along axes."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.numpy_reductions import TABLE, prod_bar, product_of_others


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def rrule(target, *args, **kwargs):
    return rule_at(registry_of(TABLE), target, args, "rrule").function(*args, **kwargs)


TIED = np.array([[1.0, 3.0, 3.0], [3.0, 0.0, 0.0]])


@pytest.mark.parametrize("target, axis, expected", [
    (np.max, None, [[0, 1, 0], [0, 0, 0]]), (np.max, 1, [[0, 1, 0], [1, 0, 0]]),
    (np.min, -1, [[1, 0, 0], [0, 1, 0]]),
    (np.max, (0, 1), [[0, 1, 0], [0, 0, 0]]), (np.min, None, [[0, 0, 0], [0, 1, 0]]),
    (np.ptp, 1, [[-1, 1, 0], [1, -1, 0]])])
def test_extremes_give_all_to_the_first_of_equals(target, axis, expected):
    """A tie is not shared: the first entry that attains the extreme gets the whole cotangent."""
    np.testing.assert_array_equal(cotangents(TABLE, target, TIED, axis)[0], expected)


def test_nan_reductions_ignore_nan():
    """NaN entries get zero; the others what they would get without them."""
    x = np.array([[np.nan, 2.0, 4.0], [5.0, np.nan, 1.0]])
    here = {"axis": 1}
    np.testing.assert_array_equal(cotangents(TABLE, np.nansum, x, **here)[0], [[0, 1, 1], [1, 0, 1]])
    np.testing.assert_array_equal(cotangents(TABLE, np.nanmean, x, **here)[0], [[0, .5, .5], [.5, 0, .5]])
    np.testing.assert_array_equal(cotangents(TABLE, np.nanmax, x, **here)[0], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(cotangents(TABLE, np.nanmin, x, **here)[0], [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("x, expected", [([0.0, 2.0, 3.0], [6, 0, 0]), ([0.0, 0.0, 3.0], [0, 0, 0]),
                                         ([0.0], [1]),
                                         ([1e-200, 1e-200], [1e-200, 1e-200])])
def test_products_are_exact_where_a_division_would_not_be(x, expected):
    """Zeros and underflow in a product do not spoil the derivative."""
    np.testing.assert_array_equal(cotangents(TABLE, np.prod, np.array(x))[0], expected)


@pytest.mark.parametrize("ord", [None, 2, 1, np.inf])
def test_the_norm_of_zero_has_derivative_zero(ord):
    """At the origin, where a norm has a kink, the gradient is zero and not NaN."""
    np.testing.assert_array_equal(cotangents(TABLE, np.linalg.norm, np.zeros(3), ord)[0], np.zeros(3))


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_the_norm_of_a_zero_matrix_has_derivative_zero(ord):
    """The same for matrices, also where singular values vanish."""
    np.testing.assert_array_equal(
        cotangents(TABLE, np.linalg.norm, np.zeros((2, 3)), ord)[0], np.zeros((2, 3))
    )


def test_a_nuclear_norm_ignores_the_directions_that_are_not_there():
    """At a matrix of rank one the slope is that of its one singular value, not of rounding errors."""
    x = np.outer([1.0, 2.0, 2.0], [3.0, 4.0])
    (x_bar,) = cotangents(TABLE, np.linalg.norm, x, "nuc")
    np.testing.assert_allclose(x_bar, x / 15.0, atol=1e-14)


def test_the_standard_deviation_of_a_constant_has_derivative_zero():
    """The same convention as for the norm."""
    np.testing.assert_array_equal(cotangents(TABLE, np.std, np.ones(3))[0], np.zeros(3))


@pytest.mark.parametrize("call", [
    lambda: rrule(np.linalg.norm, np.eye(2), 3), lambda: rrule(np.linalg.norm, np.ones(3), 0),
    lambda: rrule(np.sum, np.ones(2), dtype=int),
    lambda: rrule(np.average, np.ones(2), returned=True), lambda: rrule(np.max, np.ones(2) + 1j),
    lambda: rrule(np.var, np.ones(2), mean=np.ones(1)), lambda: rrule(np.linalg.vector_norm, np.ones(2),
        ord=0)])
def test_what_is_not_covered_is_refused(call):
    """A call the rules do not cover raises the typed error instead of giving a number."""
    with pytest.raises(NotDifferentiableError):
        call()


def test_initial_wins_only_where_it_lies_beyond():
    """An `initial` larger than everything takes the cotangent away; one that ties leaves it."""
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(cotangents(TABLE, np.max, x, initial=5.0)[0], [0, 0])
    np.testing.assert_array_equal(cotangents(TABLE, np.max, x, initial=2.0)[0], [0, 1])


def test_large_sums():
    """Sums of large arrays, whose cotangents are views, give the same numbers as small ones."""
    x = np.ones((100, 50))
    np.testing.assert_array_equal(cotangents(TABLE, np.sum, x, 0, seed=np.arange(50.0))[0],
                                  np.tile(np.arange(50.0), (100, 1)))
    np.testing.assert_array_equal(cotangents(TABLE, np.mean, x)[0], np.full((100, 50), 1 / 5000))


def test_sum_in_another_width():
    """`dtype=float32` narrows the value and passes the cotangent on."""
    y, pullback = rrule(np.sum, np.ones(3), dtype=np.float32)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(pullback(np.float32(2.0))[1], [2.0, 2.0, 2.0])


def test_cumulative_products_through_zeros():
    """Running products past a zero keep the derivative by the zero itself."""
    (x_bar,) = cotangents(TABLE, np.cumprod, np.array([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(x_bar, [1.0, 8.0, 0.0])


FACTORS = np.array([[0.0, 2.0, -3.0], [0.5, 0.0, 0.0], [1.0, -2.0, 4.0]])


@pytest.mark.parametrize(
    "a", [FACTORS, FACTORS.T[:, :2], FACTORS[2], FACTORS[:0], FACTORS[:, :1], FACTORS[..., None]]
)
@pytest.mark.parametrize("axis", [None, 0, -1, (0,), (0, -1)])
def test_the_stated_cotangent_of_a_product_is_that_of_the_rule(a, axis):
    """As emitted code and as the rule work it out: the same numbers, bit by bit."""
    if axis == (0, -1) and a.ndim == 1:
        axis = None
    y = np.prod(a, axis)
    for y_bar in (np.cos(y), np.float64(2.5) if y.ndim == 0 else np.zeros(y.shape)):
        (wanted,) = cotangents(TABLE, np.prod, a, axis, seed=y_bar)
        found = prod_bar(y_bar, a, axis)
        assert found.tobytes() == np.asarray(wanted).tobytes() and found.shape == a.shape


def test_products_of_others_are_those_of_each_lane():
    """Zeros, lanes of one and none, and any axis."""
    for b in (FACTORS, FACTORS[:, :1], FACTORS[:, :0], FACTORS[:0], FACTORS.T[::2]):
        for axis in (0, 1, -1):
            moved = np.moveaxis(b, axis, -1)
            wanted = [[np.prod(np.delete(lane, k)) for k in range(len(lane))] for lane in moved]
            wanted = np.moveaxis(np.reshape(wanted, moved.shape), -1, axis)
            np.testing.assert_array_equal(product_of_others(b, axis), wanted)
