"""Second derivatives by the built-in rules: every forward rule, differentiated in reverse mode."""

import cmath
import math
import operator
import statistics

import numpy as np
import pytest
from rule_points import Points, at_each, by_function, forward_cases, rule_at
from second_order import PULLBACKS, check_second
from special_points import FAULTS, verdicts

import rulelab as rl
from rulelab.compiler.memory import heap
from rulelab.errors import NotDifferentiableError
from rulelab.rules.registry import DEFAULT
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

LN2 = math.log(2.0)
EACH = 1  # points of each function in the default suite; the campaign takes all


@pytest.mark.every(29)
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
    outer = heap.enter()  # a rule may write to lists of its own
    try:
        with np.errstate(all="ignore"):
            handler = PULLBACKS.find(frule, (tangents, *args), kwargs, active, None)
            (y, _), back = handler(tangents, *args, **kwargs)
    finally:
        heap.leave(outer)
    with np.errstate(all="ignore"):
        y_bar = np.zeros_like(y) if isinstance(y, np.ndarray) else ZeroTangent()
        bars = map(unthunk, back(Tangent(tuple, y_bar, seed))[2 : 2 + len(args)])
        return [0.0 if bar is None or isinstance(bar, (NoTangent, ZeroTangent)) else bar for bar in bars]


@pytest.mark.every(3)
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


def test_second_derivatives_by_way_of_phases_are_refused():
    """The phases of complex vectors are LAPACK's choice; in the values they cancel."""
    a = np.array([[2.0, 1j], [-1j, 3.0]])
    seed = Tangent(type(np.linalg.eigh(a)), np.ones(2), np.ones((2, 2)))
    with pytest.raises(NotDifferentiableError, match="phases"):
        curvature(np.linalg.eigh, a, dots=(a,), seed=seed)
    w_dot_bar = np.array([1.0, -2.0])
    assert np.all(np.isfinite(curvature(np.linalg.eigvalsh, a, dots=(a,), seed=w_dot_bar)[0]))


# -- special points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", range(0, 120, 12))
@pytest.mark.every(11)
def test_second_derivatives_at_special_points(start):
    """Zeros, ties, whole and large numbers: the right number where there is one, else a convention."""
    rows = [row for seed in range(start, start + 12) for row in verdicts(seed)]
    assert not [told for word, told in rows if word in FAULTS]
    assert sum(word == "right" for word, _ in rows) > 12


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (np.hypot.reduce, np.array([0.0, 0.0, 2.0, 1.0]), 2.2 / math.sqrt(5.0)),
        (lambda x: np.sum(np.hypot.reduceat(x, [0, 2])), np.array([0.0, 2.0, 3.0]), 0.5),
        (
            lambda x: np.linalg.norm(x, 1) + np.sum(x * x),
            np.array([[0.0, -1.0, 2.0], [3.0, 2.0, -2.0]]),
            12.0,
        ),
        (
            lambda x: np.linalg.norm(x, -np.inf) + np.sum(x * x),
            np.array([[4.0, -1.0, 2.0], [3.0, 0.0, -9.0]]),
            12.0,
        ),
        (lambda x: np.linalg.norm(x, np.inf) + np.sum(x * x), np.array([0.0, -1.0, 2.0]), 6.0),
    ],
)
def test_zeros_that_a_norm_does_not_depend_on_are_no_kinks(f, x, expected):
    """Zeros among the numbers of a length, and in columns and rows that are not the extreme one."""
    found = orders(f, x)
    total = {way: float(np.sum(number)) for way, number in found.items()}
    assert total == dict.fromkeys(found, pytest.approx(expected, abs=1e-12))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.linalg.norm(x, np.inf) ** 2, np.zeros(2)),
        (lambda x: np.linalg.norm(x, -np.inf) ** 2, np.zeros(2)),
        (lambda x: np.linalg.norm(x, 1) ** 2, np.zeros((2, 2))),
        (lambda x: np.linalg.norm(x, -np.inf) ** 2, np.zeros((2, 2))),
        (lambda x: np.hypot.reduce(x) ** 2, np.zeros(2)),
    ],
)
def test_each_of_equal_zeros_is_a_kink(f, x):
    """Whichever of them the norm takes for the extreme one: no other is 0 without a doubt."""
    for mode in ("forward", "reverse"):
        assert np.all(np.isnan(np.diagonal(np.reshape(rl.hessian(f, x, mode=mode), (x.size, x.size)))))


@pytest.mark.campaign
@pytest.mark.parametrize("start", range(1_000_000, 1_005_000, 500))
def test_second_derivatives_at_many_special_points(start):
    """Five thousand; for seeds of your own: `make points ARGS="--count 5000 --start 7"`."""
    rows = [row for seed in range(start, start + 500) for row in verdicts(seed)]
    assert not [told for word, told in rows if word in FAULTS]


def orders(f, x):
    """The second derivatives along (1, …, 1), in all orders of the modes; by forward mode alone their sum."""
    one = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0

    def gradient(x):
        return rl.gradient(f, x)[0]

    def slope(x):
        return rl.pushforward(f, x)(one)

    with np.errstate(all="ignore"):
        return {
            "reverse over reverse": rl.gradient(lambda x: np.sum(gradient(x)), x)[0],
            "forward over reverse": rl.pushforward(gradient, x)(one),
            "reverse over forward": rl.gradient(slope, x)[0],
            "forward over forward": rl.pushforward(slope, x)(one),
        }


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda v: np.logaddexp(v[0], 2.0 * v[1]), np.array([0.4, 0.2]), [-0.25, 0.5]),
        (lambda v: np.logaddexp2(v[0], 2.0 * v[1]), np.array([0.4, 0.2]), [-0.25 * LN2, 0.5 * LN2]),
        (lambda x: np.logaddexp(0.0, x), 0.0, 0.25),
        (lambda v: np.sum(np.logaddexp.outer(v, v)), np.zeros(2), [0.0, 0.0]),
        (lambda v: np.sum(np.logaddexp.outer(v, np.zeros(2))), np.zeros(2), [0.5, 0.5]),
        (lambda v: v[0] ** v[1], np.array([0.0, 3.0]), [0.0, 0.0]),
        (lambda x: np.sign(x) * x, 1.5, 0.0),
        (lambda x: np.fmod(x, 1.5) ** 2, 0.0, 2.0),
        (lambda x: (x % 1.5) ** 2, 2.0, 2.0),
        (lambda v: np.sum(np.remainder(v, 1.5) ** 2), np.array([2.0, 4.0]), [2.0, 2.0]),
        (lambda x: np.maximum(x, 0.0) ** 2 + np.minimum(x, 0.0) ** 2, 0.0, 2.0),
        (lambda x: np.maximum(x, 0.0) ** 3, 0.0, 0.0),
        (lambda x: np.maximum(x, -x) ** 2, 0.0, 2.0),
        (lambda v: np.sum(np.vander(v, 4)), np.zeros(2), [2.0, 2.0]),
        (lambda v: statistics.harmonic_mean([v[0], v[1], 2.0]), np.array([0.0, 1.5]), [-7.0, 0.0]),
    ],
)
def test_second_derivatives_at_ties_are_right_in_all_orders(f, x, expected):
    """Where the function is smooth at a point that a rule treats apart, its second derivative is there."""
    found = orders(f, x)
    for way, got in found.items():
        wanted = np.sum(expected) if way == "forward over forward" else expected
        np.testing.assert_allclose(got, wanted, atol=1e-12, err_msg=way)


def test_the_smallest_singular_value_has_no_second_derivative_where_it_is_none():
    """It is 1e-17 there, and its square is smooth: the second derivative came out as 0."""
    a, b = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[0.3, -0.7], [0.2, 0.5]])
    assert np.isnan(rl.hessian(lambda t: np.linalg.norm(a + t * b, -2) ** 2, 0.0))
    assert np.isfinite(rl.hessian(lambda t: np.linalg.norm(a + t * b, -2) ** 2, 0.5))


SIZES = [
    abs,
    np.abs,
    np.fabs,
    math.fabs,
    lambda x: np.copysign(x, 2.0),
    lambda x: math.copysign(x, 2.0),
    lambda x: np.hypot(x, 2.0 * x),
    lambda x: math.hypot(x, x, x),
    lambda x: math.dist([x, 1.0], [0.0, 1.0]),
    lambda x: np.linalg.norm(np.array([x, 2.0 * x])),
    lambda x: np.linalg.norm(np.array([x, 2.0 * x]), 1),
    lambda x: np.linalg.norm(np.array([x, 2.0 * x]), 3),
    lambda x: np.linalg.norm(np.array([[x, 1.0], [2.0 * x, 2.0]]), axis=0)[0],
    lambda x: np.linalg.vector_norm(np.array([x, 2.0 * x])),
    lambda x: np.linalg.matrix_norm(np.array([[x, 2.0 * x]])),
    lambda x: np.linalg.norm(np.array([[x, 2.0 * x]]), 1),
    lambda x: np.std(np.array([x, -x, 2.0 * x])),
    lambda x: np.nanstd(np.array([x, -x, np.nan])),
    lambda x: np.std(np.array([x, -x, 3.0]), where=np.array([True, True, False])),
    lambda x: statistics.stdev([x, -x, 0.0]),
    lambda x: statistics.pstdev([x, -x, 0.0]),
    lambda x: abs(complex(x, 2.0 * x)),
    lambda x: cmath.polar(complex(x, 2.0 * x))[0],
    lambda x: np.abs(x + 2j * x),
    lambda x: np.ptp(np.array([x, -x])),
    lambda x: np.ptp(np.array([[x, 1.0], [-x, 2.0]]), axis=0)[0],
]


@pytest.mark.every(37)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("outer", [lambda y: y**2, lambda y: y * y, np.cos, lambda y: np.exp(-(y**2))])
def test_what_is_smooth_though_made_of_a_kink_has_no_wrong_second_derivative(size, outer):
    """The slope of `abs(x)` at 0 is 0 by convention; the curvature of `abs(x) ** 2` came out as 0 with it."""
    f, h = lambda x: outer(size(x)), 1e-3
    curved = (f(h) - 2 * f(0.0) + f(-h)) / h**2
    assert abs(curved) > 0.5
    for way, got in orders(f, 0.0).items():
        assert np.isnan(got) or abs(got - curved) < 1e-4 * abs(curved), (way, got, curved)


@pytest.mark.every(3)
@pytest.mark.parametrize("size", SIZES)
def test_a_loss_with_a_kink_keeps_its_convention(size):
    """A Hessian of absolute errors stays finite where an error is 0."""
    with np.errstate(all="ignore"):
        assert rl.hessian(lambda x: 3.0 * size(x) + x**2, 0.0) == 2.0
        assert rl.hvp(lambda x: size(x), 0.0, 1.0) == 0.0


def test_what_does_not_move_at_a_kink_has_no_part_in_the_second_derivative():
    """Padding of zeros, which no parameter moves, leaves a Hessian as it is."""
    features = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    mask = np.array([1.0, 1.0, 0.0])

    def loss(w):
        return np.sum(mask * np.abs(features @ w)) + np.sum(w**2)

    np.testing.assert_array_equal(rl.hessian(loss, np.array([0.5, 0.25])), 2 * np.eye(2))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "x"),
    [
        (np.sqrt, 0.0),
        (np.cbrt, 0.0),
        (math.sqrt, 0.0),
        (math.cbrt, 0.0),
        (np.arcsin, 1.0),
        (np.arcsin, -1.0),
        (np.arccos, 1.0),
        (np.arccosh, 1.0),
        (math.asin, -1.0),
        (math.acos, 1.0),
        (math.acosh, 1.0),
        (lambda x: cmath.sqrt(x).real, 0.0),
        (lambda x: cmath.acosh(x).real, 1.0),
        (lambda x: x**0.5, 0.0),
        (lambda x: x**1.5, 0.0),
        (lambda x: np.power(x, 1.5), 0.0),
        (lambda x: math.pow(x, 1.5), 0.0),
        (lambda x: np.sinc(np.sqrt(x)) * np.sqrt(x), 0.0),
        (lambda x: math.fmod(x, 1.5), 3.0),
        (lambda x: x % 1.5, 3.0),
        (lambda x: np.remainder(x, 1.5), 3.0),
        (lambda x: np.fmod(x, 1.5), 3.0),
        (lambda x: np.remainder(x, 3), 6),
        (lambda x: np.fmod(x, 3), 6),
        (lambda x: x % 3, 6),
        (lambda y: np.remainder(6.0, y), 3.0),
        (lambda y: 6 % y, 3),
        (lambda x: math.remainder(x, 1.0), 2.5),
        (lambda x: math.atan2(x, x), 0.0),
        (lambda x: np.arctan2(x, x), 0.0),
        (lambda x: cmath.phase(complex(x, x)), 0.0),
    ],
)
def test_a_second_derivative_that_does_not_exist_is_no_number(f, x):
    """Infinite slopes at the border of a domain, jumps, the angle of nothing."""
    for way, got in orders(f, x).items():
        assert not np.isfinite(got), (way, got)


@pytest.mark.parametrize("f", [np.sqrt, math.sqrt, lambda x: x**0.5, lambda x: 2.0 * np.sqrt(x)])
@pytest.mark.parametrize("one", [1.0, np.float64(1.0)])
def test_where_a_second_derivative_is_infinite_all_ways_say_so(f, one):
    """A tangent that does not move is no number that meets an infinite slope; that slope is no constant."""
    x = 0.0 * one
    found = orders(f, x)
    assert found == dict.fromkeys(found, -np.inf)


def test_the_mixed_derivative_of_a_power_of_zero_is_infinite_up_to_the_exponent_one():
    """`x ** p` by both, x ** (p - 1) * (1 + p log x), is not 0 where only the slope in p is."""
    for power in (np.power, np.float_power, operator.pow, math.pow):
        with np.errstate(all="ignore"):
            found = [
                rl.gradient(lambda x, p=p: rl.gradient(lambda p: power(x, p), p)[0], 0.0)[0]
                for p in (0.5, 1.0, 1.5, 2.0)
            ]
        assert not np.isfinite(found[0]) and found[1:] == [-np.inf, 0.0, 0.0]


def test_vectors_of_a_singular_value_of_rounding_are_refused():
    """A value that should be 0 and is 1e-17 gave second derivatives of 1e14."""
    a, weights = -np.ones((2, 4)), np.arange(8.0).reshape(2, 4)
    with pytest.raises(NotDifferentiableError, match="singular value is zero"):
        rl.hessian(lambda t: np.sum(np.linalg.svd(a * t, full_matrices=False)[2] * weights), 1.0)
