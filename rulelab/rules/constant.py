"""The rules, in both modes, of a function without a derivative."""

from __future__ import annotations

from ..own_code import stands_in
from ..tangents.zeros import NoTangent

stands_in(__file__)


def constant_rrule(f, name):
    """Return an rrule that gives the value, and NoTangent for the function and each argument."""

    def rrule(*xs, **kwargs):
        def constant_pullback(y_bar):
            return (NoTangent(),) * (1 + len(xs))

        return f(*xs, **kwargs), constant_pullback

    rrule.__name__ = rrule.__qualname__ = f"{name.rsplit('.', 1)[-1]}_rrule"
    return rrule


def constant_frule(f, name):
    """Return an frule that gives the value and NoTangent."""

    def frule(tangents, *xs, **kwargs):
        return f(*xs, **kwargs), NoTangent()

    frule.__name__ = frule.__qualname__ = f"{name.rsplit('.', 1)[-1]}_frule"
    return frule
