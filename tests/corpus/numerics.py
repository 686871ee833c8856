"""Corpus: the small numerical methods of a first course, written with loops."""

import math

import numpy as np
from corpus.harness import case

A = np.array([0.5, -1.5, 2.0, 3.0])
B = np.array([1.0, 0.25, -0.75, 2.0])
M = np.array([[2.0, 1.0, -0.5], [0.25, 3.0, 0.75], [1.0, -1.0, 2.5]])


@case((A, B))
def mse(y, yh):
    n = len(y)
    s = 0.0
    for i in range(n):
        s += (y[i] - yh[i]) ** 2.0
    return s / n


@case((A,), ([1.0, 2.0, 3.0, 4.0],))
def sum3(array):
    x = array[0]
    y = array[1]
    z = array[2]
    return x + y + z


@case((A, 0.7), ([1.0, -2.0, 3.0], 1.3))
def horner(coefficients, x):
    p = 0.0
    for c in coefficients:
        p = p * x + c
    return p


@case((A,))
def cumulative_products(x):
    p = 1.0
    s = 0.0
    for v in x:
        p *= v
        s += p
    return s


@case((A, B))
def dot_by_loop(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


@case((M, np.array([1.0, 2.0, -1.0])))
def matvec_by_loops(m, x):
    out = []
    for i in range(3):
        s = 0.0
        for j in range(3):
            s += m[i, j] * x[j]
        out.append(s)
    return sum([v * v for v in out])


def integrand(t, p):
    return math.exp(-p * t * t) * math.cos(t)


@case((0.0, 1.0, 0.7, 20), wrt=(0, 1, 2))
def simpson(a, b, p, n):
    h = (b - a) / n
    s = integrand(a, p) + integrand(b, p)
    for i in range(1, n):
        s += (4.0 if i % 2 else 2.0) * integrand(a + i * h, p)
    return s * h / 3.0


@case((0.0, 2.0, 0.7), wrt=(0, 1, 2))
def trapezoid(a, b, p):
    n = 25
    h = (b - a) / n
    s = 0.5 * (integrand(a, p) + integrand(b, p))
    for i in range(1, n):
        s = s + integrand(a + i * h, p)
    return s * h


@case((1.0, 0.5))
def euler_oscillator(x, k):
    v = 0.0
    dt = 0.1
    for _ in range(20):
        a = -k * x
        v = v + a * dt
        x = x + v * dt
    return x * x + v * v


def decay(y, k):
    return -k * y * y


@case((1.0, 0.8))
def runge_kutta(y, k):
    h = 0.2
    for _ in range(5):
        k1 = decay(y, k)
        k2 = decay(y + h / 2.0 * k1, k)
        k3 = decay(y + h / 2.0 * k2, k)
        k4 = decay(y + h * k3, k)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


@case((1.3,), (0.6,))
def newton_cube_root(a):
    x = 1.0
    for _ in range(12):
        x = x - (x**3 - a) / (3.0 * x**2)
    return x


@case((0.6,))
def fixed_point(x):
    y = x
    for _ in range(60):
        y = math.cos(y * x)
    return y


@case((0.5,))
def sine_series(x):
    term, s = x, x
    n = 1
    while abs(term) > 1e-18:
        term = -term * x * x / ((2 * n) * (2 * n + 1))
        s += term
        n += 1
    return s


@case((2.0, 0.7))
def continued_fraction(x, y):
    r = x
    for i in range(6, 0, -1):
        r = x + i * y / r
    return r


@case((M,))
def power_iteration(m):
    v = np.array([1.0, 0.5, 0.25])
    for _ in range(8):
        v = m @ v
        v = v / np.sqrt(np.sum(v * v))
    return v @ (m @ v)


@case((1.7, 0.4))
def bisection_free_secant(a, b):
    x0, x1 = a, a + 0.5
    for _ in range(3):
        f0, f1 = x0 * x0 - b, x1 * x1 - b
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
    return x1


@case((np.array([0.1, 0.4, -0.2]),))
def heat_equation(u):
    for _ in range(4):
        left = np.concatenate([u[1:], u[:1]])
        right = np.concatenate([u[-1:], u[:-1]])
        u = u + 0.2 * (left - 2.0 * u + right)
    return (u**3).sum()


@case((1.2, 0.8))
def arithmetic_geometric_mean(a, b):
    for _ in range(4):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    return a
