"""Rules for the methods of ufuncs: `reduce`, `accumulate`, `outer`, `reduceat`, from the rules of the ufuncs.

`np.add.reduce` is an object of its own (`rules/targets.py` says which), so each method has its rule. Those
that are functions under another name, this one for `np.sum`, stand beside these functions; the others are
what they are by definition: the ufunc again and again. At ties they follow it. `at` writes, and is a mutator.
"""

import functools

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import laid_out, no_change
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent
from . import numpy_elementwise, numpy_nondiff
from .array_likes import ABSENT, dense, given, is_zero, like_argument, reduced, refuse
from .kinks import past_kink
from .numpy_elementwise import share_of
from .numpy_reductions import METHODS_OF_UFUNCS, from_lanes, kept_shape, lanes

TABLE = RuleTable("ufunc_methods")

_V = np.array([0.5, 1.5, 2.0, 3.5])
_M = np.array([[0.5, 1.25, 2.0], [3.0, 1.5, 2.5]])
_C = 1.5 + np.sin(np.arange(24.0)).reshape(2, 3, 4)
_REDUCTIONS = [(_V,), (_M,), (_M, 1), (_C, -2), ((_M,), {"keepdims": True}), ((_M, 1), {"initial": 2.25})]
_ACCUMULATIONS = [(_V,), (_M,), (_M, -1), (_C, 1), (_V[:1],)]
_W = _V + 0.1
_OUTER = [
    (_V, _M[0] + 0.3),
    (_M, _W[:2]),
    (1.6, _M),
    (_V, 0.75),
    (np.zeros((0, 2)), _V[:2]),
    ([0.5, 2.0], _W),
]
_CUTS = [(_V, [0, 2]), (_V, [0, 3, 1, 2]), (_M, [0, 1], 1), (_C, [1, 0], -2), (_M, [0, 0])]


def _rules_of(table, mode):
    return {target: rule.function for target, rule in table.rules if rule.mode == mode}


_RRULES = _rules_of(numpy_elementwise.TABLE, "rrule")
_FRULES = _rules_of(numpy_elementwise.TABLE, "frule")

BINARY = tuple(
    u
    for u in _RRULES
    if isinstance(u, np.ufunc) and (u.nin, u.nout) == (2, 1) and u in _FRULES and u is not np.ldexp
)
"""The ufuncs of two arguments that have a derivative; the second of `ldexp` is a whole number."""

QUESTIONS = tuple(
    target
    for target, rule in numpy_nondiff.TABLE.rules
    if isinstance(target, np.ufunc) and (target.nin, target.nout) == (2, 1) and rule.mode == "rrule"
)
"""Those that have none: comparisons and logic."""

# At whole steps and multiples the derivative jumps; these points stay away from them.
_AWAY = {np.floor_divide, np.remainder, np.fmod, np.heaviside, np.nextafter}


# Vectorised loops of NumPy lose the links of a chain of these on some machines: `_check_links`.
_UNRELIABLE = {np.power, np.arctan2}
_POWERS = {np.power, np.float_power}


def _points(ufunc, points, chained=False):
    return () if ufunc in _AWAY or (chained and ufunc in _UNRELIABLE) else points


def _check_plain(ufunc, name, dtype, where=ABSENT):
    if dtype is not None:
        refuse(f"np.{ufunc.__name__}.{name} with dtype= is not differentiated", "convert the array first")
    if where is not ABSENT and where is not True:
        refuse(f"np.{ufunc.__name__}.{name} with where= is not differentiated",
               "use np.where in front of it, with a neutral element")


# -- outer ---------------------------------------------------------------------------------------------------


def _spread_out(A, B):
    """The operands whose elementwise result is the outer one."""
    A, B = np.asarray(A), np.asarray(B)
    return np.reshape(A, A.shape + (1,) * B.ndim), B


def _state_outer(ufunc):
    rrule, frule = _RRULES[ufunc], _FRULES[ufunc]

    @TABLE.rrule(ufunc.outer, leading=2, points=_points(ufunc, _OUTER))
    def outer_rrule(A, B):
        y, pullback = rrule(*_spread_out(A, B))

        def outer_pullback(y_bar):
            a_bar, b_bar = map(unthunk, pullback(y_bar)[1:3])
            a_bar = a_bar if is_zero(a_bar) else like_argument(A, np.reshape(a_bar, np.shape(A)))
            return NoTangent(), a_bar, b_bar if is_zero(b_bar) else like_argument(B, b_bar)

        return y, outer_pullback

    @TABLE.frule(ufunc.outer)
    def outer_frule(tangents, A, B):
        left_dot, right_dot = _spread_out(dense(A, tangents[1]), dense(B, tangents[2]))
        left, right = _spread_out(A, B)
        if is_zero(tangents[1]):  # stays one: 0 is stronger than an infinite slope
            left_dot = tangents[1]
        if is_zero(tangents[2]):
            right_dot = tangents[2]
        return frule((NoTangent(), left_dot, right_dot), left, right)


# -- reduce and accumulate: a chain of calls -----------------------------------------------------------------


def _check_way_back(ufunc, before, y):
    """Refuse a chain in which a power comes back from infinity: what led there has a slope that is infinite
    in floats, and the way back one that is 0, so that nothing is known of their product.
    """
    if ufunc in _POWERS and np.any(np.isinf(before) & np.isfinite(y)):
        refuse(f"a chain of np.{ufunc.__name__} that goes through infinity is not differentiated",
               "multiply the exponents first")


def _zero_where(ended, bar):
    """A tangent or cotangent, 0 where a power of 0 has ended the chain and it is not finite: `y ** 0` is 1
    whatever `y` is, and its slope. Finite ones stay, since they have derivatives of their own: that of
    `y ** p` by both is `1 / y` at p = 0.
    """
    if is_zero(bar) or not np.any(ended):
        return bar
    lost = ended & ~np.isfinite(bar)
    return np.where(lost, 0.0, bar) if np.any(lost) else bar


class Chain:
    """`y[0] = x[0]`, `y[k] = ufunc(y[k-1], x[k])` along the first axis, with what the reverse needs."""

    def __init__(self, ufunc, x, start=ABSENT):
        self.x, self.started, self.of_powers = x, start is not ABSENT, ufunc in _POWERS
        self.backs = []
        y = np.broadcast_to(start, x.shape[1:]) if self.started else x[0]
        for x_k in x if self.started else x[1:]:
            before, (y, back) = y, _RRULES[ufunc](y, x_k)
            _check_way_back(ufunc, before if self.backs else 0.0, y)
            self.backs.append(back)
        self.last = y

    def cotangent(self, y_bars):
        """x̄ from the cotangents of all `y`, last first; None where one has none."""
        x_bars, y_bar, ended = [], next(y_bars), False
        for back, x_k in zip(self.backs[::-1], self.x[::-1]):
            _, before, x_bar = (_zero_where(ended, unthunk(bar)) for bar in back(y_bar))
            x_bars.append(np.zeros(self.x.shape[1:]) if is_zero(x_bar) else x_bar)
            own = next(y_bars, None)
            y_bar = own if is_zero(before) else before if own is None else own + before
            if y_bar is None:
                y_bar = np.zeros(self.x.shape[1:])
            ended = self.of_powers and ((x_k == 0) | ended) & (own is None or own == 0)
        if not self.started:
            x_bars.append(y_bar)
        return np.stack(x_bars[::-1])


def _tangents_along(ufunc, x, x_dot, start=ABSENT):
    """The last `y`, and ẏ of every link of the chain."""
    if start is ABSENT:
        y, y_dot, first = x[0], x_dot[0], 1
    else:
        y, y_dot, first = np.broadcast_to(start, x.shape[1:]), np.zeros(x.shape[1:]), 0
    y_dots = [y_dot]
    for k in range(first, len(x)):
        y_dot = _zero_where(ufunc in _POWERS and x[k] == 0, y_dot)
        before, (y, y_dot) = y, _FRULES[ufunc]((NoTangent(), y_dot, x_dot[k]), y, x[k])
        _check_way_back(ufunc, before if k > first else 0.0, y)
        y_dot = np.zeros(np.shape(y)) if is_zero(y_dot) else y_dot
        y_dots.append(y_dot)
    return y, y_dots


def _check_links(ufunc, y, last, x):
    """Refuse a reduction of the lanes `x` whose value is not that of its last link.

    NumPy's own is then wrong, as it has been for `power` and `arctan2`, and a derivative would be of another
    function. All powers of 1 are 1, whichever links are lost: they are asked for of another number.
    """
    _refuse_unlike(ufunc, y, last)
    if ufunc is np.power and len(x) > 2 and np.any(x[0] == 1):
        other = np.concatenate([np.full_like(x[:1], 2), x[1:]])
        with np.errstate(all="ignore"):
            last = functools.reduce(ufunc, other)
            _refuse_unlike(ufunc, ufunc.reduce(other), last, " with a 2 in place of the first 1")


def _refuse_unlike(ufunc, y, last, of=""):
    if not np.allclose(np.ravel(y), np.ravel(last), rtol=1e-4, atol=1e-6, equal_nan=True):
        refuse(
            f"np.{ufunc.__name__}.reduce gives {np.ravel(y)[0]}{of}, "
            f"but np.{ufunc.__name__} element by element gives {np.ravel(last)[0]}",
            f"use np.{ufunc.__name__}.accumulate(...)[-1]",
        )


def _first(x, axis):
    """The lanes of a reduction with their axis in front."""
    return np.moveaxis(lanes(np.asarray(x), axis), -1, 0)


def _zeros_like(x):
    return np.zeros(np.shape(x))


# Reductions whose slope at each number is one of that number and the result, so that no chain is needed.
_SLOPES = {np.hypot: share_of}
_BEGUN = {np.hypot: 0.0}  # what a reduction begins with: one number alone has a size


def _state_reduce_by_slopes(ufunc, slope):
    @TABLE.rrule(ufunc.reduce, leading=1, points=_points(ufunc, _REDUCTIONS))
    def reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        _check_plain(ufunc, "reduce", dtype, where)
        y = ufunc.reduce(array, axis, keepdims=keepdims, **given(("initial",), (initial,)))

        def reduce_pullback(y_bar):
            kept = kept_shape(np.shape(array), axis)
            x_bar = np.reshape(y_bar, kept) * slope(np.asarray(array), np.reshape(y, kept))
            return NoTangent(), like_argument(array, x_bar)

        return y, reduce_pullback


def _tangent_by_slopes(slope, x, x_dot, y, axis):
    """The tangent of a size, whose only kink is where it is 0. (Its links have one wherever all the numbers
    before them are 0.)
    """
    x_dot, size = dense(x, x_dot), np.reshape(y, kept_shape(np.shape(x), axis))
    moved = past_kink(slope(x, size) * x_dot, size, x, x_dot)
    return laid_out(y, np.reshape(np.sum(moved, axis=axis), np.shape(y)))


def _state_reduce_by_chain(ufunc):
    @TABLE.rrule(ufunc.reduce, leading=1, points=_points(ufunc, _REDUCTIONS, chained=True))
    def reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT):
        _check_plain(ufunc, "reduce", dtype, where)
        y = ufunc.reduce(array, axis, keepdims=keepdims, **given(("initial",), (initial,)))
        x = _first(array, axis)
        chain = Chain(ufunc, x, initial) if x.size else None
        if chain is not None:
            _check_links(ufunc, y, chain.last, x)

        def reduce_pullback(y_bar):
            if chain is None:
                return NoTangent(), like_argument(array, _zeros_like(array))
            x_bar = chain.cotangent(iter([np.reshape(y_bar, x.shape[1:])]))
            return NoTangent(), like_argument(
                array, from_lanes(np.moveaxis(x_bar, 0, -1), np.shape(array), axis)
            )

        return y, reduce_pullback


def _state_reduce(ufunc):
    reduce = ufunc.reduce
    if ufunc in _SLOPES:
        _state_reduce_by_slopes(ufunc, _SLOPES[ufunc])
    else:
        _state_reduce_by_chain(ufunc)

    @TABLE.frule(ufunc.reduce)
    def reduce_frule(
        tangents, array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=ABSENT
    ):
        _check_plain(ufunc, "reduce", dtype, where)
        y = reduced(reduce, array, axis, keepdims, initial, ABSENT)
        x = _first(array, axis)
        if not x.size:
            return y, no_change(y)
        if ufunc in _SLOPES and initial is ABSENT and np.all(np.isfinite(y)):
            return y, _tangent_by_slopes(_SLOPES[ufunc], np.asarray(array), tangents[1], y, axis)
        start = _BEGUN.get(ufunc, ABSENT) if initial is ABSENT else initial
        last, dots = _tangents_along(ufunc, x, _first(dense(array, tangents[1]), axis), start)
        _check_links(ufunc, y, last, x)
        return y, np.reshape(dots[-1], np.shape(y))


def _state_accumulate(ufunc):
    accumulate = ufunc.accumulate

    @TABLE.rrule(ufunc.accumulate, leading=1, points=_points(ufunc, _ACCUMULATIONS))
    def accumulate_rrule(array, axis=0, dtype=None, out=None):
        _check_plain(ufunc, "accumulate", dtype)
        y = ufunc.accumulate(array, axis)
        x = np.moveaxis(np.asarray(array), axis, 0)
        chain = Chain(ufunc, x) if x.size else None

        def accumulate_pullback(y_bar):
            if chain is None:
                return NoTangent(), like_argument(array, _zeros_like(array))
            x_bar = chain.cotangent(iter(np.moveaxis(y_bar, axis, 0)[::-1]))
            return NoTangent(), like_argument(array, np.moveaxis(x_bar, 0, axis))

        return y, accumulate_pullback

    @TABLE.frule(ufunc.accumulate)
    def accumulate_frule(tangents, array, axis=0, dtype=None, out=None):
        _check_plain(ufunc, "accumulate", dtype)
        y, x = accumulate(array, axis), np.moveaxis(np.asarray(array), axis, 0)
        if not x.size:
            return y, no_change(y)
        _, dots = _tangents_along(ufunc, x, np.moveaxis(dense(array, tangents[1]), axis, 0))
        return y, laid_out(y, np.moveaxis(np.stack(dots), 0, axis))


# -- reduceat: a reduction for each cut ----------------------------------------------------------------------


def pieces(indices, n):
    """What each entry of `reduceat` reduces: up to the next index, or one element if that is not larger.

    >>> pieces([0, 3, 1], 5)
    [slice(0, 3, None), slice(3, 4, None), slice(1, 5, None)]
    """
    ends = [*indices[1:], n]
    return [slice(start, stop if stop > start else start + 1) for start, stop in zip(indices, ends)]


def _state_reduceat(ufunc, reduce_rrule, reduce_frule):
    reduceat = ufunc.reduceat

    def parts(x, indices, axis):
        axis = axis % np.ndim(x)
        return [(slice(None),) * axis + (piece,) for piece in pieces(list(indices), np.shape(x)[axis])]

    @TABLE.rrule(ufunc.reduceat, leading=1, points=_points(ufunc, _CUTS, chained=True))
    def reduceat_rrule(array, indices, axis=0, dtype=None, out=None):
        _check_plain(ufunc, "reduceat", dtype)
        y, x = ufunc.reduceat(array, indices, axis), np.asarray(array)
        indices = np.array(indices)

        def reduceat_pullback(y_bar):
            x_bar = np.zeros(x.shape, np.result_type(y_bar, np.float32 if x.dtype == np.float32 else float))
            for part, bar in zip(parts(x, indices, axis), np.moveaxis(y_bar, axis, 0)):
                entries = x[part]
                if np.shape(entries)[axis] == 1:  # which is the result, with its sign: nothing is called
                    x_bar[part] += np.reshape(bar, np.shape(entries))
                    continue
                _, pullback = reduce_rrule(entries, axis)
                x_bar[part] += unthunk(pullback(bar)[1])
            return NoTangent(), like_argument(array, x_bar)

        return y, reduceat_pullback

    @TABLE.frule(ufunc.reduceat)
    def reduceat_frule(tangents, array, indices, axis=0, dtype=None, out=None):
        _check_plain(ufunc, "reduceat", dtype)
        x, x_dot = np.asarray(array), dense(array, tangents[1])
        dots = [
            np.take(x_dot[part], 0, axis)
            if np.shape(x[part])[axis] == 1
            else reduce_frule((NoTangent(), x_dot[part]), x[part], axis)[1]
            for part in parts(x, indices, axis)
        ]
        y = reduceat(array, indices, axis)
        return y, laid_out(y, np.stack(dots, axis))


for _ufunc in BINARY:
    _known = {name for ufunc, name in METHODS_OF_UFUNCS if ufunc is _ufunc}
    if "outer" not in _known:
        _state_outer(_ufunc)
    if "reduce" not in _known:
        _state_reduce(_ufunc)
    if "accumulate" not in _known:
        _state_accumulate(_ufunc)


def _reduction(ufunc, mode):
    """The rule of `ufunc.reduce` in a mode, stated here or beside the function it stands for."""
    own = [
        rule.function
        for target, rule in TABLE.rules
        if getattr(target, "__self__", None) is ufunc and target.__name__ == "reduce" and rule.mode == mode
    ]
    return own[0] if own else METHODS_OF_UFUNCS[ufunc, "reduce"][mode == "frule"]


for _ufunc in BINARY:
    _state_reduceat(_ufunc, _reduction(_ufunc, "rrule"), _reduction(_ufunc, "frule"))


# -- questions -----------------------------------------------------------------------------------------------


def _no_pullback(y_bar):
    return (NoTangent(),)


def _state_question(ufunc):
    """Answers have no derivative, whoever collects them; the parameters are for the sake of `out`."""

    @TABLE.rrule(ufunc.reduce, leading=0, differentiable=False)
    def reduce_rrule(array, axis=0, dtype=None, out=None, keepdims=False, initial=ABSENT, where=True):
        return ufunc.reduce(
            array, axis, dtype, None, keepdims, where=where, **given(("initial",), (initial,))
        ), _no_pullback

    @TABLE.rrule(ufunc.accumulate, leading=0, differentiable=False)
    def accumulate_rrule(array, axis=0, dtype=None, out=None):
        return ufunc.accumulate(array, axis, dtype), _no_pullback

    @TABLE.rrule(ufunc.reduceat, leading=0, differentiable=False)
    def reduceat_rrule(array, indices, axis=0, dtype=None, out=None):
        return ufunc.reduceat(array, indices, axis, dtype), _no_pullback

    TABLE.non_differentiable(ufunc.outer)


for _ufunc in QUESTIONS:
    _state_question(_ufunc)
