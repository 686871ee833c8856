"""The rules for functions that move numbers."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.numpy_shaping import ATTRIBUTES, PLAIN_ATTRIBUTES, TABLE
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent, ZeroTangent


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def rrule(target, *args, **kwargs):
    return rule_at(registry_of(TABLE), target, args, "rrule").function(*args, **kwargs)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("target", [np.ravel, np.ndarray.ravel, np.ndarray.flatten])
def test_every_order_reads_back_as_it_was_read(target, order):
    """Whatever order the numbers are read in, each cotangent returns to the element that was read."""
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    y, pullback = rrule(target, x, order)
    np.testing.assert_array_equal(pullback(y)[1], x)


def test_an_order_that_depends_on_odd_strides_is_refused():
    """order='K' of a general view is refused, not guessed."""
    with pytest.raises(NotDifferentiableError, match="order='K'"):
        rrule(np.ravel, np.zeros((2, 3, 4)).transpose(0, 2, 1), "K")


def test_sort_ties_keep_their_order():
    """Of equal values the first in the array is the first in the result."""
    (x_bar,) = cotangents(TABLE, np.sort, np.array([2.0, 1.0, 2.0, 1.0]), seed=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(x_bar, [3.0, 1.0, 4.0, 2.0])


@pytest.mark.parametrize("dtype", [int, bool, np.uint8])
def test_casting_to_integers_has_derivative_zero(dtype):
    """What is rounded away carries no derivative: ZeroTangent."""
    _, pullback = rrule(np.ndarray.astype, np.array([1.5, 2.5]), dtype)
    assert pullback(np.ones(2))[1] is ZeroTangent()


@pytest.mark.parametrize("x", [2.5, np.array([1.5, 2.5])])
def test_float32_and_float16_casts_pass_the_cotangent_on(x):
    """Narrowing is the identity for derivatives."""
    y, pullback = rrule(np.float32, x)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(pullback(np.ones_like(y))[1], np.ones(np.shape(x)))


def test_an_array_of_mixed_nested_lists():
    """np.array of nested lists, tuples and arrays gives each its own cotangent, in its own structure."""
    _, pullback = rrule(np.array, [[1.0, 2.0], (3, np.array(4.0)), np.array([5.0, 6.0])])
    _, x_bar = pullback(np.arange(6.0).reshape(3, 2))
    assert isinstance(x_bar, Tangent) and isinstance(x_bar[0], Tangent)
    assert x_bar[0][1] == 1.0 and x_bar[1][0] == 2.0
    np.testing.assert_array_equal(x_bar[2], [4.0, 5.0])


def test_an_array_of_objects_is_refused():
    """An array that holds something other than numbers is refused."""
    with pytest.raises(NotDifferentiableError, match="object"):
        rrule(np.array, [1.0, None])


def test_empty_things():
    """Empty lists and arrays keep their shapes on the way back."""
    assert len(rrule(np.array, [])[1](np.zeros(0))[1]) == 0
    y, pullback = rrule(np.concatenate, [np.zeros((0, 2)), np.ones((1, 2))])
    assert pullback(np.ones_like(y))[1][0].shape == (0, 2)


def test_parts_of_a_split_that_nobody_used_count_as_zero():
    """A split whose second part is unused gives zeros there."""
    parts, pullback = rrule(np.split, np.arange(4.0), 2)
    np.testing.assert_array_equal(pullback(Tangent(list, np.ones(2), ZeroTangent()))[1], [1, 1, 0, 0])


def test_cuts_that_overlap_are_refused():
    """Cuts out of order make parts that share elements: refused."""
    with pytest.raises(NotDifferentiableError, match="overlap"):
        rrule(np.split, np.arange(4.0), [3, 1])


@pytest.mark.parametrize("mode", ["mean", "linear_ramp", "maximum"])
def test_pads_that_compute_are_refused(mode):
    """A pad whose values are computed from the array is refused by its mode."""
    with pytest.raises(NotDifferentiableError, match=mode):
        rrule(np.pad, np.ones(3), 1, mode)


def test_trimmed_zeros_get_nothing():
    """What `trim_zeros` cuts off is not in the result; a zero between others is."""
    x = np.array([0.0, 0.0, 1.5, 0.0, 2.0, 0.0])
    for trim, expected in (("fb", [0, 0, 1, 1, 1, 0]), ("f", [0, 0, 1, 1, 1, 1]), ("b", [1, 1, 1, 1, 1, 0])):
        y, pullback = rrule(np.trim_zeros, x, trim)
        np.testing.assert_array_equal(pullback(np.ones_like(y))[1], expected)
    y, pullback = rrule(np.trim_zeros, np.zeros(2))
    np.testing.assert_array_equal(pullback(np.ones_like(y))[1], np.zeros(2))


def test_what_would_round_is_refused():
    """`insert` into whole numbers rounds what it inserts."""
    with pytest.raises(NotDifferentiableError, match="rounds"):
        rrule(np.insert, np.array([1, 2]), 1, 2.5)


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.vstack, np.block])
def test_masked_arrays_among_others_are_refused(join):
    """Joining forgets masks or keeps them, as the class likes: its rules are not ours."""
    with pytest.raises(NotDifferentiableError, match="MaskedArray"):
        rrule(join, [np.ones(2), np.ma.array([1.0, 2.0], mask=[0, 1])])


def test_methods_of_0d_arrays():
    """A 0-d array reshaped or flattened gets a 0-d cotangent."""
    for target, args in ((np.ndarray.reshape, (1,)), (np.ndarray.flatten, ())):
        y, pullback = rrule(target, np.array(2.0), *args)
        assert np.shape(pullback(np.ones_like(y))[1]) == ()


def test_attributes():
    """Reading T, mT, real and imag of an array gives the value and a pullback to the shape of the array."""
    z = np.arange(6.0).reshape(2, 3) + 1j
    for name in ("T", "mT"):
        value, back = ATTRIBUTES[name](z)
        np.testing.assert_array_equal(value, getattr(z, name))
        np.testing.assert_array_equal(back(value), z)
    assert ATTRIBUTES["imag"](z)[1](np.ones((2, 3)))[0, 0] == 1j
    assert ATTRIBUTES["real"](z)[1](2.0) == 2.0
    assert ATTRIBUTES["imag"](z.real)[1](1.0) is ZeroTangent()
    with pytest.raises(NotDifferentiableError, match="flat"):
        ATTRIBUTES["flat"](z)
    assert {"shape", "ndim", "dtype"} <= PLAIN_ATTRIBUTES and not PLAIN_ATTRIBUTES & ATTRIBUTES.keys()


@pytest.mark.parametrize("name", ["T", "mT", "real", "imag"])
def test_attributes_of_tangents(name):
    """Attributes are linear: their forward rule reads them of the tangent."""
    z, z_dot = np.arange(6.0).reshape(2, 3) * (1 + 2j), np.ones((2, 3)) - 3j
    frule = rule_at(registry_of(TABLE), getattr(np.ndarray, name), (z,), "frule").function
    y, y_dot = frule((NoTangent(), z_dot), z)
    np.testing.assert_array_equal(y, getattr(z, name))
    np.testing.assert_array_equal(y_dot, getattr(z_dot, name))
    _, y_dot = frule((NoTangent(), z_dot.real), z.real)
    np.testing.assert_array_equal(y_dot, getattr(z_dot.real, name))


def test_functions_have_no_cotangent_of_their_own():
    """The first entry of every answer is NoTangent."""
    assert rrule(np.transpose, np.ones((2, 3)))[1](np.ones((3, 2)))[0] is NoTangent()
