"""What is handed to a rule is kept for the pullback as it was, whatever becomes of it."""

import functools
import operator

import numpy as np
import pytest

import rulelab as rl

M = np.arange(9.0).reshape(3, 3) * 0.3 + np.diag([0.2, -0.7, 0.4])
D = np.cos(M + 1.0)


class Held:
    def __init__(self, key):
        self.key = key


class Leaf:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest


def items_of_a_tuple(x):
    """Each of them holds containers that are changed between the reads."""
    first, second = Leaf(x), Leaf(x * x)
    both = (first, (second, [x, 2.0]), 5)
    a = both[0]
    first.value = first.value * x
    b = both[-2][0]
    second.rest = (first, b)
    both[1][1].append(b.value * a.value)
    return both[1][1][-1] * b.rest[-2].value + both[1][1][0] * both[2]


def test_items_of_a_tuple():
    """What is said of an item goes to the container that it is, by either number of its place."""
    x = 1.3
    for _ in range(3):
        assert rl.gradient(items_of_a_tuple, x)[0] == pytest.approx(6 * x**5 + 5.0)
    assert rl.pushforward(items_of_a_tuple, x)(1.0) == pytest.approx(6 * x**5 + 5.0)


@pytest.mark.parametrize("number", [0, -2, True])
def test_what_is_said_of_an_item_as_a_whole(number):
    """A rule speaks of an object by its attributes, and of what it holds."""

    def norm(leaf):
        return leaf.value**2 + leaf.rest[0].value

    def program(x):
        leaf = Leaf(x, (Leaf(3.0 * x),))
        return norm((Leaf(x), leaf)[1]) + norm((leaf, leaf)[number])

    @rl.rrule_for(norm)
    def norm_rrule(leaf):
        y = norm(leaf)

        def norm_pullback(y_bar):
            inner = rl.Tangent(tuple, rl.Tangent(Leaf, value=y_bar))
            return rl.NoTangent(), rl.Tangent(Leaf, value=2.0 * leaf.value * y_bar, rest=inner)

        return y, norm_pullback

    try:
        assert rl.gradient(program, 1.3)[0] == pytest.approx(4 * 1.3 + 6.0)
    finally:
        rl.remove_rule(norm)


def of_key(m, key):
    return np.sum(m[key] ** 3)


def in_a_tuple(m):
    index = [0, 1]
    s = np.sum(m[:, index] ** 3)
    index[0] = 2
    return s


def grows_in_a_loop(m):
    index, s = [], 0.0
    for k in (2, 0):
        index.append(k)
        s = s + np.sum(m[:, index] ** 3)
    return s


def nested_lists(m):
    index = [[0, 1], [1, 2]]
    s = np.sum(m[index] ** 3)
    index[0][0] = 2
    return s


def by_function(m):
    index = [0, 1]
    s = np.sum(operator.getitem(m, (slice(None), index)) ** 3)
    index[0] = 2
    return s


def under_another_name(m):
    index = [0, 1]
    key = (slice(None), index)
    s = np.sum(m[key] ** 3)
    key[1].reverse()
    index.pop()
    return s + np.sum(m[key])


def in_an_object(m):
    held = Held([0, 1])
    s = np.sum(m[:, held.key] ** 3)
    held.key[0] = 2
    return s


def in_a_dict(m):
    held = {"key": (slice(None), [0, 1])}
    s = np.sum(m[held["key"]] ** 3)
    held["key"][1][0] = 2
    return s


def captured(m):
    index = [0, 1]

    def inner(w):
        return np.sum(w[:, index] ** 3)

    s = inner(m)
    index[0] = 2
    return s + inner(m)


def in_a_partial(m):
    index = [0, 1]
    inner = functools.partial(of_key, key=(slice(None), index))
    s = inner(m)
    index[0] = 2
    return s


def by_keyword(m):
    words = {"indices": [0, 1], "axis": 0}
    s = np.sum(np.take(m, **words) ** 3)
    words["indices"][0] = 2
    words["axis"] = 1
    return s


def nested_arrays(m):
    parts = [[m, m * m], [m, m]]
    s = np.sum(np.block(parts) ** 3)
    parts[0][0] = 2 * m
    parts.append(m)
    return s


def under_a_gradient(m):
    index = [0, 1]
    s = np.sum(rl.gradient(of_key, m, (slice(None), index))[0])
    index[0] = 2
    return s


def in_a_checkpoint(m):
    index = [0, 1]
    s = rl.checkpointed(of_key, m, (slice(None), index))
    index[0] = 2
    return s


def in_a_captured_checkpoint(m):
    held = Held([0, 1])
    s = rl.checkpointed(lambda w: np.sum(w[:, held.key] ** 3), m)
    held.key[0] = 2
    return s


PROGRAMS = (
    in_a_tuple,
    grows_in_a_loop,
    nested_lists,
    by_function,
    under_another_name,
    in_an_object,
    in_a_dict,
    captured,
    in_a_partial,
    by_keyword,
    nested_arrays,
    under_a_gradient,
    in_a_checkpoint,
    in_a_captured_checkpoint,
)


def slope(f):
    """The derivative of f at M along D, by differences."""
    h = 1e-5
    return (f(M + h * D) - f(M - h * D)) / (2 * h)


@pytest.mark.every(3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_list_of_indices_may_change_after_it_was_used(program):
    """The derivative is that by the indices that were used, in both modes, kept or run again."""
    right = pytest.approx(slope(program), rel=1e-6)
    assert np.sum(rl.gradient(program, M)[0] * D) == right
    assert np.sum(rl.pullback(program, M)[1](1.0)[0] * D) == right
    assert np.sum(rl.gradient(lambda m: rl.checkpointed(program, m), M)[0] * D) == right
    assert rl.pushforward(program, M)(D) == right


@pytest.mark.every(3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_list_of_indices_may_change_in_second_order(program):
    """The same of the second derivative, in each order of the modes."""

    def first(m):
        return np.sum(rl.gradient(program, m)[0] * D)

    right = pytest.approx(slope(first), rel=1e-5)
    assert np.sum(rl.gradient(first, M)[0] * D) == right
    assert rl.pushforward(first, M)(D) == right
    assert np.sum(rl.gradient(lambda m: rl.pushforward(program, m)(D), M)[0] * D) == right
