"""The kind of the result of a known function, from the kinds of its arguments and the values of literal ones.

There is a row for each family of functions, with their parameters: arguments by position and by name are
bound alike. A row returns NUMERIC for calls that it does not know. These are facts about NumPy and Python,
not about rules; the tests compare each claim with the function itself.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..tangents import ranks
from ..tangents.holding import UNBOUND
from ..tangents.shadows import zero_of
from .kinds import (
    ANY,
    BOOL,
    F8,
    FLOAT,
    I8,
    INT,
    NONE,
    NUMERIC,
    REAL,
    STR,
    Array,
    Given,
    Known,
    Tuple,
    Type,
    array_of,
    is_numeric,
    is_real,
    item_of,
    join,
    name_of_dtype,
)
from .operator_kinds import (
    BINARY,
    COMPARING,
    UNARY,
    element_of,
    ndim_of,
    of_comparison,
    of_item,
    of_operator,
    of_ufunc,
    of_unary,
    promoted,
)

Row = Callable[..., Type]
_ROWS: dict[Any, tuple[Row, inspect.Signature]] = {}


def result_of(
    target: Any, args: Sequence[Given], keywords: Mapping[str, Given] = python_types.MappingProxyType({})
) -> Type:
    """The kind of the result of a call of a known function; ANY if nothing is known about it.

    >>> matrix = Given(Array("f8", 2))
    >>> result_of(np.sum, [matrix], {"axis": Given(INT, 1)})
    Array(dtype='f8', ndim=1)
    >>> result_of(np.sum, [matrix])
    Kind(name='f8')
    """
    if isinstance(target, np.ufunc):
        return _of_ufunc(target, args, keywords)
    owner = getattr(target, "__self__", None)
    if isinstance(owner, np.ufunc):
        return _of_method(owner, target.__name__, args, keywords)
    found = _ROWS.get(target) if _is_hashable(target) else None
    if found is not None:
        row, signature = found
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError:  # an invalid call, or one with unknown parameters
            return NUMERIC if gives_arrays(target) else ANY
        return row(*bound.args, **bound.kwargs)
    return NUMERIC if gives_arrays(target) else ANY


def known_functions() -> list[tuple[Any, list[str]]]:
    """The functions that have a row here, without ufuncs, each with the names of its parameters."""
    return [(target, list(signature.parameters)) for target, (_, signature) in _ROWS.items()]


def _row(*targets: Any) -> Callable[[Row], Row]:
    def stated(row: Row) -> Row:
        signature = inspect.signature(row)
        _ROWS.update((target, (row, signature)) for target in targets if target is not None)
        return row

    return stated


def stated_by(*targets: Any) -> Callable[[Row], Row]:
    """Decorator for the row of functions of an optional library, used in the module with their rules."""
    return _row(*targets)


def _rows(names: str, of: Any = np) -> list[Any]:
    """The functions of these names; some do not exist in older or newer NumPy versions."""
    return [getattr(of, name, None) for name in names.split()]


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # some classes only say so when hashed
        return False
    return True


# -- arguments -----------------------------------------------------------------------------------------------


def _is_absent(given: Given | None) -> bool:
    return given is None or given.kind == NONE


def _is_whole(given: Given) -> bool:
    return given.kind in (INT, I8)


def _count(given: Given | None) -> int | None:
    """The number of ints that an argument holds: one, or the length of a tuple of ints; None for anything
    else.
    """
    if given is None:
        return None
    parts = given.parts()
    if parts is None:
        return 1 if _is_whole(given) else None
    return len(parts) if all(map(_is_whole, parts)) else None


def _literal(given: Given | None, default: Any) -> Any:
    """The value of a literal argument; the default if the argument is absent; otherwise UNBOUND."""
    if given is None:
        return default
    parts = given.parts()
    if given.literal is not UNBOUND or parts is None:
        return given.literal
    found = tuple(_literal(part, UNBOUND) for part in parts)
    return UNBOUND if any(part is UNBOUND for part in found) else found


def _dtype(given: Given | None, default: str | None) -> str | None:
    """The dtype that an argument names; the default if it is absent, None if it is unknown."""
    if given is None or given.kind == NONE:
        return default
    named = given.kind.value if isinstance(given.kind, Known) else given.literal
    if named is UNBOUND or not isinstance(named, (type, str, np.dtype)):
        return None
    try:
        return name_of_dtype(np.dtype(named))
    except TypeError:
        return None


class _Like(NamedTuple):
    """What is known of the array that NumPy makes from an argument."""

    dtype: str | None
    ndim: int

    def array(self, ndim: int | None = None) -> Type:
        return array_of(self.dtype, self.ndim if ndim is None else ndim)


_UNKNOWN = _Like(None, -1)
_DEFAULT_INT = name_of_dtype(np.dtype(int))
_OF_NUMBERS: dict[Type, str] = {FLOAT: "f8", F8: "f8", I8: "i8", BOOL: "b1"}


def _like(given: Given | None) -> _Like:
    """The array that NumPy makes from an argument. An int may be too large for an int array."""
    if given is None:
        return _UNKNOWN
    kind = given.kind
    if isinstance(kind, Array):
        return _Like(kind.dtype, kind.ndim)
    if kind in _OF_NUMBERS:
        return _Like(_OF_NUMBERS[kind], 0)
    if kind in (INT, REAL):
        short = type(given.literal) is int and abs(given.literal) < 2**31
        return _Like(_DEFAULT_INT if short else None, 0)
    if given.each in (FLOAT, F8):
        return _Like("f8", 1)  # also if it is empty
    parts = given.parts()
    return _UNKNOWN if parts is None else _stacked([_like(part) for part in parts])


def _stacked(parts: list[_Like]) -> _Like:
    if not parts:
        return _Like("f8", 1)
    if any(part.ndim != parts[0].ndim for part in parts) or parts[0].ndim < 0:
        return _UNKNOWN
    return _Like(promoted(part.dtype for part in parts), 1 + parts[0].ndim)


# -- ufuncs and operators ------------------------------------------------------------------------------------


def _of_ufunc(ufunc: np.ufunc, args: Sequence[Given], keywords: Mapping[str, Given]) -> Type:
    if any(not (name == "out" and _is_absent(given)) for name, given in keywords.items()):
        return NUMERIC
    return of_ufunc(ufunc, [given.kind for given in args])


def _binary(function: Any) -> Row:
    return lambda a, b, /: of_operator(function, a, b)


def _comparing(function: Any) -> Row:
    return lambda a, b, /: of_comparison(function, a.kind, b.kind)


def _unary(function: Any) -> Row:
    return lambda a, /: of_unary(function, a.kind)


for _functions, _made_row in ((BINARY, _binary), (COMPARING, _comparing), (UNARY, _unary)):
    for _function in _functions:
        _row(_function)(_made_row(_function))
_row(operator.getitem)(of_item)


# -- reductions ----------------------------------------------------------------------------------------------


def _reduced(
    like: _Like, axis: Given | None, keepdims: Given | None, dtype: str | None, *others: Given | None
) -> Type:
    """The kind of an array with some axes reduced; `others` are arguments that must be absent."""
    gone = like.ndim if _is_absent(axis) else _count(axis)
    keeps = _literal(keepdims, False)
    if like.ndim < 0 or gone is None or gone > like.ndim or keeps is UNBOUND:
        return NUMERIC
    if not all(map(_is_absent, others)) or (like.ndim == 0 and keeps):
        return NUMERIC
    return item_of(dtype, like.ndim if keeps else like.ndim - gone)


def _of_method(ufunc: np.ufunc, name: str, args: Sequence[Given], keywords: Mapping[str, Given]) -> Type:
    """The kind of the result of `ufunc.reduce` and similar methods, for float64 arrays, or of `outer`, for
    any arrays.
    """
    row = _METHODS.get(name)
    try:
        return NUMERIC if row is None or not args else row(ufunc, *args, **keywords)
    except TypeError:  # an invalid call, or one with unknown parameters
        return NUMERIC


def _of_outer(ufunc: np.ufunc, A: Given, B: Given) -> Type:
    made = of_ufunc(ufunc, [A.kind, B.kind])
    if not (isinstance(A.kind, Array) and isinstance(B.kind, Array) and isinstance(made, Array)):
        return NUMERIC
    return array_of(made.dtype, A.kind.ndim + B.kind.ndim)


_FIRST = Given(INT, 0)  # the default axis of the methods of ufuncs


def _of_reduce(ufunc, array, axis=_FIRST, dtype=None, out=None, keepdims=None, initial=None, where=None):
    made = _of_accumulate(ufunc, array)
    if not isinstance(made, Array):
        return NUMERIC
    return _reduced(_like(array), axis, keepdims, made.dtype, dtype, out, initial, where)


def _of_accumulate(ufunc, array, axis=_FIRST, dtype=None, out=None):
    if not isinstance(array.kind, Array) or not (_is_absent(dtype) and _is_absent(out)):
        return NUMERIC
    made = of_ufunc(ufunc, [array.kind, array.kind])
    return made if made == array.kind and array.kind.dtype == "f8" else NUMERIC


def _of_reduceat(ufunc, array, indices, axis=_FIRST, dtype=None, out=None):
    return _of_accumulate(ufunc, array, axis, dtype, out)


_METHODS: dict[str, Callable[..., Type]] = {
    "outer": _of_outer,
    "reduce": _of_reduce,
    "accumulate": _of_accumulate,
    "reduceat": _of_reduceat,
}


def _summed(dtype: str | None) -> str | None:
    return _DEFAULT_INT if dtype == "b1" else dtype


def _averaged(dtype: str | None) -> str | None:
    return "f8" if dtype in ("b1", "i8") else dtype


def _spread(dtype: str | None) -> str | None:
    return "f8" if dtype == "c16" else _averaged(dtype)


@_row(*_rows("sum prod nansum nanprod"), *_rows("sum prod", np.ndarray))
def _sum(a, axis=None, dtype=None, out=None, keepdims=None, initial=None, where=None):
    like = _like(a)
    if initial is not None and is_real(initial.kind) and like.dtype == "f8":
        initial = None
    return _reduced(like, axis, keepdims, _dtype(dtype, _summed(like.dtype)), out, initial, where)


@_row(*_rows("max min amax amin nanmax nanmin"), *_rows("max min", np.ndarray))
def _extreme(a, axis=None, out=None, keepdims=None, initial=None, where=None):
    like = _like(a)
    if initial is not None and is_real(initial.kind) and like.dtype == "f8":
        initial = None
    return _reduced(like, axis, keepdims, like.dtype, out, initial, where)


@_row(np.ptp)
def _ptp(a, axis=None, out=None, keepdims=None):
    like = _like(a)
    return _reduced(like, axis, keepdims, None if like.dtype == "b1" else like.dtype, out)


@_row(np.mean, np.nanmean, np.ndarray.mean)
def _mean(a, axis=None, dtype=None, out=None, keepdims=None, *, where=None):
    like = _like(a)
    return _reduced(like, axis, keepdims, _dtype(dtype, _averaged(like.dtype)), out, where)


@_row(*_rows("std var nanstd nanvar"), *_rows("std var", np.ndarray))
def _deviation(
    a, axis=None, dtype=None, out=None, ddof=None, keepdims=None, *, where=None, mean=None, correction=None
):
    like = _like(a)
    named = None if not _is_absent(dtype) else _spread(like.dtype)
    plain = [given for given in (ddof, correction) if given is not None and not is_real(given.kind)]
    return _reduced(like, axis, keepdims, named, out, where, mean, *plain)


@_row(np.any, np.all, np.ndarray.any, np.ndarray.all)
def _truth(a, axis=None, out=None, keepdims=None, *, where=None):
    return _reduced(_like(a), axis, keepdims, "b1", out, where)


@_row(*_rows("argmax argmin nanargmax nanargmin"), *_rows("argmax argmin", np.ndarray))
def _position(a, axis=None, out=None, *, keepdims=None):
    return _reduced(_like(a), axis, keepdims, _DEFAULT_INT, out)


@_row(np.median, np.nanmedian)
def _median(a, axis=None, out=None, overwrite_input=None, keepdims=None):
    like = _like(a)
    named = _averaged(like.dtype) if like.dtype in ("f8", "i8") else None
    return NUMERIC if _count(axis) == 0 else _reduced(like, axis, keepdims, named, out)


@_row(*_rows("nanpercentile nanquantile"))
def _quantile_of_numbers(a, q, axis=None, out=None, overwrite_input=None, method=None, keepdims=None):
    plain = _like(q).ndim == 0  # for an empty array the result is one nan for all levels
    return _quantile(a, q, axis, out, overwrite_input, method, keepdims) if plain else NUMERIC


@_row(*_rows("percentile quantile"))
def _quantile(a, q, axis=None, out=None, overwrite_input=None, method=None, keepdims=None):
    like, levels = _like(a), _like(q)
    if like.dtype != "f8" or levels.dtype not in ("f8", "i8") or like.ndim == 0 or _count(axis) == 0:
        return NUMERIC
    rest = _reduced(like, axis, keepdims, "f8", out)
    ndim = ndim_of(rest)
    return NUMERIC if ndim is None else item_of("f8", levels.ndim + ndim)


@_row(np.average)
def _average(a, axis=None, weights=None, returned=None, *, keepdims=None):
    like = _like(a)
    if _literal(returned, False) is not False or like.dtype not in ("f8", "i8"):
        return NUMERIC
    plain = _is_absent(weights) or _like(weights).dtype in ("f8", "i8")
    return _reduced(like, axis, keepdims, "f8") if plain else NUMERIC


@_row(np.count_nonzero)
def _counted(a, axis=None, *, keepdims=None):
    return NUMERIC if _is_absent(axis) else _reduced(_like(a), axis, keepdims, _DEFAULT_INT)


@_row(*_rows("cumsum cumprod nancumsum nancumprod"), *_rows("cumsum cumprod", np.ndarray))
def _cumulative(a, axis=None, dtype=None, out=None):
    like = _like(a)
    if like.ndim < 0 or not _is_absent(out) or not (_is_absent(axis) or _count(axis) == 1):
        return NUMERIC
    return array_of(_dtype(dtype, _summed(like.dtype)), 1 if _is_absent(axis) else like.ndim)


@_row(np.diff)
def _differences(a, n=None, axis=None, prepend=None, append=None):
    plain = _is_absent(prepend) and _is_absent(append)
    return a.kind if plain and isinstance(a.kind, Array) and a.kind.dtype != "b1" else NUMERIC


@_row(*_rows("trapezoid trapz"))
def _trapezoid(y, x=None, dx=None, axis=None):
    like = _like(y)
    reals = all(g is None or _is_absent(g) or _like(g).dtype in ("f8", "i8") for g in (x, dx))
    if like.dtype not in ("f8", "i8") or like.ndim < 1 or not reals or _like(x).ndim > like.ndim:
        return NUMERIC
    return item_of("f8", like.ndim - 1) if _like(dx).ndim <= 0 else NUMERIC


@_row(np.trace, np.ndarray.trace)
def _trace(a, offset=None, axis1=None, axis2=None, dtype=None, out=None):
    like = _like(a)
    if like.ndim < 2 or not _is_absent(out):
        return NUMERIC
    return item_of(_dtype(dtype, _summed(like.dtype)), like.ndim - 2)


# -- products ------------------------------------------------------------------------------------------------


@_row(np.dot, np.ndarray.dot)
def _dot(a, b, out=None):
    left, right = _like(a), _like(b)
    if left.ndim < 0 or right.ndim < 0 or not _is_absent(out):
        return NUMERIC
    both = left.ndim > 0 and right.ndim > 0
    ndim = left.ndim + right.ndim - 2 * both
    return item_of(_of_products(left, right), ndim)


def _of_products(*factors: _Like) -> str | None:
    """The dtype of a product, if all factors are f8, i8 or c16."""
    return promoted(like.dtype if like.dtype in ("f8", "i8", "c16") else None for like in factors)


@_row(np.inner)
def _inner(a, b, /):
    return _dot(a, b)


@_row(np.outer)
def _outer(a, b, out=None):
    left, right = _like(a), _like(b)
    known = left.ndim >= 0 and right.ndim >= 0 and _is_absent(out)
    return array_of(_of_products(left, right), 2) if known else NUMERIC


@_row(np.vdot)
def _vdot(a, b, /):
    left, right = _like(a), _like(b)
    return item_of(_of_products(left, right), 0) if min(left.ndim, right.ndim) >= 0 else NUMERIC


@_row(np.kron)
def _kron(a, b):
    left, right = _like(a), _like(b)
    known = min(left.ndim, right.ndim) >= 1
    return array_of(_of_products(left, right), max(left.ndim, right.ndim)) if known else NUMERIC


@_row(np.tensordot)
def _tensordot(a, b, axes=None):
    left, right = _like(a), _like(b)
    count = _literal(axes, 2)
    if isinstance(count, tuple) and len(count) == 2:
        count = len(count[0]) if isinstance(count[0], tuple) else 1
    if not isinstance(count, int) or min(left.ndim, right.ndim) < count or count < 0:
        return NUMERIC
    return array_of(_of_products(left, right), left.ndim + right.ndim - 2 * count)


@_row(np.einsum)
def _einsum(subscripts, *operands, out=None, optimize=None):
    likes = [_like(given) for given in operands]
    text = subscripts.literal
    if not isinstance(text, str) or "." in text or not all(isinstance(g.kind, Array) for g in operands):
        return NUMERIC
    if not _is_absent(out):
        return NUMERIC
    inputs, arrow, output = text.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1)
    made = array_of(_of_products(*likes), len(output))
    return item_of(_of_products(*likes), 0) if not output and _is_absent(optimize) else made


@_row(np.convolve, np.correlate)
def _convolve(a, v, mode=None):
    left, right = _like(a), _like(v)
    return array_of(_of_products(left, right), 1) if left.ndim == right.ndim == 1 else NUMERIC


# -- linear algebra ------------------------------------------------------------------------------------------


def _inexact(dtype: str | None) -> str | None:
    """The dtype that linear algebra computes in."""
    return "f8" if dtype == "i8" else None if dtype == "b1" else dtype


@_row(*_rows("cholesky inv pinv", np.linalg))
def _matrix(a, *others, **options):
    like = _like(a)
    plain = not others and not options and like.ndim >= 2
    return array_of(_inexact(like.dtype), like.ndim) if plain else NUMERIC


@_row(np.linalg.matrix_power)
def _matrix_power(a, n):
    like = _like(a)
    return like.array() if like.ndim >= 2 and like.dtype in ("f8", "c16") else NUMERIC


@_row(np.linalg.det)
def _det(a):
    like = _like(a)
    return item_of(_inexact(like.dtype), like.ndim - 2) if like.ndim >= 2 else NUMERIC


@_row(np.linalg.solve)
def _solve(a, b):
    left, right = _like(a), _like(b)
    if left.ndim < 2 or right.ndim < 1:
        return NUMERIC
    ndim = left.ndim - 1 if right.ndim == 1 else max(left.ndim, right.ndim)
    return array_of(promoted([_inexact(left.dtype), _inexact(right.dtype)]), ndim)


@_row(np.linalg.eigvalsh)
def _eigenvalues(a, UPLO=None):
    like = _like(a)
    dtype = "f8" if like.dtype in ("f8", "i8", "c16") else None
    return array_of(dtype, like.ndim - 1) if like.ndim >= 2 else NUMERIC


@_row(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=None):
    like = _like(x)
    one = _is_absent(ord) or is_real(ord.kind) or ord.kind == STR
    if not one or (not _is_absent(axis) and _count(axis) not in (1, 2)):
        return NUMERIC
    dtype = "f8" if like.dtype in ("f8", "i8", "c16") else None
    return _reduced(like, axis, keepdims, dtype) if like.ndim > 0 else NUMERIC


def parts_of(
    target: Any, args: Sequence[Given], keywords: Mapping[str, Given] = python_types.MappingProxyType({})
) -> tuple[Type, ...] | None:
    """The kinds of the parts of a result that is a named tuple, by position; None if unknown.

    >>> parts_of(np.linalg.slogdet, [Given(Array("f8", 2))])
    (Kind(name='f8'), Kind(name='f8'))
    """
    parts = _PARTS.get(target) if _is_hashable(target) else None
    like = _like(args[0]) if args else _UNKNOWN
    if parts is None or like.dtype not in ("f8", "i8") or like.ndim < 2 or not _says_no_more(args, keywords):
        return None
    return tuple(item_of("f8", like.ndim - fewer) for fewer in parts)


# The number of dimensions that each part has fewer than the matrix.
_PARTS: dict[Any, tuple[int, ...]] = {
    np.linalg.slogdet: (2, 2),
    np.linalg.eigh: (1, 0),
    np.linalg.svd: (0, 1, 0),
    np.linalg.qr: (0, 0),
}


def _says_no_more(args: Sequence[Given], keywords: Mapping[str, Given]) -> bool:
    """Whether no argument but the first selects different parts."""
    return len(args) == 1 and keywords.keys() <= {"full_matrices", "UPLO"}


# -- shapes --------------------------------------------------------------------------------------------------


@_row(np.reshape)
def _reshape(a, shape=None, order=None, *, newshape=None, copy=None):
    count = _count(shape)
    return NUMERIC if count is None else _like(a).array(count)


@_row(np.ndarray.reshape)
def _reshape_method(self, *shape, order=None, copy=None):
    count = _count(shape[0]) if len(shape) == 1 else len(shape)
    return NUMERIC if count is None or not shape else _like(self).array(count)


@_row(np.broadcast_to)
def _broadcast_to(array, shape, subok=None):
    count = _count(shape)
    return NUMERIC if count is None else _like(array).array(count)


@_row(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def _flat(a, order=None):
    like = _like(a)
    return like.array(1) if like.ndim >= 0 else NUMERIC


@_row(np.squeeze, np.ndarray.squeeze)
def _squeeze(a, axis=None):
    like, count = _like(a), _count(axis)
    return NUMERIC if count is None or like.ndim < count else like.array(like.ndim - count)


@_row(np.expand_dims)
def _expand_dims(a, axis):
    like, count = _like(a), _count(axis)
    return NUMERIC if count is None or like.ndim < 0 else like.array(like.ndim + count)


@_row(np.diag)
def _diag(v, k=None):
    like = _like(v)
    return like.array(3 - like.ndim) if like.ndim in (1, 2) else NUMERIC


@_row(np.diagflat)
def _diagflat(v, k=None):
    like = _like(v)
    return like.array(2) if like.ndim >= 0 else NUMERIC


@_row(np.diagonal, np.ndarray.diagonal)
def _diagonal(a, offset=None, axis1=None, axis2=None):
    like = _like(a)
    return like.array(like.ndim - 1) if like.ndim >= 2 else NUMERIC


@_row(np.tril, np.triu)
def _triangle(m, k=None):
    like = _like(m)
    return like.array(max(2, like.ndim)) if like.ndim >= 1 else NUMERIC


@_row(np.transpose, np.ndarray.transpose, np.ndarray.swapaxes)
@_row(*_rows("swapaxes moveaxis rollaxis flip fliplr flipud roll rot90 permute_dims"))
@_row(*_rows("matrix_transpose"))
def _as_many(a, *others, **options):
    like = _like(a)
    return like.array() if like.ndim >= 1 else NUMERIC


@_row(np.take_along_axis)
def _take_along_axis(arr, indices, axis=None):
    like = _like(arr)
    return like.array() if like.ndim >= 1 and axis is not None and _count(axis) == 1 else NUMERIC


@_row(np.pad)
def _pad(array, pad_width, mode=None, **options):
    like = _like(array)
    named = mode is None or isinstance(mode.literal, str)
    return like.array() if like.ndim >= 1 and named else NUMERIC


@_row(np.copy)
def _copy(a, order=None, subok=None):
    return _like(a).array() if _like(a).ndim >= 0 else NUMERIC


@_row(np.ndarray.copy)
def _copy_method(self, order=None):
    return _like(self).array()


@_row(np.concatenate, getattr(np, "concat", None))
def _concatenate(arrays, axis=None, out=None, dtype=None, casting=None):
    likes = _likes(arrays)
    if not likes or not _is_absent(out):
        return NUMERIC
    named = _dtype(dtype, promoted(like.dtype for like in likes))
    if axis is not None and axis.kind == NONE:
        return array_of(named, 1) if min(like.ndim for like in likes) >= 0 else NUMERIC
    plain = min(like.ndim for like in likes) >= 1
    return array_of(named, likes[0].ndim) if plain else NUMERIC


def _likes(given: Given) -> list[_Like]:
    """The arrays in a sequence, or along the first axis of an array; empty if unknown. For a list of unknown
    length it is one array, since joining an empty list fails.
    """
    if given.each is not None:
        return [_like(Given(given.each))]
    parts = given.parts()
    if parts is not None:
        return [_like(part) for part in parts]
    like = _like(given)
    return [_Like(like.dtype, like.ndim - 1)] if like.ndim >= 1 else []


@_row(np.stack)
def _stack(arrays, axis=None, out=None, *, dtype=None, casting=None):
    likes = _likes(arrays)
    if not likes or not _is_absent(out):
        return NUMERIC
    named = _dtype(dtype, promoted(like.dtype for like in likes))
    return array_of(named, 1 + max(like.ndim for like in likes))


def _joined(least: int) -> Row:
    def joined(tup, *, dtype=None, casting=None):
        likes = _likes(tup)
        if not likes or min(like.ndim for like in likes) < 0:
            return NUMERIC
        named = _dtype(dtype, promoted(like.dtype for like in likes))
        return array_of(named, max(least, *(like.ndim for like in likes)))

    return joined


_row(np.hstack)(_joined(1))
_row(np.vstack)(_joined(2))


@_row(np.dstack)
def _dstack(tup):
    return _joined(3)(tup)


@_row(np.column_stack)
def _column_stack(tup):
    likes = _likes(tup)
    return _joined(2)(tup) if likes and max(like.ndim for like in likes) <= 2 else NUMERIC


@_row(np.tile)
def _tile(A, reps):
    like, count = _like(A), _count(reps)
    return NUMERIC if count is None or like.ndim < 0 else like.array(max(like.ndim, count))


@_row(np.repeat, np.ndarray.repeat)
def _repeat(a, repeats, axis=None):
    like = _like(a)
    if like.ndim < 0 or not (_is_absent(axis) or _count(axis) == 1):
        return NUMERIC
    return like.array(1) if _is_absent(axis) else like.array()


@_row(np.sort)
def _sorted(a, axis=None, kind=None, order=None, *, stable=None):
    return _in_order(a, axis, None)


@_row(ranks.order_of)
def _order_of(keys, reverse=None):
    return Array("i8", 1)


@_row(ranks.places_of_smallest, ranks.places_of_largest)
def _places(count, keys, source):
    return Array("i8", 1)


@_row(ranks.places_merged)
def _places_merged(items, ends, reverse):
    return Array("i8", 1)


@_row(ranks.place_of_greatest, ranks.place_of_least)
def _place(keys):
    return INT


@_row(np.argsort, np.ndarray.argsort)
def _argsort(a, axis=None, kind=None, order=None, *, stable=None):
    return _in_order(a, axis, _DEFAULT_INT)


def _in_order(a: Given, axis: Given | None, dtype: str | None) -> Type:
    like = _like(a)
    if like.ndim < 1 or not (axis is None or axis.kind == NONE or _count(axis) == 1):
        return NUMERIC
    return array_of(dtype or like.dtype, 1 if axis is not None and axis.kind == NONE else like.ndim)


@_row(np.take, np.ndarray.take)
def _take(a, indices, axis=None, out=None, mode=None):
    like, index = _like(a), _like(indices)
    if _is_whole(indices):
        index = _Like("i8", 0)
    if like.ndim < 1 or index.ndim < 0 or not _is_absent(out):
        return NUMERIC
    if not _is_absent(axis) and _count(axis) != 1:
        return NUMERIC
    return item_of(like.dtype, index.ndim + (0 if _is_absent(axis) else like.ndim - 1))


@_row(np.searchsorted, np.ndarray.searchsorted)
def _searchsorted(a, v, side=None, sorter=None):
    ndim = ndim_of(v.kind)
    return NUMERIC if _like(a).ndim < 1 or ndim is None else item_of(_DEFAULT_INT, ndim)


@_row(np.nonzero, np.ndarray.nonzero)
def _nonzero(a):
    like = _like(a)
    return Tuple((array_of(_DEFAULT_INT, 1),) * like.ndim) if like.ndim >= 1 else NUMERIC


@_row(np.argwhere)
def _argwhere(a):
    return array_of(_DEFAULT_INT, 2) if _like(a).ndim >= 0 else NUMERIC


@_row(np.where)
def _where(condition, *choices):
    if not choices:
        return _nonzero(condition)
    kinds = [condition.kind, *(given.kind for given in choices)]
    ndims = [ndim_of(kind) for kind in kinds]
    if len(choices) != 2 or None in ndims:
        return NUMERIC
    # The dtype is that of a sum, in which Python numbers adopt the dtype of arrays; sums of bools are bools.
    return array_of(_dtype_of(of_ufunc(np.add, kinds[1:])), max(n for n in ndims if n is not None))


def _dtype_of(kind: Type) -> str | None:
    return kind.dtype if isinstance(kind, Array) else _OF_NUMBERS.get(kind)


# -- creation of arrays --------------------------------------------------------------------------------------


@_row(np.zeros, np.ones, np.empty)
def _filled(shape, dtype=None, order=None, *, device=None, like=None):
    count = _count(shape)
    return NUMERIC if count is None or like is not None else array_of(_dtype(dtype, "f8"), count)


@_row(np.full)
def _full(shape, fill_value, dtype=None, order=None, *, device=None, like=None):
    count, fill = _count(shape), _like(fill_value)
    known = count is not None and like is None
    return array_of(_dtype(dtype, fill.dtype), count) if known and count is not None else NUMERIC


@_row(np.zeros_like, np.ones_like, np.empty_like)
def _filled_like(a, dtype=None, order=None, subok=None, shape=None, *, device=None):
    like = _like(a)
    ndim = like.ndim if _is_absent(shape) else _count(shape)
    return NUMERIC if ndim is None or like.ndim < 0 else array_of(_dtype(dtype, like.dtype), ndim)


@_row(zero_of)
def _zero_tangent(x):
    if isinstance(x.kind, Array):
        return x.kind if x.kind.dtype == "f8" else ANY
    return FLOAT if x.kind in (FLOAT, INT) else ANY


@_row(np.full_like)
def _full_like(a, fill_value, dtype=None, order=None, subok=None, shape=None, *, device=None):
    return _filled_like(a, dtype, order, subok, shape)


@_row(np.eye)
def _eye(N, M=None, k=None, dtype=None, order=None, *, device=None, like=None):
    return NUMERIC if like is not None else array_of(_dtype(dtype, "f8"), 2)


@_row(np.identity)
def _identity(n, dtype=None, *, like=None):
    return NUMERIC if like is not None else array_of(_dtype(dtype, "f8"), 2)


@_row(np.arange)
def _arange(start, stop=None, step=None, dtype=None, *, device=None, like=None):
    given = [g for g in (start, stop, step) if g is not None and g.kind != NONE]
    if like is not None or not all(map(_is_scalar, given)):
        return NUMERIC
    if any(g.kind in (FLOAT, F8) for g in given):
        counted: str | None = "f8"
    elif len(given) == 1 and _is_whole(given[0]):
        counted = _DEFAULT_INT  # for 2 ** 63 items NumPy returns an empty float array, which nobody intends
    else:
        counted = promoted(_like(g).dtype for g in given)
        counted = counted if counted in ("i8", "f8") else None
    if counted == "f8" and any(_like(g).dtype is None for g in given):
        counted = None  # an int beyond int64 gives an object array
    return array_of(_dtype(dtype, counted), 1)


def _is_scalar(given: Given) -> bool:
    return given.kind != BOOL and ndim_of(given.kind) == 0


@_row(np.linspace)
def _linspace(start, stop, num=None, endpoint=None, retstep=None, dtype=None, axis=None, *, device=None):
    ends = [_like(start), _like(stop)]
    reals = all(g.kind in (INT, REAL) or e.dtype in ("f8", "i8") for g, e in zip((start, stop), ends))
    if not reals or min(e.ndim for e in ends) < 0 or _literal(retstep, False) is not False:
        return NUMERIC
    return array_of(_dtype(dtype, "f8"), 1 + max(e.ndim for e in ends))


@_row(np.array)
def _array(object, dtype=None, *, copy=None, order=None, subok=None, ndmin=None, like=None):
    return _made(object, dtype) if like is None and ndmin is None else _numeric(object)


@_row(np.asarray, np.asanyarray)
def _asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    return _made(a, dtype) if like is None else _numeric(a)


def _made(given: Given, dtype: Given | None) -> Type:
    like = _like(given)
    return _numeric(given) if like.ndim < 0 else array_of(_dtype(dtype, like.dtype), like.ndim)


def _numeric(given: Given) -> Type:
    """NUMERIC for an array made from numbers or arrays, ANY for one that may hold objects."""
    parts = given.parts()
    plain = is_numeric(given.kind) if parts is None else all(_numeric(part) == NUMERIC for part in parts)
    return NUMERIC if plain else ANY


@_row(np.ascontiguousarray, np.asfortranarray)
def _in_one_piece(a, dtype=None, *, like=None):
    known = _like(a)
    if known.ndim < 0 or like is not None:
        return NUMERIC
    return array_of(_dtype(dtype, known.dtype), max(1, known.ndim))


def _at_least(ndim: int) -> Row:
    def at_least(ary):
        like = _like(ary)
        return like.array(max(ndim, like.ndim)) if like.ndim >= 0 else _numeric(ary)

    return at_least


for _number, _function in enumerate((np.atleast_1d, np.atleast_2d, np.atleast_3d), 1):
    _row(_function)(_at_least(_number))


# -- conversions, and elementwise functions ------------------------------------------------------------------


@_row(np.ndarray.astype)
def _astype(self, dtype, order=None, casting=None, subok=None, copy=None):
    like = _like(self)
    return array_of(_dtype(dtype, None), like.ndim) if like.ndim >= 1 else NUMERIC


@_row(np.ndarray.item, np.generic.item)
def _item_method(self, *place):
    dtype = _like(self).dtype
    return {"f8": FLOAT, "f4": FLOAT, "i8": INT, "b1": BOOL}.get(dtype or "", NUMERIC)


@_row(np.float64)
def _float64(x, /):
    like = _like(x)
    if x.kind in (INT, REAL):
        return F8
    return item_of("f8", like.ndim) if like.dtype in ("f8", "i8", "b1", "f4") else _numeric(x)


@_row(*_rows("round around"), np.ndarray.round)
def _rounded(a, decimals=None, out=None):
    like = _like(a)
    known = like.dtype in ("f8", "i8", "c16") and like.ndim >= 0 and _is_absent(out)
    return item_of(like.dtype, like.ndim) if known else NUMERIC


@_row(*_rows("nan_to_num fix sinc"))
def _elementwise(x, *others, **options):
    like = _like(x)
    plain = like.dtype == "f8" and not others and not options
    return item_of("f8", like.ndim) if plain else NUMERIC


@_row(np.clip)
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    return _clipped(a, [a_min, a_max, min, max], out)


@_row(np.ndarray.clip)
def _clip_method(self, min=None, max=None, out=None):
    return _clipped(self, [min, max], out)


def _clipped(a: Given, bounds: list[Given | None], out: Given | None) -> Type:
    kinds = [a.kind, *(g.kind for g in bounds if g is not None and g.kind != NONE)]
    if not _is_absent(out) or BOOL in kinds or len(kinds) not in (2, 3):
        return NUMERIC
    made = kinds[0]
    for bound in kinds[1:]:
        made = of_ufunc(np.maximum, (made, bound))
    return made


@_row(np.real, np.imag)
def _part(val):
    if isinstance(val.kind, Array):
        return Array("f8" if val.kind.dtype == "c16" else val.kind.dtype, val.kind.ndim)
    return NUMERIC


@_row(np.interp)
def _interp(x, xp, fp, left=None, right=None, period=None):
    ndim, dtype = ndim_of(x.kind), _like(fp).dtype
    return NUMERIC if ndim is None or dtype not in ("f8", "i8") else item_of("f8", ndim)


@_row(np.isclose)
def _isclose(a, b, rtol=None, atol=None, equal_nan=None):
    ndims = [ndim_of(a.kind), ndim_of(b.kind)]
    ndim = None if None in ndims else max(n for n in ndims if n is not None)
    plain = all(g is None or g.literal is not UNBOUND for g in (rtol, atol, equal_nan))
    return NUMERIC if ndim is None or not plain else item_of("b1", ndim)


# -- differences, insertion and deletion ---------------------------------------------------------------------


@_row(np.gradient)
def _gradient(f, *varargs, axis=None, edge_order=None):
    like, count = _like(f), 1 if _like(f).ndim == 1 and _is_absent(axis) else _count(axis)
    known = like.ndim >= 1 and count == 1 and like.dtype in ("f8", "i8")
    return array_of("f8", like.ndim) if known else ANY  # along several axes it returns several arrays


@_row(np.ediff1d)
def _differences_in_a_row(ary, to_end=None, to_begin=None):
    plain = _is_absent(to_end) and _is_absent(to_begin) and _like(ary).dtype in ("f8", "i8")
    return _like(ary).array(1) if plain else NUMERIC


@_row(np.append)
def _append(arr, values, axis=None):
    parts = [_like(arr), _like(values)]
    if min(part.ndim for part in parts) < 0:
        return NUMERIC
    dtype = promoted(part.dtype for part in parts)
    if _is_absent(axis):
        return array_of(dtype, 1)
    return array_of(dtype, parts[0].ndim) if _count(axis) == 1 and parts[0].ndim >= 1 else NUMERIC


@_row(np.insert)
def _insert(arr, obj, values, axis=None):
    return _some_of(arr, axis)


@_row(np.delete)
def _delete(arr, obj, axis=None):
    return _some_of(arr, axis)


@_row(np.compress)
def _compress(condition, a, axis=None, out=None):
    return _some_of(a, axis) if _is_absent(out) else NUMERIC


@_row(np.ndarray.compress)
def _compress_method(self, condition, axis=None, out=None):
    return _some_of(self, axis) if _is_absent(out) else NUMERIC


def _some_of(a: Given, axis: Given | None) -> Type:
    """The kind of an array with some entries inserted or left out, along an axis, or flattened."""
    like = _like(a)
    if like.ndim < 1 or not (_is_absent(axis) or _count(axis) == 1):
        return NUMERIC
    return like.array(1) if _is_absent(axis) else like.array()


@_row(np.extract)
def _extract(condition, arr):
    return _like(arr).array(1) if _like(arr).ndim >= 0 else NUMERIC


@_row(np.partition)
def _partition(a, kth, axis=None, kind=None, order=None):
    return _in_order(a, axis, None)


@_row(np.argpartition, np.ndarray.argpartition)
def _argpartition(a, kth, axis=None, kind=None, order=None):
    return _in_order(a, axis, _DEFAULT_INT)


@_row(np.resize)
def _resize(a, new_shape):
    count = _count(new_shape)
    return NUMERIC if count is None else _like(a).array(count)


@_row(*_rows("cumulative_sum cumulative_prod"))
def _cumulative_of(x, /, *, axis=None, dtype=None, out=None, include_initial=None):
    like = _like(x)
    known = like.ndim >= 1 and like.dtype in ("f8", "c16") and _is_absent(dtype) and _is_absent(out)
    return like.array() if known else NUMERIC


@_row(np.unwrap)
def _unwrap(p, discont=None, axis=None, *, period=None):
    like = _like(p)
    reals = all(given is None or _like(given).dtype in ("f8", "i8") for given in (discont, period))
    return like.array() if like.ndim >= 1 and like.dtype == "f8" and reals else NUMERIC


@_row(np.ndarray.conj, np.ndarray.conjugate)
def _conjugate_method(self, out=None):
    like = _like(self)
    return like.array() if like.ndim >= 1 and like.dtype in ("f8", "c16") and _is_absent(out) else NUMERIC


@_row(np.bincount)
def _bincount(x, /, weights=None, minlength=None):
    return array_of(_DEFAULT_INT if _is_absent(weights) else "f8", 1)


@_row(np.digitize)
def _digitize(x, bins, right=None):
    ndim = ndim_of(x.kind)
    return array_of(_DEFAULT_INT, ndim) if ndim else NUMERIC


@_row(np.flatnonzero)
def _flatnonzero(a):
    return array_of(_DEFAULT_INT, 1) if _like(a).ndim >= 1 else NUMERIC


@_row(*_rows("tril_indices triu_indices tril_indices_from triu_indices_from"))
def _indices_of_triangle(n, k=None, m=None):
    return Tuple((array_of(_DEFAULT_INT, 1),) * 2)


@_row(*_rows("meshgrid") if isinstance(np.meshgrid(0.0), tuple) else ())
def _meshgrid(*xi, copy=None, sparse=None, indexing=None):
    likes = [_like(given) for given in xi]
    if min((like.ndim for like in likes), default=-1) < 0:
        return ANY
    return Tuple(tuple(like.array(len(likes)) for like in likes))


@_row(np.tri)
def _tri(N, M=None, k=None, dtype=None, *, like=None):
    return NUMERIC if like is not None else array_of(_dtype(dtype, "f8"), 2)


@_row(*_rows("bartlett blackman hamming hanning"))
def _window(M):
    return array_of("f8", 1) if _is_whole(M) else NUMERIC


@_row(np.vander)
def _vander(x, N=None, increasing=None):
    like = _like(x)
    return like.array(2) if like.ndim == 1 and like.dtype in ("f8", "c16") else NUMERIC


# -- polynomials ---------------------------------------------------------------------------------------------


def _coefficients(*given: Given) -> bool:
    """Whether arguments are polynomials of real coefficients in an array or a list."""
    return all(_like(each).ndim == 1 and _like(each).dtype == "f8" for each in given)


@_row(np.polyval)
def _polyval(p, x):
    known = _like(p).ndim == 1 and _like(p).dtype in ("f8", "i8") and isinstance(x.kind, Array)
    return x.kind if known and x.kind.dtype == "f8" and x.kind.ndim else NUMERIC


@_row(np.polyadd, np.polysub)
def _polysum(a1, a2):
    return array_of("f8", 1) if _coefficients(a1, a2) else NUMERIC


@_row(np.polymul)
def _polymul(a1, a2):
    return array_of("f8", 1) if _coefficients(a1, a2) else NUMERIC


@_row(np.polyder)
def _polyder(p, m=None):
    return array_of("f8", 1) if _coefficients(p) else NUMERIC


@_row(np.polyint)
def _polyint(p, m=None, k=None):
    return array_of("f8", 1) if _coefficients(p) and _is_absent(k) else NUMERIC


@_row(np.polyfit)
def _polyfit(x, y, deg, rcond=None, full=None, w=None, cov=None):
    plain = _is_whole(deg) and _literal(full, False) is False and _literal(cov, False) is False
    return array_of("f8", 1) if plain and _coefficients(x, y) and _is_absent(w) else ANY


# -- Fourier transforms --------------------------------------------------------------------------------------


@_row(*_rows("fft ifft rfft ihfft fft2 ifft2 rfft2 fftn ifftn rfftn", np.fft))
def _transform(a, n=None, axis=None, norm=None, out=None, *, s=None, axes=None):
    return _transformed(a, "c16", (n, axis, s, axes), out)


@_row(*_rows("irfft hfft irfft2 irfftn", np.fft))
def _transform_to_reals(a, n=None, axis=None, norm=None, out=None, *, s=None, axes=None):
    return _transformed(a, "f8", (n, axis, s, axes), out)


def _transformed(a: Given, dtype: str, counts: tuple[Given | None, ...], out: Given | None) -> Type:
    """The kind of a transform along some axes; for no axes, NumPy returns the array itself."""
    like = _like(a)
    some = all(_is_absent(given) or _count(given) for given in counts)
    known = like.ndim >= 1 and like.dtype in ("f8", "i8", "c16") and _is_absent(out) and some
    return array_of(dtype, like.ndim) if known else NUMERIC


@_row(*_rows("fftshift ifftshift", np.fft))
def _shifted(x, axes=None):
    return _like(x).array() if _like(x).ndim >= 1 else NUMERIC


@_row(*_rows("fftfreq rfftfreq", np.fft))
def _frequencies(n, d=None, device=None):
    plain = d is None or _like(d).ndim == 0 and _like(d).dtype in ("f8", "i8")
    return array_of("f8", 1) if plain and _is_whole(n) else NUMERIC


# -- more linear algebra -------------------------------------------------------------------------------------


@_row(*_rows("cond", np.linalg))
def _cond(x, p=None):
    like = _like(x)
    known = like.ndim >= 2 and like.dtype in ("f8", "i8") and _is_absent(p)
    return item_of("f8", like.ndim - 2) if known else NUMERIC


@_row(*_rows("svdvals", np.linalg))
def _singular_values(x, /):
    return _eigenvalues(x)


@_row(*_rows("matrix_norm", np.linalg))
def _matrix_norm(x, /, *, keepdims=None, ord=None):
    like = _like(x)
    known = like.ndim >= 2 and like.dtype in ("f8", "i8", "c16") and keepdims is None
    return item_of("f8", like.ndim - 2) if known else NUMERIC


@_row(*_rows("vector_norm", np.linalg))
def _vector_norm(x, /, *, axis=None, keepdims=None, ord=None):
    like = _like(x)
    if like.ndim < 1 or like.dtype not in ("f8", "i8", "c16"):
        return NUMERIC
    return _reduced(like, axis, keepdims, "f8") if ord is None else NUMERIC


@_row(*_rows("trace", np.linalg))
def _trace_of_matrix(x, /, *, offset=None, dtype=None):
    return _trace(x) if _is_absent(dtype) else NUMERIC


@_row(*_rows("diagonal", np.linalg))
def _diagonal_of_matrix(x, /, *, offset=None):
    return _diagonal(x)


@_row(*_rows("matrix_transpose", np.linalg))
def _transposed(x, /):
    return _like(x).array() if _like(x).ndim >= 2 else NUMERIC


@_row(*_rows("outer", np.linalg))
def _outer_of_vectors(x1, x2, /):
    return _outer(x1, x2)


@_row(*_rows("cross", np.linalg))
def _cross(x1, x2, /, *, axis=None):
    left, right = _like(x1), _like(x2)
    known = min(left.ndim, right.ndim) >= 1 and left.dtype == right.dtype == "f8"
    return array_of("f8", max(left.ndim, right.ndim)) if known else NUMERIC


@_row(np.linalg.multi_dot)
def _multi_dot(arrays, *, out=None):
    parts = arrays.parts()
    likes = [_like(part) for part in parts or ()]
    if len(likes) < 2 or not _is_absent(out) or any(like.dtype != "f8" for like in likes):
        return NUMERIC
    ends = likes[0].ndim, likes[-1].ndim
    known = {*ends} <= {1, 2} and all(like.ndim == 2 for like in likes[1:-1])
    return item_of("f8", sum(ends) - 2) if known else NUMERIC


# -- Python's built-in functions -----------------------------------------------------------------------------


@_row(np.allclose, np.array_equal, math.isnan, math.isinf, math.isfinite, math.isclose, bool, callable)
@_row(isinstance, issubclass, hasattr, np.isscalar, np.iscomplexobj, np.isrealobj)
def _answer(*args, **options):
    return BOOL


@_row(len, int, math.gcd, math.lcm, math.comb, math.perm, math.factorial, math.isqrt)
def _whole(*args, **options):
    return INT


@_row(np.ndim, np.size)
def _size(a, axis=None):
    return INT if is_numeric(a.kind) else NUMERIC


@_row(np.shape)
def _shape(a):
    ndim = ndim_of(a.kind)
    return NUMERIC if ndim is None else Tuple((INT,) * ndim)


_NOT_REAL = frozenset(
    "floor ceil trunc gcd lcm comb perm isqrt factorial frexp modf isnan isinf isfinite isclose "
    "dist fsum prod sumprod".split()
)
_REAL_MATH = [
    value
    for name, value in vars(math).items()
    if isinstance(value, python_types.BuiltinFunctionType) and name not in _NOT_REAL
]


@_row(*_REAL_MATH, math.fsum)
def _real_math(*args, **options):
    return FLOAT if all(map(_may_be_summed, args)) else ANY


def _may_be_summed(given: Given) -> bool:
    return is_numeric(given.kind) or given.parts() is not None or is_numeric(given.each)


@_row(math.prod)
def _product_of_items(iterable, /, start=None):
    """The product of 1 and the items, one at a time."""
    parts = iterable.parts()
    kinds = [iterable.each or ANY] if parts is None else [part.kind for part in parts]
    if start is not None or not all(map(is_real, kinds)):
        return ANY
    product: Type = INT
    for kind in kinds:
        product = of_operator(operator.mul, Given(product), Given(kind))
    return product if parts is not None else join(INT, product)


@_row(math.floor, math.ceil, math.trunc)
def _whole_part(x, /):
    return INT if is_real(x.kind) else ANY


@_row(math.modf)
def _two_parts(x, /):
    return Tuple((FLOAT, FLOAT)) if is_real(x.kind) else ANY


@_row(math.frexp)
def _mantissa_and_exponent(x, /):
    return Tuple((FLOAT, INT)) if is_real(x.kind) else ANY


@_row(builtins.float)
def _float(x=None, /):
    return FLOAT if x is None or is_numeric(x.kind) or x.kind == STR else ANY


@_row(builtins.str)
def _text(*args, **options):
    return STR


@_row(builtins.abs)
def _abs(x, /):
    return of_unary(operator.abs, x.kind)


@_row(builtins.tuple)
def _tuple(x=None, /):
    parts = () if x is None else x.parts()
    return ANY if parts is None else Tuple(tuple(part.kind for part in parts))


@_row(builtins.max, builtins.min)
def _one_of(*args, **options):
    if options or not args:
        return ANY
    if len(args) == 1 and args[0].each is not None:
        return args[0].each if is_real(args[0].each) else ANY
    given = (args[0].parts() or ()) if len(args) == 1 else args
    if not given or not all(is_real(g.kind) or g.kind == I8 for g in given):
        return element_of(args[0].kind) if len(args) == 1 and ndim_of(args[0].kind) == 1 else ANY
    kind = given[0].kind
    for other in given[1:]:
        kind = join(kind, other.kind)
    return kind


@_row(builtins.sum)
def _sum_of_items(iterable, /, start=None):
    """The sum of 0, or of the start, and the items, one at a time."""
    total = Given(INT, 0) if start is None else start
    parts = iterable.parts()
    if parts is None:
        item = iterable.each or element_of(iterable.kind)
        return join(total.kind, of_operator(operator.add, total, Given(item))) if is_numeric(item) else ANY
    for part in parts:
        total = Given(of_operator(operator.add, total, part))
    return total.kind


@_row(builtins.round)
def _round(number, ndigits=None):
    if not is_real(number.kind):
        return NUMERIC if is_numeric(number.kind) else ANY
    if _is_absent(ndigits):
        return INT
    return number.kind if _is_whole(ndigits) else NUMERIC


@_row(builtins.divmod)
def _divmod(a, b, /):
    if not is_real(a.kind) or not is_real(b.kind):
        return NUMERIC if is_numeric(a.kind) and is_numeric(b.kind) else ANY
    return Tuple((of_operator(operator.floordiv, a, b), of_operator(operator.mod, a, b)))


@_row(builtins.pow)
def _pow(base, exp, mod=None):
    return of_operator(operator.pow, base, exp) if mod is None else NUMERIC


# -- what all NumPy functions return at least ----------------------------------------------------------------

_ARRAY_METHODS = frozenset(name for name in dir(np.ndarray) if name[0] != "_" and name != "tolist")
# NumPy functions that return lists of arrays, or that call functions passed to them.
_LISTING = frozenset(
    {"split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "broadcast_arrays", "meshgrid", "ix_"}
    | {"atleast_1d", "atleast_2d", "atleast_3d", "gradient", "apply_along_axis", "piecewise", "fromiter"}
    | {"array", "asarray", "vectorize", "apply_over_axes", "fromfunction"}
)


def gives_arrays(target: Any) -> bool:
    """Whether a function of NumPy always returns arrays or numbers, not a list of them."""
    if isinstance(target, python_types.MethodDescriptorType):
        return target.__objclass__ is np.ndarray and target.__name__ in _ARRAY_METHODS
    if isinstance(target, np.ufunc):
        return True
    module = str(getattr(target, "__module__", None)).partition(".")[0]
    return (
        module == "numpy"
        and not isinstance(target, (type, python_types.ModuleType))
        and callable(target)
        and getattr(target, "__name__", "array") not in _LISTING
    )
