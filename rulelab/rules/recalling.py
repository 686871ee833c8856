"""The tangent of a call of a cached function, computed once where Python calls the function once; and the
functions that make cached ones.
"""

from __future__ import annotations

import functools

from ..tangents.cached_answers import recall
from ..tangents.tracked import cached_answers


def recalled(config, held, key, depth, tangents, f, /, *args, **words):
    """`config.frule_via_ad(tangents, f, ...)`, once for each key and tangents of a cached function."""
    answers, inputs = cached_answers(), (tangents, args, tuple(words.values()))
    if answers is None:
        return config.frule_via_ad(tangents, f, *args, **words)
    return recall(answers, held, key, depth, inputs, lambda: config.frule_via_ad(tangents, f, *args, **words))


def is_cache_decorator(x):
    """Whether `x` is what `functools.lru_cache(...)` returns for a function still to come."""
    return getattr(x, "__code__", None) is _DECORATOR


_DECORATOR = functools.lru_cache(maxsize=None).__code__


def decorated(decorate, f, /):
    """`functools.lru_cache(...)(f)` as a call of a function that has rules."""
    return decorate(f)
