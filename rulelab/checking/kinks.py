"""At a kink, where there is no derivative: a rule must stay among the slopes that there are close by."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .closeness import Closeness
from .findings import Finding
from .perturb import silenced
from .probes import Probe, vector_function
from .subjects import Subject

MOST = 8
"""Numbers up to which kinks are looked at: the cells that meet there grow quickly in number."""
SAMPLES = 24
"""Points close by, for each number."""
RADIUS, WIDER, STEP = 2.0**-13, 2.0**-9, 2.0**-22
GROWTH = 4.0
"""How much larger slopes may be within RADIUS than within WIDER, for a function that is steep nowhere."""
UNSEEN = 0.2
"""The part of the range of slopes by which the samples may have missed its ends."""
_SLACK = 1e-3
_ROUNDING = 64 * float(np.finfo(float).eps)
"""Of the numbers that are added along a direction, what their sum may have lost: where a matrix is singular
they are as large as 1e16, and cancel."""


def kink_findings(
    subject: Subject, probe: Probe, compared: Closeness, rng: np.random.Generator
) -> Iterator[Finding]:
    """What is wrong at a point where some derivative could not be measured, because the function has a kink.

    A cotangent from the generalised gradient is a mean of gradients close by (F. H. Clarke, "Optimization and
    Nonsmooth Analysis", 1983, theorem 2.5.1): along any direction v it gives a number between the least and
    the largest of their slopes. Along v = (1, …, 1) a maximum of equal numbers has the slope 1 everywhere,
    and a rule that counts each of them is found out, which gives each a slope that it has on one side.
    """
    if subject.reverse is None or not compared.whole or compared.known.all() or not compared.columns:
        return
    if not probe.truth.close_by:
        probe.truth.close_by.append(_close_by(subject, probe, rng))
    directions, near = probe.truth.close_by[0]
    if near is None or near.shape[2] != len(probe.matrix):
        return
    seen: Finding | None = None
    for direction, slopes in zip(directions, near):
        low, high = slopes.min(0), slopes.max(0)
        with np.errstate(invalid="ignore", over="ignore"):
            found = probe.matrix @ direction
            lost = _ROUNDING * (np.abs(probe.matrix) @ np.abs(direction))
        slack = _SLACK * (1e-3 + np.abs(low) + np.abs(high)) + UNSEEN * (high - low)
        slack += np.where(np.isfinite(lost), lost, 0.0)
        outside = np.where(np.isfinite(found), np.maximum(low - found, found - high), -np.inf) - slack
        if np.any(outside > 0):
            k = int(np.argmax(outside))
            one = high[k] - low[k] < slack[k]
            between = f"{low[k]:.6g}" if one else f"from {low[k]:.6g} to {high[k]:.6g}"
            words = (
                f"at a kink the rule gives {found[k]:.6g} along the direction {_shown(direction)}, "
                f"where the slopes close by are {between}"
            )
            if np.count_nonzero(direction) == 1:  # of one number alone it is none of the choices
                yield Finding("kink", words, probe=probe)
                return
            seen = seen or Finding("kink", words, probe=probe, of_several=True)
    yield from [seen] if seen is not None else []


@silenced()
def _close_by(
    subject: Subject, probe: Probe, rng: np.random.Generator
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Directions, and the slopes of a function along them close to a point, as `_slopes` has them; None where
    it has too many inputs, no value, or slopes that grow towards the point: a pole or a root, and no kink.
    """
    x, f = vector_function(subject, probe.point)
    if not 0 < x.size <= MOST:
        return [], None
    size = max(1.0, float(np.abs(x).max()))
    away = size * rng.uniform(-1.0, 1.0, (SAMPLES * x.size, x.size))
    directions = list(_directions(x.size))
    near, wider = (_slopes(f, x + radius * away, STEP * size, directions) for radius in (RADIUS, WIDER))
    if near is None or wider is None:
        return directions, None
    grow = any(np.any(size(near) > GROWTH * size(wider) + 1e-9) for size in (_largest, _usual))
    return directions, None if grow else near


def _largest(slopes: np.ndarray) -> np.ndarray:
    return np.abs(slopes).max((0, 1))


def _usual(slopes: np.ndarray) -> np.ndarray:
    """The size of most slopes: that of the largest is up to chance where a surface of poles is close by."""
    return np.median(np.abs(slopes), (0, 1))


def _directions(size: int) -> Iterator[np.ndarray]:
    yield np.ones(size)
    if size > 1:
        yield from np.eye(size)
        yield np.array([(-1.0) ** i for i in range(size)])


def _slopes(f: Callable, points: np.ndarray, step: float, directions: list[np.ndarray]) -> np.ndarray | None:
    """The slopes of f, (directions, points, outputs); None where f has no value."""
    try:
        with np.errstate(all="ignore"):
            found = [[(f(y + step * d) - f(y - step * d)) / (2 * step) for y in points] for d in directions]
            slopes = np.array(found)
    except Exception:
        return None
    return slopes if slopes.ndim == 3 and np.all(np.isfinite(slopes)) else None


def _shown(direction: np.ndarray) -> str:
    return "[" + ", ".join(f"{d:g}" for d in direction) + "]"
