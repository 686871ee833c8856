"""Vectors that are defined up to phases only: what is made of them has a derivative where no phase matters.

Backwards that shows in the cotangents, which are then orthogonal to the turns of the phases. Forwards it
shows when a run is made again with vectors that turn on their way: its derivative stays as it was.
"""

import threading

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import is_zero, refuse

TABLE = RuleTable("linalg_phases", rounds=True)

ADVICE = (
    "use what does not depend on them: np.abs(v), np.outer(v, v.conj())",
    "divide each vector by the phase of one of its numbers",
)


def have_phases(a, vectors):
    """Whether vectors have complex phases; those of a real matrix may all be real, and NumPy gives them as
    real numbers up to 2.4, as complex ones from 2.5 on.
    """
    return bool(np.iscomplexobj(a) or np.any(np.imag(vectors)))


def check_phases(vectors, bars, what):
    """Refuse cotangents of sets of vectors in columns by which their phases, turned together, would matter.

    Those of what does not change when the vectors turn are orthogonal to the turns, up to rounding.
    """
    turns, size = 0.0, 0.0
    for v, v_bar in zip(vectors, bars, strict=True):
        if not is_zero(v_bar):
            turns = turns + np.imag(np.sum(np.conj(v) * v_bar, axis=-2))
            size = size + np.sum(np.abs(v_bar) ** 2, axis=(-2, -1))[..., None]
    if np.any(np.abs(turns) > np.sqrt(np.finfo(vectors[0].dtype).eps * size)):
        refuse_phases(what)


def refuse_phases(what):
    refuse(f"the result depends on the phases of the vectors of {what}, which LAPACK chooses", *ADVICE)


# -- forwards ------------------------------------------------------------------------------------------------


class FixedPhases:
    """A forward run in which the phases stand still; `met` tells whether there are any, and of what."""

    def __init__(self):
        self.met = None
        self.eps = 0.0

    def motion(self, vectors, what):
        self.met = what
        self.eps = max(self.eps, float(np.finfo(vectors[0].dtype).eps))


class RotatedPhases:
    """A forward run in which each vector turns at some speed besides, the same in each such run."""

    def __init__(self):
        self._random = np.random.default_rng(20)

    def motion(self, vectors, what):
        shape = (*vectors[0].shape[:-2], 1, vectors[0].shape[-1])
        speeds = self._random.uniform(1.0, 2.0, shape) * self._random.choice([-1.0, 1.0], shape)
        return speeds.astype(vectors[0].real.dtype), (0.0,) * len(vectors)


class PerturbedVectors:
    """A forward run in which the vectors move in any direction besides: how much they matter at all."""

    def __init__(self):
        self._random = np.random.default_rng(21)

    def motion(self, vectors, what):
        return 0.0, tuple([self._any_way(v) for v in vectors])

    def _any_way(self, v):
        real, imag = self._random.standard_normal((2, *v.shape)) * np.max(np.abs(v), initial=0.0)
        return (real + 1j * imag).astype(v.dtype)


class _OfThread(threading.local):
    run = None


_NOW = _OfThread()


class forward_run:
    """While this lasts, `run` says how vectors move besides."""

    # No generator, for the same reason as `tangents.tracked.tracked` is none.
    __slots__ = ("outer", "run")

    def __init__(self, run):
        self.run = run

    def __enter__(self):
        self.outer, _NOW.run = _NOW.run, self.run
        return self.run

    def __exit__(self, *_):
        _NOW.run = self.outer


def motion_of(dots, vectors, what):
    """How vectors move besides: a speed of turning for each, and a tangent; None where they do not."""
    return None if _NOW.run is None else _NOW.run.motion(vectors, what)


@TABLE.rrule(motion_of, leading=2)
def motion_of_rrule(dots, vectors, what):
    """In a reverse sweep they do not, whatever it is a part of: its cotangents show where phases matter."""
    return None, lambda _: (NoTangent(), NoTangent(), NoTangent())


@TABLE.frule(motion_of)
def motion_of_frule(tangents, dots, vectors, what):
    return motion_of(dots, vectors, what), NoTangent()


def _check_run(what):
    if _NOW.run is None:
        refuse(
            f"the result may depend on the phases of the vectors of {what}, which LAPACK chooses: "
            "forward mode cannot check that for a complex matrix",
            "use reverse mode",
            "use the values only",
        )


TABLE.non_differentiable(have_phases, _check_run)


def _moved(dots, vectors, motion):
    if motion is None:
        return dots
    turns, others = motion
    return tuple([dot + 1j * turns * v + other for dot, v, other in zip(dots, vectors, others, strict=True)])


def of_any_phase(dots, vectors, what):
    """The tangents of sets of vectors in columns, with their phases held, for what does not depend on these.

    Whether that is so the run of forward mode finds out that this is a part of; without one it is refused.
    """
    _check_run(what)
    return _moved(dots, vectors, motion_of(dots, vectors, what))


@TABLE.rrule(of_any_phase, leading=2)
def of_any_phase_rrule(dots, vectors, what):
    """A cotangent passes by which no phase matters."""

    def of_any_phase_pullback(bars):
        check_phases(vectors, tuple(map(unthunk, bars)), what)
        return NoTangent(), bars, ZeroTangent()

    return dots, of_any_phase_pullback


@TABLE.frule(of_any_phase)
def of_any_phase_frule(tangents, dots, vectors, what):
    motion = motion_of(dots, vectors, what)
    moved = _moved(dots, vectors, motion)
    dots_dot = of_any_phase(tangents[1], vectors, what)
    if motion is None or is_zero(tangents[2]):
        return moved, dots_dot
    turns = 1j * motion[0]
    return moved, tuple([dot + turns * v_dot for dot, v_dot in zip(dots_dot, tangents[2], strict=True)])
