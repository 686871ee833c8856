"""Corpus: operators on numbers and arrays, and the functions of math."""

import math

import numpy as np
from corpus.harness import case


@case((2.0, 3.0), (-1.5, 0.5))
def four_operations(x, y):
    return (x + y) * (x - y) / (1.0 + x * y * x * y)


@case((2.0,), (-0.3,))
def unary(x):
    return -(+x) * -(x * x)


@case((1.7,), (0.4,))
def powers(x):
    return x**2 + x**3.0 + x**-1 + x**0.5 + 2.0**x + x**x


@case((-1.3,), (-2.5,))
def integer_power_of_negative(x):
    return x**3 - x**2 + 3 * x**-2


@case((7.3, 2.0), (-7.3, 2.0), (5.5, -2.25))
def floor_and_remainder(x, y):
    return (x // y) * y + 3.0 * (x % y)


@case((5,), (-3,), wrt=(0,))
def int_argument(x):
    return 3 * x**2 + 2 * x + 1


@case((np.array([1, 2, 3]),), wrt=(0,))
def int_array(x):
    return (x * x).sum() * 0.5


@case((2.5, 3), wrt=(0, 1))
def float_and_int(x, n):
    return x * n + x / n


@case((0.5, True), (0.5, False), wrt=(0,), inert=(1,))
def bool_argument(x, flag):
    return x * 2.0 if flag else x * 3.0


@case((np.float32(1.5),), tolerance=2e-3)
def float32_scalar(x):
    return x * x + x


@case((np.float64(1.5), 2.0))
def numpy_scalar(x, y):
    return x * y + np.sin(x)


@case((0.7,), (0.2,))
def math_trigonometry(x):
    return math.sin(x) * math.cos(x) + math.tan(x) + math.asin(x) + math.acos(x) * math.atan(x)


@case((0.7, 1.4))
def math_two_arguments(x, y):
    return math.hypot(x, y) + math.atan2(x, y) + math.pow(x, y) + math.copysign(x, -y)


@case((0.7,), (2.5,))
def math_exponentials(x):
    return (
        math.exp(x)
        + math.log(x)
        + math.log(x, 3.0)
        + math.log2(x)
        + math.log10(x)
        + math.log1p(x)
        + math.expm1(x)
    )


@case((0.4,))
def math_hyperbolic(x):
    return math.sinh(x) * math.cosh(x) - math.tanh(x) + math.asinh(x) + math.acosh(1.0 + x) + math.atanh(x)


@case((0.4,), (2.3,))
def math_special(x):
    return math.erf(x) + math.erfc(x) * 2.0 + math.sqrt(x) + math.fabs(-x)


@case((2.7,), (-2.7,))
def math_steps(x):
    return math.floor(x) * x + math.ceil(x) + math.trunc(x) * x


@case((2.7,), (-2.7,))
def builtins_of_numbers(x):
    return abs(x) + pow(x, 2) + float(x) * 2.0 + max(x, 0.5) + min(x, 0.25, 3.0) + round(x) * x


@case((1.5, 2.0, 3.0))
def builtin_sum_max(x, y, z):
    return sum([x, y * y, z]) + max([x, y, z]) * min((x, y, z)) + sum((x, y), 2.0)


@case((0.3,))
def constants_of_modules(x):
    return math.pi * x + np.pi * x * x + math.e**x


@case((0.6,), (1.2,))
def numpy_on_numbers(x):
    return np.sin(x) * np.exp(-x) + np.sqrt(x) + np.log(x) + np.tanh(x) + np.arctan(x) + np.square(x)


@case((2.0, 1.0), (1.0, 2.0))
def comparison_as_number(x, y):
    return x * (x > y) + y * (x <= y) * 2.0


@case((1.0, 2.0), (-1.0, 2.0), (1.0, -2.0))
def boolean_operators(x, y):
    if x > 0 and y > 0:
        return x * y
    if not x > 0 or y < -10:
        return x - y
    return x * x * y


@case((0.5,), (1.5,), (2.5,))
def chained_comparison(x):
    if 0 < x < 1:
        return x
    if 1 <= x < 2:
        return x * x
    return x * x * x


@case((1.5, 2.5))
def complex_inside(x, y):
    z = complex(x, y)
    w = z * z
    return w.real * 2.0 + w.imag
