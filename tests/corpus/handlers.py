"""Corpus: try and except where nothing is thrown, and raise on a path not taken."""

import math

import numpy as np
from corpus.harness import case


@case((3.0,), (-2.0,))
def try_not_thrown(x):
    try:
        return x**2
    except Exception as e:
        print("could not square input")
        raise e


@case((4.0,))
def try_with_fallback(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = 0.0
    return y * x


@case((np.array([1.0, 2.0, 3.0]),))
def try_in_loop(x):
    s = 0.0
    for i in range(3):
        try:
            s += x[i] ** 2 / (i + 1)
        except IndexError:
            s += 100.0
    return s


@case((2.0,))
def try_in_helper(x):
    def safe(v):
        try:
            return 1.0 / v
        except ZeroDivisionError:
            return 0.0

    return safe(x) * safe(x * x)


@case((2.0,))
def raise_not_taken(x):
    if x < 0:
        raise ValueError("x must be positive")
    return math.sqrt(x)


@case((2.0,))
def nested_try(x):
    try:
        try:
            y = x / 2.0
        except ZeroDivisionError:
            y = 1.0
        y = y * x
    except (ValueError, TypeError):
        y = 0.0
    return y
