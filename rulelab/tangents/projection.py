"""Projection of cotangents to the tangent space of a primal: its shape, its dtype, its structure."""

from __future__ import annotations

import math
import numbers
import reprlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ..errors import RuleDtypeError, RuleShapeError, an
from ..parsing import with_room
from .algebra import is_number
from .holding import carrier, holds_something
from .missing import NotImplementedTangent
from .structural import (
    Tangent,
    class_of,
    entries_of,
    field_names,
    from_raw,
    is_mapping,
    is_namedtuple,
    is_raw,
    is_sequence,
    make,
    parts,
)
from .thunks import Thunk, unthunk
from .zeros import AbstractZero, NoTangent, ZeroTangent

_OPAQUE = (
    type(None), bool, np.bool_, str, bytes, bytearray, type, types.ModuleType, types.BuiltinFunctionType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, np.ufunc, np.dtype,
    np.random.Generator, np.random.RandomState, range, slice, type(Ellipsis), np.datetime64, np.timedelta64,
    np.str_, np.bytes_, set, frozenset,
)  # fmt: skip


_FLOAT64 = np.dtype(float)
_total: Callable[..., Any] = np.add.reduce


def tangent_dtype(dtype):
    """The dtype of the cotangents of an array of `dtype`; None if there are none (bool, text, dates).

    >>> tangent_dtype(np.dtype("int8")), tangent_dtype(np.dtype("float32")), tangent_dtype(np.dtype("bool"))
    (dtype('float64'), dtype('float32'), None)
    """
    if dtype.kind in "fc":
        return dtype if dtype.isnative else dtype.newbyteorder("=")
    if dtype.kind in "iu":
        return np.dtype(np.float64)
    return dtype if dtype.kind == "O" else None


class ProjectTo:
    """`ProjectTo(x)(x_bar)` converts a cotangent to the shape, dtype and structure of its primal `x`.

    For a real primal it takes the real part; float precisions are kept; ints get float64; bools, text, None
    and plain functions get NoTangent; trailing axes of length one are dropped or added; any other difference
    of shape is a RuleShapeError, never a broadcast. Tuples, lists, dicts, dataclasses and objects give a
    Tangent. Zeros stay zeros, thunks stay thunks. It stores what it needs to know about `x`, not `x`.

    >>> ProjectTo(np.zeros(2, np.float32))(np.array([[1 + 2j], [3 + 4j]]))
    array([1., 3.], dtype=float32)
    """

    __slots__ = ()

    project: Callable[[Any], Any]  # for a cotangent that is neither a zero nor a thunk

    def __new__(cls, x: Any) -> Any:
        return _projector(unthunk(x), {})

    def __call__(self, x_bar: Any) -> Any:
        return self.projected(x_bar)

    def projected(self, x_bar: Any) -> Any:
        """The same as a named method: nested structures then recurse in Python code only, which needs no C
        stack.
        """
        if isinstance(x_bar, (AbstractZero, NotImplementedTangent)):
            return x_bar
        if isinstance(x_bar, Thunk):
            return Thunk(lambda: self(unthunk(x_bar)))
        return self.project(x_bar)

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        slots: tuple[str, ...] = type(self).__slots__
        state = {name: getattr(self, name) for name in slots}
        return _blank, (type(self),), state or None

    def __setstate__(self, state):
        for name, value in state.items():
            setattr(self, name, value)

    def _wanted(self):
        """The target of the projection, in words."""
        return "anything"

    @reprlib.recursive_repr("…")
    def __repr__(self):
        return f"<ProjectTo {self._wanted()}>"


def _blank(cls):
    """An empty projector, for pickle; those without state are singletons."""
    return {_ToNothing: _NOTHING, _ToAnything: _ANYTHING}.get(cls) or object.__new__(cls)


class _ToNothing(ProjectTo):
    """Projects to NoTangent(), for a value that cannot be perturbed."""

    __slots__ = ()

    def projected(self, x_bar):
        return NoTangent()

    def _wanted(self):
        return "NoTangent()"


class _ToAnything(ProjectTo):
    """Projects to itself, for a value whose parts are unknown, such as a closure: what its rule says is
    accepted as it is.
    """

    __slots__ = ()

    def project(self, x_bar):
        return x_bar


class _ToNumber(ProjectTo):
    """Projects to a number of type `kind`."""

    __slots__ = ("kind", "real")

    kind: type
    real: bool

    def project(self, x_bar):
        if isinstance(x_bar, np.ndarray):
            if x_bar.ndim:
                raise _wrong_shape((), x_bar.shape)
            x_bar = x_bar[()]
        if not is_number(x_bar):
            raise _wrong_kind(an(self.kind.__name__), x_bar)
        if self.real and isinstance(x_bar, (complex, np.complexfloating)):
            x_bar = x_bar.real
        return x_bar if type(x_bar) is self.kind else self.kind(x_bar)

    def _wanted(self):
        return self.kind.__name__


class _ToArray(ProjectTo):
    """Projects to an array of this shape and dtype."""

    __slots__ = ("dtype", "shape")

    dtype: np.dtype
    shape: tuple[int, ...]

    def project(self, x_bar):
        if isinstance(x_bar, np.ma.MaskedArray):  # the rule must say whether masked elements count
            raise _wrong_kind(f"an array of shape {self.shape}", x_bar)
        if isinstance(x_bar, np.ndarray) or is_number(x_bar):
            x_bar = np.asarray(x_bar)  # np.matrix would multiply differently from its primal
        else:
            raise _wrong_kind(f"an array of shape {self.shape}", x_bar)
        if x_bar.dtype.kind == "O" and self.dtype.kind != "O":
            x_bar = _numbers_of(x_bar)
        if x_bar.dtype.kind not in "fciuO":
            raise _wrong_kind(f"an array of {self.dtype}", x_bar.dtype)
        if x_bar.shape != self.shape:
            if not _same_but_ones_at_end(x_bar.shape, self.shape):
                raise _wrong_shape(self.shape, x_bar.shape)
            x_bar = x_bar.reshape(self.shape)
        if x_bar.dtype.kind == "c" and self.dtype.kind == "f":
            x_bar = x_bar.real
        return x_bar if x_bar.dtype == self.dtype else x_bar.astype(self.dtype)

    def _wanted(self):
        return f"{self.dtype} array of shape {self.shape}"


def _numbers_of(x_bar):
    """Convert an object array to numbers; RuleDtypeError for an element that is not a number."""
    for entry in x_bar.flat:
        if not is_number(entry):
            raise _wrong_kind("an array", entry)
    return x_bar.astype(complex if any(isinstance(e, complex) for e in x_bar.flat) else float)


class _ToStructure(ProjectTo):
    """Projects a container or an object, part by part."""

    __slots__ = ("children", "cls")

    children: dict[Any, ProjectTo]
    cls: Any  # the class of the primal; a NamedTuple class has `_fields`

    def project(self, x_bar):
        x_bar = self._tangent(x_bar)
        size = len(self.children) if is_sequence(self.cls) else None
        if size is not None and len(x_bar) != size:
            raise RuleShapeError(
                f"{an(self.cls.__name__)} of length {size} cannot have a gradient of length {len(x_bar)}"
            )
        entries = {key: self._child(key).projected(entry) for key, entry in entries_of(x_bar).items()}
        return make(self.cls, entries, size)

    def _wanted(self):
        return f"{self.cls.__name__} of {len(self.children)} parts"

    def _child(self, key):
        try:
            return self.children[key]
        except KeyError:
            raise RuleShapeError(
                f"the {self.cls.__name__} has no part {key!r}, but its gradient has one"
            ) from None

    def _tangent(self, x_bar):
        if isinstance(x_bar, Tangent):
            given = class_of(x_bar)
            if given is self.cls or (is_sequence(given) and is_sequence(self.cls)):
                return x_bar
            if is_mapping(given):
                return make(self.cls, entries_of(x_bar))
        elif isinstance(x_bar, FieldGradients) or (is_mapping(type(x_bar)) and not is_sequence(self.cls)):
            return make(self.cls, {key: entry for key, entry in parts(x_bar).items() if entry is not None})
        elif is_raw(x_bar) and (is_sequence(self.cls) or type(x_bar) is self.cls):
            return from_raw(x_bar)
        elif is_raw(x_bar) and is_namedtuple(self.cls) and len(x_bar) == len(self.cls._fields):
            return make(self.cls, {k: v for k, v in zip(self.cls._fields, x_bar) if v is not None})
        elif isinstance(x_bar, np.ndarray) and x_bar.ndim and is_sequence(self.cls):
            return make(self.cls, dict(enumerate(x_bar)), len(x_bar))
        raise _wrong_kind(an(self.cls.__name__), x_bar)


_NOTHING = object.__new__(_ToNothing)
_ANYTHING = object.__new__(_ToAnything)


def _projector(x, memo):
    if isinstance(x, np.ndarray):
        return _array_projector(x)
    if is_number(x):
        return _number_projector(x)
    if isinstance(x, types.FunctionType):
        return _ANYTHING if holds_something(x) else _NOTHING
    if (behind := carrier(x)) is not x:
        return _projector(behind, memo)
    if isinstance(x, _OPAQUE):
        return _NOTHING
    return _structure_projector(x, memo)


def _array_projector(x):
    dtype = tangent_dtype(x.dtype)
    if dtype is None:
        return _NOTHING
    projector = object.__new__(_ToArray)
    projector.shape, projector.dtype = x.shape, dtype
    return projector


def _number_projector(x):
    projector = object.__new__(_ToNumber)
    projector.kind = number_type(x)
    projector.real = not issubclass(projector.kind, (complex, np.complexfloating))
    return projector


def number_type(x):
    """The type of the cotangents of a number: its own if it is a NumPy float or complex type."""
    if isinstance(x, np.inexact):
        return type(x)
    if isinstance(x, numbers.Complex) and not isinstance(x, numbers.Real):
        return complex
    return float


def _structure_projector(x, memo):
    if id(x) in memo:  # an object that contains itself
        return memo[id(x)]
    cls = type(x)
    known = is_sequence(cls) or is_mapping(cls) or field_names(cls) is not None or hasattr(x, "__dict__")
    children = parts(x)
    if not known and not children:
        return _ANYTHING
    memo[id(x)] = projector = object.__new__(_ToStructure)
    projector.cls = cls
    projector.children = {key: _projector(value, memo) for key, value in children.items()}
    if children and all(child is _NOTHING for child in projector.children.values()):
        return _NOTHING
    return projector


def _same_but_ones_at_end(shape, other):
    longer, shorter = (shape, other) if len(shape) > len(other) else (other, shape)
    return longer[: len(shorter)] == shorter and all(size == 1 for size in longer[len(shorter) :])


def _wrong_shape(shape, given):
    return RuleShapeError(
        f"variable with shape {shape} cannot have a gradient with shape {given}",
        fixes=("undo the broadcasting in the rule: sum over the axes that were repeated",),
    )


def _wrong_kind(wanted, given):
    hint: tuple[str, ...] = ()
    if given is None:
        hint = ("return rl.ZeroTangent() if the derivative is zero, rl.NoTangent() if there is none",)
    elif isinstance(given, type) and issubclass(given, AbstractZero):
        hint = (f"call it: rl.{given.__name__}()",)
    elif isinstance(given, np.ma.MaskedArray):
        hint = ("return x_bar.filled(0.0) if what is masked has no influence",)
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    if isinstance(given, np.dtype):
        name = f"{given} array"
    elif isinstance(given, Tangent):
        name = f"Tangent of {an(class_of(given).__name__)}"
    return RuleDtypeError(f"{wanted} cannot have a gradient of kind {name}", fixes=hint)


def project(x, x_bar):
    """`ProjectTo(x)(x_bar)`, with a fast path if there is nothing to do: then it is `x_bar` itself."""
    if type(x) is float:
        if type(x_bar) is float:
            return x_bar
        if type(x_bar) is np.float64:
            return float(x_bar)
    elif type(x_bar) is np.ndarray and type(x) is np.ndarray:
        if x_bar.shape == x.shape and x_bar.dtype == x.dtype and x.dtype.kind in "fc":
            return x_bar
    return ProjectTo(x)(x_bar)


def unbroadcast(x_bar, x):
    """Sum `x_bar`, which has the shape of an elementwise result, over the axes along which `x` was broadcast.

    Takes the real part if `x` is real; keeps the precision of `x_bar`. A list or tuple `x` gets a Tangent.

    >>> unbroadcast(np.ones((2, 3)), np.zeros((2, 1)))
    array([[3.],
           [3.]])
    >>> unbroadcast(np.ones(3), 2.0)
    3.0
    """
    kind = type(x)
    if type(x_bar) is float and kind is float:
        return x_bar
    # Fast paths for the common cases.
    if type(x_bar) is ndarray and (x_bar.dtype is _FLOAT64 or x_bar.dtype.kind == "f"):
        if kind is float64:
            return _total(x_bar, None)
        if kind is ndarray:
            if x_bar.shape == x.shape:
                return x_bar
            if x.dtype.kind != "O":
                return unbroadcast_to(x_bar, x.shape)
        elif kind is float:
            return float(_total(x_bar, None))
    if isinstance(x_bar, (AbstractZero, NotImplementedTangent)):
        return x_bar
    if isinstance(x_bar, Thunk):
        return Thunk(lambda: unbroadcast(unthunk(x_bar), x))
    if isinstance(x, np.ndarray):
        return _real_like(x.dtype.kind == "c", _sum_to(x_bar, x.shape))
    if is_number(x):
        total = _sum_to(x_bar, ())
        return _real_like(isinstance(x, (complex, np.complexfloating)), _as_number(total, x))
    if is_raw(x):
        return ProjectTo(x)(np.asarray(_sum_to(x_bar, np.shape(x))))
    return ProjectTo(x)(x_bar)


def unbroadcast_to(x_bar, shape):
    """The same for a real array of this shape.

    >>> unbroadcast_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    if type(x_bar) is ndarray and (x_bar.dtype is _FLOAT64 or x_bar.dtype.kind == "f"):
        given = x_bar.shape
        if given == shape:
            return x_bar
        if len(shape) == 2 == len(given) and shape[1] == 1 and shape[0] == given[0]:  # the most frequent case
            return _total(x_bar, 1, None, None, True)
        return _sum_to(x_bar, shape)
    if isinstance(x_bar, (AbstractZero, NotImplementedTangent)):
        return x_bar
    return _real_like(False, _sum_to(x_bar, shape))


def _as_number(total, x):
    if type(x) in (float, int) and isinstance(total, np.ndarray | np.generic):
        if total.dtype != np.longdouble:
            return total.item()
    return total[()] if isinstance(total, np.ndarray) else total


def _real_like(is_complex, x_bar):
    if is_complex:
        return x_bar
    if isinstance(x_bar, np.ndarray):
        return x_bar.real if x_bar.dtype.kind == "c" else x_bar
    return x_bar.real if isinstance(x_bar, (complex, np.complexfloating)) else x_bar


def _sum_to(x_bar, shape):
    is_array = type(x_bar) is ndarray
    given = x_bar.shape if is_array else np.shape(x_bar)
    if given == shape:
        return x_bar
    lead = axis = len(given) - len(shape)
    if lead == 1 and is_array and given[1:] == shape and len(shape) == 1 and x_bar.size <= _MANY:
        return _total(x_bar, 0)
    if lead < 0:
        raise _wrong_shape(shape, given)
    repeated = list(range(lead))
    for size in shape:
        if size != given[axis]:
            if size != 1:
                raise _wrong_shape(shape, given)
            repeated.append(axis)
        axis += 1
    total = None
    if is_array and x_bar.size > _MANY:
        total = _sum_of_short_rows(x_bar, repeated)
    if total is None:
        total = _total(x_bar, repeated[0] if len(repeated) == 1 else tuple(repeated), keepdims=True)
    return total.reshape(shape) if lead else total


_LONG, _MANY = 64, 512  # from this row length and number of rows on, a matrix product is faster


def _sum_of_short_rows(x_bar, axes):
    """The sum over adjacent axes, kept with length one, of an array with short rows behind them, as a matrix
    product, since NumPy's sum restarts at each row. None if it does not pay, or if the result is not finite:
    then NumPy's sum gives the warnings.

    >>> _sum_of_short_rows(np.ones((600, 2)), [0]), _sum_of_short_rows(np.ones((600, 2)), [1])
    (array([[600., 600.]]), None)
    """
    first, after = axes[0], axes[-1] + 1
    if after - first != len(axes) or x_bar.dtype != np.float64 or not x_bar.flags.c_contiguous:
        return None
    shape = x_bar.shape
    count, row = math.prod(shape[first:after]), math.prod(shape[after:])
    if not 1 < row <= _LONG or x_bar.size < _MANY * row or count < _LONG:
        return None
    with np.errstate(all="ignore"):
        total = np.matmul(np.ones((1, count)), x_bar.reshape(-1, count, row))
    if not np.isfinite(total).all():
        return None
    return total.reshape((*shape[:first], *(1,) * len(axes), *shape[after:]))


def zeros_like(x):
    """The zero cotangent of `x` with every entry written out; NoTangent if there is none.

    >>> zeros_like((np.array([1, 2]), "name"))
    Tangent(tuple, array([0., 0.]), NoTangent())
    """
    if isinstance(x, np.ndarray):
        dtype = tangent_dtype(x.dtype)
        return NoTangent() if dtype is None else np.zeros(x.shape, dtype)
    if is_number(x):
        return number_type(x)(0)
    projector = ProjectTo(x)
    if not isinstance(projector, _ToStructure):
        return NoTangent() if projector is _NOTHING else ZeroTangent()
    return make(
        type(x), {k: zeros_like(v) for k, v in parts(x).items()}, len(x) if is_sequence(type(x)) else None
    )


def zero_tangent(x: Any) -> Any:
    """The zero tangent of a primal, written out in numbers: zeros for an array, part by part for a structure.

    `ZeroTangent()` means the same without a shape, at no cost. NoTangent() if nothing can vary.

    >>> zero_tangent({"w": np.ones(2), "n": 3})
    Tangent(dict, {'w': array([0., 0.]), 'n': 0.0})
    """
    return zeros_like(unthunk(x))


def dense(x, x_bar):
    """`x_bar` with thunks evaluated and every zero written out in numbers, as a pullback gets it for the
    output `x`.
    """
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, NotImplementedTangent):
        raise x_bar.error()
    if x_bar is None or isinstance(x_bar, AbstractZero):
        return zeros_like(x)
    if isinstance(x, (np.ndarray, float)):
        return project(x, x_bar)
    projector = ProjectTo(x)
    if not isinstance(projector, _ToStructure):
        return projector(x_bar)
    entries = entries_of(projector._tangent(x_bar))
    whole = {key: dense(part, entries.get(key)) for key, part in parts(x).items()}
    projector.project(x_bar)  # checks lengths and keys against those of x
    return make(type(x), whole, len(x) if is_sequence(type(x)) else None)


class FieldGradients:
    """The gradient of an object as `gradient` returns it: its fields by name, None for those that received
    nothing.

    >>> g = FieldGradients("Point", {"x": 1.0, "y": None})
    >>> g, g.x, list(g)
    (Point(x=1.0, y=None), 1.0, [1.0, None])
    """

    __slots__ = ("_fields_by_name", "_name")
    __hash__ = None  # type: ignore[assignment]  # makes it unhashable

    def __init__(self, name, fields):
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_fields_by_name", dict(fields))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._fields_by_name[name]
        except KeyError:
            raise AttributeError(f"no field {name!r} in the gradient of {an(self._name)}") from None

    def __setattr__(self, name, value):
        raise TypeError("the fields of a gradient cannot be assigned to; _asdict() gives a dict of them")

    def __iter__(self):
        return iter(self._fields_by_name.values())

    def __len__(self):
        return len(self._fields_by_name)

    def _asdict(self):
        return dict(self._fields_by_name)

    __parts_by_name__ = _asdict  # how `structural.parts` obtains the parts

    def with_parts(self, fields):
        """A gradient of the same class with other fields."""
        return FieldGradients(self._name, fields)

    def __eq__(self, other):
        if not isinstance(other, FieldGradients):
            return NotImplemented
        return self._name == other._name and self._fields_by_name == other._fields_by_name

    def __reduce__(self):
        return FieldGradients, (self._name, self._fields_by_name)

    def __repr__(self):
        return f"{self._name}({', '.join(f'{k}={v!r}' for k, v in self._fields_by_name.items())})"


def class_shown(x_bar):
    """The class name to show for a gradient; for the gradient of an object, the object's class.

    >>> class_shown(FieldGradients("Point", {"x": 1.0})), class_shown({"x": 1.0})
    ('Point', 'dict')
    """
    return x_bar._name if isinstance(x_bar, FieldGradients) else type(x_bar).__name__


def seed_by_name(y, y_bar):
    """A cotangent as a caller writes it; a tuple for a NamedTuple is converted to one by field name."""
    by_place = isinstance(y_bar, tuple) and is_namedtuple(type(y))
    return project(y, y_bar) if by_place else y_bar


def to_natural(x, x_bar, owned=False):
    """What `gradient` returns for the argument `x`: a number, a new writable array, or the same structure.

    NoTangent and entries missing from a Tangent become None, ZeroTangent becomes zeros; a
    NotImplementedTangent raises its error. A tuple gives a tuple, a list a list, a dict a dict, a NamedTuple
    its own class, an object a FieldGradients. With `owned` the caller asserts that nothing else refers to the
    array `x_bar`, so that it need not be copied.

    >>> to_natural((1.0, "a", np.zeros(2)), Tangent(tuple, 2, NoTangent(), ZeroTangent()))
    (2.0, None, array([0., 0.]))
    """
    if type(x_bar) is float and type(x) is float:
        return x_bar
    x_bar = unthunk(x_bar)
    if x_bar is None or x_bar is NoTangent():
        return None
    if type(x_bar) is Tangent and (type(x) is list or type(x) is tuple):
        numbers_bar = _of_floats(x, x_bar)
        if numbers_bar is not None:
            return numbers_bar
    if isinstance(x_bar, NotImplementedTangent):
        raise x_bar.error()
    if x_bar is ZeroTangent():
        x_bar = zeros_like(x)
        if isinstance(x_bar, AbstractZero):
            return None
    try:
        return _natural(x, project(x, x_bar), owned)
    except RecursionError:  # a list of linked objects nests as deeply as it is long
        return with_room(lambda: _natural(x, project(x, x_bar), owned))


def _of_floats(x, x_bar):
    """The same for a list or tuple of floats whose entries are floats or zeros; None for any other."""
    bars = entries_of(x_bar)
    if class_of(x_bar) is not type(x) or not len(bars) == len(x_bar) == len(x):
        return None
    found = []
    for key, part in enumerate(x):
        bar = bars.get(key)
        if type(part) is not float:
            return None
        if type(bar) is np.float64:
            bar = float(bar)
        elif bar is _ZERO:
            bar = 0.0
        elif type(bar) is not float:
            return None
        found.append(bar)
    return found if type(x) is list else tuple(found)


_ZERO = ZeroTangent()


def _natural(x, projected, owned=False):
    """The same for a cotangent that is already projected, with all its parts."""
    projected = unthunk(projected)
    if isinstance(projected, NotImplementedTangent):
        raise projected.error()
    if isinstance(projected, Tangent):
        return _natural_structure(x, projected)
    if isinstance(projected, np.ndarray):
        keep = owned and projected.flags.writeable and projected.base is None
        return projected if keep else np.array(projected)
    if projected is ZeroTangent():
        return to_natural(x, projected)
    return None if isinstance(projected, AbstractZero) else projected


def _natural_structure(x, x_bar):
    x = carrier(x)
    cls, entries = type(x), entries_of(x_bar)
    values = {key: _natural(part, entries.get(key)) for key, part in parts(x).items()}
    if is_namedtuple(cls):
        return cls._make(values.values())
    if is_sequence(cls):
        return (list if issubclass(cls, list) else tuple)(values.values())
    return values if is_mapping(cls) else FieldGradients(cls.__name__, values)
