"""Any structure of numbers is one vector and back, and a cotangent of it is a vector of the same length."""

import collections
import dataclasses
import enum
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.measuring.vectors import cotangent_like, cotangent_vec, gradient_like, leaves, to_vec

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: float
    rest: object


class Checked:
    """Its constructor may not be called again."""

    made = 0

    def __init__(self):
        type(self).made += 1
        self.weights, self.count, self.name = np.arange(6.0).reshape(2, 3).T, 3, "net"


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x = 2.0


class Colour(enum.Enum):
    RED = 0.5


def same(a, b):
    """Whether two structures have the same kinds, dtypes, shapes and numbers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and all(map(same, a.ravel(), b.ravel()))
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (Frozen, Checked)):
        return same(vars(a), vars(b))
    return a == b or (a != a and b != b)


STRUCTURES = {
    "float": (2.5, 1),
    "float32": (np.float32(2.5), 1),
    "float64": (np.float64(2.5), 1),
    "longdouble": (np.longdouble(1) / 3, 1),
    "complex": (1 + 2j, 2),
    "complex64": (np.complex64(1 + 2j), 2),
    "array": (np.arange(6.0).reshape(2, 3), 6),
    "array of float32": (np.arange(3, dtype=np.float32), 3),
    "array of complex": (np.arange(3) * (1 + 2j), 6),
    "array of no dimension": (np.array(3.0), 1),
    "empty array": (np.zeros((0, 3)), 0),
    "transposed": (np.arange(6.0).reshape(2, 3).T, 6),
    "strided": (np.arange(12.0)[::-3], 4),
    "big-endian": (np.arange(3, dtype=">f8"), 3),
    "int": (3, 0),
    "bool": (True, 0),
    "text": ("name", 0),
    "None": (None, 0),
    "function": (math.sin, 0),
    "ufunc": (np.sin, 0),
    "array of ints": (np.arange(3), 0),
    "array of objects": (np.array(["a", None, 3], dtype=object), 0),
    "objects with numbers": (np.array([1.5, "a", np.ones(2)], dtype=object), 3),
    "member of an enum": (Colour.RED, 0),
    "tuple": ((1.0, 2, (3.0,)), 2),
    "empty tuple": ((), 0),
    "list": ([1.0, [2.0, np.ones(2)]], 4),
    "dict": ({"b": 1.0, "a": np.ones(2), 3: None}, 3),
    "ordered dict": (collections.OrderedDict(z=1.0, a=2.0), 2),
    "default dict": (collections.defaultdict(float, z=1.0), 1),
    "named tuple": (Pair(1.0, np.ones(2)), 3),
    "dataclass": (Frozen(1.0, {"w": np.ones(2)}), 3),
    "object": (Checked(), 6),
    "infinite": ([math.inf, math.nan], 2),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_there_and_back(name):
    """Every structure comes back with its kinds, dtypes, shapes and numbers, and has its entries."""
    x, size = STRUCTURES[name]
    vector, back = to_vec(x)
    assert vector.shape == (size,) and vector.dtype in (np.float64, np.longdouble)
    assert same(back(vector), x)


@pytest.mark.parametrize("name", STRUCTURES)
def test_other_numbers_come_back_too(name):
    """Entries that are changed in the vector are changed in the structure, and nowhere else."""
    x, size = STRUCTURES[name]
    vector, back = to_vec(x)
    moved = np.arange(1.0, size + 1).astype(vector.dtype)
    assert np.array_equal(to_vec(back(moved))[0], moved)
    assert np.array_equal(to_vec(x)[0], vector, equal_nan=True)


def test_the_vector_is_in_c_order_and_complex_numbers_are_two_reals():
    """The entries of an array by rows, real part first, whatever its layout."""
    vector, _ = to_vec(np.array([[1 + 2j, 3 + 4j], [5, 6j]]).T)
    assert vector.tolist() == [1, 2, 5, 0, 3, 4, 0, 6]
    assert to_vec(np.longdouble(1) / 3)[0][0] == np.longdouble(1) / 3


def test_nothing_is_shared():
    """A structure that comes back can be written to without harm to the first one, the vector or another."""
    x = {"w": np.ones(3), "n": np.arange(3), "deep": [np.ones(2)]}
    x["w"].flags.writeable = False
    vector, back = to_vec(x)
    one, other = back(vector), back(vector)
    for changed in (one["w"], one["n"], one["deep"][0]):
        changed += 1
    one["deep"].append(2.0)
    assert vector.tolist() == [1] * 5 and len(other["deep"]) == 1
    assert same({k: v for k, v in other.items()}, x)
    vector += 1
    assert x["w"].tolist() == [1, 1, 1]


def test_a_change_of_the_structure_afterwards_does_not_come_back():
    """What `back` gives is what the structure was when it was read."""
    x = [np.arange(3), 1.0, Checked()]
    vector, back = to_vec(x)
    x[0] += 5
    x[2].name = "other"
    assert back(vector)[0].tolist() == [0, 1, 2] and back(vector)[2].name == "net"


def test_objects_are_not_made_by_their_constructor():
    """A class that counts or checks its calls is not called; slots without a value stay so."""
    x, before = Checked(), Checked.made
    vector, back = to_vec(x)
    assert back(vector + 1).weights.tolist() == (x.weights + 1).tolist() and Checked.made == before
    vector, back = to_vec(Slotted())
    assert back(np.array([7.0])).x == 7.0 and not hasattr(back(vector), "y")


def test_the_layout_of_columns_first_is_kept():
    """A function that looks at the layout sees the same one."""
    vector, back = to_vec(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert vector.tolist() == [0, 1, 2, 3, 4, 5] and back(vector).flags.f_contiguous


def test_a_closure_has_its_numbers_as_entries():
    """What a function captured can be moved, and the function itself stays as it is."""

    def scaled(factor, shift):
        return lambda x: factor * x + shift[0] * len("text")

    f = scaled(2.0, np.ones(1))
    vector, back = to_vec(f)
    assert [leaf.name for leaf in leaves(f, "f")] == ["f.factor", "f.shift"] and vector.tolist() == [2.0, 1.0]
    assert back(np.array([3.0, 0.0]))(5.0) == 15.0 and f(5.0) == 14.0
    assert to_vec(lambda x: x)[0].size == 0


def test_leaves_have_the_names_a_person_writes():
    """Positions, keys and fields, nested, with where each begins and ends."""
    x = {"c": Checked(), "d": Frozen(1.0, [2.0, (3j,)]), "p": Pair(np.float32(4), 5), 7: np.ones((2, 2))}
    found = leaves(x, "p")
    assert [leaf.name for leaf in found] == [
        "p['c'].weights",
        "p['d'].rate",
        "p['d'].rest[0]",
        "p['d'].rest[1][0]",
        "p['p'].a",
        "p[7]",
    ]
    assert [(leaf.start, leaf.stop) for leaf in found] == [
        (0, 6),
        (6, 7),
        (7, 8),
        (8, 10),
        (10, 11),
        (11, 15),
    ]
    assert found[0].shape == (3, 2) and found[4].dtype == np.float32


def test_a_leaf_points_at_its_elements():
    """An entry of the vector is an index within its leaf, and for a complex number one of its parts."""
    (leaf,) = leaves(np.zeros((2, 3)))
    assert [leaf.where(i) for i in (0, 2, 3, 5)] == [(0, 0), (0, 2), (1, 0), (1, 2)] and leaf.part(2) == ""
    z, w = leaves([1j, np.zeros(2, complex)], "z")
    assert (z.where(1), z.part(0), z.part(1)) == ((), "re", "im")
    assert (w.where(5), w.part(4), w.spot(5), z.spot(0)) == ((1,), "re", "z[1][1].imag", "z[0].real")
    with pytest.raises(IndexError, match=r"z\[1\] has the entries 2 to 5, not 1"):
        w.where(1)


def test_what_is_no_vector_is_refused():
    """A vector of another length, a structure that holds itself, an array class that means other things."""
    vector, back = to_vec([1.0, 2.0])
    with pytest.raises(ValueError, match=r"has shape \(2,\), not \(3,\)"):
        back(np.ones(3))
    round_about = [1.0]
    round_about.append(round_about)
    with pytest.raises(ValueError, match=r"x\[1\] contains itself"):
        to_vec(round_about)
    with pytest.raises(TypeError, match=r"x is an array of class MaskedArray"):
        to_vec(np.ma.ones(3))


COTANGENTS = [
    (2.0, 3.0, [3.0]),
    (2.0, np.float32(3), [3.0]),
    (2.0, np.array(3.0), [3.0]),
    (2.0, 3, [3.0]),
    (2.0, 3 + 4j, [3.0]),
    (2j, 3 + 4j, [3.0, 4.0]),
    (2j, 3.0, [3.0, 0.0]),
    (np.zeros(2), rl.NoTangent(), [0.0, 0.0]),
    (np.zeros(2), rl.ZeroTangent(), [0.0, 0.0]),
    (np.zeros(2), None, [0.0, 0.0]),
    (np.zeros(2), rl.thunk(lambda: np.array([1.0, 2.0])), [1.0, 2.0]),
    (np.zeros(2), np.array([[1.0], [2.0]]), [1.0, 2.0]),
    (np.zeros((2, 2)), np.arange(4).reshape(2, 2).T, [0.0, 2.0, 1.0, 3.0]),
    (np.zeros(2, np.float32), np.array([1e-9, 1 + 1e-12]), [1e-9, 1 + 1e-12]),
    ((1.0, 2.0), (3.0, None), [3.0, 0.0]),
    ((1.0, 2.0), rl.Tangent(tuple, 3.0, 4.0), [3.0, 4.0]),
    ([1.0, 2.0], rl.Tangent.at([1.0, 2.0], 1, rl.thunk(lambda: 5.0)), [0.0, 5.0]),
    ([1.0, 2.0], np.array([3.0, 4.0]), [3.0, 4.0]),
    ((1.0, 2, 3.0), (5.0, 6.0, 7.0), [5.0, 7.0]),
    ({"a": 1.0, "b": np.zeros(2)}, {"b": np.ones(2)}, [0.0, 1.0, 1.0]),
    ({"a": 1.0, "b": 2.0}, rl.Tangent(dict, {"b": 4.0}), [0.0, 4.0]),
    (Pair(1.0, 2.0), rl.Tangent(Pair, b=4.0), [0.0, 4.0]),
    (Pair(1.0, 2.0), (3.0, 4.0), [3.0, 4.0]),
    (Pair(1.0, 2.0), Pair(3.0, 4.0), [3.0, 4.0]),
    (Frozen(1.0, [2.0]), rl.Tangent(Frozen, rest=[4.0]), [0.0, 4.0]),
    (Frozen(1.0, [2.0]), Frozen(3.0, [4.0]), [3.0, 4.0]),
    (Frozen(1.0, [2.0]), {"rate": 3.0}, [3.0, 0.0]),
    ("text", rl.NoTangent(), []),
    (np.array([1.0, "a"], object), np.array([2.0, None], object), [2.0]),
]


@pytest.mark.parametrize(("x", "x_bar", "expected"), COTANGENTS, ids=[str(i) for i in range(len(COTANGENTS))])
def test_a_cotangent_in_any_form_is_a_vector(x, x_bar, expected):
    """Every form a rule may return or take has its numbers where those of the primal are."""
    assert cotangent_vec(x, x_bar).tolist() == expected


@pytest.mark.parametrize(
    ("x", "x_bar", "error", "message"),
    [
        (np.zeros(2), np.zeros(3), ValueError, r"p has shape \(2,\), but its cotangent has shape \(3,\)"),
        (np.zeros(2), 1.0, ValueError, r"p has shape \(2,\), but its cotangent has shape \(\)"),
        ({"w": 1.0}, {"w": np.ones(2)}, ValueError, r"p\['w'\] has shape \(\), but .* has shape \(2,\)"),
        ((1.0, 2.0), (1.0,), ValueError, "p has length 2, but its cotangent has length 1"),
        ((1.0, 2.0), rl.Tangent(tuple, 1.0), ValueError, "p has length 2, but its cotangent has length 1"),
        ({"w": 1.0}, {"v": 1.0}, ValueError, "p has no part 'v', but its cotangent has one"),
        ((1.0, "a"), ("b", None), TypeError, r"p\[0\] cannot have a cotangent of kind str"),
        ((1.0,), 2.0, TypeError, "p, of class tuple, cannot have a cotangent of kind float"),
        ([1.0], rl.Tangent(Pair, a=1.0), TypeError, "p, of class list, .* of kind Tangent of Pair"),
        (np.zeros(2), np.array(["a", "b"]), TypeError, "p cannot have a cotangent of kind <U1 array"),
        (1.0, rl.NoTangent, TypeError, "p cannot have a cotangent of kind NoTangent"),
    ],
)
def test_what_does_not_fit_is_named(x, x_bar, error, message):
    """A cotangent of another shape, structure or kind says which leaf it does not fit."""
    with pytest.raises(error, match=message):
        cotangent_vec(x, x_bar, "p")


def test_a_cotangent_nobody_has_derived_is_raised():
    """It is not taken for zero."""
    with pytest.raises(rl.NotImplementedTangentError):
        cotangent_vec((1.0, 2.0), (1.0, rl.not_implemented("later")))


@pytest.mark.parametrize("name", [n for n in STRUCTURES if n not in ("empty array", "infinite")])
def test_a_vector_is_a_cotangent_and_back(name):
    """`cotangent_like` is the inverse of `cotangent_vec`, for numbers, arrays and structures."""
    x, size = STRUCTURES[name]
    vector = np.arange(1.0, size + 1)
    assert cotangent_vec(x, cotangent_like(x, vector)).tolist() == vector.tolist()
    assert cotangent_vec(x, gradient_like(x, vector)).tolist() == vector.tolist()


def test_cotangents_have_the_form_that_pullbacks_are_handed():
    """Arrays of the primal's dtype, Tangents for structures, zeros for integers, NoTangent for text."""
    x_bar = cotangent_like((np.zeros(2, np.float32), {"z": 1j, "n": 3}, "t"), np.array([1.0, 2.0, 3.0, 4.0]))
    array, mapping, text = x_bar
    assert array.dtype == np.float32 and mapping["z"] == 3 + 4j and mapping["n"] == 0.0
    assert text is rl.NoTangent() and isinstance(mapping, rl.Tangent)
    y, back = rl.pullback(lambda x: (x, {"twice": 2 * x}), 3.0)
    assert back(cotangent_like(y, np.array([1.0, 10.0]))) == (21.0,)
    with pytest.raises(ValueError, match=r"has shape \(1,\), not \(2,\)"):
        cotangent_like(1.0, np.ones(2))


def test_plain_arguments_are_put_back_each_in_memory_of_its_own():
    """As the numbers and arrays of any structure are, and what has no entry stays where it stands."""
    x = (2.0, np.array([[1.0, 3.0]]), None, 7, "sum", np.float64(5.0))
    vector, back = to_vec(x)
    assert vector.tolist() == [2.0, 1.0, 3.0, 5.0]
    first, second = back(vector), back(2 * vector)
    assert [type(part) for part in first] == [type(part) for part in x]
    assert second[0] == 4.0 and second[1].tolist() == [[2.0, 6.0]] and second[2:5] == (None, 7, "sum")
    assert not any(np.shares_memory(first[1], other) for other in (x[1], vector, second[1]))
    with pytest.raises(ValueError, match=r"has shape \(4,\), not \(5,\)"):
        back(np.zeros(5))


@pytest.mark.parametrize(
    "x, x_bar", [(2.0, np.float64(3.0)), (np.ones((2, 3)), np.arange(6.0).reshape(3, 2).T)]
)
def test_a_cotangent_of_another_type_or_layout_has_the_entries_of_any_other(x, x_bar):
    """In C order, and in memory of its own."""
    found = cotangent_vec(x, x_bar)
    assert found.tolist() == np.ravel(x_bar).tolist() and found.dtype == np.float64
    assert not np.shares_memory(found, np.asarray(x_bar))
