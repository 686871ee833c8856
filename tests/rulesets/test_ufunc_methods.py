"""The methods of ufuncs: reduce, accumulate, outer, reduceat."""

import math
import re

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import MutationError, NotDifferentiableError, RuleLabError
from rulelab.rulesets.catalogue import tables
from rulelab.rulesets.ufunc_methods import BINARY, QUESTIONS, TABLE

from ..differences import gradient_by_differences

EVERYTHING = registry_of(*tables())


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every method of every ufunc of two arguments has the derivative that its values show, in both modes."""
    at_each(points, check)


@pytest.mark.parametrize("ufunc", BINARY, ids=str)
@pytest.mark.parametrize("name", ["reduce", "accumulate", "outer", "reduceat"])
def test_every_ufunc_with_a_derivative_has_its_methods(ufunc, name):
    """A ufunc that is differentiated is so through its methods too, in both modes."""
    method, v = getattr(ufunc, name), np.array([1.5, 2.5])
    args = {"outer": (v, v), "reduceat": (v, [0])}.get(name, (v,))
    for mode in ("rrule", "frule"):
        assert rule_at(EVERYTHING, canonical(method), args, mode) is not None


def canonical(method):
    from rulelab.rules.targets import resolve

    return resolve(method)[0]


@pytest.mark.parametrize("ufunc", QUESTIONS, ids=str)
def test_answers_have_no_derivative_whoever_collects_them(ufunc):
    """`np.logical_and.reduce(x > 0)` is a constant like `np.all`."""
    for method in (ufunc.reduce, ufunc.accumulate, ufunc.outer, ufunc.reduceat):
        rule = rule_at(EVERYTHING, canonical(method), (np.array([True]),), "rrule")
        assert rule is not None and not rule.differentiable


@pytest.mark.parametrize(
    ("method", "args", "expected"),
    [
        (np.maximum.accumulate, ([3.0, 3.0, 1.0],), [1.0, 2.0, 0.0]),
        (np.fmin.accumulate, ([3.0, np.nan, 3.0],), [3.0, 0.0, 0.0]),
        (np.floor_divide.reduce, ([7.5, 2.0],), [0.0, 0.0]),
        (np.hypot.reduce, ([0.0, 0.0, 0.0],), [0.0, 0.0, 0.0]),
        (np.subtract.reduceat, ([1.0, 2.0, 4.0], [2, 0]), [1.0, -1.0, 0.0]),
        (np.hypot.reduce, (np.zeros(0),), []),
        (np.hypot.reduce, ([0.0, 0.0, 3.0, -4.0],), [0.0, 0.0, 0.6, -0.8]),
        (np.hypot.reduce, ([3 * 2.0**700, 4 * 2.0**700],), [0.6, 0.8]),
        (np.add.reduceat, ([1.0, 2.0, 4.0], [0, 0, 1]), [2.0, 1.0, 1.0]),
    ],
)
def test_conventions_are_those_of_the_ufunc(method, args, expected):
    """At ties and kinks, and with nothing to reduce, a method does what its ufunc does."""
    args = tuple(np.array(a) if k == 0 else a for k, a in enumerate(args))
    np.testing.assert_array_equal(cotangents(TABLE, canonical(method), *args)[0], expected)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([0.0, 1e200, 1e200], [0.0, 0.5, 0.5]),
        ([1e16, 1e16, 1e16 + 2], [0.1065069789, 0.1065069789, 0.7869860422]),
        ([0.0, np.inf, 1.0], [0.0, 1.0, 0.0]),
        ([-np.inf, -np.inf], [0.0, 0.0]),
        ([-np.inf, 1.0, 1.0], [0.0, 0.5, 0.5]),
    ],
)
def test_shares_of_a_log_of_a_sum_add_up_to_one(numbers, expected):
    """Of large numbers, too, whose sum is rounded, and where one is infinite, in both modes."""
    v = np.array(numbers)
    np.testing.assert_allclose(rl.gradient(lambda v: np.logaddexp.reduce(v), v)[0], expected, rtol=1e-9)
    for k, slope in enumerate(expected):
        y_dot = rl.pushforward(lambda v: np.logaddexp.reduce(v), v)(np.eye(len(v))[k])
        np.testing.assert_allclose(y_dot, slope, rtol=1e-9)
    if np.all(np.isfinite(v)):
        curved = np.diag(expected) - np.outer(expected, expected)
        np.testing.assert_allclose(rl.hessian(lambda v: np.logaddexp.reduce(v), v), curved, atol=1e-9)


@pytest.mark.parametrize("ufunc", BINARY, ids=str)
@pytest.mark.parametrize("number", [-2.2, 0.7])
def test_one_number_alone(ufunc, number):
    """What it is reduced to differs: `hypot.reduce` gives its size, and a cut of it the number itself."""
    methods = (
        lambda x: np.sum(ufunc.reduce(x)),
        lambda x: np.sum(ufunc.accumulate(x)),
        lambda x: np.sum(ufunc.reduceat(x, [0])),
        lambda x: np.sum(ufunc.reduceat(np.stack([x, x * x]), [0], 1)),
        lambda x: np.sum(ufunc.reduceat(np.stack([x * x, x]), [1, 0], 0)[0]),
    )
    x = np.array([number])
    for f in methods:
        (wanted,) = gradient_by_differences(f, x)
        np.testing.assert_allclose(rl.gradient(f, x)[0], wanted, rtol=1e-6)
        np.testing.assert_allclose(rl.pushforward(f, x)(np.ones(1)), wanted, rtol=1e-6)


@pytest.mark.parametrize("options", [{"dtype": np.float32}, {"where": np.array([True, False])}])
def test_what_the_chain_does_not_cover_is_refused(options):
    """A dtype or a mask on a reduction without a rule of its own is an error, not ignored."""
    with pytest.raises(RuleLabError, match="subtract.reduce with"):
        cotangents(TABLE, canonical(np.subtract.reduce), np.array([1.0, 2.0]), **options)


@pytest.mark.parametrize("ufunc", [np.power, np.arctan2])
def test_a_reduction_that_numpy_gets_wrong_is_refused(ufunc):
    """Where the value is not that of one call after another, there is an error, not somebody else's slope."""
    v = np.array([0.5, 1.5, 2.0, 3.5])
    if np.isclose(ufunc.reduce(v), ufunc.accumulate(v)[-1]):
        (v_bar,) = cotangents(TABLE, canonical(ufunc.reduce), v)
        (chained,) = cotangents(TABLE, canonical(ufunc.accumulate), v, seed=[0.0, 0.0, 0.0, 1.0])
        np.testing.assert_allclose(v_bar, chained)
    else:
        with pytest.raises(RuleLabError, match="element by element gives"):
            cotangents(TABLE, canonical(ufunc.reduce), v)


X = np.array([1.5, 0.5, 2.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.sum(np.subtract.outer(x, x * x)), [-6.0, 0.0, -9.0]),
        (lambda x: np.multiply.accumulate(x)[-1], [1.0, 3.0, 0.75]),
        (lambda x: np.divide.reduce(x), [1.0, -3.0, -0.75]),
        (lambda x: np.add.reduceat(x * x, [0, 1])[1], [0.0, 1.0, 4.0]),
        (lambda x: np.maximum.reduce(x), [0.0, 0.0, 1.0]),
        (lambda x: np.power.outer(x, np.array([2.0]))[0, 0], [3.0, 0.0, 0.0]),
    ],
)
def test_methods_of_ufuncs_in_differentiated_code(f, expected):
    """They are found wherever they are called, though each access makes a new object."""
    np.testing.assert_allclose(rl.gradient(f, X)[0], expected)


UFUNCS = [np.add, np.multiply]


def one_after_another(x):
    total = 0.0
    for u in UFUNCS:
        total = total + u.reduce(x * x) + u.outer(x, x)[0, 1] + u.accumulate(x, axis=0)[-1]
    return total


def kept_by_the_function(u):
    return lambda x: u.reduce(x, axis=0, keepdims=True)[0] * u.reduceat(x, [0, 2])[1]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (one_after_another, (X,)),
        (kept_by_the_function(np.multiply), (X,)),
        (lambda x, u: u.reduce(*(x, 0)) * u(x[0], x[1]), (X, np.hypot)),
        (lambda x: sum([u.reduce(x) * x[0] for u in UFUNCS]), (X,)),
    ],
)
def test_methods_of_a_ufunc_that_a_variable_stands_for(f, args):
    """Which ufunc it is may not be known before the call: its rule is found then, in each mode and order."""
    of_x = lambda x: f(x, *args[1:])  # noqa: E731
    wanted = gradient_by_differences(of_x, X)
    np.testing.assert_allclose(rl.gradient(f, *args)[0], wanted, rtol=1e-6)
    np.testing.assert_allclose([rl.pushforward(of_x, X)(step) for step in np.eye(3)], wanted, rtol=1e-6)
    second = gradient_by_differences(lambda x: rl.gradient(of_x, x)[0] @ X, X)
    np.testing.assert_allclose(rl.hessian(of_x, X) @ X, second, rtol=1e-5)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, buffer: UFUNCS[0].reduce(x, 0, None, buffer[:1].reshape(())),
        lambda x, buffer: UFUNCS[0].accumulate(x, out=buffer),
        lambda x, buffer: UFUNCS[0].at(buffer, [0, 1], x[:2]),
        lambda x, buffer: np.add.reduce(x, 0, None, buffer[:1].reshape(())),
        lambda x, buffer: np.subtract.accumulate(x, 0, None, buffer),
        lambda x, buffer: np.add.reduceat(x, [0, 1, 2], 0, None, buffer),
        lambda x, buffer: np.add.outer(x, 1.0, out=buffer),
        lambda x, buffer: np.logical_and.reduce(x > 0, 0, None, buffer[:1].reshape(())),
        lambda x, buffer: np.add.at(buffer, [0, 1], x[:2]),
        lambda x, buffer: np.multiply.at(buffer, [0], 3.0),
        lambda x, buffer: np.negative.at(buffer, [0]),
    ],
)
def test_writes_through_methods_are_refused_before_they_happen(write):
    """`out` by position or name, and `at`: an error, and the array is as it was."""
    buffer = np.array([7.0, 8.0, 9.0])

    def writes(x):
        kept = np.sum(x * buffer)
        write(x, buffer)
        return kept

    with pytest.raises(MutationError):
        rl.gradient(writes, X)
    np.testing.assert_array_equal(buffer, [7.0, 8.0, 9.0])


@pytest.mark.parametrize("reduce", [np.float_power.reduce, lambda x: np.float_power.accumulate(x)[-1]])
@pytest.mark.parametrize("x", [[0.0, -1.0, -1.0], [1e-200, -2.0, -0.5], [2.25, 33.5, 109.75, -169.75]])
def test_a_power_that_comes_back_from_infinity_is_refused(reduce, x):
    """(x ** -1) ** -1 is x, of slope 1, at 0 too; in floats an infinite slope meets one of 0 there."""
    x = np.array(x)
    refused = pytest.raises(NotDifferentiableError, match="float_power that goes through infinity")
    with np.errstate(all="ignore"):
        with refused:
            rl.gradient(reduce, x)
        with refused:
            rl.pushforward(reduce, x)(np.ones(len(x)))
        assert np.isinf(np.float_power.reduce(x[:-1]))
        assert np.all(np.isfinite(rl.gradient(np.float_power.reduce, np.array([2.0, -1.0, -1.0]))[0]))


def test_a_slope_of_zero_does_not_hide_an_infinite_one():
    """(x ** 0.5) ** 2 is x: no 0 comes of 0 times infinity."""
    with np.errstate(all="ignore"):
        (x_bar,) = rl.gradient(np.float_power.reduce, np.array([0.0, 0.5, 2.0]))
    assert not x_bar[0] == 0.0


def test_a_power_of_zero_ends_a_chain_of_powers():
    """((0 ** 0) ** 0) ** 0 is 1 whatever the first two are, also where their own slope is infinite."""
    x, wanted = np.array([0.0, 0.0, 0.0, 2.0]), np.zeros(4)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(rl.gradient(np.float_power.reduce, x)[0], wanted)
        push = rl.pushforward(np.float_power.reduce, x)
        assert [push(step) for step in np.eye(4)] == [0.0, 0.0, 0.0, 0.0]
    links = rl.gradient(lambda x: np.sum(np.float_power.accumulate(x)), np.array([2.0, 0.0, 3.0]))[0]
    np.testing.assert_allclose(links, [1.0, 4.0 * np.log(2.0), 0.0])  # what is asked of a link counts


def slope_along_the_first(f, x):
    return (rl.pushforward(f, x)(np.array([1.0, 0.0, 0.0])),)


@pytest.mark.parametrize("derive", [rl.gradient, slope_along_the_first])
def test_powers_of_one_hide_no_lost_link(derive):
    """All powers of 1 are 1: where NumPy drops an exponent the value does not show it, and slopes do."""
    x = np.array([1.0, -2.25, 0.5])
    if np.isclose(np.power.reduce(np.array([2.0, *x[1:]])), (2.0 ** x[1]) ** x[2]):
        assert np.ravel(derive(np.power.reduce, x)[0])[0] == pytest.approx(x[1] * x[2])
    else:
        with pytest.raises(NotDifferentiableError, match="with a 2 in place of the first 1"):
            derive(np.power.reduce, x)


POWERS = {
    "reduce": np.float_power.reduce,
    "accumulate": lambda x: np.float_power.accumulate(x)[-1],
    "reduceat": lambda x: np.float_power.reduceat(x, [0])[0],
    "outer": lambda x: np.float_power.outer(np.float_power.reduce(x[:-1]), x[-1:])[0],
}


def jacobian_of_gradient(f, x):
    return rl.jacobian(lambda x: rl.gradient(f, x)[0], x)[0]


@pytest.mark.every(3)
@pytest.mark.parametrize("second", [rl.hessian, jacobian_of_gradient])
@pytest.mark.parametrize("x", [[0.5, 0.0], [0.5, 2.0, 0.0], [0.5, 0.0, 1.5], [1.5, 0.0, 0.0]])
@pytest.mark.parametrize("method", POWERS)
def test_second_derivatives_where_a_power_of_zero_ends_the_chain(method, x, second):
    """`y ** 0` is 1 whatever y is, but its slope by y does not stay 0 as the exponent moves."""
    chained, x, h = POWERS[method], np.array(x), 1e-4

    def slope(u, x):
        return (chained(x + u) - chained(x - u)) / (2 * h)

    steps = h * np.eye(len(x))
    wanted = [[(slope(u, x + v) - slope(u, x - v)) / (2 * h) for u in steps] for v in steps]
    np.testing.assert_allclose(second(chained, x), wanted, rtol=1e-4, atol=1e-5)


def by_methods(v):
    table = np.multiply.outer(v, v)
    return np.sum(np.add.accumulate(v) * np.maximum.reduce(table, 1)) + np.add.reduce(table * table, None)


def test_a_constant_operand_stays_one():
    """Beside an infinite slope, too: that of 0 ** 0.5 by the base."""
    base = np.array([0, 2])
    f = lambda p: np.power.outer(base, p)
    wanted = [[0.0], [math.sqrt(2) * math.log(2)]]
    np.testing.assert_allclose(rl.pushforward(f, np.array([0.5]))(np.ones(1)), wanted)


def test_methods_are_known_by_their_names():
    """Nothing is looked up for one of a ufunc that the text names, and a rule of the author's comes first."""
    v = np.array([0.5, 1.5, 1.25])
    text = rl.adjoint_source(by_methods, v)
    body = "\n".join([line for line in text.splitlines() if not line.lstrip().startswith("#")])
    assert len(re.findall(r"_rule\w*\(", body)) == 4 and not re.search(r"_at(_\d+)?\(", body)
    wanted = gradient_by_differences(by_methods, v)
    found = [rl.gradient(by_methods, v)[0] for _ in range(4)]
    assert all(np.array_equal(found[0], one) for one in found) and found[0] == pytest.approx(wanted, rel=1e-6)
    rl.rrule_for(np.add.accumulate)(lambda x: (np.cumsum(x), lambda y_bar: (rl.NoTangent(), 0.0 * y_bar)))
    try:
        assert rl.gradient(by_methods, v)[0] != pytest.approx(wanted, rel=1e-3)
    finally:
        rl.remove_rule(np.add.accumulate)
    assert np.array_equal(rl.gradient(by_methods, v)[0], found[0])


@pytest.mark.parametrize(
    "text", ["np.add.at(w, [0], v[1])", "np.add.reduce(v * v, 0, None, w[0])", "np.add.accumulate(v, out=w)"]
)
def test_methods_that_write_are_refused_as_ever(text, tmp_path):
    """Also those whose names are certain."""
    names = {"np": np}
    source = f"def f(v):\n    w = v * 1.0\n    {text}\n    return np.sum(w)\n"
    path = tmp_path / "writing.py"
    path.write_text(source)
    exec(compile(source, str(path), "exec"), names)
    for _ in range(3):
        with pytest.raises((MutationError, TypeError)):
            rl.gradient(names["f"], np.array([0.5, 1.5, 1.25]))
