"""Interpolation, finite differences, convolution, polynomials, spaced samples."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets.numpy_calculus import TABLE, Interpolation


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def test_at_a_knot_the_piece_on_the_right_counts():
    """The slope of `interp` jumps at its knots: the right one, at the last knot the left one; 0 outside."""
    knots, values = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])
    (x_bar, *_) = cotangents(TABLE, np.interp, np.array([0.0, 1.0, 2.0, -0.5, 2.5]), knots, values)
    np.testing.assert_array_equal(x_bar, [1, 3, 3, 0, 0])


@pytest.mark.parametrize(
    ("f", "sweeps"),
    [
        (lambda x: np.interp(x[0], [0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), 0),
        (lambda x: np.interp(0.5, [0.0, 1.0, 2.0], x), 1),
        (lambda x: np.interp(1.0, x - 1.5, [0.0, 1.0, 4.0]), 1),
        (lambda x: np.interp(1.0, x - 1.5, x * x), 2),
    ],
)
def test_what_flows_to_constant_knots_or_values_is_not_computed(f, sweeps, monkeypatch):
    """Only the knots and the values that depend on the input are gone through, one sweep for each."""
    asked, to_knots = [], Interpolation.to_knots
    monkeypatch.setattr(Interpolation, "to_knots", lambda *args: asked.append(1) or to_knots(*args))
    x, h = np.array([1.5, 2.0, 3.5]), 1e-6
    slopes = [(f(x + step) - f(x - step)) / (2 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(rl.gradient(f, x)[0], slopes, rtol=1e-8, atol=1e-8)
    assert len(asked) == sweeps


@pytest.mark.parametrize("n", [2, 3, 5, 6, 11])
@pytest.mark.parametrize("edge_order", [1, 2])
def test_the_transposed_stencil_is_the_transposed_matrix(n, edge_order):
    """`np.gradient` of every unit vector is a column of a matrix; the pullback applies its transpose."""
    if n <= edge_order:
        return
    at = np.cumsum(np.linspace(0.5, 2.0, n))
    matrix = np.gradient(np.eye(n), at, axis=0, edge_order=edge_order)
    seed = np.sin(np.arange(n))
    (f_bar, *_) = cotangents(TABLE, np.gradient, np.zeros(n), at, seed=seed, edge_order=edge_order)
    np.testing.assert_allclose(f_bar, matrix.T @ seed, atol=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.interp(0.5, x, x, period=2.0),
        lambda x: np.interp(0.5, x[::-1], x),
        lambda x: np.gradient(x, x)[0],
        lambda x: np.polyval(np.poly1d(x), 2.0),
        lambda x: np.polymul(x - x[0], x)[0],
        lambda x: np.roots(x - x[0])[0].real,
        lambda x: np.polydiv(np.convolve(x, [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])[0][1],
        lambda x: np.polydiv(np.poly1d([1.0, 2.0]), x)[0][0],
        lambda x: np.sum(np.polyval(x[None], 2.0)),
        lambda x: np.sum(np.polyval(np.stack([x, x, x]), x)),
        lambda x: np.sum(np.polydiv(x[None], [1.0, 2.0])[1]),
        lambda x: np.sum(np.polydiv([1.0, 2.0, 3.0], x[:2] - 1.0)[0]),
        lambda x: np.sum(np.polyadd(np.stack([x, x, x]), x)),
        lambda x: np.sum(np.polysub(x, np.stack([x, x, x]))),
        lambda x: np.roots(np.stack([x[0] ** 0, -2 * x[0], x[0] ** 2]))[0].real,
        lambda x: np.sum(np.logspace(0, 1, 3, base=x[0])),
        lambda x: np.sum(np.geomspace(1.0, x[0], 3, dtype=int)),
        lambda x: np.polyfit(x, x * x, 1, w=x)[0],
        lambda x: np.polyfit(x, x * x, 1, cov=True)[0][0],
        lambda x: np.polyfit(x**0, x * x, 1)[0],
        lambda x: np.sum(np.geomspace(1.0, 1j * x[0], 3)).real,
    ],
)
def test_what_a_rule_does_not_cover_is_refused(call):
    """Periods, knots out of order, active spacings, poly1d, rows of coefficients, leading zeros, no
    remainder, repeated roots: an error each.
    """
    with pytest.raises(RuleLabError):
        rl.gradient(call, np.array([1.0, 2.0, 4.0]))


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.interp(1.5, np.array([1.0, 2.0, 3.0]), x), [0.5, 0.5, 0.0]),
        (lambda x: np.convolve(x, x)[2], [8.0, 4.0, 2.0]),
        (lambda x: np.polyval(x, 3.0), [9.0, 3.0, 1.0]),
        (lambda x: np.polydiv(x, [1.0, -3.0])[1][0], [9.0, 3.0, 1.0]),
        (lambda x: np.polydiv([1.0, 0.0, 0.0], x[:2])[0][1], [4.0, -1.0, 0.0]),
        (lambda x: np.gradient(x * x)[1], [-1.0, 0.0, 4.0]),
        (lambda x: np.sum(np.correlate(x, np.array([1.0, 2.0]))), [1.0, 3.0, 2.0]),
    ],
)
def test_they_work_in_differentiated_code(f, expected):
    """As one writes them."""
    np.testing.assert_allclose(rl.gradient(f, np.array([1.0, 2.0, 4.0]))[0], expected)


@pytest.mark.parametrize("values", [np.array([3, 1, 2, 7], np.uint8), [True, False, True, False]])
def test_values_at_the_knots_without_a_sign(values):
    """Between two of them it goes down: their difference is no number of their own kind."""

    def f(x):
        knots = [0.0, 1.0, 2.0, 3.0]
        return np.sum(np.interp(x, knots, values)) + np.interp(x[0], knots, values)

    numbers = np.array(values, float)
    slopes = np.diff(numbers) * [2.0, 1.0, 1.0]
    x = np.array([0.4, 1.3, 2.6])
    np.testing.assert_allclose(rl.gradient(f, x)[0], slopes)
    np.testing.assert_allclose(rl.pushforward(f, x)(np.ones(3)), slopes.sum())
