"""At a kink, where there is no derivative: a rule must stay between the one-sided ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from .closeness import Closeness
from .findings import Finding
from .probes import Probe, vector_function
from .subjects import Subject

STEPS = 2.0 ** -np.arange(10.0, 18.0, 2.0)
_LOOSE = 1e-3


def kink_findings(subject: Subject, probe: Probe, compared: Closeness) -> Iterator[Finding]:
    """What is wrong at a point where some derivative could not be measured, because the function has a kink.

    Along a direction v the slopes to both sides exist, and a cotangent from the generalised gradient (F. H.
    Clarke, "Optimization and Nonsmooth Analysis", 1983, section 2.1) gives a number between the two. Along v
    = (1, …, 1) a maximum of equal numbers is smooth, and a rule that counts each of them is found out.
    """
    if subject.reverse is None or not compared.whole or compared.known.all() or not compared.columns:
        return
    x, f = vector_function(subject, probe.point)
    for direction in _directions(x.size):
        right, backwards = _one_sided(f, x, direction), _one_sided(f, x, -direction)
        if right is None or backwards is None:
            continue
        left = -backwards
        low, high = np.minimum(left, right), np.maximum(left, right)
        found = probe.matrix @ direction
        slack = _LOOSE * (1e-3 + np.abs(low) + np.abs(high))
        outside = np.where(np.isnan(found), -np.inf, np.maximum(low - found, found - high)) - slack
        if np.any(outside > 0):
            k = int(np.argmax(outside))
            yield Finding(
                "kink",
                f"at a kink the rule gives {found[k]:.6g} along the direction {_shown(direction)}, "
                f"the one-sided slopes are {left[k]:.6g} and {right[k]:.6g}",
                probe=probe,
            )
            return


def _directions(size: int) -> Iterator[np.ndarray]:
    yield np.ones(size)
    yield from np.eye(size)[:16]
    yield np.array([(-1.0) ** i for i in range(size)])


def _one_sided(f: Callable, x: np.ndarray, direction: np.ndarray) -> np.ndarray | None:
    """The slope of f from x to one side; None where the differences do not settle."""
    try:
        with np.errstate(all="ignore"):
            here, size = f(x), max(1.0, float(np.abs(x).max(initial=0.0)))
            slopes = [(f(x + h * size * direction) - here) / (h * size) for h in STEPS]
    except Exception:
        return None
    # Two first-order differences with steps 4h and h: the error of h falls out.
    better = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(slopes)]
    last, before = better[-1], better[-2]
    if not np.all(np.isfinite(last)) or np.any(np.abs(last - before) > 1e-5 * (1e-3 + np.abs(last))):
        return None
    return last


def _shown(direction: np.ndarray) -> str:
    return "[" + ", ".join(f"{d:g}" for d in direction[:6]) + (", …]" if direction.size > 6 else "]")
