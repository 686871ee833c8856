"""Tests of the arithmetic of cotangents."""

import collections
import itertools

import numpy as np
import pytest

from rulelab.errors import NotImplementedTangentError, RuleDtypeError, RuleError, RuleShapeError
from rulelab.tangents.algebra import add, add_into, add_to_primal, is_inplaceable, scale
from rulelab.tangents.missing import not_implemented
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent

ARRAY = [lambda: np.array([1.0, 2.0]), lambda: thunk(lambda: np.array([1.0, 2.0]))]
PAIR = [lambda: Tangent(tuple, 1.0, 2.0), lambda: (1.0, 2.0), lambda: thunk(lambda: Tangent(tuple, 1.0, 2.0))]


@pytest.mark.parametrize("a, b", list(itertools.product(ARRAY, repeat=2)))
def test_array_kinds_add_to_an_array(a, b):
    """Arrays and delayed arrays add to the sum of their values."""
    assert np.array_equal(add(a(), b()), [2.0, 4.0])


@pytest.mark.parametrize("a, b", list(itertools.product(PAIR, repeat=2)))
def test_structure_kinds_add_to_a_tangent(a, b):
    """Raw tuples, Tangents and delayed ones add entry by entry."""
    assert add(a(), b()) == Tangent(tuple, 2.0, 4.0)


@pytest.mark.parametrize("make", ARRAY + PAIR)
@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()])
def test_zeros_hand_on_the_other_uncomputed(make, zero):
    """A zero in a sum costs nothing and does not force a thunk."""
    x = make()
    assert add(x, zero) is x and add(zero, x) is x and add_into(x, zero) is x


def test_a_sum_never_broadcasts():
    """Two cotangents of different shapes are an error, not a larger array."""
    for a, b in [
        (np.ones(3), np.ones((3, 1))),
        (np.ones(3), 1.0),
        (np.ones(1), np.ones(3)),
        (np.ones((1, 2)), np.ones(2)),
    ]:
        with pytest.raises(RuleShapeError, match="shapes"):
            add(a, b)
        with pytest.raises(RuleShapeError, match="shapes"):
            add_into(a, b)
    assert add(np.array(1.0), 2.0) == 3.0
    with pytest.raises(RuleShapeError, match="lengths"):
        add((1.0,), (1.0, 2.0))


def test_things_that_are_no_cotangents_are_refused():
    """A string or None in a sum is an error."""
    for bad in ("a", None, object()):
        with pytest.raises(RuleDtypeError):
            add(bad, 1.0)
        with pytest.raises(RuleDtypeError):
            add(np.ones(2), bad)


def test_a_sum_writes_to_neither():
    """`add` leaves both arrays as they were, also when they are one."""
    a = np.ones(2)
    assert np.array_equal(add(a, a), [2, 2]) and np.array_equal(a, [1, 1])


def test_mixed_dicts_and_objects():
    """Cotangents of dicts may have different keys; a raw dict counts for an object's fields."""

    class Plain:
        pass

    assert add({"a": 1.0}, Tangent(dict, {"a": 1.0, "b": 2.0})) == Tangent(dict, {"a": 2.0, "b": 2.0})
    assert add(Tangent(Plain, a=1.0), {"a": 1.0, "b": None}) == Tangent(Plain, a=2.0)


def test_accumulation_writes_only_where_nothing_is_lost():
    """An accumulator is written in place for its own dtype; a wider or complex term gives a new array."""
    acc = np.zeros(2, np.float32)
    assert add_into(acc, np.ones(2, np.float32)) is acc
    wider = add_into(acc, np.ones(2))
    assert wider is not acc and wider.dtype == np.float64
    assert np.array_equal(add_into(np.zeros(2), np.array([1j, 0])), [1j, 0])
    assert np.array_equal(add_into(np.zeros(2, int), np.array([0.5, 0])), [0.5, 0])
    frozen = np.broadcast_to(0.0, 3)
    assert np.array_equal(add_into(frozen, np.ones(3)), np.ones(3)) and frozen[0] == 0
    acc = np.arange(4.0)
    assert np.array_equal(add_into(acc, acc[::-1]), [3, 3, 3, 3])
    zero_d = np.array(1.0)
    assert add_into(zero_d, np.array(2.0)) is zero_d and zero_d == 3.0


def test_inplaceable_thunks_add_themselves():
    """An InplaceableThunk adds into the accumulator without computing its value, and must return it."""
    acc = np.zeros(2)
    t = InplaceableThunk(lambda out: np.add(out, 1.0, out=out), lambda: 1 / 0)
    assert add_into(acc, t) is acc and np.array_equal(acc, [1, 1])
    with pytest.raises(RuleError, match="return"):
        add_into(acc, InplaceableThunk(lambda out: None, lambda: 1 / 0))


def test_scaling():
    """A multiple of any kind of cotangent is of that kind; thunks stay delayed."""
    assert scale(2.0, ZeroTangent()) is ZeroTangent()
    delayed = scale(2.0, thunk(lambda: np.ones(2)))
    assert isinstance(delayed, Thunk) and np.array_equal(unthunk(delayed), [2, 2])
    assert scale(2.0, (1.0, None)) == Tangent.at((0, 0), 0, 2.0)
    assert scale(2.0, np.ones(2, np.float32)).dtype == np.float32
    with pytest.raises(RuleShapeError):
        scale(np.ones(2), np.ones(2))


def test_a_long_chain_of_delayed_sums():
    """Accumulating many thousands of thunks does not run out of stack."""
    total = ZeroTangent()
    for _ in range(5000):
        total = add(total, thunk(lambda: 1.0))
    assert unthunk(total) == 5000.0


def test_sums_of_ints_do_not_wrap():
    """Two large ints, or two True, add up as numbers do."""
    big = np.array([2**62])
    assert add(big, big) == 2.0**63 and add(np.int8(100), np.int8(100)) == 200.0
    assert np.array_equal(add(np.array([True]), np.array([True])), [2.0])
    assert scale(2, np.int8(100)) == 200.0 and np.array_equal(scale(3, np.array([100], np.int8)), [300.0])
    assert add(2**62, 2**62) == 2**63


@pytest.mark.parametrize("bad", [np.array(["a", "b"]), np.array(["2020", "2021"], "M8[Y]")])
def test_arrays_of_text_and_dates_are_no_cotangents(bad):
    """They neither add nor concatenate."""
    for sum_of in (add, add_into):
        with pytest.raises(RuleDtypeError, match="is not a cotangent"):
            sum_of(np.ones(2), bad)
        with pytest.raises(RuleDtypeError, match="is not a cotangent"):
            sum_of(bad, bad)


def test_what_is_hidden_in_a_masked_array_is_not_added():
    """A masked entry does not slip into an accumulator."""
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    acc = np.zeros(2)
    assert add_into(acc, masked).tolist() == [1.0, None] and np.array_equal(acc, [0.0, 0.0])


def test_an_array_that_repeats_its_memory_is_no_accumulator():
    """Windows that overlap would be added into twice."""
    base = np.zeros(3)
    windows = np.lib.stride_tricks.as_strided(base, (2, 2), (8, 8))
    assert not is_inplaceable(windows) and is_inplaceable(np.zeros((4, 4))[::2, ::-1])
    assert np.array_equal(add_into(windows, np.ones((2, 2))), np.ones((2, 2))) and not base.any()
    assert is_inplaceable(np.zeros((1, 3))[:, ::2]) and not is_inplaceable(np.ma.zeros(2))


@pytest.mark.parametrize("bad", [None, "a", Tangent(tuple, 1.0), [2.0]])
def test_only_a_number_scales(bad):
    """A factor that is not a number is an error that says what it is."""
    with pytest.raises(RuleDtypeError, match=type(bad).__name__):
        scale(bad, 1.0)
    with pytest.raises(RuleDtypeError):
        Tangent(tuple, 1.0) * bad


def test_what_is_no_cotangent_has_no_multiple():
    """Text is not repeated."""
    for bad in ("ab", None, object()):
        with pytest.raises(RuleDtypeError, match="not a cotangent"):
            scale(2, bad)


def test_a_factor_may_be_zero_or_delayed():
    """A zero as a factor gives that zero; a thunk as a factor is computed."""
    assert scale(ZeroTangent(), Tangent(tuple, 1.0)) is ZeroTangent()
    assert Tangent(tuple, 1.0) * NoTangent() is NoTangent()
    assert thunk(lambda: 2.0) * Tangent(tuple, 1.0) == Tangent(tuple, 2.0)
    with pytest.raises(NotImplementedTangentError):
        scale(not_implemented("why"), 1.0)


class Plain:
    def __init__(self):
        self.w = 1.0


@pytest.mark.parametrize(
    "x, x_dot, said",
    [
        ([1.0, 2.0], Tangent(list, 1.0), "a list of length 2 cannot have a tangent of length 1"),
        ((1.0,), Tangent(tuple, 1.0, 2.0), "length 1"),
        ({"a": 1.0}, Tangent(dict, {"z": 1.0}), "the dict has no part 'z'"),
        (Plain(), Tangent(Plain, nope=1.0), "the Plain has no part 'nope'"),
    ],
)
def test_a_primal_is_moved_by_a_tangent_of_its_own_form(x, x_dot, said):
    """A tangent of other parts is refused, not applied to those that fit."""
    with pytest.raises(RuleShapeError, match=said):
        x + x_dot


def test_subclasses_of_containers_are_moved_as_they_are():
    """A defaultdict keeps its factory, an OrderedDict its order, a list of one's own its class."""
    counts = collections.defaultdict(float, a=1.0) + Tangent(collections.defaultdict, {"a": 0.5})
    assert counts == {"a": 1.5} and counts["new"] == 0.0
    ordered = collections.OrderedDict(b=1.0, a=2.0) + Tangent(collections.OrderedDict, {"a": 1.0})
    assert list(ordered.items()) == [("b", 1.0), ("a", 3.0)]
    x = [1.0, 2.0]
    assert add_to_primal(x, Tangent(list, 1.0, ZeroTangent())) == [2.0, 2.0] and x == [1.0, 2.0]


@pytest.mark.parametrize("total, said", [(None, "NoneType"), (np.ones(3), r"shape \(3,\)"), (2.0, "float")])
def test_an_in_place_form_returns_the_array_it_added_to(total, said):
    """Anything of another shape is an error that names the function and its line."""

    def forgetful(acc):
        return total

    with pytest.raises(
        RuleError, match=f"the add_into of forgetful must return .* not an? .*{said}"
    ) as caught:
        add_into(np.zeros(2), InplaceableThunk(forgetful, lambda: np.ones(2)))
    assert caught.value.place.function == "forgetful" and "return acc" in str(caught.value)


def test_the_error_of_an_in_place_form_names_it():
    """What the form raises comes with its name."""

    def my_pullback_form(acc):
        return acc + np.ones(7)

    with pytest.raises(ValueError) as caught:
        add_into(np.zeros(2), InplaceableThunk(my_pullback_form, lambda: np.ones(2)))
    assert "my_pullback_form" in caught.value.__notes__[0]
