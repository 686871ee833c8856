"""Reverse mode by an author's forward rule: what takes ẋ to ẏ is linear, so its own reverse mode is the
pullback.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place, RuleError, RuleLabError
from ...rules.rule import Rule
from ...tangents.pairings import parts_of, rebuilt
from ...tangents.shadows import kind_of, zero_of
from ...tangents.structural import Tangent, entries_of, make, parts
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.question import Question
from ..memory import heap, support
from ..memory.handlers import NO, Handler, no_cotangents
from .reversing import pushed


def by_forward_rule(
    pullbacks: Question, rule: Rule, target: Any, active: tuple[bool, ...], place: Place | None
) -> Handler:
    """The handler of a call for which there is an author's frule and no rrule.

    The frule is run along some direction and differentiated by that. Of a rule that is linear the result does
    not depend on the direction; each pullback is tried along another one, and refused where the two do not
    fit: RuleError.
    """

    def transposed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if rule in _DERIVED_NOW.rules:  # it calls its own function, for a value that no direction moves
            still = (False,) * (1 + len(args) + len(kwargs))
            return pullbacks.run_plain(target, args, kwargs, still, place), no_cotangents
        values, names = (*args, *kwargs.values()), tuple(kwargs)
        at, beside = (
            tuple(_directions(values, active[1:], len(args), rule, place, Numbers(number)))
            for number in (0, 1)
        )
        push = pushed(pullbacks, place, (False, False, False, True, False, False))
        outer = heap.enter()  # what the frule does is its own affair
        _DERIVED_NOW.rules.append(rule)
        try:
            (y, y_dot), back = push(target, NO, values, at, names, None)
        except RuleLabError as error:
            _tell_of_derivation(error, rule)
            raise
        finally:
            _DERIVED_NOW.rules.remove(rule)
            heap.leave(outer)

        def transposed_pullback(y_bar: Any) -> Any:
            __tracebackhide__ = True
            y_bar = unthunk(y_bar)
            if isinstance(y_bar, AbstractZero) or isinstance(y_dot, AbstractZero):
                return (NO,) * (1 + len(values))
            outer = heap.enter()
            try:
                found = back(make(tuple, {1: y_bar}, 2))
                other = pullbacks.push(target, NO, values, beside, names)[1]
            finally:
                heap.leave(outer)
            dots_bar = NO if found is NO else support.settle(support.value(found[4]))
            bars = tuple([_of(x, support.part(dots_bar, number)) for number, x in enumerate(values)])
            _check_linear(rule, bars, y_bar, ((at, y_dot), (beside, other)))
            return (NO, *bars)

        return y, transposed_pullback

    return _Apart(transposed, rule.function)


class _OfThread(threading.local):
    """The forward rules that are being run by a direction in this thread."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []


_DERIVED_NOW = _OfThread()


class _Apart:
    """A handler whose own variables are nobody's affair: who asks what it holds (`outlines.reached_from`) is
    told what the author's rule holds, and not sent through the caches of this package.
    """

    def __init__(self, handler: Handler, rule: Any) -> None:
        self._handler = handler
        self.__self__ = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._handler(*args, **kwargs)


def _of(x: Any, bar: Any) -> Any:
    """The cotangent of a value from that of its tangent, in which a namespace stands for an object."""
    bar = support.settle(support.value(bar))
    if not isinstance(bar, Tangent) or kind_of(x) not in ("items", "entries", "object"):
        return bar
    known = parts(x)
    entries = {key: _of(known[key], part) for key, part in entries_of(bar).items() if key in known}
    return make(type(x), entries, len(x) if kind_of(x) == "items" else None)


def _tell_of_derivation(error: RuleLabError, rule: Rule) -> None:
    """What to do about an frule that cannot be differentiated itself."""
    if error.place is not None and error.place.function == rule.function.__name__:
        name = rule.target_name
        error.fixes = (
            f"write an rrule for {name}: without one, reverse mode differentiates this frule",
            f'rl.opt_out({name}, mode="rrule") to have {name} itself differentiated',
        )


# -- directions ----------------------------------------------------------------------------------------------


class Numbers:
    """The numbers of a direction, the same in each run. Those of direction 1 have the other sign than those
    of direction 0, and other moduli: what is linear for one sign only is told by the two.
    """

    def __init__(self, number: int) -> None:
        self._signs = np.random.default_rng(0)
        self._sizes = np.random.default_rng(1 + number)
        self._factor = (1.0, -1.0)[number]

    def like(self, x: Any) -> Any:
        """Numbers of the shape of `x`, complex if that is."""
        shape = (1 + np.iscomplexobj(x), *np.shape(x))
        signs = np.where(self._signs.random(shape) < 0.5, -1.0, 1.0)
        parts = self._factor * signs * self._sizes.uniform(0.5, 1.5, shape)
        return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def _directions(
    values: tuple[Any, ...],
    wanted: tuple[bool, ...],
    count: int,
    rule: Rule,
    place: Place | None,
    numbers: Numbers,
) -> Iterator[Any]:
    """A tangent for each argument of which a cotangent is wanted, in its inner form; zeros for constants
    among the first `count`, the others may be constants to any rule.
    """
    for number, (x, on) in enumerate(zip(values, wanted, strict=True)):
        if not on:
            yield zero_of(x) if number < count and kind_of(x) in ("number", "array") else NO
        elif kind_of(x) in ("function", "carried"):
            raise NotDifferentiableError(
                f"{rule.target_name} has a forward rule alone and is given a function, whose cotangent "
                "that does not tell",
                place=place,
                fixes=(f"write an rrule: @rl.rrule_for({rule.target_name})",),
            )
        else:
            yield _filled(zero_of(x), numbers)


def _filled(x_dot: Any, numbers: Numbers) -> Any:
    """A zero tangent with a number drawn for each of its own."""
    if isinstance(x_dot, np.ndarray):
        x_dot[...] = numbers.like(x_dot)
        return x_dot
    if isinstance(x_dot, AbstractZero):
        return x_dot
    found = parts_of(x_dot)
    if found is None:
        return type(x_dot)(numbers.like(x_dot))
    filled = {key: _filled(part, numbers) for key, part in found.items()}
    if isinstance(x_dot, tuple):
        return rebuilt(x_dot, filled)
    entries = vars(x_dot) if isinstance(x_dot, SimpleNamespace) else x_dot
    for key, part in filled.items():  # it may stand in other places, too
        entries[key] = part
    return x_dot


# -- whether it is linear ------------------------------------------------------------------------------------


def _check_linear(rule: Rule, bars: tuple[Any, ...], y_bar: Any, tries: tuple[tuple[Any, Any], ...]) -> None:
    """RuleError unless <ȳ, ẏ> = <x̄, ẋ> for each pair of tangents, as far as rounding lets see."""
    for x_dots, y_dot in tries:
        left = list(_products(y_bar, y_dot))
        right = [pair for x_bar, x_dot in zip(bars, x_dots) for pair in _products(x_bar, x_dot)]
        difference = sum(value for value, _, _ in left) - sum(value for value, _, _ in right)
        size = sum(size for _, size, _ in (*left, *right))
        eps = max((eps for _, _, eps in (*left, *right)), default=0.0)
        if np.isfinite(size) and abs(difference) > np.sqrt(eps) * size:
            raise RuleError(
                f"No reverse rule can be derived from the frule {rule.function.__name__} of "
                f"{rule.target_name}: its y_dot is not linear in its tangents, or not the same when it runs "
                "again",
                place=rule.place,
                fixes=(
                    "make y_dot linear in the tangents",
                    f"write an rrule: @rl.rrule_for({rule.target_name})",
                    f'rl.opt_out({rule.target_name}, mode="rrule") to differentiate the function itself',
                ),
                read="reference/rules#derived-rules",
            )


def _products(bar: Any, x_dot: Any) -> Iterator[tuple[float, float, float]]:
    """For each number or array in a tangent: its real inner product with the cotangent, that of the moduli,
    and the rounding of one operation.
    """
    bar = support.settle(support.value(bar))
    if isinstance(bar, AbstractZero) or isinstance(x_dot, AbstractZero) or bar is None:
        return
    found = parts_of(x_dot)
    if found is None:
        left, right = np.asarray(bar), np.asarray(x_dot)
        eps = max(float(np.finfo(x.dtype).eps) for x in (left, right) if x.dtype.kind in "fc")
        yield float(np.real(np.vdot(left, right))), float(np.vdot(np.abs(left), np.abs(right))), eps
    for key, part in (found or {}).items():
        yield from _products(support.part(bar, key), part)
