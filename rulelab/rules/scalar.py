"""The rules in both modes of an elementwise function, made from its partial derivatives."""

from __future__ import annotations

import numpy as np

from ..errors import KeywordError, RuleCountError
from ..tangents.algebra import add
from ..tangents.forms import form_of
from ..tangents.missing import NotImplementedTangent
from ..tangents.projection import unbroadcast
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent


def scalar_rrule(f, name, partials):
    """The rrule: x̄ᵢ = Σⱼ conj(∂yⱼ/∂xᵢ) ȳⱼ, summed over the axes along which xᵢ was repeated."""

    def rrule(*xs, **kwargs):
        _refuse_keywords(name, kwargs)
        _check_arity(name, partials, len(xs))
        y = f(*xs)
        rows = _rows(name, partials(y, *xs), y, len(xs))

        def pullback(y_bar):
            if len(rows) == 1 and _is_plain(y_bar) and all(map(_is_plain, rows[0])):
                return NoTangent(), *[unbroadcast(p * y_bar, x) for p, x in zip(rows[0], xs)]
            seeds = tuple(y_bar) if isinstance(y, tuple) else (y_bar,)
            return NoTangent(), *[_cotangent(x, i, rows, seeds) for i, x in enumerate(xs)]

        pullback.__name__ = pullback.__qualname__ = f"{_plain(name)}_pullback"
        return y, pullback

    rrule.__name__ = rrule.__qualname__ = f"{_plain(name)}_rrule"
    return rrule


def scalar_frule(f, name, partials):
    """The frule: ẏⱼ = Σᵢ ∂yⱼ/∂xᵢ ẋᵢ, of the shape of yⱼ.

    It is a program that is differentiated itself where second derivatives are asked for, and the partials
    with it. A partial whose tangent is not there is not touched.
    """

    def frule(tangents, *xs, **kwargs):
        _refuse_keywords(name, kwargs)
        _check_arity(name, partials, len(xs))
        y = f(*xs)
        given = partials(y, *xs)
        _check_rows(name, given, y, len(xs))
        if isinstance(y, tuple):
            return y, tuple([_tangent(y_j, row, tangents) for y_j, row in zip(y, given)])
        return y, _tangent(y, given, tangents)

    frule.__name__ = frule.__qualname__ = f"{_plain(name)}_frule"
    return frule


def arity_of(partials):
    """How many arguments a `lambda out, *xs:` answers for; None for any number."""
    code = partials.__code__
    return None if code.co_flags & 0x04 else code.co_argcount - 1


def _plain(name):
    return name.rsplit(".", 1)[-1]


def _refuse_keywords(name, kwargs):
    if kwargs:  # before the primal runs: `out=` would write, `where=` would leave parts undefined
        raise KeywordError(
            f"{name} was called with {', '.join(f'{k}=…' for k in kwargs)}, not covered by its scalar rule",
            fixes=("leave the keyword out", f"write a full rule: @rl.rrule_for({name})"),
        )


def _check_arity(name, partials, count):
    arity = arity_of(partials)
    if arity is not None and arity != count:
        raise RuleCountError(f"the scalar rule of {name} is for {arity} arguments, the call has {count}")


def _rows(name, given, y, count):
    """The partials as one tuple of `count` for each output."""
    _check_rows(name, given, y, count)
    outputs = given if isinstance(y, tuple) else (given,)
    return [row if isinstance(row, tuple) else (row,) for row in outputs]


def _check_rows(name, given, y, count):
    """RuleCountError unless the partials are `count` for each output."""
    if isinstance(y, tuple) and (not isinstance(given, tuple) or len(given) != len(y)):
        raise RuleCountError(
            f"{name} has {len(y)} outputs; its scalar rule must give a tuple of partials for each"
        )
    for row in given if isinstance(y, tuple) else (given,):
        size = len(row) if isinstance(row, tuple) else 1
        if size != count:
            raise RuleCountError(f"the scalar rule of {name} gives {size} partials for {count} arguments")


def _cotangent(x, i, rows, seeds):
    total = ZeroTangent()
    for row, y_bar in zip(rows, seeds):
        total = add(total, _times(_conjugate(row[i]), y_bar))
    return unbroadcast(total, x)


def _is_plain(value):
    """Whether a partial or a seed is a real number or array, to be multiplied as it is."""
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


def _tangent(y, row, tangents):
    """Σᵢ pᵢ ẋᵢ over the partials in `row`, in the form of `y`; the first tangent is that of the function."""
    y_dot = ZeroTangent()
    for i, partial in enumerate(row if isinstance(row, tuple) else (row,)):
        if not isinstance(tangents[i + 1], AbstractZero):
            y_dot = _sum(y_dot, _product(partial, tangents[i + 1]))
    return form_of(y, y_dot)


def _product(partial, x_dot):
    partial = unthunk(partial)
    if isinstance(partial, (AbstractZero, NotImplementedTangent)):
        return partial
    x_dot = unthunk(x_dot)
    return x_dot if isinstance(x_dot, NotImplementedTangent) else partial * x_dot


def _sum(total, part):
    if isinstance(total, AbstractZero) or isinstance(part, NotImplementedTangent):
        return part
    return total if isinstance(part, (AbstractZero, NotImplementedTangent)) else total + part
