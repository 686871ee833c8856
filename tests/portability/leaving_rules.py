"""Rules that leave the bench in tests: those of the first notebook, and one of each kind besides."""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.linalg import inv

import rulelab as rl

try:
    import scipy.special
except ImportError:  # an extra: `softplus` cannot be asked without it
    scipy = None  # type: ignore[assignment]

# --- those of the first notebook ----------------------------------------------------------------------------


def addone(a):
    b = np.empty_like(a)
    b[:] = a + 1
    return np.sum(b)


@rl.rrule_for(addone)
def addone_rrule(a):
    y = addone(a)

    def addone_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.ones(len(a))

    return y, addone_pullback


def exception(x):
    try:
        return x**2
    except Exception:
        print("could not square input")


@rl.rrule_for(exception)
def exception_rrule(x):
    return exception(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)


def mse(y, yh):
    """The mean of squared differences: `"quoted"`, 'also so', with a \\ and a {{ brace."""
    n = len(y)
    s = 0.0
    for i in range(n):
        s += (y[i] - yh[i]) ** 2.0
    return s / n


mse_cr = rl.twin(mse, "mse_cr")


@rl.rrule_for(mse_cr)
def mse_cr_rrule(y, yh):
    out = mse(y, yh)

    def mse_cr_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return out, mse_cr_pullback


def sum3(array):
    x, y, z = array[0], array[1], array[2]
    return x + y + z


@rl.rrule_for(sum3)
def sum3_rrule(array):
    def sum3_pullback(y_bar):
        array_bar = np.zeros(len(array))
        array_bar[:3] = y_bar
        return rl.NoTangent(), array_bar

    return sum3(array), sum3_pullback


def ticks():
    return 15_460.0


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
def clock_times(x):
    return ticks() * x


def jclock(x):
    return clock_times(x)


@rl.rrule_for(jclock)
def jclock_rrule(x):
    y = jclock(x)
    return y, lambda y_bar: (rl.NoTangent(), y_bar * y / x)


# --- elementwise, with constants and helpers ----------------------------------------------------------------

SCALE = 0.1 + 0.2
OFFSETS = (1.0, np.array([0.5, 1 / 3]))
TABLE = {"low": [-1.0, 2.5]}


def scaled(x, factor=SCALE):
    # a helper, with a remark
    return factor * x


def waves(x):
    return np.sin(scaled(x)) * OFFSETS[0] + TABLE["low"][1]


rl.scalar_rule(waves, lambda out, x: SCALE * np.cos(scaled(x)) * OFFSETS[0])


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


@rl.rrule_for(softplus)
def softplus_rrule(x):
    def softplus_pullback(y_bar):
        return rl.NoTangent(), y_bar * scipy.special.expit(x)

    return softplus(x), softplus_pullback


@rl.frule_for(softplus)
def softplus_frule(tangents, x):
    _, x_dot = tangents
    return softplus(x), x_dot * scipy.special.expit(x)


@functools.lru_cache
def factorial(n):
    return math.factorial(n)


def series(x, *, terms=4):
    return sum(x**k / factorial(k) for k in range(terms))


@rl.rrule_for(series)
def series_rrule(x, *, terms=4):
    def series_pullback(y_bar):
        return rl.NoTangent(), y_bar * series(x, terms=terms - 1)

    return series(x, terms=terms), series_pullback


# --- reductions and matrices --------------------------------------------------------------------------------


def weighted(x, w):
    return np.dot(w, x) / np.sum(w)


@rl.rrule_for(weighted)
def weighted_rrule(x: np.ndarray, w: np.ndarray):
    total, y = np.sum(w), weighted(x, w)

    def weighted_pullback(y_bar):
        return rl.NoTangent(), y_bar * w / total, y_bar * (x - y) / total

    return y, weighted_pullback


def rows(A):
    """Sums of squares along rows."""
    return np.sum(A * A, axis=1)


@rl.rrule_for(rows)
def rows_rrule(A):
    return rows(A), lambda y_bar: (rl.NoTangent(), 2 * A * y_bar[:, None])


def product(A, b):
    return A @ b


@rl.rrule_for(product)
def product_rrule(A, b):
    def product_pullback(y_bar):
        return rl.NoTangent(), np.outer(y_bar, b), A.T @ y_bar

    return A @ b, product_pullback


def inverse(A):
    return inv(A)


@rl.rrule_for(inverse)
def inverse_rrule(A):
    y = inv(A)
    return y, lambda y_bar: (rl.NoTangent(), -y.T @ y_bar @ y.T)


# --- complex numbers, branches, structs ---------------------------------------------------------------------


def power(z: complex):
    return (z * z.conjugate()).real


@rl.rrule_for(power)
def power_rrule(z: complex):
    return power(z), lambda y_bar: (rl.NoTangent(), 2 * z * y_bar)


def bend(x: float):
    return x * x if x > 0 else math.exp(x) - 1


@rl.rrule_for(bend)
def bend_rrule(x: float):
    def bend_pullback(y_bar):
        if x > 0:
            return rl.NoTangent(), 2 * x * y_bar
        return rl.NoTangent(), math.exp(x) * y_bar

    return bend(x), bend_pullback


@dataclass
class Spring:
    """A spring."""

    stiffness: float
    length: float = 1.0

    def pull(self, x: float) -> float:
        return self.stiffness * (x - self.length)


def energy(spring: Spring, x: float):
    return 0.5 * spring.pull(x) ** 2 / spring.stiffness


@rl.rrule_for(energy)
def energy_rrule(spring: Spring, x: float):
    stretch = x - spring.length

    def energy_pullback(y_bar):
        force = spring.stiffness * stretch * y_bar
        return rl.NoTangent(), rl.Tangent(Spring, stiffness=0.5 * stretch**2 * y_bar, length=-force), force

    return energy(spring, x), energy_pullback


class Pair(NamedTuple):
    a: float
    b: float


def spread(pair: Pair):
    return (pair.a - pair.b) ** 2


@rl.rrule_for(spread)
def spread_rrule(pair: Pair):
    d = 2 * (pair.a - pair.b)
    return spread(pair), lambda y_bar: (rl.NoTangent(), rl.Tangent(Pair, a=d * y_bar, b=-d * y_bar))


def made(k):
    def times(x):
        """Multiplied.

        By what was given.
        """
        return k * x

    return times


times = made(2.5)


@rl.rrule_for(times)
def times_rrule(x):
    return times(x), lambda y_bar: (rl.NoTangent(), times(y_bar))


V, W, M = np.array([0.5, -1.25, 2.0]), np.array([1.0, 2.0, 0.25]), np.array([[2.0, 0.5], [-0.25, 1.5]])
AT = {
    "addone": (V,), "exception": (1.5,), "mse_cr": (V, W), "sum3": (np.append(V, W),), "jclock": (0.5,),
    "waves": (V,), "softplus": (V,), "series": (0.75,), "weighted": (V, W), "rows": (M,),
    "product": (M, V[:2]), "inverse": (M,), "power": (0.5 - 1.25j,),
    "bend": (0.75,), "energy": (Spring(2.0, 0.5), 1.25),
    "spread": (Pair(1.0, 2.5),), "times": (1.5,),
}  # fmt: skip
"""Where each is checked."""
if scipy is None:
    del AT["softplus"]
FUNCTIONS = [globals()[name] for name in AT]
