"""Where a function of one number jumps, seen by what a solver asked of it.

Where an integrand or the right side of a differential equation jumps, the place of the jump counts, and no
slope of the function tells how it moves.
"""

import itertools

import numpy as np

TINY = float(np.finfo(float).tiny)  # numbers below it are rounded to steps, the last of which is the one to 0


def jump_in(f, asked, stays=()):
    """A number where f jumps between those that it was asked for, but for jumps that `stays` holds; None for
    a function that seems to have none. `asked` has arrays by the numbers.

    >>> jump_in(np.sign, {t: np.sign(t) for t in (-2.0, 1.0, 3.0)})
    0.0
    >>> jump_in(np.tanh, {t: np.tanh(t) for t in (-2.0, 1.0, 3.0)})
    """
    at = sorted(t for t, y in asked.items() if np.all(np.isfinite(y)))
    pairs = [(t, u) for t, u in itertools.pairwise(at) if not any(t <= p <= u for p in stays)]
    gaps = {pair: _gap(asked[pair[0]], asked[pair[1]]) for pair in pairs}
    least = 1e-6 * max((float(np.max(np.abs(asked[t]), initial=0.0)) for t in at), default=0.0)
    least = max(least, TINY)
    pairs = [pair for pair in pairs if gaps[pair] > least]
    steepest = sorted(pairs, key=lambda pair: -gaps[pair] / (pair[1] - pair[0]))[:8]
    highest = sorted(pairs, key=lambda pair: -gaps[pair])[:4]
    for low, high in dict.fromkeys([*steepest, *highest]):
        where = _jump_between(f, low, high, asked[low], asked[high])
        if where is not None:
            return where
    return None


def _gap(y, z):
    return float(np.max(np.abs(np.asarray(y) - z), initial=0.0))


def _jump_between(f, low, high, at_low, at_high):
    """Where a function jumps between two numbers, by halving; None where its step there fades away."""
    whole, middle = _gap(at_low, at_high), low
    while (between := 0.5 * (low + high)) not in (low, high):
        middle, y = between, np.asarray(f(between))
        if _gap(at_low, y) > _gap(y, at_high):
            high, at_high = middle, y
        else:
            low, at_low = middle, y
        if not _gap(at_low, at_high) > whole / 8:
            return None
    return float(middle) + 0.0
