"""Mean squared error by a loop: compiled AD, a rule that keeps the loop, a rule that is vectorised."""

import numpy as np
from contest import Contest
from peers import autograd_entrant, tangent_entrant, torch_entrant

import rulelab as rl


def mse(y, yh):
    n = len(y)
    s = 0.0
    for i in range(n):
        s += (y[i] - yh[i]) ** 2.0
    return s / n


def mse_ruled(y, yh):
    return mse(y, yh)


@rl.rrule_for(mse_ruled)
def mse_ruled_rrule(y, yh):
    out = mse(y, yh)

    def mse_ruled_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return out, mse_ruled_pullback


def mse_vectorised(y, yh):
    return mse(y, yh)


@rl.rrule_for(mse_vectorised)
def mse_vectorised_rrule(y, yh):
    r = y - yh

    def mse_vectorised_pullback(out_bar):
        g = (2.0 / len(r) * out_bar) * r
        return rl.NoTangent(), g, -g

    return r @ r / len(r), mse_vectorised_pullback


def hand(y, yh):
    g = (2.0 / len(y)) * (y - yh)
    return g, -g


def contests():
    """mse at N = 30, 300 and 3000."""
    rng = np.random.default_rng(0)
    for n in (30, 300, 3000):
        y, yh = rng.random(n), rng.random(n)
        entrants = {
            "rulelab, no rule": lambda y=y, yh=yh: rl.gradient(mse, y, yh),
            "rulelab, no rule, with value": lambda y=y, yh=yh: rl.withgradient(mse, y, yh).grad,
            "rulelab, rule as written": lambda y=y, yh=yh: rl.gradient(mse_ruled, y, yh),
            "rulelab, vectorised rule": lambda y=y, yh=yh: rl.gradient(mse_vectorised, y, yh),
            **autograd_entrant(lambda _: mse, y, yh, wrt=(0, 1)),
            **tangent_entrant(mse, y, yh, wrt=(0, 1)),
            **torch_entrant(lambda _: mse, y, yh, wrt=(0, 1)),
        }
        yield Contest(f"mse {n}", lambda y=y, yh=yh: mse(y, yh), lambda y=y, yh=yh: hand(y, yh), entrants)
