"""Cotangents that are worked out when somebody needs them, at most once."""

from __future__ import annotations

import operator
import threading

from ..errors import ThunkMutationError

_PENDING = object()


def _refuse_write(self, *_):
    raise ThunkMutationError("Tried to mutate a thunk, this is not supported. `unthunk` it first.")


class Thunk:
    """A cotangent that is not computed unless it is used: worth it when the sum is dear and often dropped.

    `f` takes no arguments and is called at most once, also with several threads; what it raised is raised
    again. Arithmetic, indexing and NumPy functions use the value; a write is a ThunkMutationError.

    >>> t = Thunk(lambda: 2.0)
    >>> t
    Thunk(…)
    >>> t + 1.0, t
    (3.0, Thunk(2.0))
    """

    __slots__ = ("__weakref__", "_error", "_function", "_lock", "_value")

    def __init__(self, f):
        put = object.__setattr__
        put(self, "_function", f)
        put(self, "_value", _PENDING)
        put(self, "_error", None)
        put(self, "_lock", threading.RLock())

    @property
    def evaluated(self):
        """Whether the value is there already."""
        return self._value is not _PENDING

    def unthunk(self):
        """The value, computed now if it was not before."""
        if self._value is _PENDING:
            with self._lock:
                if self._value is _PENDING:
                    self._evaluate()
        return self._value

    def _evaluate(self):
        if self._error is not None:
            raise self._error
        function = self._function
        try:
            value = unthunk(function())
        except BaseException as error:
            error.add_note(f"raised by the thunk {getattr(function, '__qualname__', function)}")
            if isinstance(error, Exception):
                object.__setattr__(self, "_error", error)
            raise
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_function", None)  # lets go of what the closure held

    def __repr__(self):
        return f"{type(self).__name__}({self._value!r})" if self.evaluated else f"{type(self).__name__}(…)"

    def __reduce__(self):
        return _Constant(self.unthunk()), ()

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        return np.array(self.unthunk(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if out is not None:
            if any(isinstance(target, Thunk) for target in out):
                _refuse_write(self)
            kwargs["out"] = out
        return getattr(ufunc, method)(*map(unthunk, inputs), **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.unthunk(), name)

    def __getitem__(self, key):
        return self.unthunk()[key]

    def __iter__(self):
        return iter(self.unthunk())

    def __len__(self):
        return len(self.unthunk())

    def __bool__(self):
        return bool(self.unthunk())

    def __neg__(self):
        return -self.unthunk()

    def __abs__(self):
        return abs(self.unthunk())

    def __float__(self):
        return float(self.unthunk())

    def __complex__(self):
        return complex(self.unthunk())

    __setitem__ = __delitem__ = __setattr__ = __delattr__ = _refuse_write


def _delegate(operation):
    def forward(self, other):
        return operation(unthunk(self), unthunk(other))

    def backward(self, other):
        return operation(unthunk(other), unthunk(self))

    return forward, backward


for _name in ("add", "sub", "mul", "matmul", "truediv", "pow"):
    _forward, _backward = _delegate(getattr(operator, f"__{_name}__"))
    setattr(Thunk, f"__{_name}__", _forward)
    setattr(Thunk, f"__r{_name}__", _backward)


class _Constant:
    """A picklable function that gives an evaluated thunk."""

    def __init__(self, value):
        self.value = value

    def __call__(self):
        done = Thunk(None)
        object.__setattr__(done, "_value", self.value)
        return done


class InplaceableThunk(Thunk):
    """A thunk that can also add itself into an array: `add_into(acc)` writes `acc += value` and returns
    `acc`.

    >>> import numpy as np
    >>> t = InplaceableThunk(lambda acc: np.add(acc, 1.0, out=acc), lambda: np.ones(2))
    >>> t.add_into(np.zeros(2))
    array([1., 1.])
    """

    __slots__ = ("add_into",)

    def __init__(self, add_into, value):
        super().__init__(value)
        object.__setattr__(self, "add_into", add_into)


def thunk(f):
    """A cotangent that `f()` computes when it is needed, at most once: what a dear and often unused one is.

    >>> unthunk(thunk(lambda: 2.0 + 1.0))
    3.0
    """
    return Thunk(f)


def unthunk(x):
    """The value of a thunk; anything else as it is.

    >>> unthunk(thunk(lambda: 3.0)), unthunk(4.0)
    (3.0, 4.0)
    """
    while isinstance(x, Thunk):
        x = x.unthunk()
    return x
