"""At a kink, where there is no derivative: a rule must stay among the slopes that there are close by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..calling.plain_calls import silenced
from ..calling.subjects import Subject
from ..measuring.vectors import to_vec
from .closeness import Closeness
from .findings import Finding
from .probes import Point, Probe, vector_function

MOST = 8
"""Numbers up to which kinks are looked at: the cells that meet there grow quickly in number."""
SAMPLES = 24
"""Points close by, for each number."""
RADIUS, WIDER, STEP = 2.0**-13, 2.0**-9, 2.0**-22
GROWTH = 4.0
"""How much larger slopes may be within RADIUS than within WIDER, for a function that is steep nowhere."""
UNSEEN = 0.2
"""The part of the range of slopes by which the samples may have missed its ends."""
FARTHER = 4.0
"""How much further than by the largest slope a value may be, of which the samples have missed some."""
FINER = 4.0
"""By how much the step is smaller with which slopes are measured again before they count."""
OVER = 4.0
"""How many times further slopes may have to go than they are led by those from further away."""
UNSETTLED = 0.25
"""The part of themselves by which most slopes may differ then: between kinks they are the same."""
BENT, UNBENT = 2.0**-10, 0.05
"""How far second differences reach, and the part of themselves by which they may be none of a quadratic."""
OF_VALUE = 4.0
"""How many roundings of a value its differences may be off by."""
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
        probe.truth.close_by.append(_CloseBy(subject, probe, rng))
    near: _CloseBy = probe.truth.close_by[0]
    found: list[Finding] = []
    for slopes in near.more_and_more():
        found = list(_outside(probe, near, slopes))
        if not found:
            return
    if found and not near.is_steep() and near.is_settled() and not near.jumps(probe.truth.y):
        found = list(_outside(probe, near, near.slopes(), near.left_to_go()))
        of_one = (finding for finding in found if not finding.of_several)  # it is none of the choices
        yield from itertools.islice(itertools.chain(of_one, found), 1)


def _outside(
    probe: Probe, near: _CloseBy, measured: np.ndarray, left: np.ndarray | float = 0.0
) -> Iterator[Finding]:
    """Where a rule gives numbers that do not lie among some measured slopes, direction by direction, by more
    than these have `left` to go to the point itself.
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


@silenced()
def is_twice_differentiable(subject: Subject, point: Point, rng: np.random.Generator) -> bool:
    """Whether the second differences of a function at a point are those of a quadratic: the area of a
    triangle whose corners are one point has a derivative there, zero, and none of second order. By the
    parallelogram law (P. Jordan, J. von Neumann, "On inner products in linear, metric spaces", 1935).
    """
    x, f = vector_function(subject, point)
    step = BENT * max(1.0, float(np.abs(x).max(initial=0.0)))
    try:
        with np.errstate(all="ignore"):
            return _bends_as_a_quadratic(f, x, step * rng.standard_normal((SAMPLES // 4, 2, x.size)))
    except Exception:
        return True


def _bends_as_a_quadratic(f: Callable, x: np.ndarray, pairs: np.ndarray) -> bool:
    """Whether the second differences along two directions, their sum and their difference go together."""
    at = np.asarray(f(x))
    for v, w in pairs:
        bends = [f(x + d) + f(x - d) - 2 * at for d in (v + w, v - w, v, w)]
        off = np.abs(bends[0] + bends[1] - 2 * bends[2] - 2 * bends[3])
        lost = _SLACK * float(np.max(np.abs(v), initial=0.0)) ** 2 * (1.0 + np.abs(at))
        if np.any(off > UNBENT * np.sum(np.abs(bends), 0) + lost):
            return False
    return True


class _CloseBy:
    """The slopes of a function close to a point along some directions, measured as far as they are asked for:
    a number that lies among a few of them lies among all.
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
        """The slopes of a third of the points, of two, and of all, (directions, points, outputs): none where
        there are too many inputs, and no more where the function has no value.
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
        """Whether slopes grow towards the point, which is a pole or a root then, and no kink, or are not all
        known.
        """
        if self.steep is None:
            is_known = all(part is not None for part in self.parts)
            self.wider = self._slopes(WIDER * self.away) if is_known else None
            self.steep = self.wider is None or _grow(self.slopes(), self.wider)
        return self.steep

    def slopes(self) -> np.ndarray:
        """All that were measured close by."""
        return np.concatenate([part for part in self.parts if part is not None], axis=1)

    def left_to_go(self) -> np.ndarray | float:
        """How far the least and the largest slope along each direction may still move to the point itself,
        by how far they did from further away: by `c` of `c * (x.max() - x.min())`, where all x are equal,
        they are as small as the numbers differ, and are zero there.
        """
        if self.wider is None:
            return 0.0
        near, wider = self.slopes(), self.wider
        moved = np.maximum(np.abs(near.min(1) - wider.min(1)), np.abs(near.max(1) - wider.max(1)))
        return OVER * moved * RADIUS / (WIDER - RADIUS)

    def is_settled(self) -> bool:
        """Whether most slopes are those of a smaller step too. Where they are not, the function turns within
        a step, as one does that is iterated until it is chaotic: what was measured are no slopes.
        """
        if self.settled is None:  # of the function alone, and asked for each change of a rule
            finer = self._slopes(RADIUS * self.away, STEP / FINER)
            self.settled = finer is not None and _agree(self.slopes(), finer)
        return self.settled

    @silenced()
    def jumps(self, y: Any) -> bool:
        """Whether values nearby are further from that at the point than the slopes there lead: of a function
        that is not continuous Clarke's theorem says nothing.
        """
        at = to_vec(y)[0]
        largest = _largest(self.slopes())
        led = FARTHER * self.x.size * RADIUS * self.size * largest + _ROUNDING * (1.0 + np.abs(at))
        with np.errstate(all="ignore"):
            return any(np.any(np.abs(self.f(self.x + RADIUS * d) - at) > led) for d in self.away)

    def unseen(self, y: Any, slopes: np.ndarray) -> np.ndarray:
        """The slope of each number of the value that goes under in its rounding close by: in
        `1e13 * x + 1e-4 * y` that of y does.
        """
        value = np.abs(to_vec(y)[0]) + RADIUS * self.size * _largest(slopes)
        return OF_VALUE * np.finfo(float).eps * value / (STEP * self.size)

    @silenced()
    def _slopes(self, away: np.ndarray, part: float = STEP) -> np.ndarray | None:
        """The slopes at some points away from the one that is looked at, (directions, points, outputs); None
        where f has no value. Along a direction it is the sum of those of its numbers.
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
    """The size of most slopes: that of the largest is up to chance where a surface of poles is close by."""
    return np.median(np.abs(slopes), (0, 1))


def _directions(size: int) -> Iterator[np.ndarray]:
    yield np.ones(size)
    if size > 1:
        yield from np.eye(size)
        yield np.array([(-1.0) ** i for i in range(size)])


def _shown(direction: np.ndarray) -> str:
    return "[" + ", ".join(f"{d:g}" for d in direction) + "]"
