"""Functions with their rules, to be told other frameworks: those of the first notebook, and more than
forty.
"""

from __future__ import annotations

import math

import numpy as np

import rulelab as rl
from rulelab.rules.registry import Registry

A = np.array([1.0, 2.0, 3.0])
B = np.array([0.5, -1.5, 2.5])
M = np.array([[2.0, 0.5, -1.0], [0.25, 3.0, 0.5], [-0.5, 1.0, 4.0]])
N = np.array([[1.0, -2.0], [0.5, 0.25], [3.0, 1.5]])
Z = np.array([1.0 + 2.0j, -0.5 + 0.25j, 2.0 - 1.0j])
W = np.array([0.5 - 1.0j, 1.5 + 0.5j, -1.0 + 2.0j])


# --- the first notebook -------------------------------------------------------------------------------------


def addone(a):
    b = np.empty_like(a)
    b[:] = a + 1
    return np.sum(b)


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


def exception_rrule(x):
    y = exception(x)

    def exception_pullback(y_bar):
        return rl.NoTangent(), 2 * x * y_bar

    return y, exception_pullback


def mse(y, yh):
    n = len(y)
    s = 0.0
    for i in range(n):
        s += (y[i] - yh[i]) ** 2.0
    return s / n


def mse_rrule(y, yh):
    out = mse(y, yh)

    def mse_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return out, mse_pullback


def sum3(array):
    x = array[0]
    y = array[1]
    z = array[2]
    return x + y + z


def sum3_rrule(array):
    y = sum3(array)

    def sum3_pullback(y_bar):
        array_bar = np.zeros(len(array))
        array_bar[:3] = y_bar
        return rl.NoTangent(), array_bar

    return y, sum3_pullback


def ticks():
    return 15_460_639.0


def jclock(x):
    return ticks() * x


def jclock_rrule(x):
    y = jclock(x)

    def jclock_pullback(y_bar):
        return rl.NoTangent(), y_bar * y / x

    return y, jclock_pullback


# --- elementwise --------------------------------------------------------------------------------------------


def softplus(x):
    """log(1 + exp(x)), without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def softplus_rrule(x):
    y = softplus(x)

    def softplus_pullback(y_bar):
        return rl.NoTangent(), y_bar / (1 + np.exp(-x))

    return y, softplus_pullback


def gauss(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def gauss_rrule(x):
    y = gauss(x)

    def gauss_pullback(y_bar):
        return rl.NoTangent(), -x * y * y_bar

    return y, gauss_pullback


def swish(x):
    return x / (1 + np.exp(-x))


def swish_rrule(x):
    s = 1 / (1 + np.exp(-x))
    y = x * s

    def swish_pullback(y_bar):
        slope = s + y * (1 - s)
        return rl.NoTangent(), y_bar * slope

    return y, swish_pullback


def length(x, y):
    return np.hypot(x, y)


def length_rrule(x, y):
    r = length(x, y)

    def length_pullback(r_bar):
        return rl.NoTangent(), rl.thunk(lambda: r_bar * x / r), rl.thunk(lambda: r_bar * y / r)

    return r, length_pullback


def power_of(x, n):
    return x**n


def power_of_rrule(x, n: int):
    def power_of_pullback(y_bar):
        return rl.NoTangent(), n * x ** (n - 1) * y_bar, rl.NoTangent()

    return x**n, power_of_pullback


def angle_of(y, x):
    return math.atan2(y, x)


def angle_of_rrule(y, x):
    t = angle_of(y, x)

    def angle_of_pullback(t_bar):
        r2 = x * x + y * y
        return rl.NoTangent(), x / r2 * t_bar, -y / r2 * t_bar

    return t, angle_of_pullback


def logistic(x, *, rate=2.0):
    return 1 / (1 + np.exp(-rate * x))


def logistic_rrule(x, *, rate=2.0):
    y = logistic(x, rate=rate)

    def logistic_pullback(y_bar):
        return rl.NoTangent(), rate * y * (1 - y) * y_bar

    return y, logistic_pullback


HALF = 0.5


def energy(v, m):
    return HALF * m * v**2


def energy_rrule(v, m):
    def energy_pullback(e_bar):
        return rl.NoTangent(), 2 * HALF * m * v * e_bar, HALF * v**2 * e_bar

    return energy(v, m), energy_pullback


def signs(x):
    return np.sign(x) * x**2


def signs_rrule(x):
    y = np.sign(x) * np.square(x)

    def signs_pullback(y_bar):
        return rl.NoTangent(), 2 * np.abs(x) * y_bar

    return y, signs_pullback


# --- reductions ---------------------------------------------------------------------------------------------


def mean_square(x):
    return np.mean(x**2)


def mean_square_rrule(x):
    def mean_square_pullback(y_bar):
        return rl.NoTangent(), 2 * x / x.size * y_bar

    return np.mean(np.square(x)), mean_square_pullback


def columns(x):
    return np.sum(x, axis=0)


def columns_rrule(x):
    def columns_pullback(y_bar):
        return rl.NoTangent(), np.broadcast_to(y_bar, x.shape).copy()

    return columns(x), columns_pullback


def summed(x, axis=None):
    return np.sum(x, axis=axis)


def summed_rrule(x, axis=None):
    y = summed(x, axis)

    def summed_pullback(y_bar):
        if axis is None:
            wide = y_bar
        else:
            wide = np.expand_dims(y_bar, axis)
        return rl.NoTangent(), wide * np.ones(x.shape), rl.NoTangent()

    return y, summed_pullback


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def logsumexp_rrule(x):
    y = logsumexp(x)

    def logsumexp_pullback(y_bar):
        return rl.NoTangent(), np.exp(x - y) * y_bar

    return y, logsumexp_pullback


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def softmax_rrule(x):
    y = softmax(x)

    def softmax_pullback(y_bar):
        return rl.NoTangent(), y * (y_bar - np.dot(y, y_bar))

    return y, softmax_pullback


def centred(x):
    return x - x.mean(axis=0, keepdims=True)


def centred_rrule(x):
    def centred_pullback(y_bar):
        return rl.NoTangent(), y_bar - y_bar.mean(axis=0, keepdims=True)

    return centred(x), centred_pullback


def variance(x):
    return np.var(x)


def variance_rrule(x):
    n = x.shape[0]

    def variance_pullback(y_bar):
        return rl.NoTangent(), 2 / n * (x - np.mean(x)) * y_bar

    return variance(x), variance_pullback


def running_sum(x):
    return np.cumsum(x)


def running_sum_rrule(x):
    def running_sum_pullback(y_bar):
        return rl.NoTangent(), np.cumsum(y_bar[::-1])[::-1]

    return running_sum(x), running_sum_pullback


def largest(x):
    return np.max(x)


def largest_rrule(x):
    i = np.argmax(x)

    def largest_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        x_bar[i] = y_bar
        return rl.NoTangent(), x_bar

    return x[i], largest_pullback


def norm2(x):
    return np.linalg.norm(x)


def norm2_rrule(x):
    r = norm2(x)

    def norm2_pullback(r_bar):
        return rl.NoTangent(), x / r * r_bar

    return r, norm2_pullback


# --- matrices -----------------------------------------------------------------------------------------------


def product(a, b):
    return a @ b


def product_rrule(a, b):
    def product_pullback(y_bar):
        return rl.NoTangent(), y_bar @ b.T, a.T @ y_bar

    return a @ b, product_pullback


def inverse(a):
    return np.linalg.inv(a)


def inverse_rrule(a):
    y = inverse(a)

    def inverse_pullback(y_bar):
        return rl.NoTangent(), -y.T @ y_bar @ y.T

    return y, inverse_pullback


def solved(a, b):
    return np.linalg.solve(a, b)


def solved_rrule(a, b):
    x = solved(a, b)

    def solved_pullback(x_bar):
        b_bar = np.linalg.solve(a.T, x_bar)
        return rl.NoTangent(), -np.outer(b_bar, x), b_bar

    return x, solved_pullback


def log_volume(a):
    return np.linalg.slogdet(a)[1]


def log_volume_rrule(a):
    def log_volume_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.linalg.inv(a).T

    return log_volume(a), log_volume_pullback


def quadratic(x, a):
    return x @ a @ x


def quadratic_rrule(x, a):
    def quadratic_pullback(y_bar):
        return rl.NoTangent(), y_bar * (a + a.T) @ x, y_bar * np.outer(x, x)

    return quadratic(x, a), quadratic_pullback


def trace_of_square(a):
    return np.trace(a @ a)


def trace_of_square_rrule(a):
    def trace_of_square_pullback(y_bar):
        return rl.NoTangent(), 2 * y_bar * np.transpose(a)

    return trace_of_square(a), trace_of_square_pullback


def contracted(a, b):
    return np.einsum("ij,jk->ik", a, b)


def contracted_rrule(a, b):
    def contracted_pullback(y_bar):
        return rl.NoTangent(), np.einsum("ik,jk->ij", y_bar, b), np.einsum("ij,ik->jk", a, y_bar)

    return contracted(a, b), contracted_pullback


def affine(w, x, b):
    return np.tanh(w @ x + b)


def affine_rrule(w, x, b):
    y = affine(w, x, b)

    def affine_pullback(y_bar):
        z_bar = y_bar * (1 - y**2)
        return rl.NoTangent(), np.outer(z_bar, x), w.T @ z_bar, z_bar

    return y, affine_pullback


def stacked(a, b):
    return np.concatenate([a, b])


def stacked_rrule(a, b):
    n = len(a)

    def stacked_pullback(y_bar):
        return rl.NoTangent(), y_bar[:n], y_bar[n:]

    return np.concatenate([a, b]), stacked_pullback


def flattened(a):
    return a.reshape(-1)


def flattened_rrule(a):
    def flattened_pullback(y_bar):
        return rl.NoTangent(), y_bar.reshape(a.shape)

    return flattened(a), flattened_pullback


def rotated(v, t):
    c, s = np.cos(t), np.sin(t)
    return np.array([[c, -s], [s, c]]) @ v


def rotated_rrule(v, t):
    c, s = np.cos(t), np.sin(t)
    turn = np.array([[c, -s], [s, c]])
    slope = np.array([[-s, -c], [c, -s]])

    def rotated_pullback(y_bar):
        return rl.NoTangent(), turn.T @ y_bar, y_bar @ (slope @ v)

    return turn @ v, rotated_pullback


def smoothed(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return y


def smoothed_rrule(x):
    def smoothed_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        x_bar[0] = y_bar[0]
        x_bar[-1] = y_bar[-1]
        x_bar[:-2] += y_bar[1:-1] / 3
        x_bar[1:-1] += y_bar[1:-1] / 3
        x_bar[2:] += y_bar[1:-1] / 3
        return rl.NoTangent(), x_bar

    return smoothed(x), smoothed_pullback


def picked(x, index):
    return x[index]


def picked_rrule(x, index):
    def picked_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        np.add.at(x_bar, index, y_bar)
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return picked(x, index), picked_pullback


# --- loops and branches -------------------------------------------------------------------------------------


def bell(t):
    return math.exp(-t * t)


def area(a, b, *, n=100):
    h = (b - a) / n
    total = bell(a) + bell(b)
    for i in range(1, n):
        total += (4.0 if i % 2 else 2.0) * bell(a + i * h)
    return total * h / 3.0


# The rule is that of the integral. The sum's own slope differs by 3e-8 with 100 steps, which are few as JAX
# writes each one out: a check at drawn points calls the rule wrong.
def area_rrule(a, b, *, n=100):
    y = area(a, b, n=n)

    def area_pullback(y_bar):
        return rl.NoTangent(), -bell(a) * y_bar, bell(b) * y_bar

    return y, area_pullback


def safe_sqrt(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 0.0


def safe_sqrt_rrule(x):
    y = safe_sqrt(x)

    def safe_sqrt_pullback(y_bar):
        return rl.NoTangent(), 0.0 if x < 0 else y_bar / (2 * y)

    return y, safe_sqrt_pullback


def huber(x):
    if abs(x) <= 1.0:
        return x**2 / 2
    return abs(x) - 0.5


def huber_rrule(x):
    y = huber(x)

    def huber_pullback(y_bar):
        return rl.NoTangent(), y_bar * x if abs(x) <= 1.0 else y_bar * np.sign(x)

    return y, huber_pullback


def relu(x):
    return np.where(x > 0, x, 0.0)


def relu_rrule(x):
    def relu_pullback(y_bar):
        return rl.NoTangent(), y_bar * (x > 0)

    return relu(x), relu_pullback


def clamped(x):
    if x < -1.0:
        slope = 0.1
        y = slope * (x + 1.0) - 1.0
    elif x > 1.0:
        y = 1.0 + 0.1 * (x - 1.0)
    else:
        y = x
    return y


def clamped_rrule(x):
    def clamped_pullback(y_bar):
        inside = -1.0 < x < 1.0
        slope = 1.0 if inside else 0.1
        return rl.NoTangent(), slope * y_bar

    return clamped(x), clamped_pullback


def horner(c, x):
    y = 0.0
    for one in c:
        y = y * x + one
    return y


def horner_rrule(c, x):
    n = len(c)
    y = horner(c, x)

    def horner_pullback(y_bar):
        powers = x ** np.arange(n - 1, -1, -1)
        slope = 0.0
        value = 0.0
        for k in range(n):
            slope = slope * x + value
            value = value * x + c[k]
        return rl.NoTangent(), y_bar * powers, y_bar * slope

    return y, horner_pullback


def root(a):
    x = a
    while abs(x * x - a) > 1e-3 * a:
        x = (x + a / x) / 2
    for _ in range(3):  # each doubles the digits
        x = (x + a / x) / 2
    return x


def root_rrule(a):
    y = root(a)

    def root_pullback(y_bar):
        return rl.NoTangent(), y_bar / (2 * y)

    return y, root_pullback


# --- complex numbers ----------------------------------------------------------------------------------------


def power2(z):
    return np.real(z * np.conj(z))


def power2_rrule(z):
    def power2_pullback(y_bar):
        return rl.NoTangent(), 2 * z * y_bar

    return power2(z), power2_pullback


def times(z, w):
    return z * w


def times_rrule(z, w):
    def times_pullback(y_bar):
        z_bar, w_bar = y_bar * np.conj(w), y_bar * np.conj(z)
        if not np.iscomplexobj(z):
            z_bar = np.real(z_bar)
        return rl.NoTangent(), z_bar, w_bar

    return z * w, times_pullback


def exponential(z):
    return np.exp(1j * z)


def exponential_rrule(z):
    y = exponential(z)

    def exponential_pullback(y_bar):
        return rl.NoTangent(), np.conj(1j * y) * y_bar

    return y, exponential_pullback


def modulus(z):
    return np.abs(z)


def modulus_rrule(z):
    r = modulus(z)

    def modulus_pullback(r_bar):
        return rl.NoTangent(), r_bar * z / r

    return r, modulus_pullback


# --- tuples and structures ----------------------------------------------------------------------------------


def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


def polar_rrule(x, y):
    r, t = polar(x, y)

    def polar_pullback(y_bar):
        r_bar, t_bar = y_bar
        return rl.NoTangent(), r_bar * x / r - t_bar * y / r**2, r_bar * y / r + t_bar * x / r**2

    return (r, t), polar_pullback


def layer(p, x):
    return np.tanh(p["w"] @ x + p["b"])


def layer_rrule(p, x):
    y = layer(p, x)

    def layer_pullback(y_bar):
        z_bar = y_bar * (1 - y**2)
        return rl.NoTangent(), {"w": np.outer(z_bar, x), "b": z_bar}, p["w"].T @ z_bar

    return y, layer_pullback


def pair_product(pair):
    a, b = pair
    return np.sum(a * b)


def pair_product_rrule(pair):
    a, b = pair

    def pair_product_pullback(y_bar):
        return rl.NoTangent(), rl.Tangent(tuple, y_bar * b, y_bar * a)

    return pair_product(pair), pair_product_pullback


# --- rules by partial derivatives, and forward ones ---------------------------------------------------------


def scaled(x, k):
    return np.sin(x) * k


def decay(t, rate):
    return np.exp(-rate * t)


def decay_frule(tangents, t, rate):
    _, t_dot, rate_dot = tangents
    y = np.exp(-rate * t)
    return y, -y * (rate * t_dot + t * rate_dot)


# --- where they are asked: arguments, and keywords ----------------------------------------------------------

POINTS = {
    "addone": (((A,), {}),),
    "exception": (
        ((3.0,), {}),
        ((-0.5,), {}),
    ),
    "mse": (((A, B), {}),),
    "sum3": (
        ((np.arange(5.0),), {}),
        ((A,), {}),
    ),
    "jclock": (
        ((0.5,), {}),
        ((-2.0,), {}),
    ),
    "softplus": (
        ((A - 2.5,), {}),
        ((0.75,), {}),
    ),
    "gauss": (
        ((A - 2.5,), {}),
        ((0.25,), {}),
    ),
    "swish": (((B,), {}),),
    "length": (((A, B), {}),),
    "power_of": (
        ((A, 3), {}),
        ((2.0, 2), {}),
    ),
    "angle_of": (
        ((1.0, 2.0), {}),
        ((-1.0, -0.5), {}),
    ),
    "logistic": (
        ((B,), {}),
        ((B,), {"rate": 0.5}),
    ),
    "energy": (((3.0, 2.0), {}),),
    "signs": (((B,), {}),),
    "mean_square": (
        ((A,), {}),
        ((M,), {}),
    ),
    "columns": (((N,), {}),),
    "summed": (
        ((M, 1), {}),
        ((M,), {}),
    ),
    "logsumexp": (
        ((A,), {}),
        ((B,), {}),
    ),
    "softmax": (((A,), {}),),
    "centred": (((N,), {}),),
    "variance": (((B,), {}),),
    "running_sum": (((B,), {}),),
    "largest": (((B,), {}),),
    "norm2": (((A,), {}),),
    "product": (((M, N), {}),),
    "inverse": (((M,), {}),),
    "solved": (((M, A), {}),),
    "log_volume": (((M,), {}),),
    "quadratic": (((A, M), {}),),
    "trace_of_square": (((M,), {}),),
    "contracted": (((M, N), {}),),
    "affine": (((M, A, B), {}),),
    "stacked": (((A, B[:2]), {}),),
    "flattened": (((N,), {}),),
    "rotated": (((np.array([1.0, -2.0]), 0.5), {}),),
    "smoothed": (((np.array([1.0, -1.0, 2.0, 0.5, 3.0]),), {}),),
    "picked": (((B, np.array([0, 2, 0])), {}),),
    "area": (
        ((0.0, 1.0), {}),
        ((0.25, 1.0), {"n": 50}),
    ),
    "safe_sqrt": (
        ((4.0,), {}),
        ((-1.0,), {}),
    ),
    "huber": (
        ((0.5,), {}),
        ((-3.0,), {}),
    ),
    "relu": (((B,), {}),),
    "clamped": (
        ((0.5,), {}),
        ((-3.0,), {}),
        ((2.0,), {}),
    ),
    "horner": (((A, 0.5), {}),),
    "root": (
        ((2.0,), {}),
        ((0.25,), {}),
    ),
    "power2": (
        ((Z,), {}),
        ((1.0 - 0.5j,), {}),
    ),
    "times": (
        ((Z, W), {}),
        ((A, W), {}),
    ),
    "exponential": (
        ((Z,), {}),
        ((0.5 + 0.25j,), {}),
    ),
    "modulus": (((Z,), {}),),
    "polar": (((1.5, -0.5), {}),),
    "layer": ((({"w": M, "b": B}, A), {}),),
    "pair_product": ((((A, B),), {}),),
}
FORWARD = {"decay": (((A, 0.5), {}),)}
REGISTRY = Registry()
RULES = {name: globals()[name] for name in POINTS}
for name, function in RULES.items():
    rl.rrule_for(function, registry=REGISTRY)(globals()[f"{name}_rrule"])
POINTS |= {"scaled": (((A, 2.0), {}), ((M, B), {}))} | FORWARD
RULES |= {"scaled": scaled, "decay": decay}
rl.scalar_rule(scaled, lambda out, x, k: (k * np.cos(x), np.sin(x)), registry=REGISTRY)
rl.frule_for(decay, registry=REGISTRY)(decay_frule)
