"""Lists of numbers that change, and that nothing but their function sees: right in every mode, and typed."""

import math

import numpy as np
import pytest

import rulelab as rl

from ...differences import gradient_by_differences

XS = np.array([0.7, -1.3, 2.1])


def swapped(x):
    xs = [x[0], x[1] * 2.0]
    xs[0], xs[1] = xs[1], xs[0]
    return xs[0] * x[0] + 3.0 * xs[1] ** 2


def summed_up(x):
    xs = list(x)
    for i in range(1, len(xs)):
        xs[i] += xs[i - 1] * xs[i - 1]
    return xs[-1] * xs[1] + sum(xs)


def table(x):
    best = [0.0] * 4
    for i in range(1, 4):
        best[i] = best[i - 1] * x[0] + x[i - 1] * best[i] + x[1]
    return best[3] * best[2]


def repeated_display(x):
    xs = [x[0], x[1]] * 2
    xs[2] *= xs[3]
    return xs[0] * xs[2] + xs[1] * xs[3]


def sorted_by_exchanges(x):
    xs = [t * 1.5 for t in x]
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return sum(k * t * t for k, t in enumerate(xs, 1))


def stack(x):
    found = []
    for word in (0, 1, "times", 2, "plus", "again", "times"):
        if word == "times":
            found.append(found.pop() * found.pop())
        elif word == "plus":
            found.append(found.pop() + found.pop())
        elif word == "again":
            found.append(found[-1])
        elif word == 0:
            found.append(x[0])
        else:
            found.append(x[1] * x[2])
    return found.pop() + x[0]


def made_in_each_turn(x):
    total = 0.0
    for k in range(3):
        row = [x[k], 1.0]
        row[1] = row[0] * k
        row.append(row[1] * x[0])
        for t in row:
            total += t * t
        row[0] = 5.0
        for t in reversed(row):
            total += t * x[1]
    return total


def changed_while_it_is_read(x):
    xs, total = [x[0], x[1], x[2]], 0.0
    for i, t in enumerate(xs):
        xs[2] = xs[2] * t
        xs[i] = 1.0
        total += t * x[1]
    return total + xs[2] * x[0]


def on_one_path(x):
    xs = [x[0], x[1]]
    if x[0] > 0:
        xs.append(x[2])
        xs[0] = 3.0
    else:
        xs[1] = x[2]
    return xs[-1] * xs[0] * x[1]


def under_two_names(x):
    xs = [x[0], 2.0]
    ys = xs
    ys[1] = x[1] * xs[0]
    ys.append(x[2])
    return xs[1] * xs[2]


def read_as_a_whole(x):
    xs = [x[0], x[1], 0.0]
    xs[2] = xs[0] * xs[1]
    most = max(xs)
    xs[0] = most * xs[1]
    return most * x[2] + min(xs)


def made_an_array_of(x):
    xs = [x[0], x[1], 0.0]
    xs[2] = xs[0] * xs[1]
    found = np.array(xs)
    xs[0] = 5.0
    return np.sum(found**2) * xs[0]


def put_in(xs, k, v):
    xs[k] = v


def by_a_helper(x):
    xs = [x[0], 2.0]
    put_in(xs, 1, x[1] * x[2])
    return xs[0] * xs[1]


PROGRAMS = [
    swapped,
    summed_up,
    table,
    repeated_display,
    sorted_by_exchanges,
    stack,
    made_in_each_turn,
    changed_while_it_is_read,
    on_one_path,
    under_two_names,
    read_as_a_whole,
]


@pytest.mark.parametrize("f", [*PROGRAMS, made_an_array_of, by_a_helper])
def test_gradients_are_right_in_every_mode(f):
    """By reverse and forward mode, of the first and second order, at the first call and at later ones."""
    wanted = gradient_by_differences(f, XS)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted, rtol=1e-6, atol=1e-8)
    _, back = rl.pullback(f, XS)
    for seed in (1.0, 2.0):  # the pass keeps nothing that a pullback changes
        np.testing.assert_allclose(back(seed)[0], seed * wanted, rtol=1e-6, atol=1e-8)
    by_forward = [rl.pushforward(f, XS)(e) for e in np.eye(3)]
    np.testing.assert_allclose(by_forward, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not made_in_each_turn])
def test_second_derivatives_are_right(f):
    """Not where a list changes that a loop reads backwards, which forward mode refuses."""
    second = gradient_by_differences(lambda x: rl.gradient(f, x)[0], XS, 1e-5)
    np.testing.assert_allclose(rl.hessian(f, XS), second, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", PROGRAMS)
def test_such_a_pass_asks_for_no_pullback(f):
    """Each operation is a line of its own, and the cotangents of the items are in a list."""
    text = str(rl.adjoint_source(f, XS))
    assert "_bars = [" in text
    assert "_at(" not in text and "published(" not in text


def test_what_changes_twice_in_a_line_is_read_before():
    """`bars[-1] += bars.pop()` would read the last entry, then take it out, and add to the one before."""

    def f(x):
        xs = [x, 3.0 * x]
        ys = xs
        ys.append(ys[-1])
        return xs[2] * 5.0 + xs[1]

    assert rl.gradient(f, 2.0) == (18.0,)


def test_what_has_no_part_in_the_result_has_no_slope():
    """A root at zero has an infinite slope; what is put in a list and not used has none."""

    def f(x):
        xs = [0.0, 1.0]
        xs[0] = math.sqrt(x)
        xs.append(math.sqrt(x))
        if xs[0] > 0.0:
            return xs[2]
        xs[0] = 2.0
        return xs[0] * xs[1] + x

    for _ in range(3):
        assert rl.gradient(f, 0.0) == (1.0,)


def test_errors_are_pythons_own():
    """And at the author's line."""

    def f(x, k):
        xs = [x, 1.0]
        xs[k] = x * x
        return xs[0] + xs[1]

    for _ in range(3):
        assert rl.gradient(f, 3.0, -1) == (7.0, None)
        with pytest.raises(IndexError, match="list assignment index out of range") as raised:
            rl.gradient(f, 3.0, 2)
        assert raised.traceback[-1].lineno == f.__code__.co_firstlineno + 1

    def g(x):
        xs = []
        ys = xs
        ys.append(x)
        xs.pop()
        return xs.pop()

    with pytest.raises(IndexError, match="pop from empty list"):
        rl.gradient(g, 1.0)


def test_an_append_before_a_loop_in_forward_mode():
    """What a loop calls the list was told to the line that makes it, though the append stands between."""

    def f(x):
        xs = [x, 1.0] * 2
        xs.append(x)
        for _ in range(2):
            xs.append(xs[-1] * x)
        return xs[-1]

    assert rl.pushforward(f, 2.0)(1.0) == 12.0
