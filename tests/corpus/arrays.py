"""Corpus: ndarray attributes and methods, reductions, shaping, broadcasting, linear algebra."""

import numpy as np
from corpus.harness import case

RNG = np.random.default_rng(20)
V = np.array([0.5, -1.5, 2.0])
W = np.array([1.25, 0.75, -0.5])
P = np.array([0.5, 1.5, 2.5, 0.25])
M = RNG.standard_normal((2, 3))
N = RNG.standard_normal((3, 4))
S = RNG.standard_normal((3, 3)) + 3.0 * np.eye(3)
T = RNG.standard_normal((2, 3, 4))


@case((V, W))
def elementwise(x, y):
    return np.sum(x * y + x / (1.0 + y * y) - y**2)


@case((np.array([7.0, 11.0, 13.0]),), (V,))
def sum_of_abs_squared(x):
    return np.sum(np.abs(x) ** 2)


@case((P,))
def positive_functions(x):
    return np.sum(np.sqrt(x) * np.log(x) + np.exp(-x) + np.log1p(x) + np.cbrt(x) + np.reciprocal(x))


@case((V,))
def smooth_functions(x):
    return np.sum(np.sin(x) + np.cos(x) * np.tanh(x) + np.arctan(x) + np.sinh(x) + np.expm1(x) + np.square(x))


@case((V, W))
def two_argument_functions(x, y):
    return np.sum(
        np.maximum(x, y) * np.minimum(x, y) + np.hypot(x, y) + np.arctan2(x, y) + np.logaddexp(x, y)
    )


@case((V, W))
def named_operators(x, y):
    return np.sum(np.add(x, y) * np.subtract(x, y) + np.multiply(x, 2.0) - np.negative(np.divide(x, y)))


@case((V,))
def clip_and_sign(x):
    return np.sum(np.clip(x, -1.0, 1.0) * x + np.sign(x) * x**2)


@case((M,))
def shape_and_transpose(m):
    return (m.T * m.shape[0]).sum() + m.T[0, 1] * m.size + len(m) * m[0, 0] + m.ndim * m[1, 1]


@case((M,))
def methods_of_reduction(m):
    return m.sum() * m.mean() + m.sum(axis=0)[1] ** 2 + m.mean(axis=1).prod() + m.max() * m.min()


@case((M,))
def reductions_with_axis(m):
    return (np.sum(m, axis=0) ** 2).sum() + (np.mean(m, axis=-1) ** 3).sum() + np.prod(m, axis=1).sum()


@case((M,))
def reductions_keeping_dims(m):
    return np.sum((m - np.mean(m, axis=1, keepdims=True)) ** 2 / np.sum(m * m, axis=0, keepdims=True))


@case((T,))
def reductions_over_two_axes(t):
    return (t.sum(axis=(0, 2)) ** 2).sum() + t.mean(axis=(1, 2), keepdims=True).prod()


@case((M,))
def maxima_with_axis(m):
    return (np.max(m, axis=1) ** 2).sum() * np.min(m, axis=0, keepdims=True).sum()


@case((V,))
def variance_and_deviation(x):
    return np.var(x) + np.std(x) + x.var() * x.std()


@case((P,))
def products_and_cumulations(x):
    return np.prod(x) + (np.cumsum(x) ** 2).sum() + x.prod() * x.cumsum()[2]


@case((M,))
def reshape_and_ravel(m):
    return (
        (m.reshape(3, 2) ** 2)[0].sum() + m.ravel()[4] * m.reshape(-1)[1] + (np.reshape(m, (6,)) ** 3).sum()
    )


@case((T,))
def transposes(t):
    return (
        (np.transpose(t, (2, 0, 1))[1] ** 2).sum()
        + (t.transpose(1, 0, 2)[2] ** 3).sum()
        + np.swapaxes(t, 0, 2)[1, 2, 0]
    )


@case((V, W))
def concatenations(x, y):
    return (np.concatenate([x, y, x]) ** 2).sum() + np.concatenate((x[:1], y))[0] ** 3


@case((V, W))
def stacks(x, y):
    s = np.stack([x, y])
    return (
        (s @ s.T).sum()
        + (np.stack([x, y], axis=1) ** 3).sum()
        + np.vstack([x, y])[1, 0] * np.hstack([x, y])[0]
    )


@case((1.5, -0.5))
def array_from_numbers(x, y):
    a = np.array([x, y, x * y])
    return (a * a).sum() + np.array([[x, 1.0], [y, x]])[1, 1]


@case((V, M))
def broadcasting(x, m):
    return ((m + x) ** 2 * x).sum() + (m * 2.0 + m[:, :1]).sum()


@case((V, 1.5))
def broadcasting_of_numbers(x, a):
    return (a * x + a).sum() + ((x + a) / a).prod()


@case((np.array([[1.0], [2.0]]), np.array([[3.0, 4.0, 5.0]]), np.array(0.5)))
def broadcasting_both_ways(column, row, zero_d):
    return (column * row + zero_d * column - row / zero_d).sum()


@case((np.array(1.5),))
def zero_dimensional(x):
    return (x * x).sum()


@case((V,))
def where_both(x):
    return np.where(x > 0, x**2, -3.0 * x).sum()


@case((V, 2.0))
def where_with_number(x, a):
    return np.where(x > 0, a, x * a).sum()


@case((V, W))
def inner_products(x, y):
    return np.dot(x, y) * (x @ x) + np.inner(x, y) + np.vdot(y, y) + x.dot(y)


@case((M, N, V))
def matrix_products(m, n, x):
    return (m @ n).sum() + (np.matmul(m, x) ** 2).sum() + (x @ n).prod() + np.dot(m, n)[1, 2] ** 2


@case((V, W))
def outer_products(x, y):
    return (np.outer(x, y) ** 2).sum() + np.trace(np.outer(x, y)) + np.outer(x, y)[0, 2]


@case((S,))
def determinant_and_inverse(s):
    return np.linalg.det(s) + np.linalg.inv(s)[0, 1] + np.trace(np.linalg.inv(s) @ s.T)


@case((S, V), (S, N))
def linear_solve(s, b):
    return (np.linalg.solve(s, b) ** 2).sum()


@case((V, M))
def norms(x, m):
    return np.linalg.norm(x) * np.linalg.norm(m) + np.linalg.norm(m, axis=1).prod()


@case((S,))
def trace_and_diagonal(s):
    return np.trace(s) ** 2 + (np.diag(s) ** 3).sum() + s.trace()


@case((V,))
def constructors(x):
    z = np.zeros(3) + x
    o = np.ones_like(x) * x[0]
    e = np.full(3, 2.0) * np.arange(3.0) * x
    return (z * o + e + np.eye(3) @ x + np.zeros_like(x)).sum() + np.linspace(0.0, 1.0, 3) @ x


@case((V.astype(np.float32),), tolerance=5e-3)
def float32_array(x):
    return (x * x).sum() * np.float32(0.5)


@case((M[:, ::2],), (N.T,), (M[::-1],))
def non_contiguous(m):
    return (m * m).sum() + m[0, 1] * m[1, 0]


@case((np.zeros((0,)), 2.0), (np.zeros((0, 3)), 2.0))
def empty_array(x, y):
    return (x * 2.0).sum() * y + y * y


@case((V,))
def flips_and_repeats(x):
    return (np.flip(x) * x).sum() + (np.tile(x, 2) ** 2).sum() + np.repeat(x, 2)[3] + np.roll(x, 1)[0] ** 2


@case((M,))
def expand_and_squeeze(m):
    return (np.expand_dims(m, 0) ** 2).sum() + np.squeeze(m[:, :1])[1] ** 3 + np.atleast_2d(m[0])[0, 2]


@case((V,))
def copies_and_types(x):
    return (x.copy() * x.astype(float)).sum() + float(x[0]) * x[1].item() + np.asarray(x)[2] ** 2


@case((V, W))
def fresh_array_accumulates(x, y):
    total = x * y
    total = total + x
    total = total * total
    return total.sum()


@case((V, np.array([0, 2, 2])), wrt=(0,), inert=(1,))
def index_array_argument(x, index):
    return (x[index] ** 2).sum()


@case((np.array([7.0, 11.0]), 0, 0), (M, 2, 1), (M, 2, -2), wrt=(0, 1), inert=(2,))
def shape_of_argument(x, y, d):
    p = x.shape[d]
    return np.sum(x**p + y)
