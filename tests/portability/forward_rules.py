"""Functions that have a forward rule alone, in the forms in which people write these, and their arguments."""

from __future__ import annotations

import math

import numpy as np

import rulelab as rl
from rulelab.rules.registry import Registry

V = np.array([1.0, -2.0, 0.5, 3.0])
U = np.array([0.3, 0.7, -1.2, 2.0])
M = np.array([[4.0, 0.5, -1.0], [0.25, 3.0, 0.5], [-0.5, 1.0, 5.0]])
Z = np.array([1.0 + 2.0j, -0.5 + 0.25j])


def damped(x, rate):
    return np.sin(x) * np.exp(-rate * x)


def damped_frule(dots, x, rate):
    _, x_dot, rate_dot = dots
    waning = np.exp(-rate * x)
    y = np.sin(x) * waning
    return y, np.cos(x) * waning * x_dot - y * (rate * x_dot + x * rate_dot)


def inverse(a):
    return np.linalg.inv(a)


def inverse_frule(dots, a):
    b = np.linalg.inv(a)
    return b, -b @ dots[1] @ b


def product(a, b):
    return a @ b


def product_frule(dots, a, b):
    """The last tangent is that of b."""
    return a @ b, dots[1] @ b + a @ dots[-1]


def placed(r, t):
    return r * math.cos(t), r * math.sin(t)


def placed_frule(dots, r, t):
    _, r_dot, t_dot = dots
    c, s = math.cos(t), math.sin(t)
    return (r * c, r * s), (r_dot * c - r * s * t_dot, r_dot * s + r * c * t_dot)


def furthest(x):
    return np.max(np.abs(x))


def furthest_frule(dots, x):
    i = np.argmax(np.abs(x))
    return np.abs(x[i]), np.sign(x[i]) * dots[1][i]


def summed_up(x):
    out = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
        out[i] = total
    return out


def summed_up_frule(dots, x):
    return summed_up(x), summed_up(dots[1])


def folded(z):
    return z * np.conj(z) + z**2


def folded_frule(dots, z):
    _, z_dot = dots
    return folded(z), z_dot * np.conj(z) + z * np.conj(z_dot) + 2 * z * z_dot


def raised(x, n):
    return x**n


def raised_frule(dots, x, n: int):
    return x**n, n * x ** (n - 1) * dots[1]


def linear(p, x):
    return p["w"] @ x + p["b"]


def linear_frule(dots, p, x):
    _, p_dot, x_dot = dots
    return linear(p, x), p_dot["w"] @ x + p["w"] @ x_dot + p_dot["b"]


def chosen(x, kind="square", scale=None):
    y = x * x if kind == "square" else x
    return y if scale is None else scale * y


def chosen_frule(dots, x, kind="square", scale=None):
    slope = 2 * x if kind == "square" else np.ones(len(x))
    return chosen(x, kind, scale), (1.0 if scale is None else scale) * slope * dots[1]


def series(x, scale=1.0, *, n=6):
    term, total = 1.0, 1.0
    for k in range(1, n):
        term = term * x / k
        total = total + term
    return scale * total


def series_frule(dots, x, scale=1.0, *, n=6):
    total, slope, term = 1.0, 0.0, 1.0
    for k in range(1, n):
        slope = slope + term
        term = term * x / k
        total = total + term
    return scale * total, scale * slope * dots[1] + total * dots[2]


def soft(x):
    if x > 1.0:
        y = 2.0 * x - 1.0
    else:
        y = x * x
    return y


def soft_frule(dots, x):
    return soft(x), dots[1] * (2.0 if x > 1.0 else 2.0 * x)


POINTS = {
    "damped": (((V, 0.3), {}),),
    "inverse": (((M,), {}),),
    "product": (((M, V[:3]), {}),),
    "placed": (((2.0, 0.5), {}),),
    "furthest": (((V,), {}),),
    "summed_up": (((V,), {}),),
    "folded": (((Z,), {}),),
    "raised": (((V, 3), {}), ((2.0, 2), {})),
    "linear": ((({"w": U, "b": 0.5}, V), {}),),
    "chosen": (((V, "square", None), {}), ((V, "plain", None), {})),
    "series": (((0.5, 2.0), {}), ((0.5, 2.0), {"n": 3})),
    "soft": (((0.5,), {}), ((3.0,), {})),
}
REGISTRY = Registry()
RULES = {name: globals()[name] for name in POINTS}
for name, function in RULES.items():
    rl.frule_for(function, registry=REGISTRY)(globals()[f"{name}_frule"])
