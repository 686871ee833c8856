"""Quantiles, reductions that skip NaN, covariances, counts."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents

import rulelab as rl
from rulelab.errors import ForeignCallError, MutationError, RuleLabError
from rulelab.rulesets.numpy_reductions import TABLE as REDUCTIONS
from rulelab.rulesets.numpy_statistics import TABLE, sorted_weights
from rulelab.tangents.zeros import ZeroTangent


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_quantiles_are_their_weights_times_the_sorted_values(method, n):
    """Whatever the method, the values that a quantile is made of are those that its cotangent goes to."""
    x = np.random.default_rng(n).normal(size=n)
    q = np.array([0.0, 0.1, 0.25, 0.37, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(sorted_weights(n, q, method) @ np.sort(x), np.quantile(x, q, method=method))


X = np.array([[np.nan, 2.0, 4.0], [5.0, np.nan, 1.0]])


@pytest.mark.parametrize(
    ("target", "options", "expected"),
    [
        (np.nanprod, {"axis": 1}, [[0, 4, 2], [1, 0, 5]]),
        (np.nanvar, {"axis": 1}, [[0, -1, 1], [2, 0, -2]]),
        (np.nanstd, {"axis": 1}, [[0, -0.5, 0.5], [0.5, 0, -0.5]]),
        (np.nanmedian, {"axis": 1}, [[0, 0.5, 0.5], [0.5, 0, 0.5]]),
        (np.nancumsum, {"axis": 1}, [[0, 2, 1], [3, 0, 1]]),
        (np.nancumprod, {"axis": 1}, [[0, 5, 2], [3, 0, 5]]),
    ],
)
def test_nan_reductions_ignore_nan(target, options, expected):
    """NaN entries get zero; the others what they would get without them."""
    np.testing.assert_allclose(cotangents(TABLE, target, X, **options)[0], expected)


def test_a_nan_quantile_has_a_nan_slope_and_its_neighbour_has_not():
    """A lane with a NaN gives NaN; `nanquantile` leaves the NaN out."""
    (x_bar,) = cotangents(TABLE, np.quantile, np.array([[np.nan, 1.0], [3.0, 1.0]]), 0.5, 1)
    assert np.isnan(x_bar[0]).all() and (x_bar[1] == 0.5).all()
    (x_bar,) = cotangents(TABLE, np.nanquantile, X, 0.25, 1)
    np.testing.assert_allclose(x_bar, [[0, 0.75, 0.25], [0.25, 0, 0.75]])


def test_equal_values_keep_their_order():
    """Of equal values the first counts as the smaller, as in `np.sort`."""
    np.testing.assert_array_equal(
        cotangents(TABLE, np.quantile, np.array([2.0, 2.0, 2.0]), 0.0)[0], [1, 0, 0]
    )
    np.testing.assert_array_equal(cotangents(TABLE, np.unique, np.array([2.0, 1.0, 2.0]))[0], [1, 1, 0])


@pytest.mark.parametrize("target", [np.unique_all, np.unique_counts, np.unique_inverse])
def test_the_values_of_named_results_move_and_the_counts_do_not(target):
    """Of equal values the first has the slope, at every order; NaN are not alike; places and counts are
    constant."""
    x = np.array([2.0, 1.0, 2.0, 5.0])
    assert_equal = np.testing.assert_array_equal

    def loss(x):
        values, *others = target(x)
        return np.sum(values**3) + np.sum(others[-1])

    assert_equal(rl.gradient(loss, x)[0], [12, 3, 0, 75])
    assert_equal(rl.hessian(loss, x), np.diag([12, 6, 0, 30]))
    assert_equal(rl.pushforward(target, x)(x).values, [1, 2, 5])
    assert_equal(rl.gradient(lambda x: np.sum(target(x)[-1]) * 1.0, x)[0], np.zeros(4))
    y = np.array([[3.0, np.nan], [np.nan, 1.0]])
    assert_equal(rl.pullback(lambda x: target(x).values, y)[1](np.arange(1.0, 5.0))[0], [[2, 3], [4, 1]])
    z = np.array([1 + 2j, 0.5, 1 + 2j])
    assert_equal(rl.gradient(lambda z: np.sum(np.abs(target(z).values) ** 2), z)[0], [2 + 4j, 1, 0])
    assert rl.gradient(lambda x: np.sum(target(x).values), np.float32([2, 1]))[0].dtype == np.float32
    assert rl.gradient(lambda x: target(x).values[0] ** 2, 3.0) == (6.0,)
    assert rl.gradient(lambda x: np.sum(target(x).values), np.array([]))[0].shape == (0,)


def test_values_in_no_order_are_refused():
    """`np.unique_values` promises no order: the error says which call has one."""
    with pytest.raises(ForeignCallError, match=r"order is arbitrary.*np\.unique"):
        rl.gradient(lambda x: np.sum(np.unique_values(x)), np.ones(2))


def test_what_a_set_difference_leaves_out_has_no_slope():
    """Elements found in the other array are gone, and of equal ones the first stands for all; with
    `assume_unique` each stands for itself."""
    ar1, ar2 = np.array([[2.0, 1.0, 4.0], [3.0, 2.0, 1.0]]), np.array([1.0, 5.0])
    assert_equal = np.testing.assert_array_equal
    assert_equal(cotangents(TABLE, np.setdiff1d, ar1, ar2)[0], [[1, 0, 1], [1, 0, 0]])
    assert_equal(cotangents(TABLE, np.setdiff1d, ar1, ar2, True)[0], [[1, 0, 1], [1, 1, 0]])
    assert_equal(cotangents(TABLE, np.setdiff1d, ar1, ar1)[0], np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@pytest.mark.parametrize("others", [0, 3, 100])
@pytest.mark.parametrize("assume_unique", [False, True])
def test_setdiff1d_of_values_that_repeat(dtype, others, assume_unique):
    """The value is NumPy's, whichever way it compares: also where values are wrongly said to be unique, of
    which it then drops some. Each entry of the tangent is that of the value, and the pullback its transpose.
    """
    rng = np.random.default_rng(others)
    for count in range(12):
        x = rng.integers(0, 8, count).astype(dtype)
        table = np.array([0.5, np.nan, *range(3)] * 20)[:others]
        y = np.setdiff1d(x, table, assume_unique)
        at = x.real.astype(int)
        x_dot = rng.normal(size=8)[at].astype(dtype)  # equal values move alike
        y_dot = rl.pushforward(lambda x: np.setdiff1d(x, table, assume_unique), x)(x_dot)
        found, back = rl.pullback(lambda x: np.setdiff1d(x, table, assume_unique), x)
        np.testing.assert_array_equal(found, y)
        np.testing.assert_array_equal(y_dot, [x_dot[x == value][0] for value in y])
        y_bar = rng.normal(size=y.shape).astype(dtype)
        assert np.sum(back(y_bar)[0] * x_dot) == pytest.approx(np.sum(y_bar * y_dot), rel=1e-4, abs=1e-5)



@pytest.mark.parametrize("target", [np.quantile, np.nanpercentile])
def test_overwriting_the_input_is_refused(target):
    """`overwrite_input=True` writes to the array that was given."""
    with pytest.raises(MutationError, match="overwrite_input"):
        cotangents(TABLE, target, np.ones(3), 0.5, overwrite_input=True)
    with pytest.raises(MutationError, match="overwrite_input"):
        cotangents(REDUCTIONS, np.median, np.ones(3), overwrite_input=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.quantile(x, 0.5, weights=np.ones(4), method="inverted_cdf"),
        lambda x: np.cov(x, aweights=np.ones(4)),
        lambda x: np.unique(np.reshape(x, (2, 2)), axis=0)[0, 0],
        lambda x: np.histogram(x)[1][0],
        lambda x: np.histogram(x, [0.0, 1.0], weights=x)[0][0],
        lambda x: np.unique(x, sorted=False)[0],
        lambda x: np.quantile(x, x[0]),
    ],
)
def test_what_a_rule_does_not_cover_is_refused(call):
    """Weights, edges made from data, an order that is any, an active rank: an error that says so."""
    with pytest.raises(RuleLabError):
        rl.gradient(call, np.array([0.5, 0.25, 0.75, 0.125]))


def test_counts_are_constant_and_weights_are_not():
    """A histogram of fixed edges carries nothing; `bincount` hands each weight the cotangent of its bin."""
    assert cotangents(TABLE, np.histogram, np.array([0.5, 2.0]), [0.0, 1.0, 3.0])[0] is ZeroTangent()
    grads = rl.gradient(lambda w: np.bincount(np.array([0, 2, 2]), w)[2], np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(grads[0], [0, 1, 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [np.cov, np.corrcoef])
@pytest.mark.parametrize("shape", [(0, 3), (0, 0)])
def test_of_no_variables_there_are_no_others(f, shape):
    """NumPy looks at no second array if the first has no rows; the second moves nothing then."""
    none, other = np.zeros(shape), np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 2.0]])
    y, back = rl.pullback(f, none, other)
    assert y.shape == (0, 0)
    none_bar, other_bar = back(np.zeros((0, 0)))
    assert np.shape(none_bar) == shape and np.array_equal(other_bar, np.zeros((2, 3)))
    assert rl.pushforward(f, none, other)(none, other).shape == (0, 0)


def test_a_correlation_of_a_variable_with_itself_is_constant():
    """The diagonal is 1 whatever the data."""
    (x_bar,) = cotangents(TABLE, np.corrcoef, np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 2.0]]), seed=np.eye(2))
    np.testing.assert_allclose(x_bar, np.zeros((2, 3)), atol=1e-15)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("quantiles", [0.3, [0.1, 0.9], [[0.2, 0.6], [0.9, 0.5]]])
@pytest.mark.parametrize("target", [np.quantile, np.nanquantile], ids=["quantile", "nanquantile"])
def test_quantiles_stand_where_numpy_puts_them(target, quantiles, axis):
    """Or are refused in both modes: np.nanquantile mixes up axes for a matrix of quantiles."""
    x, v = np.sin(np.arange(12.0) ** 2).reshape(2, 2, 3), np.cos(np.arange(12.0)).reshape(2, 2, 3)

    def f(x):
        y = target(x, quantiles, axis=axis)
        return np.sum(y**2 * np.arange(1.0, np.size(y) + 1).reshape(np.shape(y)))

    mixed = target is np.nanquantile and np.ndim(quantiles) == 2 and np.size(axis) == 2
    for ask in (lambda: np.sum(rl.gradient(f, x)[0] * v), lambda: rl.pushforward(f, x)(v)):
        if mixed:
            with pytest.raises(rl.NotDifferentiableError, match="does not order its results as documented"):
                ask()
        else:
            np.testing.assert_allclose(ask(), (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6, rtol=1e-6)
