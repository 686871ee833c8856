"""Tuples, lists and dicts that a function makes and reads by constant positions or keys are taken apart."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.reading import adjoint_source

from ..agreeing import check_second_derivative, check_slope


def pair(x):
    both = (x * x, math.sin(x))
    return both[0] * both[-1]


def nested(x):
    (a, b), c = (x * x, x + 1.0), [2.0 * x]
    return a * b + c[0]


def by_key(x):
    p = {"w": x * x, "b": 2.0 * x}
    return p["w"] * 3.0 + p["b"] * p["w"]


def chosen(x):
    both = (x, 2.0) if x > 1 else (3.0 * x, x)
    return both[0] * both[1]


def carried_by_a_loop(x):
    state = (x, 1.0)
    for _ in range(4):
        state = (state[1] * x, state[0] + state[1])
    return state[0] * state[1]


def carried_list(x):
    state, k = [x, x * x], 0
    while k < 4:
        state = [state[1], state[0] * state[1]]
        k += 1
    return state[0] + 0.1 * state[1]


def carried_dict(x):
    s = {"place": x, "speed": 1.0}
    for _ in range(5):
        s = {"place": s["place"] + 0.1 * s["speed"], "speed": s["speed"] - 0.1 * s["place"]}
    return s["place"] * s["speed"]


def step(state, force):
    place, speed = state
    return place + 0.1 * speed, speed + 0.1 * force * place


def by_a_helper(x):
    state = (x, 0.5)
    for _ in range(5):
        state = step(state, x)
    return state[0] ** 2 + state[1]


def exchanged(x):
    a, b = x, x * x
    for _ in range(3):
        a, b = b, a * b
    return a + b


def under_two_names(x):
    one = [x * x, x]
    other = one
    a, b = other
    return a * other[1] + b * one[0]


def in_a_container(x):
    rows = ((x, 2.0), (x * x, x))
    return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]


ALL = [
    *(pair, nested, by_key, chosen, carried_by_a_loop, carried_list, carried_dict),
    *(by_a_helper, exchanged, under_two_names, in_a_container),
]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_derivatives_of_all_modes_and_orders(f):
    check_slope(f, 1.3)
    check_slope(f, 0.7)
    check_second_derivative(f, 1.3)


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_no_container_is_left(f):
    """No line of either sweep makes one of them or asks for its parts."""
    text = adjoint_source(f, 1.3)
    for word in ("part(", "put_item(", "put_each(", "publish", "= [x", "= (x", '{"', "{'"):
        assert word not in text, text


def changed(x):
    d = {"a": x}
    d["a"] = x * x
    return d["a"] * 3.0


def seen_elsewhere(x):
    state = [x, 1.0]

    def change():
        state[0] = x * x

    change()
    return state[0] * state[1]


def given_away(x):
    both = (x, x * x)
    return sum(both) * both[0]


def of_two_lengths(x):
    both = (x, 2.0 * x) if x > 1 else (x,)
    return both[0] * x


def read_by_number(x):
    both, total = (x, x * x), 0.0
    for k in range(2):
        total += both[k] * (k + 1) + both[0]
    return total


def of_equal_keys(x):
    d = {"a": x, "a": x * x}  # noqa: F601
    return d["a"]


@pytest.mark.parametrize(
    "f",
    [changed, seen_elsewhere, given_away, of_two_lengths, read_by_number, of_equal_keys],
    ids=lambda f: f.__name__,
)
def test_containers_that_must_stay(f):
    check_slope(f, 1.3)
    check_slope(f, 0.7)


def outside(x):
    both = (x, x)
    return both[2]


def without_key(x):
    d = {"a": x}
    return d["b"]


def too_many(x):
    a, b, c = (x, x)
    return a + b + c


@pytest.mark.parametrize("f, error", [(outside, IndexError), (without_key, KeyError), (too_many, ValueError)])
def test_errors_are_those_of_python(f, error):
    with pytest.raises(error) as expected:
        f(1.0)
    with pytest.raises(error) as found:
        rl.gradient(f, 1.0)
    assert str(found.value) == str(expected.value)


def test_what_is_not_read_of_a_container_has_the_gradient_zero():
    """As before: a container that is read counts as used as a whole, one that is not read as unused."""

    def first(x, y):
        both = (x, y)
        return both[0] * 2.0

    def beside_a_power(x, y):
        both = (abs(y) ** 0.5, x * x)
        return both[1]

    def beside_an_array(x, y):
        both = {"a": y * 2.0, "b": x * x}
        return both["b"]

    def neither(x, y):
        both = [y, y]  # noqa: F841
        return x * 2.0

    def of_a_loop(x, y, z):
        state = (x, y)
        for _ in range(2):
            state = (state[0] * 2.0, z)
        return state[0]

    for _ in range(3):
        assert rl.gradient(first, 1.0, 2.0) == (2.0, 0.0)
        assert rl.gradient(beside_a_power, 1.0, 2.0) == (2.0, 0.0)
        slope, zeros = rl.gradient(beside_an_array, 1.0, np.ones(3))
        assert slope == 2.0 and np.array_equal(zeros, np.zeros(3))
        assert rl.gradient(neither, 1.0, 2.0) == (2.0, None)
        assert rl.gradient(of_a_loop, 1.0, 2.0, 3.0) == (4.0, 0.0, 0.0)


def test_arrays_keep_their_identity():
    """An array that is written to after it was put into a list is the same one in the list."""

    def f(x):
        rows = [x * 1.0, x * 2.0]
        first = rows[0]
        first[0] = 5.0
        return np.sum(rows[0] * rows[1])

    x = np.array([1.0, 3.0])
    assert f(x) == 5.0 * 2.0 + 18.0
    try:
        (found,) = rl.gradient(f, x)
    except rl.RuleLabError:
        return  # a typed error is right, too
    np.testing.assert_allclose(found, [10.0, 12.0])


def appended(x):
    out = [x]
    for _ in range(4):
        out.append(out[-1] * x + out[0])
    return out[-1] + out[2]


def appended_and_summed(x):
    out = [x, 1.0]
    for k in range(4):
        if k != 2:
            out.append(out[k] * x)
    return sum(out) * out[-1] + len(out)


def appended_and_looped(x):
    out, total = [x], 0.0
    for _ in range(3):
        out.append(out[-1] ** 2)
    for v in out:
        total += v * out[1]
    return total


def appended_in_a_branch(x):
    out = [x]
    if x > 1:
        out.append(x * x)
    return out[-1] * out[0]


def appended_in_two_loops(x):
    out = [1.0]
    for i in range(2):
        for j in range(2):
            out.append(out[-1] * x + out[i + j])
    return out[-1] * out[-2]


@pytest.mark.parametrize(
    "f",
    [appended, appended_and_summed, appended_and_looped, appended_in_a_branch, appended_in_two_loops],
    ids=lambda f: f.__name__,
)
def test_lists_that_are_appended_to_and_read_back(f):
    """Their cotangents are in a list beside them, as of those whose items are assigned to."""
    assert "_bars" in adjoint_source(f, 1.3)
    check_slope(f, 1.3)
    check_slope(f, 0.7)
    check_second_derivative(f, 1.3)


def appended_and_given_back(x):
    out = [x]
    for _ in range(3):
        out.append(out[-1] * x)
    return out


def appended_arrays(x):
    out = [x * np.ones(2)]
    for _ in range(2):
        out.append(out[-1] * x)
    return float(np.sum(out[-1] * out[0]))


def appended_and_cut(x):
    out = [x]
    for _ in range(3):
        out.append(out[-1] * x)
    return sum(out[1:])


@pytest.mark.parametrize(
    "f",
    [lambda x: appended_and_given_back(x)[2], appended_arrays, appended_and_cut],
    ids=["given back", "arrays", "slices"],
)
def test_lists_that_are_read_in_other_ways(f):
    check_slope(f, 1.3)
