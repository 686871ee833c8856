"""Tests of the names of the older texts."""

import numpy as np
import pytest

from rulelab.tangents import oldnames
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent, ZeroTangent


@pytest.mark.parametrize(
    "name, new",
    [("NO_FIELDS", NoTangent()), ("Zero", ZeroTangent), ("DoesNotExist", NoTangent), ("Composite", Tangent)],
)
def test_old_names_work_and_warn(name, new):
    """What the older texts print can be typed, and I am told the newer name."""
    with pytest.warns(DeprecationWarning, match=f"{name} is the older name") as caught:
        assert getattr(oldnames, name) is new
    assert caught[0].filename == __file__


def test_one_saves_the_multiplication():
    """`One() * x` is x itself, from either side, and adds as the number one."""
    with pytest.warns(DeprecationWarning):
        one = oldnames.One()
    x = np.ones(2, np.float32)
    assert one * x is x and x * one is x and 3.0 * one == 3.0
    assert one + 1.0 == 2.0 and np.array_equal(x - one, [0, 0]) and float(one) == 1.0 and (one + one) == 2
    assert one + ZeroTangent() is one and not hasattr(oldnames, "Two")
