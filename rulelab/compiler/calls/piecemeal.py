"""Functions of NumPy that call a function of the author's on parts of an array: `np.piecewise` and
`np.apply_along_axis`, on arrays of floats.

As for `np.vectorize`, the function is answered part by part; what NumPy does around it is done here. The
stand-ins, which forward mode uses, answer what is left: they are plain Python, each step of which asks what
answers it.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...errors import Place, RuleShapeError
from ...rules.vectorized import check_along
from ...tangents.projection import unbroadcast
from ...tangents.structural import make
from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..base.libraries import compiled_function
from ..base.question import Question
from ..memory import heap, support
from ..memory.handlers import NO, ZERO, Handler, Uncached
from .call import Call
from .remembered import kinds_of

_NUMBERS = frozenset({float, int, np.float64})
_F8 = np.dtype(float)


def handler(pullbacks: Question, call: Call) -> Handler | None:
    """The handler of a call of such a function; None for any other, and for arguments that are left to its
    stand-in.
    """
    maker = _MAKERS.get(call.target) if type(call.target) is _FUNCTION else None
    if maker is None or call.kwargs or len(call.args) < 3:
        return None
    if pullbacks.implicit or pullbacks.keeps or pullbacks.cache.mode != "auto":
        return None
    return maker(pullbacks, call)


_FUNCTION = type(np.sum)


def found_for(
    pullbacks: Question, function: Any, args: tuple[Any, ...], flags: tuple[bool, ...], place: Place | None
) -> Handler:
    """The handler of a call of the author's function on one part."""
    if type(function) is types.FunctionType:
        found = pullbacks.remembered(function, args, flags)
        return found or pullbacks.find_function(function, args, flags, place)
    return pullbacks.find(function, args, {}, flags, place)


def found_for_each(
    pullbacks: Question,
    function: Any,
    parts: Iterable[tuple[Any, ...]],
    flags: tuple[bool, ...],
    place: Place | None,
) -> list[tuple[Any, Any]]:
    """What the author's function gives for each part, with the pullbacks. Its pass is looked up once for
    arguments of the same kinds, if it only computes, so that no call can change what answers the next one.
    """
    found: list[tuple[Any, Any]] = []
    kept: dict[Any, Handler] = {}
    for args in parts:
        kinds = tuple(kinds_of(args))
        inner = kept.get(kinds)
        if inner is None:
            inner = found_for(pullbacks, function, args, flags, place)
            if len(found) >= _MANY and type(inner) is not Uncached:
                if _stays(pullbacks, function, args, flags, place):
                    kept[kinds] = inner
        found.append(inner(*args))
    return found


def _stays(
    pullbacks: Question, function: Any, args: tuple[Any, ...], flags: tuple[bool, ...], place: Place | None
) -> bool:
    """Whether calls of a function with arguments of these kinds are answered by a pass that only computes."""
    if type(function) is not types.FunctionType or compiled_function(function) is not function:
        return False
    code, cache = function.__code__, pullbacks.cache
    if len(args) != code.co_argcount or code.co_kwonlyargcount or code.co_flags & _STARS:
        return False
    if pullbacks.implicit or pullbacks.keeps or cache.mode != "auto":
        return False
    if not _SIMPLE.issuperset(map(type, args)) or not cache.registry.has_nothing_for(function):
        return False
    made = pullbacks.pass_of(function, args, flags[1:], flags[0], True, place)
    return made.computes and not made.noted


_MANY = 4  # parts for which looking it up takes less time than finding out whether it stays
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_SIMPLE = frozenset({float, int, np.float64, np.ndarray})


def entries(got: Any, count: int) -> Any:
    """The answer of a pullback as a tuple of `count` entries."""
    return (NO,) * count if got is NO else (tuple(got) + (NO,) * count)[:count]


def _is_of_floats(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype == _F8 and x.ndim > 0 and x.size > 0


def _dense(y_bar: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a real array as one; pullbacks are called with zeros as well, since these may change
    what others read.
    """
    y_bar = unthunk(y_bar)
    return np.broadcast_to(np.real(np.asarray(0.0 if isinstance(y_bar, AbstractZero) else y_bar)), shape)


def _put(whole: Any, place: Any, bar: Any) -> None:
    """Add the cotangent of a part of an array."""
    bar = unthunk(bar)
    if isinstance(bar, AbstractZero):
        return
    if np.shape(bar) != whole[place].shape:
        raise RuleShapeError(
            f"An array of shape {whole[place].shape} cannot have a cotangent of shape {np.shape(bar)}"
        )
    whole[place] += np.real(bar)


# -- np.apply_along_axis -------------------------------------------------------------------------------------


def _along(pullbacks: Question, call: Call) -> Handler | None:
    """`np.apply_along_axis(function, axis, x, ...)`"""
    function, axis, x = call.args[:3]
    if not callable(function) or type(axis) is not int or not _is_of_floats(x):
        return None
    if not -x.ndim <= axis < x.ndim:
        return None
    at, flags, place = axis % x.ndim, (call.active[1], *call.active[3:]), call.place

    def run(function: Any, _: int, x: Any, *others: Any) -> Any:
        __tracebackhide__ = True
        lines = _last(x, at)
        flat = lines.reshape(-1, lines.shape[-1])
        rows = found_for_each(pullbacks, function, ((line, *others) for line in flat), flags, place)
        whole, of_rows = _stacked(pullbacks, [y for y, _ in rows], place)
        shape, inner = lines.shape[:-1], whole.ndim - 1
        outside = len(shape)
        order = (*range(at), *range(outside, outside + inner), *range(at, outside))
        y = whole.reshape(shape + whole.shape[1:]).transpose(order)

        def back(y_bar: Any) -> Any:
            back_order = np.argsort(order)
            bars = of_rows(_dense(y_bar, y.shape).transpose(back_order).reshape(whole.shape))
            found, sums = np.zeros(flat.shape), [ZERO] * (1 + len(others))
            for number in reversed(range(len(rows))):
                got = entries(rows[number][1](support.part(bars, number)), 2 + len(others))
                _put(found, number, got[1])
                sums = [support.add(total, bar) for total, bar in zip(sums, (got[0], *got[2:]))]
            return NO, sums[0], NO, np.moveaxis(found.reshape(lines.shape), -1, at), *sums[1:]

        return y, _like(rows, back)

    return Uncached(run)


def _last(x: Any, axis: int) -> Any:
    """The array with that axis as the last one."""
    return x.transpose((*range(axis), *range(axis + 1, x.ndim), axis))


def _stacked(
    pullbacks: Question, results: list[Any], place: Place | None
) -> tuple[Any, Callable[[Any], Any]]:
    """The array of the results for all lines, and the function that gives their cotangents from that of the
    array.
    """
    kinds = set(map(type, results))
    if kinds <= _NUMBERS or (kinds == {np.ndarray} and all(y.dtype == _F8 for y in results)):
        y = np.array(results)
        check_along(results[0], y, place)
        return y, lambda bars: bars
    y, back = pullbacks.find(np.array, (results,), {}, (False, True), place)(results)
    check_along(results[0], y, place)
    return y, lambda bars: back(bars)[1]


def _like(rows: list[Any], back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The pullback, marked as effectful if that of a part is."""
    return heap.like(next((inner for _, inner in rows if heap.changes(inner)), None), back)


# -- np.piecewise --------------------------------------------------------------------------------------------


def _piecewise(pullbacks: Question, call: Call) -> Handler | None:
    """`np.piecewise(x, conditions, pieces)`"""
    if len(call.args) > 3:
        return None
    x, conditions, pieces = call.args
    kinds = (list, tuple)
    if not _is_of_floats(x) or type(conditions) not in kinds or type(pieces) not in kinds or not conditions:
        return None
    if not all(type(c) is np.ndarray and c.dtype == bool and c.shape == x.shape for c in conditions):
        return None
    if not 0 <= len(pieces) - len(conditions) <= 1:
        return None
    if not all(type(piece) in _NUMBERS or type(piece) is types.FunctionType for piece in pieces):
        return None
    flags, place = (call.active[3], call.active[1]), call.place

    def run(x: Any, conditions: Any, pieces: Any) -> Any:
        __tracebackhide__ = True
        masks = [condition.copy() for condition in conditions]
        if len(pieces) > len(masks):
            masks.append(~np.any(masks, axis=0))
        whole, done = np.zeros_like(x), []
        for number, (mask, piece) in enumerate(zip(masks, pieces)):
            if type(piece) is not types.FunctionType:
                whole[mask] = piece
                done.append((number, mask, piece, None))
            elif mask.any():
                part = x[mask]
                y, back = found_for(pullbacks, piece, (part,), flags, place)(part)
                y, back = _as_array(pullbacks, y, back, place)
                whole[mask] = y
                done.append((number, mask, y, back))

        def back_of_all(y_bar: Any) -> Any:
            bar, x_bar = np.array(_dense(y_bar, x.shape)), np.zeros(x.shape)
            of_pieces: dict[Any, Any] = {}
            for number, mask, y, back in reversed(done):
                part_bar = unbroadcast(bar[mask], y)
                bar[mask] = 0.0  # what was there before has been replaced
                if back is None:
                    of_pieces[number] = part_bar
                else:
                    of_pieces[number], of_part = entries(back(part_bar), 2)
                    _put(x_bar, mask, of_part)
            return NO, x_bar, NO, make(type(pieces), of_pieces, len(pieces))

        return whole, _like([(y, back) for _, _, y, back in done if back is not None], back_of_all)

    return Uncached(run)


def _as_array(pullbacks: Question, y: Any, back: Any, place: Place | None) -> tuple[Any, Any]:
    """The result for a piece as a number or an array of floats, and its pullback."""
    if type(y) in _NUMBERS or (type(y) is np.ndarray and y.dtype == _F8):
        return y, back
    array, of_items = pullbacks.find(np.asarray, (y,), {}, (False, True), place)(y)
    return array, heap.like(back, lambda y_bar: back(of_items(y_bar)[1]))


_MAKERS: dict[Any, Callable[[Question, Call], Handler | None]] = {
    np.apply_along_axis: _along,
    np.piecewise: _piecewise,
}
