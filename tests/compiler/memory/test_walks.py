"""The cotangents of items find the way back to what was walked over."""

import numpy as np
import pytest

from rulelab.compiler.memory import walks
from rulelab.compiler.memory.support import NO, ZERO, Items
from rulelab.errors import RuleLabError
from rulelab.tangents.structural import Tangent


def test_gather_array():
    """The rows' cotangents come last first, and become one array; rows a loop did not reach are zero."""
    x = np.ones((3, 2))
    found = walks.gather(x, [np.array([3.0, 4.0]), ZERO])
    assert np.array_equal(found, [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    assert np.array_equal(walks.gather(np.ones(3), [5.0], backwards=True), [0.0, 0.0, 5.0])
    assert walks.gather(np.ones(3), []).tolist() == [0.0, 0.0, 0.0]
    assert walks.gather(np.ones(2, complex), [1j, 2.0]).tolist() == [2.0, 1j]


def test_gather_list():
    """Over a list or tuple the cotangents become one of that kind."""
    assert walks.gather([1.0, 2.0, 3.0], [5.0, 4.0]) == Tangent(list, 4.0, 5.0, ZERO)
    assert walks.gather((1.0, 2.0), [5.0], backwards=True) == Tangent(tuple, ZERO, 5.0)
    second = Items(2)
    second[1] = 3.0
    assert walks.gather([[1.0, 2.0]], [second]) == Tangent(list, Tangent(list, ZERO, 3.0))


def test_gather_something_else():
    """The items of what is not an array, list or tuple: nothing if nothing flowed, else an error."""
    assert walks.gather({1, 2}, [ZERO, NO]) is ZERO
    with pytest.raises(RuleLabError, match="set"):
        walks.gather({1, 2}, [1.0, NO])
