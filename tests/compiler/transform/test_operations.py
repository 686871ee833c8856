"""Single operations in both sweeps: which arguments of a call are wanted a cotangent of."""

import numpy as np
import pytest

import rulelab as rl

from ...differences import gradient_by_differences

X = np.array([1.0, 2.5, 4.0])
CALLS = {  # the function of one argument, of both, the second argument, whether it has a derivative
    "quantile": (lambda x: np.quantile(x, 0.4), np.quantile, 0.4, False),
    "norm": (lambda x: np.linalg.norm(x, 2.5), np.linalg.norm, 2.5, False),
    "largest": (lambda x: np.linalg.norm(x, np.inf), np.linalg.norm, np.inf, False),
    "power": (lambda x: np.sum(x**2.5), lambda x, y: np.sum(x**y), 2.5, True),
    "hypot": (lambda x: np.sum(np.hypot(x, 0.7)), lambda x, y: np.sum(np.hypot(x, y)), 0.7, True),
}
CHOICES = {
    "first": lambda one, f: lambda v: one(v[:3]) ** 2,
    "second": lambda one, f: lambda v: f(X, v[3]) ** 2,
    "both": lambda one, f: lambda v: f(v[:3], v[3]) ** 2,
}


@pytest.mark.every(3)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", CALLS)
def test_each_choice_of_what_varies_has_its_second_derivative(name, choice):
    """What stands still is a constant, whatever varies beside it; what varies and has no derivative is
    refused.
    """
    one, f, y, smooth = CALLS[name]
    along, start = CHOICES[choice](one, f), np.append(X, y)
    if choice != "first" and not smooth:
        with pytest.raises(rl.NotDifferentiableError, match="no derivative for its argument"):
            rl.hessian(along, start)
        return
    start[3] = min(start[3], 20.0)
    found = rl.hessian(along, start)
    wanted = gradient_by_differences(lambda x: rl.gradient(along, x)[0], start, 1e-5)
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_an_unpacked_tuple_gets_its_cotangent_in_one_display():
    """The items of a tuple of known length are put into its cotangent together; its length is asked once."""

    def f(a, xs):
        p, q, r = xs
        return a * p * q * r

    text = rl.adjoint_source(f, 2.0, (3.0, 5.0, 7.0))
    assert "put_item(" not in text and text.count("put_each(") == 1 and text.count("len(") == 1
    assert "{0: " in text and ", 1: " in text and ", 2: " in text
    assert rl.gradient(f, 2.0, (3.0, 5.0, 7.0)) == (105.0, (70.0, 42.0, 30.0))


def test_the_cotangent_of_a_tuple_of_numbers_is_read_at_once():
    """Where it is the value: whatever form it comes in, its items become numbers."""

    def f(a, b):
        return a * b, a, 2.0, a + b

    assert "reals(" in rl.adjoint_source(f, 2.0, 3.0)
    numbers = (1.0, 2.0, 5.0, 3.0)
    for seed in (numbers, list(numbers), (1, 2, 5, np.float64(3.0)), rl.Tangent(tuple, *numbers)):
        for _ in range(3):
            assert rl.pullback(f, 2.0, 3.0)[1](seed) == (8.0, 5.0)
    assert rl.pullback(f, 2.0, 3.0)[1]((None, 1.0, None, None)) == (1.0, 0.0)
    assert rl.pullback(f, 2.0, 3.0)[1](None) == (0.0, 0.0)

    def outer(a, b):
        p, q, _, r = f(a, b)
        return p * q + r

    for _ in range(3):
        assert rl.gradient(outer, 2.0, 3.0) == (13.0, 5.0)


def test_items_that_are_read_twice_or_by_branches_add_up():
    """An item that is read again, in a branch or not, and one that is not read at all."""

    def f(flag, *xs):
        p, q, r = xs
        y = p * p + xs[0] * xs[-1]
        if flag:
            a, b, _ = xs
            y = y + a * b
        return y

    assert rl.gradient(f, True, 2.0, 3.0, 5.0)[1:] == (4.0 + 5.0 + 3.0, 2.0, 2.0)
    assert rl.gradient(f, False, 2.0, 3.0, 5.0)[1:] == (4.0 + 5.0, 0.0, 2.0)


def each(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i + 0]
    return s


def in_turn(x, a):
    s = 0.0
    for i in range(len(x)):
        if a[i] > 2.0:
            s += x[i] ** 2
    return s


def every_second(x):
    s = 0.0
    for i in range(1, len(x), 2):
        s += x[i] ** 3
    return s


def numbered(x):
    s = 0.0
    for i, _ in enumerate(x):
        s += x[i] ** 3
    return s + np.sum(x)


def from_the_end(x):
    s = 0.0
    for i in range(-2, 2):
        s += x[i] ** 3
    return s


def in_two_loops(x):
    s = 0.0
    for _ in range(2):
        for i in range(len(x)):
            s += s * x[i] ** 3 + x[i]
    return s


def twice(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 3
    for i in range(len(x)):
        s += s * x[i]
    return s


def with_a_part(x):
    s = np.sum(x[1:] ** 2)
    for i in range(len(x)):
        s += x[i] ** 3
    return s


def unsure(x, start=-1):
    s = 0.0
    for i in range(start, 2):
        s += x[i] ** 3
    return s


@pytest.mark.parametrize(
    ("f", "stores"),
    [
        (in_turn, True),
        (every_second, True),
        (numbered, True),
        *((f, False) for f in (each, from_the_end, in_two_loops, twice, with_a_part, unsure)),
    ],
)
def test_the_cotangent_of_an_item_is_stored_where_no_other_can_come(f, stores):
    """It is added up where another turn, another loop or a part of the array may give the same item more."""
    args = (X, X)[: 2 if f is in_turn else 1]
    text = rl.adjoint_source(f, *args)
    assert ("_at[i] = " in text) is stores
    for _ in range(3):
        found = rl.gradient(f, *args)[0]
        np.testing.assert_allclose(found, gradient_by_differences(lambda x: f(x, *args[1:]), X), rtol=1e-6)
