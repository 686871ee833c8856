"""An array that the sweep has read, and that a function writes to which somebody else calls: refused."""

import functools

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError

A = np.array([2.0, 3.0])


def writes(t):
    A[0] = 5.0
    return 1.0


def writes_for_two(a, b):
    return writes(a)


def writes_to_its_argument(v):
    v[0] = 5.0
    return np.sum(v)


def by_map(x):
    y = A * x
    list(map(writes, [1.0]))
    return np.sum(y)


def by_filter(x):
    y = A * x
    list(filter(writes, [1.0]))
    return np.sum(y)


def by_reduce(x):
    y = A * x
    functools.reduce(writes_for_two, [1.0, 2.0])
    return np.sum(y)


def by_sorted(x):
    y = A * x
    sorted([1.0, 2.0], key=writes)
    return np.sum(y)


def by_sort(x):
    y = A * x
    xs = [1.0, 2.0]
    xs.sort(key=writes)
    return np.sum(y)


def by_max(x):
    y = A * x
    max([1.0, 2.0], key=writes)
    return np.sum(y)


def by_a_key_that_calls_what_it_captures(x):
    def helper(t):
        A[0] = 5.0
        return t

    y = A * x
    sorted([1.0, 2.0], key=lambda t: helper(t))
    return np.sum(y)


def by_vectorize(x):
    y = A * x
    np.vectorize(writes)(np.ones(2))
    return np.sum(y)


def by_apply_along_axis(x):
    y = A * x
    np.apply_along_axis(writes, 0, np.ones(2))
    return np.sum(y)


def by_checkpointed(x):
    y = A * x
    rl.checkpointed(writes, 1.0)
    return np.sum(y)


def by_forwarddiff(x):
    y = A * x
    rl.forwarddiff(writes, 1.0)
    return np.sum(y)


def by_pushforward(x):
    y = A * x
    rl.pushforward(writes_to_its_argument, A)(np.ones(2))
    return np.sum(y)


def by_gradient(x):
    y = A * x
    rl.gradient(writes_to_its_argument, A)
    return np.sum(y)


WAYS = (
    *(by_map, by_filter, by_reduce, by_sorted, by_sort, by_max, by_vectorize, by_apply_along_axis),
    by_a_key_that_calls_what_it_captures,
    *(by_checkpointed, by_forwarddiff, by_pushforward, by_gradient),
)


@pytest.fixture(autouse=True)
def as_it_was():
    A[:] = 2.0, 3.0


@pytest.mark.parametrize("f", WAYS, ids=[f.__name__ for f in WAYS])
def test_a_write_that_the_sweep_does_not_hear_of(f):
    """y = A x was worked out with the old A: a gradient with the new one would be wrong."""
    with pytest.raises(MutationError) as refused:
        rl.gradient(f, 1.0)
    assert "float64[2]" in str(refused.value)


def test_functions_that_write_nothing_are_called_as_before():
    """Keys and callbacks that look only."""

    def f(x):
        xs = sorted([3.0, 1.0, 2.0], key=lambda t: -t)
        return x * xs[0] + np.sum(np.vectorize(lambda t: t + A[0])(np.ones(2)) * x) + max(map(abs, xs)) * x

    assert rl.gradient(f, 1.0) == (12.0,)
