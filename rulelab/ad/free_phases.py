"""Forward mode through vectors that are defined up to phases only: it is refused where a phase matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, RuleLabError
from ..rulesets.linalg_phases import ADVICE, Held, Moved, Turned, forward_run, refuse_phases
from ..tangents.holding import carrier
from ..tangents.shadows import kind_of
from ..tangents.tracked import parts_in_step
from ..tangents.zeros import AbstractZero
from .agreement import agree
from .directions import copied
from .left_alone import LeftAlone

_ROUNDING = 1.0  # units in the last place of a number, which are lost in it anyway

Run = Callable[[], tuple[Any, Any]]


def phases_apart(run: Run, f: Any, given: Any, dots: Any) -> tuple[Any, Any]:
    """What `run` gives, which runs `f` in forward mode on what is `given`: the value and its derivative.

    Where vectors take part of which LAPACK chooses the phases it runs twice more: with vectors that turn
    besides, and with vectors that move in any direction. The first has to leave all numbers as they are, up
    to rounding, and the second says how much rounding may do. What these runs change is put back.
    """
    __tracebackhide__ = True
    with forward_run(Held()) as held:
        y, y_dot = run()
    if held.met is not None:
        _check(run, LeftAlone(f, (given, dots)), held, (y, y_dot))
    return y, y_dot


def _check(run: Run, before: LeftAlone, held: Held, found: tuple[Any, Any]) -> None:
    """NotDifferentiableError where the numbers that were `found` may depend on phases."""
    __tracebackhide__ = True
    turned, moved = (_again(run, before, way) for way in (Turned(), Moved()))
    if _stays(list(_numbers(*found)), turned, moved, held.eps):
        return
    if agree(_again(run, before, Held()), list(_numbers(*found)), exact=False):
        refuse_phases(held.met)
    raise NotDifferentiableError(
        f"the vectors of {held.met} of a complex matrix in forward mode, in a function that returns a "
        "different value when it runs again: whether their phases matter, which LAPACK chooses, is not known",
        fixes=("use reverse mode", "let it write to a copy", *ADVICE),
    )


def _again(run: Run, before: LeftAlone, way: Any) -> list[Any] | None:
    """The numbers of another run, None where it fails; what was written to is as it was before."""
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
    """Whether turns change the numbers by no more than rounding does."""
    if turned is None or moved is None or not len(plain) == len(turned) == len(moved):
        return False
    return all(
        _size(b, a) <= np.sqrt(eps) * _size(c, a) + _ROUNDING * eps * _size(a, 0.0)
        for a, b, c in zip(plain, turned, moved, strict=True)
    )


def _size(x: Any, y: Any) -> float:
    return float(np.max(np.abs(x - y), initial=0.0))


def _numbers(y: Any, y_dot: Any) -> Iterator[Any]:
    """The numbers and arrays in a value, each with its derivative."""
    kind = kind_of(y)
    if kind in ("number", "array"):
        yield np.asarray(y)
        yield np.asarray(0.0 if isinstance(y_dot, AbstractZero) else y_dot)
    elif kind == "carried":
        yield from _numbers(carrier(y), y_dot)
    elif kind is not None and not isinstance(y_dot, AbstractZero):
        for part, part_dot in parts_in_step(kind, y, y_dot):
            yield from _numbers(part, part_dot)
