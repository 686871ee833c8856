"""The Jacobians that a check has measured, which it reuses at the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .oracles import Measured


class Jacobians:
    """The Jacobians that one check has measured. It comes back to the same numbers in another memory layout,
    at zero if that is also a number in the code, and when it verifies corrections.
    """

    def __init__(self) -> None:
        self._known: dict[tuple, tuple[Any, Measured]] = {}

    def at(self, primal: Any, where: tuple, measure: Callable[[], Measured]) -> Measured:
        """The Jacobian of a function at a point, measured if it is not known yet. The caller must not write
        to it.
        """
        of, measured = self._known.get(where, (None, None))
        if measured is None or of is not primal:
            measured = measure()
            self._known[where] = primal, measured
        return measured


def same_numbers_as(x: Any, is_moved: bool = False) -> tuple:
    """A key that two numbers, texts or arrays of numbers have in common if no function can tell them apart.
    Without the memory layout if the floats are moved (`is_moved`), since they are put into new arrays.

    >>> same_numbers_as(0.0) == same_numbers_as(-0.0), same_numbers_as(1.0) == same_numbers_as(np.float64(1))
    (False, False)
    >>> gaps, all_of = np.eye(3)[::2], np.eye(3)[[0, 2]]
    >>> same_numbers_as(gaps) == same_numbers_as(all_of)
    False
    >>> same_numbers_as(gaps, True) == same_numbers_as(all_of, True)
    True
    """
    if type(x) is np.ndarray:
        strides = () if is_moved and x.dtype.kind in "fc" else x.strides
        return x.dtype.str, x.shape, strides, x.tobytes()
    return type(x), repr(x)
