"""The entries of a gradient, from the cotangents of a reverse sweep."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from numpy import float64, ndarray

from ..compiler.analysis.effects import LOUD
from ..compiler.calls.borrowed import asks_for_copies
from ..compiler.calls.entries import NO
from ..errors import RuleLabError
from ..tangents.projection import to_natural
from ..tangents.zeros import ZeroTangent
from .operator_arguments import complete_error

ZERO = ZeroTangent()


def _references() -> tuple[int, int]:
    found = (object(),)
    (one,) = found
    together = getrefcount(found[0])
    del found
    return getrefcount(one), together


# The reference counts of an object held by one variable only, and of a tuple item that a variable holds as
# well. Depending on the Python version, the variable passed to `getrefcount` is counted or not; the tuple
# item always is.
ALONE, OURS = _references()


def natural_entries(args: tuple[Any, ...], found: Any, projected: bool) -> tuple[Any, ...]:
    """Return the entries of a gradient, from the cotangents in `found`, the first of which is that of the
    function. `projected` cotangents already have the shape and dtype of their arguments.
    """
    entries = []
    number = 0
    for x in args:
        number += 1
        x_bar = found[number]
        kind = type(x_bar)
        if kind is float and type(x) is float:  # first, since gradients may have many numbers
            entries.append(x_bar)
        elif (
            kind is ndarray
            and x_bar.base is None
            and getrefcount(found[number]) == OURS
            and x_bar.flags.writeable
            and (projected or (type(x) is ndarray and x_bar.dtype is x.dtype and x_bar.shape == x.shape))
        ):
            entries.append(x_bar)
        elif (kind is float or kind is float64) and (type(x) is float or type(x) is float64):
            entries.append(x_bar if kind is type(x) else type(x)(x_bar))
        elif (kind is float or kind is float64) and type(x) is int:
            entries.append(float(x_bar))
        elif x_bar is ZERO and (type(x) is float or type(x) is int):
            entries.append(0.0)
        elif x_bar is NO:
            entries.append(None)
        else:
            entries.append(to_natural(x, x_bar))
    return tuple(entries)


def should_restart(error: RuleLabError, f: Any, args: tuple[Any, ...], happened: int) -> bool:
    """Whether the sweep is to be restarted with copies. If not, complete the error, which the caller then
    raises.
    """
    if asks_for_copies(error) and LOUD[0] == happened:
        return True
    complete_error(error, f, args)
    return False
