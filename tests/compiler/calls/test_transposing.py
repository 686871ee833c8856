"""Reverse mode where an author has stated a forward rule alone: derived from it, or refused."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import DEFAULT

from ...differences import gradient_by_differences


@pytest.fixture
def stated():
    """States the frule of a function, until the end of the test."""
    gone = []

    def state(f, frule):
        gone.append(f)
        return rl.frule_for(f)(frule)

    yield state
    for f in gone:
        rl.remove_rule(f)


A = np.arange(6.0).reshape(2, 3) / 7 + 0.3


def log_sum(x, scale=1.0, *, shift=0.0):
    return scale * np.log(np.sum(np.exp(x - shift))) + shift


def log_sum_frule(tangents, x, scale=1.0, *, shift=0.0):
    _, x_dot, scale_dot = tangents
    e = np.exp(x - shift)
    total = np.sum(e)
    y = scale * np.log(total) + shift
    moved = np.sum(e * x_dot) if isinstance(x_dot, np.ndarray) else x_dot  # NoTangent() of a constant
    return y, scale * moved / total + np.log(total) * scale_dot


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: log_sum(x),
        lambda x: log_sum(x, 3.0),
        lambda x: log_sum(x, scale=np.sum(x)),
        lambda x: log_sum(scale=2.0, x=x * x, shift=0.5) ** 2,
        lambda x: log_sum(x[0]) * log_sum(A, np.sum(x[1])),
    ],
)
def test_the_gradient_is_that_of_finite_differences(stated, loss):
    """With defaults, arguments by name, keyword-only ones, and constants among the arguments."""
    stated(log_sum, log_sum_frule)
    (found,) = rl.gradient(loss, A)
    assert np.allclose(found, gradient_by_differences(loss, A), atol=1e-7) and found.shape == A.shape
    assert np.isclose(rl.pushforward(loss, A)(np.ones_like(A)), np.sum(found))


def test_it_is_the_frule_that_is_used(stated):
    """And not the function's own code: the factor of a thousand is the rule's."""

    def f(x):
        return x * x

    stated(f, lambda tangents, x: (x * x, 2000 * x * tangents[1]))
    assert rl.gradient(f, 3.0) == (6000.0,) == (rl.pushforward(f, 3.0)(1.0),)


def test_a_function_of_c_code_gets_both_modes(stated):
    """Which has no code to fall back on."""

    length = pytest.importorskip("scipy.linalg.blas").dnrm2
    x = np.array([3.0, 4.0])
    with pytest.raises(rl.ForeignCallError):
        rl.gradient(lambda x: length(x) * 2, x)

    def length_frule(tangents, x):
        return length(x), np.dot(x, tangents[1]) / length(x)

    stated(length, length_frule)
    np.testing.assert_allclose(rl.gradient(lambda x: length(x) * 2, x)[0], [1.2, 1.6])


def test_structures(stated):
    """Cotangents of tuples, lists and objects, and the object of a callable."""

    class Line:
        def __init__(self, slope):
            self.slope = slope

        def __call__(self, p):
            return self.slope * p[0] + p[1]

    def line_frule(tangents, line, p):
        _, line_dot, p_dot = tangents
        return line(p), line_dot.slope * p[0] + line.slope * p_dot[0] + p_dot[1]

    stated(Line.__call__, line_frule)
    by_object = rl.gradient(lambda line, p: line(p), Line(2.0), [3.0, 5.0])
    assert by_object[0].slope == 3.0 and by_object[1] == [2.0, 1.0]
    assert rl.gradient(lambda slope, x: Line(slope)((x, 1.0)), 2.0, 3.0) == (3.0, 2.0)


def test_several_results(stated):
    """The cotangent of a tuple, of which one part may be zero."""

    def parts(x):
        return np.sum(x), x * x

    def parts_frule(tangents, x):
        return parts(x), (np.sum(tangents[1]), 2 * x * tangents[1])

    stated(parts, parts_frule)
    assert np.allclose(rl.gradient(lambda x: parts(x)[0] + np.sum(parts(x)[1]), A)[0], 1 + 2 * A)
    assert np.allclose(rl.gradient(lambda x: np.sum(parts(x)[1]), A)[0], 2 * A)


def test_complex_numbers(stated):
    """The convention everywhere: ∂f/∂Re + i ∂f/∂Im, also for what is not holomorphic."""

    def power(z):
        return (z * z.conjugate()).real

    stated(power, lambda tangents, z: (power(z), 2 * (np.conj(z) * tangents[1]).real))
    assert rl.gradient(power, 1 + 2j) == (2 + 4j,)


def test_second_derivatives(stated):
    """Of any mixture of the modes."""

    def energy(x):
        return np.sum(x**3)

    stated(energy, lambda tangents, x: (np.sum(x**3), np.sum(3 * x**2 * tangents[1])))
    x = np.array([1.0, 2.0])
    for hessian in (rl.hessian, rl.hessian_reverse):
        assert np.allclose(hessian(energy, x), np.diag(6 * x))


@pytest.mark.parametrize("parts", [list, tuple, lambda v: {"a": v[0]}["a"] and v])
def test_a_rule_that_calls_its_own_function(stated, parts):
    """For the value, with a helper that may do anything to its arguments: at any order, and not for ever."""

    class Pair(NamedTuple):
        a: float
        b: float

    def cube(v):
        return parts(v)[0] ** 3

    stated(cube, lambda tangents, v: (cube(v), 3 * parts(v)[0] ** 2 * parts(tangents[1])[0]))

    def f(x):
        return cube(Pair(x, x))

    assert rl.gradient(f, 2.0) == (12.0,) == (rl.pushforward(f, 2.0)(1.0),)
    assert rl.hessian(f, 2.0) == 12.0 == rl.hessian_reverse(f, 2.0)


def test_a_rule_that_calls_its_own_function_with_what_moves_is_refused(stated):
    """A slope by differences of the function itself would lose its own derivative."""

    def square(v):
        return list(v)[0] ** 2

    def square_frule(tangents, v):
        moved = [x + 1e-3 * d for x, d in zip(v, tangents[1])]
        return square(v), (square(moved) - square(v)) / 1e-3

    stated(square, square_frule)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda x: square([x, x]), 2.0)


@pytest.mark.parametrize(
    "wrong",
    [abs, lambda d: d * d, lambda d: d + 1.0, lambda d: max(d, 0.0), lambda d: min(d, 0.0), math.sin],
    ids=["modulus", "square", "affine", "positive part", "negative part", "sine"],
)
def test_a_rule_that_is_not_linear_is_refused(stated, wrong):
    """Its reverse mode would depend on where it is taken."""

    def f(x):
        return 2 * x

    stated(f, lambda tangents, x: (2 * x, wrong(tangents[1])))
    with pytest.raises(rl.RuleError, match=r"its y_dot is not linear in its tangents") as error:
        rl.gradient(lambda x: f(x), 3.0)
    assert error.value.place.function == "<lambda>" and "write an rrule" in str(error.value)


def test_a_rule_that_writes_says_what_to_do(stated):
    """Forward mode may write to its own arrays, reverse mode cannot follow that."""

    def f(x):
        return 2 * x

    def f_frule(tangents, x):
        y_dot = np.empty_like(x)
        y_dot[:] = 2 * tangents[1]
        return 2 * x, y_dot

    stated(f, f_frule)
    with pytest.raises(rl.MutationError) as error:
        rl.gradient(lambda x: np.sum(f(x)), A)
    assert "write an rrule for " in str(error.value) and error.value.place.function == "f_frule"
    rl.opt_out(f, mode="rrule")
    assert np.array_equal(rl.gradient(lambda x: np.sum(f(x)), A)[0], np.full((2, 3), 2.0))


def test_which_rule_says_so(stated):
    """There is none, it is derived, and from what; a rule that is there comes first."""

    def f(x):
        return 2 * x

    def f_frule(tangents, x: float):
        return 2 * x, 2 * tangents[1]

    stated(f, f_frule)
    for answer in (rl.which_rule(f, 1.0), rl.which_rule(f)):
        assert not answer and answer.derived.function is f_frule
        assert "it is derived from the frule" in repr(answer) and "test_transposing.py, line" in repr(answer)
    assert rl.which_rule(f, "a").derived is None and rl.rrule(f, 1.0) is None
    rl.rrule_for(f)(lambda x: (2 * x, lambda y_bar: (rl.NoTangent(), 2 * y_bar)))
    assert rl.which_rule(f, 1.0) and rl.which_rule(f, 1.0).derived is None
    assert DEFAULT.entry_in("rrule", f) is not None


def test_the_other_way_round():
    """Forward mode of a function that has an rrule alone."""

    def f(x):
        return 2 * x

    @rl.rrule_for(f)
    def f_rrule(x: float):
        return 2 * x, lambda y_bar: (rl.NoTangent(), 2 * y_bar)

    answer = rl.which_rule(f, 1.0, mode="frule")
    assert not answer and answer.derived.function is f_rrule and "derived from the rrule" in repr(answer)
    rl.remove_rule(f)


def test_functions_among_the_arguments_are_refused(stated):
    """An frule says nothing of the cotangent of what they capture."""

    def at_two(g):
        return g(2.0)

    stated(at_two, lambda tangents, g: (g(2.0), 0.0))
    with pytest.raises(rl.NotDifferentiableError, match="has only a forward rule and is given a function"):
        rl.gradient(lambda w: at_two(lambda x: w * x), 3.0)


def test_manual_mode_keeps_to_the_old_answer():
    """A forward rule is an answer of the registry as any other."""

    def f(x):
        return x * x

    try:
        rl.refresh("manual")
        assert rl.gradient(f, 3.0) == (6.0,)
        rl.frule_for(f)(lambda tangents, x: (x * x, 2000 * x * tangents[1]))
        with pytest.warns(rl.StaleRuleWarning):
            assert rl.gradient(f, 3.0) == (6.0,)
        rl.refresh()
        assert rl.gradient(f, 3.0) == (6000.0,)
    finally:
        rl.refresh("auto")
