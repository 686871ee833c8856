"""Whatever is called, its cotangents come out at the arguments they belong to, or the call is refused."""

import functools
import math
import operator

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.binding import bind
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.compiler.memory.operands import carries, describe
from rulelab.errors import ForeignCallError, KeywordError, MutationError, NotDifferentiableError, RuleLabError

from ...differences import gradient_by_differences

V, W = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0])
M = np.arange(6.0).reshape(2, 3) + 1.0


def numerical(f, *args):
    """Central differences of f for each argument that is a float or an array of floats."""
    return [
        gradient_by_differences(lambda v, k=k: f(*args[:k], v, *args[k + 1 :]), x) for k, x in enumerate(args)
    ]


def assert_right(f, *args):
    """The gradient is that of finite differences, and the value that of the function."""
    value, gradient = rl.withgradient(f, *args)
    assert value == f(*args)
    for x_bar, wanted in zip(gradient, numerical(f, *args), strict=True):
        np.testing.assert_allclose(x_bar, wanted, rtol=1e-6, atol=1e-7)


# --- methods, bound methods, callable objects ---


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x, offset=1.0):
        return self.slope * x + offset

    def __call__(self, x, *, power=2):
        return self.slope * x**power

    @staticmethod
    def static(x):
        return x * 7.0

    @classmethod
    def classy(cls, x):
        return x * 8.0


class Steep(Line):
    def at(self, x, offset=1.0):
        return super(Steep, self).at(x, offset) * 10.0


LINE = Line(3.0)
USES = {
    "a method": lambda x: LINE.at(x),
    "a method, keyword": lambda x: LINE.at(offset=x * 2.0, x=x),
    "a method of the class": lambda x: Line.at(LINE, x),
    "a callable object": lambda x: LINE(x) * x,
    "a callable object, keyword": lambda x: LINE(x, power=3),
    "its __call__": lambda x: Line.__call__(LINE, x),
    "a static method": lambda x: LINE.static(x) * Line.static(x),
    "a class method": lambda x: LINE.classy(x) * Line.classy(x),
    "a callable as argument": lambda x: apply(LINE, x) + apply(LINE.at, x) + apply(math.sin, x),
    "a bound method in a list": lambda x: [g for g in (LINE.at, LINE)][0](x),
    "a method found by name": lambda x: getattr(LINE, "at")(x),
}


def apply(g, x):
    return g(x) * 2.0


@pytest.mark.parametrize("use", USES)
def test_methods(use):
    """Methods, objects that can be called and functions handed about are differentiated through."""
    assert_right(USES[use], 1.5)


def test_the_object_itself():
    """Of a method the object is an argument: its attributes have a gradient."""
    f = lambda o, x: o.at(x) * o(x)
    o_bar, x_bar = rl.gradient(f, LINE, 1.5)
    assert o_bar.slope == pytest.approx(numerical(lambda k: f(Line(k), 1.5), 3.0)[0])
    assert x_bar == pytest.approx(numerical(lambda x: f(LINE, x), 1.5)[0])


def array_method_as_value(x):
    total, dot = x.sum, x.dot
    return total() * total(axis=0) + dot(x) + [g() for g in (x.mean, x.max)][1]


def test_array_methods_as_values():
    """A method of an array taken as a value is called when it is called, not before."""
    assert_right(array_method_as_value, V)


def test_gradient_of_methods():
    """A bound method, a callable object and a partial can be asked for their gradient."""
    assert rl.gradient(LINE.at, 1.5) == (3.0,)
    assert rl.gradient(LINE, 1.5, power=1) == (3.0,)
    assert rl.gradient(Line.static, 1.5) == (7.0,)
    assert rl.gradient(V.dot, W)[0].tolist() == V.tolist()


# --- defaults and keywords of the author's functions ---


def mixed(a, b=2.0, /, c=3.0, *, d=4.0, e=5.0):
    return a * b + c * c * d + e**3 * a


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: mixed(x),
        lambda x, y: mixed(x, y),
        lambda x, y: mixed(x, c=y),
        lambda x, y: mixed(x, e=y, c=x),
        lambda x, y: mixed(x, y, x, e=x, d=y),
        lambda x, y: mixed(1.0, e=y, d=x),
    ],
    ids=["defaults", "position", "keyword", "other order", "all", "keyword-only"],
)
def test_arguments_find_their_parameters(f):
    """Positions, keywords in any order and defaults each get the cotangent of their parameter."""
    value, gradient = rl.withgradient(f, 1.5, 0.5)
    assert value == f(1.5, 0.5)
    for x_bar, wanted in zip(gradient, numerical(f, 1.5, 0.5), strict=True):
        assert (0.0 if x_bar is None else x_bar) == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize(
    "call", ["mixed()", "mixed(x, f=1)", "mixed(x, x, x, x)", "mixed(a=x)", "mixed(x, x, x, c=x)"]
)
def test_wrong_calls(cells, call):
    """A call that Python refuses is a TypeError here too."""
    cells.names["mixed"] = mixed
    f = cells.run(f"def f(x):\n    return {call}\n")["f"]
    for attempt in (f, lambda x: rl.gradient(f, x)):
        with pytest.raises(TypeError):
            attempt(1.0)


def test_bind():
    """Every parameter gets its value, in the order of the code; each argument knows which it became."""
    assert bind(mixed, (1.0, 9.0), {"e": 7.0, "c": 8.0}) == ((1.0, 9.0, 8.0, 4.0, 7.0), [0, 1, 4, 2])
    assert bind(mixed, (1.0,), {}) == ((1.0, 2.0, 3.0, 4.0, 5.0), [0])


# --- keywords of the built-in rules ---

BY_KEYWORD = {
    "average": (lambda x, w: np.average(x, weights=w), V, W),
    "average, both": (lambda x, w: np.average(weights=w, a=x), V, W),
    "average by position": (lambda x, w: np.average(x, None, w), V, W),
    "dot": (lambda x, w: np.dot(x, b=w), V, W),
    "dot, both": (lambda x, w: np.dot(b=x * x, a=w), V, W),
    "tensordot": (lambda x, w: np.tensordot(b=w, a=x, axes=1) * 1.0, V, W),
    "clip": (lambda x, lo: np.clip(x, a_min=lo, a_max=3.0).sum(), V, 1.5),
    "sum": (lambda x: np.sum(a=x * x, axis=0), V),
    "sum of an axis": (lambda x: (np.sum(x, axis=1, keepdims=True) ** 2).sum(), M),
    "norm": (lambda x: np.linalg.norm(x=x, ord=2), V),
    "full": (lambda v: (np.full(shape=3, fill_value=v) ** 2).sum(), 1.5),
    "linspace": (lambda a, b: (np.linspace(a, stop=b, num=4) ** 2).sum(), 0.5, 2.0),
    "sum with a start": (lambda x, v: sum([x, x * x], start=v), 2.0, 5.0),
    "where": (lambda x: np.mean(x * x, where=np.array([True, False, True])), V),
    "var": (lambda x: np.var(x, ddof=1), V),
    "solve": (
        lambda a, b: np.linalg.solve(b=b, a=a).sum(),
        np.array([[2.0, 1.0], [0.5, 3.0]]),
        np.array([1.0, 2.0]),
    ),
    "append": (lambda x, v: (np.append(x, values=v) ** 2).sum(), V, 2.0),
}


@pytest.mark.parametrize("case", BY_KEYWORD)
def test_keywords_of_built_in_rules(case):
    """A library function called by keyword has the gradient that it has by position."""
    f, *args = BY_KEYWORD[case]
    assert_right(f, *args)


RISKY = {
    "sum": lambda x, v: np.sum(x, initial=v),
    "sum by position": lambda x, v: np.sum(x, None, None, None, False, v),
    "sum as a method": lambda x, v: x.sum(initial=v),
    "prod": lambda x, v: np.prod(x, initial=v),
    "max": lambda x, v: np.max(x, initial=v),
    "reduce": lambda x, v: np.add.reduce(x, initial=v),
    "pad": lambda x, v: np.pad(x, 1, constant_values=v).sum(),
    "diff": lambda x, v: (np.diff(x, prepend=v) ** 2).sum(),
    "nan_to_num": lambda x, v: np.nan_to_num(x * np.array([1.0, np.nan, 1.0]), nan=v).sum(),
    "var": lambda x, v: np.var(x, ddof=v),
    "max of nothing": lambda x, v: max(x[:0], default=v),
    "clip": lambda x, v: np.clip(x, min=v, max=3.0).sum(),
}


@pytest.mark.parametrize("case", RISKY)
def test_nothing_is_lost_in_a_keyword(case):
    """A differentiable value in an option of a library function: right, or refused, never dropped."""
    f = RISKY[case]
    try:
        assert_right(f, V, 1.5)
    except RuleLabError as error:
        assert isinstance(error, (NotDifferentiableError, KeywordError, ForeignCallError))
        assert error.place is not None and "test_pullbacks.py" in str(error)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sin(x, casting="unsafe").sum(),
        lambda x: np.sin(x, where=x > 1.5).sum(),
        lambda x: np.clip(x, a_min=0.0, a_max=1.0, casting="unsafe").sum(),
    ],
)
def test_unknown_keyword(f):
    """An option that a rule does not know is a KeywordError that names it."""
    with pytest.raises(KeywordError, match="casting|where"):
        rl.gradient(f, V)


def test_a_keyword_that_nobody_knows():
    """A keyword that the function itself does not take is Python's error or ours."""
    with pytest.raises((TypeError, KeywordError), match="nonsense"):
        rl.gradient(lambda x: np.sum(x, nonsense=1), V)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.multiply(x, 2.0, out=np.empty(3)).sum(),
        lambda x: np.multiply(x, 2.0, np.empty(3)).sum(),
        lambda x: np.sum(x, out=np.empty(())),
        lambda x: x.sum(out=np.empty(())),
        lambda x: np.dot(x, x, out=np.empty(())),
        lambda x: np.clip(x, 0.0, 1.0, out=np.empty(3)).sum(),
        lambda x: operator.iadd(x, 1.0).sum(),
        lambda x: np.concatenate([x, x], out=np.empty(6)).sum(),
    ],
)
def test_out(f):
    """An array to write into, by keyword or by position, is refused before anything is written."""
    x = V.copy()
    with pytest.raises(MutationError):
        rl.gradient(f, x)
    assert np.array_equal(x, V)


# --- the author's rules ---


@pytest.fixture(scope="module")
def scaled():
    """A function with a keyword-only parameter and a rule, whose gradient says that the rule was used."""

    def scaled(x, y=2.0, *, k=1.0):
        return x * y * k

    @rl.rrule_for(scaled)
    def scaled_rrule(x, y=2.0, *, k=1.0):
        def scaled_pullback(y_bar):
            return rl.NoTangent(), 100.0 * y_bar * k, 1000.0 * y_bar

        return x * y * k, scaled_pullback

    return scaled


def test_rule_and_keywords(scaled):
    """A ruled function called by keyword, in any order, has each cotangent at its argument."""
    assert rl.gradient(lambda x, y: scaled(y=y, x=x), 1.0, 2.0) == (100.0, 1000.0)
    assert rl.gradient(lambda x, y: scaled(x, y=y, k=3.0), 1.0, 2.0) == (300.0, 1000.0)
    assert rl.gradient(lambda x: scaled(x), 1.0) == (100.0,)
    assert rl.gradient(lambda y: scaled(1.0, y=y), 1.0) == (1000.0,)


def test_active_keyword_only_parameter(scaled):
    """A differentiable value in a keyword-only parameter of a ruled function is refused, with what to do."""
    with pytest.raises(KeywordError, match="k=") as caught:
        rl.gradient(lambda x: scaled(x, k=x), 1.0)
    assert "use rl.ignore_derivatives(k)" in caught.value.fixes
    assert rl.gradient(lambda x: scaled(x, k=rl.ignore_derivatives(x)), 3.0) == (300.0,)


def test_rule_that_asks_the_ad():
    """A rule that requires reverse mode gets a config through which it differentiates what it was handed."""

    def apply_twice(g, x):
        return g(g(x))

    @rl.rrule_for(apply_twice, requires={rl.HasReverseMode})
    def apply_twice_rrule(config, g, x):
        y, back_1 = config.rrule_via_ad(g, x)
        z, back_2 = config.rrule_via_ad(g, y)

        def apply_twice_pullback(z_bar):
            _, y_bar = back_2(z_bar)
            _, x_bar = back_1(y_bar)
            return rl.NoTangent(), rl.NoTangent(), 10.0 * x_bar

        return z, apply_twice_pullback

    assert rl.gradient(lambda x: apply_twice(lambda u: u * u, x), 2.0) == (10 * 4 * 8.0,)
    assert rl.gradient(lambda x: apply_twice(np.sin, x), 0.5)[0] == pytest.approx(
        10 * np.cos(0.5) * np.cos(np.sin(0.5))
    )


@pytest.mark.parametrize(
    "g, args",
    [
        (lambda x, y: x * y, (2.0, 3.0)),
        (math.atan2, (2.0, 3.0)),
        (LINE.at, (2.0, 3.0)),
        (LINE, (2.0,)),
        (np.dot, (V, W)),
        (mixed, (1.0, 2.0, 3.0)),
    ],
)
def test_via_ad(g, args):
    """Asked for a pullback as rules ask, a rule or a pass answers: the function first, then each argument."""
    y, back = Pullbacks(Cache()).via_ad(g, *args)
    assert np.allclose(y, g(*args))
    got = back(1.0)
    assert len(got) == 1 + len(args)
    for x_bar, wanted in zip(got[1:], numerical(g, *args), strict=True):
        np.testing.assert_allclose(rl.unthunk(x_bar), wanted, rtol=1e-6)


def test_via_ad_of_a_closure():
    """The cotangent of a closure is that of what it captures."""
    k = 3.0
    _, back = Pullbacks(Cache()).via_ad(lambda x: k * x * x, 2.0)
    f_bar, x_bar = back(1.0)
    assert (f_bar.k, x_bar) == (4.0, 12.0)


# --- what may carry a cotangent ---


@pytest.mark.parametrize(
    "value",
    [
        1,
        1.0,
        1j,
        np.float32(1),
        V,
        np.arange(3),
        [1.0],
        ("a", 2.0),
        {"a": [1.0]},
        LINE,
        np.array([None, 1.0]),
    ],
)
def test_carries(value):
    """Numbers, arrays of them, structures that hold one and objects with attributes can have a gradient."""
    assert carries(value)


@pytest.mark.parametrize(
    "value",
    [True, "a", b"a", None, V > 0, [], ["a", None], {}, range(3), slice(3), float, np, len, np.float64, ()],
)
def test_does_not_carry(value):
    """Flags, strings, nothing, ranges, types, modules and empty structures cannot."""
    assert not carries(value)


def test_describe():
    """An array in a message is its dtype and shape, anything else its type."""
    assert (describe(M), describe(1.0), describe([1])) == ("float64[2, 3]", "float", "list")


# --- foreign calls ---


def test_foreign_call():
    """A call of a C function without a rule is refused with the call, the line and what to do."""
    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(lambda x: np.kaiser(3, x)[0], 1.5)
    error = caught.value
    assert "kaiser(int, float)" in error.found
    assert "np.kaiser(3, x)" in error.place.text
    assert any("%rule_stub" in fix for fix in error.fixes)


def test_foreign_call_of_constants():
    """The same call without a differentiable argument is made."""
    assert rl.gradient(lambda x: x * np.kaiser(3, 1.5)[0], 2.0) == (np.kaiser(3, 1.5)[0],)


def test_foreign_call_whose_value_is_dropped():
    """A differentiable value is not handed to unknown code, though the result is dropped: it might stay."""
    kept = functools.partial(list.append, [])

    def f(x):
        kept(x)
        return x * 2.0

    with pytest.raises(RuleLabError):
        rl.gradient(f, 1.0)


def test_methods_taken_as_values():
    """A bound method carries its object's cotangent; a static or class method does not."""
    factor = 5.0

    class Box:
        scale = 2.0

        def __init__(self):
            self.w = 3.0

        def times(self, x):
            return self.w * x

        @staticmethod
        def fixed(x):
            return factor * x

        @classmethod
        def scaled(cls, x):
            return cls.scale * x

    def by_method(box, x):
        f = box.times
        return f(x)

    def by_static(box, x):
        f = box.fixed
        return f(x) * box.w

    def by_class(box, x):
        f = box.scaled
        return f(x) * box.w

    box_bar, x_bar = rl.gradient(by_method, Box(), 7.0)
    assert (box_bar.w, x_bar) == (7.0, 3.0)
    box_bar, x_bar = rl.gradient(by_static, Box(), 7.0)
    assert (box_bar.w, x_bar) == (35.0, 15.0)
    box_bar, x_bar = rl.gradient(by_class, Box(), 7.0)
    assert (box_bar.w, x_bar) == (14.0, 6.0)


# --- stars ---


def starred(a, b=2.0, *more, c=3.0, **words):
    return a * b * c


def test_bind_with_stars():
    """Extra arguments go into a tuple and a dict; each knows its place in there."""
    values, where = bind(starred, (1.0, 5.0, 6.0, 7.0), {"c": 8.0, "k": 9.0})
    assert values == (1.0, 5.0, 8.0, (6.0, 7.0), {"k": 9.0})
    assert where == [0, 1, (3, 0), (3, 1), 2, (4, "k")]
    values, where = bind(starred, (1.0,), {})
    assert values == (1.0, 2.0, 3.0, (), {}) and where == [0]


def test_bind_a_keyword_named_like_a_positional_only_parameter():
    """`f(1, a=2)` for `def f(a, /, **words)`: the keyword is one of the words."""

    def f(a, /, b=0.0, **words):
        return a * words["a"]

    assert bind(f, (1.0,), {"a": 2.0}) == ((1.0, 0.0, {"a": 2.0}), [0, (2, "a")])
    assert rl.gradient(lambda x: f(x, a=3.0 * x), 2.0) == (12.0,)


def test_the_gradient_of_extra_arguments():
    """One entry each, with the shape of its argument; None for those that the result does not read."""

    def f(*xs):
        return xs[0] * xs[1].sum() + xs[2]["k"]

    x_bar, v_bar, d_bar, last = rl.gradient(f, 2.0, V, {"k": 1.0, "z": 1.0}, "text")
    assert (x_bar, d_bar, last) == (7.0, {"k": 1.0, "z": None}, None)
    assert v_bar.tolist() == [2.0, 2.0, 2.0]
    assert rl.gradient(f, 2.0, V, {"k": 1.0}, argnums=(2, 0)) == ({"k": 1.0}, 7.0)
    assert rl.gradient(lambda *xs: 0.0 * sum(xs), 1.0, 2.0) == (0.0, 0.0)
    assert rl.gradient(lambda *xs: 5.0, 1.0, 2.0) == (None, None)


def test_another_number_of_arguments_is_another_pass():
    """A pass made for two arguments is not used for three."""

    def f(*xs, **words):
        total = 0.0
        for x in xs:
            total = total * x + x
        return total * len(words)

    for count in (2, 3, 1, 2):
        xs = [1.5 + k for k in range(count)]
        assert_right(lambda *xs: f(*xs, a=1.0, **{"b": 2.0}), *xs)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def of(self, *xs, **words):
        return self.factor * xs[-1] * words["by"]

    @staticmethod
    def fixed(*xs):
        return xs[0] * xs[1]


def test_calls_with_stars():
    """Functions, methods, static methods, ufuncs, builtins; the object of a method gets its cotangent."""

    def by_method(scale, x):
        args, words = [1.0, x], {"by": x}
        return scale.of(*args, **words) + Scale.of(scale, *args, by=x) + scale.fixed(*args, *args)

    scale_bar, x_bar = rl.gradient(by_method, Scale(3.0), 2.0)
    assert (scale_bar.factor, x_bar) == (8.0, 25.0)
    assert_right(lambda v: np.hypot(*v[:2]) * math.hypot(*v) + max(*v, 3.0), V)
    assert_right(lambda x, y: np.logaddexp(*(x, y), **{}) * pow(*[x, y]), 1.5, 2.5)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda a: np.add(*(a, a, np.zeros(3))), MutationError),
        (lambda a: np.add(a, a, **{"out": np.zeros(3)}), MutationError),
        (lambda a: np.ndarray.sort(*[a]), MutationError),
        (lambda a: np.apply_over_axes(*(np.sum, a, 0)), ForeignCallError),
        (lambda a: np.power(*(a, 2), **{"where": a > 1}), KeywordError),
        (lambda a: starred(*a, **{"k": np.apply_over_axes(*(np.sum, a, 0))}), ForeignCallError),
    ],
)
def test_stars_hide_nothing(call, kind):
    """What is refused of a call is refused of the same call with stars."""
    with pytest.raises(kind):
        rl.gradient(lambda a: call(a) + a.sum(), V)


def of_order(n, x):
    return x**n


@rl.rrule_for(of_order)
def of_order_rrule(n, x):
    missing = rl.not_implemented("by the order")
    return of_order(n, x), lambda y_bar: (rl.NoTangent(), missing, _slope(n, x) * y_bar)


@rl.frule_for(of_order)
def of_order_frule(tangents, n, x):
    of_n, of_x = tangents[1:]
    y_dot = _slope(n, x) * of_x
    return of_order(n, x), y_dot + rl.not_implemented("by the order") * of_n


def _slope(n, x):
    return n * x ** (n - 1)


def in_a_loop(x):
    total = 0.0
    for n in (2.0, 3.0):
        pair = n, x
        total = total + of_order(*pair)
    return total


def bound_anew(x):
    pair = 1.0, 2.0
    return (pair := (3.0, x)) and of_order(*pair)


def later_in_the_call(x):
    pair = 1.0, x
    return np.stack(((pair := (x, 3.0))[0], *pair), axis=0).sum()


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda x: of_order(*(3.0, x)), 12.0),
        (lambda x: of_order(3.0, *(x,)), 12.0),
        (lambda x: of_order(*(3.0,), *(x,)), 12.0),
        (lambda x: of_order(*[3.0], *[x]), 12.0),
        (lambda x: of_order(*[3.0, x]), 12.0),
        (in_a_loop, 16.0),
        (bound_anew, 12.0),
        (later_in_the_call, 2.0),
    ],
)
def test_a_constant_beside_what_varies(f, slope):
    """In a tuple or list that is made for the call it stays one, in both modes: its derivative is not asked
    for.
    """
    assert rl.gradient(f, 2.0) == (slope,)
    assert rl.pushforward(f, 2.0)(1.0) == slope


def test_a_users_rule_with_stars():
    """The rule of a function with `*xs` gives one cotangent for each."""

    def f(*xs, power):
        return sum(xs) ** power

    @rl.rrule_for(f)
    def f_rrule(*xs, power):
        return f(*xs, power=power), lambda y_bar: (
            rl.NoTangent(),
            *(100.0 * (k + 1) * y_bar for k in range(len(xs))),
        )

    assert rl.gradient(lambda x, y: f(*[x, y], **{"power": 2}), 1.0, 2.0) == (100.0, 200.0)


def test_defaults_that_a_function_holds_are_not_lost():
    """A nested function with a default that varies, captured by another one, gets its cotangent."""

    def program(x):
        def h(v, w=x, *, q=x):
            return v * w * q

        def g(v):
            return h(v)

        return g(3.0)

    assert carries(program) is False
    assert_right(program, 2.0)


def test_getattr_reads_a_field():
    """`getattr(o, "name")` is `o.name`; with a name that is no attribute it raises as ever."""
    scale_bar, x_bar = rl.gradient(lambda o, x: getattr(o, "fac" + "tor") * x, Scale(3.0), 2.0)
    assert (scale_bar.factor, x_bar) == (2.0, 3.0)
    with pytest.raises(AttributeError):
        rl.gradient(lambda o: getattr(o, "nothing") * 2.0, Scale(3.0))  # noqa: B009


def test_globals_are_those_of_the_author():
    """`globals()` in a function that is differentiated."""
    assert rl.gradient(lambda x: x * globals()["W"][1], 2.0) == (3.0,)


FUNCTIONS_BY_NAME = {"cube": lambda x: x**3}


def test_globals_are_those_of_the_author_in_every_mode():
    """What `globals()` gives is read forwards and in second derivatives too, and where a name has a default
    the author's value counts, not the default.
    """

    def called(x):
        return globals()["FUNCTIONS_BY_NAME"]["cube"](x)

    def scaled(x):
        return globals().get("W", (0.0, 7.0))[1] * x

    assert rl.gradient(called, 2.0) == (12.0,)
    assert rl.pushforward(called, 2.0)(1.0) == rl.hessian(called, 2.0) == 12.0
    assert rl.pushforward(scaled, 2.0)(1.0) == 3.0
    assert rl.hessian(scaled, 2.0) == 0.0


def test_a_captured_variable_that_is_assigned_later():
    """It is read where the function reads it, and missed with Python's own error, in both modes."""

    def f(x):
        return x * x if x > 0 else later

    def reads(x):
        return x * later

    assert rl.gradient(f, 1.5) == (3.0,)
    assert rl.pushforward(f, 1.5)(1.0) == 3.0
    assert rl.gradient(lambda x: rl.gradient(f, x)[0], 1.5) == (2.0,)
    for ask in (rl.gradient, lambda g, x: rl.pushforward(g, x)(1.0)):
        with pytest.raises(NameError, match="later"):
            ask(reads, 1.5)
    later = 7.0
    assert rl.gradient(reads, 1.5) == (7.0,)


# --- what was found once ---


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return 0.5 * self.stiffness * x * x

    @property
    def softness(self):
        return 1.0 / self.stiffness

    def __rmul__(self, x):
        return Spring(x * self.stiffness)


def of_a_method(spring, x):
    return spring.energy(x)


def of_a_property(spring, x):
    return spring.softness * x


def of_an_operator(spring, x):
    return (2.0 * spring).stiffness * x


@pytest.mark.parametrize("f", [of_a_method, of_a_property, of_an_operator])
def test_a_function_behind_a_call_is_asked_for_once(f, monkeypatch):
    """A method, a property's function and an operator's are found again as a function called by name is."""
    asked, ask = [], Pullbacks.ask

    def counting(self, target, args, kwargs):
        asked.append(target)
        return ask(self, target, args, kwargs)

    first = [rl.gradient(f, Spring(3.0), 2.0) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(Pullbacks, "ask", counting)
        again = rl.gradient(f, Spring(3.0), 2.0)
    behind = {Spring.energy, Spring.softness.fget, Spring.__rmul__}
    assert [target for target in asked if target in behind] == []
    assert all(found[1] == again[1] for found in first)
    np.testing.assert_allclose(again[1], (f(Spring(3.0), 2.0 + 1e-6) - f(Spring(3.0), 2.0 - 1e-6)) / 2e-6)


def test_a_rule_for_a_method_counts_from_then_on():
    """What was found for a method is not taken for it when there is a rule."""

    class Cube:
        def volume(self, x):
            return x**3

    def f(cube, x):
        return cube.volume(x)

    for _ in range(3):
        assert rl.gradient(f, Cube(), 2.0)[1] == 12.0

    @rl.rrule_for(Cube.volume)
    def volume_rrule(cube, x):
        return x**3, lambda y_bar: (rl.NoTangent(), rl.NoTangent(), 100.0 * y_bar)

    assert rl.gradient(f, Cube(), 2.0)[1] == 100.0


def scaled_by(k):
    """A function that captures a number, a new one at each call; all have one text."""
    return lambda x, c=1.0: k * x * x + c


def asked_for(monkeypatch, code):
    """The functions of a text that the whole question is asked of from now on."""
    asked, ask = [], Pullbacks.ask

    def counting(self, target, args, kwargs):
        if getattr(target, "__code__", None) is code:
            asked.append(target)
        return ask(self, target, args, kwargs)

    monkeypatch.setattr(Pullbacks, "ask", counting)
    return asked


def test_functions_that_are_new_at_each_call_are_found_by_their_text(monkeypatch):
    """Of functions of one text the first is asked for, and the others are found by it."""

    def made_by(k):  # nobody has asked for this text before
        return lambda x, c=1.0: k * x * x + c

    def f(x):
        return sum([made_by(k)(x, x) for k in (1.0, 2.0, x)])

    asked = asked_for(monkeypatch, made_by(1.0).__code__)
    assert_right(f, 1.5)
    once = len(asked)
    assert_right(f, 1.5)
    assert (once, len(asked)) == (1, 1)


def test_what_a_function_has_of_its_own_counts_beside_others_of_its_text():
    """A rule, another text and other captured values of one function are its own, whatever others of its text
    do.
    """
    one, other = scaled_by(2.0), scaled_by(3.0)

    def f(x):
        return one(x, 0.0) + 10.0 * other(x, 0.0)

    assert rl.gradient(f, 1.0) == rl.gradient(f, 1.0) == (4.0 + 60.0,)
    rl.rrule_for(other)(
        lambda x, c=1.0: (other(x, c), lambda y_bar: (rl.NoTangent(), 7.0 * y_bar, rl.NoTangent()))
    )
    assert rl.gradient(f, 1.0) == (4.0 + 70.0,)
    rl.remove_rule(other)
    assert rl.gradient(f, 1.0) == (4.0 + 60.0,)
    one.__closure__[0].cell_contents = np.array([2.0, 1.0])
    assert rl.gradient(lambda x: f(x)[0], 1.0) == (4.0 + 60.0,)
    one.__closure__[0].cell_contents = 5.0
    other.__code__ = (lambda k: lambda x, c: k * x + c)(0.0).__code__
    assert rl.gradient(f, 1.0) == (10.0 + 30.0,)


def test_defaults_count_beside_others_of_the_same_text():
    """A default that has been changed, or is of another kind, is that of its function alone."""

    def f(g, x):
        return g(x) * x

    one, other = scaled_by(2.0), scaled_by(2.0)
    assert rl.gradient(f, one, 1.0)[1] == rl.gradient(f, other, 1.0)[1] == 7.0
    other.__defaults__ = (np.float64(4.0),)
    assert (rl.gradient(f, one, 1.0)[1], rl.gradient(f, other, 1.0)[1]) == (7.0, 10.0)
    other.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required"):
        rl.gradient(f, other, 1.0)
    assert rl.gradient(f, one, 1.0)[1] == 7.0
