"""Wrong rules, each with the mistake that a doctor should name, and right ones that look suspicious.

A function is given as a lambda; it takes the name of its rule. `at` are arguments for the check; without
them the check draws its own. Several keys mean that any of them is a right name for the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import rulelab as rl
from rulelab.rules.registry import Registry

REGISTRY = Registry()
NO = rl.NoTangent()


@dataclass(frozen=True, eq=False)
class Case:
    """One function with its rule: the names of the mistake, none for a right rule."""

    name: str
    f: Callable
    expected: tuple[str, ...] = ()
    at: tuple = ()
    options: dict[str, Any] = field(default_factory=dict)


WRONG: list[Case] = []
RIGHT: list[Case] = []


def _stated(cases, f, expected, at, options):
    def keep(rule):
        name = rule.__name__.removesuffix("_rrule").removesuffix("_frule")
        f.__name__ = f.__qualname__ = name
        registry = options.setdefault("registry", REGISTRY)
        state = rl.frule_for if options.get("mode") == "frule" else rl.rrule_for
        state(f, registry=registry)(rule)
        cases.append(Case(name, f, expected, at, options))
        return rule

    return keep


def wrong(f, *expected, at=(), **options):
    """Keeps what follows as a wrong rule of `f`."""
    return _stated(WRONG, f, expected, at, options)


def right(f, *, at=(), **options):
    """Keeps what follows as a right rule of `f`."""
    return _stated(RIGHT, f, (), at, options)


def vector(*numbers):
    return np.array(numbers, float)


A23, B34 = np.arange(6.0).reshape(2, 3) / 4 - 0.7, np.cos(np.arange(12.0)).reshape(3, 4)
S3, T3 = (
    np.array([[1.0, 2.5, -0.5], [0.25, 3.0, 1.5], [-2.0, 0.75, 1.25]]),
    np.sin(np.arange(9.0)).reshape(3, 3) + 2,
)
Z3 = np.array([1 + 2j, 0.5 - 1j, -1.5 + 0.25j])

# --- the three of the reference texts -----------------------------------------------------------------------


@wrong(lambda array: float(np.sum(array + 1)), "ignores_cotangent")
def addone_rrule(array):
    y = float(np.sum(array + 1))

    def addone_pullback(y_bar):
        return NO, np.ones(len(array))

    return y, addone_pullback


@wrong(lambda x: x**2, "ignores_cotangent")
def exception_rrule(x):
    def exception_pullback(y_bar):
        return NO, 2 * x

    return x**2, exception_pullback


def clock():
    return 30921278.0


@wrong(lambda x: clock() * x, "factor")
def jclock_rrule(x):
    y = clock() * x

    def jclock_pullback(y_bar):
        return NO, y_bar * y

    return y, jclock_pullback


# --- the cotangent ------------------------------------------------------------------------------------------


@wrong(lambda x: np.sin(x), "ignores_cotangent", at=(vector(0.5, -1.0, 2.0),))
def ignores_of_array_rrule(x):
    return np.sin(x), lambda y_bar: (NO, np.cos(x))


@wrong(lambda a, b: a * b, "ignores_cotangent", at=(2.0, 3.5))
def ignores_for_one_rrule(a, b):
    return a * b, lambda y_bar: (NO, b * y_bar, a)


@wrong(lambda x: 3.0 * x, "part_of_cotangent", at=(vector(0.5, -1.0, 2.0),))
def first_element_rrule(x):
    return 3.0 * x, lambda y_bar: (NO, 3.0 * y_bar[0] * np.ones_like(x))


@wrong(lambda x: np.exp(x), "part_of_cotangent", at=(vector(0.5, -1.0, 2.0),))
def sum_of_cotangent_rrule(x):
    return np.exp(x), lambda y_bar: (NO, np.exp(x) * np.sum(y_bar))


@wrong(lambda x: np.exp(x), "part_of_cotangent", at=(vector(0.5, -1.0, 2.0),))
def mean_of_cotangent_rrule(x):
    return np.exp(x), lambda y_bar: (NO, np.exp(x) * np.mean(y_bar))


@wrong(lambda x: x**2, "part_of_cotangent", at=(A23,))
def rows_of_cotangent_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * y_bar.sum(axis=1, keepdims=True))


@wrong(lambda x: 2.0 * x, "nonlinear")
def absolute_cotangent_rrule(x):
    return 2.0 * x, lambda y_bar: (NO, 2.0 * abs(y_bar))


@wrong(lambda x: x**2, "nonlinear")
def clipped_cotangent_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * np.clip(y_bar, -1.0, 1.0))


@wrong(lambda x: x**2, "nonlinear")
def squared_cotangent_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * y_bar**2)


@wrong(lambda x: x**2, "nonlinear")
def sine_of_cotangent_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * math.sin(y_bar))


@wrong(lambda x: x**2, "additive_constant")
def plus_one_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * y_bar + 1)


@wrong(lambda x: x**3, "additive_constant", "nonlinear")
def plus_term_without_cotangent_rrule(x):
    return x**3, lambda y_bar: (NO, x**2 + 2 * x**2 * y_bar)


# --- factors and terms --------------------------------------------------------------------------------------


@wrong(lambda x: x**2, "factor")
def twice_rrule(x):
    return x**2, lambda y_bar: (NO, 4 * x * y_bar)


@wrong(lambda x: x**2, "factor")
def half_rrule(x):
    return x**2, lambda y_bar: (NO, x * y_bar)


@wrong(lambda x: math.cos(x), "sign")
def minus_rrule(x):
    return math.cos(x), lambda y_bar: (NO, math.sin(x) * y_bar)


@wrong(lambda a, b: a - b, "sign", at=(2.0, 0.5))
def minus_of_second_rrule(a, b):
    return a - b, lambda y_bar: (NO, y_bar, y_bar)


@wrong(lambda x: np.mean(x), "factor", at=(vector(1.0, 2.0, 4.0),))
def mean_without_n_rrule(x):
    return np.mean(x), lambda y_bar: (NO, np.full(x.shape, y_bar))


@wrong(lambda x: np.sum(x), "factor", at=(vector(1.0, 2.0, 4.0),))
def sum_with_n_rrule(x):
    return np.sum(x), lambda y_bar: (NO, np.full(x.shape, y_bar / len(x)))


@wrong(lambda x: np.log10(x), "factor", domain="positive")
def log_of_ten_rrule(x):
    return np.log10(x), lambda y_bar: (NO, y_bar / x)


@wrong(lambda x: math.sin(math.radians(x)), "factor")
def degrees_rrule(x):
    return math.sin(math.radians(x)), lambda y_bar: (NO, math.cos(math.radians(x)) * y_bar)


@wrong(lambda x: np.exp(x), "factor", at=(vector(0.5, -1.0, 2.0),))
def output_twice_rrule(x):
    y = np.exp(x)
    return y, lambda y_bar: (NO, y * y * y_bar)


@wrong(lambda x: x**3, "factor")
def power_not_lowered_rrule(x):
    return x**3, lambda y_bar: (NO, 3 * x**3 * y_bar)


@wrong(lambda x: math.sqrt(x), "factor", domain="positive")
def square_root_rrule(x):
    y = math.sqrt(x)
    return y, lambda y_bar: (NO, y_bar / y)


@wrong(lambda x, w: np.sum(w * x**2), "factor", at=(vector(1.0, -2.0, 0.5), vector(0.5, 1.5, 3.0)))
def weight_forgotten_rrule(x, w):
    return np.sum(w * x**2), lambda y_bar: (NO, 2 * x * y_bar, x**2 * y_bar)


@wrong(lambda x: x**2 + 3 * x, "lacks_term")
def product_rule_short_rrule(x):
    return x**2 + 3 * x, lambda y_bar: (NO, 2 * x * y_bar)


@wrong(lambda x: x * math.exp(x), "lacks_term")
def one_half_of_product_rrule(x):
    return x * math.exp(x), lambda y_bar: (NO, math.exp(x) * y_bar)


@wrong(lambda x, y: x * y + x, "lacks_term", at=(1.5, -0.75))
def sum_rule_short_rrule(x, y):
    return x * y + x, lambda z_bar: (NO, y * z_bar, x * z_bar)


@wrong(lambda x: x**2, "extra_term")
def term_too_many_rrule(x):
    return x**2, lambda y_bar: (NO, (2 * x + x**2) * y_bar)


@wrong(lambda x: math.sin(x), "other_function")
def sine_for_cosine_rrule(x):
    return math.sin(x), lambda y_bar: (NO, math.sin(x) * y_bar)


@wrong(lambda x: np.tanh(x), "other_function", "lacks_term", "extra_term", at=(vector(0.5, -1.0, 1.5),))
def tanh_like_sigmoid_rrule(x):
    y = np.tanh(x)
    return y, lambda y_bar: (NO, y * (1 - y) * y_bar)


@wrong(lambda x: x / (1 + x**2), "extra_term", "unexplained")
def quotient_rule_rrule(x):
    return x / (1 + x**2), lambda y_bar: (NO, (1 + x**2 + 2 * x * x) / (1 + x**2) ** 2 * y_bar)


# --- complex numbers ----------------------------------------------------------------------------------------


@wrong(lambda z: z**2, "conjugate", at=(Z3,))
def square_without_conjugate_rrule(z):
    return z**2, lambda y_bar: (NO, 2 * z * y_bar)


@wrong(lambda z: np.abs(z) ** 2, "conjugate", at=(Z3,))
def modulus_conjugated_rrule(z):
    return np.abs(z) ** 2, lambda y_bar: (NO, 2 * np.conj(z) * y_bar)


@wrong(lambda a, z: a * z, "conjugate", at=(2 - 1j, Z3))
def product_without_conjugate_rrule(a, z):
    def product_pullback(y_bar):
        return NO, np.sum(z * y_bar), np.conj(a) * y_bar

    return a * z, product_pullback


@wrong(lambda z: np.conj(z), "conjugate", at=(Z3,))
def conjugate_not_undone_rrule(z):
    return np.conj(z), lambda y_bar: (NO, y_bar)


# --- matrices -----------------------------------------------------------------------------------------------


@wrong(lambda A, b: A @ b, "transposed", at=(S3, vector(1.0, -0.5, 2.0)))
def vector_product_rrule(A, b):
    return A @ b, lambda y_bar: (NO, np.outer(y_bar, b), A @ y_bar)


@wrong(lambda A, B: A @ B, "transposed", at=(S3, T3))
def matrix_product_rrule(A, B):
    return A @ B, lambda y_bar: (NO, y_bar @ B, A.T @ y_bar)


@wrong(lambda A, b: A @ b, "transposed", at=(S3, vector(1.0, -0.5, 2.0)))
def outer_the_other_way_rrule(A, b):
    return A @ b, lambda y_bar: (NO, np.outer(b, y_bar), A.T @ y_bar)


@wrong(lambda A: np.sum(A**3), "transposed", at=(A23,))
def transposed_answer_rrule(A):
    return np.sum(A**3), lambda y_bar: (NO, (3 * A**2 * y_bar).T)


@wrong(lambda A: A.T * 2.0, "transposed", at=(S3,))
def transpose_forgotten_rrule(A):
    return A.T * 2.0, lambda y_bar: (NO, y_bar * 2.0)


@wrong(lambda A, B: A @ B, "elementwise_product", at=(S3, T3))
def star_for_at_rrule(A, B):
    return A @ B, lambda y_bar: (NO, y_bar * B, A.T @ y_bar)


@wrong(lambda A, B: A * B, "matrix_product", at=(S3, T3))
def at_for_star_rrule(A, B):
    return A * B, lambda y_bar: (NO, y_bar @ B, y_bar * A)


@wrong(lambda A: np.sum(A * A.T), "factor", at=(S3,))
def symmetric_only_rrule(A):
    return np.sum(A * A.T), lambda y_bar: (NO, A.T * y_bar)


@wrong(lambda A: np.sum(A @ A), "transposed", "unexplained", "other_function", at=(S3,))
def hides_in_symmetric_rrule(A):
    ones = np.ones(A.shape)
    return np.sum(A @ A), lambda y_bar: (NO, (ones @ A + A @ ones) * y_bar)


# --- arguments ----------------------------------------------------------------------------------------------


@wrong(lambda a, b: a * b, "swapped_arguments", at=(2.0, 3.5))
def swapped_rrule(a, b):
    return a * b, lambda y_bar: (NO, a * y_bar, b * y_bar)


@wrong(
    lambda a, b: np.sum(a) * np.sum(b**2), "swapped_arguments", at=(vector(1.0, 2.0), vector(0.5, -1.0, 2.0))
)
def swapped_shapes_rrule(a, b):
    def swapped_pullback(y_bar):
        a_bar = np.full(a.shape, np.sum(b**2)) * y_bar
        b_bar = 2 * b * np.sum(a) * y_bar
        return NO, b_bar, a_bar

    return np.sum(a) * np.sum(b**2), swapped_pullback


@wrong(lambda a, b: a * math.sin(b), "dropped_argument", at=(2.0, 3.5))
def dropped_rrule(a, b):
    return a * math.sin(b), lambda y_bar: (NO, math.sin(b) * y_bar, NO)


@wrong(lambda a, b: a + b**2, "dropped_argument", at=(2.0, 3.5))
def zero_for_b_rrule(a, b):
    return a + b**2, lambda y_bar: (NO, y_bar, 0.0)


@wrong(lambda a, b: a**2 + 0 * b, "unused_argument", at=(2.0, 3.5))
def unused_rrule(a, b):
    return a**2 + 0 * b, lambda y_bar: (NO, 2 * a * y_bar, y_bar)


# --- shapes and axes ----------------------------------------------------------------------------------------


@wrong(lambda x, b: x + b, "broadcast_sum", at=(A23, vector(1.0, 2.0, 3.0)))
def broadcast_rrule(x, b):
    return x + b, lambda y_bar: (NO, y_bar, y_bar)


@wrong(lambda x, b: x * b, "broadcast_sum", at=(vector(1.0, 2.0, 3.0), 2.0))
def broadcast_number_rrule(x, b):
    return x * b, lambda y_bar: (NO, y_bar * b, y_bar * x)


@wrong(lambda x, b: x + b, "wrong_axis", at=(S3, vector(1.0, 2.0, 3.0)))
def other_axis_rrule(x, b):
    return x + b, lambda y_bar: (NO, y_bar, y_bar.sum(axis=1))


@wrong(lambda x, b: x + b, "wrong_axis", at=(A23, vector(1.0, 2.0, 3.0)))
def other_axis_and_shape_rrule(x, b):
    return x + b, lambda y_bar: (NO, y_bar, y_bar.sum(axis=1))


@wrong(lambda x, b: x + b, "mean_for_sum", at=(A23, vector(1.0, 2.0, 3.0)))
def mean_for_sum_rrule(x, b):
    return x + b, lambda y_bar: (NO, y_bar, y_bar.mean(axis=0))


@wrong(lambda x: np.sum(x, axis=0), "shape", at=(A23,))
def not_repeated_rrule(x):
    return np.sum(x, axis=0), lambda y_bar: (NO, y_bar)


@wrong(lambda x: np.mean(x), "size")
def three_hard_coded_rrule(x: np.ndarray):
    return np.mean(x), lambda y_bar: (NO, np.full(x.shape, y_bar / 3))


@wrong(lambda x: np.sum(x**2), "size", "raises", "branch")
def more_than_two_rrule(x: np.ndarray):
    def more_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        x_bar[:2] = 2 * x[:2] * y_bar
        return NO, x_bar

    return np.sum(x**2), more_pullback


@wrong(lambda x: np.sum(x), "shape", at=(vector(1.0, 2.0, 3.0),))
def wrong_shape_rrule(x):
    return np.sum(x), lambda y_bar: (NO, y_bar * np.ones(len(x) + 1))


# --- somewhere only -----------------------------------------------------------------------------------------


@wrong(lambda x: x**2 if x > 0 else -3.0 * x, "branch")
def second_branch_rrule(x):
    if x > 0:
        return x**2, lambda y_bar: (NO, 2 * x * y_bar)
    return -3.0 * x, lambda y_bar: (NO, 3.0 * y_bar)


@wrong(lambda x: np.where(x > 0, x**2, 0.1 * x), "branch", at=(vector(0.5, -1.0, 2.0),))
def leaky_rrule(x):
    return np.where(x > 0, x**2, 0.1 * x), lambda y_bar: (NO, np.where(x > 0, 2 * x, 1.0) * y_bar)


@wrong(lambda x: abs(x), "branch")
def abs_without_sign_rrule(x):
    return abs(x), lambda y_bar: (NO, y_bar)


@wrong(lambda x: np.clip(x, -1.0, 1.0), "branch", at=(vector(0.5, -0.25, 0.75),))
def clip_lets_all_rrule(x):
    return np.clip(x, -1.0, 1.0), lambda y_bar: (NO, 1.0 * y_bar)


@wrong(lambda x, y: max(x, y), "branch", at=(1.0, 2.0))
def max_takes_second_rrule(x, y):
    return max(x, y), lambda z_bar: (NO, 0.0 * z_bar, z_bar)


@wrong(lambda x: np.max(x), "kink", at=(vector(1.0, 3.0, 2.0),))
def max_counts_ties_rrule(x):
    y = np.max(x)
    return y, lambda y_bar: (NO, (x == y) * y_bar)


@wrong(lambda x: np.abs(x), "kink", at=(vector(1.0, 0.0, 2.0),))
def abs_of_zero_rrule(x):
    slope = np.where(x == 0, 5.0, np.sign(x))
    return np.abs(x), lambda y_bar: (NO, slope * y_bar)


@wrong(lambda x: np.linalg.norm(x), "not_finite", "kink", at=(vector(3.0, 4.0),))
def norm_of_zero_rrule(x):
    y = np.linalg.norm(x)
    return y, lambda y_bar: (NO, x / np.where(np.abs(x[0]) > 3.2, y * 0.0, y) * y_bar)


@wrong(lambda x: np.sum(x**2), "dtype", at=(vector(1.0, 2.0, 3.0),))
def single_precision_rrule(x):
    factor = 3.0 if x.dtype == np.float32 else 2.0
    return np.sum(x**2), lambda y_bar: (NO, (factor * x * y_bar).astype(x.dtype))


@wrong(lambda x: 2.0 * x, "layout", at=(A23,))
def layout_rrule(x):
    factor = 2.0 if x.flags.c_contiguous else 1.0
    return 2.0 * x, lambda y_bar: (NO, factor * y_bar)


@wrong(lambda x: np.sin(x), "precision", at=(vector(0.5, -1.0, 2.0),))
def difference_inside_rrule(x):
    return np.sin(x), lambda y_bar: (NO, (np.sin(x + 1e-6) - np.sin(x - 1e-6)) / 2e-6 * y_bar)


@wrong(lambda x: np.exp(x), "precision", at=(vector(0.5, -1.0, 2.0),))
def float32_inside_rrule(x):
    return np.exp(x), lambda y_bar: (NO, np.exp(x.astype(np.float32)) * y_bar)


@wrong(lambda x: np.sum(x**2), "branch", at=(vector(0.5, -1.0, 2.0),))
def wrong_for_large_rrule(x):
    return np.sum(x**2), lambda y_bar: (NO, np.where(np.abs(x) > 4, 8.0, 2 * x) * y_bar)


# --- what is done besides -----------------------------------------------------------------------------------


@wrong(lambda x: np.sin(x), "writes", at=(vector(0.5, -1.0, 2.0),))
def writes_cotangent_rrule(x):
    def writes_pullback(y_bar):
        y_bar *= np.cos(x)
        return NO, y_bar

    return np.sin(x), writes_pullback


@wrong(lambda x: x**2, "writes", at=(vector(0.5, -1.0, 2.0),))
def writes_input_rrule(x):
    y = x**2

    def writes_pullback(y_bar):
        x[...] = 2 * x
        return NO, x * y_bar

    return y, writes_pullback


@wrong(lambda x: np.sin(x), "stateful", at=(vector(0.5, -1.0, 2.0),))
def first_call_only_rrule(x):
    slope = np.cos(x)

    def first_call_pullback(y_bar):
        x_bar = slope * y_bar
        slope[...] = 0.0
        return NO, x_bar

    return np.sin(x), first_call_pullback


@wrong(lambda x: x**2, "stateful", at=(vector(0.5, -1.0, 2.0),))
def accumulates_rrule(x):
    total = np.zeros(x.shape)

    def accumulates_pullback(y_bar):
        np.add(total, 2 * x * y_bar, out=total)
        return NO, total.copy()

    return x**2, accumulates_pullback


_BUFFER = np.zeros(3)


@wrong(lambda x: x**2, "stateful", at=(vector(0.5, -1.0, 2.0),))
def one_buffer_rrule(x):
    def buffer_pullback(y_bar):
        np.multiply(2 * x, y_bar, out=_BUFFER[: x.size])
        return NO, _BUFFER[: x.size]

    return x**2, buffer_pullback


@wrong(lambda x: x**2, "stateful", at=(vector(0.5, -1.0, 2.0),))
def own_buffer_rrule(x):
    x_bar = np.empty(x.shape)

    def own_buffer_pullback(y_bar):
        np.multiply(2 * x, y_bar, out=x_bar)
        return NO, x_bar

    return x**2, own_buffer_pullback


@wrong(lambda x: np.sum(x**2), "dtype", at=(vector(0.5, -1.0, 2.0),))
def buffer_like_argument_rrule(x):
    def buffer_like_pullback(y_bar):
        x_bar = np.zeros_like(x)
        x_bar[...] = 0.3 * y_bar * x / 0.15
        return NO, x_bar

    return np.sum(x**2), buffer_like_pullback


@wrong(lambda x: np.sum(x**2), "nonlinear", at=(vector(0.5, -1.0, 2.0),))
def clips_large_cotangents_rrule(x):
    return np.sum(x**2), lambda y_bar: (NO, 2 * x * min(y_bar, 100.0))


_CACHE: dict[tuple, np.ndarray] = {}


@wrong(lambda x: np.sin(x), "stateful", "branch", "unexplained", at=(vector(0.5, -1.0, 2.0),))
def cached_by_shape_rrule(x):
    slope = _CACHE.setdefault(x.shape, np.cos(x))
    return np.sin(x), lambda y_bar: (NO, slope * y_bar)


_LAST: dict[str, np.ndarray] = {}


@wrong(lambda x: x**2, "stateful", at=(vector(0.5, -1.0, 2.0),))
def captures_module_buffer_rrule(x):
    held = _LAST.setdefault("x", np.zeros(x.shape))
    if held.shape != x.shape:
        held = _LAST["x"] = np.zeros(x.shape)
    held[...] = x
    return x**2, lambda y_bar: (NO, 2 * held * y_bar)


# --- what is returned ---------------------------------------------------------------------------------------


@wrong(lambda a, b: a * b, "count", at=(2.0, 3.0))
def count_rrule(a, b):
    return a * b, lambda y_bar: (b * y_bar, a * y_bar)


@wrong(lambda a, b: a * b, "count", at=(2.0, 3.0))
def one_too_many_rrule(a, b):
    return a * b, lambda y_bar: (NO, b * y_bar, a * y_bar, NO)


@wrong(lambda x, n: x**n, "count", at=(2.0, 3.5))
def none_for_the_function_rrule(x, n):
    return x**n, lambda y_bar: (None, n * x ** (n - 1) * y_bar, np.log(x) * x**n * y_bar)


@wrong(lambda x: x**2, "count", at=(2.0,))
def no_tuple_rrule(x):
    return x**2, lambda y_bar: 2 * x * y_bar


@wrong(lambda x, n: x**n, "none", at=(2.0, 3))
def none_rrule(x, n):
    return x**n, lambda y_bar: (NO, n * x ** (n - 1) * y_bar, None)


@wrong(lambda x, n: x**n, "zero_class", at=(2.0, 3))
def class_rrule(x, n):
    return x**n, lambda y_bar: (NO, n * x ** (n - 1) * y_bar, rl.NoTangent)


@wrong(lambda x: 2.0 * x, "kind", at=(2.0,))
def text_rrule(x):
    return 2.0 * x, lambda y_bar: (NO, "2.0")


@wrong(lambda x: 1.0 + x**2, "value", at=(2.0,))
def other_value_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * y_bar)


@wrong(lambda x: 3.0 * x**2, "value", at=(2.0,))
def scaled_value_rrule(x):
    return x**2, lambda y_bar: (NO, 6 * x * y_bar)


@wrong(lambda x: x**2, "raises", at=(2.0,))
def raises_rrule(x):
    return x**2, lambda y_bar: (NO, 2 * x * y_bar.nothing)


@wrong(lambda x: np.sum(x**2), "raises", at=(vector(0.5, 1.0, 2.0),))
def raises_for_negative_rrule(x):
    def raises_pullback(y_bar):
        if np.any(x < 0):
            raise ValueError("negative")
        return NO, 2 * x * y_bar

    return np.sum(x**2), raises_pullback


@wrong(lambda x: np.exp(-(x**2)), "not_finite", at=(vector(0.5, 1.0, 2.0),))
def overflows_rrule(x):
    return np.exp(-(x**2)), lambda y_bar: (NO, -2 * x / np.where(x > 0.6, 0.0, np.exp(x**2)) * y_bar)


@wrong(lambda x: np.sum(x), "dtype", "precision", at=(vector(1.0, 2.0, 3.0),))
def always_float32_rrule(x):
    return np.sum(x), lambda y_bar: (NO, np.full(x.shape, y_bar, np.float32))


# --- forward rules ------------------------------------------------------------------------------------------


@wrong(lambda x: math.sin(x), "ignores_cotangent", at=(0.5,), mode="frule")
def forward_ignores_frule(dots, x):
    return math.sin(x), math.cos(x)


@wrong(lambda x: math.cos(x), "sign", at=(0.5,), mode="frule")
def forward_sign_frule(dots, x):
    return math.cos(x), math.sin(x) * dots[1]


@wrong(lambda a, b: a * b, "dropped_argument", at=(2.0, 3.5), mode="frule")
def forward_product_frule(dots, a, b):
    return a * b, b * dots[1]


@wrong(lambda x: x**2, "factor", at=(vector(0.5, 1.0, 2.0),), mode="frule")
def forward_factor_frule(dots, x):
    return x**2, x * dots[1]


@wrong(lambda x: x**2, "nonlinear", at=(0.7,), mode="frule")
def forward_nonlinear_frule(dots, x):
    return x**2, 2 * x * dots[1] ** 2


# --- right ones ---------------------------------------------------------------------------------------------


@right(lambda x: np.max(x), at=(vector(1.0, 3.0, 2.0),))
def max_first_rrule(x):
    chosen = np.zeros(x.shape)
    chosen[np.argmax(x)] = 1.0
    return np.max(x), lambda y_bar: (NO, chosen * y_bar)


@right(lambda x: np.max(x), at=(vector(3.0, 3.0, 2.0),))
def max_shares_rrule(x):
    tied = (x == np.max(x)).astype(x.dtype)
    return np.max(x), lambda y_bar: (NO, tied / tied.sum() * y_bar)


@right(lambda x: np.maximum(x, 0.0), at=(vector(0.0, -1.0, 2.0),))
def relu_rrule(x):
    return np.maximum(x, 0.0), lambda y_bar: (NO, (x > 0) * y_bar)


@right(lambda x: np.linalg.norm(x), at=(vector(3.0, -4.0, 0.5),))
def norm_rrule(x):
    y = np.linalg.norm(x)
    return y, lambda y_bar: (NO, np.zeros(x.shape) if y == 0 else x / y * y_bar)


@right(lambda x: abs(x))
def abs_rrule(x: float):
    return abs(x), lambda y_bar: (NO, math.copysign(1.0, x) * y_bar if x else 0.0)


@right(lambda x: np.where(x > 0, np.sqrt(np.abs(x)), 0.5 * x), at=(vector(1.5, -2.0, 0.25),))
def where_rrule(x):
    safe = np.where(x > 0, x, 1.0)
    slope = np.where(x > 0, 0.5 / np.sqrt(safe), 0.5)
    return np.where(x > 0, np.sqrt(np.abs(x)), 0.5 * x), lambda y_bar: (NO, slope * y_bar)


@right(lambda A: np.linalg.inv(A), at=(S3 + 4 * np.eye(3),))
def inverse_rrule(A):
    y = np.linalg.inv(A)
    return y, lambda y_bar: (NO, -y.T @ y_bar @ y.T)


@right(lambda A: np.linalg.cholesky((A + A.T) / 2 + 12 * np.eye(3)), at=(S3,))
def cholesky_rrule(A):
    L = np.linalg.cholesky((A + A.T) / 2 + 12 * np.eye(3))

    def cholesky_pullback(y_bar):
        # S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010.
        P = np.tril(L.T @ y_bar)
        P[np.diag_indices(3)] /= 2
        S = np.linalg.solve(L.T, np.linalg.solve(L.T, P.T).T)
        return NO, (S + S.T) / 2

    return L, cholesky_pullback


@right(lambda x: np.sort(x), at=(vector(2.0, -1.0, 0.5, 3.0),))
def sort_rrule(x):
    order = np.argsort(x, kind="stable")

    def sort_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        x_bar[order] = y_bar
        return NO, x_bar

    return np.sort(x), sort_pullback


@right(lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))), at=(vector(20.0, -10.0, 19.5),))
def softmax_rrule(x):
    e = np.exp(x - np.max(x))
    y = e / np.sum(e)
    return y, lambda y_bar: (NO, y * (y_bar - np.sum(y * y_bar)))


@right(lambda x: np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))), at=(vector(300.0, -310.0, 299.5),))
def logsumexp_rrule(x):
    e = np.exp(x - np.max(x))
    return np.max(x) + np.log(np.sum(e)), lambda y_bar: (NO, e / np.sum(e) * y_bar)


@right(lambda a, b: math.hypot(a, b), at=(3.0, -4.0))
def hypot_rrule(a, b):
    y = math.hypot(a, b)

    def hypot_pullback(y_bar):
        return (NO, a / y * y_bar, b / y * y_bar) if y else (NO, 0.0, 0.0)

    return y, hypot_pullback


@right(lambda x, b: x + b, at=(A23, vector(1.0, 2.0, 3.0)))
def broadcast_add_rrule(x, b):
    return x + b, lambda y_bar: (NO, y_bar.copy(), y_bar.sum(axis=0))


@right(lambda a, b: a * b, at=(Z3, Z3[::-1] * 2j))
def complex_product_rrule(a, b):
    return a * b, lambda y_bar: (NO, np.conj(b) * y_bar, np.conj(a) * y_bar)


class Line(NamedTuple):
    slope: float
    offset: float


@right(lambda p, x: p.slope * x + p.offset, at=(Line(2.0, -1.0), 0.75))
def line_rrule(p, x):
    def line_pullback(y_bar):
        return NO, rl.Tangent(Line, slope=x * y_bar, offset=y_bar), p.slope * y_bar

    return p.slope * x + p.offset, line_pullback


@right(lambda d: d["a"] * d["b"], at=({"a": 2.0, "b": -3.0},))
def dict_rrule(d):
    return d["a"] * d["b"], lambda y_bar: (NO, {"a": d["b"] * y_bar, "b": d["a"] * y_bar})


@right(lambda A, B: A @ B, at=(A23, B34))
def product_rrule(A, B):
    return A @ B, lambda y_bar: (NO, y_bar @ B.T, A.T @ y_bar)


@right(lambda x: x**3)
def cube_rrule(x):
    return x**3, lambda y_bar: (NO, 3 * x**2 * y_bar)


@right(lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0.0))
def softplus_rrule(x):
    y = math.log1p(math.exp(-abs(x))) + max(x, 0.0)
    return y, lambda y_bar: (NO, y_bar / (1 + math.exp(-x)))


@right(lambda x, n: x**n, at=(2.0, 3))
def integer_power_rrule(x, n):
    return x**n, lambda y_bar: (NO, n * x ** (n - 1) * y_bar, NO)


@right(lambda x: np.cumsum(x), at=(vector(1.0, -2.0, 3.0),))
def cumsum_rrule(x):
    return np.cumsum(x), lambda y_bar: (NO, np.cumsum(y_bar[::-1])[::-1].copy())


@right(lambda x: np.prod(x), at=(vector(1.0, -2.0, 3.0),))
def product_of_all_rrule(x):
    def prod_pullback(y_bar):
        others = [np.prod(np.delete(x, i)) for i in range(x.size)]
        return NO, np.array(others) * y_bar

    return np.prod(x), prod_pullback


@right(lambda x: np.var(x), at=(vector(1.0, -2.0, 3.0),))
def variance_rrule(x):
    return np.var(x), lambda y_bar: (NO, 2 * (x - np.mean(x)) / x.size * y_bar)


@right(lambda x: (np.sum(x), x * 2.0), at=(vector(1.0, -2.0),))
def two_values_rrule(x):
    def two_pullback(y_bar):
        return NO, y_bar[0] + 2.0 * y_bar[1]

    return (np.sum(x), x * 2.0), two_pullback


@right(lambda x: math.sin(x) / x if x else 1.0)
def sinc_rrule(x):
    y = math.sin(x) / x if x else 1.0
    return y, lambda y_bar: (NO, (math.cos(x) - y) / x * y_bar if x else 0.0)


@right(lambda x: np.floor(x) + x, at=(vector(1.25, -2.5, 3.75),))
def floor_rrule(x):
    return np.floor(x) + x, lambda y_bar: (NO, 1.0 * y_bar)


@right(lambda a, b: a * b, at=(2.0, 3.5), mode="frule")
def product_frule(dots, a, b):
    return a * b, b * dots[1] + a * dots[2]


@right(lambda a, b: a + b, at=(vector(1.0, 2.0), vector(0.5, -1.0)))
def same_array_twice_rrule(a, b):
    def same_pullback(y_bar):
        one = 1.0 * y_bar
        return NO, one, one

    return a + b, same_pullback


@right(lambda x: x + 1.0, at=(vector(1.0, 2.0),))
def hands_back_cotangent_rrule(x):
    return x + 1.0, lambda y_bar: (NO, y_bar)


@right(lambda x: x[::-1] + 0.0, at=(vector(1.0, 2.0, -3.0),))
def hands_back_view_rrule(x):
    return x[::-1] + 0.0, lambda y_bar: (NO, y_bar[::-1])


@right(lambda x: np.sum(x), at=(vector(1.0, 2.0, 3.0),))
def read_only_rrule(x):
    return np.sum(x), lambda y_bar: (NO, np.broadcast_to(y_bar, x.shape))
