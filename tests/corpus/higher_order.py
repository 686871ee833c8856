"""Corpus: functions that are given functions, and objects that hold one."""

import copy
import functools
import itertools
import operator

import numpy as np
from corpus.harness import case

A = [1.5, -0.7, 2.3]
B = [0.4, 1.9, -1.1]
V = np.array([0.5, -1.5, 2.0])
M = np.arange(6.0).reshape(2, 3) + 1.0


@case((A, B), (V, B))
def map_of_two(a, b):
    return sum(map(lambda x, y: x * y, a, b))


@case((A, 2.0))
def map_of_a_closure(a, k):
    return sum(list(map(lambda x: x * k * k, a)))


@case((A, B))
def starmap_over_zip(a, b):
    return sum(itertools.starmap(lambda x, y: x * y * y, zip(a, b)))


@case((M,))
def starmap_over_rows(m):
    return sum(itertools.starmap(lambda x, y, z: x * y + z * z, m))


@case((A,), (V,))
def reduce_plain(a):
    return functools.reduce(lambda x, y: x * y + x, a)


@case((A, 2.0), ([], 2.0))
def reduce_with_initial(a, start):
    return functools.reduce(operator.mul, a, start) + start


@case((A, 0.5))
def reduce_of_a_closure(a, k):
    return functools.reduce(lambda x, y: x * k + y, a)


@case((2.0,))
def reduce_over_functions(x):
    return functools.reduce(lambda value, f: f(value), [np.sin, np.exp, lambda t: t * x], x)


@case((A, 2.0))
def partials(a, k):
    f = functools.partial(lambda c, x, p=1.0: c * x**p, k, p=2.0)
    return sum(map(f, a)) + f(a[0], p=3.0)


@case((A, 2.0))
def partial_of_a_partial(a, k):
    f = functools.partial(functools.partial(lambda c, d, x: c * x**2 + d, k), a[1])
    return f(3.0) * f(a[2])


@functools.lru_cache(maxsize=None)
def cubed(x):
    return x**3


@case((2.0,), (-0.5,))
def cached_function(x):
    return cubed(x) * 2 + cubed(2.0)


@case((A,))
def getters(a):
    first, third = operator.itemgetter(0, 2)(a)
    return first * third + operator.itemgetter(1)(a) ** 2


@case((V,))
def attribute_and_method_getters(v):
    return operator.attrgetter("T")(v)[0] * operator.methodcaller("sum")(v) + getattr(v, "T")[1] ** 2


@case((A, 2.0))
def call_of_a_value(a, x):
    return operator.call(lambda p, q: p * q, x, a[0])


@case((V,))
def vectorized(v):
    return np.sum(np.vectorize(lambda x: x * x if x > 0 else -x)(v) ** 2)


@case((V, 2.0))
def vectorized_and_broadcast(v, k):
    return np.sum(np.vectorize(lambda x, y: x * y * k)(v[:, None], v) ** 2)


@case((M,))
def along_an_axis(m):
    total = np.sum(np.apply_along_axis(lambda r: r * r[0], 1, m) ** 2)
    total += np.sum(np.apply_along_axis(np.sum, 0, m) ** 3)
    return total + np.sum(np.apply_along_axis(lambda r, k: r[:2] * k, -1, m, 2.0) * np.array([1.0, 2.0]))


@case((V,))
def pieces(v):
    return np.sum(np.piecewise(v, [v < 0, v > 1], [lambda x: -x * x, 3.0, lambda x: x**3]))


@case(([A, [1.0, 2.0]],))
def copies(rows):
    deep, shallow = copy.deepcopy(rows), copy.copy(rows)
    return deep[0][0] * shallow[1][1] + rows[0][0] * rows.copy()[0][1]
