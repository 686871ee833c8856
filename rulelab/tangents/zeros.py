"""The two zero cotangents: one for values that cannot vary, one for values that have no influence."""

from __future__ import annotations

import sys
from opcode import opmap
from typing import Any

_UNPACK = opmap["UNPACK_SEQUENCE"]
_PROTOCOLS = ("__", "_repr_", "_ipython_")


def is_protocol(name):
    """Whether Python, or a front end that displays values, asks for an attribute of this name, rather than
    for a part of a value.

    >>> is_protocol("_repr_html_"), is_protocol("__array__"), is_protocol("_weight")
    (True, True, False)
    """
    return name.startswith(_PROTOCOLS)


def _wanted_by_unpacking(frame):
    """The number of values that `a, b = zero` in the caller asks for; None if it is not an unpacking."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at + 1] if code[at] == _UNPACK else None


class AbstractZero:
    """What NoTangent and ZeroTangent share: identity in `+`, absorbing in `*`, false, and singletons.

    Indexing, attribute access and unpacking return the object itself, so that a pullback can take apart the
    cotangent of a tuple whose items were not used.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy defers `array + zero` to this class instead of making an object array
    __takes_thunks__ = True  # a thunk beside it stays unevaluated
    _one = None

    def __new__(cls) -> Any:
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __init_subclass__(cls):
        if cls.__module__ != __name__:  # it would share its parent's singleton
            raise TypeError("NoTangent and ZeroTangent cannot be subclassed")

    def __reduce__(self):
        return type(self), ()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"{type(self).__name__}()"

    def __bool__(self):
        return False

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{self!r} has no shape of its own; rl.zero_tangent(x) gives the zeros that go with a primal x"
        )

    def __getitem__(self, key):
        return self

    def __getattr__(self, name):
        if is_protocol(name):
            raise AttributeError(name)
        return self

    def __iter__(self):
        count = _wanted_by_unpacking(sys._getframe(1))
        if count is None:
            raise TypeError(f"{self!r} has no length; unpack it into names or index it")
        return iter((self,) * count)

    def __add__(self, other):
        if type(other) is float:  # first, as the most frequent case
            return other
        if other is None or isinstance(other, (str, type)):
            return NotImplemented  # not a cotangent: must not be passed on silently
        return NoTangent() if isinstance(other, AbstractZero) and other is not self else other

    __radd__ = __add__

    def __sub__(self, other):
        return self + other if isinstance(other, AbstractZero) else -other

    __rsub__ = __radd__

    def __neg__(self):
        return self

    __pos__ = __abs__ = conjugate = conj = __neg__

    def __mul__(self, other):
        if type(other) is float:
            return self
        return NoTangent() if other is NoTangent._one else self

    __rmul__ = __matmul__ = __rmatmul__ = __mul__

    def __truediv__(self, other):
        return NotImplemented if isinstance(other, AbstractZero) else self


class NoTangent(AbstractZero):
    """The cotangent of a value that cannot be perturbed: a string, a bool, an index, a plain function.

    Unlike a number that happens to be zero, it says that there is no direction to move in. In a gradient it
    appears as None.

    >>> NoTangent() is NoTangent(), NoTangent() * 3.0, NoTangent() + 3.0
    (True, NoTangent(), 3.0)
    """

    __slots__ = ()


class ZeroTangent(AbstractZero):
    """The cotangent of a value that can be perturbed without effect: the additive identity, without a
    shape.

    >>> x_bar, y_bar = ZeroTangent()
    >>> x_bar + 2.0, y_bar * 2.0
    (2.0, ZeroTangent())
    """

    __slots__ = ()

    def __float__(self):
        return 0.0

    def __complex__(self):
        return 0j
