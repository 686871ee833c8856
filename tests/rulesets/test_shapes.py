"""Shapes, layouts and dtypes through differentiated code: broadcasting, every form of index, odd arrays.

The oracle is the function itself: for linear ones the difference of two values is exact, for others central
differences of the plain NumPy function are taken.
"""

import operator
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.rulesets.ufunc_methods import BINARY

# -- the oracle ----------------------------------------------------------------------------------------------


def linear_gradient(f, x):
    """The gradient of a real linear function of an array: what each element adds, exactly."""
    wide = np.array(x, complex if np.iscomplexobj(x) else float)
    out, base = np.zeros(wide.shape, wide.dtype), f(np.zeros_like(wide))
    for index in np.ndindex(*wide.shape):
        for unit in (1, 1j) if np.iscomplexobj(wide) else (1,):
            step = np.zeros_like(wide)
            step[index] = unit
            out[index] += unit * (f(step) - base)
    return out


def difference(f, x, step):
    """The derivative of f at x along a step, by central differences with one extrapolation."""
    at = lambda h: (f(x + h * step) - f(x - h * step)) / (2 * h)
    return (4 * at(5e-4) - at(1e-3)) / 3


def gradient_by_differences(f, x):
    """The gradient of a real function of a real array."""
    wide, out = np.array(x, float), np.zeros(np.shape(x))
    for index in np.ndindex(*out.shape):
        step = np.zeros(out.shape)
        step[index] = 1.0
        out[index] = difference(f, wide, step)
    return out


# -- broadcasting --------------------------------------------------------------------------------------------

SHAPES = [(), (1,), (3,), (3, 1), (1, 3), (2, 3), (0, 3)]


def fits(left, right):
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        return False
    return True


PAIRS = [(left, right) for left in SHAPES for right in SHAPES if fits(left, right)]
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.mod,
    operator.floordiv,
]
CONDITIONAL = [lambda a, b: np.where(a > 1.5, a * a, b), lambda a, b: np.clip(a, 0.5, b)]


def operands(left, right):
    """Arrays of these shapes away from each other, from whole multiples and from zero."""
    a = 1.31 + 0.17 * np.arange(np.prod(left, dtype=int)).reshape(left)
    b = 2.06 + 0.23 * np.arange(np.prod(right, dtype=int)).reshape(right)
    return a, b


def weighted(f, a, b):
    """A real function of both operands that knows every element of the result apart."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    weights = 1.0 + 0.5 * np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return lambda a, b: np.sum(weights * f(a, b))


@pytest.mark.every(3)
@pytest.mark.parametrize("f", [*OPERATORS, *BINARY, *CONDITIONAL], ids=lambda f: getattr(f, "__name__", "?"))
def test_every_pair_of_shapes_has_gradients_of_the_operands_shapes(f):
    """Whatever was broadcast against whatever, a gradient has the shape of its argument, and its value."""
    for left, right in PAIRS:
        a, b = operands(left, right)
        loss = weighted(f, a, b)
        a_bar, b_bar = rl.gradient(loss, a, b)
        for x, x_bar, alone in ((a, a_bar, lambda v, b=b: loss(v, b)), (b, b_bar, lambda v, a=a: loss(a, v))):
            assert np.shape(x_bar) == np.shape(x), (left, right)
            if f is not np.nextafter:
                np.testing.assert_allclose(
                    x_bar, gradient_by_differences(alone, x), rtol=1e-7, atol=1e-7, err_msg=f"{left} {right}"
                )


@pytest.mark.every(5)
@pytest.mark.parametrize("f", [*OPERATORS[:5], np.add, np.hypot, np.power, np.arctan2, np.logaddexp])
@pytest.mark.parametrize(
    "number", [2.5, 2, np.float64(2.5), np.float32(2.5), np.array(2.5), np.int8(2)], ids=repr
)
def test_numbers_of_every_kind_meet_arrays(f, number):
    """A number is broadcast like a 0-d array: its gradient is one number, and that of the array an array."""
    x = np.array([1.31, 0.5, 2.2])
    x_bar, n_bar = rl.gradient(lambda x, n: np.sum(f(x, n)), x, number)
    assert x_bar.shape == (3,) and np.shape(n_bar) == ()
    np.testing.assert_allclose(
        x_bar, gradient_by_differences(lambda v: np.sum(f(v, float(number))), x), rtol=1e-6
    )
    np.testing.assert_allclose(
        n_bar, gradient_by_differences(lambda v: np.sum(f(x, v)), float(number)), rtol=1e-6
    )
    n_bar, x_bar = rl.gradient(lambda n, x: np.sum(f(n, x)), number, x)
    np.testing.assert_allclose(
        x_bar, gradient_by_differences(lambda v: np.sum(f(float(number), v)), x), rtol=1e-6
    )


# -- every form of index -------------------------------------------------------------------------------------

CUBE = np.arange(24.0).reshape(2, 3, 4)
INDICES = {
    "int": 1,
    "negative": -1,
    "int of numpy": np.int64(1),
    "0-d array": np.array(1),
    "slice": slice(0, 1),
    "steps": (slice(None), slice(None, None, 2)),
    "backwards": slice(None, None, -1),
    "empty slice": slice(2, 2),
    "slice past the end": (0, slice(1, 99)),
    "ellipsis": Ellipsis,
    "ellipsis and int": (Ellipsis, -2),
    "newaxis": None,
    "newaxis inside": (0, None, slice(None), None),
    "tuple": (1, 2, 3),
    "tuple of everything": (slice(None), None, 1, Ellipsis, slice(3, 0, -2)),
    "nothing": (),
    "int array": np.array([0, 1, 0]),
    "repeated": [0, 0, 0, 1],
    "negative array": np.array([-1, 0]),
    "array of two axes": np.array([[0, 1], [1, 1]]),
    "no indices": np.array([], int),
    "two arrays": ([0, 1, 1], [2, 0, 0]),
    "broadcast arrays": (np.array([[0], [1]]), np.array([2, 2])),
    "array and slice": ([0, 0], slice(None), 1),
    "slice between arrays": ([0, 1, 1], slice(None), [0, 3, 3]),
    "slice and arrays": (slice(None), [1, 1], [3, 3]),
    "array and newaxis": (None, [1, 1]),
    "array and ellipsis": (Ellipsis, [3, 3, 0]),
    "0-d array in a tuple": (np.array(1), slice(None), np.array(2)),
    "mask": CUBE > 7,
    "mask of the first axis": np.array([True, False]),
    "mask of two axes": np.array([[True, False, True], [False, False, True]]),
    "mask and slice": (slice(None), np.array([True, False, True]), slice(0, 2)),
    "mask and array": (np.array([True, True]), [1, 1]),
    "mask and int": (np.array([False, True]), 1),
    "mask of nothing": np.zeros((2, 3, 4), bool),
    "list mask": [True, False],
    "true": True,
    "false": False,
    "ix_": np.ix_([0, 1, 1], [2, 0]),
    "uint": np.array([1, 1], np.uint8),
}
KINDS = {
    "f8": lambda x: x,
    "f4": lambda x: x.astype(np.float32),
    "complex": lambda x: x + 1j * x[::-1],
    "fortran": np.asfortranarray,
    "reversed": lambda x: x[::-1, :, ::-1],
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "read-only": lambda x: _read_only(x),
    "repeated": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "integers": lambda x: x.astype(int),
}


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.every(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", INDICES)
def test_every_form_of_index(form, kind):
    """What an index reads gets its cotangent, twice where it is read twice; the rest gets exactly zero."""
    index, x = INDICES[form], KINDS[kind](CUBE)
    weights = np.cos(1.0 + np.arange(np.size(x[index]))).reshape(np.shape(x[index]))
    if kind == "complex":
        weights = weights * (1 - 2j)
    loss = lambda v: np.sum(np.real(weights * v[index]))
    (x_bar,) = rl.gradient(loss, x)
    assert x_bar.shape == x.shape and x_bar.dtype == (float if kind == "integers" else x.dtype)
    tolerance = 1e-5 if x.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(x_bar, linear_gradient(loss, x), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("x", "index"),
    [
        (np.array(2.5), ()),
        (np.array(2.5), Ellipsis),
        (np.array(2.5), None),
        (np.array(2.5), True),
        (np.array(2.5), np.array(True)),
        (np.zeros((0, 3)), slice(None)),
        (np.zeros((0, 3)), (slice(None), 1)),
        (np.zeros((0, 3)), np.zeros((0, 3), bool)),
        (np.zeros((2, 0)), [0, 0]),
        (np.zeros((2, 0)), 1),
        (np.zeros(0), np.array([], int)),
    ],
    ids=str,
)
def test_indices_of_0d_and_empty_arrays(x, index):
    """An array without axes or without elements keeps its shape on the way back."""
    (x_bar,) = rl.gradient(lambda v: np.sum(v[index] * 3.0), x)
    assert x_bar.shape == x.shape
    np.testing.assert_array_equal(x_bar, linear_gradient(lambda v: np.sum(v[index] * 3.0), x))


def test_an_index_out_of_bounds_is_numpys_own_error():
    """The gradient of what cannot be computed is the error of computing it."""
    with pytest.raises(IndexError, match="out of bounds"):
        rl.gradient(lambda v: v[5], np.ones(3))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_take_in_every_mode(mode):
    """`np.take` and the method, along every axis."""
    indices = [0, 1, 1] if mode == "raise" else [-7, 5, 1, 1]
    for axis in (None, 0, 1, -1):
        for f in (
            lambda v, a=axis: np.sum(np.take(v, indices, a, mode=mode) ** 1),
            lambda v, a=axis: np.sum(v.take(indices, axis=a, mode=mode)),
        ):
            np.testing.assert_allclose(rl.gradient(f, CUBE)[0], linear_gradient(f, CUBE))


def test_a_flat_iterator_is_refused_and_ravel_is_not():
    """`x.flat[i]` reads through an iterator that is not followed."""
    with pytest.raises(RuleLabError, match="flat"):
        rl.gradient(lambda v: v.flat[3], CUBE)
    assert rl.gradient(lambda v: v.ravel()[3], CUBE)[0][0, 0, 3] == 1.0


# -- layouts and dtypes --------------------------------------------------------------------------------------

M = np.array([[0.5, 1.25, 2.0], [3.0, 1.5, 2.75]])
LOSSES = {
    "product": lambda x: np.sum(x * x * np.exp(-x)),
    "matmul": lambda x: np.sum((x @ x.T) ** 2),
    "reduction": lambda x: np.sum(np.mean(x, axis=0) * np.max(x, axis=0)) + np.std(x),
    "reshape": lambda x: np.sum(np.arange(6.0) * x.reshape(-1)) + x.T[2, 0] ** 2,
    "indexing": lambda x: x[0, 1] * np.sum(x[:, [0, 0, 2]]),
    "elements": lambda x: sum([v * v for v in x[0]]),
    "joining": lambda x: np.sum(np.concatenate([x, x[:, ::-1]], axis=1) ** 2 * np.arange(6.0)),
    "sorting": lambda x: np.sum(np.sort(x, axis=1) * np.arange(3.0)) + np.median(x),
    "fft": lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2),
    "norm": lambda x: np.linalg.norm(x) + np.linalg.norm(x, "nuc"),
}


@pytest.fixture
def layouts(tmp_path):
    """The same matrix as it may lie in memory."""
    mapped = np.memmap(tmp_path / "m", float, "w+", shape=M.shape)
    mapped[:] = M
    wide = np.zeros((4, 9))
    wide[::2, ::3] = M
    return {
        "fortran": np.asfortranarray(M),
        "reversed": M[::-1, ::-1].copy()[::-1, ::-1],
        "strided": wide[::2, ::3],
        "transposed": M.T.copy().T,
        "read-only": _read_only(M),
        "memory-mapped": mapped,
        "swapped bytes": M.astype(">f8"),
        "unaligned": _unaligned(M),
    }


def _unaligned(x):
    buffer = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    buffer[...] = x
    return buffer


@pytest.mark.every(2)
@pytest.mark.parametrize("name", LOSSES)
def test_the_layout_in_memory_changes_nothing(name, layouts):
    """Fortran order, strides, reversed axes, read-only or mapped memory: the gradient of the same numbers."""
    f = LOSSES[name]
    expected = gradient_by_differences(f, M)
    for layout, x in layouts.items():
        (x_bar,) = rl.gradient(f, x)
        np.testing.assert_allclose(x_bar, expected, rtol=1e-6, atol=1e-8, err_msg=layout)
        assert type(x_bar) is np.ndarray and x_bar.flags.writeable, layout
        assert not np.shares_memory(x_bar, x), layout


def test_an_array_that_is_one_number_repeated():
    """Every element of a `broadcast_to` view has its own gradient."""
    x = np.broadcast_to(2.0, (2, 3))
    np.testing.assert_array_equal(rl.gradient(lambda v: np.sum(v * np.arange(3.0)), x)[0], [[0, 1, 2]] * 2)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float32, 1e-5), (np.longdouble, 1e-6), (np.float16, 2e-2)]
)
def test_other_widths_are_right_or_refused(name, dtype, tolerance):
    """float32 in, float32 out, as good as that allows; the rarer widths likewise, or an error of NumPy's or
    ours.
    """
    f, expected = LOSSES[name], gradient_by_differences(LOSSES[name], M)
    try:
        (x_bar,) = rl.gradient(f, M.astype(dtype))
    except (RuleLabError, TypeError):
        assert dtype is not np.float32
        return
    assert x_bar.dtype == dtype
    np.testing.assert_allclose(x_bar.astype(float), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16])
def test_whole_numbers_have_float_gradients(dtype):
    """What is computed with has a gradient, whatever its dtype: not zeros, not whole numbers."""
    (x_bar,) = rl.gradient(lambda x: np.sum(x * x * 0.5), np.array([1, 2, 3], dtype))
    assert x_bar.dtype == float
    np.testing.assert_array_equal(x_bar, [1, 2, 3])


def test_truth_values_have_none():
    """A boolean array never gets a gradient, and does not stand in the way of one."""
    mask, x = np.array([True, False]), np.array([1.0, 2.0])
    mask_bar, x_bar = rl.gradient(lambda m, x: np.sum(np.abs(m * x)), mask, x)
    assert mask_bar is None
    np.testing.assert_array_equal(x_bar, [1, 0])


@pytest.mark.parametrize("name", ["product", "reduction", "reshape"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arrays_keep_their_shape_or_raise_what_numpy_raises(name, shape):
    """The gradient of a function of no numbers is an array of no numbers."""
    f, x = LOSSES[name], np.zeros(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f(x)
        except Exception as error:
            with pytest.raises(type(error)):
                rl.gradient(f, x)
        else:
            assert rl.gradient(f, x)[0].shape == shape


# -- classes with arithmetic of their own --------------------------------------------------------------------


class Own(np.ndarray):
    """An array class whose product is a sum."""

    def __mul__(self, other):
        return np.add(self, other)


MASKED = np.ma.array([1.0, 2.0, 4.0], mask=[False, True, False])
USES = {
    "product": lambda x, c: np.sum(x * c),
    "product the other way": lambda x, c: np.sum(c * x),
    "ufunc": lambda x, c: np.sum(np.multiply(x, c)),
    "dot": lambda x, c: np.dot(x, c),
    "where": lambda x, c: np.sum(np.where(c > 1, x, c)),
    "joining": lambda x, c: np.sum(np.concatenate([x, c])),
    "stacking": lambda x, c: np.sum(np.stack([x, c])[1]) + x[0],
    "einsum": lambda x, c: np.einsum("i,i->", x, c),
    "average": lambda x, c: np.average(x, weights=c),
    "ufunc method": lambda x, c: np.sum(np.multiply.outer(x, c)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("constant", [MASKED, np.arange(3.0).view(Own)], ids=["masked", "own"])
def test_constants_of_other_array_classes_are_refused(use, constant):
    """A masked array leaves elements out, and other classes do as they like: their rules are not ours."""
    f = USES[use]
    with pytest.raises(RuleLabError):
        rl.gradient(lambda x: f(x, constant), np.array([1.0, 2.0, 3.0]))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("cls", [np.ma.MaskedArray, np.matrix, Own])
def test_arguments_of_other_array_classes_are_refused(cls):
    """The error names the class and what to give instead."""
    x = np.ones((2, 2)).view(cls)
    with pytest.raises(RuleLabError, match="asarray"):
        rl.gradient(lambda v: np.sum(v * v), x)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_multiply_differently():
    """`np.matrix` times an array is a matrix product: refused, and `np.asarray` of it is taken."""
    matrix, x = np.matrix([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]])
    with pytest.raises(RuleLabError):
        rl.gradient(lambda v: np.sum(matrix * v), x)
    plain = np.asarray(matrix)
    np.testing.assert_array_equal(rl.gradient(lambda v: np.sum(plain @ v), x)[0], [[4.0], [6.0]])
