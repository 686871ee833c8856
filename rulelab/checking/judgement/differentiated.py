"""The functions that a check differentiates with the AD: plain programs around the author's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ad.reverse import gradient
from ...own_code import stands_in

stands_in(__file__)


def weighted(f: Callable, kwargs: dict[str, Any], weights: Any) -> Callable:
    """The weighted sum of all values of `f`, as a function of the same arguments."""

    def loss(*args):
        return np.sum(weights * f(*args, **kwargs))

    return loss


def slope_along(loss: Callable, directions: tuple) -> Callable:
    """The derivative of a loss along a direction, as a function of the same arguments.

    `directions` has one entry for each argument: of its structure, or None for an argument that is held
    fixed.
    """

    def slope(*args):
        slopes = gradient(loss, *args)
        total = 0.0
        for i in range(len(directions)):
            if directions[i] is not None and slopes[i] is not None:
                total = total + np.sum(directions[i] * slopes[i])
        return total

    return slope
