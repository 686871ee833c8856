"""Loops over Python floats and single elements: sum3, the logistic map, the trapezoid rule."""

import math

import numpy as np
from contest import Contest
from peers import autograd_entrant, tangent_entrant, torch_entrant

import rulelab as rl


def sum3(array):
    x = array[0]
    y = array[1]
    z = array[2]
    return x + y + z


def sum3_hand(array):
    g = np.zeros(len(array))
    g[0] = g[1] = g[2] = 1.0
    return (g,)


def logistic(x, r, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def logistic_hand(x, r, n):
    xs = []
    for _ in range(n):
        xs.append(x)
        x = r * x * (1.0 - x)
    x_bar, r_bar = 1.0, 0.0
    for x in reversed(xs):
        r_bar += x_bar * x * (1.0 - x)
        x_bar = x_bar * r * (1.0 - 2.0 * x)
    return x_bar, r_bar


def bump(t, p):
    return math.exp(-p * t * t) * math.cos(t)


def trapezoid(a, b, p):
    n = 1000
    h = (b - a) / n
    s = 0.5 * (bump(a, p) + bump(b, p))
    for i in range(1, n):
        s = s + bump(a + i * h, p)
    return s * h


def trapezoid_hand(a, b, p):
    n = 1000
    h = (b - a) / n
    s, h_bar, a_bar, b_bar, p_bar = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n + 1):
        w = 0.5 if i in (0, n) else 1.0
        t = b if i == n else a + i * h
        e, c = math.exp(-p * t * t), math.cos(t)
        y = e * c
        s += w * y
        p_bar -= w * h * t * t * y
        t_bar = w * h * (-2.0 * p * t * y - e * math.sin(t))
        if i == n:
            b_bar += t_bar
        else:
            a_bar += t_bar
            h_bar += i * t_bar
    h_bar += s
    return a_bar - h_bar / n, b_bar + h_bar / n, p_bar


def made_trapezoid(m):
    """The same method on the functions of another library."""

    def trapezoid_of(a, b, p):
        n = 1000
        h = (b - a) / n
        s = 0.5 * (m.exp(-p * a * a) * m.cos(a) + m.exp(-p * b * b) * m.cos(b))
        for i in range(1, n):
            t = a + i * h
            s = s + m.exp(-p * t * t) * m.cos(t)
        return s * h

    return trapezoid_of


def trapezoid_numpy(a, b, p):
    """The same method on NumPy's functions, for systems without rules for math."""
    n = 1000
    h = (b - a) / n
    s = 0.5 * (np.exp(-p * a * a) * np.cos(a) + np.exp(-p * b * b) * np.cos(b))
    for i in range(1, n):
        t = a + i * h
        s = s + np.exp(-p * t * t) * np.cos(t)
    return s * h


def contests():
    """sum3 of 30 elements, 1000 steps of the logistic map, 1000 intervals of the trapezoid rule."""
    array = np.random.default_rng(1).random(30)
    yield Contest(
        "sum3 30",
        lambda: sum3(array),
        lambda: sum3_hand(array),
        {
            "rulelab, no rule": lambda: rl.gradient(sum3, array),
            **autograd_entrant(lambda _: sum3, array, wrt=(0,)),
            **tangent_entrant(sum3, array, wrt=(0,)),
            **torch_entrant(lambda _: sum3, array, wrt=(0,)),
        },
    )
    x, r, n = 0.3, 3.2, 1000
    yield Contest(
        "logistic map 1000",
        lambda: logistic(x, r, n),
        lambda: logistic_hand(x, r, n),
        {
            "rulelab, no rule": lambda: rl.gradient(logistic, x, r, n),
            "rulelab, no rule, with value": lambda: rl.withgradient(logistic, x, r, n).grad,
            **autograd_entrant(lambda _: logistic, x, r, n, wrt=(0, 1)),
            **tangent_entrant(logistic, x, r, n, wrt=(0, 1)),
            **torch_entrant(lambda _: logistic, x, r, n, wrt=(0, 1)),
        },
    )
    a, b, p = 0.0, 1.0, 0.7
    yield Contest(
        "trapezoid 1000",
        lambda: trapezoid(a, b, p),
        lambda: trapezoid_hand(a, b, p),
        {
            "rulelab, no rule": lambda: rl.gradient(trapezoid, a, b, p),
            **autograd_entrant(made_trapezoid, a, b, p, wrt=(0, 1, 2)),
            **tangent_entrant(trapezoid_numpy, a, b, p, wrt=(0, 1, 2)),
            **torch_entrant(made_trapezoid, a, b, p, wrt=(0, 1, 2)),
        },
    )
