"""Stand-ins do what the functions do that they stand for, value for value and error for error."""

import heapq
import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelab as rl
from rulelab.errors import ForeignCallError
from rulelab.rulesets import standins

from ..differences import gradient_by_differences

TARGETS = [target for target, stand_in in standins.TABLE.stand_ins if stand_in.function is not None]
M = np.arange(24.0).reshape(2, 3, 4) + 1.0


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("f", [np.sum, np.cumsum, lambda r: r[:2], lambda r: np.outer(r, r)])
def test_apply_along_axis(axis, f):
    """Shapes and values for results of every dimension."""
    wanted = np.apply_along_axis(f, axis, M)
    found = standins.apply_along_axis(f, axis, M)
    assert found.shape == wanted.shape and np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("conditions", "pieces"),
    [
        ([0, 1], [2.0, 3.0]),
        ([0], [np.square]),
        ([0, 1], [np.square, 3.0, np.negative]),
        ([1, 0], [lambda v: v * 2, np.square]),
    ],
)
@pytest.mark.parametrize("x", [np.array([0.5, -1.5, 2.0]), np.array(0.5)])
def test_piecewise(x, conditions, pieces):
    """Functions and numbers, with and without one for the rest; a later condition wins."""
    masks = [[x < 1, x > 0][k] for k in conditions]
    found, wanted = standins.piecewise(x, masks, pieces), np.piecewise(x, masks, pieces)
    assert np.array_equal(found, wanted) and np.shape(found) == np.shape(wanted)


def test_fromiter():
    """Items, their count and their type."""
    assert np.array_equal(standins.fromiter(iter([1.0, 2.0, 3.0]), float, 2), [1.0, 2.0])
    assert np.fromiter([1, 2], "f4").dtype == standins.fromiter([1, 2], "f4").dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum([x], "")[0],
        lambda x: np.apply_along_axis(np.sum, 5, np.array([x])),
        lambda x: np.apply_along_axis(np.sum, 0, np.zeros((2, 0)) * x),
        lambda x: np.piecewise(np.array([x]), [[True]], [1.0, 2.0, 3.0]),
        lambda x: np.fromiter([x], float, 3),
        lambda x: np.fromiter([x]),
    ],
)
def test_a_wrong_call_fails_as_without_us(f):
    """The type of the error is the original's, and so are the first words."""
    with pytest.raises(Exception) as wanted:
        f(1.5)
    with pytest.raises(wanted.type) as found:
        rl.gradient(f, 1.5)
    assert str(found.value).split()[:3] == str(wanted.value).split()[:3]


def test_a_refusal_inside_of_a_stand_in_is_at_the_authors_line():
    """No line of the package is shown, and none among the calls that lead there."""

    def through(xs):
        x = np.array(xs)
        return np.sum(np.piecewise(x, [x > 0], [lambda v: np.apply_over_axes(np.sum, v, 0)]))

    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(through, [0.5, -0.5])
    error = caught.value
    places = [error.place, *error.chain]
    assert all(place.filename == __file__ for place in places), places
    assert "_placed" not in str(error)


def test_sum_of_other_things_than_numbers():
    """Lists, and rows of an array in a list of lists."""
    assert rl.gradient(lambda a, b: sum([[a], [b]], [])[1] * a, 2.0, 3.0) == (3.0, 2.0)
    assert sum(itertools.chain([[1.0]]), []) == standins.sum_([[1.0]], [])


NUMBERS = st.one_of(st.integers(0, 3), st.floats(0, 3))


@given(st.lists(NUMBERS, max_size=9), st.lists(NUMBERS, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_heaps_lie_as_pythons(xs, more):
    """Item for item after each operation, equal numbers of other types told apart."""

    def shown(heap):
        return list(map(repr, heap))

    ours, pythons = list(xs), list(xs)
    heapq.heapify(pythons)
    standins.heapify(ours)
    for v in more:
        assert shown(ours) == shown(pythons)
        heapq.heappush(pythons, v)
        standins.heappush(ours, v)
        assert repr(standins.heappop(ours)) == repr(heapq.heappop(pythons))
        assert repr(standins.heappushpop(ours, v)) == repr(heapq.heappushpop(pythons, v))
        if ours:
            assert repr(standins.heapreplace(ours, v)) == repr(heapq.heapreplace(pythons, v))
    for key in (None, lambda v: -v):
        for n in (-1, 0, 1, 3):
            assert shown(standins.nsmallest(n, xs, key)) == shown(heapq.nsmallest(n, xs, key))
            assert shown(standins.nlargest(n, xs, key)) == shown(heapq.nlargest(n, xs, key))
        for backwards in (False, True):
            rows = [sorted(xs, key=key, reverse=backwards), more, xs]
            wanted = heapq.merge(*rows, key=key, reverse=backwards)
            assert shown(standins.merge(rows, key=key, reverse=backwards)) == shown(wanted)


UFUNCS = [target for target in TARGETS if isinstance(target, np.ufunc)]


@pytest.mark.every(13)
@pytest.mark.parametrize("target", UFUNCS, ids=lambda target: target.__name__)
def test_every_ufunc_takes_lists(target):
    """A list or tuple of numbers that vary gives what the array of them gives, up to second derivatives."""
    rng = np.random.default_rng(5)
    first = 0.2 + 0.6 * rng.random(3)
    first = first + 1.0 if target is np.arccosh else first
    second = np.array([1, 2, 3]) if target is np.ldexp else 0.3 + 0.6 * rng.random(3)
    rest = (second,)[: target.nin - 1]

    def of_arrays(v):
        return scalar(target(v, *rest))

    def of_items(v):
        return scalar(target([v[0], v[1], v[2]], *[tuple(w.tolist()) for w in rest]))

    def scalar(y):
        return np.sum((y[0] if isinstance(y, tuple) else y) * np.array([1.0, 2.0, 3.0]))

    assert of_items(first) == of_arrays(first)
    wanted = rl.gradient(of_arrays, first)
    found = rl.gradient(of_items, first)
    constant = [x_bar is None or not np.any(x_bar) for (x_bar,) in (found, wanted)]
    assert constant[0] == constant[1]
    if not any(constant):
        assert np.allclose(found[0], wanted[0], rtol=1e-12)
        assert np.allclose(rl.hessian(of_items, first), rl.hessian(of_arrays, first), rtol=1e-9)
    assert rl.pushforward(of_items, first)(first) == pytest.approx(rl.pushforward(of_arrays, first)(first))


OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow, pow)


@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("target", OPERATORS, ids=lambda target: target.__name__)
def test_an_operator_takes_a_list_beside_an_array(target, reflected):
    """On either side, of numbers that vary, beside a number of NumPy's as well; by differences."""

    def program(v):
        total = 0.0
        for left in (v, np.sum(v)) if target is not operator.mul else (v,):  # a number repeats a list
            for right in ([v[0] + 1.0, 2.0, 0.7], (1.2, v[1] * 1.7, 0.7)):
                total = total + np.sum(target(right, left) if reflected else target(left, right))
        return total

    at = np.array([1.3, 2.2, 0.6])
    slopes = [(program(at + h) - program(at - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    assert np.allclose(rl.gradient(program, at)[0], slopes, rtol=1e-5)
    assert np.allclose(rl.jacobian(program, at, mode="forward")[0], slopes, rtol=1e-5)


def test_lists_beside_lists_and_numbers_are_pythons():
    """No array is made where NumPy would make none."""
    assert rl.gradient(lambda x: ([x] + [2 * x])[1], 3.0) == (2.0,)
    assert rl.gradient(lambda x: ([x, 1.0] * 2)[2], 3.0) == (1.0,)
    for wrong in (lambda x: [x] * 2.0, lambda x: [x] + (x,), lambda x: [x] - [x], lambda x: [x] ** 2):
        with pytest.raises(TypeError) as wanted:
            wrong(2.0)
        with pytest.raises(TypeError) as found:
            rl.gradient(wrong, 2.0)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(x[i] ** 2 * k for k, i in enumerate(sorted(range(4), key=x.__getitem__))),
        lambda x: x[max(range(4), key=x.__getitem__)] ** 2 * x[0],
        lambda x: sum(map(x.__getitem__, [0, 2, 2])) * x[1],
        lambda x: (lambda item: item(2) * item(slice(1, 3))[0])(x.__getitem__),
        lambda x: np.sum(np.ndarray.__getitem__(x, x > 1.5) ** 2),
    ],
)
def test_items_of_an_array_by_the_method(f):
    """As a key, as a function, in both modes and at the second order."""
    x, v = np.array([3.0, 1.0, 4.0, 2.0]), np.array([1.0, -1.0, 0.5, 2.0])
    wanted = gradient_by_differences(f, x)
    np.testing.assert_allclose(rl.gradient(f, x)[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(rl.pushforward(f, x)(v), wanted @ v, rtol=1e-6)
    twice = gradient_by_differences(lambda x: rl.gradient(f, x)[0] @ v, x)
    np.testing.assert_allclose(rl.hessian(f, x) @ v, twice, rtol=1e-5, atol=1e-6)
