"""Tests of scalar rules, against finite differences of the primal."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import KeywordError, NotImplementedTangentError, RuleCountError, RuleRegistrationError
from rulelab.rules.authoring import frule, rrule, scalar_rule
from rulelab.rules.registry import DEFAULT, Registry
from rulelab.rules.rule_table import RuleTable
from rulelab.tangents.missing import NotImplementedTangent, not_implemented
from rulelab.tangents.zeros import NoTangent, ZeroTangent

H = 1e-6
RNG = np.random.default_rng(1)


def product(x, y):
    return x * y + np.sin(x)


def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


def square(z):
    return z * z


@pytest.fixture
def registry():
    registry = Registry()
    scalar_rule(product, lambda out, x, y: (y + np.cos(x), x), registry=registry)
    scalar_rule(
        polar,
        lambda out, x, y: ((x / out[0], y / out[0]), (-y / out[0] ** 2, x / out[0] ** 2)),
        registry=registry,
    )
    scalar_rule(square, lambda out, z: 2 * z, registry=registry)
    return registry


SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,)), ((0,), (1,))]


@pytest.mark.parametrize("a, b", SHAPES)
@pytest.mark.parametrize("f", [product, polar])
def test_both_modes_agree_with_finite_differences(registry, f, a, b):
    """One line gives reverse and forward rules that broadcast, for one output or several."""
    xs = [RNG.uniform(0.5, 2, s) if s else float(RNG.uniform(0.5, 2)) for s in (a, b)]
    dots = [RNG.standard_normal(s) if s else float(RNG.standard_normal()) for s in (a, b)]
    y, back = rrule(f, *xs, registry=registry)
    outs = y if isinstance(y, tuple) else (y,)
    bars = [RNG.standard_normal(np.shape(o)) for o in outs]
    plus, minus = (f(*(x + s * H * d for x, d in zip(xs, dots))) for s in (1, -1))
    plus, minus = ((p if isinstance(p, tuple) else (p,)) for p in (plus, minus))
    expected = sum(np.sum(bar * (p - m)) / (2 * H) for bar, p, m in zip(bars, plus, minus))
    itself, *x_bars = back(tuple(bars) if isinstance(y, tuple) else bars[0])
    assert itself is NoTangent() and [np.shape(g) for g in x_bars] == [a, b]
    assert np.isclose(sum(np.sum(g * d) for g, d in zip(x_bars, dots)), expected, rtol=1e-6, atol=1e-8)
    _, y_dot = frule((NoTangent(), *dots), f, *xs, registry=registry)
    y_dot = y_dot if isinstance(y, tuple) else (y_dot,)
    assert np.isclose(sum(np.sum(bar * d) for bar, d in zip(bars, y_dot)), expected, rtol=1e-6, atol=1e-8)


def test_partials_are_conjugated_in_reverse(registry):
    """For complex numbers the gradient of Re f is ∂/∂Re + i ∂/∂Im, and a real argument gets a real
    gradient.
    """
    z = 1.2 + 0.7j
    _, back = rrule(square, z, registry=registry)
    along = lambda d: ((square(z + H * d) - square(z - H * d)) / (2 * H)).real
    assert np.isclose(back(1.0)[1], along(1) + 1j * along(1j))
    _, back = rrule(product, 2.0, 3j, registry=registry)
    assert isinstance(back(1j)[1], float)


def test_zero_and_missing_partials():
    """A partial may be zero, absent or not derived yet."""
    registry = Registry()

    def f(x, n, m):
        return x * m

    scalar_rule(f, lambda out, x, n, m: (m, NoTangent(), not_implemented("later")), registry=registry)
    _, back = rrule(f, 2.0, 3, 4.0, registry=registry)
    x_bar, n_bar, m_bar = back(1.0)[1:]
    assert (x_bar, n_bar) == (4.0, NoTangent()) and isinstance(m_bar, NotImplementedTangent)
    assert back(ZeroTangent())[1] is ZeroTangent()
    assert frule((NoTangent(), 1.0, NoTangent(), ZeroTangent()), f, 2.0, 3, 4.0, registry=registry)[1] == 4.0


def test_float32_stays_float32(registry):
    """A float32 argument gets a float32 gradient."""
    _, back = rrule(square, np.ones(3, np.float32), registry=registry)
    assert back(np.ones(3))[1].dtype == np.float32


def test_calls_that_the_rule_does_not_cover(registry):
    """`out=`, `where=` or a wrong number of partials are errors, before anything is written."""
    scalar_rule(np.cos, lambda out, x: -np.sin(x), registry=registry)
    out = np.zeros(2)
    with pytest.raises(KeywordError, match="where="):
        rrule(np.cos, np.ones(2), where=[True, False], registry=registry)
    assert rrule(np.cos, np.ones(2), out, registry=registry) is None
    if hasattr(np.cos, "__signature__"):  # from NumPy 2.4 on; before, `out=` is a keyword like any other
        assert rrule(np.cos, np.ones(2), out=out, registry=registry) is None
    else:
        with pytest.raises(KeywordError, match="out="):
            rrule(np.cos, np.ones(2), out=out, registry=registry)
    assert not out.any()
    scalar_rule(math.hypot, lambda out, *xs: xs[0] / out, registry=registry)
    with pytest.raises(RuleCountError, match="1 partial for 2 arguments"):
        rrule(math.hypot, 3.0, 4.0, registry=registry)


def test_closures_and_objects_are_refused():
    """What a closure or an object holds would need a cotangent of its own, so scalar_rule says no."""
    k = 2.0

    class Scale:
        def __call__(self, x):
            return x

        def method(self, x):
            return x

    for f in (lambda x: k * x, Scale(), Scale().method):
        with pytest.raises(RuleRegistrationError, match="scalar_rule cannot be used on"):
            scalar_rule(f, lambda out, x: 1.0, registry=Registry())


@pytest.mark.parametrize("count", [3, 4])
def test_what_does_not_vary_is_not_asked_for_at_the_second_order(count):
    """A parameter without a slope stands beside an argument that varies, in derivatives of any order."""
    table, rest = RuleTable("powers"), count - 1

    def power(*xs):
        return xs[-1] ** sum(xs[:-1])

    missing = (not_implemented("by an exponent"),) * rest
    made = {
        3: lambda out, a, b, x: (*missing, (a + b) * power(a - 1, b, x)),
        4: lambda out, a, b, c, x: (*missing, (a + b + c) * power(a - 1, b, c, x)),
    }
    table.scalar(power, made[count])
    table.install(DEFAULT)
    exponents = (3.0,) + (0.5,) * (rest - 1)
    total = sum(exponents)

    called = {3: lambda t: power(3.0, 0.5, t), 4: lambda t: power(3.0, 0.5, 0.5, t)}[count]

    def slope(x):
        return rl.gradient(called, x)[0]

    assert slope(1.3) == pytest.approx(total * 1.3 ** (total - 1))
    assert rl.gradient(slope, 1.3)[0] == pytest.approx(total * (total - 1) * 1.3 ** (total - 2))
    assert rl.pushforward(slope, 1.3)(1.0) == pytest.approx(total * (total - 1) * 1.3 ** (total - 2))
    with pytest.raises(NotImplementedTangentError, match="by an exponent"):
        rl.gradient(lambda a: power(*[a] * rest, 1.3), 3.0)
