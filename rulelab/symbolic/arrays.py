"""Arrays of traced numbers, which act like float64 arrays in NumPy functions.

NumPy's two protocols dispatch every ufunc and every function here, both from the author's code and from
NumPy's own Python code. A function that is not in the tables of this package runs as NumPy wrote it, on
object arrays; if that reaches C code that needs machine numbers, the trace stops and names the function.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import itertools
import math

import numpy as np

from . import specials
from .complexes import TracedComplex, angle_of, as_complex, is_complex, root, squared_size
from .elimination import LINALG
from .functions import NUMPY_ELEMENTS, element_version
from .scalars import CannotTrace, NoRealValue, Scalar, Stop, first_trace
from .transforms import TRANSFORMS

FLOAT, COMPLEX = np.dtype(float), np.dtype(complex)

# Ufuncs whose loops over objects use the numbers' operators.
_NATIVE = frozenset(
    "add subtract multiply negative positive matmul vecdot matvec vecmat less less_equal greater "
    "greater_equal equal not_equal".split()
)
_PREDICATES = frozenset("isnan isinf isfinite signbit logical_and logical_or logical_xor logical_not".split())
_NEUTRAL = {"add": 0.0, "multiply": 1.0, "logical_and": True, "logical_or": False, "logical_xor": False}


class ObjectArray(np.ndarray):
    """An array of traced numbers whose dtype is object. NumPy's own Python code gets these."""

    def __array_ufunc__(self, ufunc, method, *args, out=None, **kwargs):
        return _in_class_of_arguments(_ufunc(ufunc, method, args, out, kwargs), _class_for(args))

    def __array_function__(self, function, types, args, kwargs):
        return call_numpy(function, args, kwargs, _class_for(itertools.chain(args, kwargs.values())))

    def astype(self, dtype, *args, **kwargs):
        return _converted(self, dtype)

    real = property(lambda self: _each_part(self, "real"))
    imag = property(lambda self: _each_part(self, "imag"))

    def dot(self, other, out=None):
        return _into(
            out, _in_class_of_arguments(np.asarray(np.dot(_bare(self), _bare(other)), object), type(self))
        )

    def conjugate(self):
        return np.conjugate(self) if is_complex(self) else self

    conj = conjugate


class TracedArray(ObjectArray):
    """An array of traced numbers as the author's code sees it: its dtype is that of the plain run."""

    dtype = property(lambda self: COMPLEX if is_complex(self) else FLOAT)

    def __reduce__(self):
        first_trace(self.ravel()).halt(CannotTrace("pickling an argument"))


# A traced number passed to a NumPy function on its own is dispatched in the same way.
Scalar.__array_ufunc__ = ObjectArray.__array_ufunc__  # type: ignore[attr-defined]
Scalar.__array_function__ = ObjectArray.__array_function__  # type: ignore[attr-defined]


def _by_function(name):
    def method(self, *args, **kwargs):
        return getattr(np, name)(self, *args, **kwargs)

    return method


# Methods in C that would read the entries themselves; the others arrive as ufuncs.
for _name in "argmax argmin argsort clip cumprod cumsum mean nonzero round std var".split():
    setattr(ObjectArray, _name, _by_function(_name))


def to_traced_arrays(values, cls=TracedArray):
    """Convert an array to one of these classes, sharing its memory if it already holds objects."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    return array.view(cls) if array.dtype.hasobject or isinstance(array, ObjectArray) else array


def _as_object_arrays(value):
    """A value with the traced arrays in it as object arrays."""
    if isinstance(value, TracedArray):
        return value.view(ObjectArray)
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype == object:
        return value.view(ObjectArray)
    if type(value) in (tuple, list):
        return type(value)([_as_object_arrays(v) for v in value])
    return value


def _bare(value):
    return value.view(np.ndarray) if isinstance(value, ObjectArray) else value


def _in_class_of_arguments(value, cls):
    """A result in the class of its arguments; arrays without axes become numbers, as in NumPy."""
    if isinstance(value, Scalar) and cls is ObjectArray:
        return to_traced_arrays(value, cls)
    if isinstance(value, np.ndarray) and (isinstance(value, ObjectArray) or value.dtype == object):
        # NumPy's own code uses the shape of a number; an author's code expects a float.
        return value.view(cls) if value.ndim or cls is ObjectArray else value.view(np.ndarray).item()
    if type(value) in (tuple, list):
        return type(value)([_in_class_of_arguments(v, cls) for v in value])
    return value


def _class_for(values):
    """The class of a result: NumPy's own code, which holds object arrays, gets object arrays."""
    return ObjectArray if any(map(_is_inside, values)) else TracedArray


def _is_inside(value):
    return any(map(_is_inside, value)) if isinstance(value, (tuple, list)) else type(value) is ObjectArray


def _kind(dtype):
    return "c" if dtype is TracedComplex else np.dtype(dtype).kind


def _is_float(dtype):
    return dtype is None or _kind(dtype) in "fcO"


def _each_part(array, name):
    """The real or imaginary parts of the entries."""
    if not is_complex(array):
        return array if name == "real" else np.zeros(array.shape)
    return _on_entries(array, lambda z: getattr(z, name))


def _on_entries(array, function):
    """An array like `array`, also if it has no axes, of a function's values at its entries."""
    made = np.frompyfunc(function, 1, 1)(np.atleast_1d(_bare(array)))
    return made.reshape(array.shape).view(type(array))


def _converted(array, dtype):
    """`array.astype(dtype)`: floats stay traced; ints and bools become plain, by decisions."""
    kind = _kind(dtype)
    if kind in "fO":
        return array.copy()
    if kind == "c":
        return _on_entries(array, lambda v: as_complex(v, first_trace(array.flat)))
    if kind == "b":
        return np.array([builtins.bool(v) for v in array.flat], bool).reshape(array.shape)
    if kind in "iu":
        return np.array([int(v) for v in array.flat], dtype).reshape(array.shape)
    first_trace(array.flat).halt(
        CannotTrace(f"an array of {np.dtype(dtype)}", why="this check is for functions of numbers")
    )


# --- ufuncs -------------------------------------------------------------------------------------------------


@functools.cache
def element_of(ufunc):
    """A NumPy or SciPy ufunc for one traced element; None for any other ufunc, whatever its name."""
    if isinstance(mine := getattr(np, ufunc.__name__, None), np.ufunc) and mine is not ufunc:
        return specials.elements().get(ufunc)
    return specials.elements().get(ufunc) or NUMPY_ELEMENTS.get(ufunc.__name__)


@functools.cache
def _object_ufunc(ufunc):
    """The ufunc over objects that corresponds to `ufunc`, or None."""
    if ufunc.__name__ in _NATIVE and getattr(np, ufunc.__name__, None) is ufunc:
        return ufunc
    on_scalars = element_of(ufunc)
    if on_scalars is None:
        return None
    return np.frompyfunc(element_version(ufunc, on_scalars), ufunc.nin, ufunc.nout)


def _ufunc(ufunc, method, args, out, kwargs):
    trace = first_trace((args, kwargs, out))
    twin = _object_ufunc(ufunc)
    if twin is None:
        _stop(trace, ufunc)
    dtype = kwargs.pop("dtype", None)
    if not _is_float(dtype) and np.dtype(dtype) != bool:
        _stop(trace, ufunc, "with a dtype")
    for ignored in ("casting", "order", "subok"):
        kwargs.pop(ignored, None)
    bare = [_bare(to_traced_arrays(a) if isinstance(a, Scalar) else a) for a in args]
    if method == "at":
        twin.at(*bare)
        return None
    if method == "__call__" and ufunc.signature:
        result = twin(*bare, **kwargs)
    elif method == "__call__":
        result = _elementwise(twin, bare, out, **kwargs)
    elif method == "reduce":
        result = _reduced(ufunc, *bare, **kwargs)
    else:
        result = getattr(twin, method)(*bare, **kwargs)
    if isinstance(result, tuple):  # the exponents of frexp are ints
        result = tuple(part.astype(int) if _are_whole(part) else part for part in result)
    if ufunc.__name__ in _PREDICATES and isinstance(result, np.ndarray):
        result = result.astype(bool)
    return result if out is None or out[0] is None else _written(out, result)


def _are_whole(part):
    return isinstance(part, np.ndarray) and all(type(v) is int for v in part.flat)


def _elementwise(twin, args, out, where=True):
    result = twin(*args)
    if where is True:
        return result
    shape = np.broadcast_shapes(np.shape(result), np.shape(where))
    kept = np.zeros(shape) if out is None or out[0] is None else _bare(out[0])
    return _chosen(where, result, kept)


def _chosen(condition, x, y):
    """`np.where` over objects, without converting any number."""
    return np.where(condition, np.asarray(x, object), np.asarray(y, object))


def _written(out, result):
    for target, part in zip(out, result if isinstance(result, tuple) else (result,), strict=True):
        if _bare(target).dtype.kind in "iu" and first_trace((part,)) is not None:
            raise TypeError(f"Cannot cast ufunc output from dtype('float64') to dtype('{target.dtype}')")
        _bare(target)[...] = part
    return out[0] if len(out) == 1 else out


def _reduced(ufunc, a, axis=0, keepdims=False, initial=None, where=True):
    """A reduction over one axis, several or all; `initial` None, or NumPy's marker for "not given", means
    none.
    """
    a, name = np.asarray(a), ufunc.__name__
    step = element_version(ufunc, element_of(ufunc))
    given = () if initial is None or type(initial).__name__ == "_NoValueType" else (initial,)
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if a.ndim == 0 and axes in ((0,), (-1,)):  # NumPy allows these axes for a number
        axes = ()
    axes = tuple(np.lib.array_utils.normalize_axis_tuple(axes, a.ndim))
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    lines = a.transpose(rest + axes).reshape(*(a.shape[i] for i in rest), -1)
    taken = np.broadcast_to(where, a.shape).transpose(rest + axes).reshape(lines.shape)
    made = np.empty(lines.shape[:-1], dtype=object)
    for index in np.ndindex(made.shape):
        items = [*given, *lines[index][taken[index]]]
        if not items and name not in _NEUTRAL:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        made[index] = functools.reduce(step, items) if items else _NEUTRAL[name]
    if keepdims:
        made = made.reshape([1 if i in axes else n for i, n in enumerate(a.shape)])
    return made


# --- functions ----------------------------------------------------------------------------------------------


def call_numpy(function, args, kwargs, cls=TracedArray):
    """Call a NumPy function with traced numbers among its arguments."""
    trace = first_trace((args, kwargs))
    if trace is None:  # object arrays that contain only plain numbers
        return _without_trace(function, args, kwargs, cls)
    args = [to_traced_arrays(a, ObjectArray) if isinstance(a, Scalar) else _as_object_arrays(a) for a in args]
    kwargs = {k: _as_object_arrays(v) for k, v in kwargs.items()}
    if not _is_dtype_question(function) and not _is_float(kwargs.get("dtype")):
        _stop(trace, function, "with a dtype")
    with _named(trace, function):
        return _in_class_of_arguments(_handler(function)(*args, **kwargs), cls)


def _without_trace(function, args, kwargs, cls):
    """Call a function such as `zeros_like` for a buffer that has not been written to yet."""
    args, kwargs = _as_object_arrays(list(args)), {k: _as_object_arrays(v) for k, v in kwargs.items()}
    return _in_class_of_arguments(_handler(function)(*args, **kwargs), cls)


def _handler(function):
    known = FUNCTIONS.get(function)
    return _handler_of_numpy(function) if known is None else known


def _handler_of_numpy(function):
    """The implementation of a NumPy function, without its dispatch."""
    return getattr(function, "_implementation", function)


@contextlib.contextmanager
def _named(trace, function):
    """Name the NumPy function in failures inside it; exceptions that a caller may want to catch pass
    through.
    """
    try:
        yield
    except Stop as stop:
        _tell_name(stop, function)
        raise
    except Exception as raised:
        if isinstance(trace.stop, CannotTrace):  # C code has replaced the exception
            _tell_name(trace.stop, function)
            raise trace.stop from raised
        if isinstance(raised, (TypeError, AttributeError)):
            _stop(trace, function, f": {raised}" if isinstance(raised, AttributeError) else "")
        raise


def _tell_name(stop, function):
    if isinstance(stop, CannotTrace) and stop.construct == Scalar.MACHINE_NUMBER:
        stop.construct = f"{_shown_name(function)}()"
        stop.args = (stop.construct,)


def _stop(trace, function, how=""):
    construct = f"{_shown_name(function)}(){' ' * (how[:1] not in ('', ':'))}{how}"
    trace.halt(CannotTrace(construct, why="SymPy cannot follow it"))


def _shown_name(function):
    name = getattr(function, "__name__", repr(function))
    if isinstance(function, np.ufunc):
        return specials.name_of(function) or f"np.{name}"
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{name}"


_QUESTIONS = {np.result_type, np.can_cast, np.min_scalar_type, np.common_type, np.promote_types}


def _is_dtype_question(function):
    return function in _QUESTIONS


def _as_floats(function):
    """A question about dtypes, asked with float arrays and numbers in place of the traced ones."""

    def asked(*args, **kwargs):
        return function(*map(_plain_like, args), **kwargs)

    return asked


def _plain_like(value):
    if isinstance(value, ObjectArray):
        return np.zeros(value.shape, COMPLEX if is_complex(value) else FLOAT)
    if isinstance(value, Scalar):
        return 0.5j if is_complex(value) else 0.5
    return complex if value is TracedComplex else value


def filled(shape, value):
    """An object array filled with one value, in the class that authors see."""
    made = np.empty(shape, dtype=object)
    made[...] = value
    return made.view(TracedArray)


def maker_like(original, value):
    """The counterpart of `np.zeros_like` and similar."""

    def make(prototype, dtype=None, order="K", subok=True, shape=None, **kwargs):
        if not _is_float(dtype) or (dtype is None and _plain_kind(prototype)):
            return original(_bare(prototype), dtype=dtype, shape=shape, **kwargs)
        wide = is_complex(prototype) if dtype is None else _kind(dtype) == "c"
        return filled(np.shape(prototype) if shape is None else shape, complex(value) if wide else value)

    return make


def _plain_kind(value):
    return isinstance(value, np.ndarray) and value.dtype.kind not in "fcO" or isinstance(value, (bool, int))


def _full_like(prototype, fill_value, dtype=None, order="K", subok=True, shape=None, **_):
    return filled(np.shape(prototype) if shape is None else shape, 0.0) + fill_value


def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    a = to_traced_arrays(a, ObjectArray)
    kept = np.broadcast_to(where, a.shape)
    total = np.add.reduce(a, axis=axis, keepdims=keepdims, where=kept)
    count = np.sum(np.ones(a.shape), axis=axis, keepdims=keepdims, where=kept)
    return _into(out, total / count)


def _into(out, result):
    return result if out is None else _written((out,), result)


def _var(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    a = to_traced_arrays(a, ObjectArray)
    ddof = ddof if correction is None else correction
    kept = np.broadcast_to(where, a.shape)
    away = a - to_traced_arrays(
        _mean(a, axis, keepdims=True, where=kept) if mean is None else mean, ObjectArray
    )
    count = np.sum(np.ones(a.shape), axis=axis, keepdims=keepdims, where=kept)
    return _into(
        out,
        np.add.reduce(
            to_traced_arrays(_squared_sizes(away), ObjectArray), axis=axis, keepdims=keepdims, where=kept
        )
        / (count - ddof),
    )


def _squared_sizes(a):
    if not is_complex(a):
        return a * a
    return np.frompyfunc(lambda z: squared_size(z) if isinstance(z, Scalar) else abs(z) ** 2, 1, 1)(_bare(a))


def _norm(x, ord=None, axis=None, keepdims=False):
    """NumPy's own code, except where it depends on dtypes."""
    n = np.ndim(x)
    squares = ord is None or axis is None and (ord in ("f", "fro") and n == 2 or ord == 2 and n == 1)
    if isinstance(ord, float) and ord not in (0, 1, 2, math.inf, -math.inf) and (n == 1 or axis is not None):
        total = np.add.reduce(to_traced_arrays(np.abs(x) ** ord, ObjectArray), axis=axis, keepdims=keepdims)
        return to_traced_arrays(total, ObjectArray) ** (1 / ord)
    if not (squares and is_complex(x)):
        return _handler_of_numpy(np.linalg.norm)(x, ord, axis, keepdims)
    sizes = to_traced_arrays(_squared_sizes(to_traced_arrays(x, ObjectArray)), ObjectArray)
    total = np.asarray(np.add.reduce(sizes, axis=axis, keepdims=keepdims), object)
    roots = np.frompyfunc(lambda v: root(v) if isinstance(v, Scalar) else math.sqrt(v), 1, 1)(total)
    return to_traced_arrays(np.asarray(roots, object), ObjectArray)


def _correlate(a, v, mode="valid"):
    if not is_complex(v):
        return _handler_of_numpy(np.correlate)(a, v, mode)
    return np.convolve(a, np.conj(v)[::-1], mode)


def _angle(z, deg=False):
    def of_one(v):
        if not isinstance(v, Scalar):
            return np.angle(v, deg)
        angle = angle_of(as_complex(v))
        return angle * 180 / math.pi if deg else angle

    return np.frompyfunc(of_one, 1, 1)(_bare(to_traced_arrays(z, ObjectArray)))


def _std(a, *args, out=None, **kwargs):
    return _into(out, np.sqrt(_var(a, *args, **kwargs)))


def _accumulated(ufunc):
    def accumulate(a, axis=None, dtype=None, out=None):
        a = to_traced_arrays(a, ObjectArray)
        return _into(out, ufunc.accumulate(a.ravel() if axis is None else a, axis=axis or 0))

    return accumulate


def _sort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = np.array(_bare(to_traced_arrays(a, ObjectArray)), copy=True)
    a = a.ravel() if axis is None else a
    a.sort(axis=-1 if axis is None else axis)
    return a


def _argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    return _bare(to_traced_arrays(a, ObjectArray)).argsort(axis=axis)


def _position(method):
    def find(a, axis=None, out=None, *, keepdims=False):
        return _into(
            out,
            getattr(np.ndarray, method)(
                _bare(to_traced_arrays(a, ObjectArray)), axis=axis, keepdims=keepdims
            ),
        )

    return find


def _median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = to_traced_arrays(a, ObjectArray)
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % a.ndim for i in axes)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    lines = _sort(a.transpose(rest + axes).reshape(*(a.shape[i] for i in rest), -1))
    n = lines.shape[-1]
    middle = to_traced_arrays((lines[..., (n - 1) // 2] + lines[..., n // 2]), ObjectArray) / 2
    return middle.reshape([1 if i in axes else k for i, k in enumerate(a.shape)]) if keepdims else middle


def _where(condition, *branches):
    if isinstance(condition, (ObjectArray, Scalar)):
        condition = np.asarray(to_traced_arrays(condition, ObjectArray) != 0, bool)
    return _chosen(condition, *map(_bare, branches)) if branches else np.nonzero(condition)


def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **_):
    low, high = a_min if min is None else min, a_max if max is None else max
    a = to_traced_arrays(a, ObjectArray)
    a = a if low is None else np.maximum(a, low)
    return _into(out, a if high is None else np.minimum(a, high))


def _round(a, decimals=0, out=None):
    return _into(
        out, np.frompyfunc(lambda v: _rounded(v, decimals), 1, 1)(_bare(to_traced_arrays(a, ObjectArray)))
    )


def _rounded(value, decimals):
    if not isinstance(value, Scalar):
        return np.round(value, decimals)
    return float(round(value * 10.0**decimals)) / 10.0**decimals


def _nonzero(a):
    return np.nonzero(np.asarray(to_traced_arrays(a, ObjectArray) != 0, bool))


def _isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.asarray(np.abs(a - b) <= atol + rtol * np.abs(b), bool)[()]


def _each(original, name):
    on_element = np.frompyfunc(element_version(original, NUMPY_ELEMENTS[name]), 1, 1)
    return lambda x: on_element(_bare(to_traced_arrays(x, ObjectArray)))


def _linspace(start, stop, num=50, endpoint=True, **_):
    if _.get("retstep") or np.ndim(start) or np.ndim(stop):
        raise TypeError
    start, stop = (v.view(np.ndarray).item() if isinstance(v, np.ndarray) else v for v in (start, stop))
    return to_traced_arrays([start + (stop - start) * k / (num - endpoint) for k in range(num)], ObjectArray)


def _interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        raise TypeError
    x, xp, fp = (_bare(to_traced_arrays(a, ObjectArray)) for a in (x, xp, fp))

    def at(v):
        if v < xp[0]:
            return fp[0] if left is None else left
        for k in range(1, len(xp)):
            if v <= xp[k]:
                return fp[k - 1] + (fp[k] - fp[k - 1]) * (v - xp[k - 1]) / (xp[k] - xp[k - 1])
        return fp[-1] if right is None else right

    return np.frompyfunc(at, 1, 1)(x)


def _bincount(x, weights=None, minlength=0):
    sums = np.zeros(max(np.max(x, initial=-1) + 1, minlength)).astype(object)
    np.add.at(sums, x, _bare(weights))
    return sums


def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if fweights is not None or aweights is not None:
        raise TypeError
    rows = [np.atleast_2d(to_traced_arrays(a, ObjectArray)) for a in (m, y) if a is not None]
    x = np.concatenate([r if rowvar or len(r) == 1 else r.T for r in rows])
    away = x - _mean(x, 1, keepdims=True)
    ddof = (0 if bias else 1) if ddof is None else ddof
    return ((away @ away.T.conj()) / (x.shape[1] - ddof)).squeeze()


def _copyto(dst, src, casting="same_kind", where=True):
    _bare(dst)[np.broadcast_to(where, dst.shape)] = np.broadcast_to(_bare(src), dst.shape)[
        np.broadcast_to(where, dst.shape)
    ]


FUNCTIONS = {
    np.zeros_like: maker_like(np.zeros_like, 0.0),
    np.ones_like: maker_like(np.ones_like, 1.0),
    np.empty_like: maker_like(np.empty_like, 0.0),
    np.full_like: _full_like,
    np.mean: _mean,
    np.var: _var,
    np.std: _std,
    np.cumsum: _accumulated(np.add),
    np.cumprod: _accumulated(np.multiply),
    np.sort: _sort,
    np.sort_complex: lambda a: to_traced_arrays(_sort(a), ObjectArray).astype(complex),
    np.argsort: _argsort,
    np.argmax: _position("argmax"),
    np.argmin: _position("argmin"),
    np.median: _median,
    np.where: _where,
    np.clip: _clip,
    np.round: _round,
    np.around: _round,
    np.nonzero: _nonzero,
    np.isclose: _isclose,
    np.allclose: lambda a, b, *args, **kwargs: bool(np.all(_isclose(a, b, *args, **kwargs))),
    np.iscomplex: lambda x: np.asarray(np.imag(x) != 0, bool)[()],
    np.isreal: lambda x: np.asarray(np.imag(x) == 0, bool)[()],
    np.iscomplexobj: is_complex,
    np.isrealobj: lambda x: not is_complex(x),
    np.real: lambda x: to_traced_arrays(x, ObjectArray).real,
    np.imag: lambda x: to_traced_arrays(x, ObjectArray).imag[()],
    np.angle: _angle,
    np.linalg.norm: _norm,
    np.correlate: _correlate,
    np.nan_to_num: lambda x, *args, **kwargs: to_traced_arrays(x, ObjectArray).copy() if np.ndim(x) else x,
    np.linspace: _linspace,
    np.sinc: _each(np.sinc, "sinc"),
    np.i0: _each(np.i0, "i0"),
    np.copyto: _copyto,
    np.interp: _interp,
    np.bincount: _bincount,
    np.cov: _cov,
    np.array_equal: lambda a, b, **_: np.shape(a) == np.shape(b) and bool(np.all(np.equal(a, b))),
} | {question: _as_floats(question) for question in _QUESTIONS if question is not np.promote_types}
FUNCTIONS |= LINALG | TRANSFORMS


def summed_to(x_bar, shape):
    """`x_bar` summed over the axes along which an argument of this shape was broadcast."""
    lead = np.ndim(x_bar) - len(shape)
    if np.shape(x_bar) == tuple(shape) or lead < 0:
        return x_bar
    axes = tuple(range(lead)) + tuple(
        lead + i for i, size in enumerate(shape) if size == 1 and np.shape(x_bar)[lead + i] != 1
    )
    return np.sum(x_bar, axis=axes, keepdims=True).reshape(shape) if shape else np.sum(x_bar)


__all__ = [
    "FUNCTIONS",
    "NoRealValue",
    "ObjectArray",
    "TracedArray",
    "call_numpy",
    "filled",
    "summed_to",
    "to_traced_arrays",
]
