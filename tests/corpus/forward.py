"""Gradients worked out in forward mode, and second derivatives judged by differences of gradients.

Both have the manner of `withgradient`, so that whatever judges that can judge them.
"""

import copy
import sys

import numpy as np
from corpus.harness import flat, is_real, rebuilt
from corpus.programs import reset

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.errors import ScalarOutputError


def start(f):
    """Put back what a random program may have changed outside of itself."""
    module = sys.modules.get(f.__module__)
    if hasattr(module, "TABLE") and hasattr(module, "BOX"):
        reset(module)


def forward_withgradient(f, *args, active=None, **kwargs):
    """(value, gradient) by one pushforward for each coordinate; None for arguments that are not of floats."""
    if active is None:
        active = [i for i, a in enumerate(args) if is_real(a)]
    value, slopes = None, {i: [] for i in active}
    for i in active:
        for unit in np.eye(flat(args[i]).size):
            start(f)
            tangents = [rebuilt(a, unit) if k == i else None for k, a in enumerate(args)]
            value, y_dot = jvp(f, copy.deepcopy(args), tuple(tangents), copy.deepcopy(kwargs))
            slopes[i].append(0.0 if y_dot is None else y_dot)
    return value, tuple(rebuilt(a, slopes[i]) if i in slopes else None for i, a in enumerate(args))


def direction(args, active, seed=7):
    """A tangent for each argument, None for those that stand still."""
    pick = np.random.default_rng(seed)
    return tuple(
        rebuilt(a, pick.standard_normal(flat(a).size)) if i in active else None for i, a in enumerate(args)
    )


def along(f, args, active, dots, kwargs):
    """The derivative of the gradient of f along `dots`, flat, in reverse mode over forward mode."""

    def slope(*xs):
        return rl.pushforward(f, *xs, **kwargs)(*dots)

    start(f)
    try:
        found = rl.gradient(slope, *copy.deepcopy(args))
    except ScalarOutputError as error:
        if "None" not in str(error):
            raise
        found = (None,) * len(args)  # the value does not depend on the arguments
    return np.concatenate([np.zeros(0), *(flat(found[i], args[i]) for i in active)])


def along_by_differences(f, args, active, dots, kwargs, h=1e-5):
    """The same, and how far it can be trusted, by central differences of the gradient in two steps."""

    def at(t):
        moved = [
            rebuilt(a, flat(a) + t * flat(dots[i])) if i in active else a
            for i, a in enumerate(copy.deepcopy(args))
        ]
        start(f)
        found = rl.gradient(f, *moved, **kwargs)
        return np.concatenate([np.zeros(0), *(flat(found[i], args[i]) for i in active)])

    first, second = ((at(s) - at(-s)) / (2 * s) for s in (h, 2 * h))
    return first, float(np.max(np.abs(first - second), initial=0.0))
