"""Roots move as the implicit function theorem says, by whatever the equations depend on."""

import functools
import math

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")

from implicit_slopes import agree, agree_again, is_refused  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError  # noqa: E402
from rulelab.rulesets import scipy_implicit  # noqa: E402


def cubic(x, a):
    return x**3 + x - a


def both(x, a):
    return [x[0] ** 2 * a[0] - 3 + x[1], x[1] - a[1] + math.sin(x[0])]


class Cubic:
    def __init__(self, a):
        self.a = a

    def at(self, x):
        return cubic(x, self.a)


TIGHT = {"xtol": 1e-14}
ONE = {
    "brentq": lambda a: optimize.brentq(lambda x: cubic(x, a), -5.0, 5.0),
    "brenth": lambda a: optimize.brenth(cubic, -5.0, 5.0, (a,)),
    "bisect": lambda a: optimize.bisect(cubic, -5.0, 5.0, args=(a,), **TIGHT),
    "ridder": lambda a: optimize.ridder(cubic, -5.0, 5.0, args=a),
    "toms748": lambda a: optimize.toms748(cubic, -5.0, 5.0, args=(a,)),
    "what is said of it": lambda a: optimize.brentq(cubic, -5.0, 5.0, (a,), full_output=True)[1].root ** 2,
    "secants": lambda a: optimize.newton(cubic, 1.0, args=(a,)),
    "newton": lambda a: optimize.newton(cubic, 1.0, lambda x, a: 3 * x**2 + 1, args=(a,), full_output=True)[
        0
    ],
    "root_scalar": lambda a: optimize.root_scalar(cubic, args=(a,), bracket=(-5, 5)).root,
    "root_scalar with slopes": lambda a: (
        optimize.root_scalar(lambda x: (cubic(x, a), 3 * x**2 + 1), fprime=True, x0=1.0, method="newton").root
    ),
    "a method": lambda a: optimize.brentq(Cubic(a).at, -5.0, 5.0),
    "a partial": lambda a: optimize.brentq(functools.partial(lambda a, x: cubic(x, a), a), -5.0, 5.0),
    "a default": lambda a: optimize.brentq(lambda x, b=2 * a: cubic(x, b), -5.0, 5.0),
    "fsolve": lambda a: optimize.fsolve(cubic, 1.0, args=(a,), xtol=1e-13)[0],
    "fixed_point": lambda a: optimize.fixed_point(lambda x: np.cos(a * x / 4), 0.7, xtol=1e-14),
}


@pytest.mark.every(17)
@pytest.mark.parametrize("name", ONE)
def test_a_root_of_one_equation(name):
    """By captured variables, arguments, attributes and defaults."""
    assert agree(ONE[name], 2.7)


@pytest.mark.every(15)
@pytest.mark.parametrize("name", ONE)
def test_the_second_derivative_of_a_root(name):
    """The slope of the equations moves, and so does where it is taken."""
    assert agree_again(ONE[name], 2.7)


SEVERAL = {
    "root": lambda a: np.sum(optimize.root(both, [1.0, 1.0], args=(a,), tol=1e-13).x ** 2),
    "of a captured": lambda a: optimize.root(
        lambda x: np.array(both(x, a)), np.ones(2), method="lm", tol=1e-13
    )["x"][1],
    "fsolve": lambda a: optimize.fsolve(both, [1.0, 1.0], args=(a,), xtol=1e-13)[1],
    "newton of an array": lambda a: np.sum(np.sin(optimize.newton(cubic, np.ones(2), args=(a,)))),
    "fixed_point": lambda a: np.sum(
        optimize.fixed_point(lambda x, a: np.cos(a * x / 3), np.array([0.7, 0.6]), args=(a,), xtol=1e-14)
    ),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", SEVERAL)
def test_a_root_of_several_equations(name):
    """The Jacobian is not symmetric, and the unknowns have a shape."""
    assert agree(SEVERAL[name], [2.0, 1.5], 1e-2)


def solved(slope_of, factor=1.0):
    """Multipliers by another matrix than the transposed slope."""
    return lambda slope, x_bar: factor * np.linalg.solve(slope_of(slope), x_bar)


WRONG = {
    "not transposed": ("multipliers", solved(lambda slope: slope)),
    "the other sign": ("multipliers", solved(np.transpose, -1.0)),
    "a hundredth less": ("multipliers", solved(np.transpose, 0.99)),
    "by the diagonal": ("multipliers", solved(lambda slope: np.diag(np.diag(slope)))),
    "by the symmetric part": ("multipliers", solved(lambda slope: 0.5 * (slope + slope.T))),
    "by the normal equations": ("multipliers", solved(lambda slope: slope.T @ slope)),
    "not solved": ("multipliers", lambda slope, x_bar: x_bar),
    "multiplied": ("multipliers", lambda slope, x_bar: slope.T @ x_bar),
    "the first equation": ("multipliers", lambda slope, x_bar: [1, 0] * np.linalg.solve(slope.T, x_bar)),
    "in the wrong order": ("multipliers", lambda slope, x_bar: np.linalg.solve(slope.T, x_bar)[::-1]),
    "forwards in the wrong order": ("units", lambda x: list(np.eye(len(x))[::-1])),
    "forwards by other steps": ("units", lambda x: list(1.01 * np.eye(len(x)))),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("broken", WRONG)
def test_a_wrong_rule_is_caught(monkeypatch, broken):
    """Whatever else is solved in the place of the equations for the multipliers, or forwards."""
    part, wrong = WRONG[broken]
    monkeypatch.setattr(scipy_implicit, part, wrong)
    try:
        assert not agree(SEVERAL["root"], [2.0, 1.5], 1e-2)
    except NotDifferentiableError:  # the slope that it found is not that of the equations
        assert part == "units"


@pytest.mark.campaign
def test_third_derivatives():
    """Of x³ + x = a, by the formula for the inverse function."""
    slope = lambda f: lambda a: rl.gradient(f, a)[0]
    x = ONE["brentq"](2.7)
    found = slope(slope(slope(ONE["brentq"])))(2.7)
    assert found == pytest.approx((90 * x**2 - 6) / (3 * x**2 + 1) ** 5, rel=1e-8)


def test_a_first_guess_moves_nothing():
    """A bracket, a guess and a tolerance have no part in where a root is."""
    assert rl.gradient(lambda b: optimize.brentq(lambda x: x - 0.5, -1.0, b), 2.0)[0] == 0.0


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda a: optimize.bisect(lambda x: (x - a) ** 3, 1.0, 4.0), "singular"),
        (lambda a: optimize.root(lambda x: (x - a) ** 2, 1.0).x[0], "did not converge|singular"),
        (lambda a: optimize.root(lambda x: [x[0] + x[1] - a, 2 * x[0] + 2 * x[1] - 2 * a], [1.0, 1.0]).x[0],
         "singular"),
        (lambda a: optimize.brentq(lambda x: 1.0 if x > a else -1.0, 0.0, 5.0), "singular"),
        (lambda a: optimize.brentq(lambda x: 1 / (x - a), 1.0, 3.5), "singular|not a solution"),
        (lambda a: optimize.brentq(lambda x: x + (9.0 if x > a else -9.0), 0.0, 5.0), "not a solution"),
        (lambda a: optimize.fsolve(lambda x: x**2 + a, 1.0)[0], "did not converge"),
        (lambda a: optimize.newton(lambda x: x**2 + a, 1j), "complex"),
    ],
)  # fmt: skip
def test_what_is_no_regular_root_is_refused(f, words):
    """Double roots, lines of roots, jumps, poles, and a solver that gave up: never a number."""
    with np.errstate(all="ignore"):
        is_refused(f, 2.0, words, NotDifferentiableError)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: optimize.root(lambda x: x**3 - a, 1.0).fun[0],
        lambda a: optimize.fsolve(both, [1.0, 1.0], args=([a, 1.5],), full_output=True)[1]["fjac"][0, 0],
    ],
)
def test_what_a_solver_says_besides_is_refused(f):
    """Residuals and factors depend on the parameters, too, and no rule answers for them."""
    is_refused(f, 2.0, "what the solver reports about f", NotImplementedTangentError)


def test_a_root_is_as_near_as_the_finder_was_told():
    """What is off by more than its tolerances allow is no root; where they are not known, by a thousandth."""
    line, x, slope = (lambda x: x - 2.0), np.array([2.0 + 1e-4]), np.eye(1)
    scipy_implicit.check_solution(line, x, line(x), slope)
    scipy_implicit.check_solution(line, x, line(x), slope, 1e-6)
    with pytest.raises(NotDifferentiableError, match="not a solution"):
        scipy_implicit.check_solution(line, x, line(x), slope, 1e-12)


def test_counts_are_constants():
    """How often a function was called is a number that nothing moves."""
    f = lambda a: a * optimize.brentq(lambda x: x - a, -9.0, 9.0, full_output=True)[1].function_calls
    assert rl.gradient(f, 2.0)[0] == rl.pushforward(f, 2.0)(1.0) == f(2.0) / 2.0
