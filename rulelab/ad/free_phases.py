"""Forward mode through vectors that are defined only up to a phase, such as eigenvectors of complex matrices:
refused where the phase matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, RuleLabError
from ..rulesets.linalg_phases import (
    ADVICE,
    FixedPhases,
    PerturbedVectors,
    RotatedPhases,
    forward_run,
    refuse_phases,
)
from ..tangents.holding import carrier
from ..tangents.shadows import kind_of
from ..tangents.tracked import parts_in_step
from ..tangents.zeros import AbstractZero
from .agreement import agree
from .argument_snapshots import ArgumentSnapshot
from .directions import copied

_ROUNDING = 1.0  # ulps of a number that are lost to rounding in any case

Run = Callable[[], tuple[Any, Any]]


def run_checking_phases(run: Run, f: Any, given: Any, dots: Any) -> tuple[Any, Any]:
    """Return what `run` does, the value and its derivative: it runs `f` in forward mode on `given` with the
    tangents `dots`.

    If vectors take part whose phases LAPACK chooses, `run` is called twice more: with the vectors rotated by
    phases, and with the vectors perturbed in any direction. The first must leave all numbers unchanged up to
    rounding, and the second measures how much rounding can change them. Whatever these runs write to is
    restored.
    """
    __tracebackhide__ = True
    with forward_run(FixedPhases()) as held:
        y, y_dot = run()
    if held.met is not None:
        _check(run, ArgumentSnapshot(f, (given, dots)), held, (y, y_dot))
    return y, y_dot


def _check(run: Run, before: ArgumentSnapshot, held: FixedPhases, found: tuple[Any, Any]) -> None:
    """Raise NotDifferentiableError if the numbers in `found` may depend on phases."""
    __tracebackhide__ = True
    turned, moved = (_again(run, before, way) for way in (RotatedPhases(), PerturbedVectors()))
    if _stays(list(_numbers(*found)), turned, moved, held.eps):
        return
    if agree(_again(run, before, FixedPhases()), list(_numbers(*found)), exact=False):
        refuse_phases(held.met)
    raise NotDifferentiableError(
        f"whether the result depends on the phases of the vectors of {held.met} is unknown: the function "
        "returns a different value when it runs again",
        fixes=("use reverse mode", "let it write to a copy", *ADVICE),
    )


def _again(run: Run, before: ArgumentSnapshot, way: Any) -> list[Any] | None:
    """The numbers that another run gives, or None if it fails; what it wrote to is restored."""
    try:
        with forward_run(way):
            return copied(list(_numbers(*run())))
    except RuleLabError:
        raise
    except Exception:
        return None
    finally:
        before.put_back()


def _stays(plain: list[Any], turned: list[Any] | None, moved: list[Any] | None, eps: float) -> bool:
    """Whether rotating the phases changes the numbers by no more than rounding does."""
    if turned is None or moved is None or not len(plain) == len(turned) == len(moved):
        return False
    return all(
        _size(b, a) <= np.sqrt(eps) * _size(c, a) + _ROUNDING * eps * _size(a, 0.0)
        for a, b, c in zip(plain, turned, moved, strict=True)
    )


def _size(x: Any, y: Any) -> float:
    return float(np.max(np.abs(x - y), initial=0.0))


def _numbers(y: Any, y_dot: Any) -> Iterator[Any]:
    """Yield each number and array in a value, followed by its derivative."""
    kind = kind_of(y)
    if kind in ("number", "array"):
        yield np.asarray(y)
        yield np.asarray(0.0 if isinstance(y_dot, AbstractZero) else y_dot)
    elif kind == "carried":
        yield from _numbers(carrier(y), y_dot)
    elif kind is not None and not isinstance(y_dot, AbstractZero):
        for part, part_dot in parts_in_step(kind, y, y_dot):
            yield from _numbers(part, part_dot)
