"""The names of the older texts, kept so that what they print can be typed: each warns and gives the new
one."""

from __future__ import annotations

import warnings

from .structural import Tangent
from .zeros import AbstractZero, NoTangent, ZeroTangent

OLD_NAMES = ("NO_FIELDS", "Zero", "One", "DoesNotExist", "Composite")


class _One:
    """The multiplicative identity of the older texts: `One() * x` is `x` itself."""

    __slots__ = ()
    __array_ufunc__ = None

    def __repr__(self):
        return "One()"

    def __mul__(self, other):
        return other

    __rmul__ = __mul__

    def __add__(self, other):
        return self if isinstance(other, AbstractZero) else 1 + (1 if isinstance(other, _One) else other)

    __radd__ = __add__

    def __sub__(self, other):
        return 1 + -1 * (1 if isinstance(other, _One) else other)

    def __rsub__(self, other):
        return other - 1

    def __neg__(self):
        return -1

    def __float__(self):
        return 1.0

    def __complex__(self):
        return 1 + 0j

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        return np.array(1.0, dtype=dtype)


_NEW = {
    "NO_FIELDS": ("NoTangent()", NoTangent()),
    "Zero": ("ZeroTangent", ZeroTangent),
    "One": ("1.0", _One),
    "DoesNotExist": ("NoTangent", NoTangent),
    "Composite": ("Tangent", Tangent),
}


def old_name(name):
    """What an old name stands for, with a DeprecationWarning; AttributeError for a name that never was
    one."""
    try:
        new, value = _NEW[name]
    except KeyError:
        raise AttributeError(f"no old name {name!r}") from None
    warnings.warn(f"{name} is the older name; use {new}", DeprecationWarning, stacklevel=3)
    return value


def __getattr__(name):
    return old_name(name)
