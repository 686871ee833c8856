"""Corpus: names that a generated program might want for itself, and builtins the user has taken."""

import numpy as np
from corpus.harness import case


@case((2.0, 3.0))
def names_of_ours(back, tape):
    x_bar = back * tape
    y_bar = x_bar + back
    return x_bar * y_bar


@case((2.0,))
def more_names_of_ours(y):
    x = y * y
    y_back = x * y
    pullback = y_back + y
    back_1 = pullback * 2.0
    rulelab = back_1 + 1.0
    rl = rulelab * y
    return rl


@case((2.0,))
def underscores(_x):
    _ = _x * _x
    __t = _ * 2.0
    _rl_0 = __t + _x
    _tape_1 = _rl_0 * _x
    return _tape_1


@case((np.array([1.0, 2.0]),))
def shadowed_sum(x):
    sum = x[0] * x[1]
    max = sum * 2.0
    return sum + max


@case((2.0,))
def shadowed_len_and_range(x):
    def len(v):
        return v * 3.0

    def abs(v):
        return v * v

    return len(x) + abs(-x)


@case((2.0,))
def parameter_called_np(np):
    return np * np + 1.0


@case((2.0,))
def callee_called_gradient(x):
    def gradient(v):
        return v * v

    def find_1(v):
        return gradient(v) * 2.0

    return find_1(x)


@case((1.5,))
def greek(x):
    ȳ = x * x
    α = ȳ + x
    return α * ȳ


@case((1.5,))
def same_name_inside_and_outside(x):
    def inner(x):
        x = x * 3.0
        return x

    return inner(x * x) + x


@case((1.5,))
def comprehension_variable_does_not_leak(x):
    i = x
    total = sum([i * 2.0 for i in range(3)])
    return total * i


@case((1.5,))
def docstring_and_comment(x):
    """Squares x.

    return 3 * x   is only text
    """
    # y = 7 * x
    y = x * x  # not x
    return y; x = 0.0  # noqa: E702


@case((1.5,))
def several_on_a_line(x):
    a = x * x; b = a + x  # noqa: E702
    return (
        a
        * b
        + x
    )


one_line = case((2.0,))(lambda x: x * x + 1.0)
