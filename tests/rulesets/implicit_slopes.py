"""Slopes of whole functions that hold an integral or a solver: by both modes, and by differences of order
eight of the plain function.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError

_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def differences(f, x, step):
    """The gradient of a function of a number or an array, by differences of order eight."""
    x = np.asarray(x, dtype=float)
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[place] = step
        pairs = [(f((x + k * unit)[()]), f((x - k * unit)[()])) for k in (1, 2, 3, 4)]
        found[place] = sum(w * (ahead - behind) for w, (ahead, behind) in zip(_WEIGHTS, pairs)) / step
    return found


def direction_of(x):
    """A direction that no symmetry knows."""
    return np.cos(np.arange(np.size(x)) + 0.3).reshape(np.shape(x))[()]


def agree(f, x, step=0.05, within=1e-6):
    """Whether both modes give what differences give."""
    x = np.asarray(x, dtype=float)[()]
    expected, v = differences(f, x, step), direction_of(x)
    backwards, forwards = rl.gradient(f, x)[0], rl.pushforward(f, x)(v)
    near = np.allclose(backwards, expected, rtol=within, atol=within)
    return bool(near and np.isclose(forwards, np.sum(expected * v), rtol=within, atol=within))


def agree_again(f, x, step=0.05, within=1e-6):
    """The same of the slope along a direction: second derivatives, in two ways."""
    x = np.asarray(x, dtype=float)[()]
    v = direction_of(x)
    expected = differences(lambda x: float(np.sum(rl.gradient(f, x)[0] * v)), x, step)
    ways = (lambda x: np.sum(rl.gradient(f, x)[0] * v), lambda x: rl.pushforward(f, x)(v))
    return all(np.allclose(rl.gradient(way, x)[0], expected, rtol=within, atol=within) for way in ways)


def is_refused(f, x, words, error=RuleLabError):
    """Both modes raise a typed error with these words."""
    x = np.asarray(x, dtype=float)[()]
    with pytest.raises(error, match=words):
        rl.gradient(f, x)
    with pytest.raises(error, match=words):
        rl.pushforward(f, x)(np.ones_like(x)[()])
