"""Corpus: if, elif, else, conditional expressions, early return."""

import numpy as np
from corpus.harness import case


@case((2.0,), (-2.0,))
def if_else(x):
    if x > 0:
        y = x * x
    else:
        y = -3.0 * x
    return y + x


@case((2.0,), (-2.0,))
def if_without_else(x):
    y = x
    if x > 0:
        y = y * x
    return y * 2.0


@case((0.5,), (1.5,), (7.0,))
def elif_ladder(x):
    if x < 1:
        y = x
    elif x < 2:
        y = x**2
    elif x < 3:
        y = x**3
    else:
        y = x**4
    return y


@case((2.0,), (-2.0,))
def ternary(x):
    return x * x if x > 0 else -x


@case((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5))
def nested_branches(x, y):
    if x > 0:
        if y > 0:
            z = x * y
        else:
            z = x - y
    else:
        z = x * x if y > 0 else y * y * x
    return z + x


@case((2.0,), (-2.0,), (-20.0,))
def early_returns(x):
    if x > 0:
        return x * 2.0
    x = x * x
    if x > 100:
        return x
    return x * x


@case((2.0, 3.0), (3.0, 2.0))
def branch_swaps_names(x, y):
    if x > y:
        x, y = y, x
    return y * y - x


@case((2.0, None), (2.0, 3.0), wrt=(0,))
def none_argument(x, scale):
    if scale is None:
        scale = 1.5
    return x * x * scale


@case((2.0, "square"), (2.0, "cube"), (2.0, "other"), wrt=(0,), inert=(1,))
def string_argument(x, kind):
    if kind == "square":
        return x**2
    elif kind == "cube":
        return x**3
    return x


@case((np.array([1.0, -2.0]),), (np.array([-3.0, -2.0]),))
def branch_on_reduction(x):
    if x.sum() > -2 and (x > 0).any():
        return (x * x).sum()
    return (x * x * x).sum()


@case((np.array([1.0, 2.0]),), (2.0,), wrt=(0,))
def branch_on_type(x):
    if isinstance(x, float):
        return x * x
    return x.sum() * 3.0


@case((2.0,), (0.5,))
def branch_kills_dependence(x):
    y = x * x
    if x > 1:
        y = 4.0
    return y * x


@case((1.5,), (-1.5,))
def assert_and_pass(x):
    assert x != 0, "x must not vanish"
    if x > 0:
        pass
    else:
        x = -x
    return x * x
