"""At a kink, where there is no derivative: a rule must stay among the slopes that there are close by."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .closeness import Closeness
from .findings import Finding
from .probes import Probe, vector_function
from .subjects import Subject

MOST = 8
"""Numbers up to which kinks are looked at: the cells that meet there grow quickly in number."""
SAMPLES = 24
"""Points close by, for each number."""
RADIUS, STEP = 2.0**-13, 2.0**-22
_SLACK = 1e-3


def kink_findings(
    subject: Subject, probe: Probe, compared: Closeness, rng: np.random.Generator
) -> Iterator[Finding]:
    """What is wrong at a point where some derivative could not be measured, because the function has a kink.

    A cotangent from the generalised gradient is a mean of gradients close by (F. H. Clarke, "Optimization and
    Nonsmooth Analysis", 1983, theorem 2.5.1): along any direction v it gives a number between the least and
    the largest of their slopes. Along v = (1, …, 1) a maximum of equal numbers has the slope 1 everywhere,
    and a rule that counts each of them is found out.
    """
    if subject.reverse is None or not compared.whole or compared.known.all() or not compared.columns:
        return
    x, f = vector_function(subject, probe.point)
    if not 0 < x.size <= MOST:
        return
    size = max(1.0, float(np.abs(x).max()))
    close_by = x + RADIUS * size * rng.uniform(-1.0, 1.0, (SAMPLES * x.size, x.size))
    for direction in _directions(x.size):
        slopes = _slopes(f, close_by, STEP * size * direction, STEP * size)
        if slopes is None:
            return
        low, high = slopes.min(0), slopes.max(0)
        found = probe.matrix @ direction
        slack = _SLACK * (1e-3 + np.abs(low) + np.abs(high))
        outside = np.where(np.isnan(found), -np.inf, np.maximum(low - found, found - high)) - slack
        if np.any(outside > 0):
            k = int(np.argmax(outside))
            between = (
                f"{low[k]:.6g}" if high[k] - low[k] < slack[k] else f"from {low[k]:.6g} to {high[k]:.6g}"
            )
            yield Finding(
                "kink",
                f"at a kink the rule gives {found[k]:.6g} along the direction {_shown(direction)}, "
                f"where the slopes close by are {between}",
                probe=probe,
            )
            return


def _directions(size: int) -> Iterator[np.ndarray]:
    yield np.ones(size)
    if size > 1:
        yield from np.eye(size)
        yield np.array([(-1.0) ** i for i in range(size)])


def _slopes(f: Callable, points: np.ndarray, step: np.ndarray, length: float) -> np.ndarray | None:
    """The slopes of f at some points along a step, one row each; None where f has no value."""
    try:
        with np.errstate(all="ignore"):
            slopes = np.array([(f(y + step) - f(y - step)) / (2 * length) for y in points])
    except Exception:
        return None
    return slopes if slopes.ndim == 2 and np.all(np.isfinite(slopes)) else None


def _shown(direction: np.ndarray) -> str:
    return "[" + ", ".join(f"{d:g}" for d in direction) + "]"
