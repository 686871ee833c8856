"""Python's operators and builtins: derivatives, containers, values at kinks."""

import builtins
import math
import operator

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets.operators import TABLE
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent, ZeroTangent

SHAPES = [(), (1,), (3,), (2, 1), (1, 3), (2, 3), (0, 3), (0, 1)]
BROADCASTS = [(a, b) for a in SHAPES for b in SHAPES if {2, 0} - {*a[:-1], *b[:-1]}]
ZERO = ZeroTangent()


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every operator and computing builtin has the derivative that its values show."""
    at_each(points, check)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod]
)
@pytest.mark.parametrize(("left", "right"), BROADCASTS, ids=str)
def test_every_broadcast_gives_cotangents_of_the_operands_shapes(op, left, right):
    """Whatever was broadcast against whatever, a gradient has the shape of its argument."""
    x_bar, y_bar = cotangents(TABLE, op, np.full(left, 1.5), np.full(right, 2.5))
    assert np.shape(x_bar) == left and np.shape(y_bar) == right


@pytest.mark.parametrize(
    ("target", "args", "expected"),
    [
        (abs, (0.0,), (0.0,)),
        (abs, (0,), (0.0,)),
        (operator.pow, (0.0, 1), (1.0, 0.0)),
        (operator.pow, (0.0, 0), (0.0, math.nan)),
        (operator.pow, (0, 3), (0.0, 0.0)),
        (operator.pow, (0.0, 0.5), (math.inf, 0.0)),
        (operator.pow, (-2, 3), (12.0, -8.0 * math.log(2.0))),
        (operator.mod, (6, 3), (math.nan, math.nan)),
        (operator.mod, (-7.0, 4.0), (1.0, 2.0)),
        (operator.floordiv, (7.0, 2.0), (0.0, 0.0)),
        (max, (1.0, 1.0), (ZERO, 1.0)),
        (max, (2.0, 1.0, 2.0), (ZERO, ZERO, 1.0)),
        (min, (1.0, 1.0), (1.0, ZERO)),
        (max, (math.nan, 1.0), (1.0, ZERO)),
        (max, (1.0, math.nan), (1.0, ZERO)),
    ],
)
def test_conventions_where_there_is_no_one_derivative(target, args, expected):
    """At a kink, a tie or a jump the gradient is the one that the documentation states."""
    got = cotangents(TABLE, target, *args)
    assert [g is ZERO for g in got] == [e is ZERO for e in expected]
    np.testing.assert_allclose(
        [g for g in got if g is not ZERO], [e for e in expected if e is not ZERO], rtol=1e-14
    )


def test_the_first_of_the_largest_items_has_it_all():
    """`max(xs)` of equal items: one of them, the first, gets the gradient; it is not counted twice."""
    (x_bar,) = cotangents(TABLE, max, [1.0, 3.0, 3.0])
    assert list(x_bar) == [ZERO, 1.0, ZERO]


@pytest.mark.parametrize("extreme", [max, min])
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((1.5, 0.5), {"key": lambda v: v * 0}),
        ((0.5, 1.5, -1.5), {"key": abs}),
        ((1, 1.0), {}),
        ((1.0, np.float32(1.0)), {"key": None}),
        ((0.0, -0.0), {}),
        (([1.5], [1.5]), {}),
        (((1.5, 2.0), (1.5, 2.0)), {"key": len}),
        ((np.array([1.5]), np.array([1.5])), {}),
    ],
    ids=["key of 0", "key of abs", "int", "float32", "zeros", "lists", "tuples", "arrays"],
)
def test_of_several_arguments_that_compare_equal_the_first_is_returned(extreme, args, words):
    """Equal arguments, or those with equal keys, may differ: in value, kind, sign or identity."""
    wanted = extreme(*args, **words)
    y, back = rule_at(registry_of(TABLE), extreme, args, "rrule").function(*args, **words)
    assert y is wanted
    if words.get("key") is not None and isinstance(y, float):
        _, *bars = back(1.0)
        assert [bar is not ZERO for bar in bars] == [arg is wanted for arg in args]
        value, *slopes = rl.withgradient(lambda x: extreme(x, *args[1:], **words), args[0])
        assert (value, slopes) == (wanted, [(float(wanted is args[0]),)])
        slope = rl.pushforward(lambda x: extreme(x, *args[1:], **words), args[0])(1.0)
        assert slope == float(wanted is args[0])


def test_max_of_nothing_is_the_primals_own_error():
    """An empty sequence raises what Python raises, and `default=` is honoured."""
    with pytest.raises(ValueError, match="empty|arg"):
        cotangents(TABLE, max, [])
    assert cotangents(TABLE, max, [], default=2.0) == (ZERO,)


@pytest.mark.parametrize(("args", "is_complex"), [((2.0, 3), False), ((-8.0, 1 / 3), True)])
def test_power_of_python_numbers_returns_what_python_returns(args, is_complex):
    """`(-8.0) ** (1/3)` is complex in Python, and its cotangents are real all the same."""
    rule = rule_at(registry_of(TABLE), operator.pow, args, "rrule")
    y, _ = rule.function(*args)
    assert y == operator.pow(*args) and isinstance(y, complex) == is_complex
    assert all(np.asarray(b).dtype == float for b in cotangents(TABLE, operator.pow, *args))


def test_text_is_no_arithmetic():
    """Formatting and joining strings goes through the same operators and carries no cotangent."""
    registry = registry_of(TABLE)
    for target, args in ((operator.mod, ("%f", 2.0)), (operator.add, ("a", "b")), (operator.mul, ("a", 3))):
        y, pullback = rule_at(registry, target, args, "rrule").function(*args)
        assert y == target(*args) and pullback(1.0) == (NoTangent(),)


def test_lists_do_not_meet_the_rules_of_numbers():
    """`xs + ys` of lists joins them; it is never differentiated as a sum, nor `xs * 2` as a product."""
    a_bar, b_bar = cotangents(TABLE, operator.add, [1.0], [2.0, 3.0], seed=Tangent(list, 5.0, 6.0, 7.0))
    assert list(a_bar) == [5.0] and list(b_bar) == [6.0, 7.0]
    (a_bar,) = cotangents(TABLE, operator.mul, [1.0, 2.0], 2, seed=Tangent(list, 1.0, 2.0, 4.0, 8.0))
    assert list(a_bar) == [5.0, 10.0]


def test_merged_dicts_give_back_to_whom_the_entry_came_from():
    """`a | b`: where both have a key, `b` wins the value and the gradient."""
    rule = rule_at(registry_of(TABLE), operator.or_, ({}, {}), "rrule")
    y, pullback = rule.function({"u": 1.0, "v": 2.0}, {"v": 3.0})
    assert y == {"u": 1.0, "v": 3.0}
    _, a_bar, b_bar = pullback({"u": 10.0, "v": 20.0})
    assert a_bar["u"] == 10.0 and a_bar["v"] is ZERO and b_bar["v"] == 20.0


def test_sum_of_lists_is_refused_with_a_reason():
    """`sum` joins nothing here: lists of lists are an error that says what to do."""
    with pytest.raises(RuleLabError, match="sum is differentiated for numbers and arrays only"):
        cotangents(TABLE, sum, [[1.0], [2.0]], [])


@pytest.mark.parametrize(
    "target", [operator.lt, operator.eq, operator.is_, len, isinstance, print, operator.contains]
)
def test_questions_have_no_derivative(target):
    """Comparisons and inspections are known to carry nothing, so that they never stop a gradient."""
    rule = rule_at(registry_of(TABLE), target, ([1.0], 2.0), "rrule")
    assert rule is not None and not rule.differentiable


@pytest.mark.parametrize(
    "target", [builtins.enumerate, builtins.zip, builtins.map, builtins.reversed, builtins.iter]
)
def test_what_hands_values_on_is_not_declared_constant(target):
    """Iterators carry the values they run over; a declaration here would lose their gradients silently."""
    assert rule_at(registry_of(TABLE), target, ([1.0],), "rrule") is None


LARGE = 2**70 + 3  # of more than 64 bits
OF_LARGE = {
    "remainder": (lambda x: x % 7, 1.0),
    "remainder of a float": (lambda x: x % 7.5, 1.0),
    "divisor": (lambda x: 7 % x, 0.0),
    "quotient and remainder": (lambda x: divmod(x, 7)[0] + divmod(x, 7)[1], 1.0),
    "math.pow": (lambda x: math.pow(x, 2), 2.0 * LARGE),
    "exponent": (lambda x: LARGE ** (x / LARGE), math.log(LARGE)),
    "between 64 bits and 1e20": (lambda x: (10**20 - 1) ** (x / LARGE), math.log(1e20) * 1e20 / LARGE),
    "power": (lambda x: x**0.5, 0.5 * LARGE**-0.5),
    "quotient": (lambda x: 1 / x, -1.0 / LARGE**2),
}


@pytest.mark.parametrize("name", OF_LARGE)
def test_whole_numbers_of_more_than_64_bits_have_slopes(name):
    """NumPy makes objects of them, which its functions do not take."""
    f, wanted = OF_LARGE[name]
    value, (slope,) = rl.withgradient(f, LARGE)
    assert (type(value), value) == (type(f(LARGE)), f(LARGE)) and slope == pytest.approx(wanted)
    assert rl.pushforward(f, LARGE)(1.0) == pytest.approx(wanted)
    seconds = [
        rl.gradient(lambda t: rl.gradient(f, t)[0], LARGE)[0],
        rl.gradient(lambda t: rl.pushforward(f, t)(1.0), LARGE)[0],
        rl.pushforward(lambda t: rl.gradient(f, t)[0], LARGE)(1.0),
        rl.pushforward(lambda t: rl.pushforward(f, t)(1.0), LARGE)(1.0),
    ]
    seconds = [0.0 if second is None else second for second in seconds]
    assert seconds == pytest.approx([seconds[0]] * 4, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    "power",
    [lambda n: pow(n, 2, 7), lambda n: pow(n, -1, 7), lambda n: pow(n, 2, None)],
    ids=["2", "-1", "None"],
)
def test_a_power_with_a_modulus_is_plain_or_refused(power):
    """A third argument of `pow` is seen in all modes, of a constant and of what varies."""
    assert rl.gradient(lambda x: x * power(3), 1.5) == (power(3),)
    assert rl.pushforward(lambda x, n: x * power(n), 1.5, 3)(1.0, None) == power(3)
    with pytest.raises(RuleLabError, match="pow"):
        rl.gradient(lambda x, n: x * power(n), 1.5, 3)
    with pytest.raises(RuleLabError, match="pow"):
        rl.pushforward(lambda n: power(n) * 1.0, 3)(1.0)
