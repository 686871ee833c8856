"""Tests of the names of the older texts."""

import pytest

import rulelab as rl
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


def test_one_is_an_old_name_too():
    """`rl.One()` works, says what to write today, and shows itself under its own name."""
    with pytest.warns(DeprecationWarning, match="One is the older name; use 1.0"):
        one = rl.One()
    assert one * 3.0 == 3.0 and repr(one) == "One()"


def test_every_old_name_is_one_of_the_front_door():
    """Each can be typed after `rl.` and warns with the place where it was typed; no other name does."""
    for name in oldnames.OLD_NAMES:
        with pytest.warns(DeprecationWarning, match=name) as caught:
            getattr(rl, name)
        assert caught[0].filename == __file__
        assert name not in dir(rl)
    for unknown in ("Two", "zero", "DoesNotExists"):
        with pytest.raises(AttributeError):
            getattr(rl, unknown)


def test_the_old_types_are_todays():
    """What was made by today's names is an instance of the older ones."""
    with pytest.warns(DeprecationWarning):
        assert isinstance(rl.ZeroTangent(), rl.Zero) and isinstance(rl.NO_FIELDS, rl.DoesNotExist)
        assert rl.Composite(tuple, 1.0) == rl.Tangent(tuple, 1.0)
