"""The inner form of tangents, in which forward mode computes: each value has a tangent of its own kind.

The tangent of a number is a float (complex for a complex number), that of an array an array of its shape and
memory layout, that of a container a container of the same kind with the tangents of its parts, that of an
object a namespace with those of its attributes, that of a nested function `(captured, defaults, keyword
defaults)`. `NoTangent()` may replace any zero that will never be written to.
"""

from __future__ import annotations

import enum
import functools
import numbers
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, RuleDtypeError, RuleError, RuleShapeError, an
from .algebra import is_number
from .classes import made_by_python
from .holding import attributes_of_callable, carrier, held_by, holds_something
from .missing import NotImplementedTangent
from .projection import FieldGradients, tangent_dtype
from .structural import Tangent, class_of, entries_of, is_namedtuple
from .thunks import unthunk
from .zeros import AbstractZero, NoTangent

_NOTHING = NoTangent()
_WIDE = (np.longdouble, np.clongdouble)  # numbers that a Python float or complex cannot hold
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def is_constant(x_dot):
    """Whether a tangent is one of the two zero objects: the value does not vary, and no tangent is kept for
    it.
    """
    return isinstance(x_dot, AbstractZero)


# -- kinds of values -----------------------------------------------------------------------------------------


def kind_of(x):
    """How the tangent of a value is built: "number", "array", "items", "entries", "function", "object",
    "carried" for a callable that has the tangent of its carrier, or None for a value without a tangent.

    >>> [kind_of(x) for x in (1.0, True, "a", [1.0], {"a": 1.0}, len)]
    ['number', None, None, 'items', 'entries', None]
    """
    if isinstance(x, np.ndarray):
        return "array" if has_numbers(x) else None
    if is_number(x):
        return "number"
    if isinstance(x, (list, tuple, deque)):
        return "items"
    if isinstance(x, dict):
        return "entries"
    if isinstance(x, types.FunctionType):
        return "function" if holds_something(x) else None
    if is_plain_object(x):
        return "object"
    return "carried" if (behind := carrier(x)) is not x and kind_of(behind) is not None else None


def has_numbers(x):
    """Whether an array holds numbers that can vary: floats, complex numbers or integers.

    >>> has_numbers(np.zeros(2)), has_numbers(np.array(["a"])), has_numbers(np.array([True]))
    (True, False, False)
    """
    return x.dtype.kind in "fciu"


def is_plain_object(x):
    """Whether the attributes of an object are its parts: an object of an author's class, a namespace, a
    partial, the gradient of an object.
    """
    cls = type(x)
    if isinstance(x, (type, enum.Enum, types.ModuleType)):
        return False
    if cls in (types.SimpleNamespace, FieldGradients) or attributes_of_callable(x) is not None:
        return True
    top = cls.__module__.partition(".")[0]
    return made_by_python(cls) and top not in ("numpy", "rulelab") and top not in sys.stdlib_module_names


def attributes_of(x):
    """The attributes of an object that are its parts, by name: those of the instance, not those of its
    class.
    """
    if (held := attributes_of_callable(x)) is not None:
        return held
    if isinstance(x, FieldGradients):
        return x._asdict()
    found = dict(getattr(x, "__dict__", {}))
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):  # a private name, mangled
                name = f"_{cls.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                found.setdefault(name, getattr(x, name))
    return found


# -- zeros ---------------------------------------------------------------------------------------------------


def zero_of(x):
    """The zero tangent of `x` in the inner form, with every number written out so that it can be written to.

    A part that occurs twice, or contains itself, has one tangent; a value that cannot vary has NoTangent.

    >>> zero_of([1, (2j, "a"), np.ones(2)])
    [0.0, (0j, NoTangent()), array([0., 0.])]
    """
    return _zero(x, {})


def settled(x, x_dot):
    """The tangent that a container keeps for its new part `x`: a zero is written out only for a number.

    For a list, array or object whose zero tangent was not kept so far, none is kept: what is written to a
    tangent here would not be seen under the other names of that object.

    >>> settled(2.0, NoTangent()), settled([2.0], NoTangent()), settled((2.0, [1.0]), NoTangent())
    (0.0, NoTangent(), (0.0, NoTangent()))
    """
    return zero_kept(x) if is_constant(x_dot) else x_dot


def zero_kept(x):
    """The tangent that a container keeps for a constant part."""
    if is_number(x):
        return _number_like(x)(0.0)
    if isinstance(x, tuple):
        return _tuple_like(x, [zero_kept(part) for part in x])
    return _NOTHING


def of_namedtuple(name, x, x_dot, words, word_dots):
    """`(y, y_dot)` for `x._replace(**words)` or `x._asdict()`; by `name`, since each NamedTuple class has its
    own methods.

    >>> from collections import namedtuple
    >>> x, x_dot = namedtuple("P", "a b")(1.0, 2.0), namedtuple("P", "a b")(0.5, 0.25)
    >>> of_namedtuple("_replace", x, x_dot, {"b": 3.0}, {"b": 1.0})
    (P(a=1.0, b=3.0), P(a=0.5, b=1.0))
    """
    y = getattr(x, name)(**words)
    beside = zero_kept(x) if is_constant(x_dot) else x_dot
    return y, getattr(beside, name)(**word_dots)


def zeros_beside(x):
    """Zeros of the tangent dtype, with the shape of the array `x` and an equivalent memory layout: reshaping
    them gives a view exactly if reshaping `x` does.

    >>> x = np.arange(12.0).reshape(3, 4)
    >>> zeros_beside(x.T).strides == x.T.strides, zeros_beside(x[:, ::2]).flags.c_contiguous
    (True, False)
    """
    dtype = tangent_dtype(x.dtype)
    if x.size == 0 or x.flags.c_contiguous or x.flags.f_contiguous:
        return np.zeros_like(x, dtype=dtype, order="K", subok=False)
    strides = _strides_with_gaps(x)
    ends = [stride * (size - 1) for stride, size in zip(strides, x.shape, strict=True)]
    first = -sum(end for end in ends if end < 0)
    whole = np.zeros(first + sum(end for end in ends if end > 0) + 1, dtype)
    in_bytes = tuple(stride * dtype.itemsize for stride in strides)
    return np.ndarray(x.shape, dtype, whole, first * dtype.itemsize, in_bytes)


def _strides_with_gaps(x):
    """Strides, in elements, of axes that merge exactly where those of `x` do.

    The gaps may be smaller than in `x`: a column of a large matrix gets a gap of one element. Elements that
    share memory in `x`, as in a broadcast array, are separate here.
    """
    strides: list[int] = [1] * x.ndim
    step, reach = 1, 1  # the stride of the previous axis here, and what it covers
    covered = x.itemsize  # what that axis covers in x, in bytes
    for axis in sorted(range(x.ndim), key=lambda axis: abs(x.strides[axis])):
        stride, size = x.strides[axis], x.shape[axis]
        if size == 1:
            continue
        merges = abs(stride) == covered
        step = reach if merges else reach + 1
        strides[axis] = step if stride >= 0 else -step
        reach, covered = step * size, abs(stride) * size
    return strides


def _zero(x, memo):
    kind = kind_of(x)
    if kind == "number":
        return _number_like(x)(0.0)
    if kind is None:
        return _NOTHING
    if kind == "carried":
        return _zero(carrier(x), memo)
    if id(x) in memo:
        return memo[id(x)][1]
    if kind == "array":
        x_dot = zeros_beside(x)
        memo[id(x)] = x, x_dot  # the primal is kept, so that its id is not reused
        return x_dot
    return _BUILDERS[kind](x, lambda key, part: _zero(part, memo), memo)


def _number_like(x):
    """The type of the tangents of a number."""
    if isinstance(x, _WIDE):
        return type(x)
    return complex if isinstance(x, numbers.Complex) and not isinstance(x, numbers.Real) else float


def _names_of(x):
    """The field names of a NamedTuple; the positions for anything else."""
    cls: Any = type(x)
    return cls._fields if is_namedtuple(cls) else range(len(x))


def _tuple_like(x, items):
    return type(x)._make(items) if is_namedtuple(type(x)) else tuple(items)


# -- builders, shared by all functions that make an inner form -----------------------------------------------
# `of_part(key, part)` returns the tangent of a part. The memo gets the container before its parts are built.


def _build_items(x, of_part, memo):
    if isinstance(x, tuple):
        keys = _names_of(x)
        return _tuple_like(x, [of_part(key, part) for key, part in zip(keys, x, strict=True)])
    x_dot: Any = deque(maxlen=x.maxlen) if isinstance(x, deque) else []
    memo[id(x)] = x, x_dot
    for key, part in enumerate(x):
        x_dot.append(of_part(key, part))
    return x_dot


def _build_entries(x, of_part, memo):
    x_dot: Any = OrderedDict() if isinstance(x, OrderedDict) else {}
    if isinstance(x, defaultdict):
        x_dot = defaultdict(None)
    memo[id(x)] = x, x_dot
    for key, part in dict.items(x):
        x_dot[key] = of_part(key, part)
    return x_dot


def _build_object(x, of_part, memo):
    x_dot = types.SimpleNamespace()
    memo[id(x)] = x, x_dot
    for name, part in attributes_of(x).items():
        if not is_kept_result(x, name):  # its tangent follows from the others and is computed when it is read
            setattr(x_dot, name, of_part(name, part))
    return x_dot


def is_kept_result(x: Any, name: str) -> bool:
    """Whether an attribute is the stored result of a cached property."""
    return isinstance(getattr(type(x), name, None), functools.cached_property)


def _build_function(f, of_part, memo):
    memo[id(f)] = f, _NOTHING  # for a function that captures itself
    found = tuple(tuple(of_part(name, part) for name, part in by_name.items()) for by_name in held_by(f))
    if all(isinstance(part, AbstractZero) for parts_of_a_kind in found for part in parts_of_a_kind):
        return _NOTHING
    memo[id(f)] = f, found
    return found


_BUILDERS: dict[str, Callable[..., Any]] = {
    "items": _build_items,
    "entries": _build_entries,
    "object": _build_object,
    "function": _build_function,
}


# -- from a caller's tangent ---------------------------------------------------------------------------------


def inner(x, x_dot, name="the argument"):
    """The inner form of a tangent of `x` that a caller gives; it shares no memory with `x_dot`.

    A caller leaves out parts that do not vary, or gives None; numbers, arrays, lists, dicts, Tangents and
    gradients of objects are accepted. Raises RuleShapeError or RuleDtypeError, naming the argument, if
    `x_dot` does not fit.

    >>> inner([1.0, np.ones(2)], [None, [1, 2]])
    [0.0, array([1., 2.])]
    >>> inner(np.ones(2), np.ones(3), "x")
    Traceback (most recent call last):
    ...
    rulelab.errors.RuleShapeError: x has shape (2,) and cannot have a tangent of shape (3,)
    """
    return _Reader().read(x, x_dot, name)


class _Reader:
    """Reads one tangent. A part that occurs twice has one tangent."""

    def __init__(self):
        self.memo: dict[int, Any] = {}
        self.given: dict[int, Any] = {}

    def read(self, x, x_dot, name):
        x_dot = unthunk(x_dot)
        if isinstance(x_dot, NotImplementedTangent):
            raise x_dot.error()
        kind = kind_of(x)
        if x_dot is None or isinstance(x_dot, AbstractZero):
            x_dot = None
            if kind in (None, "number") or id(x) not in self.memo:
                return _zero(x, self.memo)
        if kind is None:
            raise RuleDtypeError(
                f"{name} is {an(type(x).__name__)}, which cannot vary, and was given a tangent",
                fixes=("give None for what does not vary",),
            )
        if kind == "number":
            return _read_number(x, x_dot, name)
        if kind == "carried":
            return self.read(carrier(x), x_dot, name)
        if id(x) in self.memo:
            self.check_again(x, x_dot, name)
            return self.memo[id(x)][1]
        self.given[id(x)] = x_dot
        if kind == "array":
            found = _read_array(x, x_dot, name)
            self.memo[id(x)] = x, found
            return found
        entries = _entries(x, x_dot, name)
        return _BUILDERS[kind](
            x, lambda key, part: self.read(part, entries.get(key), _part_name(x, name, key)), self.memo
        )

    def check_again(self, x, x_dot, name):
        """Raise RuleError unless a part that occurs again was given the same tangent: it is one object."""
        if self.given.get(id(x)) is x_dot:
            return
        other = _Reader()
        if isinstance(x, np.ndarray) and _same(other.read(x, x_dot, name), self.memo[id(x)][1]):
            return
        raise RuleError(
            f"{name} is an object that occurs twice and was given two tangents",
            fixes=("give it the same tangent in both places", "copy the object"),
        )


def _same(a, b):
    return a.shape == b.shape and bool(np.all(a == b))


def _part_name(x, name, key):
    if isinstance(x, (types.FunctionType,)) or kind_of(x) == "object":
        return f"{name}.{key}"
    return f"{name}.{key}" if is_namedtuple(type(x)) else f"{name}[{key!r}]"


def _read_number(x, x_dot, name):
    if isinstance(x_dot, np.ndarray):
        if x_dot.ndim:
            raise _wrong_shape(name, (), x_dot.shape)
        x_dot = x_dot[()]
    if not is_number(x_dot):
        raise _wrong_kind(name, f"{an(type(x).__name__)}", x_dot)
    number = _number_like(x)
    if number not in (complex, np.clongdouble) and isinstance(x_dot, (complex, np.complexfloating)):
        raise _is_real(name)
    return number(x_dot)


def _read_array(x, x_dot, name):
    if isinstance(x_dot, (list, tuple)):
        try:
            x_dot = np.array(x_dot)
        except ValueError:  # rows of different lengths
            raise _wrong_kind(name, f"an array of shape {x.shape}", x_dot) from None
    if not isinstance(x_dot, np.ndarray) and not is_number(x_dot):
        raise _wrong_kind(name, f"an array of shape {x.shape}", x_dot)
    given = np.asarray(x_dot)
    if given.shape != x.shape:
        raise _wrong_shape(name, x.shape, given.shape)
    if given.dtype.kind not in "fciu" and given.size:
        raise RuleDtypeError(f"{name} is an array of {x.dtype} and cannot have a tangent of {given.dtype}")
    if given.dtype.kind == "c" and x.dtype.kind != "c":
        raise _is_real(name)
    found = zeros_beside(x)
    found[...] = given
    return found


def _entries(x, x_dot, name):
    """The tangents that were given for parts of `x`, by the keys of the parts."""
    wanted = _parts_of(x)
    given = _given_entries(x, x_dot)
    if given is None:
        raise _wrong_kind(name, f"{an(type(x).__name__)}", x_dot)
    if isinstance(given, list):
        if len(given) != len(wanted):
            raise RuleShapeError(
                f"{name} is {an(type(x).__name__)} of length {len(wanted)} and cannot have a tangent of "
                "length "
                f"{len(given)}"
            )
        return dict(zip(wanted, given, strict=True))
    for key in given:
        if key not in wanted:
            raise RuleShapeError(f"{name} has no part {key!r}, but its tangent has one")
    return given


def _parts_of(x):
    if isinstance(x, types.FunctionType):
        held = held_by(x)
        return {**held.captured, **held.defaults, **held.keyword_defaults}
    if isinstance(x, dict):
        return x
    if isinstance(x, (list, tuple, deque)):
        return dict(zip(_names_of(x), x, strict=True))
    return attributes_of(x)


def _given_entries(x, x_dot):
    """The given tangents as a list by position or a dict by name or key; None if `x_dot` does not fit."""
    by_position = isinstance(x, (list, tuple, deque))
    if isinstance(x_dot, Tangent):
        cls = class_of(x_dot)
        if issubclass(cls, (list, tuple)) and not is_namedtuple(cls):
            return list(x_dot) if by_position else None
        return dict(entries_of(x_dot))
    if isinstance(x_dot, FieldGradients):
        return x_dot._asdict()
    if isinstance(x_dot, dict):
        return None if by_position and not is_namedtuple(type(x)) else x_dot
    if isinstance(x_dot, (list, tuple, deque)) or (isinstance(x_dot, np.ndarray) and x_dot.ndim):
        return list(x_dot) if by_position else None
    if by_position or isinstance(x, dict):
        return None
    if isinstance(x_dot, types.SimpleNamespace) or (type(x_dot) is type(x) and kind_of(x) == "object"):
        return attributes_of(x_dot)
    return None


def _wrong_shape(name, shape, given):
    return RuleShapeError(f"{name} has shape {shape} and cannot have a tangent of shape {given}")


def _wrong_kind(name, wanted, given):
    return RuleDtypeError(f"{name} is {wanted} and cannot have a tangent of kind {type(given).__name__}")


def _is_real(name):
    return RuleDtypeError(f"{name} is real and cannot have a complex tangent")


# -- to the form that a caller gets --------------------------------------------------------------------------


def natural(y, y_dot):
    """The tangent of a result as `pushforward` returns it, in its own memory.

    It is a number, an array, the same structure, a FieldGradients for an object; None where nothing varies.
    Raises NotDifferentiableError for an iterator or a view, which other code may read as well.

    >>> natural((1.0, "a", [2.0]), (3.0, NoTangent(), [0.0]))
    (3.0, None, [0.0])
    """
    return _natural(y, y_dot, {})


def _natural(y, y_dot, memo):
    y_dot = unthunk(y_dot)
    if isinstance(y_dot, NotImplementedTangent):
        raise y_dot.error()
    kind = kind_of(y)
    if y_dot is None or y_dot is _NOTHING:
        return None
    if isinstance(y_dot, AbstractZero):
        y_dot = zero_of(y)
    if kind is None:
        if isinstance(y_dot, (*_VIEWS, Iterator)):
            raise NotDifferentiableError(
                f"The tangent of {an(type(y).__name__)} cannot be returned",
                fixes=("return a list: list(...)",),
                read="limitations#iteration",
            )
        return None
    if kind == "number":
        return _natural_number(y, y_dot)
    if kind == "array":
        return _natural_array(y, y_dot)
    if kind == "carried":
        return _natural(carrier(y), y_dot, memo)
    if id(y) in memo:
        return memo[id(y)][1]
    return _NATURAL[kind](y, y_dot, memo)


def _natural_number(y, y_dot):
    if np.shape(y_dot) != ():
        raise _wrong_shape("the result", (), np.shape(y_dot))
    y_dot = y_dot[()] if isinstance(y_dot, np.ndarray) else y_dot
    is_complex = issubclass(_number_like(y), (complex, np.complexfloating))
    if not is_complex and isinstance(y_dot, (complex, np.complexfloating)):
        y_dot = y_dot.real
    if isinstance(y, np.inexact):
        return type(y)(y_dot)
    return complex(y_dot) if is_complex else float(y_dot)


def _natural_array(y, y_dot):
    y_dot = np.asarray(y_dot)
    if y_dot.shape != y.shape:
        raise _wrong_shape("the result", y.shape, y_dot.shape)
    if y_dot.dtype.kind == "c" and y.dtype.kind != "c":
        y_dot = y_dot.real
    return np.array(y_dot, tangent_dtype(y.dtype))


def _natural_items(y, y_dot, memo):
    _check_length(y, y_dot)
    if isinstance(y, tuple):
        return _tuple_like(y, [_natural(*pair, memo) for pair in zip(y, y_dot, strict=True)])
    found: Any = deque(maxlen=y.maxlen) if isinstance(y, deque) else []
    memo[id(y)] = y, found
    found.extend([_natural(*pair, memo) for pair in zip(y, y_dot, strict=True)])
    return found


def _natural_entries(y, y_dot, memo):
    _check_length(y, y_dot)
    found: dict[Any, Any] = {}
    memo[id(y)] = y, found
    for key, part in dict.items(y):
        found[key] = _natural(part, y_dot[key], memo)
    return found


def _natural_object(y, y_dot, memo):
    found: dict[str, Any] = {}
    gradients = (
        y.with_parts(found) if isinstance(y, FieldGradients) else FieldGradients(type(y).__name__, found)
    )
    memo[id(y)] = y, gradients
    for name, part in attributes_of(y).items():
        gradients._fields_by_name[name] = _natural(part, getattr(y_dot, name, None), memo)
    return gradients


def _natural_function(y, y_dot, memo):
    memo[id(y)] = y, None
    found = {}
    for by_name, dots in zip(held_by(y), y_dot, strict=True):
        found.update({n: _natural(x, dot, memo) for (n, x), dot in zip(by_name.items(), dots, strict=True)})
    return FieldGradients(y.__name__, found)


_NATURAL: dict[str, Callable[..., Any]] = {
    "items": _natural_items,
    "entries": _natural_entries,
    "object": _natural_object,
    "function": _natural_function,
}


def _check_length(y, y_dot):
    if len(y) != len(y_dot):
        raise RuleShapeError(
            f"the result is {an(type(y).__name__)} of length {len(y)}, but its tangent has length "
            f"{len(y_dot)}"
        )
