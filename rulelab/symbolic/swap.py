"""Namespace swap: the author's own code objects, run with globals in which `math`, `numpy` and `float` take
traced numbers.

Nothing is parsed, rewritten or evaluated from text. A function is rebuilt around its unchanged code object
with new globals, looked up lazily in the old ones and exchanged on the way; helpers and closures are
rebuilt in turn. What is not known to be harmless becomes a guard that stops the trace and names itself, and
what slips through reaches `Scalar.__float__`, which stops it too.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import operator
import sys
import types
from typing import Any

import numpy as np

from .functions import any_traced, replacements
from .scalars import CannotTrace, Scalar, Trace
from .specials import special_functions

_HARMLESS_BUILTINS = {
    getattr(builtins, name)
    for name in (
        "abs all any callable chr dict divmod enumerate filter format frozenset getattr hasattr hash id "
        "int isinstance issubclass iter len list map max min next object ord pow range repr reversed "
        "round set setattr slice sorted str sum super tuple type vars zip bool bytes property "
        "staticmethod classmethod"
    ).split()
} | {f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)}

_PURE_MODULES = ("math", "_operator", "operator", "itertools", "collections", "fractions", "numbers")

# NumPy functions that work on object arrays of traced numbers as they stand, through the numbers' own
# operators.
_HARMLESS_NUMPY = {
    getattr(np, name)
    for name in (
        "add subtract multiply divide true_divide negative positive sum prod mean dot vdot inner outer "
        "matmul cumsum cumprod reshape ravel transpose concatenate stack vstack hstack atleast_1d "
        "atleast_2d expand_dims squeeze broadcast_to broadcast_arrays copy tile repeat flip roll append "
        "trace diag diagonal swapaxes moveaxis shape ndim size max min amax amin where any all less "
        "less_equal greater greater_equal equal not_equal split take clip diff tensordot kron vander "
        "polyval argmax argmin flatnonzero nonzero triu tril count_nonzero isscalar iscomplexobj "
        "isrealobj real imag issubdtype errstate round_"
    ).split()
    if hasattr(np, name)
}

_FLOAT_TYPES = (float, np.float64)


class _FloatMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (float, Scalar))

    def __subclasscheck__(cls, other):
        return issubclass(other, (float, Scalar))

    def __call__(cls, value=0.0):
        if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
            value = value.item()
        return value if isinstance(value, Scalar) else float(value)

    def __getattr__(cls, name):
        return getattr(float, name)

    # So that `dtype=float` and `type(x) is float` style comparisons see what they expect.
    def __eq__(cls, other):
        return cls is other or other is float

    def __hash__(cls):
        return hash(float)


class TracedFloat(metaclass=_FloatMeta):
    """What the name `float` means in traced code: traced numbers count as floats and pass through it
    unchanged."""


def _float_dtype(dtype):
    return dtype is None or dtype is TracedFloat or dtype is object or np.dtype(dtype).kind in "fO"


def _object_array(maker, fill):
    """`maker` (np.zeros and its kin) giving an object array where a float one was asked for."""

    def make(shape, *args, dtype=None, **kwargs):
        if args or not _float_dtype(dtype):
            return maker(shape, *args, dtype=dtype, **kwargs)
        made = np.empty(shape, dtype=object)
        made[...] = fill
        return made

    return make


def _object_array_like(maker, fill):
    def make(prototype, dtype=None, **kwargs):
        source = np.asarray(prototype)
        wanted = source.dtype if dtype is None else dtype
        if not isinstance(prototype, Scalar) and not _float_dtype(wanted):
            return maker(prototype, dtype=dtype, **kwargs)
        made = np.empty(source.shape, dtype=object)
        made[...] = fill
        return made

    return make


def _object_full(shape, value, dtype=None, **_):
    made = np.empty(shape, dtype=object)
    made[...] = value
    return made


def _as_array(maker):
    def make(value, dtype=None, **kwargs):
        if not any_traced((value,), {}):
            return maker(value, dtype=None if dtype is TracedFloat else dtype, **kwargs)
        return (
            maker(value, dtype=object, **kwargs)
            if _float_dtype(dtype)
            else maker(value, dtype=dtype, **kwargs)
        )

    return make


def _unwrapped(function):
    """`function` with 0-d object results taken out of their array, as NumPy does for numbers."""

    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        if isinstance(result, np.ndarray) and result.dtype == object and result.ndim == 0:
            return result.item()
        return result

    return call


def _numpy_makers():
    return {
        np.zeros: _object_array(np.zeros, 0.0),
        np.ones: _object_array(np.ones, 1.0),
        np.empty: _object_array(np.empty, 0.0),
        np.full: _object_full,
        np.zeros_like: _object_array_like(np.zeros_like, 0.0),
        np.ones_like: _object_array_like(np.ones_like, 1.0),
        np.empty_like: _object_array_like(np.empty_like, 0.0),
        np.full_like: lambda prototype, value, **_: _object_full(np.shape(prototype), value),
        np.array: _as_array(np.array),
        np.asarray: _as_array(np.asarray),
        np.asanyarray: _as_array(np.asanyarray),
    }


class Guard:
    """A callable we know nothing about: plain attributes pass, a call stops the trace and names the
    callable."""

    def __init__(self, swap, original, name, pure):
        self._swap, self._original, self._name, self._pure = swap, original, name, pure

    def __call__(self, *args, **kwargs):
        if self._pure and not any_traced(args, kwargs):
            return self._original(*args, **kwargs)
        self._swap.trace_stop(f"C call {self._name}()")

    def __getattr__(self, name):
        return self._swap.value(getattr(self._original, name), f"{self._name}.{name}")


class _Callable:
    """A NumPy function that is harmless as it stands, still with its methods (`np.add.reduce`)."""

    def __init__(self, original, function):
        self._original, self._function = original, function

    def __call__(self, *args, **kwargs):
        if kwargs.get("dtype") is TracedFloat:
            kwargs["dtype"] = None
        return self._function(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._original, name)


class ModuleFace:
    """A module whose attributes are exchanged as they are read."""

    def __init__(self, swap, module):
        self._swap, self._module = swap, module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        return self._swap.value(value, f"{self._module.__name__}.{name}")


class _Globals(dict):
    """Globals that fetch from the author's own on first use, exchanged; writes stay here."""

    def __init__(self, swap, source):
        super().__init__()
        self._swap, self._source = swap, source
        self["__builtins__"] = swap.builtins
        self["__name__"] = source.get("__name__", "__main__")

    def __missing__(self, name):
        value = self._swap.value(self._source[name], name)
        self[name] = value
        return value


class Swap:
    """One exchange of namespaces, for one trace.

    `overrides` maps an object (by identity) to what stands in for it: how a rule library's helpers, which
    would coerce to arrays, are told to let traced numbers pass.
    """

    def __init__(self, trace: Trace, overrides=()):
        self.trace = trace
        self.codes: set[types.CodeType] = set()
        self._made: dict[int, Any] = {}
        self._keep: list[Any] = []  # what `_made` is keyed by must not die, or its id could be reused
        self._globals: dict[int, _Globals] = {}
        self._table = _table("scipy.special" in sys.modules)  # who has not imported it does not call it
        self._overrides = {id(original): standin for original, standin in overrides}
        self._keep.extend(original for original, _ in overrides)
        self.builtins = self._builtins()

    def trace_stop(self, construct, advice=""):
        self.trace.halt(CannotTrace(construct, advice))

    def _builtins(self):
        swapped = dict(vars(builtins))
        swapped["float"] = TracedFloat
        swapped["print"] = lambda *args, **kwargs: None  # the author's output was shown by the plain run
        swapped["__import__"] = self._import
        for name in ("open", "input", "exec", "eval", "compile", "breakpoint", "globals", "locals"):
            swapped[name] = Guard(self, swapped[name], name, pure=False)
        return swapped

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        source = getattr(globals, "_source", globals)
        module = importlib.__import__(name, source, locals, fromlist or (), level)
        return ModuleFace(self, module)

    def value(self, value, name):
        """What stands in for `value`, found under `name`."""
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
        if callable(value) and not isinstance(value, type):
            return self._callable(value, name)
        return value

    def _callable(self, value, name):
        try:
            if value in self._table:
                return self._table[value]
            if value in _HARMLESS_NUMPY:
                return _Callable(value, _unwrapped(value))
            if value in _HARMLESS_BUILTINS:
                return value
        except TypeError:  # not hashable
            pass
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and type(value).__module__ == "functools":
            return self.value(wrapped, name)  # functools.cache: the same function without its memory
        method = getattr(type(value), "__call__", None)  # noqa: B004 (which one, not whether)
        if isinstance(method, types.FunctionType):
            return value if _is_ours(method) else types.MethodType(self.function(method), value)
        module = getattr(value, "__module__", None) or ""
        shown = getattr(value, "__name__", None)
        label = f"{module}.{shown}" if shown and module and "." not in name and module != "builtins" else name
        pure = (
            module in _PURE_MODULES
            or (isinstance(value, np.ufunc) or module.startswith("numpy"))
            and not (module.startswith("numpy.random"))
        )
        return Guard(self, value, label, pure)

    def function(self, function):
        """`function` rebuilt around its own code with exchanged globals, defaults and closure."""
        if id(function) in self._made:
            return self._made[id(function)]
        self._keep.append(function)
        code = function.__code__
        self.codes.update(_codes(code))
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        rebuilt = types.FunctionType(
            code, self._globals_for(function.__globals__), function.__name__, None, cells or None
        )
        self._made[id(function)] = rebuilt  # before the closure is filled: it may lead back here
        rebuilt.__defaults__ = self._defaults(function.__defaults__, function.__name__)
        if function.__kwdefaults__:
            rebuilt.__kwdefaults__ = {k: self.value(v, k) for k, v in function.__kwdefaults__.items()}
        for cell, original, name in zip(cells, function.__closure__ or (), code.co_freevars, strict=True):
            try:
                cell.cell_contents = self.value(original.cell_contents, name)
            except ValueError:  # an empty cell stays empty
                pass
        return rebuilt

    def _defaults(self, defaults, name):
        return defaults and tuple(self.value(d, f"a default of {name}") for d in defaults)

    def _globals_for(self, source):
        if isinstance(source, _Globals):
            return source
        if id(source) not in self._globals:
            self._globals[id(source)] = _Globals(self, source)
        return self._globals[id(source)]


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.cache
def _table(with_special):
    return replacements() | (special_functions() if with_special else {}) | _numpy_makers()


_OURS = ("rulelab.errors", "rulelab.tangents", "rulelab.rules", "rulelab.ad", "rulelab.compiler")


def _is_ours(function):
    """The package's own words (NoTangent, thunk, …) are kept: they hand values on and compute nothing."""
    module = getattr(function, "__module__", None) or ""
    return any(module == ours or module.startswith(f"{ours}.") for ours in _OURS)


def _is_numpys(function):
    """Python functions of NumPy (np.ones) go by the table, like the C ones: their insides expect arrays of
    floats."""
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


def _is_clock_or_chance(value):
    """Objects of C libraries and random generators: what their methods return is not a function of the
    arguments."""
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
