"""At a kink, where there is no derivative, a rule must stay within the slopes at nearby points."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..calling.plain_calls import silencing_warnings
from ..calling.subjects import Subject
from ..measuring.vectors import to_vec
from .closeness import Closeness
from .findings import Finding
from .probes import Point, Probe, vector_function

MOST = 8
"""Up to how many numbers kinks are examined: the number of cells that meet there grows quickly."""
SAMPLES = 24
"""How many points nearby are sampled for each number."""
RADIUS, WIDER, STEP = 2.0**-13, 2.0**-9, 2.0**-22
GROWTH = 4.0
"""By which factor slopes may be larger within RADIUS than within WIDER if the function is not steep."""
UNSEEN = 0.2
"""By what fraction of their range the sampled slopes may miss its ends."""
FARTHER = 4.0
"""By which factor the change of a value may exceed that by the largest sampled slope, as the samples miss
some.
"""
FINER = 4.0
"""By which factor the step is smaller when slopes are measured again for confirmation."""
OVER = 4.0
"""By which factor slopes may change more on the way to the point than their change from further away
suggests.
"""
UNSETTLED = 0.25
"""By what fraction of themselves most slopes may differ with the finer step: between kinks they are equal."""
BENT, UNBENT = 2.0**-10, 0.05
"""The step of second differences, and by what fraction of themselves they may differ from those of a
quadratic.
"""
OF_VALUE = 4.0
"""By how many roundings of a value its differences may be off."""
_SLACK = 1e-3
_ROUNDING = 64 * float(np.finfo(float).eps)
"""What a sum of slopes along a direction may lose, as a fraction of its terms: at a singular matrix these are
as large as 1e16, and cancel.
"""


def kink_findings(
    subject: Subject, probe: Probe, compared: Closeness, rng: np.random.Generator
) -> Iterator[Finding]:
    """What is wrong at a point where some derivative could not be measured because the function has a kink.

    A cotangent from the generalised gradient is a convex combination of nearby gradients (F. H. Clarke,
    "Optimization and Nonsmooth Analysis", 1983, theorem 2.5.1): along any direction v it gives a number
    between the smallest and the largest of their slopes. Along v = (1, …, 1) a maximum of equal numbers has
    the slope 1 everywhere, which exposes a rule that gives each of the numbers its one-sided slope.
    """
    if subject.reverse is None or not compared.whole or compared.known.all() or not compared.columns:
        return
    if not probe.truth.close_by:
        probe.truth.close_by.append(_CloseBy(subject, probe, rng))
    near: _CloseBy = probe.truth.close_by[0]
    found: list[Finding] = []
    for slopes in near.more_and_more():
        found = list(_outside(probe, near, slopes))
        if not found:
            return
    if found and not near.is_steep() and near.is_settled() and not near.jumps(probe.truth.y):
        found = list(_outside(probe, near, near.slopes(), near.remaining_steps()))
        of_one = (finding for finding in found if not finding.of_several)  # these leave no choice
        yield from itertools.islice(itertools.chain(of_one, found), 1)


def _outside(
    probe: Probe, near: _CloseBy, measured: np.ndarray, left: np.ndarray | float = 0.0
) -> Iterator[Finding]:
    """Findings for the directions along which the rule's numbers lie outside the measured slopes. `left` is
    how much these may still change on the way to the point itself.
    """
    if measured.shape[2] != len(probe.matrix):
        return
    unseen = near.unseen(probe.truth.y, measured)
    still = np.broadcast_to(left, (len(measured), measured.shape[2]))
    for direction, slopes, more in zip(near.directions, measured, still):
        low, high = slopes.min(0), slopes.max(0)
        with np.errstate(invalid="ignore", over="ignore"):
            found = probe.matrix @ direction
            lost = _ROUNDING * (np.abs(probe.matrix) @ np.abs(direction))
        slack = _SLACK * (1e-3 + np.abs(low) + np.abs(high)) + UNSEEN * (high - low)
        slack += np.where(np.isfinite(lost), lost, 0.0) + unseen + more
        outside = np.where(np.isfinite(found), np.maximum(low - found, found - high), -np.inf) - slack
        if np.any(outside > 0):
            k = int(np.argmax(outside))
            one = high[k] - low[k] < slack[k]
            between = f"{low[k]:.6g}" if one else f"from {low[k]:.6g} to {high[k]:.6g}"
            words = (
                f"at a kink the rule gives {found[k]:.6g} along the direction {_shown(direction)}, "
                f"where the slopes nearby are {between}"
            )
            yield Finding("kink", words, probe=probe, of_several=int(np.count_nonzero(direction)) > 1)


@silencing_warnings()
def is_twice_differentiable(subject: Subject, point: Point, rng: np.random.Generator) -> bool:
    """Whether the second differences of a function at a point are those of a quadratic, by the parallelogram
    law (P. Jordan, J. von Neumann, "On inner products in linear, metric spaces", 1935). The area of a
    triangle whose corners coincide has a first derivative, zero, but no second one.
    """
    x, f = vector_function(subject, point)
    step = BENT * max(1.0, float(np.abs(x).max(initial=0.0)))
    try:
        with np.errstate(all="ignore"):
            return _bends_as_a_quadratic(f, x, step * rng.standard_normal((SAMPLES // 4, 2, x.size)))
    except Exception:
        return True


def _bends_as_a_quadratic(f: Callable, x: np.ndarray, pairs: np.ndarray) -> bool:
    """Whether the second differences along two directions, their sum and their difference obey the
    parallelogram law.
    """
    at = np.asarray(f(x))
    for v, w in pairs:
        bends = [f(x + d) + f(x - d) - 2 * at for d in (v + w, v - w, v, w)]
        off = np.abs(bends[0] + bends[1] - 2 * bends[2] - 2 * bends[3])
        lost = _SLACK * float(np.max(np.abs(v), initial=0.0)) ** 2 * (1.0 + np.abs(at))
        if np.any(off > UNBENT * np.sum(np.abs(bends), 0) + lost):
            return False
    return True


class _CloseBy:
    """The slopes of a function close to a point along some directions, measured only as far as needed: a
    number that lies between some of them lies between all of them.
    """

    def __init__(self, subject: Subject, probe: Probe, rng: np.random.Generator) -> None:
        self.x, self.f = vector_function(subject, probe.point)
        self.is_small = 0 < self.x.size <= MOST
        if self.is_small:
            self.size = max(1.0, float(np.abs(self.x).max()))
            self.away = self.size * rng.uniform(-1.0, 1.0, (SAMPLES * self.x.size, self.x.size))
            self.directions = list(_directions(self.x.size))
        self.parts: list[np.ndarray | None] = []
        self.wider: np.ndarray | None = None
        self.steep: bool | None = None
        self.settled: bool | None = None

    def more_and_more(self) -> Iterator[np.ndarray]:
        """The slopes at a third of the points, at two thirds, and at all, each (directions, points, outputs).
        Nothing if there are too many inputs; stops where the function has no value.
        """
        thirds = np.array_split(self.away, 3) if self.is_small else []
        for number, third in enumerate(thirds):
            if number == len(self.parts):
                self.parts.append(self._slopes(RADIUS * third))
            there = [part for part in self.parts[: number + 1] if part is not None]
            if len(there) <= number:
                return
            yield np.concatenate(there, axis=1)

    def is_steep(self) -> bool:
        """Whether slopes grow towards the point, which indicates a pole or a root instead of a kink, or are
        not all known.
        """
        if self.steep is None:
            is_known = all(part is not None for part in self.parts)
            self.wider = self._slopes(WIDER * self.away) if is_known else None
            self.steep = self.wider is None or _grow(self.slopes(), self.wider)
        return self.steep

    def slopes(self) -> np.ndarray:
        """All slopes that were measured nearby."""
        return np.concatenate([part for part in self.parts if part is not None], axis=1)

    def remaining_steps(self) -> np.ndarray | float:
        """How far the smallest and the largest slope along each direction may still move on the way to the
        point itself, judged by how far they moved from further away. With respect to `c`, the slope of
        `c * (x.max() - x.min())` where all x are equal is as small as the spread of the samples, and zero at
        the point.
        """
        if self.wider is None:
            return 0.0
        near, wider = self.slopes(), self.wider
        moved = np.maximum(np.abs(near.min(1) - wider.min(1)), np.abs(near.max(1) - wider.max(1)))
        return OVER * moved * RADIUS / (WIDER - RADIUS)

    def is_settled(self) -> bool:
        """Whether a smaller step gives most of the slopes again. If not, the function turns within a step,
        such as one that is iterated until it is chaotic, and the numbers measured are not slopes.
        """
        if self.settled is None:  # it depends on the function only, and is needed for each changed rule
            finer = self._slopes(RADIUS * self.away, STEP / FINER)
            self.settled = finer is not None and _agree(self.slopes(), finer)
        return self.settled

    @silencing_warnings()
    def jumps(self, y: Any) -> bool:
        """Whether values nearby differ more from that at the point than the slopes explain: Clarke's theorem
        says nothing about functions that are not continuous.
        """
        at = to_vec(y)[0]
        largest = _largest(self.slopes())
        led = FARTHER * self.x.size * RADIUS * self.size * largest + _ROUNDING * (1.0 + np.abs(at))
        with np.errstate(all="ignore"):
            return any(np.any(np.abs(self.f(self.x + RADIUS * d) - at) > led) for d in self.away)

    def unseen(self, y: Any, slopes: np.ndarray) -> np.ndarray:
        """The largest slope of each number of the value that is lost in its rounding nearby, such as that of
        y in `1e13 * x + 1e-4 * y`.
        """
        value = np.abs(to_vec(y)[0]) + RADIUS * self.size * _largest(slopes)
        return OF_VALUE * np.finfo(float).eps * value / (STEP * self.size)

    @silencing_warnings()
    def _slopes(self, away: np.ndarray, part: float = STEP) -> np.ndarray | None:
        """The slopes at some points away from the given one, (directions, points, outputs); None if `f` has
        no value at one of them. The slope along a direction is the sum of those along its numbers.
        """
        step = part * self.size
        units = step * np.eye(self.x.size)
        try:
            with np.errstate(all="ignore"):
                found = [[self.f(y + d) - self.f(y - d) for d in units] for y in self.x + away]
                slopes = np.einsum("di,pio->dpo", np.array(self.directions), np.array(found)) / (2 * step)
        except Exception:
            return None
        return slopes if np.all(np.isfinite(slopes)) else None


def _grow(near: np.ndarray, wider: np.ndarray) -> bool:
    return any(np.any(size(near) > GROWTH * size(wider) + 1e-9) for size in (_largest, _usual))


def _agree(slopes: np.ndarray, finer: np.ndarray) -> bool:
    differs = np.median(np.abs(slopes - finer), 1)
    scale = np.median(np.abs(slopes), 1) * UNSETTLED + _SLACK * np.median(np.abs(slopes), (0, 1)) + 1e-6
    return bool(np.all(differs <= scale))


def _largest(slopes: np.ndarray) -> np.ndarray:
    return np.abs(slopes).max((0, 1))


def _usual(slopes: np.ndarray) -> np.ndarray:
    """The size of most slopes. The largest one is random if a surface of poles is nearby."""
    return np.median(np.abs(slopes), (0, 1))


def _directions(size: int) -> Iterator[np.ndarray]:
    yield np.ones(size)
    if size > 1:
        yield from np.eye(size)
        yield np.array([(-1.0) ** i for i in range(size)])


def _shown(direction: np.ndarray) -> str:
    return "[" + ", ".join(f"{d:g}" for d in direction) + "]"
