"""Tests of delayed cotangents."""

import pickle
import threading

import numpy as np
import pytest

from rulelab.errors import ThunkMutationError
from rulelab.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk


def test_computed_at_most_once_and_only_when_needed():
    """A thunk nobody uses costs nothing; one used by many threads at once is computed once."""
    calls = []

    def work():
        calls.append(1)
        return np.ones(3)

    t = thunk(work)
    assert not calls
    threads = [threading.Thread(target=unthunk, args=(t,)) for _ in range(8)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert unthunk(t) is unthunk(t) and calls == [1]


def test_a_thunk_that_raises_is_not_tried_again():
    """The error of a thunk comes with the name of its rule, each time, without running it again."""
    calls = []

    def my_pullback_thunk():
        calls.append(1)
        raise ValueError("bad")

    t = thunk(my_pullback_thunk)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad") as caught:
            unthunk(t)
    assert calls == [1] and "my_pullback_thunk" in caught.value.__notes__[0]


def test_arithmetic_uses_the_value():
    """A thunk works in sums, products and NumPy functions from both sides."""
    t = thunk(lambda: np.array([1.0, 4.0]))
    assert np.array_equal(2 * t + 1, [3, 9]) and np.array_equal(np.ones(2) - t, [0, -3])
    assert np.array_equal(np.sqrt(t), [1, 2]) and t[1] == 4 and t.shape == (2,) and np.sum(t) == 5
    assert np.array_equal(-t, [-1, -4]) and np.asarray(t).dtype == float


def test_writing_to_a_thunk_is_refused_in_words():
    """A write to a thunk says to unthunk it first."""
    t = thunk(lambda: np.zeros(2))
    with pytest.raises(
        ThunkMutationError, match="Tried to mutate a thunk, this is not supported. `unthunk` it first."
    ):
        t[0] = 1.0
    with pytest.raises(ThunkMutationError):
        np.add(1.0, 2.0, out=t)
    with pytest.raises(ThunkMutationError):
        t.value = 1


def test_nested_thunks_and_pickles():
    """A thunk of a thunk is one value, also after a trip through a worker process."""
    t = thunk(lambda: thunk(lambda: 3.0))
    assert unthunk(t) == 3.0 and unthunk(pickle.loads(pickle.dumps(t))) == 3.0


def test_inplaceable_thunk_is_a_thunk():
    """An InplaceableThunk has its value as any other."""
    t = InplaceableThunk(lambda acc: np.add(acc, 1, out=acc), lambda: np.ones(2))
    assert isinstance(t, Thunk) and np.array_equal(unthunk(t), [1, 1])
