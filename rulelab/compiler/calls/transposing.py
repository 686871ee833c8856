"""Reverse mode by an author's frule: the map from ẋ to ẏ is linear, so its reverse mode is the pullback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place, RuleError, RuleLabError
from ...rules.rule import Rule
from ...tangents.pairings import in_form_of, leaves_in, tangent_from
from ...tangents.shadows import kind_of, zero_of
from ...tangents.structural import make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.question import Question
from ..memory import heap, support
from ..memory.handlers import NO, Handler, no_cotangents
from .reversing import pushed


def by_forward_rule(
    pullbacks: Question, rule: Rule, target: Any, active: tuple[bool, ...], place: Place | None
) -> Handler:
    """The handler of a call that has an author's frule and no rrule.

    The frule is run along some direction and differentiated with respect to that direction. For a linear rule
    the result does not depend on the direction: each pullback is checked along this one and a second one, and
    raises RuleError if one of them does not fit.
    """

    def transposed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if rule in _DERIVED_NOW.rules:  # it calls its own function, for the value alone
            still = (False,) * (1 + len(args) + len(kwargs))
            return pullbacks.run_plain(target, args, kwargs, still, place), no_cotangents
        values, names = (*args, *kwargs.values()), tuple(kwargs)
        at, beside = (
            tuple(_directions(values, active[1:], len(args), rule, place, Numbers(number)))
            for number in (0, 1)
        )
        push = pushed(pullbacks, place, (False, False, False, True, False, False))
        outer = heap.enter()  # the frule runs in a sweep of its own
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
            of_dots = [support.settle(support.part(dots_bar, number)) for number in range(len(values))]
            bars = tuple(map(in_form_of, values, of_dots))  # the tangent of an object was a namespace
            for x_dots, moved in ((at, y_dot), (beside, other)):
                _check_linear(rule, _products(y, y_bar, moved), _products(values, bars, x_dots))
            return (NO, *bars)

        return y, transposed_pullback

    # A search through what this holds (`outlines.reached_from`) finds what the author's rule holds, and does
    # not go through the caches of this package.
    transposed.__self__ = rule.function  # type: ignore[attr-defined]
    return transposed


class _OfThread(threading.local):
    """The frules that are being run along a direction in this thread."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []


_DERIVED_NOW = _OfThread()


def _tell_of_derivation(error: RuleLabError, rule: Rule) -> None:
    """Set the fixes of an error to what can be done about an frule that cannot be differentiated itself."""
    if error.place is not None and error.place.function == rule.function.__name__:
        name = rule.target_name
        error.fixes = (
            f"write an rrule for {name}: without one, reverse mode differentiates this frule",
            f'use rl.opt_out({name}, mode="rrule") to have {name} itself differentiated',
        )


# -- directions ----------------------------------------------------------------------------------------------


class Numbers:
    """The numbers of a direction, the same in each run. Those of direction 1 have the opposite signs of those
    of direction 0, and different moduli, so that a rule that is linear only for one sign is detected.
    """

    def __init__(self, number: int) -> None:
        self._signs = np.random.default_rng(0)
        self._sizes = np.random.default_rng(1 + number)
        self._factor = (1.0, -1.0)[number]

    def like(self, x: Any) -> Any:
        """Random numbers in the shape of `x`, complex if `x` is; a zero object is returned as it is."""
        if isinstance(x, AbstractZero):
            return x
        shape = (1 + np.iscomplexobj(x), *np.shape(x))
        signs = np.where(self._signs.random(shape) < 0.5, -1.0, 1.0)
        parts = self._factor * signs * self._sizes.uniform(0.5, 1.5, shape)
        found = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        return found.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(found)


def _directions(
    values: tuple[Any, ...],
    wanted: tuple[bool, ...],
    count: int,
    rule: Rule,
    place: Place | None,
    numbers: Numbers,
) -> Iterator[Any]:
    """A tangent in its inner form for each argument whose cotangent is wanted; zeros for constant numbers and
    arrays among the first `count`, and none for the other constants.
    """
    for number, (x, on) in enumerate(zip(values, wanted, strict=True)):
        if not on:
            yield zero_of(x) if number < count and kind_of(x) in ("number", "array") else NO
        elif kind_of(x) in ("function", "carried"):
            raise NotDifferentiableError(
                f"{rule.target_name} has only a forward rule and is given a function, for which "
                "it has no cotangent",
                place=place,
                fixes=(f"write an rrule: @rl.rrule_for({rule.target_name})",),
            )
        else:
            yield tangent_from(x, tuple(map(numbers.like, leaves_in(x, zero_of(x)))))


# -- whether it is linear ------------------------------------------------------------------------------------


def _check_linear(rule: Rule, of_y: list[Product], of_x: list[Product]) -> None:
    """RuleError unless <ȳ, ẏ> = <x̄, ẋ> to within rounding."""
    difference = sum(value for value, _, _ in of_y) - sum(value for value, _, _ in of_x)
    size = sum(size for _, size, _ in (*of_y, *of_x))
    eps = max((eps for _, _, eps in (*of_y, *of_x)), default=0.0)
    if np.isfinite(size) and abs(difference) > np.sqrt(eps) * size:
        raise RuleError(
            f"No reverse rule can be derived from the frule {rule.function.__name__} of "
            f"{rule.target_name}: its y_dot is not linear in its tangents, or not the same when it runs "
            "again",
            place=rule.place,
            fixes=(
                "make y_dot linear in the tangents",
                f"write an rrule: @rl.rrule_for({rule.target_name})",
                f'use rl.opt_out({rule.target_name}, mode="rrule") to differentiate the function itself',
            ),
            read="reference/rules#derived-rules",
        )


Product = tuple[float, float, float]


def _products(x: Any, bar: Any, x_dot: Any) -> list[Product]:
    """For each number or array in `x`: the real inner product of its cotangent and tangent, the inner product
    of their moduli, and the rounding error of one operation.
    """
    found = []
    for pair in zip(leaves_in(x, bar), leaves_in(x, x_dot), strict=True):
        if not any(isinstance(part, AbstractZero) for part in pair):
            left, right = map(np.asarray, pair)
            eps = max(float(np.finfo(part.dtype).eps) for part in (left, right) if part.dtype.kind in "fc")
            product = float(np.real(np.vdot(left, right))), float(np.vdot(np.abs(left), np.abs(right)))
            found.append((*product, eps))
    return found
