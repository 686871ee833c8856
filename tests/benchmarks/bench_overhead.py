"""What `gradient` of a ruled function costs over calling its rule and pullback by hand."""

import numpy as np
from contest import Contest

import rulelab as rl


def square(x):
    return x * x


@rl.rrule_for(square)
def square_rrule(x):
    def square_pullback(y_bar):
        return rl.NoTangent(), 2.0 * x * y_bar

    return x * x, square_pullback


def energy(x):
    return x @ x


@rl.rrule_for(energy)
def energy_rrule(x):
    def energy_pullback(y_bar):
        return rl.NoTangent(), 2.0 * y_bar * x

    return x @ x, energy_pullback


def distance(x, y):
    r = x - y
    return r @ r


@rl.rrule_for(distance)
def distance_rrule(x, y):
    r = x - y

    def distance_pullback(d_bar):
        g = 2.0 * d_bar * r
        return rl.NoTangent(), g, -g

    return r @ r, distance_pullback


def by_hand(rule, *args):
    """The least that uses the rule: call it, call its pullback, drop the function's own cotangent."""
    _, pullback = rule(*args)
    return pullback(1.0)[1:]


def contests():
    """A float, one array, two arrays: `hand` is the rule and its pullback called directly."""
    x, y = np.random.default_rng(3).random((2, 30))
    for name, f, rule, args in (
        ("overhead, a float", square, square_rrule, (1.5,)),
        ("overhead, one array", energy, energy_rrule, (x,)),
        ("overhead, two arrays", distance, distance_rrule, (x, y)),
    ):
        yield Contest(
            name,
            lambda f=f, args=args: f(*args),
            lambda rule=rule, args=args: by_hand(rule, *args),
            {"rulelab, rule": lambda f=f, args=args: rl.gradient(f, *args)},
            note="over hand",
        )
