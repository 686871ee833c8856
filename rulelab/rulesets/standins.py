"""Plain Python that does what functions without Python code do, and is differentiated in their place."""

import math

import numpy as np

from ..rules.house import RuleTable
from ..tangents.zeros import NoTangent
from .array_likes import dense

TABLE = RuleTable("standins")

TABLE.reads_items(max, min, sorted, math.fsum, math.prod)
_NUMBERS = (int, float, complex, np.number, np.bool_, np.ndarray)


def _adds_other_things(iterable, start=0):
    """Whether `sum` meets something that is no number and no array, which its rule does not know."""
    if isinstance(iterable, np.ndarray):
        return iterable.dtype.hasobject
    if not isinstance(iterable, (list, tuple)):
        return False
    return not isinstance(start, _NUMBERS) or not all(isinstance(x, _NUMBERS) for x in iterable)


@TABLE.stands_in(sum, instead=_adds_other_things, reads_items=True)
def sum_(iterable, /, start=0):
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for item in iterable:
        total = total + item
    return total


@TABLE.stands_in(np.apply_along_axis, rest=3)
def apply_along_axis(func1d, axis, arr, args=()):
    array = np.asarray(arr)
    at = _axis(axis, array.ndim)
    lines = np.moveaxis(array, at, -1)
    shape = lines.shape[:-1]
    flat = np.reshape(lines, (math.prod(shape), lines.shape[-1]))
    if len(flat) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = np.array([_called_with(func1d, line, args) for line in flat])
    inner = results.shape[1:]
    whole = np.reshape(results, shape + inner)
    return np.moveaxis(whole, _from(len(shape), len(inner)), _from(at, len(inner)))


def _called_with(function, first, rest):
    if len(rest) == 0:
        return function(first)
    if len(rest) == 1:
        return function(first, rest[0])
    if len(rest) == 2:
        return function(first, rest[0], rest[1])
    raise NotImplementedError("rulelab passes on at most two further arguments: bind the rest with a lambda")


def _axis(axis, ndim):
    """The number of an axis, counted from the front."""
    return range(ndim)[axis] if -ndim <= axis < ndim else np.lib.array_utils.normalize_axis_index(axis, ndim)


def _from(first, count):
    return tuple(range(first, first + count))


TABLE.non_differentiable(_axis, _from)


@TABLE.stands_in(np.fromiter)
def fromiter(iter, dtype, count=-1):
    items = list(iter)
    if count >= 0:
        if len(items) < count:
            raise ValueError(
                f"iterator too short: Expected {count} but iterator had only {len(items)} items."
            )
        items = items[:count]
    return np.array(items, dtype=dtype)


@TABLE.stands_in(np.piecewise, rest=3)
def piecewise(x, condlist, funclist, args=()):
    array = np.asanyarray(x)
    masks = _masks(array, condlist, len(funclist))
    whole = np.zeros_like(array)
    for mask, piece in zip(masks, funclist):
        if not callable(piece):
            whole = np.where(mask, piece, whole)
        elif np.any(mask):
            whole = _placed(whole, mask, _called_with(piece, array[mask], args))
    return whole


def _masks(x, condlist, count):
    """The conditions as arrays of bools, with that of the function for the rest if there is one."""
    if not isinstance(condlist[0], (list, np.ndarray)) and x.ndim != 0:
        condlist = [condlist]
    masks = np.asarray(condlist, dtype=bool)
    if count == len(masks) + 1:
        masks = np.concatenate([masks, ~np.any(masks, axis=0, keepdims=True)])
    elif count != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    return list(masks)


TABLE.non_differentiable(_masks)


def _placed(whole, mask, values):
    """A copy of `whole` with `values` where the mask says so."""
    out = whole.copy()
    out[mask] = values
    return out


@TABLE.rrule(_placed, leading=3)
def placed_rrule(whole, mask, values, /):
    out = _placed(whole, mask, values)

    def placed_pullback(y_bar):
        of_values = y_bar[mask]
        if np.ndim(values) == 0:
            of_values = np.sum(of_values)
        return NoTangent(), np.where(mask, 0.0, y_bar), NoTangent(), of_values

    return out, placed_pullback


@TABLE.frule(_placed)
def placed_frule(tangents, whole, mask, values, /):
    whole_dot, values_dot = dense(whole, tangents[1]), dense(values, tangents[3])
    return _placed(whole, mask, values), _placed(whole_dot, mask, values_dot)
