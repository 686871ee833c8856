"""Second derivatives at the end of a domain: infinite as their limits are, in every mixture of modes."""

import math

import numpy as np
import pytest

mp = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")

import rulelab as rl  # noqa: E402

entr = special.entr
EDGES = {
    "entr": (lambda x: special.entr(x), lambda x: -x * mp.log(x), 0.0, 1),
    "entr, captured": (lambda x: entr(x), lambda x: -x * mp.log(x), 0.0, 1),
    "entr, scaled": (lambda x: 3.0 * entr(x), lambda x: -3 * x * mp.log(x), 0.0, 1),
    "rel_entr": (lambda x: special.rel_entr(x, 2.0), lambda x: x * mp.log(x / 2), 0.0, 1),
    "logit": (lambda x: special.logit(x), lambda x: mp.log(x / (1 - x)), 0.0, 1),
    "logit at 1": (lambda x: special.logit(x), lambda x: mp.log(x / (1 - x)), 1.0, -1),
    "log": (lambda x: np.log(x), mp.log, 0.0, 1),
    "log1p": (lambda x: np.log1p(x), mp.log1p, -1.0, 1),
    "sqrt": (lambda x: np.sqrt(x), mp.sqrt, 0.0, 1),
    "arcsin": (lambda x: np.arcsin(x), mp.asin, 1.0, -1),
    "arcsin at -1": (lambda x: np.arcsin(x), mp.asin, -1.0, 1),
    "arccos": (lambda x: np.arccos(x), mp.acos, 1.0, -1),
    "arccosh": (lambda x: np.arccosh(x), mp.acosh, 1.0, 1),
    "arctanh": (lambda x: np.arctanh(x), mp.atanh, 1.0, -1),
    "arctanh at -1": (lambda x: np.arctanh(x), mp.atanh, -1.0, 1),
}


def limit(function, at, side):
    """The second derivative nearer and nearer to a point: where it grows, the infinity that it goes to."""
    with mp.workdps(80):
        near = [
            mp.diff(function, at + side * mp.mpf(10) ** -k, 2, h=mp.mpf(10) ** (-k - 12)) for k in (8, 12, 16)
        ]
    sizes = [abs(mp.re(slope)) for slope in near]
    assert sizes[0] * 10 < sizes[1] and sizes[1] * 10 < sizes[2]
    return math.copysign(math.inf, mp.re(near[-1]))


def slope_of(f):
    return lambda x: rl.gradient(f, x)[0]


MODES = {
    "hessian": lambda f, x: rl.hessian(f, x),
    "hessian of an array": lambda f, x: rl.hessian(lambda xs: np.sum(f(xs)), np.array([x, x]))[0, 0],
    "forwards over reverse": lambda f, x: rl.pushforward(slope_of(f), x)(1.0),
    "reverse over reverse": lambda f, x: rl.gradient(slope_of(f), x)[0],
    "reverse over forwards": lambda f, x: rl.gradient(lambda x: rl.pushforward(f, x)(1.0), x)[0],
    "forwards over forwards": lambda f, x: rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), x)(1.0),
}


@pytest.mark.parametrize("name", EDGES)
def test_the_second_derivative_is_that_of_the_limit(name):
    """Nothing that does not flow is multiplied by an infinite slope."""
    f, function, at, side = EDGES[name]
    wanted = limit(function, mp.mpf(at), side)
    with np.errstate(all="ignore"):
        found = {mode: float(of(f, at)) for mode, of in MODES.items()}
    assert found == dict.fromkeys(MODES, wanted)
