"""Rules for products of vectors, matrices and tensors: matmul, dot, einsum and their kin."""

import inspect
import itertools

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..rules.formulas import new_memory, strong_zero
from ..rules.rule_table import RuleTable
from ..tangents.forms import form_beside, form_of
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .array_likes import check_plain, cotangent_of_items, dense, is_zero, items_of, like_argument, refuse
from .numpy_shaping import diagonal_transposed, inverse_permutation

TABLE = RuleTable("linalg_products", rounds=True)

# In the order of NumPy's numbers for them.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_V = np.array([0.5, -1.5, 2.0])
_W = np.array([1.0, 3.0])
_A = np.arange(6.0).reshape(2, 3) - 2.5
_B = np.sin(np.arange(12.0)).reshape(3, 4)
_S = np.array([[2.0, 0.5, -1.0], [0.25, 1.5, 0.5], [0.0, -0.75, 1.0]])
_T = np.cos(np.arange(24.0)).reshape(2, 4, 3)
_I = np.array([[1, 2, 3], [4, 5, 6]])
_Z = _A + 1j * _A[::-1]


def conjugated(x):
    """`x̄` complex conjugate; a real array as it is, without the copy that `np.conj` makes."""
    return np.conj(x) if x.dtype.kind == "c" else x


def adjoint(x):
    """The conjugate transpose of the matrices in the last two axes.

    >>> adjoint(np.array([[1j, 2.0]]))
    array([[0.-1.j],
           [2.-0.j]])
    """
    return conjugated(x.mT)


def bilinear(*targets, points):
    """State both rules of functions that are linear in each of their first two arguments.

    The decorated `transposed(y_bar, a, b, …)` gets arrays and returns two functions that compute ā and b̄.
    """
    def declare(transposed):
        for target in targets:
            _state_bilinear(target, transposed, points)
        return transposed
    return declare


def _state_bilinear(target, transposed, points):
    of_two = list(inspect.signature(transposed).parameters) == ["y_bar", "a", "b"]
    cotangents = _cotangents_of(transposed) if of_two else ()

    @TABLE.rrule(target, leading=2, points=points, cotangents=cotangents)
    def bilinear_rrule(a, b, *args, **kwargs):
        def bilinear_pullback(y_bar):
            make_a_bar, make_b_bar = transposed(y_bar, np.asarray(a), np.asarray(b), *args, **kwargs)
            return (NoTangent(), Thunk(lambda: like_argument(a, make_a_bar())),
                    Thunk(lambda: like_argument(b, make_b_bar())))
        return target(a, b, *args, **kwargs), bilinear_pullback

    @TABLE.frule(target)
    def bilinear_frule(tangents, a, b, *args, **kwargs):
        y = target(a, b, *args, **kwargs)
        return y, form_of(y, bilinear_tangent(target, tangents, a, b, *args, **kwargs))


def _cotangents_of(transposed):
    """The two cotangents of a product as functions of their own."""

    @strong_zero
    def left_bar(y_bar, a, b):
        return transposed(y_bar, a, b)[0]()

    @strong_zero
    def right_bar(y_bar, a, b):
        return transposed(y_bar, a, b)[1]()

    return left_bar, right_bar


def _state_bilinear_out(target, transposed, points):
    """The same for a product that takes an array to write to as its third argument; no rule writes."""
    @TABLE.rrule(target, leading=2, points=points, cotangents=_cotangents_of(transposed))
    def bilinear_rrule(a, b, out=None):
        def bilinear_pullback(y_bar):
            make_a_bar, make_b_bar = transposed(y_bar, np.asarray(a), np.asarray(b))
            return (NoTangent(), Thunk(lambda: like_argument(a, make_a_bar())),
                    Thunk(lambda: like_argument(b, make_b_bar())))
        return target(a, b), bilinear_pullback

    @TABLE.frule(target)
    def bilinear_frule(tangents, a, b, out=None):
        y = target(a, b)
        return y, form_of(y, bilinear_tangent(target, tangents, a, b))


def bilinear_tangent(product, tangents, a, b, *args, **kwargs):
    """`product(ȧ, b) + product(a, ḃ)`, without the terms that are zero."""
    a_dot, b_dot = tangents[1], tangents[2]
    if is_zero(b_dot):
        return ZeroTangent() if is_zero(a_dot) else product(dense(a, a_dot), b, *args, **kwargs)
    y_dot = product(a, dense(b, b_dot), *args, **kwargs)
    return y_dot if is_zero(a_dot) else product(dense(a, a_dot), b, *args, **kwargs) + y_dot


# -- matmul and dot ------------------------------------------------------------------------------------------

def _matmul_cotangents(y_bar, a, b):
    """What computes ā (shape of `a`) and b̄ (shape of `b`) of `a @ b`, for every number of axes."""
    if a.ndim == 1 and b.ndim == 1:
        return lambda: y_bar * conjugated(b), lambda: y_bar * conjugated(a)
    if a.ndim == 2 and b.ndim == 2:
        return lambda: y_bar @ adjoint(b), lambda: adjoint(a) @ y_bar
    if a.ndim == 2 and b.ndim == 1:
        return lambda: y_bar[:, None] * conjugated(b), lambda: adjoint(a) @ y_bar
    if a.ndim == 1 and b.ndim == 2:
        return lambda: conjugated(b) @ y_bar, lambda: conjugated(a)[:, None] * y_bar
    rows = a if a.ndim > 1 else a[None, :]
    columns = b if b.ndim > 1 else b[:, None]
    y_bar = y_bar if b.ndim > 1 else np.expand_dims(y_bar, -1)
    y_bar = y_bar if a.ndim > 1 else np.expand_dims(y_bar, -2)
    return (lambda: np.reshape(unbroadcast(y_bar @ adjoint(columns), rows), a.shape),
            lambda: np.reshape(unbroadcast(adjoint(rows) @ y_bar, columns), b.shape))


def matmul_rrule(a, b):
    """`y = a @ b`: `ā = ȳ bᴴ`, `b̄ = aᴴ ȳ`, summed over the axes along which the stacks were broadcast.

    For 2-D operands (m, n) and (n, p), ȳ is (m, p); a 1-D operand is a row on the left, else a column.
    """
    def matmul_pullback(y_bar):
        make_a_bar, make_b_bar = _matmul_cotangents(y_bar, np.asarray(a), np.asarray(b))
        return (NoTangent(), Thunk(lambda: like_argument(a, make_a_bar())),
                Thunk(lambda: like_argument(b, make_b_bar())))
    return np.matmul(a, b), matmul_pullback


def matmul_frule(tangents, a, b):
    """`ẏ = ȧ b + a ḃ`."""
    y = np.matmul(a, b)
    return y, form_of(y, bilinear_tangent(np.matmul, tangents, a, b))


_MATMUL = [(_V, 2 * _V), (_A, _V), (_W, _A), (_A, _B), (_T, _V), (_T, _B), (_W, _T.swapaxes(0, 1)),
           (_A, _T.transpose(0, 2, 1)),
           (_T[:, None], _B[None]), (_T[:1], np.stack([_B, 2 * _B, _B])),
           (_A.astype(np.float32), _B.astype(np.float32)),
           (_I, _B), (_Z, _B), (_V, _Z.T), (_A.T[::-1].T, _B), (np.zeros((2, 0)), np.zeros((0, 3))),
           ([1.0, 2.0], _A)]


@new_memory
def matmul_left_bar(y_bar, a, b):
    """The cotangent of `a` for that of `a @ b`, of real arrays."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    if a.ndim == 2:  # the most common
        if b.ndim == 2:
            return y_bar @ b.T
        if b.ndim == 1:
            return y_bar[:, None] * b
    return _matmul_cotangents(y_bar, a, b)[0]()


@new_memory
def matmul_right_bar(y_bar, a, b):
    """The cotangent of `b` for that of `a @ b`, of real arrays."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    if a.ndim == 2 and b.ndim < 3:
        return a.T @ y_bar
    return _matmul_cotangents(y_bar, a, b)[1]()


@TABLE.rrule(np.matmul, leading=2, points=_MATMUL, cotangents=(matmul_left_bar, matmul_right_bar))
def matmul_ufunc_rrule(x1, x2, out=None, **options):
    _check_plain(np.matmul, options)
    return matmul_rrule(x1, x2)


@TABLE.frule(np.matmul)
def matmul_ufunc_frule(tangents, x1, x2, out=None, **options):
    _check_plain(np.matmul, options)
    return matmul_frule(tangents, x1, x2)


def _check_plain(ufunc, options):
    if options:
        given = ", ".join(f"{name}=" for name in options)
        moved = options.keys() <= {"axis", "axes"}
        refuse(f"np.{ufunc.__name__} with {given} is not differentiated",
               "move the axes with np.moveaxis before the product" if moved else f"leave {given} out")


@bilinear(np.linalg.matmul, points=[(_A, _B), (_T, _B)])
def linalg_matmul_transposed(y_bar, a, b):
    return _matmul_cotangents(y_bar, a, b)


_DOT = [(_V, 2 * _V), (_A, _V), (_W, _A), (_A, _B), (_T, _B), (_T, _V), (_W, _T.swapaxes(0, 1)),
        (_A, _T.swapaxes(1, 2)),
        (_T, _T.swapaxes(1, 2)), (_Z, _B), (_I, _B), (_A.T, _W)]


def dot_transposed(y_bar, a, b):
    """What computes ā and b̄ of `np.dot(a, b)`: a product with a number, of stacks, or of matrices."""
    if a.ndim == 0 or b.ndim == 0:
        return lambda: unbroadcast(y_bar * conjugated(b), a), lambda: unbroadcast(y_bar * conjugated(a), b)
    if a.ndim >= 2 and b.ndim >= 3:
        return tensordot_transposed(y_bar, a, b, (-1, -2))
    return _matmul_cotangents(y_bar, a, b)


_state_bilinear_out(np.dot, dot_transposed, [*_DOT, (2.0, _A), (_A, 2.0), (2.0, 3.0), (np.array(2.0), _V)])
_state_bilinear_out(np.ndarray.dot, dot_transposed, [*_DOT, (_A, 2.0)])


# -- other products of two -----------------------------------------------------------------------------------

def _contracted(axes, a, b):
    """The axes that `tensordot` sums, as two lists of non-negative numbers."""
    if np.ndim(axes) == 0 and not np.iterable(axes):
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    return tuple([normalize_axis_index(k, x.ndim) for k in (one if np.iterable(one) else [one])]
                 for one, x in zip(axes, (a, b)))


def _contraction_cotangent(y_bar, free_y, other, free_other, own_free, own_summed, other_summed):
    """x̄ of one operand of a tensordot: contract ȳ with the other one, put the axes where they were."""
    x_bar = np.tensordot(y_bar, conjugated(other), (free_y, free_other))
    order = list(own_free) + [own_summed[k] for k in np.argsort(other_summed)]
    return np.transpose(x_bar, inverse_permutation(order)) if order else x_bar


@bilinear(np.tensordot, points=[
    (_A, _B, 1), (_A, _A, 2), (_V, _W, 0), (_T, _T, ([0, 2], [0, 2])), (_T, _T, ([2, 0], [2, 0])),
    (_T, _B, (-1, 0)), (_T, _B.T, ([1, 2], [0, 1])),
    (_T, _T.transpose(2, 0, 1), ([2, 1], [0, 2])), (_Z, _B, 1)])
def tensordot_transposed(y_bar, a, b, axes=2):
    summed_a, summed_b = _contracted(axes, a, b)
    free_a = [k for k in range(a.ndim) if k not in summed_a]
    free_b = [k for k in range(b.ndim) if k not in summed_b]
    in_y_a, in_y_b = list(range(len(free_a))), list(range(len(free_a), len(free_a) + len(free_b)))
    return (lambda: _contraction_cotangent(y_bar, in_y_b, b, free_b, free_a, summed_a, summed_b),
            lambda: _contraction_cotangent(y_bar, in_y_a, a, free_a, free_b, summed_b, summed_a))


@bilinear(np.linalg.tensordot, points=[((_T, _B), {"axes": 1}), ((_T, _T), {"axes": ([0, 2], [0, 2])})])
def linalg_tensordot_transposed(y_bar, x1, x2, *, axes=2):
    return tensordot_transposed(y_bar, x1, x2, axes)


@bilinear(np.inner, points=[(_V, 2 * _V), (_A, _V), (_V, _A), (_A, _T), (2.0, _A), (_A, 3.0), (_Z, _A)])
def inner_transposed(y_bar, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return dot_transposed(y_bar, a, b)
    if a.ndim == 1 and b.ndim == 1:
        return _matmul_cotangents(y_bar, a, b)
    return tensordot_transposed(y_bar, a, b, (-1, -1))


@bilinear(np.linalg.outer, points=[(_V, _W), (_V + 1j, _W)])
def outer_transposed(y_bar, a, b):
    return (lambda: np.reshape(y_bar @ conjugated(b.ravel()), a.shape),
            lambda: np.reshape(y_bar.T @ conjugated(a.ravel()), b.shape))


_state_bilinear_out(np.outer, outer_transposed, [(_V, _W), (_V + 1j, _W), (_A, _V), (2.0, _W)])


@bilinear(np.kron, points=[(_A, _B), (_V, _A), (_A, _W), (_V, _W), (2.0, _A), (_T, _A), (_Z, _W)])
def kron_transposed(y_bar, a, b):
    ndim = max(a.ndim, b.ndim)
    shape_a, shape_b = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    y_bar = np.reshape(y_bar, tuple(itertools.chain(*zip(shape_a, shape_b))))
    of_a, of_b = list(range(0, 2 * ndim, 2)), list(range(1, 2 * ndim, 2))
    every = list(range(ndim))
    return (lambda: np.reshape(np.tensordot(y_bar, conjugated(b.reshape(shape_b)), (of_b, every)), a.shape),
            lambda: np.reshape(np.tensordot(y_bar, conjugated(a.reshape(shape_a)), (of_a, every)), b.shape))


# -- products that conjugate their first argument ------------------------------------------------------------

@bilinear(np.vdot, points=[(_V, 2 * _V), (_A, _A[::-1]), (_Z, _A), (_A, _Z), (_Z, 1j * _Z[::-1]), (2.0, 3.0)])
def vdot_transposed(y_bar, a, b):
    return lambda: np.conj(y_bar) * np.reshape(b, a.shape), lambda: y_bar * np.reshape(a, b.shape)


def _vecdot_cotangents(y_bar, a, b, axis):
    y_bar = np.expand_dims(y_bar, axis)
    return lambda: unbroadcast(conjugated(y_bar) * b, a), lambda: unbroadcast(y_bar * a, b)


@bilinear(np.linalg.vecdot, points=[(_V, _V + 1), (_A, _V), ((_T, _A[:, None]), {}),
                                    ((_A, _A[::-1]), {"axis": 0})])
def linalg_vecdot_transposed(y_bar, x1, x2, *, axis=-1):
    return _vecdot_cotangents(y_bar, x1, x2, axis)


if hasattr(np, "vecdot"):
    @bilinear(np.vecdot, points=[(_V, _V + 1), (_A, _V), (_Z, _A + 1j), ((_A, _A[::-1]), {"axis": 0})])
    def vecdot_transposed(
        y_bar, x1, x2, out=None, *, axis=-1, dtype=None, order="K", casting="same_kind", subok=True
    ):
        return _vecdot_cotangents(y_bar, x1, x2, axis)


if hasattr(np, "matvec"):
    @bilinear(np.matvec, points=[(_A, _V), (_T, _V), (_A, _T), (_T, _A), (_Z, _V)])
    def matvec_transposed(y_bar, x1, x2, out=None):
        columns = np.expand_dims(conjugated(x2), -2)
        return (lambda: unbroadcast(np.expand_dims(y_bar, -1) * columns, x1),
                lambda: unbroadcast(np.matvec(adjoint(x1), y_bar), x2))

    @bilinear(np.vecmat, points=[(_W, _A), (_A[:, :2], _A), (_W + 1j, _Z)])
    def vecmat_transposed(y_bar, x1, x2, out=None):
        return (lambda: unbroadcast(np.matvec(x2, conjugated(y_bar)), x1),
                lambda: unbroadcast(np.expand_dims(x1, -1) * np.expand_dims(y_bar, -2), x2))


def _cross_cotangents(y_bar, a, b, axisa, axisb, axisc):
    """`ā = b × ȳ` and `b̄ = ȳ × a` for `y = a × b`."""
    a, b, y_bar = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1), np.moveaxis(y_bar, axisc, -1)
    return (lambda: np.moveaxis(unbroadcast(np.cross(conjugated(b), y_bar), a), -1, axisa),
            lambda: np.moveaxis(unbroadcast(np.cross(y_bar, conjugated(a)), b), -1, axisb))


@bilinear(np.cross, points=[
    (_V, _V[::-1] + 1), (_A, _V), (_V, _A), (_A, _A[::-1]), (_B, _B[::-1], 0, 0, 0), (_B, _B.T + 1, 0, -1),
    ((_B, _B[::-1]), {"axis": 0})])
def cross_transposed(y_bar, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    if a.shape[axisa] != 3 or b.shape[axisb] != 3:
        refuse("np.cross of vectors with two components is not differentiated",
               "write a[0] * b[1] - a[1] * b[0]" if a.shape[axisa] == b.shape[axisb]
               else "append a third component, 0.0, to the shorter one")
    return _cross_cotangents(y_bar, a, b, axisa, axisb, axisc)


@bilinear(np.linalg.cross, points=[(_A, _V), ((_B, _B[::-1]), {"axis": 0})])
def linalg_cross_transposed(y_bar, x1, x2, *, axis=-1):
    return _cross_cotangents(y_bar, x1, x2, axis, axis, axis)


# -- trace ---------------------------------------------------------------------------------------------------

def _along_diagonal(y_bar, a, offset, axis1, axis2):
    """The seed along the diagonal that was summed."""
    length = np.diagonal(a, offset, axis1, axis2).shape[-1]
    along = np.broadcast_to(np.expand_dims(y_bar, -1), np.shape(y_bar) + (length,))
    return diagonal_transposed(along, a, offset, axis1, axis2)


@new_memory
def trace_bar(y_bar, a, offset=0, axis1=0, axis2=1):
    """The cotangent of the float64 array whose trace has the cotangent `y_bar`."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    if a.ndim == 2 and offset == 0 and (axis1, axis2) == (0, 1):
        a_bar = np.zeros(a.shape)
        a_bar.reshape(-1)[: a.shape[1] ** 2 : a.shape[1] + 1] = y_bar
        return a_bar
    return _along_diagonal(y_bar, a, offset, axis1, axis2)


def _trace_pullback(a, offset, axis1, axis2):
    def trace_pullback(y_bar):
        return NoTangent(), like_argument(a, _along_diagonal(y_bar, a, offset, axis1, axis2))
    return trace_pullback


def _check_trace_dtype(dtype):
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        refuse(f"trace with dtype={np.dtype(dtype)} is not differentiated: it rounds",
               "leave dtype out, or name a floating dtype")


@TABLE.rrule(np.trace, np.ndarray.trace, leading=1, cotangents=(trace_bar,), points=[
    (_A,), (_A, 1), (_A, -1), (_T, 0, 2, 1), (_T, 1, -1, 0), (_S,)])
def trace_rrule(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    _check_trace_dtype(dtype)
    return np.trace(a, offset, axis1, axis2, dtype), _trace_pullback(a, offset, axis1, axis2)


@TABLE.frule(np.trace, np.ndarray.trace)
def trace_frule(tangents, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    _check_trace_dtype(dtype)
    a_dot = dense(a, tangents[1])
    return np.trace(a, offset, axis1, axis2, dtype), np.trace(a_dot, offset, axis1, axis2)


@TABLE.rrule(np.linalg.trace, leading=1, points=[(_S,), (_T,), ((_T,), {"offset": -1})])
def linalg_trace_rrule(x, /, *, offset=0, dtype=None):
    _check_trace_dtype(dtype)
    return np.linalg.trace(x, offset=offset, dtype=dtype), _trace_pullback(x, offset, -2, -1)


@TABLE.frule(np.linalg.trace)
def linalg_trace_frule(tangents, x, /, *, offset=0, dtype=None):
    _check_trace_dtype(dtype)
    x_dot = dense(x, tangents[1])
    return np.linalg.trace(x, offset=offset, dtype=dtype), np.linalg.trace(x_dot, offset=offset)


# -- products of many ----------------------------------------------------------------------------------------

@TABLE.rrule(np.linalg.multi_dot, leading=1, points=[
    ([_A, _B],), ([_W, _A, _B],), ([_A, _B, _B.T, _V],), ((_W, _A, _S, _V),), ([_A, _S, _B],),
    ([_V, 2 * _V],)])
def multi_dot_rrule(arrays, *, out=None):
    """`ȳ` between the adjoints of what stands to the left and of what stands to the right."""
    arrays = list(arrays) if not isinstance(arrays, (list, tuple)) else arrays
    check_plain(arrays)
    matrices = [np.asarray(x) for x in arrays]
    first, *_, last = matrices
    if not (first.ndim and last.ndim):
        refuse("np.linalg.multi_dot of a number is not differentiated", "multiply by it: a * b")
    if any(x.ndim > 2 for x in matrices):
        refuse("np.linalg.multi_dot of arrays with more than two axes is not differentiated",
               "multiply them: a @ b")
    matrices[0] = first if first.ndim > 1 else first[None, :]
    matrices[-1] = last if last.ndim > 1 else last[:, None]

    def multi_dot_pullback(y_bar):
        y_bar = np.reshape(y_bar, (matrices[0].shape[0], matrices[-1].shape[1]))
        lefts = list(itertools.accumulate(matrices[:-1], lambda left, x: left @ x))
        rights = list(itertools.accumulate(matrices[:0:-1], lambda right, x: x @ right))[::-1]
        x_bars = []
        for k, x in enumerate(arrays):
            x_bar = y_bar if k == 0 else adjoint(lefts[k - 1]) @ y_bar
            x_bar = x_bar if k == len(arrays) - 1 else x_bar @ adjoint(rights[k])
            x_bars.append(np.reshape(x_bar, np.shape(x)))
        return NoTangent(), cotangent_of_items(arrays, x_bars)
    return np.linalg.multi_dot(arrays), multi_dot_pullback


@TABLE.frule(np.linalg.multi_dot)
def multi_dot_frule(tangents, arrays, *, out=None):
    dots = items_of(arrays, tangents[1])
    terms = [np.linalg.multi_dot([*arrays[:k], x_dot, *arrays[k + 1:]]) for k, x_dot in enumerate(dots)]
    return np.linalg.multi_dot(arrays), sum(terms[1:], terms[0])


def _power_terms(a, n):
    """`(base, powers)`: `a` or its inverse, and its powers 0 … |n|-1, of which the derivative is made."""
    base = np.asarray(a) if n >= 0 else np.linalg.inv(a)
    powers = [np.broadcast_to(np.eye(base.shape[-1]), base.shape)]
    for _ in range(abs(n) - 1):
        powers.append(powers[-1] @ base)
    return base, powers if n else []


@TABLE.rrule(np.linalg.matrix_power, leading=1, points=[
    (_S, 3), (_S, 1), (_S, 0), (_S, 2), (_S, -1), (_S, -3), (np.stack([_S, _S.T]), 3), (_S + 1j * _S.T, 2)])
def matrix_power_rrule(a, n):
    """`Σ_k (a^k)ᴴ ȳ (a^(n-1-k))ᴴ`; for negative n that of the inverse, then `-a⁻ᴴ · a⁻ᴴ`."""
    def matrix_power_pullback(y_bar):
        base, powers = _power_terms(a, n)
        terms = [adjoint(left) @ y_bar @ adjoint(right) for left, right in zip(powers, powers[::-1])]
        x_bar = sum(terms, np.zeros(np.shape(a)))
        if n < 0:
            x_bar = -adjoint(base) @ x_bar @ adjoint(base)
        return NoTangent(), like_argument(a, x_bar)
    return np.linalg.matrix_power(a, n), matrix_power_pullback


@TABLE.frule(np.linalg.matrix_power)
def matrix_power_frule(tangents, a, n):
    if n == 1:  # which is the array itself
        return np.linalg.matrix_power(a, n), dense(a, tangents[1])
    base, powers = _power_terms(a, n)
    x_dot = dense(a, tangents[1])
    x_dot = x_dot if n >= 0 else -base @ x_dot @ base
    terms = [left @ x_dot @ right for left, right in zip(powers, powers[::-1])]
    y = np.linalg.matrix_power(a, n)
    return y, form_of(y, sum(terms, np.zeros(np.shape(a))))


# -- einsum --------------------------------------------------------------------------------------------------

def parse_subscripts(subscripts, ndims):
    """The labels of each operand, and of the result: ellipses spelled out, the implicit result made explicit.

    >>> parse_subscripts("ij, jk", (2, 2)), parse_subscripts("...i->...", (3,))
    ((['ij', 'jk'], 'ik'), (['ABi'], 'AB'))
    """
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    letters = [label.replace("...", "") for label in inputs]
    extra = [ndim - len(label) if "..." in given else 0 for given, label, ndim in zip(inputs, letters, ndims)]
    spare = "".join(c for c in _LETTERS if c not in subscripts)
    ellipsis = spare[:max(extra, default=0)]
    spelled = [given.replace("...", ellipsis[len(ellipsis) - n:]) for given, n in zip(inputs, extra)]
    if arrow:
        return spelled, right.replace("...", ellipsis)
    joined = "".join(letters)
    return spelled, ellipsis + "".join(sorted(c for c in set(joined) if joined.count(c) == 1))




def _spelled(sublist):
    return "".join("..." if k is Ellipsis else _LETTERS[k] for k in sublist)


def _einsum_parts(operands):
    """The subscripts and the arrays of a call, and where the arrays stand among its arguments.

    >>> _einsum_parts(("ij->i", 5.0)), _einsum_parts((5.0, [0, 1], [0]))
    (('ij->i', (5.0,), [1]), ('AB->A', (5.0,), [0]))
    """
    if isinstance(operands[0], str):
        return operands[0], operands[1:], list(range(1, len(operands)))
    count = len(operands) // 2
    subscripts = ",".join(map(_spelled, operands[1 : 2 * count : 2]))
    if len(operands) % 2:
        subscripts += "->" + _spelled(operands[-1])
    return subscripts, operands[0 : 2 * count : 2], list(range(0, 2 * count, 2))


def _einsum_cotangent(k, y_bar, labels, result, arrays, optimize):
    """x̄ of operand `k`: the einsum of ȳ with the other operands.

    A label that only this operand has (or the others have with length 1) is spread with a vector of ones; a
    label that it repeats is put on a diagonal with an identity.
    """
    x, own = arrays[k], labels[k]
    others = [(labels[j], conjugated(other)) for j, other in enumerate(arrays) if j != k]
    lengths = {}
    for label, array in zip(labels, arrays):
        for c, n in zip(label, array.shape):
            lengths[c] = n if lengths.get(c, 1) == 1 else lengths[c]
    present = set(result) | {c for label, other in others for c,
                             n in zip(label, other.shape) if n == lengths[c]}
    terms = [(result, y_bar), *others, *[(c, np.ones(lengths[c])) for c in sorted(set(own) - present)]]
    spare = iter(c for c in _LETTERS.swapcase() if c not in set("".join(labels)))
    wanted = ""
    for c in own:
        if c in wanted:
            copy = next(spare)
            terms.append((c + copy, np.eye(lengths[c])))
            c = copy
        wanted += c
    x_bar = np.einsum(",".join(label for label, _ in terms) + "->" + wanted, *[t for _, t in terms],
                      optimize=optimize)
    return unbroadcast(x_bar, x)


_EINSUM = [("ij,jk->ik", _A, _B), ("ij,jk", _A, _B), ("ii", _S), ("ii->i", _S), ("ij->ji", _A), ("ij->", _A),
           ("ij->i", _A),
           ("ba", _A), ("i,i->", _V, _V + 1), ("i,j->ij", _V, _W), ("bij,jk->bik", _T, _B),
           ("ij,ij->i", _A, _A[:, :1]),
           ("...i,...i->...", _T, _A[:, None]), ("...ij,jk", _T, _B), ("ij, j , i ->", _A, _V, _W),
           ("iij->j", np.stack([_A.T @ _A] * 3)),
           ("ij,jk->ik", _Z, _B), ("i,i,i->i", _V, _V, _V), ("ij,kj->ik", _I, _A), (",i->i", 2.0, _V),
           ("iii->i", np.ones((2, 2, 2)))]


_EINSUM_LISTS = [(_A, [0, 1], _B, [1, 2], [0, 2]), (_A, [0, 1], _B, [1, 2]), (_S, [0, 0]), (_A, [1, 0]),
                 (_T, [Ellipsis, 0], _V, [0], [Ellipsis]), (_A, [5, 30], _V, [30], [5])]


@TABLE.rrule(np.einsum, leading=None, points=[*_EINSUM, *_EINSUM_LISTS, ((("ij,jk,kl->il"), _A, _B, _B.T),
                                                         {"optimize": True})])
def einsum_rrule(*operands, out=None, optimize=False, **options):
    """Each cotangent is an einsum of ȳ with the conjugates of the other operands."""
    subscripts, xs, positions = _einsum_parts(operands)
    labels, result = parse_subscripts(subscripts, [np.ndim(x) for x in xs])
    arrays = [np.asarray(x) for x in xs]

    def einsum_pullback(y_bar):
        def cotangent(k):
            return Thunk(lambda: like_argument(xs[k], _einsum_cotangent(k, y_bar, labels, result, arrays,
                optimize)))

        bars = [NoTangent()] * len(operands)
        for k, position in enumerate(positions):
            bars[position] = cotangent(k)
        return NoTangent(), *bars
    return np.einsum(*operands, optimize=optimize, **options), einsum_pullback


@TABLE.frule(np.einsum)
def einsum_frule(tangents, *operands, out=None, optimize=False, **options):
    subscripts, xs, positions = _einsum_parts(operands)
    y = np.einsum(*operands, optimize=optimize, **options)
    terms = [np.einsum(subscripts, *xs[:k], dense(xs[k], x_dot), *xs[k + 1:], optimize=optimize)
             for k, x_dot in enumerate([tangents[1 + i] for i in positions]) if not is_zero(x_dot)]
    y_dot = ZeroTangent() if not terms else terms[0] if len(terms) == 1 else sum(terms[1:], terms[0])
    return y, form_beside(xs[0], y, y_dot)  # a single term is a view where the value is one
