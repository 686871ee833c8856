"""The rules for reading parts of arrays."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents

import rulelab as rl
from rulelab.ad.reverse import gradient
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.array_likes import dense, like_argument
from rulelab.rulesets.numpy_indexing import TABLE, getitem_rrule, scatter, scatter_add
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import InplaceableThunk
from rulelab.tangents.zeros import ZeroTangent


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def test_repeated_indices_add():
    """An element read twice gets both cotangents, not the last one."""
    (x_bar,) = cotangents(TABLE, np.take, np.array([1.0, 2.0, 3.0]), [1, 1, -2], seed=[1.0, 10.0, 100.0])
    np.testing.assert_array_equal(x_bar, [0.0, 111.0, 0.0])


@pytest.mark.parametrize("index", [1, slice(0, 2), [0, 0, 2], np.array([True, False, True]), ([0, 0], [1, 1]),
                                   (Ellipsis, 1)])
def test_indexing_adds_straight_into_an_owned_buffer(index):
    """What is added into a buffer is what the cotangent would have been on its own."""
    x = np.arange(9.0).reshape(3, 3)
    y, pullback = getitem_rrule(x, index)
    _, x_bar = pullback(np.ones_like(y) * 2)
    assert isinstance(x_bar, InplaceableThunk)
    buffer = np.full((3, 3), 5.0)
    assert x_bar.add_into(buffer) is buffer
    np.testing.assert_array_equal(buffer, 5.0 + x_bar.unthunk())


def test_scatter_add_leaves_other_places_alone():
    """Only the places that the index names change."""
    buffer = np.ones((2, 3))
    scatter_add(buffer, (slice(None), 1), np.array([5.0, 7.0]))
    np.testing.assert_array_equal(buffer, [[1, 6, 1], [1, 8, 1]])


def test_the_cotangent_of_a_float32_array_is_float32():
    """Indexing does not widen."""
    _, pullback = getitem_rrule(np.ones(3, np.float32), [0, 0])
    assert pullback(np.ones(2))[1].unthunk().dtype == np.float32


def test_fields_and_objects_are_refused():
    """An array whose elements are no numbers is refused by name."""
    with pytest.raises(NotDifferentiableError, match="dtype object"):
        getitem_rrule(np.array([1.0, None], dtype=object), 0)
    with pytest.raises(NotDifferentiableError):
        getitem_rrule(np.zeros(2, [("a", float)]), "a")


def test_empty_selections_give_zeros():
    """Reading nothing gives a cotangent of the right shape, full of zeros."""
    np.testing.assert_array_equal(scatter(np.zeros(0), np.array([], int), (3,)), np.zeros(3))


@pytest.mark.parametrize("read", [lambda x: np.take(x, [5], 1), lambda x: np.compress([0, 1, 1], x, -1),
                                  lambda x: np.take_along_axis(x, np.full((0, 1), 5), 1)])
@pytest.mark.parametrize("columns", [0, 3])
def test_an_index_that_leads_out_of_an_array_without_entries(read, columns):
    """NumPy does not look at it, nor do the rules; of an array with entries it is NumPy's own error."""
    x = np.zeros((0, columns))
    y, back = rl.pullback(read, x)
    assert y.shape == read(x).shape and back(np.ones(y.shape))[0].shape == x.shape
    assert rl.pushforward(read, x)(x).shape == y.shape
    with pytest.raises((IndexError, ValueError)):
        rl.gradient(lambda x: np.sum(read(x)), np.zeros((2, 1)))


def test_item_of_a_0d_array():
    """`x.item()` of a 0-d array has a 0-d cotangent."""
    (x_bar,) = cotangents(TABLE, np.ndarray.item, np.array(3.0), seed=2.0)
    assert x_bar.shape == () and x_bar == 2.0


def test_tolist_with_entries_missing():
    """Entries of the list that nobody used count as zero."""
    from rule_points import registry_of, rule_at
    x = np.arange(4.0).reshape(2, 2)
    _, pullback = rule_at(registry_of(TABLE), np.ndarray.tolist, (x,), "rrule").function(x)
    _, x_bar = pullback(Tangent(list, ZeroTangent(), Tangent(list, 1.0, ZeroTangent())))
    np.testing.assert_array_equal(x_bar, [[0, 0], [1, 0]])


def test_structures_and_arrays_convert_both_ways():
    """A nested list and the array made of it have cotangents that hold the same numbers."""
    x, x_bar = [[1.0, 2.0], (3.0, 4.0)], np.arange(4.0).reshape(2, 2)
    structure = like_argument(x, x_bar)
    assert isinstance(structure, Tangent) and isinstance(structure[1], Tangent)
    np.testing.assert_array_equal(dense(x, structure), x_bar)


def test_constants_are_chosen_in_a_list():
    """The sequence of choices of the method is not taken for an array to write to."""
    pick = np.array([0, 1])
    assert gradient(lambda x: x * pick.choose([1.0, 2.0]).sum(), 5.0) == (3.0,)


@pytest.mark.parametrize(
    "x",
    [np.arange(6.0), np.arange(12.0)[::2], np.arange(6.0)[::-1], np.arange(6.0, dtype=np.float32),
     np.arange(30.0)[::5]],
    ids=["plain", "every other", "backwards", "float32", "every fifth"],
)
def test_as_strided_counts_each_element_as_often_as_it_is_read(x):
    """Overlapping windows made by strides, of arrays that lie differently in memory, in both modes."""

    def f(x):
        step = x.strides[0]
        windows = np.lib.stride_tricks.as_strided(x, (4, 3), (step, step))
        return np.sum(windows * np.arange(12.0).reshape(4, 3))

    (x_bar,) = rl.gradient(f, x)
    assert x_bar.tolist() == [0, 1 + 3, 2 + 4 + 6, 5 + 7 + 9, 8 + 10, 11] and x_bar.dtype == x.dtype
    assert rl.pushforward(f, x)(np.ones_like(x)) == 66.0


def test_as_strided_beside_the_array_is_refused():
    """What lies there is no part of the array, and its derivative nobody knows."""
    with pytest.raises(rl.NotDifferentiableError, match="reads memory outside its array"):
        rl.gradient(lambda x: np.sum(np.lib.stride_tricks.as_strided(x[:2], (3,), (8,))), np.arange(4.0))
