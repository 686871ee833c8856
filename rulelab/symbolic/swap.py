"""Namespace swap: the author's own code objects, run with globals in which `math`, `numpy` and `float` accept
traced numbers.

Nothing is parsed, rewritten or evaluated from text. A function is rebuilt around its unchanged code object
with new globals, which look names up lazily in the old ones and replace the values; helpers and closures are
rebuilt recursively. Anything that is not known to be harmless becomes a guard that stops the trace and names
itself; whatever slips through reaches `Scalar.__float__`, which stops it too.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import numbers
import operator
import sys
import types
from typing import Any

import numpy as np

from .. import ad, compiler, errors, rules, tangents
from ..rules import scalar
from ..tangents.holding import captured
from . import arrays, complexes, specials
from .arrays import element_of, filled, maker_like, to_traced_arrays
from .complexes import Complex, TracedComplex, TracedReal
from .functions import any_traced, elementwise_version, math_replacements
from .scalars import CannotTrace, Scalar, Trace

_HARMLESS_BUILTINS = {
    getattr(builtins, name)
    for name in (
        "abs all any callable chr dict divmod enumerate filter format frozenset getattr hasattr hash id "
        "int isinstance issubclass iter len list map max min next object ord pow range repr reversed "
        "round set setattr slice sorted str sum super tuple type vars zip bool bytes property "
        "staticmethod classmethod"
    ).split()
} | {f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)}

_PURE_MODULES = ("math", "cmath", "_operator", "operator", "itertools", "collections", "fractions", "numbers")

_FLOAT_TYPES = (float, np.float64)


class _FloatMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (float, Scalar)) and not isinstance(value, Complex)

    def __subclasscheck__(cls, other):
        return issubclass(other, (float, Scalar))

    def __call__(cls, value=0.0):
        if isinstance(value, np.ndarray) and any_traced((value,), {}):
            if value.size != 1:  # np.float64(array) is that array
                return value
            value = value.view(np.ndarray).item()
        return value if isinstance(value, Scalar) else float(value)

    def __getattr__(cls, name):
        return getattr(float, name)

    # So that comparisons such as `dtype=float` and `type(x) is float` work.
    def __eq__(cls, other):
        return cls is other or other is float

    def __hash__(cls):
        return hash(float)


class TracedFloat(metaclass=_FloatMeta):
    """What the name `float` refers to in traced code: traced numbers count as floats and pass through it
    unchanged.
    """


def _float_dtype(dtype):
    return dtype is None or dtype is TracedFloat or dtype is object or np.dtype(dtype).kind in "fO"


def _is_complex_dtype(dtype):
    return dtype is TracedComplex or dtype is not None and np.dtype(dtype).kind == "c"


def _object_array(maker, fill):
    """Wrap `maker` (np.zeros and similar) to return an object array where a float one was asked for."""

    def make(shape, dtype=None, *args, **kwargs):
        if _is_complex_dtype(dtype):
            return filled(shape, complex(fill))
        if not _float_dtype(dtype):
            return maker(shape, dtype, *args, **kwargs)
        return filled(shape, fill)

    return make


def _object_array_like(maker, fill):
    made = maker_like(maker, fill)

    def make(prototype, dtype=None, **kwargs):
        return made(prototype, _plain_dtype(dtype), **kwargs)

    return make


def _object_full(shape, value, dtype=None, *_, **__):
    return filled(shape, 0.0) + value


def _object_eye(maker):
    def make(*args, dtype=None, **kwargs):
        made = maker(*args, **kwargs)
        return to_traced_arrays(made.astype(object)) if _float_dtype(dtype) else made.astype(dtype)

    return make


def _grid(maker):
    """Wrap `maker` (np.arange, np.linspace) to return an object array of floats, which a rule may write
    to.
    """
    of_traced = _numpy_function(maker)

    def make(*args, **kwargs):
        plain = [_named_dtype(a) for a in args]
        if any_traced(args, kwargs):
            return of_traced(*plain, **kwargs)
        made = maker(*plain, **{key: _named_dtype(value) for key, value in kwargs.items()})
        is_of_floats = isinstance(made, np.ndarray) and made.dtype.kind == "f"
        return to_traced_arrays(made.astype(object)) if is_of_floats else made

    return make


def _named_dtype(dtype):
    """A dtype for NumPy's own code, which does not know TracedFloat and TracedComplex."""
    return float if dtype is TracedFloat else _plain_dtype(dtype)


def _plain_dtype(dtype):
    return None if dtype is TracedFloat else complex if dtype is TracedComplex else dtype


def _as_array(maker):
    def make(value, dtype=None, *args, **kwargs):
        if not any_traced((value,), {}):
            return maker(value, _plain_dtype(dtype), *args, **kwargs)
        made = maker(value, object, *args, **kwargs)
        plain = _float_dtype(dtype) and dtype is not TracedComplex
        return to_traced_arrays(made) if plain else to_traced_arrays(made).astype(dtype)

    return make


def _broadcast_shape(function):
    """Wrap a function that uses shapes only: it is called with plain arrays of the same shapes."""

    def call(*args, **kwargs):
        return function(*(np.zeros(np.shape(a)) for a in args), **kwargs)

    return call


def _numpy_makers():
    return {
        np.zeros: _object_array(np.zeros, 0.0),
        np.ones: _object_array(np.ones, 1.0),
        np.empty: _object_array(np.empty, 0.0),
        np.full: _object_full,
        np.eye: _object_eye(np.eye),
        np.identity: _object_eye(np.identity),
        np.zeros_like: _object_array_like(np.zeros_like, 0.0),
        np.ones_like: _object_array_like(np.ones_like, 1.0),
        np.empty_like: _object_array_like(np.empty_like, 0.0),
        np.full_like: lambda prototype, value, *_, **__: _object_full(np.shape(prototype), value),
        np.array: _as_array(np.array),
        np.asarray: _as_array(np.asarray),
        np.asanyarray: _as_array(np.asanyarray),
        np.ascontiguousarray: _as_array(np.ascontiguousarray),
        np.asfortranarray: _as_array(np.asfortranarray),
        np.arange: _grid(np.arange),
        np.linspace: _grid(np.linspace),
        np.isscalar: lambda x: isinstance(x, Scalar) or np.isscalar(x),
        np.broadcast: _broadcast_shape(np.broadcast),
    }


class Guard:
    """A callable that nothing is known about: attributes can be read, but a call stops the trace and names
    the callable.
    """

    def __init__(self, swap, original, name, pure):
        self._swap, self._original, self._name, self._pure = swap, original, name, pure

    def __call__(self, *args, **kwargs):
        if self._pure and not any_traced(args, kwargs):
            return self._original(*args, **kwargs)
        self._swap.trace_stop(f"a call of {self._name}(), which is compiled code")

    def __getattr__(self, name):
        return self._swap.value(getattr(self._original, name), f"{self._name}.{name}")


class _NumpyFunction:
    """A NumPy function: the original for plain arguments, its counterpart in `arrays` for traced ones."""

    def __init__(self, original, function):
        self._original, self._function = original, function

    def __call__(self, *args, **kwargs):
        if "dtype" in kwargs:
            kwargs["dtype"] = _named_dtype(kwargs["dtype"])
        return self._function(*args, **kwargs)

    # an author's table may be keyed by the function itself

    def __eq__(self, other):
        return self._original is getattr(other, "_original", other)

    def __hash__(self):
        return hash(self._original)

    def __getattr__(self, name):
        value = getattr(self._original, name)
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return lambda *args, **kwargs: value(*map(_as_traced, args), **kwargs)
        return value


def _as_traced(value):
    """Convert scalars and object arrays to our arrays, so that NumPy's protocols find them."""
    if isinstance(value, Scalar) or isinstance(value, np.ndarray) and value.dtype == object:
        return to_traced_arrays(value)
    return to_traced_arrays(value) if isinstance(value, (list, tuple)) and any_traced(value, {}) else value


def _numpy_function(original):
    """`original`, with a separate path for traced arguments."""

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        return arrays.call_numpy(original, args, kwargs)

    return _NumpyFunction(original, function)


def _ufunc_on_arrays(ufunc, args, kwargs):
    args = [to_traced_arrays(a) if isinstance(a, (list, tuple)) else _as_traced(a) for a in args]
    return ufunc(*args, **kwargs)


def _numpy_ufunc(ufunc):
    on_scalars = element_of(ufunc)
    if on_scalars is None:
        return _NumpyFunction(ufunc, lambda *args, **kwargs: _ufunc_on_arrays(ufunc, args, kwargs)
                              if any_traced(args, kwargs) else ufunc(*args, **kwargs))  # fmt: skip
    return _NumpyFunction(ufunc, elementwise_version(ufunc, on_scalars, _ufunc_on_arrays))


def _is_chance(value):
    return (getattr(value, "__module__", None) or "").startswith("numpy.random")


def _method_of_arrays(descriptor):
    """Wrap `np.ndarray.sum` and similar: for a traced array, call the method of its class."""

    def method(self, *args, **kwargs):
        if isinstance(self, np.ndarray) and any_traced((self,), {}):
            return getattr(to_traced_arrays(self), descriptor.__name__)(*args, **kwargs)
        return descriptor(self, *args, **kwargs)

    return method


class ModuleFace:
    """A module whose attributes are replaced as they are read."""

    def __init__(self, swap, module):
        self._swap, self._module = swap, module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        return self._swap.value(value, f"{self._module.__name__}.{name}")


class Globals(dict):
    """Globals that fetch a value from the author's own on first use and replace it; writes stay here."""

    def __init__(self, swap, source):
        super().__init__()
        self._swap, self._source = swap, source
        self["__builtins__"] = swap.builtins
        self["__name__"] = source.get("__name__", "__main__")

    def __missing__(self, name):
        value = self._swap.value(self._source[name], name)
        self[name] = value
        return value


class _StandInMeta(type):
    """Metaclass of the subclass that replaces an author's class: existing instances of that class count as
    its instances.
    """

    _original: type

    def __instancecheck__(cls, value):
        return isinstance(value, cls._original)

    def __subclasscheck__(cls, other):
        return issubclass(other, cls._original)


class Swap:
    """One replacement of namespaces, for one trace.

    `overrides` are pairs of an object (compared by identity) and its replacement. They let traced numbers
    pass through helpers of a rule library that would coerce them to arrays.
    """

    def __init__(self, trace: Trace, overrides=()):
        self.trace = trace
        self.codes: set[types.CodeType] = set()
        self._made: dict[int, Any] = {}
        self._keep: list[Any] = []  # the keys of `_made` are ids, so the objects must stay alive
        self._globals: dict[int, Globals] = {}
        self._table = _table("scipy.special" in sys.modules)
        self._overrides = {id(original): standin for original, standin in overrides}
        self._keep.extend(original for original, _ in overrides)
        self.builtins = self._builtins()

    def trace_stop(self, construct, advice=""):
        self.trace.halt(CannotTrace(construct, advice))

    def _builtins(self):
        swapped = dict(vars(builtins))
        swapped["float"] = TracedFloat
        swapped["complex"] = TracedComplex
        swapped["print"] = lambda *args, **kwargs: None  # the author's output was shown in the plain run
        swapped["__import__"] = self._import
        for name in ("open", "input", "exec", "eval", "compile", "breakpoint", "globals", "locals"):
            swapped[name] = Guard(self, swapped[name], name, pure=False)
        return swapped

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        source = getattr(globals, "_source", globals)
        module = importlib.__import__(name, source, locals, fromlist or (), level)
        return ModuleFace(self, module)

    def value(self, value, name):
        """Return the replacement of `value`, found under `name`."""
        if id(value) in self._made:
            return self._made[id(value)]
        swapped = self._swap(value, name)
        self._made[id(value)] = swapped
        self._keep.append(value)
        return swapped

    def _swap(self, value, name):
        if id(value) in self._overrides:
            return self._overrides[id(value)]
        if isinstance(value, (Scalar, Guard, ModuleFace)):
            return value
        if any(value is t for t in _FLOAT_TYPES):
            return TracedFloat
        if value is complex or value is np.complex128:
            return TracedComplex
        if value is numbers.Real:
            return TracedReal
        if isinstance(value, types.ModuleType):
            return ModuleFace(self, value)
        if isinstance(value, types.FunctionType) and value in self._table:
            return self._table[value]
        if isinstance(value, types.FunctionType) and not _is_numpys(value):
            return value if _is_ours(value) else self.function(value)
        if isinstance(value, types.MethodType):
            return types.MethodType(self.value(value.__func__, name), value.__self__)
        if isinstance(value, functools.partial):
            return functools.partial(self.value(value.func, name), *value.args, **value.keywords)
        if _is_clock_or_chance(value):
            return Guard(self, value, name, pure=False)
        if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
            return type(value)(self.value(v, f"{name}[{i}]") for i, v in enumerate(value))
        if type(value) is dict:
            return {k: self.value(v, f"{name}[{k!r}]") for k, v in value.items()}
        if isinstance(value, type):
            return self._class(value) if _is_an_authors(value) else value
        if _is_an_authors(type(value)) and (stand_in := self._instance(value)) is not None:
            return stand_in
        if callable(value):
            return self._callable(value, name)
        return value

    def _instance(self, value):
        """An object with the same attributes whose class is the replacement of the object's class, so that
        its methods are followed; None for an object with more than a dict of attributes.
        """
        try:
            stand_in = object.__new__(self.value(type(value), type(value).__name__))
            object.__setattr__(stand_in, "__dict__", vars(value))
        except (TypeError, AttributeError):
            return None
        return stand_in

    def _callable(self, value, name):
        try:
            if value in self._table:
                return self._table[value]
            if value in _HARMLESS_BUILTINS:
                return value
        except TypeError:  # not hashable
            pass
        if isinstance(value, np.ufunc):
            return _numpy_ufunc(value)
        if _is_numpys(value) and not _is_chance(value) and not isinstance(value, np.vectorize):
            return _numpy_function(value)
        if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, np.ufunc):
            return getattr(self.value(value.__self__, name), value.__name__)
        if isinstance(value, types.MethodDescriptorType) and value.__objclass__ is np.ndarray:
            return _method_of_arrays(value)
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and type(value).__module__ == "functools":
            return self.value(wrapped, name)  # functools.cache: the same function without the cache
        method = getattr(type(value), "__call__", None)  # noqa: B004 (which one, not whether)
        if isinstance(method, types.FunctionType):
            return value if _is_ours(method) else types.MethodType(self.function(method), value)
        module = getattr(value, "__module__", None) or ""
        shown = getattr(value, "__name__", None)
        label = f"{module}.{shown}" if shown and module and "." not in name and module != "builtins" else name
        pure = module in _PURE_MODULES
        return Guard(self, value, label, pure)

    def function(self, function):
        """Rebuild `function` around its own code with replaced globals, defaults and closure."""
        if id(function) in self._made:
            return self._made[id(function)]
        self._keep.append(function)
        code = function.__code__
        self.codes.update(_codes(code))
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        rebuilt = types.FunctionType(
            code, self._globals_for(function.__globals__), function.__name__, None, cells or None
        )
        self._made[id(function)] = rebuilt  # before the closure is filled, which may refer to the function
        rebuilt.__defaults__ = self._defaults(function.__defaults__, function.__name__)
        if function.__kwdefaults__:
            rebuilt.__kwdefaults__ = {k: self.value(v, k) for k, v in function.__kwdefaults__.items()}
        held = captured(function)
        for cell, name in zip(cells, code.co_freevars, strict=True):
            if name in held:
                cell.cell_contents = self.value(held[name], name)
        return rebuilt

    def _class(self, cls):
        """A subclass whose methods are rebuilt, so that what they call is replaced too."""
        kept = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__slots__": ()}
        swapped = _StandInMeta(cls.__name__, (cls,), kept)
        swapped._original = cls
        self._made[id(cls)] = swapped  # its methods may refer to the class
        for base in reversed([b for b in cls.__mro__ if _is_an_authors(b)]):
            for name, member in vars(base).items():
                if isinstance(member, types.FunctionType):
                    setattr(swapped, name, self.function(member))
                elif isinstance(member, (staticmethod, classmethod)) and isinstance(
                    member.__func__, types.FunctionType
                ):
                    setattr(swapped, name, type(member)(self.function(member.__func__)))
                elif isinstance(member, property) and isinstance(member.fget, types.FunctionType):
                    setattr(swapped, name, property(self.function(member.fget), member.fset, member.fdel))
        return swapped

    def _defaults(self, defaults, name):
        return defaults and tuple(self.value(d, f"a default of {name}") for d in defaults)

    def _globals_for(self, source):
        if isinstance(source, Globals):
            return source
        if id(source) not in self._globals:
            self._globals[id(source)] = Globals(self, source)
        return self._globals[id(source)]


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.cache
def _table(with_special):
    special = {f: _of_either(f, twin) for f, twin in specials.functions().items()} if with_special else {}
    return math_replacements() | complexes.replacements() | special | _numpy_makers()


def _of_either(original, on_traced):
    """A Python function for plain arguments, combined with its counterpart for traced ones."""

    def function(*args, **kwargs):
        if not any_traced(args, kwargs):
            return original(*args, **kwargs)
        made = on_traced(*map(_as_traced, args), **kwargs)
        return to_traced_arrays(made) if isinstance(made, np.ndarray) else made

    return function


_OURS = tuple(words.__name__ for words in (errors, tangents, rules, ad, compiler))


def _is_ours(function):
    """Whether a function is rulelab's own (NoTangent, thunk, …) and kept as it is: these pass values on and
    compute nothing.
    """
    module = getattr(function, "__module__", None) or ""
    if module == scalar.__name__:  # its rules call an author's partials, which must be followed
        return False
    return any(module == ours or module.startswith(f"{ours}.") for ours in _OURS)


def _is_an_authors(cls):
    """Whether a class is an author's Python class, whose methods must be followed."""
    module = (getattr(cls, "__module__", None) or "").partition(".")[0]
    return (
        type(cls) is type
        and not issubclass(cls, (BaseException, tuple, type))
        and module not in sys.stdlib_module_names
        and module not in ("builtins", "numpy", "sympy", "mpmath")
        and not _is_ours(cls)
        and any(isinstance(member, types.FunctionType) for member in vars(cls).values())
    )


def _is_numpys(function):
    """Whether a function is NumPy's. Its Python functions (np.ones) are replaced like the C ones, since their
    code expects arrays of floats.
    """
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


def _is_clock_or_chance(value):
    """Whether a value is an object of a C library or a random generator: what its methods return is not a
    function of the arguments.
    """
    modules = {klass.__module__ for klass in type(value).__mro__}
    return not isinstance(value, type) and any(
        m in ("_ctypes", "ctypes", "random", "_random") or m.startswith("numpy.random") for m in modules
    )


def same_shape_object_array(values, shape):
    """An object array of `shape` with `values` in C order (np.array would look inside its elements)."""
    made = np.empty(math.prod(shape), dtype=object)
    for i, value in enumerate(values):
        made[i] = value
    return made.reshape(shape)
