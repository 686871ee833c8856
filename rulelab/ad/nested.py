"""Derivatives inside of differentiated functions: what `gradient` and its like are differentiated as.

Each is plain Python over two questions that both modes know: `VJP(f, args, seed)`, the value and the cotangents
of a call, and `PUSH`, its value and tangent. Their own derivatives go by the identity of docs/design/forward.md,
so that these functions may stand in each other to any depth.
"""

from __future__ import annotations

from ..compiler.pushing import inner_of, natural_of
from ..errors import KeywordError
from ..rules.house import RuleTable
from ..tangents.zeros import NoTangent
from . import forward, reverse
from .reverse import _PULLBACKS, SEED, SEED_OF_FIRST

TABLE = RuleTable("nested")

NO = NoTangent()
PUSH, VJP = _PULLBACKS.push, _PULLBACKS.vjp


def check_cache(cache):
    if cache is not None:
        raise KeywordError(
            "A derivative inside of a differentiated function cannot have a cache of its own",
            fixes=("leave out cache=",),
        )


def numbers_of(args, argnums):
    """Which arguments a gradient is by, as positions."""
    reverse._asked(args, argnums)  # refuses what is no position
    if argnums is None:
        return tuple(range(len(args)))
    given = (argnums,) if isinstance(argnums, int) else argnums
    return tuple(number % len(args) for number in given)


def no_tangents(count):
    return (NO,) * count


TABLE.non_differentiable(check_cache, numbers_of, no_tangents)


def with_words(f, words):
    """f with its keyword arguments, which are constants."""
    if not words:
        return f

    def with_words_(*xs):
        return f(*xs, **words)

    return with_words_


@TABLE.stands_in(reverse.gradient, rest=1)
def gradient_(f, args=(), *, argnums=None, cache=None, **words):
    check_cache(cache)
    found = VJP(with_words(f, words), args, SEED)[1]
    return tuple([found[number] for number in numbers_of(args, argnums)])


@TABLE.stands_in(reverse.withgradient, rest=1)
def withgradient_(f, args=(), *, argnums=None, cache=None, **words):
    check_cache(cache)
    y, found = VJP(with_words(f, words), args, SEED_OF_FIRST)
    return reverse.WithGradient(y, tuple([found[number] for number in numbers_of(args, argnums)]))


@TABLE.stands_in(reverse.grad)
def grad_(f, argnums=0):
    def gradient_of_f(*args, **words):
        found = VJP(with_words(f, words), args, SEED)[1]
        if isinstance(argnums, int):
            return found[argnums]
        return tuple([found[number] for number in numbers_of(args, argnums)])

    return gradient_of_f


@TABLE.stands_in(reverse.pullback, rest=1)
def pullback_(f, args=(), *, cache=None, **words):
    check_cache(cache)
    g = with_words(f, words)
    y = g(*args)

    def back(y_bar):
        return VJP(g, args, y_bar)[1]

    return y, back


@TABLE.stands_in(forward.pushforward, rest=1)
def pushforward_(f, args=(), **words):
    g = with_words(f, words)

    def push_(*tangents):
        y, y_dot = PUSH(g, NO, args, inner_of(args, tangents), (), None)
        return natural_of(y, y_dot)

    return push_


@TABLE.frule(forward.forwarddiff)
def forwarddiff_frule(tangents, f, x, chunk=None):
    """The tangent goes by forward mode too, so that nothing of f is differentiated in reverse mode."""
    return forward.forwarddiff(pushed, (f, tangents[1], x, tangents[2]))


def pushed(given):
    f, f_dot, x, x_dot = given
    return PUSH(f, f_dot, (x,), (x_dot,), (), None)


@TABLE.stands_in(forward.jvp)
def jvp_(f, args, tangents, kwargs=None):
    y, y_dot = PUSH(with_words(f, kwargs), NO, args, inner_of(args, tangents), (), None)
    return y, natural_of(y, y_dot)


@TABLE.rrule(inner_of, leading=2)
def inner_of_rrule(args, tangents):
    """What is computed with as a tangent is the tangent that was given."""

    def inner_of_pullback(bars):
        return NoTangent(), NoTangent(), bars

    return inner_of(args, tangents), inner_of_pullback


@TABLE.frule(inner_of)
def inner_of_frule(tangents, args, dots):
    return inner_of(args, dots), inner_of(args, tangents[2])


@TABLE.rrule(natural_of, leading=2)
def natural_of_rrule(y, y_dot):
    """What is handed out is the tangent that was computed with."""

    def natural_of_pullback(y_dot_bar):
        return NoTangent(), NoTangent(), y_dot_bar

    return natural_of(y, y_dot), natural_of_pullback


@TABLE.frule(natural_of)
def natural_of_frule(tangents, y, y_dot):
    return natural_of(y, y_dot), tangents[2]

