"""`left op= right`: what it changes, and when it is a rebinding."""

from __future__ import annotations

import operator
import types
from collections import deque
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place
from ...python_facts import CONTAINERS, OPERATORS
from ...rules import programs
from ..base import ir
from ..base.classes import is_of_c, written_in_python
from ..base.question import Question
from ..base.refusals import mutation
from ..memory import containers, heap
from ..memory.handlers import Handler, Uncached, no_cotangents
from ..memory.operands import describe
from .own_errors import failing_in_place
from .templates import Forward, Program, Pushed, arg, dot

# The in-place operator for each binary one.
IN_PLACE = {getattr(operator, each.name): getattr(operator, each.in_place) for each in OPERATORS}
_BINARY = {in_place: binary for binary, in_place in IN_PLACE.items()}
# The method for each in-place operator, such as `__iadd__`.
_METHODS = {in_place: f"__{in_place.__name__}__" for in_place in _BINARY}


# -- reverse -------------------------------------------------------------------------------------------------


def augmented_finder(
    pullbacks: Question, op: ir.Augmented, active: tuple[bool, ...], place: Place, rebinding: Handler
) -> Handler:
    """The function that finds the handler of `left op= right`: an author's method, a change to a container
    that is followed, the in-place operation on a copy of an array that this function owns, or a rebinding.

    `rebinding` finds the handlers of a rebinding. A change that would be seen elsewhere is refused.
    """
    target = getattr(operator, op.operator)
    in_place = IN_PLACE[target]
    name = _METHODS[in_place]

    def alone(left: Any) -> Any:
        """The left operand; refused if it may be held elsewhere, where a rebinding would not be seen."""
        if heap.is_lent(left):
            raise mutation(f"ndarray.{name}({describe(left)})", place, True)
        return left

    def find(left: Any, right: Any) -> Handler:
        if any(active) and (type(left) is float or type(left) is np.float64):
            return rebinding(left, right)
        if isinstance(left, list) and isinstance(right, np.ndarray):
            return rebinding(left, right)  # NumPy makes an array of both
        method = getattr(type(left), name, None)
        if isinstance(method, types.FunctionType) and heap.is_own(left):
            return _by_author(pullbacks, method, (left, right), active, place)
        if any(active) and heap.is_followed(left):
            if isinstance(left, (list, deque)) and op.operator == "add" and not hasattr(right, "__radd__"):
                # otherwise the right operand decides: an array adds item by item
                return containers.extend_in_place
            if (
                isinstance(left, (list, deque))
                and op.operator == "mul"
                and isinstance(right, (int, np.integer))
            ):
                return containers.repeat_in_place
            if isinstance(left, dict) and op.operator == "or_":
                return containers.update_in_place
        unseen = not any(active) or (type(left) is set and containers.may_be_in_set(right))
        if unseen and heap.may_change_unseen(left) and isinstance(left, CONTAINERS):
            return lambda a, b: (in_place(a, b), no_cotangents)
        owned = (
            op.owned or (op.of_item and heap.is_fresh(left)) or (op.of_copy and isinstance(left, np.ndarray))
        )
        is_array = isinstance(left, np.ndarray)
        writable = is_array or isinstance(left, CONTAINERS)
        if writable and not owned:
            owner = "ndarray" if is_array else type(left).__name__
            own = failing_in_place(in_place, (left, right))
            raise own or mutation(f"{owner}.{name}({describe(left)})", place, is_array)
        if not writable and method is not None:
            raise mutation(f"{type(left).__name__}.{name}", place, False)  # may change anything
        if isinstance(left, list) and op.operator == "add" and not isinstance(right, list) and any(active):
            raise NotDifferentiableError(
                f"There is no rule for list += {describe(right)}",
                place=place,
                read="limitations#operators",
                fixes=("convert what is added to a list first: l += list(...)",),
            )
        if not any(active):
            plain = (lambda a, b: in_place(a.copy(), b)) if writable else target
            return lambda a, b: (plain(alone(a), b), no_cotangents)
        if not is_array:
            return pullbacks.find_target(target, (left, right), {}, (False, *active), place)

        def updated(left: Any, right: Any) -> Any:
            y = in_place(
                alone(left).copy(), right
            )  # first: its errors are the author's, those of the rule differ
            _, back = handler(left, right)
            return y, back

        try:
            handler = pullbacks.find_target(target, (left, right), {}, (False, *active), place)
        except Exception:
            in_place(left.copy(), right)  # whose error differs from that of `left op right`
            raise

        return updated

    return find


def _by_author(
    pullbacks: Question, method: Any, args: tuple[Any, ...], active: tuple[bool, ...], place: Place
) -> Handler:
    """`left op= right` by an author's method, on an object made during this sweep."""
    if any(active):
        inner = pullbacks.find_target(method, args, {}, (False, True, True), place)
    else:

        def inner(*args: Any) -> Any:
            return pullbacks.run_plain(method, args, {}, (False,) * 3, place), no_cotangents

    def update(left: Any, right: Any) -> Any:
        y, back = inner(left, right)
        if y is NotImplemented:
            raise mutation(f"{type(left).__name__}.{method.__name__}", place, False)
        return y, back

    return Uncached(update)


# -- forward -------------------------------------------------------------------------------------------------


def is_in_place(g: Any, args: tuple[Any, ...]) -> bool:
    """Whether forward mode answers a call as an in-place operator; `pushed_forward` decides whether it
    rebinds.
    """
    return is_of_c(g) and g in _BINARY and not isinstance(args[0], (set, bytearray, memoryview))


def pushed_forward(push: Forward, call: Pushed) -> Program:
    """The program of an in-place operator, applied to value and tangent if Python changes the left operand,
    else as a rebinding.
    """
    g: Any = call.target
    left = call.args[0]
    if isinstance(left, np.ndarray):
        given = (push, g, _BINARY[g], arg(0), dot(0), arg(1), dot(1))
        return Program(programs.in_place_array, given, trusted=True)
    method = written_in_python(type(left), _METHODS[g])
    return push.through(call.raw, method or _BINARY[g], (arg(0), arg(1)), (dot(0), dot(1)))


def of_author(g: Any, left: Any) -> Any:
    """The Python method by which an operand's class answers for an in-place operator, or None."""
    return written_in_python(type(left), _METHODS[g]) if is_of_c(g) and g in _BINARY else None
