"""Placeholders for cotangents that the author of a rule has not derived."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import NotImplementedTangentError, Place
from .zeros import AbstractZero, is_protocol

_OF_A_RULE_THAT_LACKS_IT = (
    "derive it in the rule named above",
    "return rl.NoTangent() there if it does not exist",
)


class NotImplementedTangent:
    """Placeholder for a missing cotangent: it survives sums, and raises an error as soon as its value is
    needed.

    Unlike NoTangent, which says that there is no derivative, and ZeroTangent, which says that it is zero.
    """

    __slots__ = ("fixes", "place", "reason")
    __takes_thunks__ = True  # a thunk beside it stays unevaluated

    def __init__(self, reason, place=None, fixes=_OF_A_RULE_THAT_LACKS_IT):
        self.reason = reason
        self.place = place
        self.fixes = fixes

    def __repr__(self):
        where = f" @ {self.place.label()}" if self.place is not None else ""
        return f"NotImplementedTangent({self.reason!r}{where})"

    def error(self):
        """The exception to raise when the value is needed."""
        return NotImplementedTangentError(
            f"tangent not implemented: {self.reason}" if self.reason else "tangent not implemented",
            place=self.place,
            fixes=self.fixes,
        )

    def __add__(self, other):
        return self

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, AbstractZero):
            return other
        raise self.error()

    __rmul__ = __mul__

    def _needed(self, *_, **__):
        raise self.error()

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = _needed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __lt__ = __le__ = __gt__ = __ge__ = _needed
    __neg__ = __pos__ = __abs__ = __float__ = __complex__ = __int__ = __bool__ = __index__ = __round__ = (
        _needed
    )
    __getitem__ = __setitem__ = __iter__ = __contains__ = __len__ = __array__ = _needed

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        a, b = inputs if len(inputs) == 2 else (self, None)
        if method != "__call__" or out is not None or ufunc not in (np.add, np.multiply):
            raise self.error()
        other = b if a is self else a
        return self + other if ufunc is np.add else self * other

    def __getattr__(self, name):
        if is_protocol(name):
            raise AttributeError(name)
        raise self.error()


class MissingSlope(NotImplementedTangent):
    """Placeholder where a built-in rule has no derivative with respect to an argument. Linear functions of it
    are missing as well, without an error: the cotangent of a constant captured by a function may be computed
    along the way, from the operations between it and the argument, although nothing needs it.

    >>> missing = MissingSlope("the order")
    >>> -2.0 * missing[0] is missing, missing * np.ones(2) is missing
    (True, True)
    """

    __slots__ = ()

    def __mul__(self, other):
        return other if isinstance(other, AbstractZero) else self

    __rmul__ = __mul__

    def _linear(self, *_, **__):
        return self

    __sub__ = __rsub__ = __truediv__ = __neg__ = __pos__ = __getitem__ = sum = reshape = _linear
    real = property(_linear)


def not_implemented(reason: Any = "") -> NotImplementedTangent:
    """The cotangent of an argument whose derivative has not been derived yet; `reason` may contain a link.

    >>> x_bar = not_implemented("derivative with respect to the order of a Bessel function")
    >>> (x_bar + 1.0) is x_bar
    True
    """
    return NotImplementedTangent(reason, Place.of_frame(sys._getframe(1)))
