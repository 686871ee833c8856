"""The inner form of tangents: what stands beside each kind of value, and the way in and out."""

import collections
import dataclasses
import enum
import functools
import re
import types
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from rulelab.errors import (
    NotDifferentiableError,
    NotImplementedTangentError,
    RuleDtypeError,
    RuleError,
    RuleShapeError,
)
from rulelab.tangents.missing import not_implemented
from rulelab.tangents.projection import FieldGradients
from rulelab.tangents.shadows import inner, natural, of_namedtuple, settled, zero_of, zeros_beside
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import Thunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent


def without_addresses(x):
    """What to call a value in a test's name, which must be the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(x))



NO = NoTangent()
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Model:
    w: object
    name: str = "m"


class Slotted:
    __slots__ = ("__own", "a")

    def __init__(self):
        self.a, self.__own = 1.0, 2.0


class Colour(enum.Enum):
    RED = 1.0


def same(a, b):
    """Nested values are alike in kind, dtype and number."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    elif isinstance(a, (list, tuple, deque)):
        assert len(a) == len(b)
        for left, right in zip(a, b):
            same(left, right)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, types.SimpleNamespace):
        same(vars(a), vars(b))
    else:
        assert a == b


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (2.0, 0.0),
        (3, 0.0),
        (True, NO),
        (1 + 1j, 0j),
        (np.float32(2.0), 0.0),
        (np.longdouble(2.0), np.longdouble(0.0)),
        ("a", NO),
        (None, NO),
        (len, NO),
        (Colour.RED, NO),
        (np.ones(2, np.float32), np.zeros(2, np.float32)),
        (np.ones(2, int), np.zeros(2)),
        (np.ones(2, complex), np.zeros(2, complex)),
        (np.ones(2, bool), NO),
        (np.array(["a"]), NO),
        (np.array([1.0], object), NO),
        ([1.0, [2]], [0.0, [0.0]]),
        ((1.0, "a"), (0.0, NO)),
        (Point(1.0, "a"), Point(0.0, NO)),
        ({"a": 1.0}, {"a": 0.0}),
        (OrderedDict(a=1.0), OrderedDict(a=0.0)),
        (defaultdict(list, {"a": [1.0]}), defaultdict(None, {"a": [0.0]})),
        (deque([1.0], 3), deque([0.0], 3)),
        (Model(1.0), types.SimpleNamespace(w=0.0, name=NO)),
        (Slotted(), types.SimpleNamespace(_Slotted__own=0.0, a=0.0)),
        (types.SimpleNamespace(a=1.0), types.SimpleNamespace(a=0.0)),
        (functools.partial(len, 2.0), types.SimpleNamespace(func=NO, args=(0.0,), keywords={})),
        ({1.0}, NO),
        (range(3), NO),
        (same, NO),
        (iter([1.0]), NO),
    ],
    ids=without_addresses,
)
def test_what_stands_beside_each_kind(x, expected):
    """Numbers, arrays, containers, objects; NoTangent for what cannot vary."""
    same(zero_of(x), expected)
    if isinstance(x, deque):
        assert zero_of(x).maxlen == 3


def test_a_nested_function_has_the_tangents_of_what_it_holds():
    """Captured variables, defaults, keyword defaults, in the order of the code object."""
    a, b = 1.0, np.ones(2)

    def f(x, y=3, *, z=4.0, name="n"):
        return a * b * x

    same(zero_of(f), ((0.0, np.zeros(2)), (0.0,), (0.0, NO)))
    assert zero_of(lambda x: x) is NO and zero_of((lambda s: lambda: s)("text")) is NO


def test_a_function_that_calls_itself():
    """It captures itself, which has no tangent of its own there."""
    scale = 2.0

    def power(n):
        return scale * power(n - 1) if n else 1.0

    assert zero_of(power) == ((NO, 0.0), (), ())


def test_shared_parts_and_cycles():
    """A part that occurs twice has one tangent, and a list that holds itself a tangent that does."""
    a, xs = np.ones(2), []
    beside = zero_of([a, {"again": a}])
    assert beside[0] is beside[1]["again"]
    xs.append(xs)
    dots = zero_of(xs)
    assert dots[0] is dots
    node = Model(1.0)
    node.w = (node,)
    assert zero_of(node).w[0].w[0].name is NO


BASE = np.arange(24.0).reshape(2, 3, 4)
LAYOUTS = {
    "plain": BASE, "transposed": BASE.T, "steps": BASE[:, ::2], "backwards": BASE[::-1], "cut": BASE[:, :2],
    "column": BASE[..., 0], "mixed": BASE.transpose(1, 0, 2), "both": BASE.T[::2, ::-1],
    "broadcast": np.broadcast_to(BASE[0, 0], (3, 4)), "one": BASE[:1, ::2], "empty": BASE[:0, ::2],
    "0-d": np.array(2.0), "float32": BASE.astype(np.float32)[:, ::2], "int": np.arange(6)[::2],
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_reshaped_tangent_is_a_view_where_the_array_is(name):
    """So what is written through a view is found in the whole, and what is written to a copy is not."""
    x = LAYOUTS[name]
    x_dot = zeros_beside(x)
    assert x_dot.shape == x.shape and not x_dot.any()
    x_dot[...] = numbers = np.arange(x.size).reshape(x.shape)
    assert np.array_equal(x_dot, numbers)  # no two elements share a place
    for order in "CFA":
        for shape in [(-1,), x.shape[::-1], (*x.shape, 1)]:
            if x.size:
                there, here = x.reshape(shape, order=order), x_dot.reshape(shape, order=order)
                assert np.shares_memory(there, x) == np.shares_memory(here, x_dot), (order, shape)


def test_a_column_of_a_large_matrix_has_a_small_tangent():
    """The gaps of the layout are kept, not their width."""
    column = np.ones((1000, 1000))[:, 3]
    assert zeros_beside(column).base.nbytes < 3 * column.nbytes


def test_what_a_container_keeps():
    """Zeros of numbers are written out; what others may write to stays without a tangent."""
    shared = [1.0]
    assert settled(3, NO) == 0.0 and settled(shared, NO) is NO and settled((1.0, shared), NO) == (0.0, NO)
    assert settled(shared, shared) is shared and settled("a", ZeroTangent()) is NO


def test_the_methods_of_a_namedtuple():
    """`_replace` and `_asdict`, of a constant too, and Python's own error for a name that is none."""
    x, x_dot = Point(1.0, 2.0), Point(3.0, 4.0)
    assert of_namedtuple("_replace", x, x_dot, {"x": 5.0}, {"x": 6.0}) == (Point(5.0, 2.0), Point(6.0, 4.0))
    assert of_namedtuple("_asdict", x, x_dot, {}, {}) == ({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0})
    assert of_namedtuple("_replace", x, NO, {"x": 5.0}, {"x": 6.0})[1] == Point(6.0, 0.0)
    with pytest.raises((TypeError, ValueError), match="unexpected"):
        of_namedtuple("_replace", x, x_dot, {"z": 5.0}, {"z": 6.0})


@pytest.mark.parametrize(
    ("x", "given", "expected"),
    [
        (2.0, 3, 3.0),
        (2.0, None, 0.0),
        (2.0, ZeroTangent(), 0.0),
        (2.0, np.array(3.0), 3.0),
        (2.0, Thunk(lambda: 3.0), 3.0),
        (2, 0.5, 0.5),
        (1j, 2.0, 2 + 0j),
        (np.ones(2), [1, 2], np.array([1.0, 2.0])),
        (np.ones(2, np.float32), np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32)),
        (np.array(1.0), 2.0, np.array(2.0)),
        (np.ones(2), None, np.zeros(2)),
        ([1.0, 2.0], [3.0, None], [3.0, 0.0]),
        ([1.0, 2.0], (3.0, 4.0), [3.0, 4.0]),
        ([1.0, 2.0], np.array([3.0, 4.0]), [3.0, 4.0]),
        ((1.0, "a"), Tangent(tuple, 3.0, NO), (3.0, NO)),
        (Point(1.0, 2.0), (3.0, 4.0), Point(3.0, 4.0)),
        (Point(1.0, 2.0), {"y": 4.0}, Point(0.0, 4.0)),
        ({"a": 1.0, "b": 2.0}, {"b": 4.0}, {"a": 0.0, "b": 4.0}),
        (deque([1.0]), [2.0], deque([2.0])),
        (
            Model(1.0),
            FieldGradients("Model", {"w": 3.0, "name": None}),
            types.SimpleNamespace(w=3.0, name=NO),
        ),
        (Model(1.0), {"w": 3.0}, types.SimpleNamespace(w=3.0, name=NO)),
        (Model(1.0), Tangent(Model, w=3.0), types.SimpleNamespace(w=3.0, name=NO)),
        (Model(1.0), Model(3.0, None), types.SimpleNamespace(w=3.0, name=NO)),
        ((lambda a: lambda: a)(2.0), {"a": 5.0}, ((5.0,), (), ())),
        ("a", None, NO),
    ],
    ids=without_addresses,
)
def test_a_callers_tangent_comes_into_the_inner_form(x, given, expected):
    """All the ways in which a caller may say it; what is left out is zero."""
    same(inner(x, given), expected)


def test_nothing_is_shared_with_what_was_given():
    """The caller's arrays are not written to."""
    x, given = [np.ones(2)], [np.ones(2)]
    found = inner(x, given)
    found[0][0] = 9.0
    assert given[0][0] == 1.0 and not np.shares_memory(found[0], x[0])


@pytest.mark.parametrize(
    ("x", "given", "kind", "words"),
    [
        (
            np.ones(2),
            np.ones(3),
            RuleShapeError,
            r"x has shape \(2,\) and cannot have a tangent of shape \(3,\)",
        ),
        (np.ones((2, 1)), np.ones(2), RuleShapeError, "shape"),
        (np.ones(2), 1.0, RuleShapeError, "shape"),
        (2.0, np.ones(2), RuleShapeError, "shape"),
        (2.0, "a", RuleDtypeError, "x is a float and cannot have a tangent of kind str"),
        (2.0, True, RuleDtypeError, "bool"),
        (2.0, 1j, RuleDtypeError, "x is real"),
        (np.ones(2), np.ones(2, complex), RuleDtypeError, "x is real"),
        (np.ones(2), np.array(["a", "b"]), RuleDtypeError, "array of"),
        (np.ones(2), [[1.0], [1.0, 2.0]], RuleDtypeError, "array of shape"),
        (True, 1.0, RuleDtypeError, "x is a bool, which cannot vary"),
        ([1.0], [1.0, 2.0], RuleShapeError, "length 1 and cannot have a tangent of length 2"),
        ([1.0], 1.0, RuleDtypeError, "list"),
        ([1.0], {"a": 1.0}, RuleDtypeError, "list"),
        ({"a": 1.0}, {"b": 1.0}, RuleShapeError, "no part 'b'"),
        ({"a": np.ones(2)}, {"a": np.ones(3)}, RuleShapeError, r"x\['a'\] has shape"),
        (Model(np.ones(2)), {"w": np.ones(3)}, RuleShapeError, r"x\.w has shape"),
        (Model(1.0), {"v": 1.0}, RuleShapeError, "no part 'v'"),
        (Model(1.0), 1.0, RuleDtypeError, "Model"),
    ],
    ids=str,
)
def test_a_tangent_that_does_not_fit_is_refused(x, given, kind, words):
    """With the name of the argument and of the part."""
    with pytest.raises(kind, match=words):
        inner(x, given, "x")


def test_one_array_in_two_places_has_one_tangent():
    """Two that differ are refused: the array could not move in both directions."""
    a, d = np.ones(2), np.arange(2.0)
    found = inner([a, a], [d, d.copy()])
    assert found[0] is found[1]
    with pytest.raises(RuleError, match="two tangents"):
        inner([a, a], [d, d + 1])


def test_a_tangent_that_nobody_has_derived_is_raised():
    """On the way in and on the way out."""
    for way in (inner, natural):
        with pytest.raises(NotImplementedTangentError):
            way(2.0, not_implemented("by the order"))


@pytest.mark.parametrize(
    ("y", "y_dot", "expected"),
    [
        (2.0, 3.0, 3.0),
        (2.0, np.float64(3.0), 3.0),
        (np.float32(2.0), 3.0, np.float32(3.0)),
        (2.0, NO, None),
        (2.0, ZeroTangent(), 0.0),
        (2.0, 3.0 + 1j, 3.0),
        (1j, 3.0, 3 + 0j),
        ("a", NO, None),
        (np.array(2.0), 3.0, np.array(3.0)),
        (np.ones(2), np.ones(2, complex), np.ones(2)),
        ([1.0, "a"], [2.0, NO], [2.0, None]),
        ((1.0,), (2.0,), (2.0,)),
        (Point(1.0, 2.0), Point(3.0, NO), Point(3.0, None)),
        ({"a": 1.0}, {"a": 2.0}, {"a": 2.0}),
        (deque([1.0]), deque([2.0]), deque([2.0])),
        (
            Model(1.0),
            types.SimpleNamespace(w=3.0, name=NO),
            FieldGradients("Model", {"w": 3.0, "name": None}),
        ),
    ],
    ids=without_addresses,
)
def test_what_a_caller_gets(y, y_dot, expected):
    """The form of the front door."""
    found = natural(y, y_dot)
    if isinstance(expected, FieldGradients):
        assert found == expected
    else:
        same(found, expected)


def test_what_a_caller_gets_is_its_own():
    """No memory is shared with the tangent, and a list that holds itself comes out as one."""
    y_dot = np.ones(2)
    assert not np.shares_memory(natural(y_dot, y_dot), y_dot)
    xs, dots = [1.0], [2.0]
    xs.append(xs), dots.append(dots)
    found = natural(xs, dots)
    assert found[0] == 2.0 and found[1] is found


def test_iterators_are_not_handed_out():
    """Somebody would read them on, and the tangents not: make a list."""
    with pytest.raises(NotDifferentiableError, match="zip"):
        natural(zip([1.0]), zip([1.0]))
    with pytest.raises(NotDifferentiableError, match="dict_values"):
        natural({"a": 1.0}.values(), {"a": 1.0}.values())


def test_a_result_whose_tangent_has_another_shape_is_refused():
    """A rule that answers with the wrong shape is found out."""
    for y, y_dot in ((np.ones(2), np.ones(3)), (2.0, np.ones(1)), ([1.0], [1.0, 2.0])):
        with pytest.raises(RuleShapeError):
            natural(y, y_dot)
