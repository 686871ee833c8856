"""Cotangents that are computed when they are first needed, at most once."""

from __future__ import annotations

import copy
import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import Place, RuleError, ThunkMutationError, an
from ..python_facts import WRITES, names_that
from .zeros import is_protocol

_PENDING = object()
_WRITABLE = (np.ndarray, list, dict, set)
_WRITERS = names_that(WRITES, *_WRITABLE)


def _refuse_write(self, *_):
    raise ThunkMutationError(
        "Tried to mutate a thunk, this is not supported. `unthunk` it first.",
        fixes=("write x_bar = np.array(rl.unthunk(x_bar)), and change that",),
    )


def _to_be_read(value):
    """What may be reached through a thunk: its value, an array as a read-only view."""
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        return value
    view = value.view()
    view.flags.writeable = False
    return view


class Thunk:
    """A cotangent that is computed only if it is used: worthwhile if the computation is expensive and often
    not needed.

    `f` takes no arguments and is called at most once, also with several threads. If it raises, the error is
    raised again at each use, with a note that names the rule. Arithmetic, comparisons, indexing and NumPy
    functions use the value; a sum with a zero and a product with one do not. Writing to it raises a
    ThunkMutationError, and an array that is reached through the thunk is read-only.

    >>> t = Thunk(lambda: 2.0)
    >>> t
    Thunk(…)
    >>> t + 1.0, t
    (3.0, Thunk(2.0))
    """

    __slots__ = ("__weakref__", "_error", "_function", "_lock", "_value")

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise RuleError(
                f"a thunk takes a function that returns the cotangent, not {an(type(f).__name__)}",
                fixes=("write rl.thunk(lambda: x_bar)", "return a value that is already known as it is"),
            )
        put = object.__setattr__
        put(self, "_function", f)
        put(self, "_value", _PENDING)
        put(self, "_error", None)
        put(self, "_lock", threading.RLock())

    @property
    def evaluated(self):
        """Whether the value has been computed."""
        return self._value is not _PENDING

    def unthunk(self) -> Any:
        """The value, computed now if necessary."""
        if self._value is _PENDING:
            with self._lock:
                if self._value is _PENDING:
                    self._evaluate()
        return self._value

    def _evaluate(self):
        if self._error is not None:
            error, seen = self._error
            raise error.with_traceback(seen)  # otherwise the traceback would grow each time
        function = self._function
        try:
            value = unthunk(function())
        except BaseException as error:
            say_whose(error, function)
            if isinstance(error, Exception):
                object.__setattr__(self, "_error", (error, error.__traceback__))
            raise
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_function", None)  # releases what the closure held

    def __repr__(self):
        return f"{type(self).__name__}({self._value!r})" if self.evaluated else f"{type(self).__name__}(…)"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return Thunk(lambda: copy.deepcopy(self.unthunk()))

    def __reduce__(self):
        return _Constant(self.unthunk()), ()

    def __array__(self, dtype=None, copy=None):
        return np.array(_to_be_read(self.unthunk()), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if method == "at" and isinstance(inputs[0], Thunk):
            _refuse_write(self)
        if out is not None:
            if any(isinstance(target, Thunk) for target in out):
                _refuse_write(self)
            kwargs["out"] = out
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __getattr__(self, name):
        if is_protocol(name):  # displaying it does not need the value
            raise AttributeError(name)
        value = self.unthunk()
        if name in _WRITERS and isinstance(value, _WRITABLE):
            _refuse_write(self)
        return getattr(_to_be_read(value), name)

    def __getitem__(self, key):
        return _to_be_read(self.unthunk())[key]

    def __iter__(self):
        return iter(_to_be_read(self.unthunk()))

    def __len__(self):
        return len(self.unthunk())

    def __bool__(self):
        return bool(self.unthunk())

    def __neg__(self):
        return -self.unthunk()

    def __pos__(self):
        return +self.unthunk()

    def __int__(self):
        return int(self.unthunk())

    def __round__(self, digits=None):
        return round(self.unthunk(), digits)

    def __format__(self, specification):
        return format(self.unthunk(), specification) if specification else repr(self)

    __hash__ = object.__hash__  # by identity, although `==` compares values

    def __abs__(self):
        return abs(self.unthunk())

    def __float__(self):
        return float(self.unthunk())

    def __complex__(self):
        return complex(self.unthunk())

    __setitem__ = __delitem__ = __setattr__ = __delattr__ = _refuse_write


def say_whose(error, function):
    """Add a note to an error that names the rule and place of the thunk that raised it; of nested thunks, the
    innermost.
    """
    if any(note.startswith("in a thunk of") for note in getattr(error, "__notes__", ())):
        return
    named = getattr(function, "__qualname__", type(function).__name__).split(".<locals>.")
    rule = ", ".join(part for part in named if part != "<lambda>") or "<lambda>"
    place = f" at {Place.of_function(function).label()}" if hasattr(function, "__code__") else ""
    error.add_note(f"in a thunk of {rule}{place}")


def _delegate(operation):
    def forward(self, other):
        if getattr(type(other), "__takes_thunks__", False):
            return NotImplemented  # a zero or a one determines the result without the value
        return operation(unthunk(self), unthunk(other))

    def backward(self, other):
        return operation(unthunk(other), unthunk(self))

    return forward, backward


for _name in ("add", "sub", "mul", "matmul", "truediv", "pow"):
    _forward, _backward = _delegate(getattr(operator, f"__{_name}__"))
    setattr(Thunk, f"__{_name}__", _forward)
    setattr(Thunk, f"__r{_name}__", _backward)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Thunk, f"__{_name}__", _delegate(getattr(operator, f"__{_name}__"))[0])


class _Constant:
    """A picklable callable that returns an evaluated thunk."""

    def __init__(self, value):
        self.value = value

    def __call__(self):
        done = Thunk(type(None))
        object.__setattr__(done, "_value", self.value)
        object.__setattr__(done, "_function", None)
        return done


class InplaceableThunk(Thunk):
    """A thunk that can also add itself to an array: `add_into(acc)` performs `acc += value` and returns
    `acc`.

    `add_into` is used only if the accumulator is owned by the code that sums, and holds numbers; otherwise
    the value is computed and added. A copy, a multiple and a projection of it are plain thunks.

    >>> import numpy as np
    >>> t = InplaceableThunk(lambda acc: np.add(acc, 1.0, out=acc), lambda: np.ones(2))
    >>> t.add_into(np.zeros(2))
    array([1., 1.])
    """

    __slots__ = ("add_into",)

    def __init__(self, add_into: Any, value: Any) -> None:
        super().__init__(value)
        if not callable(add_into):
            kind = type(add_into).__name__
            raise RuleError(
                f"an InplaceableThunk takes a function that adds to an array, not {an(kind)}",
                fixes=("write rl.InplaceableThunk(add_into, lambda: x_bar)",),
            )
        object.__setattr__(self, "add_into", add_into)


def thunk(f: Callable[..., Any]) -> Thunk:
    """Return a cotangent that `f()` computes when it is needed, at most once: for one that is expensive and
    often not needed.

    >>> unthunk(thunk(lambda: 2.0 + 1.0))
    3.0
    """
    return Thunk(f)


def unthunk(x: Any) -> Any:
    """Return the value of a thunk, and anything else unchanged.

    >>> unthunk(thunk(lambda: 3.0)), unthunk(4.0)
    (3.0, 4.0)
    """
    while isinstance(x, Thunk):
        x = x.unthunk()
    return x
