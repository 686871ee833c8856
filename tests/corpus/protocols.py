"""Corpus: objects of the author's classes with operators, properties, items and inheritance."""

import functools
import math
from typing import NamedTuple

import numpy as np
from corpus.harness import case


class Fields(NamedTuple):
    """Two numbers; the harness builds and compares NamedTuples."""

    x: float
    y: float


class Vector(Fields):
    scale = 2.0

    @property
    def square(self):
        return self.x**2 + self.y * self.x

    @functools.cached_property
    def cube(self):
        return self.square * self.x

    @classmethod
    def scaled(cls, x):
        return cls.scale * x

    @staticmethod
    def doubled(x):
        return 2 * x

    def __mul__(self, other):
        if isinstance(other, Fields):
            return self.x * other.x + self.y * other.y
        return self.x * other + self.y if isinstance(other, (int, float)) else NotImplemented

    def __rmul__(self, other):
        return self.x * other - self.y

    def __add__(self, other):
        return NotImplemented if isinstance(other, Fields) else self.x * other + self.y

    def __sub__(self, other):
        return self.x - other

    def __rsub__(self, other):
        return other * self.y - self.x

    def __rtruediv__(self, other):
        return other / self.x

    def __neg__(self):
        return -self.x * self.y

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __pow__(self, power):
        return self.x**power + self.y

    def __matmul__(self, other):
        return self.x * other[0] + self.y * other[1]

    def __float__(self):
        return self.x * self.y

    def __call__(self, z):
        return self.x * z + self.y

    def __lt__(self, other):
        return self.x < other.x

    def __bool__(self):
        return self.x > 0

    def __contains__(self, value):
        return value < self.y

    def base(self, x):
        return self.x * x


class Skewed(Vector):
    @property
    def square(self):
        return super().square * self.y

    def base(self, x):
        return super().base(x) * self.y + super(Skewed, self).base(2.0)

    def __rmul__(self, other):
        return other * self.y * self.y

    def __radd__(self, other):
        return self.x * other.x * other.y


class Table(Fields):
    def __getitem__(self, key):
        return self.x * key * key if isinstance(key, float) else tuple.__getitem__(self, key) * 3.0


P = (1.5, -0.7)


@case((Vector(*P),), (Skewed(0.8, 1.2),))
def properties(v):
    return v.square * v.x + v.cube


@case((Vector(*P),))
def class_and_static_methods(v):
    return v.scaled(v.x) * v.doubled(v.y) * v.scale


@case((Vector(*P),), (Vector(2.0, 0.5),))
def operators(v):
    total = v * 2.0 + 3.0 * v + (-v) + abs(v) + v**3 + v @ v + float(v) + v(3.0)
    return total + (v - 1.0) + (5.0 - v) + (1.0 / v) + v * v


@case((Vector(*P), Skewed(0.8, 1.2)))
def a_subclass_on_the_right_goes_first(v, w):
    return v * w + (v + w)


@case((Vector(*P), Vector(2.0, 0.5)))
def comparisons(v, w):
    total = v.x * w.y if v < w else v.y
    total = total * 3.0 if v else total
    return total * v.y if 0.0 in w else total


@case((Skewed(*P),))
def inherited(v):
    method = v.base
    return v.base(v.y) * v.square + method(2.0)


@case((Table(*P), 0.5))
def items_made_from_a_key(t, key):
    return t[key] * t[0] + t[1]


class Lookup:
    def __init__(self, slope):
        self.slope = slope

    def __getitem__(self, x):
        return self.slope * x**3


TABLE = Lookup(3.0)


@case((1.5,))
def item_of_a_constant_object(x):
    return TABLE[x] * 2.0


class Half(Fields):
    __array_ufunc__ = None

    def __rmul__(self, other):
        return np.sum(other * self.x / 2)


@case((np.array([0.5, 2.0]), Half(*P)))
def numpy_on_the_left(a, h):
    return a * h + np.sum(a) * h * h.y


@case((0.7,), (3.0,))
def attributes_of_functions(x):
    return helper(x) * helper.factor


def helper(x):
    return x * x


helper.factor = 3.0
