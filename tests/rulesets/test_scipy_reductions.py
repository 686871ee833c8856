"""Logarithms of sums and softmax: all keywords, weights, infinite summands, second derivatives."""

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")

from library_calls import call, given  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
)
from library_tests import test_second_derivatives as test_second_derivatives_of_calls  # noqa: E402, F401
from rule_points import at_each, by_rule, cases, check  # noqa: E402
from second_order import check_second  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402
from rulelab.rules.kinds import INT, Array, Given  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rules.results import result_of  # noqa: E402
from rulelab.rules.rule_table import RuleTable  # noqa: E402
from rulelab.rulesets.scipy_reductions import TABLE  # noqa: E402
from rulelab.tangents.zeros import NoTangent  # noqa: E402

CASES = by_rule(TABLE)
MATRIX = np.array([[0.3, -1.2, 2.0], [1.5, 0.4, -0.7]])
WEIGHTS = np.array([0.5, 2.0, 1.5])
CALLS = [
    call("logsumexp", special.logsumexp, MATRIX),
    call("logsumexp of rows", given(special.logsumexp, axis=1, keepdims=True), MATRIX),
    call("logsumexp with weights", lambda a, b: special.logsumexp(a, axis=1, b=b), MATRIX, WEIGHTS),
    call("softmax", special.softmax, MATRIX),
    call("softmax of columns", given(special.softmax, axis=0), MATRIX),
    call("log_softmax", special.log_softmax, MATRIX),
    call("log_softmax of rows", given(special.log_softmax, axis=-1), MATRIX),
]


def test_there_are_points():
    """Each function is checked at several."""
    assert all(len(finite(points).cases) >= 10 for points in CASES) and len(CASES) == 3


def finite(points):
    """Differences cannot move what is infinite."""
    kept = [case for case in points.cases if np.all(np.isfinite(np.asarray(case.args[0])))]
    return points._replace(cases=kept)


@pytest.mark.parametrize("points", CASES, ids=str)
def test_rules_agree_with_finite_differences(points):
    """Whatever axes, weights and keywords: the derivative that the values show, in both modes."""
    at_each(finite(points), check)


@pytest.mark.every(3)
@pytest.mark.parametrize("points", CASES, ids=str)
def test_second_derivatives(points):
    """The forward rules, differentiated in reverse mode."""
    assert DEFAULT.entry(special.logsumexp) is not None
    kept = [case for case in finite(points).cases if case.mode == "frule"]
    at_each(points._replace(cases=kept), check_second)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (special.logsumexp, special.softmax(MATRIX)),
        (lambda a: np.sum(special.logsumexp(a, axis=1)), special.softmax(MATRIX, axis=1)),
        (lambda a: np.sum(special.logsumexp(a, axis=0, keepdims=True)), special.softmax(MATRIX, axis=0)),
        (
            lambda a: np.sum(special.logsumexp(a, axis=1, b=WEIGHTS)),
            special.softmax(MATRIX + np.log(WEIGHTS), axis=1),
        ),
        (
            lambda a: special.logsumexp(a, b=-WEIGHTS, return_sign=True)[0],
            special.softmax(MATRIX + np.log(WEIGHTS)),
        ),
    ],
)
def test_the_slope_of_a_logarithm_of_a_sum_is_a_softmax(f, slope):
    """By position and by keyword, with weights and with signs."""
    np.testing.assert_allclose(rl.gradient(f, MATRIX)[0], slope, rtol=1e-13)
    along = rl.pushforward(f, MATRIX)(np.ones_like(MATRIX))
    np.testing.assert_allclose(along, np.sum(slope), rtol=1e-13)


def test_weights_have_slopes_by_keyword():
    """`b=` varies, too: what each exponential is of the sum."""
    (slope,) = rl.gradient(lambda b: np.sum(special.logsumexp(MATRIX, axis=1, b=b)), WEIGHTS)
    total = np.exp(MATRIX) / np.sum(WEIGHTS * np.exp(MATRIX), axis=1, keepdims=True)
    np.testing.assert_allclose(slope, np.sum(total, axis=0), rtol=1e-13)


@pytest.mark.parametrize(
    ("a", "b", "slope"),
    [
        ([0.0, -np.inf, 0.0], None, [0.5, 0.0, 0.5]),
        ([np.inf, 1.0], None, [1.0, 0.0]),
        ([-np.inf, -np.inf], None, [np.nan, np.nan]),
        ([1.0, np.inf], [1.0, 0.0], [1.0, 0.0]),
        ([1.0, np.nan], [1.0, 0.0], [1.0, 0.0]),
        ([1e4, -1e4], None, [1.0, 0.0]),
    ],
)
def test_infinite_summands(a, b, slope):
    """A summand that is 0 or has no weight moves nothing; where all are 0 there is no slope."""
    b = None if b is None else np.array(b)
    with np.errstate(all="ignore"):
        (found,) = rl.gradient(lambda a: special.logsumexp(a, b=b), np.array(a))
    np.testing.assert_allclose(found, slope)


def test_hessian_of_a_logarithm_of_a_sum():
    """diag(p) - p p', in the usual mixture of modes and in reverse over reverse."""
    p = special.softmax(MATRIX[0])
    wanted = np.diag(p) - np.outer(p, p)
    np.testing.assert_allclose(rl.hessian(special.logsumexp, MATRIX[0]), wanted, atol=1e-14)
    np.testing.assert_allclose(rl.hessian_reverse(special.logsumexp, MATRIX[0]), wanted, atol=1e-14)


def test_complex_signs_are_refused():
    """The phase of a complex sum is not constant."""
    with pytest.raises(NotDifferentiableError, match="return_sign"):
        rl.gradient(lambda a: special.logsumexp(a * 1j, return_sign=True)[0], np.array([0.3, 0.4]))


def test_a_sign_by_itself_is_constant():
    """The second result has no derivative."""
    f = lambda a: np.sum(a) + special.logsumexp(a, b=-WEIGHTS, return_sign=True)[1]
    np.testing.assert_allclose(rl.gradient(f, MATRIX[0])[0], np.ones(3))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("function", [special.softmax, special.log_softmax, special.logsumexp])
def test_what_is_known_of_the_result(function, axis):
    """What is claimed before it runs is true of what it gives."""
    words = {} if axis is None else {"axis": axis}
    given = {name: Given(INT, word) for name, word in words.items()}
    claim, value = result_of(function, [Given(Array("f8", 2))], given), function(MATRIX, **words)
    if isinstance(claim, Array):
        assert (claim.dtype, claim.ndim) == ("f8", value.ndim) and value.dtype == float
    else:
        assert np.ndim(value) == 0 and isinstance(value, np.float64)


WRONG = {
    "sign": lambda p, s: -p * s,
    "not of the sum": lambda p, s: np.ones_like(p) * s,
    "by the number": lambda p, s: p * s / p.size,
    "the logarithm": lambda p, s: np.log(p) * s,
    "squared": lambda p, s: p * p * s,
    "without the largest": lambda p, s: np.where(p == p.max(), 0, p) * s,
    "only the largest": lambda p, s: np.where(p == p.max(), p, 0) * s,
    "the seed forgotten": lambda p, s: p,
    "one less": lambda p, s: (p - 1 / p.size) * s,
    "a hundredth too much": lambda p, s: 1.01 * p * s,
}


def total(a):
    return special.logsumexp(a)


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_caught(name):
    """A wrong pullback does not pass the check."""
    table = RuleTable("wrong")

    @table.rrule(total, leading=1, points=[(MATRIX[0],)])
    def total_rrule(a):
        return total(a), lambda s: (NoTangent(), WRONG[name](special.softmax(a), s))

    with pytest.raises(AssertionError):
        for case in cases(table):
            check(case)


@pytest.mark.parametrize(
    ("of_a", "of_b", "axis"),
    [((), (3,), 0), ((3,), (2, 3), 0), ((2, 1), (1, 3), 1), ((1, 3), (2, 3), None)]
    + [((), (2, 3), (0, 1)), ((2, 3), (), 0)],
)  # fmt: skip
def test_weights_that_have_more_places_than_summands(of_a, of_b, axis):
    """Both are repeated as NumPy repeats them, and each has a cotangent of its own shape."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=of_a)[()], rng.uniform(0.5, 2.0, of_b)[()]
    along = (rng.normal(size=of_a)[()], rng.normal(size=of_b)[()])
    f = lambda a, b: np.sum(special.logsumexp(a, axis=axis, b=b) ** 2)
    on_the_way = lambda a, b: rl.pushforward(f, a, b)(*along)
    for g, within in ((f, 1e-8), (on_the_way, 1e-6)):
        ahead, behind = (g(a + h * along[0], b + h * along[1]) for h in (1e-5, -1e-5))
        bars = rl.gradient(g, a, b)
        assert np.shape(bars[0]) == of_a and np.shape(bars[1]) == of_b
        slope = sum(np.sum(bar * dot) for bar, dot in zip(bars, along))
        assert slope == pytest.approx((ahead - behind) / 2e-5, rel=within, abs=10 * within)
        assert rl.pushforward(g, a, b)(*along) == pytest.approx(slope, rel=1e-10)


@pytest.mark.parametrize("b", [None, [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])
@pytest.mark.parametrize("a", [[0.0, 1e200, 1e200], [1e16, 1e16, 1e16 + 2], [1e12, 1e12 + 0.5, -1e12]])
def test_shares_of_large_numbers_add_up_to_one(a, b):
    """The logarithm of their sum is rounded; they are those of the differences to the largest."""
    weights = np.ones(3) if b is None else np.array(b)
    below = weights * np.exp(np.array(a) - np.max(a))
    wanted = below / np.sum(below)

    def f(a):
        return special.logsumexp(a, b=None if b is None else weights, return_sign=True)[0]

    np.testing.assert_allclose(rl.gradient(f, np.array(a))[0], wanted, rtol=1e-12)
    dots = [rl.pushforward(f, np.array(a))(step) for step in np.eye(3)]
    np.testing.assert_allclose(dots, wanted, rtol=1e-12)
    curved = np.diag(wanted) - np.outer(wanted, wanted)
    np.testing.assert_allclose(rl.hessian(f, np.array(a)), curved, atol=1e-12)
