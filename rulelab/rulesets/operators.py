"""Rules for Python's operators and for the builtins that compute, on numbers, arrays, lists, tuples and
dicts.

On arrays an operator is the ufunc of the same name: broadcasting, and the conventions of `numpy_elementwise`.
`max` and `min` of several arguments follow the binary functions (a tie goes to the last argument of `max`, to
the
first of `min`); of one sequence, the first of the largest has it all.
"""

import builtins
import operator
from collections import defaultdict

import numpy as np

from ..errors import an
from ..rules.programs import refuse_attribute
from ..rules.rule_table import RuleTable
from ..tangents.algebra import add
from ..tangents.forms import form_of, no_change
from ..tangents.missing import MissingSlope
from ..tangents.projection import unbroadcast
from ..tangents.structural import Tangent, one_part
from ..tangents.thunks import thunk, unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .array_likes import is_zero, refuse
from .linalg_products import matmul_left_bar, matmul_right_bar
from .numpy_elementwise import (
    ANY,
    PAIRS,
    POWERS,
    REMAINDERS,
    Array,
    Number,
    absolute_bar,
    conjugate,
    direction,
    over,
    remainder_partials,
    row,
    size_tangent,
    state_power,
    tangent_sum,
)

TABLE = RuleTable("operators")

Items = list | tuple


# -- arithmetic ----------------------------------------------------------------------------------------------

row(operator.add, lambda out, x, y: (1.0, 1.0), PAIRS, TABLE)
row(operator.sub, lambda out, x, y: (1.0, -1.0), PAIRS, TABLE)
row(operator.mul, lambda out, x, y: (y, x), PAIRS, TABLE)
row(operator.truediv, lambda out, x, y: (over(1, y), -out / y), PAIRS, TABLE)
row(operator.mod, remainder_partials, REMAINDERS, TABLE)
row(operator.floordiv, lambda out, x, y: (0.0, 0.0), REMAINDERS[:8], TABLE)
row(operator.neg, lambda out, x: -1.0, ANY, TABLE)
row(operator.pos, lambda out, x: 1.0, ANY, TABLE)
state_power(TABLE, operator.pow, [*POWERS, (-8.0, 1 / 3), (2, 3), (2, -3)])
state_power(TABLE, builtins.pow, [(0.3, 1.5), (np.array([0.3, 2.0]), np.array([[2.0], [-1.0]]))])


def _state_absolute(target):
    @TABLE.rrule(target, leading=1, points=ANY, cotangents=(absolute_bar,))
    def abs_rrule(x: Number, /):
        """`abs(x)`: the direction `x / abs(x)`, 0 at 0."""
        out = target(x)

        def abs_pullback(y_bar):
            return NoTangent(), unbroadcast(direction(x, out) * np.real(y_bar), x)

        return out, abs_pullback

    @TABLE.frule(target)
    def abs_frule(tangents, x: Number, /):
        out = target(x)
        return out, size_tangent(x, out, tangents[1])


_state_absolute(operator.abs)
_state_absolute(builtins.abs)


def _transposed(a):
    """The conjugate transpose of the last two axes."""
    return np.swapaxes(conjugate(a), -1, -2)


def _as_matrices(a, b):
    """The operands of `a @ b` as matrices: a vector is a row on the left, a column on the right."""
    return (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)


def _as_matrix_result(y_bar, a, b):
    """A cotangent of `a @ b` with the axes that its vectors dropped."""
    y_bar = np.asarray(y_bar)
    if b.ndim == 1:
        y_bar = y_bar[..., None]
    return y_bar[..., None, :] if a.ndim == 1 else y_bar


_M, _N = np.array([[0.3, -1.2, 2.0], [1.5, 0.4, -0.7]]), np.array([[1.0, 0.2], [-0.5, 2.0], [0.7, -1.1]])


@TABLE.rrule(
    operator.matmul,
    leading=2,
    cotangents=(matmul_left_bar, matmul_right_bar),
    points=[
        (_M, _N),
        (_M[0], _N),
        (_M, _N[:, 0]),
        (_M[0], _N[:, 1]),
        (np.stack([_M, 2 * _M]), _N),
        (_M, np.stack([_N, _N - 1])),
        (_M[0], np.stack([_N, _N - 1])),
        (np.stack([_M, 2 * _M]), _N[:, 0]),
        (np.zeros((0, 3)), _N),
        (_M * (1 + 2j), _N),
        (_M.astype(np.float32), _N.astype(np.float32)),
        (np.array([[1, 2, 3]]), _N),
        (_M[None, None], np.stack([_N] * 3)),
    ],
)
def matmul_rrule(a: Array, b: Array, /):
    """`a @ b` with shapes (…, n, k) and (…, k, m) or vectors: `a_bar = y_bar bᴴ`, `b_bar = aᴴ y_bar`."""
    left, right = _as_matrices(a, b)

    def matmul_pullback(y_bar):
        wide = _as_matrix_result(y_bar, a, b)
        return (
            NoTangent(),
            thunk(lambda: unbroadcast(wide @ _transposed(right), left).reshape(a.shape)),
            thunk(lambda: unbroadcast(_transposed(left) @ wide, right).reshape(b.shape)),
        )

    return operator.matmul(a, b), matmul_pullback


@TABLE.frule(operator.matmul)
def matmul_frule(tangents, a: Array, b: Array, /):
    y, a_dot, b_dot = a @ b, tangents[1], tangents[2]
    if is_zero(a_dot) or is_zero(b_dot):
        return y, a @ b_dot if is_zero(a_dot) and not is_zero(b_dot) else _times_right(y, a_dot, b)
    return y, a_dot @ b + a @ b_dot


def _times_right(y, a_dot, b):
    return no_change(y) if is_zero(a_dot) else a_dot @ b


# -- lists, tuples, dicts ------------------------------------------------------------------------------------

_XS, _YS = [0.3, np.array([1.0, -2.0])], [2.0]


def _state_concatenation(target):
    @TABLE.rrule(target, leading=2, points=[(_XS, _YS), ((0.3,), (1.0, 2.0)), ([], _YS)])
    def concat_rrule(a: Items, b: Items, /):
        """`a + b`, one list or tuple after the other."""

        def concat_pullback(y_bar):
            bars = list(y_bar)
            return NoTangent(), Tangent(type(a), *bars[: len(a)]), Tangent(type(b), *bars[len(a) :])

        return target(a, b), concat_pullback


    @TABLE.frule(target)
    def concat_frule(tangents, a: Items, b: Items, /):
        return target(a, b), target(_dots(a, tangents[1]), _dots(b, tangents[2]))


def _dots(xs, xs_dot):
    """The tangent of a list or tuple, of its kind and length."""
    return type(xs)([no_change(x) for x in xs]) if is_zero(xs_dot) else xs_dot


def _dots_of_items(xs, xs_dot):
    """The tangents of the items of a list, tuple or array, as a list."""
    return [no_change(x) for x in xs] if is_zero(xs_dot) else list(xs_dot)


_state_concatenation(operator.add)
_state_concatenation(operator.concat)


def _folded(xs, bars):
    """The cotangent of `xs` from those of its copies, one after another."""
    totals = [ZeroTangent()] * len(xs)
    for i, x_bar in enumerate(bars):
        totals[i % len(xs)] = add(totals[i % len(xs)], x_bar)
    return Tangent(type(xs), *totals)


@TABLE.rrule(operator.mul, leading=1, points=[(_XS, 3), ((0.3, 1.0), 2), ([0.5], 0)])
def repeat_rrule(a: Items, b: int | np.integer, /):
    """`a * n`: the list, n times over."""

    def repeat_pullback(y_bar):
        return NoTangent(), _folded(a, list(y_bar))

    return a * b, repeat_pullback


@TABLE.frule(operator.mul)
def repeat_frule(tangents, a: Items, b: int | np.integer, /):
    return a * b, _dots(a, tangents[1]) * b


@TABLE.frule(operator.mul)
def repeated_frule(tangents, a: int | np.integer, b: Items, /):
    return a * b, a * _dots(b, tangents[2])


@TABLE.rrule(operator.mul, leading=2, points=[(2, [0.3, 1.0])])
def repeated_rrule(a: int | np.integer, b: Items, /):
    def repeated_pullback(y_bar):
        return NoTangent(), NoTangent(), _folded(b, list(y_bar))

    return a * b, repeated_pullback


def check_factory(a, key):
    """NotDifferentiableError where a defaultdict would make an entry of what its factory holds: a copy of a
    dict has the cotangents of its entries, and none of its factory.
    """
    if isinstance(a, defaultdict) and key not in a:
        refuse_attribute("default_factory", a.default_factory)


@TABLE.rrule(
    operator.getitem,
    leading=1,
    points=[
        (_XS, 0),
        (_XS, -1),
        ((0.3, 1.0, 2.0), slice(None, None, -2)),
        ({"a": 0.3, "b": np.array([1.0, 2.0])}, "b"),
        ([0.3, [1.0, 2.0]], 1),
        ([0.3, 1.0], np.int64(1)),
        ([0.3, 1.0], slice(5, 9)),
    ],
)
def getitem_rrule(a: list | tuple | dict, b, /):
    """`a[b]`: an entry of a list, tuple or dict, or a slice; the other entries get nothing."""

    check_factory(a, b)
    y, kind, size = a[b], type(a), len(a)  # and no more of `a`, which may change

    def getitem_pullback(y_bar):
        return NoTangent(), one_part(kind, size, b, y_bar)

    return y, getitem_pullback


@TABLE.rrule(operator.or_, leading=2, points=())
def merge_rrule(a: dict, b: dict, /):
    """`a | b`: the entries of both, those of `b` where both have one."""

    def merge_pullback(y_bar):
        return (
            NoTangent(),
            Tangent(dict, {key: y_bar[key] for key in a if key not in b}),
            Tangent(dict, {key: y_bar[key] for key in b}),
        )

    return a | b, merge_pullback


@TABLE.frule(operator.or_)
def merge_frule(tangents, a: dict, b: dict, /):
    return a | b, _entry_dots(a, tangents[1]) | _entry_dots(b, tangents[2])


def _entry_dots(d, d_dot):
    return {key: no_change(x) for key, x in d.items()} if is_zero(d_dot) else d_dot


Sequence = list | tuple | np.ndarray
_NUMBERS = (int, float, complex, np.number, np.bool_)


def _copy(x_bar):
    """A cotangent that shares no memory with `x_bar`, for a seed that goes to several places."""
    return x_bar.copy() if isinstance(x_bar, np.ndarray) else x_bar


def _of_items(xs, bars):
    """The cotangents of the items as that of the sequence: an array for an array, zeros filled in, else a
    Tangent.
    """
    if not isinstance(xs, np.ndarray):
        return Tangent(type(xs), *bars)
    x_bar = np.zeros(xs.shape, xs.dtype if xs.dtype.kind in "fc" else float)
    for i, bar in enumerate(map(unthunk, bars)):
        if isinstance(bar, MissingSlope):  # which no array holds
            return bar
        if not is_zero(bar):
            x_bar[i] = bar
    return x_bar


def _copied_items(target):
    """A rule for `list(xs)` and `tuple(xs)`: the same items in another container."""

    @TABLE.rrule(
        target, leading=1, points=[([0.3, 1.0],), ((0.3, np.array([1.0, 2.0])),), (np.array([0.3, 1.0]),)]
    )
    def copied_rrule(iterable: Sequence = (), /):
        def copied_pullback(y_bar):
            return NoTangent(), _of_items(iterable, list(y_bar))

        return target(iterable), copied_pullback


    @TABLE.frule(target)
    def copied_frule(tangents, iterable: Sequence, /):
        return target(iterable), target(_dots_of_items(iterable, tangents[1]))


_copied_items(list)
_copied_items(tuple)


@TABLE.rrule(
    sorted,
    leading=1,
    points=[
        ([0.3, -1.2, 2.0],),
        ((2.0, 0.3),),
        (np.array([0.3, -1.2]),),
        (([0.3, -1.2, 2.0],), {"reverse": True}),
        (([0.3, -1.2],), {"key": abs}),
    ],
)
def sorted_rrule(iterable: Sequence, /, *, key=None, reverse=False):
    """A permutation: each item's cotangent goes back to where the item was; equal items keep their order."""
    order = _sorting_order(iterable, key, reverse)

    def sorted_pullback(y_bar):
        bars = [ZeroTangent()] * len(order)
        for position, bar in zip(order, y_bar, strict=True):
            bars[position] = bar
        return NoTangent(), _of_items(iterable, bars)

    return [iterable[i] for i in order], sorted_pullback


def _sorting_order(xs, key, reverse):
    ranks = list(xs) if key is None else [key(x) for x in xs]
    return sorted(range(len(ranks)), key=ranks.__getitem__, reverse=reverse)


@TABLE.frule(sorted)
def sorted_frule(tangents, iterable: Sequence, /, *, key=None, reverse=False):
    order, dots = _sorting_order(iterable, key, reverse), _dots_of_items(iterable, tangents[1])
    return [iterable[i] for i in order], [dots[i] for i in order]


@TABLE.rrule(
    sum,
    leading=2,
    points=[
        ([0.3, -1.2, 2.0],),
        ((0.3, 1.0), 2.5),
        ([],),
        ([1, 2],),
        (np.array([0.3, -1.2]),),
        (np.ones((3, 2)),),
        ([np.array([1.0, 2.0]), 0.5],),
        ([np.ones((2, 1)), np.array([1.0, 2.0])], 1.5),
        ([0.3, 1 - 2j],),
    ],
)
def sum_rrule(iterable: Sequence, /, start=0):
    """`start + x[0] + x[1] + …` with broadcasting: the seed for each, summed to its shape."""
    _check_summands(iterable, start)

    def sum_pullback(y_bar):
        bars = [_copy(unbroadcast(y_bar, x)) for x in iterable]
        return NoTangent(), _of_items(iterable, bars), _copy(unbroadcast(y_bar, start))

    return sum(iterable, start), sum_pullback


def _check_summands(iterable, start):
    for x in (start, *(() if isinstance(iterable, np.ndarray) else iterable)):
        if not isinstance(x, (int, float, complex, np.number, np.bool_, np.ndarray)):
            refuse(
                f"sum is differentiated for numbers and arrays only, not for {an(type(x).__name__)}",
                "add them in a loop: s = s + x",
            )


@TABLE.frule(sum)
def sum_frule(tangents, iterable: Sequence, /, start=0):
    _check_summands(iterable, start)
    y = sum(iterable, start)
    y_dot = tangents[2] if len(tangents) > 2 else NoTangent()
    for x_dot in [] if is_zero(tangents[1]) else tangents[1]:
        if not is_zero(x_dot):
            y_dot = 1.0 * x_dot if is_zero(y_dot) else y_dot + x_dot
    return y, form_of(y, y_dot)


def winner(extreme, xs, key):
    """The position of the item that `max` or `min` chooses: the first of equal ones.

    >>> winner(max, [1.0, 3.0, 3.0], None)
    1
    """
    ranks = list(xs) if key is None else [key(x) for x in xs]
    return extreme(range(len(ranks)), key=ranks.__getitem__)


def winner_of_several(extreme, xs, key):
    """The positions of the argument that `max(x, y, …)` or `min` returns, and of the one that gets the
    derivative: by convention the last of equal ones for `max`, of plain numbers only. Arguments that `key`
    finds equal, and equal lists, are different ones.

    >>> winner_of_several(max, [1.0, 3.0, 3.0], None), winner_of_several(max, [1.0, -1.0], abs)
    ((1, 2), (0, 0))
    """
    first = winner(extreme, xs, key)
    if extreme is not max or key is not None or not all(isinstance(x, _NUMBERS) for x in xs):
        return first, first
    return first, builtins.max([i for i, x in enumerate(xs) if x == xs[first]], default=first)


def _refuse_default(extreme, args, default):
    """Of several arguments there is always one: Python itself takes no `default=` beside them."""
    if default:
        extreme(*args, **default)


def _largest_of_one(extreme, iterable, key, default):
    if len(iterable) == 0:
        # The primal's own error, or its default; neither depends on the items, of which there are none.
        return extreme(iterable, key=key, **default), lambda y_bar: (NoTangent(), ZeroTangent())
    chosen = winner(extreme, iterable, key)

    def extreme_pullback(y_bar):
        bars = [ZeroTangent()] * len(iterable)
        bars[chosen] = y_bar
        return NoTangent(), _of_items(iterable, bars)

    return iterable[chosen], extreme_pullback


def _largest_of_several(extreme, xs, key):
    chosen, by_convention = winner_of_several(extreme, xs, key)

    def extreme_pullback(y_bar):
        return NoTangent(), *[y_bar if i == by_convention else ZeroTangent() for i in range(len(xs))]

    return xs[chosen], extreme_pullback


def _state_extreme(extreme):
    @TABLE.rrule(
        extreme,
        leading=64,
        points=[
            ([0.3, -1.2, 2.0],),
            (np.array([0.3, -1.2]),),
            ((3, 0.5),),
            (0.3, -1.2),
            (0.3, 2, -1.5),
            ((0.3, -1.2), {"key": lambda x: x * x}),
        ],
    )
    def extreme_rrule(*args, key=None, **default):
        """The largest (smallest) of its arguments, or of the items of the only one."""
        if len(args) > 1:
            _refuse_default(extreme, args, default)
            return _largest_of_several(extreme, args, key)
        if isinstance(args[0], (range, str, bytes)):  # of which no item varies

            def constant_pullback(y_bar):
                return NoTangent(), NoTangent()

            return extreme(args[0], key=key, **default), constant_pullback
        if not isinstance(args[0], Sequence):
            refuse(f"{extreme.__name__} of {an(type(args[0]).__name__)} is not differentiated",
                   "convert it to a list first")
        return _largest_of_one(extreme, args[0], key, default)

    @TABLE.frule(extreme)
    def extreme_frule(tangents, *args, key=None, **default):
        xs, dots = args, tangents[1:]
        if len(args) == 1:
            if not isinstance(args[0], Sequence):
                what = f"{extreme.__name__} of {an(type(args[0]).__name__)} is not differentiated"
                refuse(what, "convert it to a list first")
            xs, dots = args[0], _dots_of_items(args[0], tangents[1])
        else:
            _refuse_default(extreme, args, default)
        if len(xs) == 0:
            return extreme(xs, key=key, **default), NoTangent()
        chosen = by_convention = winner(extreme, xs, key)
        if len(args) > 1:
            chosen, by_convention = winner_of_several(extreme, xs, key)
        return xs[chosen], dots[by_convention]


_state_extreme(max)
_state_extreme(min)


# -- conversions and rounding --------------------------------------------------------------------------------


def _spread(y_bar, x):
    """A scalar cotangent in the shape of `x`, which may be an array of one element."""
    return np.full(x.shape, y_bar) if isinstance(x, np.ndarray) else y_bar


@TABLE.rrule(float, leading=1, points=[(0.3,), (2,), (np.float32(0.5),), (np.array(0.3),)])
def float_rrule(x: int | float | np.number | np.bool_ | np.ndarray = 0.0, /):
    """The same number as a Python float."""

    def float_pullback(y_bar):
        return NoTangent(), _spread(np.real(y_bar), x)

    return float(x), float_pullback


@TABLE.frule(float)
def float_frule(tangents, x: int | float | np.number | np.bool_ | np.ndarray = 0.0, /):
    if len(tangents) < 2 or is_zero(tangents[1]):
        return float(x), NoTangent()
    return float(x), float(np.real(tangents[1]))


@TABLE.rrule(complex, leading=2, points=[(0.3,), (0.3, -1.2), (1 - 2j,), (1 - 2j, 2j)])
def complex_rrule(real: Number = 0, imag: Number = 0):
    """`real + 1j * imag`; a real part gets that of the seed, an imaginary part the imaginary."""

    def complex_pullback(y_bar):
        return NoTangent(), unbroadcast(y_bar, real), unbroadcast(-1j * y_bar, imag)

    return complex(real, imag), complex_pullback


@TABLE.frule(complex)
def complex_frule(tangents, real: Number = 0, imag: Number = 0):
    parts = [0.0 if is_zero(dot) else dot for dot in (*tangents[1:], NoTangent(), NoTangent())[:2]]
    return complex(real, imag), complex(parts[0] + 1j * parts[1])


def _state_constant_between_jumps(target, points):
    @TABLE.rrule(target, leading=1, points=points)
    def step_rrule(x: Number, /, *digits):
        def step_pullback(y_bar):
            return NoTangent(), ZeroTangent()

        return target(x, *digits), step_pullback

    @TABLE.frule(target)
    def step_frule(tangents, x: Number, /, *digits):
        return target(x, *digits), NoTangent()


_state_constant_between_jumps(int, [(0.3,), (-1.2,), (np.float64(2.6),), (np.array(2.6),)])
_state_constant_between_jumps(round, [(0.3,), (-1.2,), (2.64, 1), (np.float64(2.6),)])


@TABLE.rrule(
    divmod,
    leading=2,
    points=[(7.3, 1.5), (-7.3, 1.5), (np.array([7.3, -2.0]), np.array([[1.5], [-0.7]])), (7, 3)],
)
def divmod_rrule(x: Number, y: Number, /):
    """The quotient is constant between jumps; the remainder has the partials of `x % y`."""
    out = divmod(x, y)

    def divmod_pullback(y_bar):
        _, remainder_bar = y_bar
        remainder_bar = unthunk(remainder_bar)
        if is_zero(remainder_bar):
            return NoTangent(), ZeroTangent(), ZeroTangent()
        by_x, by_y = remainder_partials(out[1], x, y)
        return NoTangent(), unbroadcast(by_x * remainder_bar, x), unbroadcast(by_y * remainder_bar, y)

    return out, divmod_pullback


@TABLE.frule(divmod)
def divmod_frule(tangents, x: Number, y: Number, /):
    out = divmod(x, y)
    partials = remainder_partials(out[1], x, y)
    return out, (no_change(out[0]), tangent_sum(out[1], partials, tangents[1:]))


# -- questions, which have no derivative ---------------------------------------------------------------------

TABLE.non_differentiable(
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.not_,
    operator.truth,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.countOf,
    operator.indexOf,
    operator.index,
    operator.length_hint,
)


def no_pullback(y_bar):
    """The pullback of a result that nothing flows back through."""
    return (NoTangent(),)


def state_constant(target, first, second):
    """`target(x, y)` has no derivative for arguments of these types; for others its other rules stand."""

    @TABLE.rrule(target, leading=0)
    def constant_rrule(x: first, y: second, /):
        return target(x, y), no_pullback

    @TABLE.frule(target)
    def constant_frule(tangents, x: first, y: second, /):
        return target(x, y), NoTangent()


def state_constant_of_one(target, only):
    """The same for a function of one argument."""

    @TABLE.rrule(target, leading=0)
    def constant_rrule(x: only, /):
        return target(x), no_pullback

    @TABLE.frule(target)
    def constant_frule(tangents, x: only, /):
        return target(x), NoTangent()


for _bitwise in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
    state_constant(_bitwise, Number, Number)
state_constant_of_one(operator.invert, Number)

# Text: joining, repeating, formatting, taking characters, reading numbers. No cotangent can reach what is
# written in it.
for _textual in (operator.add, operator.mul, operator.mod, operator.getitem):
    state_constant(_textual, str, object)
state_constant(operator.mul, int, str)
state_constant(int, str, int)
for _reader in (float, int, complex):
    state_constant_of_one(_reader, str)


@TABLE.rrule(type, leading=0, differentiable=False)
def type_rrule(x: object, /):
    return type(x), no_pullback


@TABLE.frule(type, differentiable=False)
def type_frule(tangents, x: object, /):
    return type(x), NoTangent()



# Text made from a number carries no cotangent; that none is read back from it is the compiler's to see.
TABLE.non_differentiable(
    *[getattr(str, name) for name in dir(str) if not name.startswith("_") and name != "maketrans"]
)
TABLE.non_differentiable(
    len,
    range,
    slice,
    isinstance,
    issubclass,
    id,
    hash,
    repr,
    str,
    ascii,
    format,
    print,
    bool,
    bin,
    hex,
    oct,
    chr,
    ord,
    callable,
    any,
    all,
    dir,
    hasattr,
    object,
)


# -- zeros that stand for tangents ---------------------------------------------------------------------------
# What takes a pair of a constant and a number apart computes with the tangents of both.


def _state_with_zero(target):
    @TABLE.rrule(target, leading=2)
    def zeros_rule(a: AbstractZero, b: AbstractZero, /):
        return target(a, b), lambda y_bar: (NoTangent(), NoTangent(), NoTangent())

    @TABLE.frule(target)
    def zeros_frule(tangents, a: AbstractZero, b: AbstractZero, /):
        return target(a, b), NoTangent()

    @TABLE.rrule(target, leading=2)
    def zero_left_rule(a: AbstractZero, b, /):
        return target(a, b), lambda y_bar: (NoTangent(), NoTangent(), of_terms(target, NoTangent(), y_bar))

    @TABLE.rrule(target, leading=2)
    def zero_right_rule(a, b: AbstractZero, /):
        return target(a, b), lambda y_bar: (NoTangent(), of_terms(target, y_bar, NoTangent()), NoTangent())

    @TABLE.frule(target)
    def zero_left_frule(tangents, a: AbstractZero, b, /):
        return target(a, b), of_terms(target, NoTangent(), tangents[2])

    @TABLE.frule(target)
    def zero_right_frule(tangents, a, b: AbstractZero, /):
        return target(a, b), of_terms(target, tangents[1], NoTangent())


def of_terms(target, a_dot, b_dot):
    """The tangent of a sum or difference, from that of the term that is no zero; so, too, the cotangent of
    the term from that of the sum. Of a product with a zero there is none.
    """
    return target(a_dot, b_dot) if target in (operator.add, operator.sub) else NoTangent()


for _target in (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul):
    _state_with_zero(_target)
