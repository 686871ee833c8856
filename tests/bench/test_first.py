"""The first gradient is the one that has to be derived."""

import pytest

from rulelab.bench.first import FirstGradient, first_gradient
from rulelab.compiler.calls.cache import Cache
from rulelab.errors import RuleLabError


def cube(x):
    return x * x * x


def test_the_first_call_derives_and_the_second_does_not():
    """Also for a function whose gradient has been taken before: the cache is a new one."""
    for _ in range(2):
        found = first_gradient(cube, 2.0)
        assert found.first > 3 * found.second > 0 and found.compiling == found.first - found.second
    assert "only at the first" in str(found) and found.name == "cube"


def test_a_given_cache_is_used():
    """What it knows is not derived again."""
    cache = Cache()
    first_gradient(cube, 2.0, cache=cache)
    known = first_gradient(cube, 2.0, cache=cache)
    assert known.first < first_gradient(cube, 2.0).first


def test_times_come_from_the_clock():
    """One reading before and one after each call."""
    ticks = iter([0.0, 3.0, 3.0, 4.0])
    found = first_gradient(cube, 2.0, clock=lambda: next(ticks))
    assert (found.first, found.second, found.compiling) == (3.0, 1.0, 2.0)


def test_a_refusal_is_the_callers():
    """What has no gradient has no time to it."""

    def written(x):
        x[0] = 1.0
        return float(x.sum())

    import numpy as np

    with pytest.raises(RuleLabError):
        first_gradient(written, np.ones(3))


def test_it_survives_being_saved():
    """Both numbers come back."""
    found = first_gradient(cube, 2.0)
    assert FirstGradient.from_dict(found.to_dict()) == found
