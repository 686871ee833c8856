"""The deprecated multiplicative identity, which saves the multiplication."""

from __future__ import annotations

import numbers

import numpy as np

from .zeros import AbstractZero


class One:
    """The number one under its deprecated name: `One() * x` is `x` itself, not computed if it is a thunk.

    In a sum, a quotient and a NumPy function it acts as a Python 1, so that precisions are kept. It is a
    singleton. New code writes 1.0.

    >>> x = np.ones(2, np.float32)
    >>> One() * x is x, x * One() is x, One() + 1.5
    (True, True, 2.5)
    """

    __slots__ = ()
    __takes_thunks__ = True  # a thunk beside it stays unevaluated
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __reduce__(self):
        return One, ()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "One()"

    def __eq__(self, other):
        return isinstance(other, One) or 1 == other

    def __hash__(self):
        return hash(1)

    def __mul__(self, other):
        return NotImplemented if other is None or isinstance(other, (str, list, tuple)) else other

    __rmul__ = __mul__

    def __truediv__(self, other):
        return 1 / _number(other)

    def __rtruediv__(self, other):
        return other

    def __add__(self, other):
        return self if isinstance(other, AbstractZero) else 1 + _number(other)

    __radd__ = __add__

    def __sub__(self, other):
        return self if isinstance(other, AbstractZero) else 1 - _number(other)

    def __rsub__(self, other):
        return _number(other) - 1

    def __neg__(self):
        return -1

    def __pow__(self, other):
        return 1 ** _number(other)

    def __rpow__(self, other):
        return other

    def __pos__(self):
        return self

    __abs__ = conjugate = conj = __pos__

    @property
    def real(self):
        """The real part: itself."""
        return self

    @property
    def imag(self):
        """The imaginary part: 0."""
        return 0

    def __int__(self):
        return 1

    def __float__(self):
        return 1.0

    def __complex__(self):
        return 1 + 0j

    def __array__(self, dtype=None, copy=None):
        return np.array(1.0, dtype=dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if ufunc is np.multiply and method == "__call__" and out is None and not kwargs:
            return inputs[1] if inputs[0] is self else inputs[0]
        keywords = kwargs if out is None else {**kwargs, "out": out}
        return getattr(ufunc, method)(*map(_number, inputs), **keywords)


numbers.Real.register(One)


def _number(x):
    return 1 if isinstance(x, One) else x
