"""Tests of the way back to the primal's shape, dtype and structure."""

import copy
import dataclasses
import itertools
import pickle
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleDtypeError, RuleShapeError
from rulelab.tangents.projection import (
    ProjectTo,
    dense,
    project,
    to_natural,
    unbroadcast,
    zero_tangent,
    zeros_like,
)
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import Thunk, thunk, unthunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent


class Pair(NamedTuple):
    left: float
    right: object


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    _b: float
    name: str = "dense"


NUMBERS = [
    (1.0, 2 + 3j, 2.0, float), (3, np.float32(2), 2.0, float), (np.float32(1), 2.0, 2.0, np.float32),
    (np.int8(1), 2, 2.0, float), (1j, 2.0, 2 + 0j, complex), (np.complex64(1), 2j, 2j, np.complex64),
    (1.0, np.array(2.0), 2.0, float), (np.float64(1), 2, 2.0, np.float64),
]  # fmt: skip


@pytest.mark.parametrize("x, x_bar, value, kind", NUMBERS)
def test_numbers_keep_their_kind(x, x_bar, value, kind):
    """A real number gets a real gradient of its own width; an int gets a float."""
    got = ProjectTo(x)(x_bar)
    assert got == value and type(got) is kind


@pytest.mark.parametrize(
    "x", [True, np.bool_(1), "a", None, len, np.sin, np, int, slice(1), np.array([True]), np.array("s")]
)
def test_what_cannot_vary_gets_no_tangent(x):
    """Bools, text, None, functions, modules and classes have no gradient."""
    assert ProjectTo(x)(1.0) is NoTangent() and to_natural(x, 1.0) is None


def test_arrays_keep_shape_and_width():
    """An array's gradient has its shape and float width; int arrays get float64."""
    assert project(np.zeros(2, np.float32), np.ones(2)).dtype == np.float32
    assert project(np.zeros(2, int), np.ones(2, np.float32)).dtype == np.float64
    assert project(np.zeros(2), np.array([1 + 2j, 3])).dtype == np.float64
    assert project(np.zeros(2, ">f8"), np.ones(2)).dtype == np.float64
    assert project(np.zeros(2), np.ones((2, 1))).shape == (2,)
    got = project(np.array(1.0), 2.0)
    assert isinstance(got, np.ndarray) and got.shape == ()


def test_nothing_to_do_returns_the_same_array():
    """A cotangent that already fits is not copied."""
    x_bar = np.ones(2)
    assert project(np.zeros(2), x_bar) is x_bar and ProjectTo(np.zeros(2))(x_bar) is x_bar


@pytest.mark.parametrize(
    "shape, given", [((3,), (1, 3)), ((3,), ()), ((2, 3), (3, 2)), ((), (3,)), ((3,), (4,))]
)
def test_another_shape_is_an_error_that_names_both(shape, given):
    """A gradient of another shape is refused in words, never broadcast."""
    with pytest.raises(RuleShapeError) as caught:
        project(np.zeros(shape), np.ones(given))
    assert f"variable with shape {shape} cannot have a gradient with shape {given}" in str(caught.value)


def test_wrong_kinds_are_refused_with_a_hint():
    """None and the class instead of the object are refused with what to write."""
    with pytest.raises(RuleDtypeError, match=r"rl.ZeroTangent\(\)"):
        project(1.0, None)
    with pytest.raises(RuleDtypeError, match=r"call it: rl.NoTangent\(\)"):
        project(np.zeros(2), NoTangent)
    for bad in ("a", {}, [1.0, 2.0], np.array(["a", "b"])):
        with pytest.raises(RuleDtypeError):
            project(np.zeros(2), bad)


def test_zeros_and_thunks_stay_what_they_are():
    """Projection computes nothing that nobody asked for."""
    assert ProjectTo(np.zeros(2))(ZeroTangent()) is ZeroTangent()
    delayed = ProjectTo(np.zeros(2, np.float32))(thunk(lambda: np.ones(2)))
    assert isinstance(delayed, Thunk) and not delayed.evaluated and unthunk(delayed).dtype == np.float32


def test_structures_part_by_part():
    """Tuples, lists, dicts, NamedTuples and objects are projected entry by entry."""
    assert project((1.0, np.zeros(1)), (2j, None)) == Tangent.at((0, 0), 0, 0.0)
    assert project([1.0, 2.0], np.array([3.0, 4.0])) == Tangent(list, 3.0, 4.0)
    assert project({"a": 1.0, "b": "t"}, {"a": 2}) == Tangent(dict, {"a": 2.0})
    assert project(Pair(1.0, 2), Tangent(Pair, right=3)) == Tangent(Pair, right=3.0)
    assert project(Layer(np.zeros(2), 1.0), {"w": np.ones((2, 1))}) == Tangent(Layer, w=np.ones(2))
    assert ProjectTo(("a", True))((1, 1)) is NoTangent()
    for x, bad in [((1.0,), (1.0, 2.0)), ({"a": 1.0}, {"b": 1.0}), ([1.0, 2.0], np.ones(3))]:
        with pytest.raises(RuleShapeError):
            project(x, bad)


def test_a_rule_may_hand_on_the_gradient_of_an_object():
    """As `rl.pullback` returns it, with None where nothing flowed."""

    @dataclasses.dataclass
    class Line:
        slope: float
        start: float

    def value(line, x):
        return line.slope * x

    def twice(line, x):
        return 2 * value(line, x)

    @rl.rrule_for(twice)
    def twice_rule(line, x):
        y, back = rl.pullback(value, line, x)
        return 2 * y, lambda y_bar: (rl.NoTangent(), *back(2 * y_bar))

    line_bar, x_bar = rl.gradient(twice, Line(3.0, 1.0), 5.0)
    assert (line_bar.slope, line_bar.start, x_bar) == (10.0, None, 6.0)
    assert rl.rule_check(twice, Line(3.0, 1.0), 5.0).verdict == "right"


def test_an_object_that_holds_itself():
    """A cyclic object does not hang the projection."""

    class Node:
        pass

    node = Node()
    node.me, node.value = node, 2.0
    assert project(node, Tangent(Node, value=3)) == Tangent(Node, value=3.0)


SHAPES = [(), (1,), (3,), (3, 1), (1, 3), (2, 3), (0, 3)]


@pytest.mark.parametrize("a, b", list(itertools.product(SHAPES, repeat=2)))
def test_unbroadcast_undoes_every_broadcast(a, b):
    """For each pair of shapes that broadcast, the sum over repeated axes has the shape and the total of the
    operand.
    """
    try:
        full = np.broadcast_shapes(a, b)
    except ValueError:
        return
    y_bar = np.random.default_rng(0).standard_normal(full)
    got = unbroadcast(y_bar, np.zeros(a))
    repeated = np.broadcast_to(np.arange(np.prod(a)).reshape(a), full)  # <x repeated, ȳ> = <x, x̄>
    assert np.shape(got) == a
    assert np.isclose(np.sum(repeated * y_bar), np.sum(np.arange(np.prod(a)).reshape(a) * got))


@pytest.mark.parametrize(
    ("given", "shape"),
    [((600, 3), (3,)), ((5, 200, 2), (5, 1, 2)), ((2, 300, 4), (4,)), ((70, 9, 8), (9, 8))],
)
def test_long_columns_of_short_rows_are_summed(given, shape):
    """As by NumPy, to the last few digits; an overflow is NumPy's, with its warning."""
    x_bar = np.sin(np.arange(float(np.prod(given)))).reshape(given)
    total = unbroadcast(x_bar, np.zeros(shape))
    lead = tuple(range(len(given) - len(shape)))
    axes = lead + tuple(k for k in range(len(lead), len(given)) if shape[k - len(lead)] != given[k])
    np.testing.assert_allclose(total, x_bar.sum(axes).reshape(shape), rtol=1e-12, atol=1e-12)
    x_bar.flat[:2] = np.inf, 1e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(np.isinf(unbroadcast(x_bar, np.zeros(shape))).sum(), 1)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        unbroadcast(np.full(given, 1e308), np.zeros(shape))


def test_unbroadcast_of_numbers_and_complex():
    """A number gets a number, a real operand a real cotangent."""
    assert type(unbroadcast(np.ones(3), 2.0)) is float and unbroadcast(np.ones(3), 2.0) == 3.0
    assert unbroadcast(2 + 3j, 1.0) == 2.0 and unbroadcast(2 + 3j, 1j) == 2 + 3j
    assert unbroadcast(np.array([1j, 2]), np.zeros(2)).dtype == float
    assert unbroadcast(np.ones((2, 3)), [1.0, 2.0, 3.0]) == Tangent(list, 2.0, 2.0, 2.0)
    x_bar = np.ones(3)
    assert unbroadcast(x_bar, np.zeros(3)) is x_bar
    with pytest.raises(RuleShapeError):
        unbroadcast(np.ones(2), np.zeros(3))


def test_what_the_front_door_returns():
    """Gradients have the structure of the argument, None where nothing flowed and zeros where the derivative
    is zero.
    """
    assert to_natural((1.0, "a", [2]), Tangent(tuple, 1, NoTangent(), (5,))) == (1.0, None, [5.0])
    assert to_natural((1.0, 2.0), Tangent.at((0, 0), 1, 3.0)) == (None, 3.0)
    assert to_natural([1.0, 2.0], Tangent(list, np.float64(2), ZeroTangent())) == [2.0, 0.0]
    assert to_natural((1.0, 2.0), Tangent(list, 3.0, 4.0)) == (3.0, 4.0)
    assert to_natural([1.0, 2], Tangent(list, 3.0, 1j)) == [3.0, 0.0]
    assert [type(entry) for entry in to_natural([1.0, np.float32(1)], Tangent(list, np.float64(2), 1.0))] == [
        float,
        np.float32,
    ]
    for wrong in (Tangent(list, 1.0), Tangent(list, 1.0, 2.0, 3.0)):
        with pytest.raises(RuleShapeError):
            to_natural([1.0, 2.0], wrong)
    assert to_natural(Pair(1.0, 2), Tangent(Pair, 1, ZeroTangent())) == Pair(1.0, 0.0)
    assert to_natural({"a": 1.0}, ZeroTangent()) == {"a": 0.0}
    g = to_natural(Layer(np.zeros(2), 1.0), Tangent(Layer, _b=2.0))
    assert g.w is None and g._b == 2.0 and g.name is None and repr(g) == "Layer(w=None, _b=2.0, name=None)"
    assert to_natural(3, ZeroTangent()) == 0.0 and to_natural(3, NoTangent()) is None


def test_gradients_are_fresh_and_writable():
    """A returned gradient shares memory with nothing, so I may change it."""
    x_bar = np.ones(2)
    got = to_natural(np.zeros(2), x_bar)
    got[0] = 7
    assert x_bar[0] == 1 and to_natural(np.zeros(3), np.broadcast_to(1.0, 3)).flags.writeable
    assert to_natural(np.zeros(2), x_bar, owned=True) is x_bar


def test_dense_seeds():
    """A pullback of several outputs gets numbers for all of them, zeros for those nobody used."""
    y = (1.0, np.zeros(2))
    assert dense(y, (None, np.ones(2))) == Tangent(tuple, 0.0, np.ones(2))
    assert dense(y, Tangent(tuple, thunk(lambda: 2), ZeroTangent())) == Tangent(tuple, 2.0, np.zeros(2))
    assert np.array_equal(dense(np.ones(2), ZeroTangent()), [0, 0]) and zeros_like("a") is NoTangent()


def test_a_subclass_of_array_does_not_get_through():
    """A matrix among the cotangents would multiply as one later: the cotangent of an array is an array."""
    for kind in (np.matrix, type("Mine", (np.ndarray,), {})):
        got = project(np.zeros((1, 2)), np.ones((1, 2)).view(kind))
        assert type(got) is np.ndarray and np.array_equal(got, [[1, 1]])
    assert type(project(np.ones((1, 2)).view(np.matrix), np.ones((1, 2)))) is np.ndarray


def test_a_masked_array_is_refused_in_words():
    """Whether what is hidden counts is for the rule to say."""
    with pytest.raises(RuleDtypeError, match="MaskedArray") as caught:
        project(np.zeros(2), np.ma.array([1.0, 2.0], mask=[False, True]))
    assert "filled(0.0)" in str(caught.value)


def test_arrays_of_objects_are_looked_through():
    """Numbers in an object array count; None and text in it do not become nan."""
    assert project(np.zeros(2), np.array([1, 2j], object)).tolist() == [1.0, 0.0]
    assert project(np.zeros(2, complex), np.array([1, 2j], object)).tolist() == [1.0, 2j]
    for bad in (None, "2", True):
        with pytest.raises(RuleDtypeError, match=type(bad).__name__):
            project(np.zeros(2), np.array([1.0, bad], object))


def test_a_bool_array_is_no_cotangent():
    """A condition returned for a derivative is refused, and called what it is."""
    with pytest.raises(RuleDtypeError, match="bool array"):
        project(np.zeros(2), np.array([True, False]))


@pytest.mark.parametrize(
    "x", [1.0, np.float32(1), np.zeros((2, 1)), (1.0, "a", [2.0]), Layer(np.zeros(2), 1.0), "a"]
)
def test_a_projector_travels_and_is_shown(x):
    """A projector kept by a pullback can be copied, sent to a worker, and says what it projects to."""
    projector = ProjectTo(x)
    for other in (copy.copy(projector), copy.deepcopy(projector), pickle.loads(pickle.dumps(projector))):
        assert repr(other) == repr(projector) and repr(other).startswith("<ProjectTo ")
        assert repr(other(zeros_like(x))) == repr(zeros_like(x))
    assert pickle.loads(pickle.dumps(ProjectTo("a"))) is ProjectTo("b")


def test_a_projector_of_an_object_that_holds_itself_travels():
    """A cycle neither hangs the pickle nor the repr."""
    x = [1.0]
    x.append(x)
    other = pickle.loads(pickle.dumps(ProjectTo(x)))
    assert other([2, None]) == Tangent.at([0, 0], 0, 2.0) and repr(other) == "<ProjectTo list of 2 parts>"


def test_thunks_in_parts_and_for_what_cannot_vary():
    """A thunk in a Tangent stays one and is projected within; one for a text is dropped, not run."""
    got = project((np.zeros(2, np.float32), 1.0), Tangent(tuple, thunk(lambda: np.ones((2, 1))), 2j))
    assert isinstance(got[0], Thunk) and not got[0].evaluated and got[1] == 0.0
    assert unthunk(got[0]).dtype == np.float32 and unthunk(got[0]).shape == (2,)
    assert ProjectTo("text")(thunk(lambda: 1 / 0)) is NoTangent()
    with pytest.raises(RuleShapeError, match=r"shape \(2,\) cannot have a gradient with shape \(1, 2\)"):
        unthunk(ProjectTo(np.zeros(2))(thunk(lambda: np.ones((1, 2)))))
    assert ProjectTo(thunk(lambda: np.float32(1)))(2.0).dtype == np.float32


def test_zero_tangents_are_written_out():
    """The zeros that go with a primal: of its shapes and widths, NoTangent for what cannot vary."""
    zeros = zero_tangent(Layer(np.ones(2, np.float32), 1.0))
    assert zeros.w.dtype == np.float32 and zeros._b == 0.0 and zeros.name is NoTangent()
    assert zero_tangent("a") is NoTangent() and zero_tangent(thunk(lambda: 2j)) == 0j
    assert Layer(np.ones(2), 1.0) + zero_tangent(Layer(np.ones(2), 1.0)) is not None
