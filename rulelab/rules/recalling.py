"""The tangent of a call of a cached function, computed once where Python calls the function once; and the
functions that make cached ones.
"""

from __future__ import annotations

import functools
import types

from ..tangents.cached_answers import HAS_EFFECTS, changed_answer, recall, without_effects
from ..tangents.holding import CACHED, everything_held
from ..tangents.moments import StateSnapshot
from ..tangents.tracked import cached_answers, readable


def recalled(config, held, key, depth, tangents, f, /, *args, **words):
    """`config.frule_via_ad(tangents, f, ...)`, once for each key and tangents of a cached function."""
    answers, inputs = cached_answers(), (tangents, args, tuple(words.values()))

    def run():
        return config.frule_via_ad(tangents, f, *args, **words)

    def run_again():
        # each further level of differentiation puts a config, tangents and a function before the arguments
        before = StateSnapshot(*_read_by(held), *args[3 * (depth - 1) :], *words.values(), arrays=True)
        y = without_effects(held, run)
        if before.changed():
            raise changed_answer(held, HAS_EFFECTS)
        return y

    return run() if answers is None else recall(answers, held, key, depth, inputs, run, run_again)


def _read_by(held):
    """What a cached function can read besides its arguments, itself or in functions of its module."""
    names = getattr(held.__wrapped__, "__globals__", None)

    def inside(x):
        if isinstance(x, CACHED):
            return [x.__wrapped__]
        return readable(x, ()) if isinstance(x, types.FunctionType) and x.__globals__ is names else ()

    return list(everything_held([held], inside))


def is_cache_decorator(x):
    """Whether `x` is what `functools.lru_cache(...)` returns for a function still to come."""
    return getattr(x, "__code__", None) is _DECORATOR


_DECORATOR = functools.lru_cache(maxsize=None).__code__


def decorated(decorate, f, /):
    """`functools.lru_cache(...)(f)` as a call of a function that has rules."""
    return decorate(f)
