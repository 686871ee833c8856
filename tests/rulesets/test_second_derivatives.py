"""Second derivatives by the rules of the house: every forward rule, differentiated in reverse mode."""

import math
import operator
import statistics

import numpy as np
import pytest
from rule_points import Points, at_each, by_function, forward_cases, rule_at
from second_order import PULLBACKS, check_second

from rulelab.errors import NotDifferentiableError
from rulelab.rules.registry import DEFAULT
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

EACH = 2  # points of each function in the default suite; the campaign takes all


@pytest.mark.parametrize("points", by_function(forward_cases()), ids=str)
def test_second_derivatives_agree_with_finite_differences(points):
    """The cotangents of the tangents and of the arguments of every forward rule, at some check points."""
    at_each(Points(points.name, points.cases[:EACH]), check_second)


@pytest.mark.campaign
@pytest.mark.parametrize("points", by_function(forward_cases()), ids=str)
def test_second_derivatives_agree_with_finite_differences_everywhere(points):
    """The same at every check point."""
    at_each(points, check_second)


def curvature(target, *args, dots, seed=1.0, **kwargs):
    """What the arguments get of `<seed, J(x) x_dot>`: in one variable the second derivative times both."""
    frule = rule_at(DEFAULT, target, args, "frule").function
    tangents = (NoTangent(), *dots)
    active = (False, True, *[not isinstance(dot, NoTangent) for dot in dots], *[False] * len(kwargs))
    with np.errstate(all="ignore"):
        (y, _), back = PULLBACKS.find(frule, (tangents, *args), kwargs, active, None)(
            tangents, *args, **kwargs
        )
        y_bar = np.zeros_like(y) if isinstance(y, np.ndarray) else 0.0
        bars = map(unthunk, back(Tangent(tuple, y_bar, seed))[2 : 2 + len(args)])
        return [0.0 if bar is None or isinstance(bar, (NoTangent, ZeroTangent)) else bar for bar in bars]


@pytest.mark.parametrize(
    ("target", "args", "dots", "expected"),
    [
        (abs, (0.0,), (1.0,), [0.0]),
        (np.hypot, (0.0, 0.0), (1.0, 1.0), [0.0, 0.0]),
        (np.maximum, (1.0, 1.0), (1.0, 1.0), [0.0, 0.0]),
        (np.sign, (0.0,), (1.0,), [0.0]),
        (math.fabs, (0.0,), (1.0,), [0.0]),
        (math.copysign, (0.0, 1.0), (1.0, 1.0), [0.0, 0.0]),
        (math.hypot, (0.0, 0.0), (1.0, 1.0), [0.0, 0.0]),
        (np.linalg.norm, (np.zeros(2),), (np.ones(2),), [np.zeros(2)]),
        (np.std, (np.ones(3),), (np.array([1.0, 2.0, 4.0]),), [np.zeros(3)]),
        (statistics.stdev, ([1.0, 1.0],), ([1.0, 2.0],), [[0.0, 0.0]]),
        (np.sqrt, (0.0,), (1.0,), [-np.inf]),
        (operator.pow, (0.0, 2), (1.0, NoTangent()), [2.0, None]),
        (operator.pow, (0.0, 3), (1.0, NoTangent()), [0.0, None]),
        (operator.pow, (0.0, 1), (1.0, NoTangent()), [0.0, None]),
        (operator.pow, (0.0, 0), (1.0, NoTangent()), [0.0, None]),
        (operator.pow, (-2.0, 2), (1.0, NoTangent()), [2.0, None]),
        (operator.pow, (-2.0, 3), (1.0, NoTangent()), [-12.0, None]),
        (np.power, (np.array([-2.0, 0.0]), 2), (np.ones(2), NoTangent()), [np.array([2.0, 2.0]), None]),
        (math.pow, (-2.0, 2), (1.0, NoTangent()), [2.0, None]),
        (np.sinc, (0.0,), (1.0,), [-(np.pi**2) / 3]),
        (np.linalg.det, (np.zeros((2, 2)),), (np.eye(2),), [np.eye(2)]),
        (np.prod, (np.array([0.0, 0.0, 3.0]),), (np.array([1.0, 0.0, 0.0]),), [np.array([0.0, 3.0, 0.0])]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_second_derivatives_at_kinks_are_conventions(target, args, dots, expected):
    """Where there is none it is 0, or what its formula tends to; a constant exponent never meets a
    logarithm.
    """
    seed = np.ones(np.shape(args[0])) if target is np.power else 1.0
    found = curvature(target, *args, dots=dots, seed=seed)
    for got, wanted, dot in zip(found, expected, dots, strict=True):
        if isinstance(dot, NoTangent):
            continue  # a constant, which nobody asks
        np.testing.assert_allclose(list(got) if isinstance(got, Tangent) else got, wanted, atol=1e-12)


@pytest.mark.parametrize("target", [np.linalg.eigvalsh, np.linalg.svdvals, np.linalg.eigvals])
def test_second_derivatives_of_values_that_coincide_are_refused(target):
    """They are infinite in all directions but some."""
    with pytest.raises(NotDifferentiableError, match="coincide"):
        curvature(target, np.eye(2), dots=(np.array([[1.0, 2.0], [2.0, 3.0]]),), seed=np.array([1.0, 2.0]))


def test_second_derivatives_of_complex_vectors_are_refused():
    """Their phases are LAPACK's choice; those of the values are taken, in which the phases cancel."""
    a = np.array([[2.0, 1j], [-1j, 3.0]])
    with pytest.raises(NotDifferentiableError, match="phases"):
        curvature(np.linalg.eigh, a, dots=(a,), seed=Tangent(tuple, np.ones(2), np.ones((2, 2))))
    w_dot_bar = np.array([1.0, -2.0])
    assert np.all(np.isfinite(curvature(np.linalg.eigvalsh, a, dots=(a,), seed=w_dot_bar)[0]))
