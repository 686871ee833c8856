"""Loops in both sweeps: what a turn leaves on the tape, and what the reverse sweep works out again."""

import math
import re
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import Cache

from ...differences import gradient_by_differences


def logistic(r, x):
    for _ in range(6):
        x = r * x * (1.0 - x)
    return x


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def in_turn(a, b):
    s = 0.0
    for i in range(4):
        t = a * i
        u = t + b
        v = -u
        w = v / (2.0 + u)
        if i % 2:
            s = s + w * t * math.exp(v)
        else:
            s = s - w * w
    return s * t


def nested(a, b):
    s = a
    for _ in range(3):
        k = s * b
        for _ in range(2):
            m = k + s
            s = s * m - k
        s = s / (1.0 + m * m)
    return s


@pytest.mark.parametrize(
    ("f", "at"),
    [(logistic, (3.1, 0.3)), (newton, (2.0,)), (in_turn, (0.4, 0.7)), (nested, (0.4, 0.7))],
)
def test_what_is_worked_out_again_is_what_it_was(f, at):
    found = np.array(rl.gradient(f, *at, cache=Cache()))
    np.testing.assert_allclose(found, gradient_by_differences(lambda x: f(*map(float, x)), at), rtol=1e-6)
    with_numpys = rl.gradient(f, *map(np.float64, at), cache=Cache())
    np.testing.assert_allclose(found, np.array(with_numpys), rtol=1e-15)
    _, back = rl.pullback(f, *at)
    assert back(1.0) == back(1.0) == tuple(found)
    second = rl.hessian(lambda x: f(*x), np.array(at))
    wanted = gradient_by_differences(lambda x: np.array(rl.gradient(f, *map(float, x))), at, 1e-5)
    np.testing.assert_allclose(second, wanted, rtol=1e-5, atol=1e-6)


def taped(f, *args):
    """What the turns of a loop leave on their tapes."""
    return re.findall(r"tape\w*\.append\((.*)\)", rl.adjoint_source(f, *args))


def test_sums_and_products_of_floats_are_not_kept():
    assert taped(logistic, 3.1, 0.3) == ["x_1"]
    assert taped(newton, 2.0) == ["x"]


def test_numbers_of_numpy_are_kept_since_they_would_warn_again():
    assert taped(logistic, np.float64(3.1), np.float64(0.3)) != ["x_1"]

    def f(x):
        s = x
        for _ in range(3):
            u = s * 1e200
            s = s + 1.0 / (1.0 + u * u)
        return s

    def told(ask):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ask()
        return [str(one.message) for one in seen]

    plain = told(lambda: f(np.float64(2.0)))
    assert plain and told(lambda: rl.pullback(f, np.float64(2.0), cache=Cache()))[: len(plain)] == plain


def test_functions_powers_and_values_of_a_branch_are_kept():
    def f(x):
        s = x
        for i in range(3):
            u = math.sin(s)
            v = s**3
            if i:
                w = s * x
            else:
                w = x
            s = u * v * w
        return s

    (kept,) = taped(f, 0.3)
    assert len(kept.strip("()").split(", ")) >= 4
    (found,) = rl.gradient(f, 0.3)
    np.testing.assert_allclose(found, gradient_by_differences(f, 0.3), rtol=1e-5)


def over_a_range(x, n):
    s = x
    for i in range(n):
        s = math.sin(s) * i + x
    return s


def backwards(x, n):
    s = x
    for i in range(n, -2, -2):
        for k in range(i, 4):
            s = math.sin(s) * k + x * i
    return s


def that_leaves(x, n):
    s = x
    for i in range(n):
        s = math.sin(s) * i + x
        if s > 1.5:
            break
    return s * i


def that_goes_on(x, n):
    s = x
    for i in range(1, n):
        if i == 2:
            continue
        s = math.sin(s) * i + x
        n = 2
    return s * i * n


def on_a_branch(x, n):
    s = x
    if x > 0:
        m = n + 1
        for i in range(m):
            s = math.sin(s) * i + x
    return s


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("f", [over_a_range, backwards, that_leaves, that_goes_on, on_a_branch])
def test_turns_are_gone_through_again_in_their_order(f, n):
    if n < 2 and f in (that_leaves, that_goes_on):
        return  # there may be no number of a turn
    for x in (0.4, 0.9):
        wanted = gradient_by_differences(lambda x: f(float(x), n), x)
        for _ in range(3):
            np.testing.assert_allclose(rl.gradient(f, x, n)[0], wanted, rtol=1e-6)
        second = gradient_by_differences(lambda x: rl.gradient(f, float(x), n)[0], x, 1e-5)
        found = rl.gradient(lambda x: rl.gradient(f, x, n)[0], x)[0]
        np.testing.assert_allclose(found, second, rtol=1e-5, atol=1e-7)


def test_the_number_of_a_turn_is_kept_only_where_a_loop_may_be_left():
    assert not any("i" in kept.strip("()").split(", ") for kept in taped(over_a_range, 0.4, 5))
    assert any("i" in kept.strip("()").split(", ") for kept in taped(that_leaves, 0.4, 5))
    assert any("i" in kept.strip("()").split(", ") for kept in taped(over_a_range, 0.4, np.int64(5)))


def counted(x, n):
    s = 0.0
    for k in range(1, n, 2):
        s = s + x * k
    return s


def uncounted(x, n):
    s = x
    for _ in range(n):
        s = s + x
    return s


def with_another_count(x, n):
    s = 0.0
    for k in range(n):
        s = s + x * k
        n = 2
    return s * n


@pytest.mark.parametrize("f", [counted, uncounted, with_another_count])
def test_nothing_is_kept_of_turns_that_a_range_counts(f):
    text = str(rl.adjoint_source(f, 1.5, 6))
    assert "tape.append" not in text
    for n in (0, 1, 6):
        for _ in range(4):
            assert rl.gradient(f, 1.5, n)[0] == pytest.approx(f(1.0, n))  # they are linear


def test_a_loop_that_may_be_left_keeps_count():
    def f(x, n):
        s = x
        for k in range(n):
            if s > 4.0:
                break
            s = s + x * k
        return s

    for _ in range(3):
        assert rl.gradient(f, 1.0, 9)[0] == 1.0 + 0.0 + 1.0 + 2.0 + 3.0


@pytest.mark.parametrize("first", [0, 1])
def test_what_a_turn_kept_goes_by_its_number(first):
    """Where turns count from zero their number is the place on the tape; else they go in step."""

    def from_zero(x, a):
        total = 0.0
        for i in range(len(x)):
            d = x[i] - a[i]
            total += d**2
        return total

    def from_one(x, a):
        total = 0.0
        for i in range(1, len(x)):
            d = x[i] - a[i]
            total += d**2
        return total

    f = (from_zero, from_one)[first]
    x, a = np.array([0.5, -1.0, 2.0]), np.array([1.0, 4.0, -2.0])
    wanted = 2.0 * (x - a) * (np.arange(3) >= first)
    for _ in range(4):
        found, other = rl.gradient(f, x, a)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(other, -wanted)
    text = rl.adjoint_source(f, x, a)
    assert ("tape[i]" in text) is (first == 0) and ("zip(reversed(range(1" in text) is (first == 1)
