"""The rules of an elementwise function in both modes, made from its partial derivatives."""

from __future__ import annotations

import numpy as np

from ..errors import KeywordError, RuleCountError
from ..own_code import stands_in
from ..tangents.algebra import add
from ..tangents.forms import by_missing, form_of, no_change
from ..tangents.missing import NotImplementedTangent
from ..tangents.one import One
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk, unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent

stands_in(__file__)

_NUMERIC = (int, float, complex, np.ndarray, np.number)


def scalar_rrule(f, name, partials):
    """The rrule: x̄ᵢ = Σⱼ conj(∂yⱼ/∂xᵢ) ȳⱼ, summed over the axes along which xᵢ was broadcast."""

    def rrule(*xs, **kwargs):
        _refuse_keywords(name, kwargs)
        _check_arity(name, partials, len(xs))
        y = f(*xs)
        rows = _rows(name, partials(y, *xs), y, len(xs))
        several = isinstance(y, tuple)  # so that the pullback does not keep y, which may be large

        def pullback(y_bar):
            if len(rows) == 1 and _is_plain(y_bar) and all(map(_is_plain, rows[0])):
                return NoTangent(), *[unbroadcast(p * y_bar, x) for p, x in zip(rows[0], xs)]
            seeds = tuple(y_bar) if several else (y_bar,)
            return NoTangent(), *[_cotangent(x, i, rows, seeds) for i, x in enumerate(xs)]

        pullback.__name__ = pullback.__qualname__ = f"{_plain(name)}_pullback"
        return y, pullback

    rrule.__name__ = rrule.__qualname__ = f"{_plain(name)}_rrule"
    return rrule


def scalar_frule(f, name, partials):
    """The frule: ẏⱼ = Σᵢ ∂yⱼ/∂xᵢ ẋᵢ, in the shape of yⱼ.

    It is a program that is itself differentiated for second derivatives, including its partials. A partial
    whose tangent is zero is not evaluated further.
    """

    made = _FRULES.get(arity_of(partials), _frule_of_any)
    frule = made(f, name, partials)
    frule.__name__ = frule.__qualname__ = f"{_plain(name)}_frule"
    return frule


def _frule_of_one(f, name, partials):
    def frule(tangents, x, /):
        y, x_dot = f(x), tangents[1]
        if isinstance(y, tuple):
            return y, _tangents(name, y, partials(y, x), tangents)
        if isinstance(x_dot, AbstractZero):
            return y, no_change(y)
        partial = _only(partials(y, x))
        y_dot = partial * x_dot if isinstance(partial, _NUMERIC) else _product(partial, x_dot)
        return y, y_dot if type(y) is float and type(y_dot) is float else form_of(y, y_dot)

    return frule


def _frule_of_two(f, name, partials):
    def frule(tangents, x1, x2, /):
        y, x1_dot, x2_dot = f(x1, x2), tangents[1], tangents[2]
        given = partials(y, x1, x2)
        if isinstance(y, tuple) or not isinstance(given, tuple) or len(given) != 2:
            return y, _tangents(name, y, given, tangents)
        p1, p2 = given
        if isinstance(x2_dot, AbstractZero):
            y_dot = x2_dot if isinstance(x1_dot, AbstractZero) else _product(p1, x1_dot)
        elif isinstance(x1_dot, AbstractZero):
            y_dot = _product(p2, x2_dot)
        elif isinstance(p1, _NUMERIC) and isinstance(p2, _NUMERIC):
            y_dot = p1 * x1_dot + p2 * x2_dot
        else:
            y_dot = _sum(_product(p1, x1_dot), _product(p2, x2_dot))
        return y, y_dot if type(y) is float and type(y_dot) is float else form_of(y, y_dot)

    return frule


def _frule_of_three(f, name, partials):
    """With named parameters: in a tuple of arguments, one that varies would make all of them vary."""

    def frule(tangents, x1, x2, x3, /):
        y = f(x1, x2, x3)
        return y, _tangents(name, y, partials(y, x1, x2, x3), tangents)

    return frule


def _frule_of_four(f, name, partials):
    def frule(tangents, x1, x2, x3, x4, /):
        y = f(x1, x2, x3, x4)
        return y, _tangents(name, y, partials(y, x1, x2, x3, x4), tangents)

    return frule


def _frule_of_any(f, name, partials):
    def frule(tangents, *xs):
        y = f(*xs)
        return y, _tangents(name, y, partials(y, *xs), tangents)

    return frule


_FRULES = {1: _frule_of_one, 2: _frule_of_two, 3: _frule_of_three, 4: _frule_of_four}


def check_call(name, partials, count, kwargs):
    """Refuse a call of a scalar rule with keywords, or with the wrong number of arguments."""
    _refuse_keywords(name, kwargs)
    _check_arity(name, partials, count)


def _only(given):
    """The partial for a single argument, which may be in a tuple."""
    return given[0] if isinstance(given, tuple) else given


def arity_of(partials):
    """The number of arguments that a `lambda out, *xs:` covers; None for any number."""
    code = partials.__code__
    return None if code.co_flags & 0x04 else code.co_argcount - 1


def _plain(name):
    return name.rsplit(".", 1)[-1]


def _refuse_keywords(name, kwargs):
    if kwargs:  # before the primal runs, since `out=` would write and `where=` leave parts undefined
        raise KeywordError(
            f"{name} was called with {', '.join(f'{k}=…' for k in kwargs)}, not covered by its scalar rule",
            fixes=("leave the keyword out", f"write a full rule: @rl.rrule_for({name})"),
        )


def _check_arity(name, partials, count):
    arity = arity_of(partials)
    if arity is not None and arity != count:
        raise RuleCountError(f"the scalar rule of {name} is for {arity} arguments, but the call has {count}")


def _rows(name, given, y, count):
    """The partials, as one tuple of `count` for each output."""
    _check_rows(name, given, y, count)
    outputs = given if isinstance(y, tuple) else (given,)
    return [row if isinstance(row, tuple) else (row,) for row in outputs]


def _check_rows(name, given, y, count):
    """Raise RuleCountError unless there are `count` partials for each output."""
    if isinstance(y, tuple) and (not isinstance(given, tuple) or len(given) != len(y)):
        raise RuleCountError(
            f"{name} has {len(y)} outputs; its scalar rule must give a tuple of partials for each"
        )
    for row in given if isinstance(y, tuple) else (given,):
        size = len(row) if isinstance(row, tuple) else 1
        if size != count:
            raise RuleCountError(
                f"the scalar rule of {name} gives {size} partial{'s' * (size != 1)} "
                f"for {count} argument{'s' * (count != 1)}"
            )


def _cotangent(x, i, rows, seeds):
    total = ZeroTangent()
    for row, y_bar in zip(rows, seeds):
        total = add(total, _times(_conjugate(row[i]), y_bar))
    return unbroadcast(total, x)


def _is_plain(value):
    """Whether a partial or a seed is a real number or array, which needs no conversion before
    multiplication.
    """
    kind = type(value)
    return kind is float or kind is np.float64 or (kind is np.ndarray and value.dtype.kind == "f")


def _conjugate(partial):
    is_complex = isinstance(partial, (complex, np.complexfloating)) or (
        isinstance(partial, np.ndarray) and partial.dtype.kind == "c"
    )
    return partial.conjugate() if is_complex else partial


def _times(partial, t):
    partial, t = unthunk(partial), unthunk(t)
    if isinstance(partial, AbstractZero):
        return partial
    if isinstance(t, AbstractZero):
        return t
    for factor in (partial, t):
        if isinstance(factor, NotImplementedTangent):
            return factor
    return partial * t


def _tangents(name, y, given, tangents):
    """The tangent of `y`; a tuple of tangents if `y` is a tuple."""
    _check_rows(name, given, y, len(tangents) - 1)
    if isinstance(y, tuple):
        return tuple([_tangent(y_j, row, tangents) for y_j, row in zip(y, given)])
    return _tangent(y, given, tangents)


def _tangent(y, row, tangents):
    """Σᵢ pᵢ ẋᵢ over the partials in `row`, in the form of `y`; the first of `tangents` is that of the
    function.
    """
    y_dot = ZeroTangent()
    for i, partial in enumerate(row if isinstance(row, tuple) else (row,)):
        if not isinstance(tangents[i + 1], AbstractZero):
            y_dot = _sum(y_dot, _product(partial, tangents[i + 1]))
    return form_of(y, y_dot)


def _product(partial, x_dot):
    if isinstance(partial, Thunk):
        partial = unthunk(partial)
    if isinstance(partial, AbstractZero):
        return partial
    if isinstance(x_dot, Thunk):
        x_dot = unthunk(x_dot)
    if isinstance(partial, NotImplementedTangent):
        return x_dot if isinstance(x_dot, AbstractZero) else by_missing(partial, x_dot)
    # A copy: y may be written to, and its tangent with it, but x_dot must not be.
    if isinstance(partial, One):
        return x_dot.copy() if isinstance(x_dot, np.ndarray) else x_dot
    return x_dot if isinstance(x_dot, NotImplementedTangent) else partial * x_dot


def _sum(total, part):
    if isinstance(total, AbstractZero) or isinstance(part, NotImplementedTangent):
        return part
    if isinstance(part, AbstractZero) or isinstance(total, NotImplementedTangent):
        return total
    return total + part
