"""Derivatives inside differentiated functions: what `gradient` and the others are differentiated as.

Each is plain Python over two primitives that both modes support: `VJP(f, args, seed)` gives the value and the
cotangents of a call, and `PUSH` its value and tangent. Their own derivatives follow the identity of
docs/design/forward.md, so these functions can be nested to any depth.
"""

from __future__ import annotations

import numpy as np

from ..compiler.calls.pushing import inner_of, natural_of
from ..compiler.memory.operands import describe
from ..errors import NotDifferentiableError
from ..own_code import change_nothing, only_look, stands_in
from ..rules.programs import check_same, check_unchanged, moment_of, run_of
from ..rules.rule_table import RuleTable
from ..tangents.algebra import is_number
from ..tangents.zeros import AbstractZero, NoTangent
from . import derivatives, forward, matrices, reverse
from .directions import directions
from .nested_functions import (
    PUSH,
    VJP,
    check_real_number,
    grad_,
    nth_derivative,
    pushforward_,
    refuse_cache,
    with_words,
)
from .operator_arguments import SEED, SEED_OF_FIRST, WithGradient, numbers_asked

stands_in(__file__)

TABLE = RuleTable("nested", rounds=True)  # a pass that is differentiated adds up its terms in another order
HANDED_ON = RuleTable("nested_tangents", hands_out=True)
"""For frules that pass on a tangent of a tangent as it is: one that does not exist must not become 0, which
would give nan next to an infinite slope.
"""

NO = NoTangent()


def no_tangents(count):
    return (NO,) * count


TABLE.non_differentiable(refuse_cache, numbers_asked, no_tangents, check_real_number)
only_look(refuse_cache, numbers_asked, no_tangents, check_real_number)
change_nothing(check_real_number)
TABLE.stands_in(reverse.grad)(grad_)
TABLE.stands_in(forward.pushforward, rest=1)(pushforward_)


@TABLE.stands_in(reverse.gradient, rest=1)
def gradient_(f, args=(), *, argnums=None, cache=None, **words):
    if cache is not None:
        refuse_cache(cache)
    found = VJP(f, args, SEED, words)[1]
    if argnums is None:
        return found
    return tuple([found[number] for number in numbers_asked(args, argnums)])


@TABLE.stands_in(reverse.withgradient, rest=1)
def withgradient_(f, args=(), *, argnums=None, cache=None, **words):
    if cache is not None:
        refuse_cache(cache)
    y, found = VJP(f, args, SEED_OF_FIRST, words)
    if argnums is None:
        return WithGradient(y, found)
    return WithGradient(y, tuple([found[number] for number in numbers_asked(args, argnums)]))


@TABLE.stands_in(reverse.pullback, rest=1)
def pullback_(f, args=(), *, cache=None, **words):
    if cache is not None:
        refuse_cache(cache)
    g = with_words(f, words)
    y = g(*args)
    moment = moment_of(g, args)
    run = run_of(f, args, words, y)

    def back(y_bar):
        check_unchanged(moment, f)
        again, x_bars = VJP(g, args, y_bar)
        check_same(moment, run, again)
        return x_bars

    return y, back


@TABLE.frule(forward.forwarddiff)
def forwarddiff_frule(tangents, f, x, chunk=None):
    """Push the tangent in forward mode too, so that nothing in f is differentiated in reverse mode."""
    return forward.forwarddiff(pushed, (f, tangents[1], x, tangents[2]))


def pushed(given):
    f, f_dot, x, x_dot = given
    return PUSH(f, f_dot, (x,), (x_dot,), (), None)


@TABLE.stands_in(forward.jvp)
def jvp_(f, args, tangents, kwargs=None):
    y, y_dot = PUSH(with_words(f, kwargs), NO, args, inner_of(args, tangents), (), None)
    return y, natural_of(y, y_dot)


def check_zeros(args, tangents):
    """Raise NotDifferentiableError for an int whose tangent is 0.0, since this tangent is treated as a
    constant.
    """
    for x, x_dot in zip(args, () if tangents is NO else tangents):
        if is_number(x) and isinstance(x, (int, np.integer)) and isinstance(x_dot, float) and x_dot == 0.0:
            raise NotDifferentiableError(
                f"The tangent of the whole number {x!r} is zero, and is differentiated again",
                fixes=(f"give a float: {float(x)!r}",),
                read="limitations#second-derivatives",
            )


TABLE.non_differentiable(check_zeros)


@TABLE.rrule(inner_of, leading=2)
def inner_of_rrule(args, tangents):
    """Converting to the inner form is the identity for cotangents of tangents."""
    check_zeros(args, tangents)

    def inner_of_pullback(bars):
        return NoTangent(), NoTangent(), bars

    return inner_of(args, tangents), inner_of_pullback


@HANDED_ON.frule(inner_of)
def inner_of_frule(tangents, args, dots):
    check_zeros(args, dots)
    return inner_of(args, dots), inner_of(args, tangents[2])


@TABLE.rrule(natural_of, leading=2)
def natural_of_rrule(y, y_dot):
    """Converting to the form that callers see is the identity for cotangents of tangents."""

    def natural_of_pullback(y_dot_bar):
        return NoTangent(), NoTangent(), y_dot_bar

    return natural_of(y, y_dot), natural_of_pullback


@TABLE.frule(natural_of)
def natural_of_frule(tangents, y, y_dot):
    return natural_of(y, y_dot), tangents[2]


# --- Jacobians and Hessians: column by column, each a derivative along one direction ------------------------


def check_real(x, name):
    if matrices._is_numeric(x) and not np.iscomplexobj(x):
        return
    raise NotDifferentiableError(
        f"Inside a differentiated function {name} is for real numbers and arrays, not for {describe(x)}",
        fixes=("take the derivatives that you need one by one: rl.pushforward",),
    )


def is_numeric(x):
    return matrices._is_numeric(x)


def steps(x):
    """The unit tangents of a number or array, one for each direction in which it can move."""
    return [direction.tangent(x) for direction in directions(x)]


def alone(dots, number, count):
    """A tuple of `count` tangents: `dots` at position `number`, none elsewhere."""
    return tuple([dots if k == number else NO for k in range(count)])


def is_still(y_dot):
    return isinstance(y_dot, AbstractZero)


def matrix_shape(y, x, shaped):
    """The shape of a Jacobian."""
    if shaped:
        return (*np.shape(y), *np.shape(x))
    return (np.size(y),) if np.ndim(x) == 0 else (np.size(y), np.size(x))


def is_python_number(x):
    return type(x) in (int, float)


def number_of(x, found):
    """The derivative with respect to the number `x`, in the type of x."""
    return float(found[0]) if is_python_number(x) else found[0]


TABLE.non_differentiable(matrices.check_mode, is_python_number)
TABLE.non_differentiable(check_real, is_numeric, steps, alone, is_still, matrix_shape)


def jacobian_by(g, args, number, y, shaped):
    """The Jacobian of g with respect to one of its arguments."""
    x = args[number]
    if not is_numeric(x):
        return None
    check_real(x, "jacobian")
    columns = []
    for step in steps(x):
        y_dot = PUSH(g, NO, args, alone(step, number, len(args)), (), None)[1]
        columns.append(np.zeros(np.size(y)) if is_still(y_dot) else np.reshape(y_dot, (np.size(y),)))
    if len(columns) == 0:
        return np.zeros(matrix_shape(y, x, shaped))
    return np.reshape(np.stack(columns, axis=1), matrix_shape(y, x, shaped))


@TABLE.stands_in(matrices.withjacobian, rest=1)
def withjacobian_(f, args=(), *, argnums=None, mode=None, shaped=False, **words):
    matrices.check_mode(mode)
    g = with_words(f, words)
    y = g(*args)
    check_real(y, "jacobian")
    found = tuple([jacobian_by(g, args, number, y, shaped) for number in numbers_asked(args, argnums)])
    return matrices.WithJacobian(y, found)


@TABLE.stands_in(matrices.jacobian, rest=1)
def jacobian_(f, args=(), *, argnums=None, mode=None, shaped=False, **words):
    return withjacobian_(f, args, argnums=argnums, mode=mode, shaped=shaped, **words)[1]


def gradient_by_x(f, words):
    def gradient_of_g(x):
        return VJP(f, (x,), SEED, words)[1][0]

    return gradient_of_g


@TABLE.stands_in(matrices.hessian)
def hessian_(f, x, *, mode=None, **words):
    matrices.check_mode(mode)
    check_real(x, "hessian")
    found = jacobian_by(gradient_by_x(f, words), (x,), 0, x, False)
    return number_of(x, found) if np.ndim(x) == 0 else found


@TABLE.stands_in(matrices.hessian_reverse)
def hessian_reverse_(f, x, **words):
    return hessian_(f, x, **words)


@TABLE.stands_in(matrices.hvp)
def hvp_(f, x, v, **words):
    y, y_dot = PUSH(gradient_by_x(f, words), NO, (x,), inner_of((x,), (v,)), (), None)
    return natural_of(y, y_dot)


@TABLE.stands_in(matrices.diaghessian, rest=1)
def diaghessian_(f, args=(), **words):
    return tuple([diagonal_by(with_words(f, words), args, number) for number in range(len(args))])


def diagonal_by(g, args, number):
    """The second derivatives of g with respect to each number in one argument."""
    x = args[number]
    if not is_numeric(x):
        return None
    check_real(x, "diaghessian")

    def gradient_of_g(*xs):
        return VJP(g, xs, SEED)[1][number]

    found = []
    for k, step in enumerate(steps(x)):
        y_dot = PUSH(gradient_of_g, NO, args, alone(step, number, len(args)), (), None)[1]
        found.append(0.0 if is_still(y_dot) else np.reshape(y_dot, (np.size(x),))[k])
    return number_of(x, found) if np.ndim(x) == 0 else np.reshape(np.stack(found), np.shape(x))


@TABLE.stands_in(derivatives.derivative)
def derivative_(f, n=1):
    return nth_derivative(f, n)
