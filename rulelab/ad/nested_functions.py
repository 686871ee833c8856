"""`grad`, `derivative` and `pushforward`, which return functions, written as plain programs over the two
primitives of `nested`, so that they can be differentiated inside a differentiated function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiler.calls.pushing import inner_of, natural_of
from ..compiler.memory.operands import describe
from ..errors import KeywordError, RuleLabError
from ..own_code import stands_in
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number
from ..tangents.zeros import NoTangent
from .operator_arguments import PULLBACKS, SEED, numbers_asked

stands_in(__file__)

NO = NoTangent()
PUSH, VJP = PULLBACKS.push, PULLBACKS.vjp


def refuse_cache(cache):
    """Raise KeywordError: the argument `cache` was given."""
    raise KeywordError(
        "A derivative inside a differentiated function cannot have a cache of its own",
        fixes=("leave out cache=",),
    )


def with_words(f, words):
    """Return f with its keyword arguments bound. No tangent or cotangent is asked for with respect to them,
    but they may vary.
    """
    if not words:
        return f

    def with_words_(*xs):
        return f(*xs, **words)

    return with_words_


def grad_(f, argnums=0):
    def gradient_of_f(*args, **words):
        found = VJP(f, args, SEED, words)[1]
        if argnums is None:
            return found
        numbers = numbers_asked(args, argnums)
        if isinstance(argnums, (tuple, list, range)):
            return tuple([found[number] for number in numbers])
        return found[numbers[0]]

    return gradient_of_f


def pushforward_(f, args=(), **words):
    g = with_words(f, words)

    def push_(*tangents):
        y, y_dot = PUSH(g, NO, args, inner_of(args, tangents), (), None)
        return natural_of(y, y_dot)

    return push_


def check_real_number(f: Callable[..., Any], x: Any) -> None:
    """Raise RuleLabError for an argument that is not a real number, in `derivative`."""
    if not is_number(x) or np.iscomplexobj(x):
        name = name_of(resolve(f)[0])
        raise RuleLabError(
            f"The derivative of {name} is a function of a real number, not of {describe(x)}",
            asked="derivative(f)(x)",
            fixes=("use gradient(f, x) for other arguments",),
        )


def nth_derivative(f, n):
    if n == 0:
        return f
    g = nth_derivative(f, n - 1)

    def derivative_of_g(x):
        check_real_number(f, x)
        return VJP(g, (x,), SEED)[1][0]

    return derivative_of_g
