"""Rules, right and wrong, that the tests of the checks share; each in a registry of its own."""

import numpy as np

import rulelab as rl
from rulelab.rules.registry import Registry


def registry_with(f, rule, mode="rrule"):
    """A registry that holds this rule of f and nothing else."""
    registry = Registry()
    (rl.rrule_for if mode == "rrule" else rl.frule_for)(f, registry=registry)(rule)
    return registry


def pair_in(pairs):
    """A decorator `pair(f)` of functions that make a rule for `f`, a right one of 0 and a wrong one of 1: it
    keeps both among the pairs, by the name of `f`.
    """

    def pair(f):
        def add(rule_with):
            pairs[f.__name__] = f, rule_with
            return rule_with

        return add

    return pair


def cube(x):
    return x**3


def cube_rrule(x):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3 * x**2 * y_bar

    return x**3, cube_pullback


def forgetful_rrule(x):
    def forgetful_pullback(y_bar):
        return rl.NoTangent(), 3 * x**2

    return x**3, forgetful_pullback


def cube_frule(tangents, x):
    _, x_dot = tangents
    return x**3, 3 * x**2 * x_dot


def product(a, b):
    return a @ b


def product_rrule(a, b):
    def product_pullback(y_bar):
        return rl.NoTangent(), y_bar @ b.T, a.T @ y_bar

    return a @ b, product_pullback


def relu(x):
    return np.maximum(x, 0.0)


def relu_rrule(x):
    def relu_pullback(y_bar):
        return rl.NoTangent(), y_bar * (x > 0)

    return np.maximum(x, 0.0), relu_pullback


def largest(x):
    return np.max(x)


def largest_rrule(x):
    def largest_pullback(y_bar):
        chosen = np.zeros(x.shape)
        chosen.flat[np.argmax(x)] = y_bar
        return rl.NoTangent(), chosen

    return np.max(x), largest_pullback


def counts_all_rrule(x):
    """Gives each of several equal maxima the whole cotangent."""

    def counts_all_pullback(y_bar):
        return rl.NoTangent(), y_bar * (x == np.max(x))

    return np.max(x), counts_all_pullback


def step(x):
    return x * x if x > 2.5 else x


def step_rrule(x):
    def step_pullback(y_bar):
        if x > 2.5:
            return rl.NoTangent(), 2 * x * y_bar
        return rl.NoTangent(), 1.0 * y_bar

    return step(x), step_pullback


def blind_rrule(x):
    """Right below 2.5, where one looks first."""

    def blind_pullback(y_bar):
        return rl.NoTangent(), 1.0 * y_bar

    return step(x), blind_pullback
