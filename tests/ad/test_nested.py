"""Derivatives within derivatives: every order, every mixture of modes, never one in another's place."""

import contextlib
import functools
import itertools
import math
import operator
import types
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.errors import RuleLabError


def gradient(f):
    return lambda x: rl.gradient(f, x)[0]


def pushforward(f):
    return lambda x: rl.pushforward(f, x)(1.0)


def pullback(f):
    def slope(x):
        y, back = rl.pullback(f, x)
        return back(1.0)[0]

    return slope


def grad(f):
    return rl.grad(f)


def withgradient(f):
    return lambda x: rl.withgradient(f, x).grad[0]


OPERATORS = {"D": gradient, "F": pushforward, "P": pullback, "G": grad, "V": withgradient}
PAIRS = [*itertools.product("DFP", repeat=2), *map(tuple, ("DG", "GD", "DV", "VD", "FG", "VF"))]
WORDS = ["".join(word) for n in (2, 3) for word in itertools.product(OPERATORS, repeat=n)]


def differentiated(word, f):
    """f under the operators of a word, the last letter innermost."""
    for letter in reversed(word):
        f = OPERATORS[letter](f)
    return f


# -- rules of an author --------------------------------------------------------------------------------------


def cube_by_rrule(x):
    return x * x * x


@rl.rrule_for(cube_by_rrule)
def cube_rrule(x):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3.0 * x * x * y_bar

    return x * x * x, cube_pullback


def cube_by_frule(x):
    return x * x * x


@rl.frule_for(cube_by_frule)
def cube_frule(tangents, x):
    return x * x * x, 3.0 * x * x * tangents[1]


def cube_by_both(x):
    return x * x * x


@rl.rrule_for(cube_by_both)
def cube_both_rrule(x):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3.0 * x * x * y_bar

    return x * x * x, cube_pullback


@rl.frule_for(cube_by_both)
def cube_both_frule(tangents, x):
    return x * x * x, 3.0 * x * x * tangents[1]


def cube_by_scalar_rule(x):
    return x * x * x


rl.scalar_rule(cube_by_scalar_rule, lambda out, x: 3.0 * x * x)


@dataclass
class Line:
    slope: float
    shift: float

    def __call__(self, x):
        return self.slope * x + self.shift


def of_a_dataclass(x):
    line = Line(x, x * x)
    line.shift = line.shift * x
    return line(2.0) * line.slope


def by_closures(x):
    def times(k):
        def by(y):
            return k * y * x

        return by

    return times(x)(x * x) + times(2.0)(1.0)


def by_arrays(x):
    v = np.array([x, x * x, 1.0])
    return np.sum(v * v[::-1]) + v @ v


def by_lists(x):
    found = [x]
    for _ in range(3):
        found.append(found[-1] * x)
    return sum(found)


def by_branches(x):
    y = x if x > 0 else -x
    while y < 3.0:
        y = y * x
    return y


# each with its first, second and third derivative, known by heart
FUNCTIONS = {
    "polynomial": (lambda x: x**4 - 2 * x, lambda x: 12 * x**2, lambda x: 24 * x),
    "sine and exponential": (
        lambda x: math.sin(x) * math.exp(x),
        lambda x: 2 * math.cos(x) * math.exp(x),
        lambda x: 2 * (math.cos(x) - math.sin(x)) * math.exp(x),
    ),
    "quotient": (lambda x: 1 / (1 + x), lambda x: 2 / (1 + x) ** 3, lambda x: -6 / (1 + x) ** 4),
    "closures": (by_closures, lambda x: 12 * x**2, lambda x: 24 * x),
    "arrays": (by_arrays, lambda x: 24 * x**2 + 2, lambda x: 48 * x),  # x⁴ + 2x + x² + x⁴ + 1
    "lists": (by_lists, lambda x: 2 + 6 * x + 12 * x**2, lambda x: 6 + 24 * x),
    "branches": (by_branches, lambda x: 12 * x**2, lambda x: 24 * x),
    "dataclass": (of_a_dataclass, lambda x: 4 + 12 * x**2, lambda x: 24 * x),
    "rrule": (cube_by_rrule, lambda x: 6 * x, lambda x: 6.0),
    "frule and its own code": (cube_by_frule, lambda x: 6 * x, lambda x: 6.0),
    "both rules": (cube_by_both, lambda x: 6 * x, lambda x: 6.0),
    "scalar rule": (cube_by_scalar_rule, lambda x: 6 * x, lambda x: 6.0),
    "rule in a sum": (lambda x: x * cube_by_rrule(x), lambda x: 12 * x**2, lambda x: 24 * x),
    "partial": (
        lambda x: functools.partial(lambda k, y: k * y**3, x)(x),
        lambda x: 12 * x**2,
        lambda x: 24 * x,
    ),
}


def check(name, word):
    f = FUNCTIONS[name][0]
    wanted = FUNCTIONS[name][len(word) - 1]
    assert differentiated(word, f)(1.4) == pytest.approx(wanted(1.4), rel=1e-10)


@pytest.mark.every(5)
@pytest.mark.parametrize("word", list(map("".join, PAIRS)))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_in_every_mixture_of_modes(name, word):
    """The known one, whatever took it."""
    check(name, word)


FEW = ("polynomial", "closures", "dataclass", "rrule")
OF_THREE = [word for word in WORDS if len(word) == 3]
MIXED = [word for word in OF_THREE if len(set(word)) == 3 and "F" in word or word in ("DDD", "FFF", "PPP")]


@pytest.mark.parametrize("word", MIXED)
@pytest.mark.parametrize("name", FEW)
@pytest.mark.every(37)
def test_third_derivatives_in_mixtures_of_modes(name, word):
    """The same at the third order."""
    check(name, word)


@pytest.mark.campaign
@pytest.mark.parametrize("word", OF_THREE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_third_derivatives_of_all_in_every_mixture(name, word):
    """The same for all functions."""
    check(name, word)


# at zero, where the power of a constant exponent falls to 0: (function, its third and fourth derivative)
AT_ZERO = {
    "square": (lambda x: x**2, 0.0, 0.0),
    "float power": (lambda x: x**2.0, 0.0, 0.0),
    "cube": (lambda x: x**3, 6.0, 0.0),
    "power of NumPy": (lambda x: np.power(x, 2.0), 0.0, 0.0),
    "math.pow": (lambda x: math.pow(x, 2), 0.0, 0.0),
    "zeroth power": (lambda x: x**0 * x**3, 6.0, 0.0),
    "of an array": (lambda x: np.sum((x * np.ones(2)) ** 2), 0.0, 0.0),
    "bell": (lambda x: math.exp(-(x**2)), 0.0, 12.0),
    "quotient": (lambda x: x * x / (1.5 + x**2), 0.0, -24 / 1.5**2),
}


@pytest.mark.every(13)
@pytest.mark.parametrize("word", ["DDD", "FFF", "PPP", "DFP", "FPD"])
@pytest.mark.parametrize("name", AT_ZERO)
def test_a_constant_exponent_stays_one_to_the_third_order(name, word):
    """The derivative by the exponent, NaN at 0**0, is not asked for, and not even as zero times NaN."""
    f, third, _ = AT_ZERO[name]
    assert differentiated(word, f)(0.0) == pytest.approx(third, abs=1e-12)


@pytest.mark.every(7)
@pytest.mark.parametrize("word", ["DDDD", "FFFF"])
@pytest.mark.parametrize("name", ["square", "bell", "quotient"])
def test_a_constant_exponent_stays_one_to_the_fourth_order(name, word):
    """The same once more."""
    f, _, fourth = AT_ZERO[name]
    assert differentiated(word, f)(0.0) == pytest.approx(fourth, abs=1e-12)


@pytest.mark.parametrize("word", ["DDD", "FFF"])
def test_nor_is_the_exponent_asked_for_where_a_reciprocal_overflows(word):
    """Numbers that fall below all normal ones, as in a loop that squares them."""
    assert differentiated(word, lambda x: x**2)(5e-324) == 0.0


# -- perturbation confusion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_the_outer_variable_is_a_constant_of_the_inner_derivative(outer, inner):
    """d/dx x·(d/dy (x + y)) is 1, not 2: the classical example (Siskind and Pearlmutter, 2005)."""
    a, b = OPERATORS[outer], OPERATORS[inner]
    assert a(lambda x: x * b(lambda y: x + y)(1.0))(1.0) == 1.0
    assert a(lambda x: x * b(lambda y: x * y)(2.0))(3.0) == 6.0
    assert a(lambda x: b(lambda y: x * y * y)(x))(3.0) == 12.0
    assert a(lambda x: x * b(lambda y: x * x * y)(x))(2.0) == 12.0


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_a_derivative_that_returns_a_function(outer, inner):
    """An operator whose result is a function of yet another variable (Manzyuk and others, 2019)."""
    a, b = OPERATORS[outer], OPERATORS[inner]

    def shifted(u):
        return lambda f: lambda x: f(x + u)

    def slope_of_shift(u):
        return b(shifted(u)(b(lambda z: z**5)))(0.5)

    assert a(slope_of_shift)(0.25) == pytest.approx(60 * 0.75**2)


@pytest.mark.every(2)
@pytest.mark.parametrize("word", ["DDD", "FFF", "DFD", "FDF", "PGV", "VFP"])
def test_three_depths_of_variables(word):
    """x, y and z at three depths: each derivative is by its own."""
    a, b, c = (OPERATORS[letter] for letter in word)

    def outermost(x):
        def middle(y):
            def innermost(z):
                return x * x * y * y * z * z + x * y * z

            return c(innermost)(x) * y + x

        return b(middle)(x) + a(lambda t: t * x * x)(1.0)

    # c: 2x²y²z + xy at z = x: 2x³y² + xy; times y, plus x; by y: 6x³y² + 2xy at y = x: 6x⁵ + 2x²; plus x²
    assert a(outermost)(1.3) == pytest.approx(30 * 1.3**4 + 6 * 1.3)


@pytest.mark.every(5)
@pytest.mark.parametrize("word", ["DD", "FF", "DF", "FD", "PV"])
def test_a_function_nested_in_itself(word):
    """The same function is differentiated inside of its own derivative."""
    a, b = (OPERATORS[letter] for letter in word)

    def f(x, depth):
        return x * x if depth == 0 else x * b(lambda y: f(y, depth - 1))(x)

    # depth 1: x·2x; depth 2: x·4x; depth 3: x·8x
    assert a(lambda x: f(x, 3))(1.5) == pytest.approx(16 * 1.5)


@pytest.mark.parametrize("word", ["DD", "FF", "DF", "FD", "PP"])
def test_in_loops_branches_and_helpers(word):
    """A derivative inside a loop, a branch, a comprehension and a helper."""
    a, b = (OPERATORS[letter] for letter in word)

    def helper(g, x):
        return b(g)(x) if x > 0 else 0.0

    def f(x):
        total = 0.0
        for k in range(1, 4):
            total = total + helper(lambda y: y**k * x, x)
        return total + sum([b(lambda y: k * y * y)(x) for k in (1.0, x)])

    # Σ k·xᵏ + 2x + 2x²: derivative Σ k²·xᵏ⁻¹ + 2 + 4x
    assert a(f)(1.2) == pytest.approx(1 + 4 * 1.2 + 9 * 1.2**2 + 2 + 4 * 1.2)


@pytest.mark.parametrize("outer", "DFPGV")
def test_newton_in_a_differentiated_function(outer):
    """The derivative of a root: x with x³ = a has slope 1 / (3 x²)."""

    def root(a):
        x = 2.0
        for _ in range(30):
            x = x - (x**3 - a) / rl.gradient(lambda t: t**3, x)[0]
        return x

    assert OPERATORS[outer](root)(8.5) == pytest.approx(1 / (3 * 8.5 ** (2 / 3)))


# -- pullbacks and pushforwards as values --------------------------------------------------------------------


@pytest.mark.parametrize("outer", "DFPGV")
def test_a_pullback_that_is_kept_and_called_twice(outer):
    """Each call adds its part; the seed may depend on the variable."""

    def f(x):
        y, back = rl.pullback(lambda a: a**3, x)
        return back(1.0)[0] + back(x)[0] * y

    # 3x² + 3x³·x³
    assert OPERATORS[outer](f)(1.2) == pytest.approx(6 * 1.2 + 18 * 1.2**5)


@pytest.mark.parametrize("outer", "DFPGV")
def test_a_pushforward_is_linear_in_its_tangent(outer):
    """By the tangent, its derivative is the slope; by the point, the second derivative."""

    def f(x):
        push = rl.pushforward(lambda a: a**3, x)
        return push(x) + push(2.0)

    assert OPERATORS[outer](f)(1.2) == pytest.approx(9 * 1.2**2 + 12 * 1.2)


def test_pullbacks_in_a_list():
    """Kept in a container, called in another order."""

    def f(x):
        backs = [rl.pullback(lambda a, k=k: a**k, x)[1] for k in (2, 3)]
        return backs[1](1.0)[0] * backs[0](1.0)[0]

    for a in OPERATORS.values():
        assert a(f)(1.2) == pytest.approx(18 * 1.2**2)


def test_several_arguments():
    """Mixed second derivatives are symmetric."""

    def f(x, y):
        return x**2 * y**3 + math.sin(x * y)

    first = rl.gradient(lambda x, y: rl.gradient(f, x, y)[0], 0.7, 0.4)[1]
    second = rl.gradient(lambda x, y: rl.gradient(f, x, y)[1], 0.7, 0.4)[0]
    third = rl.pushforward(lambda x, y: rl.gradient(f, x, y)[1], 0.7, 0.4)(1.0, 0.0)
    wanted = 6 * 0.7 * 0.4**2 + math.cos(0.28) - 0.28 * math.sin(0.28)
    assert (
        first == pytest.approx(wanted) and second == pytest.approx(wanted) and third == pytest.approx(wanted)
    )


def test_argnums_and_keywords_inside():
    """What a call says about arguments holds inside too."""

    def f(x, y, scale=1.0):
        return scale * x * x * y

    assert rl.gradient(lambda x: rl.gradient(f, x, 2.0, argnums=0, scale=3.0)[0], 1.5)[0] == 12.0
    assert rl.gradient(lambda x: rl.grad(f, argnums=1)(x, 2.0), 1.5)[0] == 3.0
    assert (
        rl.gradient(lambda x: rl.withgradient(f, x, 2.0).val * rl.withgradient(f, x, 2.0).grad[0], 1.5)[0]
        == 54.0
    )


def test_a_hessian_by_hand():
    """Gradients of arrays inside: the product of the Hessian and a vector."""
    rng = np.random.default_rng(0)
    a, v, x = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4)

    def f(x):
        return x @ a @ x + np.sum(np.sin(x) ** 2)

    wanted = (a + a.T) @ v + 2 * np.cos(2 * x) * v
    reverse = rl.gradient(lambda x: np.sum(rl.gradient(f, x)[0] * v), x)[0]
    forward = rl.pushforward(lambda x: rl.gradient(f, x)[0], x)(v)
    mixed = rl.gradient(lambda x: rl.pushforward(f, x)(v), x)[0]
    for found in (reverse, forward, mixed):
        np.testing.assert_allclose(found, wanted)


def test_a_dataclass_and_its_gradient():
    """Fields of a gradient may be computed with."""

    def squared(line):
        return line(2.0) ** 2

    found = rl.gradient(lambda line: rl.gradient(squared, line)[0].slope, Line(3.0, 1.0))[0]
    assert (found.slope, found.shift) == (8.0, 4.0)  # 2 (2a + b)·2


@pytest.mark.every(3)
@pytest.mark.parametrize("x", [2.0, 2, np.float64(2.0), np.float32(2.0)], ids=["float", "int", "f8", "f4"])
@pytest.mark.parametrize(
    "ask", [rl.hessian, lambda f, x: rl.diaghessian(f, x)[0], lambda f, x: rl.hvp(f, x, 1.0)]
)
def test_a_second_derivative_by_a_number_is_of_its_kind(ask, x):
    """Inside a differentiated function as outside."""
    seen = []

    def f(t):
        found = ask(lambda u: u**3, t)
        rl.ignore_derivatives(lambda: seen.append(type(found)))
        return found * t

    assert type(ask(lambda u: u**3, x)) in (float, np.float64, np.float32)
    assert rl.gradient(f, x)[0] == 24.0
    assert set(seen) == {type(ask(lambda u: u**3, x))}


@pytest.mark.parametrize("outer", "DFPGV")
@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda x: rl.jacobian(math.sin, x, mode="no")[0][0], 'mode must be "forward", "reverse" or None'),
        (lambda x: rl.hessian(math.sin, x, mode="no"), 'mode must be "forward", "reverse" or None'),
        (lambda x: np.sum(rl.derivative(np.sin)(np.array([x]))), "is a function of a real number"),
        (
            lambda x: rl.gradient(lambda v: rl.pushforward(lambda t: 1.0 * t * t, 2)(v), 0.0 * x)[0],
            "give a float: 2.0",
        ),
    ],
)
def test_bad_input_inside(outer, ask, message):
    """What is refused outside a differentiated function is refused in it."""
    with pytest.raises(RuleLabError) as refused:
        OPERATORS[outer](ask)(1.5)
    assert message in str(refused.value)


# -- what changes between a derivative and its own derivative ------------------------------------------------


class Weight:
    def __init__(self, k):
        self.k = k

    def __call__(self, y):
        return y * y * self.k


def rebound_in_a_loop(x, d):
    total = 0.0
    for k in range(1, 4):
        total = total + d(lambda y: y**k * x)(x)  # each sees its own k: x + 4x² + 9x³, over x
    return total


def written_list(x, d):
    a = [2.0]
    slope = d(lambda y: y * y * a[0] * x)(x)
    a[0] = 5.0
    return slope


def written_varying_list(x, d):
    a = [x]
    slope = d(lambda y: y * y * a[0])(x)
    a[0] = 5.0
    return slope


def appended_list(x, d):
    a = [x]
    slope = d(lambda y: y * y * sum(a))(x)
    a.append(4.0)
    return slope


def written_dict(x, d):
    a = {"k": 2.0}
    slope = d(lambda y: y * y * a["k"] * x)(x)
    a["k"] = 7.0
    return slope


def written_object(x, d):
    weight = Weight(x)
    slope = d(weight)(x) + d(weight.__call__)(x)
    weight.k = 9.0
    return slope


def rebound_variable(x, d):
    k = x

    def g(y):
        return y * y * k

    slope = d(g)(x)
    k = 7.0
    return slope + k * x


CHANGES = {
    rebound_in_a_loop: (lambda x: 1 * x + 2 * x**2 + 3 * x**3, lambda x: 1 + 4 * x + 9 * x**2),
    written_list: (lambda x: 4 * x**2, lambda x: 8 * x),
    written_varying_list: (lambda x: 2 * x**2, lambda x: 4 * x),
    appended_list: (lambda x: 2 * x**2, lambda x: 4 * x),
    written_dict: (lambda x: 4 * x**2, lambda x: 8 * x),
    written_object: (lambda x: 4 * x**2, lambda x: 8 * x),
    rebound_variable: (lambda x: 2 * x**2 + 7 * x, lambda x: 4 * x + 7),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("outer, inner", PAIRS)
@pytest.mark.parametrize("f", CHANGES, ids=[f.__name__ for f in CHANGES])
def test_what_is_changed_later_does_not_count(f, outer, inner):
    """The inner derivative is that of when it was taken, also when its own derivative comes later."""
    value, slope = CHANGES[f]
    operator = OPERATORS[inner]
    assert f(1.3, operator) == pytest.approx(value(1.3))
    assert OPERATORS[outer](lambda x: f(x, operator))(1.3) == pytest.approx(slope(1.3))


@pytest.mark.parametrize("outer", "DFPGV")
def test_a_pullback_after_a_change(outer):
    """It would have to run its function under other circumstances, so it is refused."""

    def f(x):
        a = [x]
        y, back = rl.pullback(lambda y: y * y * a[0], x)
        a[0] = 3.0
        return back(1.0)[0]

    with pytest.raises(RuleLabError, match="was changed after its pullback was made"):
        OPERATORS[outer](f)(1.3)


@pytest.mark.parametrize("outer", "DPGV")
def test_an_inner_function_that_keeps_what_varies(outer):
    """What it puts in a container would lose its derivative: refused."""

    def f(x):
        log = []

        def g(y):
            log.append(y * y)
            return y * y

        return rl.gradient(g, x)[0] + log[0]

    with pytest.raises(RuleLabError):
        OPERATORS[outer](f)(1.3)


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_a_function_that_logs(outer, inner):
    """Notes taken outside the derivative are taken once for each run, and change nothing."""
    calls = []

    def g(y):
        rl.ignore_derivatives(lambda: calls.append(1))
        return y**3

    assert OPERATORS[outer](OPERATORS[inner](g))(2.0) == pytest.approx(12.0)
    assert calls


@pytest.mark.parametrize("outer, inner", [pair for pair in PAIRS if pair[1] != "F"])
def test_random_numbers_inside(outer, inner):
    """A function that draws another number when it runs again is refused."""
    rng = np.random.default_rng(0)

    def g(y):
        return y * y * rl.ignore_derivatives(rng.normal)

    with pytest.raises(RuleLabError, match="returns a different value when it runs again"):
        OPERATORS[outer](OPERATORS[inner](g))(2.0)


DRIFTING = None


class Drifting:
    """An attribute that has another value each time it is read, 1.1 the first time."""

    def __init__(self):
        self.count = 0

    def __getattr__(self, name):
        self.count += 1
        return 1.0 + 0.1 * self.count


FLAT = {  # function of y and of a number, and a point where the number hardly shows in the value
    "flat": (lambda y, c: math.tanh(7.0 * y * c), 1.0),
    "flat array": (lambda y, c: np.sum(np.tanh(7.0 * np.array([y, 2 * y]) * c)), 1.0),
    "at zero": (lambda y, c: y * c + y**2 * (1 + c), 0.0),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("outer, inner", PAIRS)
@pytest.mark.parametrize("name", FLAT)
def test_a_value_that_hardly_shows_what_changes(name, outer, inner, monkeypatch):
    """Where the values of two runs agree, their derivatives have to; one run may take what it finds."""
    f, x = FLAT[name]
    monkeypatch.setitem(globals(), "DRIFTING", Drifting())
    try:
        found = OPERATORS[outer](OPERATORS[inner](lambda y: f(y, DRIFTING.slope)))(x)
    except RuleLabError:
        return
    h = 1e-3
    assert found == pytest.approx((f(x + h, 1.1) - 2 * f(x, 1.1) + f(x - h, 1.1)) / h**2, rel=1e-3)


NUMBERS = iter(())


class Asked:
    """An answer that changes when it is asked for the nth time."""

    def __init__(self, nth):
        self.nth, self.count = nth, 0

    def turn(self):
        self.count += 1
        return self.count >= self.nth

    def __contains__(self, key):
        return self.turn()

    def __bool__(self):
        return self.turn()

    def __len__(self):
        return 1 + self.turn()

    def __lt__(self, other):
        return self.turn()

    def __float__(self):
        return float(self.turn())

    def __getitem__(self, key):
        return self.turn()

    def __iter__(self):
        yield self.turn()


ASKINGS = {
    "in": lambda asked: 2 in asked,
    "bool": lambda asked: bool(asked),
    "not": lambda asked: not asked,
    "len": lambda asked: len(asked) > 1,
    "compared": lambda asked: asked < 3,
    "float": lambda asked: float(asked) > 0.5,
    "item": lambda asked: asked[0],
    "loop": lambda asked: [answer for answer in asked][0],
}


@pytest.mark.every(3)
@pytest.mark.parametrize("nth", [2, 3, 4])
@pytest.mark.parametrize("asking", ASKINGS)
def test_an_answer_that_changes_between_runs(asking, nth):
    """However often a second derivative runs the function, it is that of one answer, or refused."""
    ask = ASKINGS[asking]
    for outer, inner in PAIRS:
        asked = Asked(nth)

        def g(y, asked=asked):
            return y**3 if ask(asked) else y**2 * 4.0

        first = 1.5**3 if ask(Asked(nth)) else 1.5**2 * 4.0
        wanted = 6 * 1.5 if first == 1.5**3 else 8.0
        try:
            found = OPERATORS[outer](OPERATORS[inner](g))(1.5)
        except RuleLabError:
            continue
        assert found == pytest.approx(wanted), (outer, inner)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("outer, inner", [pair for pair in PAIRS if pair[1] != "P"])
def test_an_iterator_that_ends_in_a_later_run(outer, inner, most, monkeypatch):
    """An error of the function's own that only a later run raises is told as such; but a pullback that is
    called by hand runs the function where it is called, and leaves its errors alone.
    """
    monkeypatch.setitem(globals(), "NUMBERS", iter([1.0] * most))

    def g(y):
        next(NUMBERS)
        return y**3

    try:
        assert OPERATORS[outer](OPERATORS[inner](g))(2.0) == pytest.approx(12.0)
    except RuleLabError as refused:
        assert "raises StopIteration when it runs again" in str(refused)


class Round:
    """Items in rounds: it ends after so many, and begins again."""

    def __init__(self, most):
        self.most, self.count = most, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count % (self.most + 1) == 0:
            raise StopIteration
        return 1.0


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("outer, inner", [pair for pair in PAIRS if pair[1] != "P"])
def test_an_iterator_that_begins_again(outer, inner, most, monkeypatch):
    """Asked once more it would answer, and still the second derivative did not come about."""
    monkeypatch.setitem(globals(), "NUMBERS", Round(most))

    def g(y):
        return y**3 * next(NUMBERS)

    with contextlib.suppress(RuleLabError):
        OPERATORS[inner](g)(2.0)  # from now on it keeps copies
    NUMBERS.count = 0
    try:
        assert OPERATORS[outer](OPERATORS[inner](g))(2.0) == pytest.approx(12.0)
    except RuleLabError as refused:
        assert "raises StopIteration when it runs again" in str(refused) or "is not followed" in str(refused)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6])
def test_an_iterator_that_ends_in_a_third_derivative(most, monkeypatch):
    monkeypatch.setitem(globals(), "NUMBERS", iter([1.0] * most))

    def g(y):
        next(NUMBERS)
        return y**4

    try:
        assert pushforward(pushforward(gradient(g)))(2.0) == pytest.approx(48.0)
    except RuleLabError as refused:
        assert "raises StopIteration when it runs again" in str(refused)


def test_an_error_of_a_rule_in_a_second_run_is_its_own():
    """Only what a plain call raises too is an error of running again."""

    def cube(y):
        return y**3

    @rl.rrule_for(cube)
    def cube_rrule(y):
        return y**3, lambda y_bar: (rl.NoTangent(), 3 * y**2 * y_bar)

    @rl.frule_for(cube)
    def cube_frule(tangents, y):
        raise KeyError("of the rule")

    with pytest.raises(KeyError, match="of the rule"):
        pushforward(gradient(cube))(2.0)


# -- rules ---------------------------------------------------------------------------------------------------


def test_a_rule_whose_pullback_writes_is_refused_with_its_line():
    """First order works; the second says where the rule writes."""

    def doubled(v):
        return v * 2.0

    @rl.rrule_for(doubled)
    def doubled_rrule(v):
        def doubled_pullback(y_bar):
            v_bar = np.zeros(3)
            v_bar[:] = 2.0 * y_bar  # this line
            return rl.NoTangent(), v_bar

        return v * 2.0, doubled_pullback

    def f(v):
        return np.sum(doubled(v) ** 2)

    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(rl.gradient(f, v)[0], 8 * v)
    with pytest.raises(RuleLabError) as refused:
        rl.gradient(lambda v: np.sum(rl.gradient(f, v)[0]), v)
    assert "this line" in str(refused.value) and "test_nested.py" in str(refused.value)


def test_rules_made_between_two_calls_count_at_once():
    """In forward mode and at second order as in reverse mode; taken away, they no longer count."""

    def f(x):
        return x * x

    def both(x):
        return rl.pushforward(f, x)(1.0), rl.gradient(lambda x: rl.gradient(f, x)[0], x)[0]

    assert both(3.0) == (6.0, 2.0)

    @rl.frule_for(f)
    def f_frule(tangents, x):
        return x * x, 10.0 * x * tangents[1]

    assert both(3.0) == (30.0, 10.0)

    @rl.frule_for(f)
    def f_frule_again(tangents, x):
        return x * x, 20.0 * x * tangents[1]

    assert both(3.0) == (60.0, 20.0)


def test_an_frule_counts_before_an_rrule_in_forward_mode():
    """Each mode asks for its own rule; they need not agree."""

    def f(x):
        return x * x

    @rl.rrule_for(f)
    def f_rrule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), 5.0 * x * y_bar)

    assert (rl.gradient(f, 2.0)[0], rl.pushforward(f, 2.0)(1.0)) == (10.0, 10.0)

    @rl.frule_for(f)
    def f_frule(tangents, x):
        return x * x, 7.0 * x * tangents[1]

    assert (rl.gradient(f, 2.0)[0], rl.pushforward(f, 2.0)(1.0)) == (10.0, 14.0)


# -- what is looked up again ---------------------------------------------------------------------------------


def cubes(x):
    return x**3 if isinstance(x, float) else np.sum(x**3)


SECOND = {word: (differentiated(word, cubes), 2.0) for word in ("DD", "FD", "DG", "GD", "DV", "VD", "FG")}
SECOND |= {
    "hessian": (lambda x: rl.hessian(cubes, x), np.ones(2)),
    "hessian_reverse": (lambda x: rl.hessian_reverse(cubes, x), np.ones(2)),
    "diaghessian": (lambda x: rl.diaghessian(cubes, x), np.ones(2)),
    "hvp": (lambda x: rl.hvp(cubes, x, x), np.ones(2)),
    "derivative": (lambda x: rl.derivative(cubes, 2)(x), 2.0),
}


@pytest.mark.parametrize("name", SECOND)
def test_the_derivative_of_a_gradient_looks_up_only_functions_the_second_time(name, monkeypatch):
    """What the code of the operators itself does (build tuples, check) is known from when it was compiled."""
    second, x = SECOND[name]
    first = second(x)
    looked_up = []
    find_target = Pullbacks.find_target

    def noting(self, target, *rest):
        looked_up.append(target)
        return find_target(self, target, *rest)

    monkeypatch.setattr(Pullbacks, "find_target", noting)
    np.testing.assert_array_equal(second(x), first)
    registry = rl.refresh.__kwdefaults__["cache"].registry
    assert looked_up and all(isinstance(each, types.FunctionType) for each in looked_up)
    assert not [each.__name__ for each in looked_up if registry.built_in_entry(each) is not None]


# -- how deep ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_nesting_level(outer, inner):
    """A function sees that it is differentiated, in every mode; outside of them all it is not."""
    seen = []

    def f(x):
        rl.ignore_derivatives(lambda: seen.append((rl.nest_level(), rl.isderiving())))
        return x * x

    assert OPERATORS[inner](f)(2.0) == 4.0
    assert set(seen) == {(1, True)}
    seen.clear()
    assert OPERATORS[outer](OPERATORS[inner](f))(2.0) == 2.0
    assert all(deriving and level >= 1 for level, deriving in seen)
    assert "F" in (outer, inner) or (2, True) in seen
    assert rl.nest_level() == 0 and not rl.isderiving()


# -- cotangents with gaps, and of objects --------------------------------------------------------------------


@dataclass
class Weights:
    """A model of which one part may be left out."""

    a: float
    b: float
    c: list


STRUCTURES = {
    "dict": (lambda t: {"a": t, "c": 1.0}, lambda d: d["a"] ** 2, lambda found: found["a"]),
    "list": (lambda t: [1.0, t, [1.0]], lambda xs: xs[1] ** 2, lambda found: found[1]),
    "tuple": (lambda t: (1.0, (t, 2.0)), lambda xs: xs[1][0] ** 2, lambda found: found[1][0]),
    "object": (lambda t: Weights(t, 1.0, [1.0]), lambda w: w.a**2, lambda found: found.a),
    "object in a dict": (
        lambda t: {"w": Weights(1.0, 2.0, [t, 1.0]), "n": None},
        lambda d: d["w"].c[0] ** 2,
        lambda found: found["w"].c[0],
    ),
}


@pytest.mark.every(5, slow=True)
@pytest.mark.parametrize(("make", "used", "part"), STRUCTURES.values(), ids=STRUCTURES)
def test_back_of_a_seed_that_varies(make, used, part):
    """Where the function leaves parts of its argument alone: 2 t⁵ has the slope 10 t⁴, by any mixture."""

    def again(t):
        y, back = rl.pullback(used, make(t))
        return part(back(y * y)[0])

    for derivative in (gradient, pushforward):
        assert derivative(again)(1.5) == pytest.approx(10 * 1.5**4)
        for second in (gradient, pushforward):
            assert derivative(second(again))(1.5) == pytest.approx(40 * 1.5**3)


READ = {
    "an item": lambda d: d["a"],
    "an item by the method of the class": lambda d: dict.__getitem__(d, "a"),
    "an item that may be missing": lambda d: d.get("a"),
    "a view": lambda d: list(d.values())[0],
    "a copy": lambda d: d.copy()["a"],
    "entries unpacked": lambda d: {**d, "z": 1.0}["a"],
    "a getter": lambda d: operator.itemgetter("a")(d),
    "an item of an item": lambda d: {"b": [d["a"]]}["b"][0],
}


@pytest.mark.every(11)
@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_what_reads_a_dict_after_a_sweep_that_kept_copies(read, monkeypatch):
    """Whatever was differentiated before, and in whatever mode: 2 t⁵ has the second derivative 40 t³."""
    test_an_iterator_that_begins_again("V", "F", 4, monkeypatch)

    def again(t):
        y, back = rl.pullback(lambda d: read(d) ** 2, {"a": t})
        return back(y * y)[0]["a"]

    for outer in (gradient, pushforward):
        for inner in (gradient, pushforward):
            assert outer(inner(again))(1.5) == pytest.approx(40 * 1.5**3)


@pytest.mark.parametrize(("make", "used", "part"), STRUCTURES.values(), ids=STRUCTURES)
def test_the_product_of_a_hessian_with_a_structure(make, used, part):
    """Is such a structure: of an object its parts by name, and not None."""
    assert part(rl.hvp(lambda x: used(x) ** 2, make(1.5), make(0.5))) == pytest.approx(12 * 1.5**2 * 0.5)


def test_the_parts_of_a_tuple_of_arrays():
    """The pushforward of a pullback, of which one part does not depend on the arrays."""

    def joined(xs, v):
        return rl.pullback(np.concatenate, xs)[1](v)[0]

    xs = (np.ones(1), np.ones(3))
    found = rl.pushforward(joined, xs, np.arange(4.0))(xs, np.ones(4))
    assert [part.tolist() for part in found] == [[1.0], [1.0, 1.0, 1.0]]


def test_a_callable_that_an_object_holds():
    """Of which nothing varies: it may be called in a function whose gradient is differentiated."""

    class Model:
        def __init__(self):
            self.activation = lambda u: u**3

    def made(model):
        return lambda x: model.activation(x)

    assert rl.hessian(made(Model()), 2.0) == 12.0


class Sums(NamedTuple):
    square: float
    cube: float


def of_sums(x):
    both = Sums(np.sum(x**2), np.sum(x**3))
    return both._replace(square=both.square * both.cube)


@pytest.mark.parametrize("seed", [(0.3, 0.7), Sums(0.3, 0.7)])
@pytest.mark.parametrize("f", [of_sums, lambda x: np.linalg.slogdet(x)])
def test_seeds_of_named_tuples(f, seed):
    """A pullback inside a differentiated function takes a cotangent by place, or as a NamedTuple."""
    x = np.array([[2.0, 1.0], [0.5, 3.0]])
    x_dot = np.array([[1.0, -0.5], [0.25, 2.0]])

    def first(x):
        _, back = rl.pullback(f, x)
        return np.sum(x_dot * back(seed)[0])

    slope = (first(x + 1e-6 * x_dot) - first(x - 1e-6 * x_dot)) / 2e-6
    assert rl.pushforward(first, x)(x_dot) == pytest.approx(slope, rel=1e-7)
    assert np.sum(rl.gradient(first, x)[0] * x_dot) == pytest.approx(slope, rel=1e-7)
