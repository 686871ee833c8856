"""Series of coefficients in six bases: derivatives, integrals, sums, products, values on grids."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets.numpy_polynomials import FAMILIES, TABLE


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


@pytest.mark.parametrize("prefix", FAMILIES)
def test_values_on_grids_and_second_derivatives(prefix):
    """What is compiled as it stands, and the slope of a slope."""
    module = FAMILIES[prefix]
    val2d, grid2d, vander = (getattr(module, prefix + name) for name in ("val2d", "grid2d", "vander"))
    c, x = np.arange(6.0).reshape(2, 3) + 0.5, np.array([0.3, 0.5])
    of_x, of_c = rl.gradient(lambda x, c: np.sum(grid2d(x, x, c)), x, c)
    step = 1e-6
    for k, e in enumerate(np.eye(2) * step):
        line = (np.sum(grid2d(x + e, x + e, c)) - np.sum(grid2d(x - e, x - e, c))) / (2 * step)
        assert of_x[k] == pytest.approx(line, rel=1e-7)
    basis = np.sum(grid2d(x, x, np.eye(1, 2, 1).T @ np.eye(1, 3, 2)))
    assert of_c[1, 2] == pytest.approx(basis, rel=1e-12)
    assert rl.gradient(lambda t: val2d(t, 0.4, c), 0.3)[0] == pytest.approx(
        (val2d(0.3 + step, 0.4, c) - val2d(0.3 - step, 0.4, c)) / (2 * step), rel=1e-7
    )
    at = np.array([0.3, 0.7])
    bend = rl.hessian(lambda x: np.sum(vander(x, 3) * np.arange(4.0)), at)
    wide = 1e-4
    for k in range(2):
        ahead, behind = (vander(at[k] + s * wide, 3) for s in (1, -1))
        second = (ahead - 2 * vander(at[k], 3) + behind) / wide**2
        assert bend[k, k] == pytest.approx(np.sum(second * np.arange(4.0)), rel=1e-5, abs=1e-5)


def test_constants_of_integration_are_refused():
    """They are constants; one that varies is not lost without a word."""
    with pytest.raises(RuleLabError, match="k|lbnd"):
        rl.gradient(lambda b: np.sum(np.polynomial.chebyshev.chebint([1.0, 2.0], lbnd=b)), 0.3)


@pytest.mark.parametrize("prefix", FAMILIES)
@pytest.mark.parametrize("shape, axis", [((3,), 0), ((2, 3), 1), ((2, 0), 1), ((3, 2), 0)])
def test_as_many_derivatives_as_coefficients(prefix, shape, axis):
    """Nothing is left of the series, in whichever axis NumPy has that, and nothing moves it."""
    c = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    y, back = rl.pullback(lambda c: getattr(FAMILIES[prefix], prefix + "der")(c, 3, 1, axis), c)
    assert not y.any() and np.array_equal(back(np.ones(y.shape))[0], np.zeros(shape))
    y_dot = rl.pushforward(lambda c: getattr(FAMILIES[prefix], prefix + "der")(c, 3, 1, axis), c)(c)
    assert y_dot.shape == y.shape and not y_dot.any()


def test_zeros_at_the_end_are_left_out():
    """The sum of series whose last coefficients cancel is shorter, and so are their cotangents' sources."""
    one, other = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.1, -3.0])
    found = rl.gradient(lambda a, b: np.sum(np.polynomial.legendre.legadd(a, b)), one, other)
    assert found[0].tolist() == [1.0, 1.0, 0.0] and found[1].tolist() == [1.0, 1.0, 0.0]
