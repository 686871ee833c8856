"""Tests of NoTangent and ZeroTangent."""

import copy
import pickle

import numpy as np
import pytest

from rulelab.tangents.thunks import thunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

BOTH = pytest.mark.parametrize("zero", [NoTangent(), ZeroTangent()])


@BOTH
def test_there_is_one_object_of_each(zero):
    """`is` works on zeros, also after a copy or a trip through a worker process."""
    assert type(zero)() is zero and copy.deepcopy(zero) is zero and pickle.loads(pickle.dumps(zero)) is zero


@BOTH
@pytest.mark.parametrize("x", [2.0, 3, 1j, np.float32(2), np.arange(3.0), np.array(1.0)])
def test_identity_in_sums_and_absorbing_in_products(zero, x):
    """A zero changes no sum, and a product with it is that zero: from either side, with numbers and
    arrays.
    """
    assert zero + x is x and x + zero is x
    assert np.array_equal(x - zero, x) and np.array_equal(zero - x, -x)
    for product in (zero * x, x * zero, zero / 2.0, -zero):
        assert product is zero


def test_the_stronger_of_the_two_wins():
    """Where one says zero and the other that there is none, there is none."""
    assert ZeroTangent() + NoTangent() is NoTangent() and NoTangent() + ZeroTangent() is NoTangent()
    assert ZeroTangent() * NoTangent() is NoTangent()


@BOTH
def test_parts_of_a_zero_are_zeros(zero):
    """A pullback may index, unpack or read a field of a cotangent that is zero."""
    a, b, c = zero
    assert a is b is c is zero[3] is zero.weight is zero[1:2] is zero


@BOTH
def test_a_zero_is_false_and_never_becomes_an_object_array(zero):
    """A zero does not slip into NumPy as an object array."""
    assert not zero
    with pytest.raises(TypeError):
        np.sin(zero)
    with pytest.raises(TypeError):
        np.asarray(zero)
    with pytest.raises(TypeError):
        list(zero)


@BOTH
@pytest.mark.parametrize(
    "name", ["_repr_html_", "_repr_mimebundle_", "_ipython_display_", "__array_interface__"]
)
def test_a_front_end_finds_no_fields_of_its_own(zero, name):
    """A notebook that asks a zero how to show itself hears that it has no such way, not another zero."""
    assert not hasattr(zero, name) and zero._weight is zero


@BOTH
def test_what_is_no_cotangent_is_not_handed_on(zero):
    """A forgotten `return`, a string or a class in a sum with a zero is an error, not the sum."""
    for bad in (None, "x", NoTangent):
        with pytest.raises(TypeError):
            zero + bad
        with pytest.raises(TypeError):
            bad + zero


@BOTH
def test_nothing_is_divided_by_a_zero(zero):
    """There is no quotient of anything by nothing."""
    for numerator in (1.0, np.ones(2), ZeroTangent(), NoTangent()):
        with pytest.raises(TypeError):
            numerator / zero


@BOTH
def test_a_zero_does_not_force_a_thunk(zero):
    """Sums and products of a zero with a thunk leave the thunk uncomputed, from either side."""
    dear = thunk(lambda: 1 / 0)
    assert zero + dear is dear and dear + zero is dear and dear - zero is dear
    assert zero * dear is zero and dear * zero is zero


def test_there_is_no_third_kind():
    """A class derived from a zero would be the same object as its parent: it is refused."""
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Mine", (ZeroTangent,), {})
