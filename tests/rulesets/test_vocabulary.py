"""What rules are written with is differentiated where the derivative of a rule is wanted."""

import warnings

import numpy as np
import pytest

import rulelab as rl

X = 1.2


def three(back):
    """x⁶ / 2 by way of a list of three powers, whose rule takes its cotangent apart in some way."""

    def powers(x):
        return [x, x * x, x**3]

    rl.rrule_for(powers)(lambda x: (powers(x), lambda bar: (rl.NoTangent(), back(x, bar))))
    return lambda x: powers(x)[0] * powers(x)[1] * powers(x)[2] / 2


def unpacked(x, bar):
    u, v, w = bar
    return u + 2 * x * v + 3 * x * x * w


def starred(x, bar):
    u, *rest = bar
    return u + 2 * x * rest[0] + 3 * x * x * rest[1]


def looped(x, bar):
    total = 0.0
    for one, partial in zip(bar, (1.0, 2 * x, 3 * x * x)):
        total = total + one * partial
    return total


def by_length(x, bar):
    total = 0.0
    for k in range(len(bar)):
        total = total + bar[k] * (k + 1) * x**k
    return total


def as_a_whole(x, bar):
    bar = 2 * bar + bar / 2 - bar * 0.5 - (-bar) * 0.0 - bar + rl.ZeroTangent()
    return unpacked(x, +bar)


WAYS = {
    "positions": lambda x, bar: bar[0] + 2 * x * bar[1] + 3 * x * x * bar[-1],
    "slice": lambda x, bar: bar[0] + 2 * x * bar[1:][0] + 3 * x * x * bar[1:][1],
    "list": lambda x, bar: unpacked(x, list(bar)),
    "sum": lambda x, bar: sum(one * partial for one, partial in zip(bar, (1.0, 2 * x, 3 * x * x))),
    "array": lambda x, bar: np.dot(np.array([bar[0], bar[1], bar[2]]), np.array([1.0, 2 * x, 3 * x * x])),
    "canonical": lambda x, bar: unpacked(x, rl.canonicalize(bar)),
    "asked": lambda x, bar: unpacked(x, bar) if isinstance(bar, rl.Tangent) else 0.0,
    **{way.__name__: way for way in (unpacked, starred, looped, by_length, as_a_whole)},
}


@pytest.mark.every(3)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_cotangent_is_taken_apart(way):
    """In any way Python has, at two orders."""
    f = three(way)
    assert rl.pushforward(f, X)(1.0) == pytest.approx(3 * X**5)
    assert rl.hessian(f, X) == pytest.approx(15 * X**4)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.every(23, slow=True)
def test_a_cotangent_is_taken_apart_at_the_third_order(way):
    """Forward over what was asked of the rule twice before."""
    f = three(way)
    assert rl.pushforward(lambda x: rl.hessian(f, x), X)(1.0) == pytest.approx(60 * X**3)


def cubed(back):
    """The sum of cubes, whose rule makes its cotangent in some way; its Hessian is 6 x."""

    def cubes(x):
        return np.sum(x**3)

    rl.rrule_for(cubes)(lambda x: (cubes(x), lambda y_bar: (rl.NoTangent(), back(x, y_bar))))
    return cubes


def added_up(x, y_bar):
    total = np.zeros(2)
    for _ in range(3):
        total = rl.add_into(total, x**2 * y_bar)
    return rl.add_into(total, rl.ZeroTangent())


MADE = {
    "thunk": lambda x, y_bar: rl.thunk(lambda: 3 * x**2 * y_bar),
    "Thunk": lambda x, y_bar: rl.Thunk(lambda: 3 * x**2 * y_bar),
    "thunk that is used": lambda x, y_bar: 3 * rl.unthunk(rl.thunk(lambda: x**2)) * y_bar,
    "InplaceableThunk": lambda x, y_bar: rl.InplaceableThunk(
        lambda acc: np.add(acc, 3 * x**2 * y_bar, out=acc), lambda: 3 * x**2 * y_bar
    ),
    "ProjectTo": lambda x, y_bar: rl.ProjectTo(x)(3 * x**2 * y_bar + 1j),
    "a column": lambda x, y_bar: rl.ProjectTo(x)(np.reshape(3 * x**2 * y_bar, (2, 1))),
    "a thunk projected": lambda x, y_bar: rl.ProjectTo(x)(rl.thunk(lambda: 3 * x**2 * y_bar)),
    "add_into": added_up,
}


@pytest.mark.every(2)
@pytest.mark.parametrize("back", MADE.values(), ids=MADE)
def test_a_cotangent_is_made(back):
    """By thunks, projections and sums in place, at three orders."""
    f, x, v = cubed(back), np.array([1.0, 2.0]), np.array([0.5, -1.0])
    assert rl.pushforward(f, x)(v) == pytest.approx(np.sum(3 * x**2 * v))
    assert np.allclose(rl.hessian(f, x), np.diag(6 * x))
    assert rl.gradient(lambda x: rl.hvp(f, x, v) @ v, x)[0] == pytest.approx(6 * v * v)


def test_the_old_names():
    """Those of the older texts are the same words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        none, one, composite = rl.NO_FIELDS, rl.One, rl.Composite

    def product(t):
        return t[0] * t[1]

    rl.rrule_for(product)(
        lambda t: (product(t), lambda y_bar: (none, composite(tuple, one() * t[1] * y_bar, t[0] * y_bar)))
    )
    assert rl.hessian(lambda x: product((x, x * x)), X) == pytest.approx(6 * X)


def test_a_sum_in_place_that_nobody_wants_is_refused_where_it_would_be_lost():
    """In reverse mode, for what it was added to would not be known; forward mode writes to both arrays."""

    def cubes(x):
        total = np.zeros(2)
        rl.add_into(total, x**3)
        return np.sum(total)

    x = np.array([1.0, 2.0])
    assert rl.pushforward(cubes, x)(x) == 27.0
    assert rl.pushforward(lambda x: rl.pushforward(cubes, x)(x), x)(x) == 81.0
    for ask in (rl.gradient, rl.hessian):
        with pytest.raises(rl.MutationError, match="add_into"):
            ask(cubes, x)


@pytest.mark.slow
def test_a_function_that_a_rule_asks_to_have_differentiated():
    """What it captures, the object that it is or belongs to, and its arguments, at three orders."""

    def apply(k, x):
        return k(x)

    @rl.rrule_for(apply, requires={"reverse"})
    def apply_rrule(config, k, x):
        y, back = config.rrule_via_ad(k, x)
        return y, lambda y_bar: (rl.NoTangent(), *back(y_bar))

    class Scaled:
        def __init__(self, w):
            self.w = w

        def __call__(self, t):
            return self.w * t**3

        def scale(self, t):
            return self.w * t**3

    for f in (
        lambda x: apply(lambda t: t**3 * x, x * x),
        lambda x: apply(Scaled(x), x * x),
        lambda x: apply(Scaled(x).scale, x * x),
    ):
        assert rl.pushforward(f, X)(1.0) == pytest.approx(7 * X**6)
        assert rl.hessian(f, X) == pytest.approx(42 * X**5)
        assert rl.derivative(f, 3)(X) == pytest.approx(210 * X**4)
        assert rl.pushforward(lambda x, f=f: rl.hessian(f, x), X)(1.0) == pytest.approx(210 * X**4)


def test_what_a_rule_hands_on_by_keyword_varies():
    """A rule that asks the AD for a pullback may hand values on by keyword: the derivatives of what the rule
    does go through them at every order.
    """

    def cubed(x, *, k):
        return x**3 * k[0]

    def apply(x, k):
        return cubed(x, k=[k])

    @rl.rrule_for(apply, requires={"reverse"})
    def apply_rrule(config, x, k):
        y, back = config.rrule_via_ad(cubed, x, k=[k])
        return y, lambda y_bar: (rl.NoTangent(), back(y_bar)[1], y_bar * x**3)

    def f(x):
        return apply(x, x**4)

    assert rl.pushforward(f, X)(1.0) == pytest.approx(7 * X**6)
    assert rl.hessian(f, X) == pytest.approx(42 * X**5)
    assert rl.derivative(f, 3)(X) == pytest.approx(210 * X**4)
