"""A cotangent that the author of a rule has not derived, and says so."""

from __future__ import annotations

import sys

from ..errors import NotImplementedTangentError, Place
from .zeros import AbstractZero


class NotImplementedTangent:
    """Stands where a cotangent is missing: it survives sums, and raises as soon as somebody needs its value.

    Different from NoTangent, which says that there is none, and from ZeroTangent, which says that it is zero.
    """

    __slots__ = ("place", "reason")
    __array_ufunc__ = None

    def __init__(self, reason, place=None):
        self.reason = reason
        self.place = place

    def __repr__(self):
        where = f" @ {self.place.label()}" if self.place is not None else ""
        return f"NotImplementedTangent({self.reason!r}{where})"

    def error(self):
        """The exception to raise when this value reaches somebody who needs it."""
        return NotImplementedTangentError(
            f"tangent not implemented: {self.reason}",
            place=self.place,
            fixes=("derive it in the rule named above", "return rl.NoTangent() there if it does not exist"),
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
    __neg__ = __pos__ = __abs__ = __float__ = __complex__ = __int__ = __bool__ = _needed
    __getitem__ = __iter__ = __len__ = __array__ = _needed


def not_implemented(reason=""):
    """The cotangent of an argument whose derivative nobody has worked out yet; `reason` may hold a link.

    >>> x_bar = not_implemented("derivative by the order of a Bessel function")
    >>> (x_bar + 1.0) is x_bar
    True
    """
    return NotImplementedTangent(reason, Place.of_frame(sys._getframe(1)))
